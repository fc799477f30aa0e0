"""Contents: what is too large for a state is kept beside it, and the state holds a reference.

A content belongs to one session: its URI begins with the session's, and it goes when the session goes. It is
written once and never changed. Knows no files: those have URIs of their own.
"""

import asyncio
import secrets
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from agenthost.core.forking import CONTENT, split_content_uri
from agenthost.errors import ContentNotFound
from agenthost.host.session import Session
from agenthost.host.storage import PutContent, Storage, StoredContent
from agenthost.wire.ahp.common import URI, ContentRef
from agenthost.wire.ahp.toolcall import ToolCallResult

ID_BYTES = 16
"""So long that nobody guesses one: whoever knows the URI was shown the reference."""

INLINE_BYTES = 64 * 1024
"""What is larger than this stays out of the state."""

SHOWN_CHARACTERS = 2_000
"""How much of a large text is in the state, before the reference to all of it."""


@dataclass(frozen=True, slots=True)
class NewContent:
    """A content that is not written yet: the reference for the state, and the write that makes it true."""

    ref: ContentRef
    write: PutContent


def new_content(session: Session, data: bytes, content_type: str) -> NewContent:
    """Make a reference to these bytes as a content of the session, and the write that goes with it."""
    content_id = secrets.token_hex(ID_BYTES)
    uri = f"{session.row.uri}{CONTENT}{content_id}"
    ref: ContentRef = {"uri": uri, "sizeHint": len(data), "contentType": content_type}
    return NewContent(ref, PutContent(session.number, content_id, content_type, data))


class Contents:
    """The way to the contents of all sessions. Reads the store in threads."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def keep(self, session: Session, data: bytes, content_type: str) -> ContentRef:
        """Have these bytes written, and give the reference to put into an action of the session.

        Call `session.act` with that action in the same tick, with no `await` in between: what the journal is
        given in one tick is one transaction, so nobody ever sees a reference to what is not there.
        """
        new = new_content(session, data, content_type)
        session.journal.write([new.write])
        return new.ref

    async def read(self, uri: URI) -> StoredContent:
        """Give the content that a reference names.

        Raises:
            ContentNotFound: there is none of that URI.
        """
        found = await asyncio.to_thread(self._find, uri)
        if found is None:
            raise ContentNotFound(uri)
        return found

    async def kept(self, session: Session, uri: URI) -> bytes | None:
        """Give a content of this session, also one that was kept just now; nothing, if there is none."""
        if not uri.startswith(f"{session.row.uri}{CONTENT}"):
            return None
        await session.journal.wait()
        found = await asyncio.to_thread(self._find, uri)
        return None if found is None else found.data

    def _find(self, uri: URI) -> StoredContent | None:
        parts = split_content_uri(uri)
        if parts is None:
            return None
        session, content_id = parts
        row = self._storage.find(uri=session)
        return None if row is None else self._storage.content(row.number, content_id)


def refer_to_large(session: Session, result: ToolCallResult) -> tuple[ToolCallResult, list[PutContent]]:
    """Give a result as the state holds it, with large data by reference, and the contents to write."""
    writes: list[PutContent] = []
    content: list[Any] = []
    for block in result.get("content", []):
        if block["type"] == "embeddedResource" and len(block["data"]) > INLINE_BYTES:
            new = new_content(session, b64decode(block["data"]), block["contentType"])
            writes.append(new.write)
            content.append({"type": "resource", **new.ref})
        elif block["type"] == "text" and len(block["text"]) > INLINE_BYTES:
            new = new_content(session, block["text"].encode(), "text/plain")
            writes.append(new.write)
            content += [{"type": "text", "text": block["text"][:SHOWN_CHARACTERS] + "…"}]
            content.append({"type": "resource", **new.ref})
        else:
            content.append(block)
    return ({**result, "content": content} if writes else result), writes
