"""`agenthost sessions`: what there is on a server, looked at, kept as a file, stopped, removed."""

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

from agenthost.cli.chat.opening import find_session, newest_first
from agenthost.cli.chat.wording import id_of, status_of
from agenthost.cli.ending import plain_ends, safe
from agenthost.cli.exporting import markdown_of, time_of
from agenthost.client.ahp import AhpClient, Unauthorized, Unreachable
from agenthost.errors import StorageInUse
from agenthost.wire.json import encode_json

__all__ = ["Where", "delete", "end", "export", "list_all", "show"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Where:
    """Which server."""

    url: str | None
    key: str | None


def list_all(where: Where, *, is_json: bool, has_archived: bool) -> None:
    """List the sessions, the newest first: a line each, or as JSON."""

    async def work(client: AhpClient) -> list[Any]:
        return newest_first(await client.sessions.load(), has_archived=has_archived)

    with _ends(where):
        rows = _run(where, work)
        if is_json:
            _print(_json(rows))
            return
        names = max((len(id_of(row["resource"])) for row in rows), default=0)
        agents = max((len(row["provider"]) for row in rows), default=0)
        for row in rows:
            status = f" ({', '.join(words)})" if (words := status_of(row)) else ""
            title = " ".join(row["title"].split()) or "untitled"
            head = f"{id_of(row['resource']):<{names}}  {row['provider']:<{agents}}"
            _print(f"{head}  {time_of(row['modifiedAt'])}  {title}{status}")


def show(where: Where, name: str) -> None:
    """Show a session, as a chat would."""
    with _ends(where):
        text = markdown_of(_run(where, lambda client: _state(client, name)))
        if sys.stdout.isatty():
            from agenthost.cli.chat.markdown import Answer  # noqa: PLC0415 - takes its time to import
            from agenthost.cli.chat.painting import Painter  # noqa: PLC0415

            width = shutil.get_terminal_size().columns
            answer = Answer(Painter(lambda: width, has_colours=not os.environ.get("NO_COLOR")))
            answer.feed(text)
            sys.stdout.writelines(f"{line}\n" for line in answer.end())
        else:
            _print(text.removesuffix("\n"))


def export(where: Where, name: str, *, is_json: bool, output: Path | None) -> None:
    """Write a session down, as Markdown or as JSON; into a file, or to the standard output."""
    with _ends(where):
        state = _run(where, lambda client: _state(client, name))
        text = f"{_json(state)}\n" if is_json else markdown_of(state)
        if output is None:
            _print(text.removesuffix("\n"))
            return
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ValueError(f"{output}: {error.strerror or type(error).__name__}") from None


async def _state(client: AhpClient, name: str) -> Any:
    return (await client.session(await find_session(client, name))).confirmed


def delete(where: Where, names: Sequence[str], *, is_sure: bool) -> None:
    """Remove sessions for good, asking first."""

    async def work(client: AhpClient) -> None:
        uris = [await find_session(client, name) for name in names]  # all of them, before the first is gone
        for uri in uris:
            summary = client.sessions.get(uri)
            title = safe(f"{id_of(uri)} ({summary['title'] if summary else 'untitled'})", sys.stderr)
            if is_sure or _is_agreed(title):
                await (await client.session(uri)).dispose()
                print(f"removed {title}", file=sys.stderr)

    with _ends(where):
        _run(where, work)


def end(where: Where, options: Mapping[str, Any], name: str) -> None:
    """End the turn of a session: in the data folder, where no server holds that; else on the server."""
    with _ends(where):
        uri = _end_served(where, name) if where.url is not None else _end_anywhere(where, options, name)
        print(f"ended the turn of {safe(id_of(uri), sys.stderr)}", file=sys.stderr)


def _end_anywhere(where: Where, options: Mapping[str, Any], name: str) -> str:
    from agenthost.cli.unserved import end_turn  # noqa: PLC0415 - takes its time to import
    from agenthost.settings import read_settings  # noqa: PLC0415

    data = read_settings(options).data
    if not data.is_dir():
        if options.get("data") is not None:
            raise ValueError(f"there is no folder {data}")
        return _end_served(where, name)
    try:
        return asyncio.run(end_turn(data, name))
    except StorageInUse as held:
        try:
            return _end_served(where, name)
        except Unreachable as error:
            raise StorageInUse(f"{held}; --url names its server ({error})") from None


def _end_served(where: Where, name: str) -> str:
    return _run(where, lambda client: _cancel(client, name))


async def _cancel(client: AhpClient, name: str) -> str:
    uri = await find_session(client, name)
    session = await client.session(uri)
    try:
        await session.cancel()
    except ValueError:
        raise ValueError(f"session {id_of(uri)!r} has no turn that runs or waits") from None
    return uri


def _is_agreed(title: str) -> bool:
    if not sys.stdin.isatty():
        raise ValueError("nobody is there to ask whether they may be removed; --yes removes them")
    print(f"Remove {title} for everybody, for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _run(where: Where, work: Callable[[AhpClient], Coroutine[Any, Any, T]]) -> T:
    async def connected() -> T:
        async with AhpClient(where.url, key=where.key or None) as client:
            return await work(client)

    return asyncio.run(connected())


def _ends(where: Where) -> AbstractContextManager[None]:
    return plain_ends(where.url, unreachable=Unreachable, unauthorized=Unauthorized)


def _json(value: Any) -> str:
    # Encoded by our own rules first: they say what is JSON.
    return json.dumps(json.loads(encode_json(value)), indent=2, ensure_ascii=False)


def _print(text: str) -> None:
    sys.stdout.write(safe(text, sys.stdout) + "\n")
    sys.stdout.flush()
