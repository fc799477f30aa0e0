"""The process that is killed: a host with the agents of `agents`, and a driver for each of its sessions.

It reports line by line, each in one write, so that what was reported before a kill is known:
`shown URI SEQ ENVELOPE`, `refused URI SEQ ENVELOPE`, `made URI`, `durable SEQ`, `finished URI`.
"""

import asyncio
import json
import logging
import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from agenthost.host.access.identity import Identity
from agenthost.host.access.vault import VARIABLE
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from agenthost.host.sessions.new_session import NewSession
from agenthost.wire.ahp import ROOT_URI
from crash.agents import REMOTE, TRUSTED, make_agents
from crash.conversation import Conversation, made, report
from crash.faults import Fault, suffer
from crash.places import SECRET_KEY
from crash.plan import SessionPlan, plan_session

NOTES = "notes.txt"


@dataclass(slots=True)
class Orders:
    """What a life of this process is to do.

    Attributes:
        seed: of the plan.
        workers: how many sessions to work on at once.
        seen: the last number that was reported, by URI.
        finished: the numbers of the sessions that were reported as finished.
        until: the number of the first session not to begin; without one, it goes on for ever.
        fault: what to suffer meanwhile.
        service: where the model is that answers; without one, agents do that follow the script by themselves.
        store: the database to keep everything in; without one, it is a folder.
    """

    seed: int
    workers: int
    seen: dict[str, int]
    finished: list[int]
    until: int | None = None
    fault: Fault | None = None
    service: str | None = None
    store: str | None = None

    def plan(self, number: int) -> SessionPlan:
        """Return the plan of the session of this number."""
        return plan_session(self.seed, number, with_model=self.service is not None)


class Life:
    """One life of the process."""

    def __init__(self, folder: Path, orders: Orders) -> None:
        self._orders = orders
        self._finished = set(orders.finished)
        # It is killed from outside, and often before any turn gets further.
        limits = Limits(sessions_in_memory=3, log_per_session=10**9, log_in_all=10**9, crashes_per_turn=10**9)
        self._host = Host(data=folder / "data", workspace=folder, limits=limits, store=orders.store)
        for agent in make_agents(folder / NOTES, orders.service):
            self._host.add(agent)

    async def run(self) -> None:
        """Open the host, and work until everything is done."""
        host = self._host
        async with host:
            for worker in range(self._orders.workers):
                self._join(self._next(worker))
            report("durable", host.parts.engine.line.shown_seq)
            root = asyncio.create_task(self._listen_to_root())
            fault = self._orders.fault
            pain = asyncio.create_task(suffer(host, fault, report)) if fault else None
            async with asyncio.TaskGroup() as group:
                for worker in range(self._orders.workers):
                    group.create_task(self._work(worker))
            if pain is not None:
                await pain
            root.cancel()

    def _join(self, number: int) -> None:
        """Be there before the sessions are taken up, or the calls of this client would be given up."""
        plan = self._orders.plan(number)
        for one in (plan, plan.fork):
            if one is not None:
                self._host.parts.clients.joined(Identity(one.client))

    def _next(self, number: int) -> int:
        while number in self._finished:
            number += self._orders.workers
        return number

    async def _work(self, worker: int) -> None:
        until = self._orders.until
        number = self._next(worker)
        while until is None or number < until:
            plan = self._orders.plan(number)
            await self._make(plan)
            await Conversation(self._host, plan, self._orders.seen).run()
            self._finished.add(number)
            number = self._next(number)
            self._join(number)

    async def _make(self, plan: SessionPlan) -> None:
        client: Any = {"clientId": plan.client, "displayName": "Driver", "tools": [REMOTE]}
        start = NewSession(agent=plan.agent, uri=plan.uri, tools=TRUSTED, active_client=client)
        await made(plan.uri, lambda: self._host.parts.lifecycle.create(start))

    async def _listen_to_root(self) -> None:
        feed = self._host.parts.engine.feed(Identity("root"))
        resumed = await feed.resume(self._orders.seen.get(ROOT_URI, 0), [ROOT_URI])
        for entry in resumed.replay or []:
            report("shown", ROOT_URI, entry.seq, envelope=entry.envelope)
        while True:
            for item in await feed.subscriber.wait_next():
                for seq, envelope in enumerate(item.envelopes(), item.first_seq):
                    report("shown", ROOT_URI, seq, envelope=envelope)


def main() -> None:
    """Live once, with the orders that stand on the standard input."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s %(message)s")
    given = json.loads(sys.stdin.readline())
    fault = Fault(**given.pop("fault")) if given.get("fault") else None
    if given.get("service"):
        import_module("pydantic_ai.models.openai")  # takes seconds, and there is nothing in them to be killed
    if given.get("store"):
        os.environ[VARIABLE] = SECRET_KEY
    asyncio.run(Life(Path(sys.argv[1]), Orders(**{**given, "fault": fault})).run())
    report("done")


if __name__ == "__main__":
    main()
