"""Grants: what each owner may touch beside the workspace, and how one comes to it.

A grant is asked for, and the policy of the configuration decides: for reading and for writing by itself. It
is in memory only, counts from the next use on, and can be taken back at any time. Knows no connections:
whoever can ask a person provides `decide`.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from agenthost.errors import ResourceDenied, ResourceError
from agenthost.host.files.jail import BOTH, Access, Jail, Root
from agenthost.host.files.uris import Parts, is_beneath, path_of, target_of, uri_of
from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import URI

__all__ = ["AccessRequest", "Decide", "FilePolicy", "Grants", "Owner", "Policy", "access_of", "folder_name"]

log = logging.getLogger("agenthost.files")

# In lower case: some file systems take `Ada` and `ada` for one.
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]{0,63}")
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
MAX_SHOWN = 40

Policy: TypeAlias = Literal["ask", "allow", "deny"]

Owner: TypeAlias = str | None
"""Whose grants: an owner of keys; `None` where there are no keys."""


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """Somebody wants to touch something that is not theirs: a client of the host, or the host of a client.

    Attributes:
        uri: what, without links where it is ours.
        access: how.
        owner: who.
    """

    uri: URI
    access: Access
    owner: Owner = None


Decide: TypeAlias = Callable[[AccessRequest], Awaitable[bool]]
"""Asks somebody who may say yes."""


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """What the configuration says of files.

    Attributes:
        reading: what becomes of requests to read outside of the workspace.
        writing: what becomes of requests to write there.
        workspace: what may be done in the workspace without asking.
        whole: folders that `allow` may grant although they hold a home folder, or everything.
        grants_per_owner: how many grants an owner may have at once.
        questions_per_owner: how many requests of an owner may wait for an answer.
    """

    reading: Policy = "ask"
    writing: Policy = "ask"
    workspace: Access = BOTH
    whole: tuple[Path, ...] = ()
    grants_per_owner: int = 256
    questions_per_owner: int = 16


def access_of(params: ResourceRequestParams) -> Access:
    """Give what a request is for; one that says nothing is for reading."""
    write = params.get("write", False)
    return Access(read=params.get("read", False) or not write, write=write)


class Grants:
    """Who may touch what. Used on the event loop; a `Jail` made here may be used in any thread."""

    def __init__(
        self,
        workspace: Path,
        policy: FilePolicy | None = None,
        *,
        workspaces: Path | None = None,
        hidden: Sequence[Path] = (),
        decide: Decide | None = None,
    ) -> None:
        """Let everybody into the workspace, but into nothing that is hidden, such as the host's own data.

        With `workspaces`, owners have a folder there each, and see neither that of others nor the workspace.
        """
        self.policy = policy or FilePolicy()
        self.decide = decide
        self.workspace = _root(workspace, self.policy.workspace)
        self._workspaces = workspaces
        self._hidden = [_root(path, BOTH).path for path in hidden]
        if workspaces is not None:
            self._hidden.append(_root(workspaces, BOTH).path)
        self._whole = {_root(path, BOTH).path for path in self.policy.whole}
        self._granted: dict[Owner, dict[Parts, Root]] = {}
        self._asking: dict[Owner, int] = {}

    def workspace_of(self, owner: Owner) -> Root:
        """Return the workspace of an owner; a folder of its own is made when it is first asked for.

        Raises:
            ResourceError: the folder cannot be made.
        """
        if self._workspaces is None or not owner:
            return self.workspace
        folder = self._workspaces / folder_name(owner)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ResourceError(f"there is no workspace to be had: {error.strerror}") from error
        return _root(folder, self.policy.workspace)

    def folder_of(self, owner: Owner) -> Path:
        """Return the workspace of an owner, without links."""
        return path_of(self.workspace_of(owner).path)

    def is_hidden(self, owner: Owner, path: Parts) -> bool:
        """Tell whether a path without links is none that this owner could ever be let into."""
        return self.jail(owner).is_hidden(path)

    def jail(self, owner: Owner) -> Jail:
        """Give what an owner may touch now."""
        workspace = self.workspace_of(owner)
        roots = [workspace, *self._granted.get(owner, {}).values()]
        own = None if workspace is self.workspace else workspace.path
        return Jail(roots, hidden=self._hidden, own=own, can_ask=self._can_ask)

    def granted(self, owner: Owner) -> list[AccessRequest]:
        """Tell what was granted to an owner, in the order that it was."""
        roots = self._granted.get(owner, {}).values()
        return [AccessRequest(uri_of(root.path), root.access, owner) for root in roots]

    async def request(self, owner: Owner, params: ResourceRequestParams) -> None:
        """Ask for access; if this returns, it is granted.

        Raises:
            InvalidValue: it is not the URI of a file.
            ResourceDenied: the policy, or who was asked, says no.
            ResourceNotFound: it is not the URI of a file at all.
        """
        target = target_of(params["uri"])
        access = access_of(params)
        # The links in it are looked up once: what is granted stays where it is, whoever changes one later.
        root = await asyncio.to_thread(Root.at, target.path, access)
        if self.jail(owner).may(root.path, access):
            return
        if self.is_hidden(owner, root.path):
            raise _denied(params["uri"])
        if not await self._is_let(AccessRequest(uri_of(root.path), access, owner), root.path):
            raise _denied(params["uri"])
        self._add(owner, root, params["uri"])

    def revoke(self, owner: Owner, uri: URI | None = None) -> None:
        """Take back a grant, or all of an owner's; what is under way may still come to its end."""
        if uri is None:
            self._granted.pop(owner, None)
            return
        path = target_of(uri).path
        granted = self._granted.get(owner, {})
        for root in list(granted.values()):
            if path in (root.path, root.spelling):
                del granted[root.path]

    def _can_ask(self, access: Access) -> bool:
        policies = self._policies(access)
        return "deny" not in policies and ("ask" not in policies or self.decide is not None)

    def _policies(self, access: Access) -> set[Policy]:
        pairs = (access.read, self.policy.reading), (access.write, self.policy.writing)
        return {policy for is_wanted, policy in pairs if is_wanted}

    async def _is_let(self, request: AccessRequest, path: Parts) -> bool:
        policies = self._policies(request.access)
        if "deny" in policies:
            return False
        if "ask" not in policies and not self._is_whole(path):
            return True
        return await self._ask(request)

    def _is_whole(self, path: Parts) -> bool:
        """Tell whether this is so much that a person has to say yes: a home folder, or what holds one."""
        if path in self._whole:
            return False
        try:
            home = _root(Path.home(), BOTH).path
        except RuntimeError:  # nobody knows where it is
            home = ()
        return is_beneath(home, path) or any(is_beneath(hidden, path) for hidden in self._hidden)

    async def _ask(self, request: AccessRequest) -> bool:
        """Ask whoever can be asked; nobody, too many questions and an error are a no."""
        owner = request.owner
        if self.decide is None or self._asking.get(owner, 0) >= self.policy.questions_per_owner:
            return False
        self._asking[owner] = self._asking.get(owner, 0) + 1
        try:
            return await self.decide(request) is True
        except Exception:
            log.exception("a request for access could not be decided, and is denied")
            return False
        finally:
            self._asking[owner] -= 1
            if not self._asking[owner]:
                del self._asking[owner]

    def _add(self, owner: Owner, root: Root, uri: URI) -> None:
        granted = self._granted.setdefault(owner, {})
        before = granted.get(root.path)
        if before is None and len(granted) >= self.policy.grants_per_owner:
            raise ResourceDenied(f"{uri!r:.200} is not granted: there are too many grants already")
        if before is not None:
            read, write = before.access.read or root.access.read, before.access.write or root.access.write
            root = replace(root, access=Access(read=read, write=write))
        granted[root.path] = root


def folder_name(owner: str) -> str:
    """Return the name of an owner's folder: the owner's own where that is safe, and never another's."""
    if _PLAIN.fullmatch(owner):
        return owner
    shown = _UNSAFE.sub("-", owner.lower())[:MAX_SHOWN].strip("-.")
    return f"{shown}~{sha256(owner.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _root(path: Path, access: Access) -> Root:
    return Root.at(path.absolute().parts[1:], access)


def _denied(uri: URI) -> ResourceDenied:
    return ResourceDenied(f"access to {uri!r:.200} is not granted")
