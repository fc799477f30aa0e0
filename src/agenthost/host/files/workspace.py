"""The folder that one session works in: its path, and the jail that holds its tools inside.

The jail is that of the session's owner, narrowed to the folder; so what is hidden from the owner, such as the
host's own data, is hidden from the tools too, and a grant that was taken back is gone for them as well.
"""

import stat
from dataclasses import dataclass
from pathlib import Path

from agenthost.errors import InvalidValue
from agenthost.host.files.jail import BOTH, READ, Jail, Root, kind_of
from agenthost.host.files.uris import Parts, Target, parts_of, path_of, uri_of
from agenthost.wire.ahp.common import URI

__all__ = ["Workspace"]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder to work in.

    Attributes:
        path: where it is, without links.
        spelling: how people write it.
        jail: lets what is in it be touched, and nothing else.
    """

    path: Parts
    spelling: Parts
    jail: Jail

    @classmethod
    def at(cls, folder: Path) -> "Workspace":
        """Make one of any folder: for tools without a host."""
        root = Root.at(parts_of(folder.absolute().parts[1:]), BOTH)
        return cls(root.path, root.spelling, Jail([root]))

    @classmethod
    def of(cls, target: Target, jail: Jail) -> "Workspace":
        """Find this folder, as far as the jail lets it be touched. Looks at the disk.

        Raises:
            InvalidValue: it is no folder.
            ResourceError: it is not there, or may not be touched.
        """
        with jail.place(target, READ, follow=True) as place:
            status = place.needed_status()
            if not stat.S_ISDIR(status.st_mode):
                raise InvalidValue(target.at, "a folder", kind_of(status))
            return cls(place.path, target.path, jail.within(place.path, target.path))

    @property
    def folder(self) -> Path:
        """It, as other parts use it: without links, so that it stays where it is."""
        return path_of(self.path)

    @property
    def uri(self) -> URI:
        """Its URI."""
        return uri_of(self.path)
