"""Contents of sessions, read as files are: by their URI, by the owner of the session only."""

from agenthost.core.forking import split_content_uri
from agenthost.errors import ContentNotFound, SessionNotFound
from agenthost.host.contents import Contents
from agenthost.host.files.files import ReadContent
from agenthost.host.files.grants import Owner
from agenthost.host.sessions import Sessions
from agenthost.host.storage import StoredContent
from agenthost.wire.ahp.common import URI

__all__ = ["reader_of"]


def reader_of(contents: Contents, sessions: Sessions) -> ReadContent:
    """Give what reads contents for `Files`; for others than the owner of its session, there is none."""

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
