"""Failing: what went wrong at a model's service, in a sentence, and whether another try may help."""

import logging
import random
from collections.abc import Sequence
from typing import Any

from pydantic_ai import exceptions as ai

from agenthost.agents.model.naming import ModelName
from agenthost.errors import ModelFailed

__all__ = ["TooLong", "failure", "is_passing", "wait_seconds"]

log = logging.getLogger("agenthost.model")

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0

SHOWN = 300
"""How much of a service's own words is shown."""

_PASSING = (
    ai.ModelRateLimitError,
    ai.ModelUnavailableError,
    ai.ModelServerError,
    ai.ModelConnectionError,
    ai.ModelRequestTimeout,
)

_SENTENCES: list[tuple[type[Exception] | tuple[type[Exception], ...], str]] = [
    (ai.ModelAuthenticationError, "{who} does not accept the API key"),
    (ai.ModelNotFoundError, "{who} has no model {model!r}"),
    (ai.ModelQuotaExceededError, "the account at {who} has no credit left"),
    (ai.ModelRateLimitError, "{who} is asked too often at present; try again later"),
    (ai.ModelContextWindowExceededError, "the conversation is too long for {model}"),
    ((ai.ModelTimeoutError, ai.ModelRequestTimeout), "{who} did not answer in time"),
    (ai.ModelConnectionError, "{who} cannot be reached, or the connection broke"),
    ((ai.ModelUnavailableError, ai.ModelServerError), "{who} is in trouble at present; try again later"),
    (ai.ContentFilterError, "{who} filtered the answer out"),
]
"""What to say of each kind; the first that fits counts."""


def is_passing(error: Exception) -> bool:
    """Tell whether the same request may do better later."""
    return isinstance(error, _PASSING)


def wait_seconds(error: Exception, attempt: int) -> float | None:
    """Give how long to wait after this attempt, counted from 1; nothing if the service asks for too long."""
    asked = getattr(error, "retry_after", None)
    if asked is not None:
        # A little later than asked, and not all at the same moment.
        return None if asked > LONGEST_WAIT else asked * random.uniform(1, 1.25)  # noqa: S311 - no secret
    backoff = min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)
    return backoff * random.uniform(0.5, 1)  # noqa: S311


class TooLong(ModelFailed):
    """The conversation is longer than the model can read."""


def failure(error: Exception, name: ModelName, variables: Sequence[str], *, in_midst: bool) -> ModelFailed:
    """Give what to tell people about an error of the library; `in_midst` is one after the answer began."""
    # What services say may hold what people said, which is not for the log unless somebody wants all of it.
    log.debug("%s:%s: %s: %s", name.service, name.name, type(error).__name__, error)
    sentence = _sentence(error, name, variables)
    if in_midst:
        return ModelFailed(f"{sentence}; what it had said until then is kept")
    kind = TooLong if isinstance(error, ai.ModelContextWindowExceededError) else ModelFailed
    return kind(sentence)


def _sentence(error: Exception, name: ModelName, variables: Sequence[str]) -> str:
    facts = {"who": name.label, "model": name.name}
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence.format(**facts) + _hint(error, variables)
    words = error.message if isinstance(error, ai.UserError) else _words_of(getattr(error, "body", None))
    if words:
        return f"{name.label} refused the request: {words[:SHOWN]}"
    return f"{name.label} gave an answer that makes no sense ({type(error).__name__})"


def _hint(error: Exception, variables: Sequence[str]) -> str:
    """Say what would help, where that is known."""
    if isinstance(error, ai.ModelAuthenticationError):
        return f": set {' or '.join(variables)} to one that is valid" if variables else ""
    nearest = getattr(error, "suggested_model_id", None)
    return f"; did you mean {nearest}?" if nearest else ""


def _words_of(body: Any) -> str:
    """Find the message in the body of an error."""
    if isinstance(body, list) and body:
        body = body[0]
    for _ in range(3):
        if not isinstance(body, dict):
            break
        if isinstance(body.get("message"), str):
            return " ".join(body["message"].split())[:SHOWN]
        body = body.get("error")
    return ""
