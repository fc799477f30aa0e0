"""`agenthost sessions`: lists, shows, exports and deletes the sessions of a server, and ends turns."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agenthost.cli.chat.render.wording import session_id, status_words
from agenthost.cli.chat.sessions import find_session, newest_first
from agenthost.cli.exit_codes import exit_on_error
from agenthost.cli.export import format_time, session_to_markdown
from agenthost.cli.terminal_text import printable
from agenthost.client.ahp import AhpClient, Session, Unauthorized, Unreachable
from agenthost.errors import StorageInUse
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.json import encode_json

__all__ = ["Server", "delete", "end", "export", "list_all", "show"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """The server, and the key for it."""

    url: str | None
    key: str | None


def list_all(server: Server, *, is_json: bool, has_archived: bool) -> None:
    """List the sessions, newest first: one per line, or as JSON."""

    async def work(client: AhpClient) -> list[Any]:
        return newest_first(await client.sessions.load(), has_archived=has_archived)

    with _exit_on_error(server):
        rows = _run(server, work)
        if is_json:
            _print(_json(rows))
            return
        names = max((len(session_id(row["resource"])) for row in rows), default=0)
        agents = max((len(row["provider"]) for row in rows), default=0)
        for row in rows:
            status = f" ({', '.join(words)})" if (words := status_words(row)) else ""
            title = " ".join(row["title"].split()) or "untitled"
            head = f"{session_id(row['resource']):<{names}}  {row['provider']:<{agents}}"
            _print(f"{head}  {format_time(row['modifiedAt'])}  {title}{status}")


def show(server: Server, name: str) -> None:
    """Show a session, as a chat does."""
    with _exit_on_error(server):
        text = _run(server, lambda client: _markdown(client, name))
        if sys.stdout.isatty():
            from agenthost.cli.chat.render.markdown import MarkdownStream  # noqa: PLC0415 - imports slowly
            from agenthost.cli.chat.terminal.paint import Painter  # noqa: PLC0415

            width = shutil.get_terminal_size().columns
            stream = MarkdownStream(Painter(lambda: width, has_colours=not os.environ.get("NO_COLOR")))
            stream.feed(text)
            sys.stdout.writelines(f"{line}\n" for line in stream.finish())
        else:
            _print(text.removesuffix("\n"))


def export(server: Server, name: str, *, is_json: bool, output: Path | None) -> None:
    """Write a session to a file or to standard output, as Markdown or JSON."""
    with _exit_on_error(server):
        text = _run(server, lambda client: (_whole if is_json else _markdown)(client, name))
        if output is None:
            _print(text.removesuffix("\n"))
            return
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ValueError(f"{output}: {error.strerror or type(error).__name__}") from None


async def _markdown(client: AhpClient, name: str) -> str:
    session = await _open(client, name)
    summary = client.sessions.get(session.uri)
    created_at = summary["createdAt"] if summary else None
    return session_to_markdown(session.uri, session.confirmed.session, await _chats(session), created_at)


async def _whole(client: AhpClient, name: str) -> str:
    """Return the states of a session and its chats."""
    session = await _open(client, name)
    chats: Any = await _chats(session)
    summary: Any = client.sessions.get(session.uri)
    return _json({"summary": summary, "session": session.confirmed.session, "chats": chats}) + "\n"


async def _chats(session: Session) -> list[ChatState]:
    """Return the states of the chats, the default one first. Those of subagents belong to the calls there."""
    further = [
        one["resource"]
        for one in session.confirmed.session["chats"]
        if one["resource"] != session.chat_uri
        and one.get("origin", {"kind": "user"})["kind"] != "tool"
        and one.get("interactivity") != "hidden"
    ]
    return [session.confirmed.chat, *[(await session.chat(uri)).confirmed.chat for uri in further]]


async def _open(client: AhpClient, name: str) -> Session:
    uri = await find_session(client, name)
    if client.sessions.get(uri) is None:
        await client.sessions.load()
    session = await client.session(uri)
    while await session.load_turns():
        pass
    return session


def delete(server: Server, names: Sequence[str], *, is_sure: bool) -> None:
    """Delete sessions, asking first."""

    async def work(client: AhpClient) -> None:
        uris = [
            await find_session(client, name) for name in names
        ]  # all of them, before the first is deleted
        for uri in uris:
            summary = client.sessions.get(uri)
            name = f"{session_id(uri)} ({summary['title'] if summary else 'untitled'})"
            title = printable(name, sys.stderr)
            if is_sure or _is_confirmed(title):
                await (await client.session(uri)).dispose()
                print(f"deleted {title}", file=sys.stderr)

    with _exit_on_error(server):
        _run(server, work)


def end(server: Server, options: Mapping[str, Any], name: str) -> None:
    """End the turn of a session: in the data folder if no server uses it, else on the server."""
    with _exit_on_error(server):
        uri = _end_served(server, name) if server.url is not None else _end_anywhere(server, options, name)
        print(f"ended the turn of {printable(session_id(uri), sys.stderr)}", file=sys.stderr)


def _end_anywhere(server: Server, options: Mapping[str, Any], name: str) -> str:
    from agenthost.cli.stored_sessions import end_turn  # noqa: PLC0415 - importing the host takes a while
    from agenthost.settings import read_settings  # noqa: PLC0415

    settings = read_settings(options)
    is_folder = settings.store is None or (options.get("data") is not None and options.get("store") is None)
    if is_folder and not settings.data.is_dir():
        if options.get("data") is not None:
            raise ValueError(f"there is no folder {settings.data}")
        return _end_served(server, name)
    place = settings.data if is_folder or settings.store is None else settings.store
    try:
        return asyncio.run(end_turn(place, name))
    except StorageInUse as held:
        try:
            return _end_served(server, name)
        except Unreachable as error:
            raise StorageInUse(f"{held}; use --url to name its server ({error})") from None


def _end_served(server: Server, name: str) -> str:
    return _run(server, lambda client: _cancel(client, name))


async def _cancel(client: AhpClient, name: str) -> str:
    uri = await find_session(client, name)
    session = await client.session(uri)
    try:
        await session.cancel()
    except ValueError:
        raise ValueError(f"session {session_id(uri)!r} has no active turn") from None
    return uri


def _is_confirmed(title: str) -> bool:
    if not sys.stdin.isatty():
        raise ValueError("there is no terminal to ask at; use --yes to delete without asking")
    print(f"Delete {title} for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _run(server: Server, work: Callable[[AhpClient], Coroutine[Any, Any, T]]) -> T:
    async def connected() -> T:
        async with AhpClient(server.url, key=server.key or None) as client:
            return await work(client)

    return asyncio.run(connected())


def _exit_on_error(server: Server) -> AbstractContextManager[None]:
    return exit_on_error(server.url, unreachable=Unreachable, unauthorized=Unauthorized)


def _json(value: Any) -> str:
    # Encoded by our own encoder first, which refuses what is not JSON.
    return json.dumps(json.loads(encode_json(value)), indent=2, ensure_ascii=False)


def _print(text: str) -> None:
    sys.stdout.write(printable(text, sys.stdout) + "\n")
    sys.stdout.flush()
