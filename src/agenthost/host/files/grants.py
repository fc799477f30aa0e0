"""Grants: what each owner may access besides the workspace, and how access is requested.

A client requests a grant, and the configured policy decides, separately for reading and writing. Grants are
kept in memory only, apply from the next use on, and can be revoked at any time. Knows no connections: the
caller provides `decide`, which asks a person.
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
from agenthost.host.files.params import AccessParams
from agenthost.host.files.uris import Parts, is_beneath, parse_uri, to_path, uri_of
from agenthost.wire.ahp.common import URI

__all__ = [
    "AccessRequest",
    "Decide",
    "FilePolicy",
    "Grants",
    "Owner",
    "Policy",
    "folder_name",
    "requested_access",
]

log = logging.getLogger("agenthost.files")

# Lower case only: some file systems treat `Ada` and `ada` as the same name.
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]{0,63}")
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
MAX_SHOWN = 40

Policy: TypeAlias = Literal["ask", "allow", "deny"]

Owner: TypeAlias = str | None
"""An owner of keys; `None` if there are no keys."""


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A request for access to files: of a client to the host's, or of the host to a client's.

    Attributes:
        uri: the file or folder. If it is the host's, links are resolved.
        access: what kind of access.
        owner: who asks.
    """

    uri: URI
    access: Access
    owner: Owner = None


Decide: TypeAlias = Callable[[AccessRequest], Awaitable[bool]]
"""Asks a person who may approve the request."""


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """The configured policy for files.

    Attributes:
        reading: how requests to read outside of the workspace are answered.
        writing: how requests to write there are answered.
        workspace: what is allowed in the workspace without asking.
        whole: folders that `allow` may grant although they contain a home folder, or everything.
        grants_per_owner: how many grants an owner may have at once.
        questions_per_owner: how many requests of an owner may wait for an answer.
    """

    reading: Policy = "ask"
    writing: Policy = "ask"
    workspace: Access = BOTH
    whole: tuple[Path, ...] = ()
    grants_per_owner: int = 256
    questions_per_owner: int = 16


def requested_access(params: AccessParams) -> Access:
    """Return which access a request asks for. The default is reading."""
    write = params.get("write", False)
    return Access(read=params.get("read", False) or not write, write=write)


class Grants:
    """Who may access what. Used on the event loop; the jails it creates may be used in any thread."""

    def __init__(
        self,
        workspace: Path,
        policy: FilePolicy | None = None,
        *,
        workspaces: Path | None = None,
        hidden: Sequence[Path] = (),
        decide: Decide | None = None,
    ) -> None:
        """Allow everybody access to the workspace, but not to what is hidden, such as the host's own data.

        With `workspaces`, each owner has a folder there, and cannot see other owners' or the workspace.
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
        """Return the workspace of an owner. Its own folder is created on first use.

        Raises:
            ResourceError: the folder cannot be created.
        """
        if self._workspaces is None or not owner:
            return self.workspace
        folder = self._workspaces / folder_name(owner)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ResourceError(f"the workspace cannot be created: {error.strerror}") from error
        return _root(folder, self.policy.workspace)

    def folder_of(self, owner: Owner) -> Path:
        """Return the path of an owner's workspace, with links resolved."""
        return to_path(self.workspace_of(owner).path)

    def is_hidden(self, owner: Owner, path: Parts) -> bool:
        """Return whether this owner can never get access to a path. Links must be resolved."""
        return self.jail(owner).is_hidden(path)

    def jail(self, owner: Owner) -> Jail:
        """Return a jail with what an owner may access now."""
        workspace = self.workspace_of(owner)
        roots = [workspace, *self._granted.get(owner, {}).values()]
        own = None if workspace is self.workspace else workspace.path
        return Jail(roots, hidden=self._hidden, own=own, can_ask=self._can_ask)

    def granted(self, owner: Owner) -> list[AccessRequest]:
        """Return what was granted to an owner, in order."""
        roots = self._granted.get(owner, {}).values()
        return [AccessRequest(uri_of(root.path), root.access, owner) for root in roots]

    async def request(self, owner: Owner, params: AccessParams) -> None:
        """Request access. If this returns, access is granted.

        Raises:
            InvalidValue: it is a broken `file:` URI.
            ResourceDenied: the policy, or the person who was asked, says no.
            ResourceNotFound: it is not the URI of a file.
        """
        target = parse_uri(params["uri"])
        access = requested_access(params)
        # Links are resolved once: changing one later does not move the grant.
        root = await asyncio.to_thread(Root.at, target.path, access)
        if self.jail(owner).may(root.path, access):
            return
        if self.is_hidden(owner, root.path):
            raise _denied(params["uri"])
        if not await self._is_allowed(AccessRequest(uri_of(root.path), access, owner), root.path):
            raise _denied(params["uri"])
        self._add(owner, root, params["uri"])

    def revoke(self, owner: Owner, uri: URI | None = None) -> None:
        """Revoke a grant, or all grants of an owner. Operations that are running may still finish."""
        if uri is None:
            self._granted.pop(owner, None)
            return
        path = parse_uri(uri).path
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

    async def _is_allowed(self, request: AccessRequest, path: Parts) -> bool:
        policies = self._policies(request.access)
        if "deny" in policies:
            return False
        if "ask" not in policies and not self._is_whole(path):
            return True
        return await self._ask(request)

    def _is_whole(self, path: Parts) -> bool:
        """Return whether a person has to approve this: it is a home folder, or contains one."""
        if path in self._whole:
            return False
        try:
            home = _root(Path.home(), BOTH).path
        except RuntimeError:  # it is unknown
            home = ()
        return is_beneath(home, path) or any(is_beneath(hidden, path) for hidden in self._hidden)

    async def _ask(self, request: AccessRequest) -> bool:
        """Ask `decide`. Without one, with too many open questions, and on errors, the answer is no."""
        owner = request.owner
        if self.decide is None or self._asking.get(owner, 0) >= self.policy.questions_per_owner:
            return False
        self._asking[owner] = self._asking.get(owner, 0) + 1
        try:
            return await self.decide(request) is True
        except Exception:
            log.exception("a request for access is denied, because deciding it failed")
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
    """Return the name of an owner's folder: the owner's name if that is safe. No two owners share one."""
    if _PLAIN.fullmatch(owner):
        return owner
    shown = _UNSAFE.sub("-", owner.lower())[:MAX_SHOWN].strip("-.")
    return f"{shown}~{sha256(owner.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _root(path: Path, access: Access) -> Root:
    return Root.at(path.absolute().parts[1:], access)


def _denied(uri: URI) -> ResourceDenied:
    return ResourceDenied(f"access to {uri!r:.200} is not granted")
