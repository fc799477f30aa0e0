"""Summarising: a conversation in the words of a model. The beginning of one that no longer fits, and titles.

A summary is made once and kept with the step that it was made for; the host's compaction finds it there. It
takes more than is needed at the moment, so that the next one is far off.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import Model

from agenthost.agents.model.asking import Request
from agenthost.agents.model.naming import ModelName
from agenthost.core.compaction import SUMMARY_TOKENS, find_cut, kept_summary, with_summary
from agenthost.core.recording import plain_text
from agenthost.core.tokens import estimate_tokens
from agenthost.core.transcript import Message, calls_of
from agenthost.errors import ModelFailed
from agenthost.host.steps import Stop, Text
from agenthost.wire.json import encode_json

__all__ = ["Overflow", "entitled", "overflow", "summarised"]

SUMMARISE = """\
You are given the beginning of a conversation between a user and an assistant that uses tools. It will be
replaced by your summary, and the assistant goes on from that. Keep what it needs: what the user wants, and
all that they said on how; what was decided, and why; what was done, with the names of files, commands,
results and errors; what is open. Be brief. Write in the language of the conversation, and nothing but the
summary."""

ENTITLE = """\
Give a title to this conversation: what it is about, in at most six words, in its language, without quotes and
without a full stop. Answer with nothing but the title."""

TITLE_TOKENS = 500
"""Room for a title; far more than it takes, as some models think first, whatever they are told."""

SHOWN = 4_000
"""How much of each message is shown to who summarises, in characters."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """What is to be summarised of a transcript, and the place in it where the summary ends."""

    messages: list[Message]
    place: int


def overflow(transcript: Sequence[Message], budget: int) -> Overflow | None:
    """Find what is to be summarised of a transcript that does not fit; nothing if that would be no help."""
    if sum(map(estimate_tokens, transcript)) <= budget:
        return None
    view = with_summary(transcript)
    if sum(map(estimate_tokens, view)) <= budget:
        return None
    cut = find_cut(view, budget // 2, room=SUMMARY_TOKENS)
    place = len(transcript) - len(view) + cut
    return Overflow(view[:cut], place) if cut and place > kept_summary(transcript)[0] else None


async def summarised(
    model: Model[Any], name: ModelName, messages: Sequence[Message], settings: Mapping[str, Any]
) -> str:
    """Ask a model for a summary.

    Raises:
        ModelFailed: it gave none.
        AgentRunError: its service did not answer.
    """
    return await _ask(model, name, SUMMARISE, told(messages), {**settings, "max_tokens": 2 * SUMMARY_TOKENS})


async def entitled(
    model: Model[Any], name: ModelName, messages: Sequence[Message], settings: Mapping[str, Any]
) -> str:
    """Ask a model for a title.

    Raises:
        ModelFailed: it gave none.
        AgentRunError: its service did not answer.
    """
    return await _ask(model, name, ENTITLE, told(messages[:3]), {**settings, "max_tokens": TITLE_TOKENS})


async def _ask(
    model: Model[Any], name: ModelName, system: str, text: str, settings: Mapping[str, Any]
) -> str:
    request = Request(
        model,
        name,
        [{"role": "user", "content": text}],
        system=system,
        settings={**settings, "thinking": False},
    )
    said = []
    async with aclosing(request.stream()) as items:
        async for item in items:
            if isinstance(item, Text):
                said.append(item.text)
            elif isinstance(item, Stop):
                raise ModelFailed(f"the model stopped early: {item.reason}")
    text = "".join(said).strip()
    if not text:
        raise ModelFailed("the model said nothing")
    return text


def told(messages: Sequence[Message]) -> str:
    """Tell a conversation as one text, so that nobody mistakes it for the one that goes on."""
    return "\n\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> list[str]:
    who = {"system": "Instructions", "user": "User", "assistant": "Assistant", "tool": "Result"}[
        message["role"]
    ]
    words = _shortened(plain_text(message["content"]))
    calls = [
        f"Assistant calls {call['name']}: {_shortened(encode_json(call['input']).decode())}"
        for call in calls_of(message)
    ]
    return [f"{who}: {words}", *calls] if words else calls


def _shortened(text: str) -> str:
    half = SHOWN // 2
    return text if len(text) <= SHOWN else f"{text[:half]}\n[…]\n{text[-half:]}"
