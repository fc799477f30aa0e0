"""Compaction: making a transcript fit a budget of tokens. Pure; it calls no model.

A transcript that fits is returned as it is. Otherwise the oldest turns are left out, as few as possible, and
a note takes their place. System messages always stay. A call is never separated from its result, and what is
kept starts with a user's message. The last turn always stays: if it is too large by itself, its tool results
are shortened, the longest first, and then their images are left out, the oldest first. If that is not enough,
it stays over budget. What users and the model said is never changed.

The note is a user message, not a system message: it sums up what users and tools said, and must not gain the
weight of instructions. It is marked as the host's, so it starts no turn. When more is left out later, a new
note replaces the old one. Compacting again with the same budget changes nothing.

An agent may store a summary of the messages before some position with a later message (`summary_note`). The
note contains it whenever something has to be left out. It is bound to the position, so a fork keeps it, and
truncating before that message removes it.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from agenthost.core.token_estimate import Estimate, estimate_tokens
from agenthost.core.transcript import (
    Block,
    Message,
    Text,
    ToolMessage,
    UserMessage,
    host_mark,
    requested_calls,
    turn_starts,
)
from agenthost.wire.json import JsonObject

__all__ = [
    "SUMMARY_TOKENS",
    "Summarize",
    "compact",
    "find_cut",
    "kept_summary",
    "leave_out",
    "shorten_results",
    "summary_note",
    "with_summary",
]

Summarize: TypeAlias = Callable[[Sequence[Message]], str]
"""Summarizes messages. Among them may be the note of an earlier compaction, to build upon."""

SUMMARY_TOKENS = 1_000
"""How many tokens are reserved for a summary."""

_SUMMARY = "summary"
"""The key of summaries in private data."""

_MAX_COUNT = 10**9
"""More messages than any note stands for: no note is longer than one with this count."""

_MIN_CHARS = 200
"""How many characters of a tool's result are kept at least."""

_SLACK = 100
"""How far over the limit a text must be to be shortened: more than the length of the text that marks it."""

_REFINEMENTS = 4
"""How often the length is bisected: the budget is then used to within a sixteenth."""


def compact(
    messages: Sequence[Message],
    budget: int,
    *,
    estimate: Estimate = estimate_tokens,
    summarize: Summarize | None = None,
    summary_tokens: int = SUMMARY_TOKENS,
) -> list[Message]:
    """Return the transcript made to fit the budget, or as close to it as the last turn allows.

    Without `summarize`, the note has the stored summary, or only says how many messages were left out. An
    agent that has to wait for its summary calls the functions below itself.
    """
    if sum(map(estimate, messages)) <= budget:
        return list(messages)
    _, summary = kept_summary(messages)
    messages = with_summary(messages)
    room = summary_tokens if summarize else estimate(_note(_MAX_COUNT, summary))
    cut = find_cut(messages, budget, estimate=estimate, room=room)
    if summarize and _count(messages[:cut])[0]:
        summary = summarize(messages[:cut])
    kept = leave_out(messages, cut, summary, estimate=estimate, room=room)
    return shorten_results(kept, budget, estimate=estimate)


def summary_note(place: int, text: str) -> JsonObject:
    """Return the private data that stores, with a message, a summary of all messages before `place`."""
    return {_SUMMARY: {"before": place, "text": text}}


def kept_summary(messages: Sequence[Message]) -> tuple[int, str]:
    """Return the newest summary stored with a full transcript: the position where it ends, and its text.

    In a transcript that was compacted already, positions have moved, and its note has the summary.
    """
    if any(map(_left_out, messages)):
        return 0, ""
    for index in reversed(range(len(messages))):
        match messages[index].get("_private", {}).get(_SUMMARY):
            case {"before": int(place), "text": str(text)} if 0 < place <= index:
                return place, text
    return 0, ""


def with_summary(messages: Sequence[Message]) -> list[Message]:
    """Return the transcript with the stored summary in place of the messages that it sums up."""
    place, summary = kept_summary(messages)
    return leave_out(messages, place, summary, room=estimate_tokens(_note(_MAX_COUNT, summary)))


def find_cut(
    messages: Sequence[Message], budget: int, *, estimate: Estimate = estimate_tokens, room: int = 0
) -> int:
    """Return the position of the earliest turn from which the rest fits, with `room` tokens for the note.

    Returns 0 if nothing has to be left out, and the last turn that can be cut at if nothing fits.
    """
    costs = [estimate(message) for message in messages]
    size = sum(costs)
    if size <= budget:
        return 0
    cut = fresh = left_out = 0
    for start in _cuts(messages):
        size -= sum(costs[i] for i in range(cut, start) if messages[i]["role"] != "system")
        more_fresh, more_left_out = _count(messages[cut:start])
        cut, fresh, left_out = start, fresh + more_fresh, left_out + more_left_out
        # A cut that leaves out nothing but an older note would only replace it.
        if fresh and size + max(room, estimate(_note(left_out))) <= budget:
            break
    return cut


def leave_out(
    messages: Sequence[Message],
    cut: int,
    summary: str = "",
    *,
    estimate: Estimate = estimate_tokens,
    room: int = SUMMARY_TOKENS,
) -> list[Message]:
    """Return the transcript with one note in place of the messages before `cut`, except system messages.

    A summary that takes more than `room` tokens is truncated. If nothing is left out, there is no note.
    """
    before = messages[:cut]
    fresh, left_out = _count(before)
    if not fresh:
        return list(messages)
    system = [message for message in before if message["role"] == "system"]
    return [*system, _fitting_note(left_out, summary, estimate, room), *messages[cut:]]


def shorten_results(
    messages: Sequence[Message], budget: int, *, estimate: Estimate = estimate_tokens
) -> list[Message]:
    """Return the messages with the longest tool results shortened, and without their images if need be.

    As little as possible is cut. Linear in the text: lengths are halved, and only messages that change are
    estimated again.
    """
    costs = [estimate(message) for message in messages]
    if sum(costs) <= budget:
        return list(messages)
    shorter, size = _shorten_texts(messages, costs, budget, estimate)
    return shorter if size <= budget else _without_images(shorter, size, budget, estimate)


def _shorten_texts(
    messages: Sequence[Message], costs: Sequence[int], budget: int, estimate: Estimate
) -> tuple[list[Message], int]:
    """Shorten results to the greatest length that fits, or to the minimum; return the new size too."""

    def shorten(length: int) -> tuple[list[Message], int]:
        return _replaced(messages, costs, lambda result: _shortened(result, length), estimate)

    length = max((len(text) for message in messages for text in _result_texts(message)), default=0)
    best = list(messages), sum(costs)
    while best[1] > budget and length > _MIN_CHARS:
        length = max(length // 2, _MIN_CHARS)
        best = shorten(length)
    too_long = length * 2
    for _ in range(_REFINEMENTS if best[1] <= budget else 0):
        middle = (length + too_long) // 2
        tried = shorten(middle)
        if tried[1] <= budget:
            length, best = middle, tried
        else:
            too_long = middle
    return best


def _cuts(messages: Sequence[Message]) -> list[int]:
    """Return the turn starts that separate no call from its result, in order."""
    calls: dict[str, int] = {}
    first_call = list(range(len(messages)))  # for each message: the one whose call it answers, or itself
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            first_call[index] = calls.pop(message["toolCallId"], index)
        calls.update({call["toolCallId"]: index for call in requested_calls(message)})
    # From the end: a start qualifies if nothing after it answers a call before it.
    earliest = len(messages)
    starts = set(turn_starts(messages))
    cuts = []
    for index in reversed(range(len(messages))):
        earliest = min(earliest, first_call[index])
        if index in starts and earliest == index:
            cuts.append(index)
    return cuts[::-1]


def _count(messages: Sequence[Message]) -> tuple[int, int]:
    """Return how many messages would be left out now, and in all, with those that notes stand for."""
    notes = [_left_out(message) for message in messages]
    fresh = sum(1 for m, note in zip(messages, notes, strict=True) if not note and m["role"] != "system")
    return fresh, fresh + sum(notes)


def _left_out(message: Message) -> int:
    """Return how many messages a note stands for; 0 if this is not a note."""
    count = host_mark(message).get("leftOut", 0)
    return count if type(count) is int else 0


def _note(left_out: int, summary: str = "") -> UserMessage:
    what = "1 earlier message was" if left_out == 1 else f"{left_out} earlier messages were"
    content = f"[{what} left out; a summary:]\n{summary}" if summary else f"[{what} left out]"
    return {"role": "user", "content": content, "_private": {"host": {"leftOut": left_out}}}


def _fitting_note(left_out: int, summary: str, estimate: Estimate, room: int) -> UserMessage:
    note, length = _note(left_out, summary), len(summary)
    # By halves: a custom estimate may be slow, and need not be proportional to the length.
    while length and estimate(note) > room:
        length //= 2
        note = _note(left_out, f"{summary[:length]}…" if length else "")
    return note


def _result_texts(message: Message) -> list[str]:
    if message["role"] != "tool":
        return []
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content if block["type"] == "text"]


def _replaced(
    messages: Sequence[Message],
    costs: Sequence[int],
    replace: Callable[[ToolMessage], ToolMessage],
    estimate: Estimate,
) -> tuple[list[Message], int]:
    """Replace tool messages, and return the new size too; unchanged messages are not estimated again."""
    changed: list[Message] = []
    size = 0
    for message, cost in zip(messages, costs, strict=True):
        new = replace(message) if message["role"] == "tool" else message
        changed.append(new)
        size += cost if new is message else estimate(new)
    return changed, size


def _shortened(result: ToolMessage, length: int) -> ToolMessage:
    """Shorten each text of a result to about this length; return the same object if none is longer."""
    if all(len(text) <= length + _SLACK for text in _result_texts(result)):
        return result
    content = result["content"]
    if isinstance(content, str):
        return cast("ToolMessage", {**result, "content": _shortened_text(content, length)})
    blocks = [
        {**block, "text": _shortened_text(block["text"], length)} if block["type"] == "text" else block
        for block in content
    ]
    return cast("ToolMessage", {**result, "content": blocks})


def _shortened_text(text: str, length: int) -> str:
    """Keep the beginning and some of the end, where errors tend to be."""
    if len(text) <= length + _SLACK:
        return text
    tail = length // 4
    left_out = len(text) - length
    return f"{text[: length - tail]}\n[… {left_out} characters left out …]\n{text[len(text) - tail :]}"


def _without_images(messages: list[Message], size: int, budget: int, estimate: Estimate) -> list[Message]:
    """Leave out images in results, the oldest first, until the rest fits."""
    kept = list(messages)
    for index, message in enumerate(messages):
        content = message["content"]
        if message["role"] != "tool" or isinstance(content, str) or size <= budget:
            continue
        blocks: list[Block] = [_NO_IMAGE if block["type"] == "image" else block for block in content]
        kept[index] = {**message, "content": blocks}
        size += estimate(kept[index]) - estimate(message)
    return kept


_NO_IMAGE: Text = {"type": "text", "text": "[image left out]"}
