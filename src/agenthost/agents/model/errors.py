"""Errors of model services: a sentence for people, and whether a retry may help."""

import logging
import random
from collections.abc import Sequence
from typing import Any

from pydantic_ai import exceptions as ai

from agenthost.agents.model.model_name import ModelName
from agenthost.errors import ModelFailed

__all__ = ["ConversationTooLong", "is_transient", "model_failure", "retry_delay"]

log = logging.getLogger("agenthost.model")

FIRST_DELAY = 1.0
MAX_DELAY = 60.0

MAX_SHOWN = 300
"""How many characters of a service's own message are shown."""

_TRANSIENT = (
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
    (ai.ModelRateLimitError, "{who} is getting too many requests; try again later"),
    (ai.ModelContextWindowExceededError, "the conversation is too long for {model}"),
    ((ai.ModelTimeoutError, ai.ModelRequestTimeout), "{who} did not answer in time"),
    (ai.ModelConnectionError, "{who} cannot be reached, or the connection broke"),
    ((ai.ModelUnavailableError, ai.ModelServerError), "{who} has a problem at the moment; try again later"),
    (ai.ContentFilterError, "{who} filtered the answer out"),
]
"""The sentence for each kind of error; the first match counts."""


def is_transient(error: Exception) -> bool:
    """Tell whether the same request may succeed later."""
    return isinstance(error, _TRANSIENT)


def retry_delay(error: Exception, attempt: int) -> float | None:
    """Return the seconds to wait after this attempt (from 1); `None` if the service asks for too many."""
    asked = getattr(error, "retry_after", None)
    if asked is not None:
        # A little later than asked, with jitter, so that not all requests come back at once.
        return None if asked > MAX_DELAY else asked * random.uniform(1, 1.25)  # noqa: S311 - no secret
    backoff = min(FIRST_DELAY * 2.0 ** (attempt - 1), MAX_DELAY)
    return backoff * random.uniform(0.5, 1)  # noqa: S311


class ConversationTooLong(ModelFailed):
    """The conversation does not fit into the model's context window."""


def model_failure(
    error: Exception, name: ModelName, variables: Sequence[str], *, mid_answer: bool
) -> ModelFailed:
    """Return the error to show for an error of the library; `mid_answer` if the answer had begun."""
    # A service's message may quote the conversation, which belongs into the log at debug level only.
    log.debug("%s:%s: %s: %s", name.service, name.name, type(error).__name__, error)
    sentence = _sentence(error, name, variables)
    if mid_answer:
        return ModelFailed(f"{sentence}; what it said so far is kept")
    kind = ConversationTooLong if isinstance(error, ai.ModelContextWindowExceededError) else ModelFailed
    return kind(sentence)


def _sentence(error: Exception, name: ModelName, variables: Sequence[str]) -> str:
    facts = {"who": name.label, "model": name.name}
    for kind, sentence in _SENTENCES:
        if isinstance(error, kind):
            return sentence.format(**facts) + _hint(error, variables)
    text = error.message if isinstance(error, ai.UserError) else _find_message(getattr(error, "body", None))
    if text:
        return f"{name.label} refused the request: {text[:MAX_SHOWN]}"
    return f"{name.label} sent an invalid answer ({type(error).__name__})"


def _hint(error: Exception, variables: Sequence[str]) -> str:
    """Return advice, if there is any."""
    if isinstance(error, ai.ModelAuthenticationError):
        return f": set {' or '.join(variables)} to a valid one" if variables else ""
    nearest = getattr(error, "suggested_model_id", None)
    return f"; did you mean {nearest}?" if nearest else ""


def _find_message(body: Any) -> str:
    """Find the message in the body of an error."""
    if isinstance(body, list) and body:
        body = body[0]
    for _ in range(3):
        if not isinstance(body, dict):
            break
        if isinstance(body.get("message"), str):
            return " ".join(body["message"].split())[:MAX_SHOWN]
        body = body.get("error")
    return ""
