"""Access to contents of sessions by URI, as for files, for the owner of the session alone."""

from agenthost.core.fork import split_content_uri
from agenthost.errors import ContentNotFound, SessionNotFound
from agenthost.host.files.files import ReadContent
from agenthost.host.files.grants import Owner
from agenthost.host.state.blobs import Blobs
from agenthost.host.state.registry import SessionRegistry
from agenthost.host.storage import StoredContent
from agenthost.wire.ahp.common import URI

__all__ = ["content_reader"]


def content_reader(contents: Blobs, sessions: SessionRegistry) -> ReadContent:
    """Return a function that reads contents for `Files`. It finds only those of the owner's sessions."""

    async def read(uri: URI, owner: Owner) -> StoredContent:
        parts = split_content_uri(uri)
        if parts is None:
            raise ContentNotFound(uri)
        if owner is not None:
            try:
                session = await sessions.get(parts[0])
            except SessionNotFound:
                raise ContentNotFound(uri) from None
            if session.row.owner != owner:
                raise ContentNotFound(uri)
        return await contents.read(uri)

    return read
