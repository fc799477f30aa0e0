"""Blobs: contents that are too large for a state are stored separately, and the state refers to them.

A content belongs to one session: its URI starts with the session's, and it is removed with the session. It is
written once and never changes. Files are something else, with other URIs.
"""

import asyncio
import secrets
from base64 import b64decode
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from agenthost.core.fork import CONTENT, split_content_uri
from agenthost.errors import ContentNotFound
from agenthost.host.state.session import Session
from agenthost.host.storage import PutContent, Storage, StoredContent
from agenthost.wire.ahp.common import URI, ContentRef
from agenthost.wire.ahp.toolcall import ToolCallResult

ID_BYTES = 16
"""Long enough that it cannot be guessed: only those who were shown the reference know the URI."""

INLINE_BYTES = 64 * 1024
"""Larger contents stay out of the state."""

SHOWN_CHARACTERS = 2_000
"""How much of a large text is in the state, before the reference to all of it."""


@dataclass(frozen=True, slots=True)
class NewBlob:
    """A content that is not stored yet: the reference for the state, and the write that stores it.

    Both belong into one transaction, so that nobody sees a reference to something that does not exist.
    """

    ref: ContentRef
    write: PutContent


def new_blob(session: Session, data: bytes, content_type: str, name: str = "") -> NewBlob:
    """Return a reference to these bytes as a content of the session, and the write that stores them.

    With the name of a file, all its contents have the same path, which clients show as its name.
    """
    content_id = secrets.token_hex(ID_BYTES)
    last = f"{quote(name, safe='')}?{content_id}" if name else content_id
    uri = f"{session.row.uri}{CONTENT}{last}"
    ref: ContentRef = {"uri": uri, "sizeHint": len(data), "contentType": content_type}
    return NewBlob(ref, PutContent(session.number, content_id, content_type, data))


class Blobs:
    """The contents of all sessions. Reads the store in threads."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def read(self, uri: URI) -> StoredContent:
        """Return the content with this URI.

        Raises:
            ContentNotFound: there is none.
        """
        found = await asyncio.to_thread(self.find, uri)
        if found is None:
            raise ContentNotFound(uri)
        return found

    async def read_own(self, session: Session, uri: URI) -> bytes | None:
        """Return a content of this session, even one that was just written; `None` if there is none."""
        if not uri.startswith(f"{session.row.uri}{CONTENT}"):
            return None
        await session.journal.wait()
        found = await asyncio.to_thread(self.find, uri)
        return None if found is None else found.data

    def find(self, uri: URI) -> StoredContent | None:
        """Return the content with this URI, if there is one. Reads the store: to be called in a thread."""
        parts = split_content_uri(uri)
        if parts is None:
            return None
        session, content_id = parts
        row = self._storage.find(uri=session)
        return None if row is None else self._storage.content(row.number, content_id)


def refer_to_large(session: Session, result: ToolCallResult) -> tuple[ToolCallResult, list[PutContent]]:
    """Return a result with large data replaced by references, and the writes that store that data."""
    writes: list[PutContent] = []
    content: list[Any] = []
    for block in result.get("content", []):
        if block["type"] == "embeddedResource" and len(block["data"]) > INLINE_BYTES:
            new = new_blob(session, b64decode(block["data"]), block["contentType"])
            writes.append(new.write)
            content.append({"type": "resource", **new.ref})
        elif block["type"] == "text" and len(block["text"]) > INLINE_BYTES:
            new = new_blob(session, block["text"].encode(), "text/plain")
            writes.append(new.write)
            content += [{"type": "text", "text": block["text"][:SHOWN_CHARACTERS] + "…"}]
            content.append({"type": "resource", **new.ref})
        else:
            content.append(block)
    return ({**result, "content": content} if writes else result), writes
