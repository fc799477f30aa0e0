"""What the clients of the cluster test have in common: they come back, to any node, until they are done."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from cluster.fleet import Fleet
from crash.checks import demand

KINDS = ("talk", "think", "stream", "note", "look", "slow", "careful", "parallel", "chain", "stop")
"""What agents are asked to do; see `crash.script`."""

TURNS_PER_SESSION = 12
ANSWER_SECONDS = 20.0
"""How long a client waits for an answer of a node that nothing is done to."""


@dataclass(slots=True)
class Book:
    """What all clients were shown.

    Attributes:
        made: the URIs of sessions that were answered as made.
        spans: what AHP clients saw of each channel: from which number on, and all envelopes after it.
        told: what AAP clients were told, by the text of the message.
        counts: how often what happened.
    """

    made: set[str] = field(default_factory=set)
    spans: list[tuple[str, int, list[Any]]] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def new_span(self, channel: str, seq: int) -> list[Any]:
        """Begin to write down what a client sees of a channel after this number."""
        envelopes: list[Any] = []
        self.spans.append((channel, seq, envelopes))
        return envelopes


class Client:
    """A client that goes on until it is told to finish what it has begun."""

    kinds: tuple[str, ...] = KINDS

    def __init__(self, name: str, fleet: Fleet, book: Book, seed: int) -> None:
        self.name = name
        self.is_ending = False
        self._fleet = fleet
        self._book = book
        self._chance = random.Random(f"{seed}/{name}")  # noqa: S311 - to be drawn again
        self._count = 0

    async def live(self) -> None:
        """Connect to any node, again and again, until nothing is left to do."""
        while not self.is_ending or not self.is_done:
            urls = self._fleet.urls()
            if urls:
                await self.visit(self._chance.choice(urls))
                self._book.counts["connections"] += 1
            await asyncio.sleep(self._chance.uniform(0.02, 0.2))

    @property
    def is_done(self) -> bool:
        raise NotImplementedError

    async def visit(self, url: str) -> None:
        """Use a node, until the connection breaks."""
        raise NotImplementedError

    def next_text(self) -> str:
        """Return the next message: a kind and a name that no other has."""
        self._count += 1
        return f"{self._chance.choice(self.kinds)} {self.name}m{self._count}"

    def check_patience(self, url: str, since: float, *words: object) -> None:
        """Raise if a node did not answer though nothing was done to it (I9)."""
        slot = self._fleet.at(url)
        is_excused = (
            not slot.is_well or slot.disturbed_at > since or time.monotonic() - since < ANSWER_SECONDS
        )
        others = any(one.disturbed_at > since for one in self._fleet.slots)
        demand(is_excused or others, self.name, "was not answered by", slot.name, *words)
        self._book.counts["not answered"] += 1
