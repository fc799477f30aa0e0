"""Summaries of conversations by a model: of a beginning that no longer fits, and titles.

A summary is made once and kept with the step that it was made for, where the host's compaction finds it. It
covers more than is needed at the moment, so that the next one is not needed soon.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import Model

from agenthost.agents.model.model_name import ModelName
from agenthost.agents.model.request import CompletionRequest
from agenthost.core.compaction import SUMMARY_TOKENS, find_cut, kept_summary, with_summary
from agenthost.core.token_estimate import estimate_tokens
from agenthost.core.transcript import Message, requested_calls
from agenthost.core.turn_transcript import message_text
from agenthost.errors import ModelFailed
from agenthost.host.authoring.steps import Stop, Text
from agenthost.wire.json import encode_json

__all__ = ["Overflow", "find_overflow", "suggest_title", "summarise"]

SUMMARISE = """\
You are given the beginning of a conversation between a user and an assistant that uses tools. It will be
replaced by your summary, and the assistant goes on from that. Keep what it needs: what the user wants, and
all that they texts on how; what was decided, and why; what was done, with the names of files, commands,
results and errors; what is open. Be brief. Write in the language of the conversation, and nothing but the
summary."""

ENTITLE = """\
Give a title to this conversation: what it is about, in at most six words, in its language, without quotes and
without a full stop. Answer with nothing but the title."""

TITLE_TOKENS = 500
"""Far more than a title needs: some models think first, whatever the settings say."""

MAX_SHOWN = 4_000
"""How many characters of each message the summarising model gets."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """The messages to summarise, and the index in the transcript where the summary ends."""

    messages: list[Message]
    place: int


def find_overflow(transcript: Sequence[Message], budget: int) -> Overflow | None:
    """Find what to summarise of a transcript that is too long. `None` if it fits, or if it would not help."""
    if sum(map(estimate_tokens, transcript)) <= budget:
        return None
    view = with_summary(transcript)
    if sum(map(estimate_tokens, view)) <= budget:
        return None
    cut = find_cut(view, budget // 2, room=SUMMARY_TOKENS)
    place = len(transcript) - len(view) + cut
    return Overflow(view[:cut], place) if cut and place > kept_summary(transcript)[0] else None


async def summarise(
    model: Model[Any], name: ModelName, messages: Sequence[Message], settings: Mapping[str, Any]
) -> str:
    """Ask a model for a summary.

    Raises:
        ModelFailed: it sent none.
        AgentRunError: its service did not answer.
    """
    return await _ask(
        model, name, SUMMARISE, render_conversation(messages), {**settings, "max_tokens": 2 * SUMMARY_TOKENS}
    )


async def suggest_title(
    model: Model[Any], name: ModelName, messages: Sequence[Message], settings: Mapping[str, Any]
) -> str:
    """Ask a model for a title.

    Raises:
        ModelFailed: it sent none.
        AgentRunError: its service did not answer.
    """
    return await _ask(
        model, name, ENTITLE, render_conversation(messages[:3]), {**settings, "max_tokens": TITLE_TOKENS}
    )


async def _ask(
    model: Model[Any], name: ModelName, system: str, text: str, settings: Mapping[str, Any]
) -> str:
    request = CompletionRequest(
        model,
        name,
        [{"role": "user", "content": text}],
        system=system,
        settings={**settings, "thinking": False},
    )
    texts = []
    async with aclosing(request.stream()) as items:
        async for item in items:
            if isinstance(item, Text):
                texts.append(item.text)
            elif isinstance(item, Stop):
                raise ModelFailed(f"the model stopped early: {item.reason}")
    text = "".join(texts).strip()
    if not text:
        raise ModelFailed("the model texts nothing")
    return text


def render_conversation(messages: Sequence[Message]) -> str:
    """Render a conversation as one text, so that the model does not take it for its own conversation."""
    return "\n\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> list[str]:
    who = {"system": "Instructions", "user": "User", "assistant": "Assistant", "tool": "Result"}[
        message["role"]
    ]
    words = _shorten(message_text(message["content"]))
    calls = [
        f"Assistant calls {call['name']}: {_shorten(encode_json(call['input']).decode())}"
        for call in requested_calls(message)
    ]
    return [f"{who}: {words}", *calls] if words else calls


def _shorten(text: str) -> str:
    half = MAX_SHOWN // 2
    return text if len(text) <= MAX_SHOWN else f"{text[:half]}\n[…]\n{text[-half:]}"
