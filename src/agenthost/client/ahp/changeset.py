"""Changesets: which files a session, a chat or a turn has changed, followed as it happens."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from agenthost.client.ahp.connection import Connection
from agenthost.client.ahp.errors import NotFound
from agenthost.client.ahp.files import Files
from agenthost.client.ahp.resource import Resource
from agenthost.wire.ahp.changeset import Changeset as OfferedChangeset
from agenthost.wire.ahp.changeset import ChangesetFile, ChangesetState
from agenthost.wire.ahp.common import URI

__all__ = ["ChangeCounts", "Changeset", "OfferedChangeset", "changeset_uri"]

TURN = "{turnId}"

Side: TypeAlias = Literal["before", "after"]


class ChangeCounts(NamedTuple):
    """How much was changed: files, and lines that were added and removed."""

    files: int
    added: int
    removed: int


class Changeset(Resource[ChangesetState]):
    """The files that a session, a chat or a turn has changed.

    Attributes:
        session_uri: the session.
    """

    def __init__(self, uri: URI, session: URI, connection: Connection) -> None:
        super().__init__(uri, connection)
        self.session_uri = session
        self._files = Files(connection)

    @property
    def files(self) -> list[ChangesetFile]:
        """The changed files, each once: `file["edit"]` has its `before`, its `after` and a count of lines."""
        return self.confirmed["files"]

    @property
    def is_ready(self) -> bool:
        """Whether the list is up to date; it is made anew a moment after each change."""
        return self.confirmed["status"] == "ready"

    @property
    def counts(self) -> ChangeCounts:
        """How many files were changed, and how many lines were added and removed."""
        diffs = [file["edit"].get("diff", {}) for file in self.files]
        added = sum(one.get("added", 0) for one in diffs)
        return ChangeCounts(len(diffs), added, sum(one.get("removed", 0) for one in diffs))

    async def read(self, file: ChangesetFile, side: Side = "after") -> bytes | None:
        """Return a file as it was before the first change or after the last one; None if there was none.

        Raises:
            AhpError: such as `NotFound`, when the content is no longer stored.
        """
        edit = file["edit"]
        if side not in edit:
            return None
        return await self._files.read(edit[side]["content"]["uri"])


def changeset_uri(offered: Sequence[OfferedChangeset], turn_id: str | None) -> URI:
    """Return the URI of the changeset of a whole session or chat, or of one of its turns.

    Raises:
        NotFound: it is not among those that are offered.
    """
    templates = [one["uriTemplate"] for one in offered]
    if turn_id is None:
        found = [one for one in templates if "{" not in one]
    else:
        found = [one.replace(TURN, turn_id) for one in templates if TURN in one]
    if not found:
        raise NotFound("there is no changeset: no file was changed so far")
    return found[0]
