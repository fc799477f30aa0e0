"""Gathering: text that was held for a client is sent in fewer messages."""

from collections.abc import Container, Iterable, Iterator
from typing import Any

from agenthost.host.log.subscriptions import LogItem
from agenthost.host.log.text_runs import TextRun

__all__ = ["gather_text"]

MAX_CHARACTERS = 64 * 1024
"""How much text one message may have that stands for several."""


def gather_text(items: Iterable[LogItem], channels: Container[str]) -> Iterator[LogItem]:
    """Yield items in their order; texts to one part with nothing in between become one.

    It has the number of the last of them. A reducer appends all of them, so the state is the same.
    """
    kept: LogItem | None = None
    seq = size = 0
    texts: list[str] = []
    for item in items:
        if kept is not None and not _is_same_part(kept, item):
            yield _one(kept, seq, texts)
            kept, size, texts = None, 0, []
        if item.run is None or item.channel not in channels:
            yield item
            continue
        for number, text in enumerate(item.run.texts, item.first_seq):
            if kept is not None and size + len(text) > MAX_CHARACTERS:
                yield _one(kept, seq, texts)
                size, texts = 0, []
            kept, seq, size = item, number, size + len(text)
            texts.append(text)
    if kept is not None:
        yield _one(kept, seq, texts)


def _is_same_part(one: LogItem, other: LogItem) -> bool:
    a, b = one.run, other.run
    if a is None or b is None:
        return False
    return (a.kind, a.channel, a.turn, a.part) == (b.kind, b.channel, b.turn, b.part)


def _one(item: LogItem, seq: int, texts: list[str]) -> LogItem:
    run: Any = item.run
    whole = TextRun(run.kind, run.channel, run.turn, run.part, ["".join(texts)])
    return LogItem(seq, item.resource, b"", uri=item.uri, channel=item.channel, run=whole)
