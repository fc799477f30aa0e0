"""The workspace of a session: the folder it works in, and the jail that keeps its tools inside.

The jail is that of the session's owner, narrowed to the folder. So what is hidden from the owner, such as the
host's own data, is hidden from the tools too, and a revoked grant is revoked for them as well.
"""

import stat
from dataclasses import dataclass
from pathlib import Path

from agenthost.errors import InvalidValue
from agenthost.host.files.jail import BOTH, READ, Jail, Root, file_kind
from agenthost.host.files.uris import Parts, Target, normalize, to_path, uri_of
from agenthost.wire.ahp.common import URI

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder to work in.

    Attributes:
        path: where it is, with links resolved.
        spelling: the path as people write it.
        jail: allows access to what is in it, and to nothing else.
    """

    path: Parts
    spelling: Parts
    jail: Jail

    @classmethod
    def at(cls, folder: Path) -> "Workspace":
        """Return a workspace for any folder, for tools without a host."""
        root = Root.at(normalize(folder.absolute().parts[1:]), BOTH)
        return cls(root.path, root.spelling, Jail([root]))

    @classmethod
    def of(cls, target: Target, jail: Jail) -> "Workspace":
        """Find this folder within the jail. Accesses the disk.

        Raises:
            InvalidValue: it is not a folder.
            ResourceError: it does not exist, or may not be accessed.
        """
        with jail.place(target, READ, follow=True) as place:
            status = place.require_status()
            if not stat.S_ISDIR(status.st_mode):
                raise InvalidValue(target.at, "a folder", file_kind(status))
            return cls(place.path, target.path, jail.within(place.path, target.path))

    @property
    def folder(self) -> Path:
        """Its path, with links resolved, so that changing one does not move it."""
        return to_path(self.path)

    @property
    def uri(self) -> URI:
        """Its URI."""
        return uri_of(self.path)
