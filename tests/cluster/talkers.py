"""A client of AAP: has turns in a session of its own, at any node. What it was told has to stay true."""

import asyncio
import time
from typing import Any

import httpx

from agenthost.client import AapClient
from agenthost.client.aap.errors import (
    AapError,
    Conflict,
    NotFound,
    ServerError,
    StreamError,
    TimedOut,
    Unreachable,
)
from cluster.clients import ANSWER_SECONDS, TURNS_PER_SESSION, Client
from crash.checks import demand

TOOLS = ("note", "look", "slow", "careful")


class Talker(Client):
    """If a stream ends early, nobody knows what became of the turn: it goes on, and the next one waits."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._session: str | None = None
        self._turns = 0
        self._is_asking = False

    @property
    def is_done(self) -> bool:
        return not self._is_asking

    async def visit(self, url: str) -> None:
        begun = time.monotonic()
        try:
            async with AapClient(f"{url}/aap", retries=0) as client:
                while not self.is_ending:
                    begun = time.monotonic()
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await self._ask(client)
        except TimeoutError:
            self.check_patience(url, begun, "in a turn")
        except NotFound as error:
            demand(self._session is None, self.name, "cannot find", self._session, error)
        except (ServerError, StreamError, TimedOut, Unreachable, httpx.HTTPError, OSError):
            self._book.counts["streams broken"] += 1
        except Conflict:
            await asyncio.sleep(0.2)  # the turn before goes on
        except AapError as error:
            demand(False, self.name, "was refused:", repr(error))
        finally:
            self._is_asking = False

    async def _ask(self, client: AapClient) -> None:
        if self._session is None or self._turns >= TURNS_PER_SESSION:
            self._session = None
            self._session = (await client.create("stepper", trusted_tools=TOOLS)).id
            self._turns = 0
        self._turns += 1
        self._is_asking = True
        text, said = self.next_text(), ""
        async for event in client.session(self._session).send(text):
            if event["event"] == "text_delta":
                said += event["delta"]
                self._book.told[text] = said
        self._is_asking = False
        self._book.counts["turns over AAP"] += 1
