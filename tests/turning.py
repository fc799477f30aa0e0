"""Whole turns, told as stories: what transcripts say, and hosts that die at any moment. Beside `talking`."""

import asyncio
import gc
import itertools
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.transcript import public, requested_calls
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Agent, Answer, Declaration
from agenthost.host.state.session import Session
from agenthost.host.storage.sqlite import FILE
from hosting import run
from legacy_view import dispatch
from talking import Talk, talking

_numbers = itertools.count(1)

Story = Callable[[Talk], Awaitable[None]]


def tell(folder: Path, answer: Answer, story: Story, *, start: Any = None, **more: Any) -> None:
    """Run a story with a session of an agent that answers like this.

    `start` is for `Start`, `limits` for the host, all else for `Agent`. What a task raises and nobody asks
    for fails the test.
    """
    settings = {"limits": more.pop("limits")} if "limits" in more else {}
    agent = made(answer, **more)
    folder.mkdir(exist_ok=True)

    async def inner() -> None:
        with nothing_lost():
            async with talking(folder, agent, **settings) as host:
                await story(await Talk.begin(host, **(start or {})))

    run(inner)


def made(answer: Answer, **declared: Any) -> Agent:
    """Make an agent called `demo`."""
    known: Declaration = declared  # type: ignore[assignment] # as the test says
    return Agent("demo", answer, **known)


@contextmanager
def nothing_lost() -> Iterator[None]:
    """Fail if a task ends with an error that nobody hears of."""
    lost: list[Any] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: lost.append(context))
    yield
    gc.collect()
    assert lost == []


def crash(folder: Path, into: Path) -> None:
    """Copy what is durable at this moment: what a host finds that starts after this one was killed."""
    source, target = folder / "data" / FILE, into / "data" / FILE
    if not source.exists():
        pytest.skip("a crash is a copy of the files of SQLite")
    (into / "data").mkdir(parents=True)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


async def send_pending(talk: Talk, text: str, kind: str = "queued") -> None:
    """Let a message wait, for its turn or to steer the one that runs; its text is its id too."""
    message = {"kind": kind, "id": text, "userMessage": {"text": text}}
    action = {"type": "session/pendingMessageSet", "session": talk.uri, **message}
    assert await dispatch(talk.host.client(Identity("somebody")), next(_numbers), action) is None


async def pass_time(seconds: float) -> None:
    """Let time pass, to see that something does not happen: nobody would tell."""
    loop = asyncio.get_running_loop()
    past: asyncio.Future[None] = loop.create_future()
    loop.call_later(seconds, past.set_result, None)
    await past


def is_call(status: str, name: str | None = None) -> Callable[[Any], bool]:
    """Make a test for a state: whether a call of the running turn, of this tool, is at this point."""

    def look(state: Any) -> bool:
        calls = calls_in(state.get("activeTurn"))
        return any(call["status"] == status and name in (None, call["toolName"]) for call in calls)

    return look


async def until(talk: Talk, look: Callable[[Any], Any]) -> Any:
    """Wait until what is shown of a session is so; returns what `look` gave."""
    while not (found := look(talk.state)):
        await talk.hear(lambda _: True)
    return found


async def until_call(talk: Talk, status: str, name: str | None = None) -> Any:
    """Wait until a call of the running turn is at this point; returns its ids, as `Talk` wants them."""
    await until(talk, is_call(status, name))
    turn = talk.state["activeTurn"]
    return next(
        {**call, "turnId": turn["id"]}
        for call in calls_in(turn)
        if call["status"] == status and name in (None, call["toolName"])
    )


def calls_in(turn: Any) -> list[Any]:
    """Return the calls of a turn, as its state has them."""
    return [part["toolCall"] for part in turn["responseParts"] if part["kind"] == "toolCall"] if turn else []


def parts(turn: Any) -> list[tuple[str, Any]]:
    """Return the parts of a turn in short: their kinds, and what they say."""
    short = {"toolCall": lambda part: part["toolCall"]["toolName"], "contentRef": lambda part: part["uri"]}
    return [
        (part["kind"], short.get(part["kind"], lambda one: one["content"])(part))
        for part in turn["responseParts"]
    ]


# Transcripts


def transcript(session: Session) -> list[Any]:
    """Return what the session's model would read, without private marks; each call has its result in it."""
    shown = public(exact_transcript(session))
    assert "_private" not in str(shown)
    return shown


def exact_transcript(session: Session) -> list[Any]:
    """Return the same with all private marks."""
    messages = [said.message for said in session.messages]
    assert_sound(messages)
    return messages


def assert_sound(messages: list[Any]) -> None:
    """Check that each call is answered once, before anything else is said, and nothing else is answered."""
    pending: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["toolCallId"] in pending, f"nobody asked for {message}"
            pending.remove(message["toolCallId"])
        else:
            assert not pending, f"{pending} without results before {message}"
            pending |= {call["toolCallId"] for call in requested_calls(message)}
    assert not pending, f"{pending} without results"


def user(content: Any) -> Any:
    return {"role": "user", "content": content}


def assistant(*content: Any) -> Any:
    """Return what an assistant says: a single text is plain, several blocks are a list."""
    is_plain = len(content) == 1 and isinstance(content[0], str)
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
    return {"role": "assistant", "content": content[0] if is_plain else blocks}


def thinking(text: str) -> Any:
    return {"type": "thinking", "thinking": text}


def use(call_id: str, name: str, /, **given: Any) -> Any:
    return {"type": "tool_use", "toolCallId": call_id, "name": name, "input": given}


def result(call_id: str, content: Any) -> Any:
    return {"role": "tool", "toolCallId": call_id, "content": content}
