"""Completions for the text that a user has typed so far.

`@` begins the path of a file in the session's folder, `/` at the start of a message a command of the agent.
Answers are fast and best effort: they come from an index in memory, which is refreshed in the background.
"""

import asyncio
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from agenthost.core.decisions.grants import ALL_RIGHTS, Rights
from agenthost.errors import HostError, InvalidValue
from agenthost.host.authoring.agent import Command
from agenthost.host.files.files import Files
from agenthost.host.files.grants import Owner
from agenthost.host.files.index import FileIndex, IndexLimits
from agenthost.host.files.reader import guess_content_type
from agenthost.host.files.snapshot import Snapshot
from agenthost.host.files.uris import Parts, is_beneath, uri_of
from agenthost.wire.ahp.commands.chat import CompletionItem, CompletionsParams, CompletionsResult
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.message import (
    MessageAttachment,
    MessageResourceAttachment,
    SimpleMessageAttachment,
)

__all__ = ["TRIGGERS", "Command", "Completions", "before_cursor", "utf16_length"]

TRIGGERS: Final = ("@", "/")
"""The characters after which a client should ask."""

MOST_ITEMS = 50
LONGEST_QUERY = 200

FIRST_SECONDS = 1.0
"""How long the first answer waits for the index; then it has what was found so far."""

FRESH_SECONDS = 2.0
"""How long an index counts as fresh before the tree is walked again."""

INDEXES_KEPT = 4

_FILE = re.compile(r"(?:^|(?<=[\s(\[{'\"`,;]))@(\S*)\Z")
_COMMAND = re.compile(r"\A/(\S*)\Z")


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 code units, as the wire counts (HR-U10)."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def before_cursor(text: str, offset: int) -> str:
    """Return the text before a cursor, given in UTF-16 code units (HR-U10). A character is never split.

    Raises:
        InvalidValue: the text is not that long.
    """
    units = utf16_length(text)
    if not 0 <= offset <= units:
        raise InvalidValue("$.offset", f"a number from 0 to {units}", f"the number {offset}")
    if text.isascii():
        return text[:offset]
    units_before = text.encode("utf-16-le", "surrogatepass")[: 2 * offset]
    before = units_before.decode("utf-16-le", "surrogatepass")
    # Half of a surrogate pair: the cursor is inside of a character, which counts as after it.
    is_half = bool(before) and "\ud800" <= before[-1] <= "\udbff" and text[len(before) - 1] != before[-1]
    return before[:-1] if is_half else before


class Completions:
    """Finds completions, for all sessions. Used on the event loop; close it at the end."""

    def __init__(self, files: Files, limits: IndexLimits | None = None) -> None:
        self._files = files
        self._limits = limits
        self._indexes: dict[Parts, FileIndex] = {}
        self._refreshing: dict[Parts, asyncio.Future[None]] = {}
        self._refreshed: dict[Parts, float] = {}
        # One thread: two walks at once would only slow each other down.
        self._pool = ThreadPoolExecutor(1, "agenthost-index")

    def close(self) -> None:
        """Stop the walks that are running."""
        for index in self._indexes.values():
            index.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def complete(
        self,
        owner: Owner,
        params: CompletionsParams,
        *,
        folder: URI | None = None,
        commands: Sequence[Command] = (),
        rights: Rights = ALL_RIGHTS,
    ) -> CompletionsResult:
        """Return completions, the best first.

        `folder` is where the session works, by default the workspace; `commands` are those of its agent.

        Raises:
            GrantMissing: the text asks for files, and the client may not see files.
            InvalidValue: the cursor is outside the text.
        """
        before = before_cursor(params["text"], params["offset"])
        if (match := _COMMAND.search(before)) is not None:
            place = _Place(match[0], params["offset"])
            return {"items": [place.command(one) for one in _fitting(commands, match[1])]}
        # Only the end is searched: a message may be long.
        match = _FILE.search(before[-LONGEST_QUERY - 1 :])
        if match is None or params["kind"] != "userMessage":
            return {"items": []}
        # Not before: commands need no right to see files.
        rights.check("completions/files")
        return {"items": await self._found(owner, folder, match[1], _Place(match[0], params["offset"]))}

    async def _found(
        self, owner: Owner, folder: URI | None, query: str, place: "_Place"
    ) -> list[CompletionItem]:
        try:
            top, names = await self._names(owner, folder)
        except HostError:  # the folder is gone or no longer allowed: nothing to propose
            return []
        # In a thread, because a rare query looks at every name. It is short, so the default pool will do.
        paths = await asyncio.to_thread(names.search, query, MOST_ITEMS)
        return [place.file(top, path) for path in paths]

    async def _names(self, owner: Owner, folder: URI | None) -> tuple[Parts, Snapshot]:
        workspace = self._files.grants.workspace_of(owner).path
        top = workspace
        if folder is not None:
            top = (await self._files.folder(owner, folder)).parts[1:]
        if not is_beneath(top, workspace):
            return top, await self._snapshot(owner, top)
        # All folders of a workspace share its index.
        whole = await self._snapshot(owner, workspace)
        below = "/".join(top[len(workspace) :])
        return top, await asyncio.to_thread(whole.below, below) if below else whole

    async def _snapshot(self, owner: Owner, top: Parts) -> Snapshot:
        """Return the names of a tree, and refresh them in the background. Only the first call waits."""
        index = self._indexes.pop(top, None) or FileIndex(top, self._limits)
        self._indexes[top] = index  # the most recently used is evicted last
        for oldest in list(self._indexes)[:-INDEXES_KEPT]:
            self._indexes.pop(oldest).stop()
            self._refreshed.pop(oldest, None)
        refreshing = self._refreshing.get(top)
        if refreshing is None and time.monotonic() - self._refreshed.get(top, 0) >= FRESH_SECONDS:
            refreshing = self.refresh(owner, top)
        if refreshing is not None and not index.is_built:
            await asyncio.wait([refreshing], timeout=FIRST_SECONDS)
        # A partial index is sorted first, which takes time.
        return index.snapshot if index.is_built else await asyncio.to_thread(lambda: index.snapshot)

    def refresh(self, owner: Owner, top: Parts | None = None) -> asyncio.Future[None]:
        """Walk a tree again, by default the workspace. Return a future that is done when the walk is."""
        top = self._files.grants.workspace_of(owner).path if top is None else top
        index = self._indexes.setdefault(top, FileIndex(top, self._limits))
        jail = self._files.grants.jail(owner)
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._pool, index.refresh, jail)
        self._refreshing[top] = future

        def done(_future: asyncio.Future[None]) -> None:
            # Another walk of this tree may have begun since.
            if self._refreshing.get(top) is future:
                del self._refreshing[top]
            if top in self._indexes:
                self._refreshed[top] = time.monotonic()

        future.add_done_callback(done)
        return future


def _fitting(commands: Sequence[Command], query: str) -> list[Command]:
    """Return the commands that begin with what was typed, then those that contain it."""
    wanted = query.lower()
    first = [one for one in commands if one.name.lower().startswith(wanted)]
    return (first + [one for one in commands if wanted in one.name.lower() and one not in first])[:MOST_ITEMS]


@dataclass(frozen=True, slots=True)
class _Place:
    """The text to complete, with its trigger, and where it ends in the message."""

    typed: str
    end: int

    def file(self, top: Parts, path: str) -> CompletionItem:
        """Propose a file or folder."""
        names = path.rstrip("/").split("/")
        attachment: MessageResourceAttachment = {
            "type": "resource",
            "uri": uri_of((*top, *names)),
            "label": path,
            "displayKind": "directory" if path.endswith("/") else "document",
        }
        kind = None if path.endswith("/") else guess_content_type(names[-1])
        if kind is not None:
            attachment["contentType"] = kind
            if kind.startswith("image/"):
                attachment["displayKind"] = "image"
        return self._item(f"@{path}", attachment)

    def command(self, command: Command) -> CompletionItem:
        """Propose a command."""
        attachment: SimpleMessageAttachment = {
            "type": "simple",
            "label": f"/{command.name}",
            "displayKind": "command",
            "_meta": {"command": command.name, "description": command.description},
        }
        return self._item(f"/{command.name}", attachment)

    def _item(self, text: str, attachment: MessageAttachment) -> CompletionItem:
        start = self.end - utf16_length(self.typed)
        return {"insertText": text, "rangeStart": start, "rangeEnd": self.end, "attachment": attachment}
