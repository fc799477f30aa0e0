"""The exceptions of agenthost, in one tree. They know no protocol: each edge maps them to its own errors."""

from typing import Any


class HostError(Exception):
    """Anything that agenthost refuses or fails at. Its message is a sentence that clients may see."""


class NotJson(HostError):
    """The bytes are not one JSON value, or it is too large or too deep."""


class InvalidValue(HostError):
    """A JSON value does not have the shape that the protocol requires.

    `path` is where the mistake is (`$.messages[1].content`); `expected` and `found` are words for people.
    """

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.path = path
        self.expected = expected
        self.found = found


class TooLarge(HostError):
    """Something that a client sent is too large; `limit` is in bytes."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is larger than {limit} bytes")
        self.what = what
        self.limit = limit


class StorageError(HostError):
    """The store cannot be opened, read or written; the sentence says why and what would help.

    `reason` is why, in a few words that clients may see: they name nothing of this machine.
    """

    def __init__(self, sentence: str, reason: str | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason

    @property
    def public(self) -> str:
        """The text for clients."""
        why = f": {self.reason}" if self.reason else ""
        return f"the store cannot be read or written at present{why}; try again later"


class StorageInUse(StorageError):
    """Another process uses the store; the sentence says which."""


class WrongAddress(StorageError):
    """Something is not the address of a store; the sentence says what was expected."""


class StoreTaken(StorageError):
    """The store continues without this process, which has to end; the sentence says why.

    Nothing that it writes from now on is kept, however often it tries.
    """


class Damaged(StorageError):
    """Something in the store is not what was written; the rest of the store can be used."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is damaged on the disk of this host and cannot be read; its operator should run "
            "`agenthost doctor`"
        )

    @property
    def public(self) -> str:
        """The text for clients: all of it, as it names nothing of this machine."""
        return str(self)


class SlowConsumer(HostError):
    """A subscriber fell too far behind. It may subscribe again, and gets what it missed from the log."""

    def __init__(self, items: int, size: int) -> None:
        super().__init__(f"fell behind: {items} envelopes of {size} bytes were waiting")


class ClientUnknown(HostError):
    """A client returns that the host does not remember. It has to start over."""

    def __init__(self, client: str) -> None:
        super().__init__(f"client {client!r} is not known here; initialize again")


class SessionNotFound(HostError):
    """There is no session with that URI or name, or it belongs to another owner."""

    def __init__(self, session: str) -> None:
        super().__init__(f"there is no session {session!r}")
        self.session = session


class ChangesetNotFound(SessionNotFound):
    """There is no changeset with this URI."""

    def __init__(self, uri: str) -> None:
        HostError.__init__(self, f"there is no changeset {uri!r:.200}")
        self.uri = uri


class SessionExists(HostError):
    """A session with that URI or name already exists."""

    def __init__(self, session: str) -> None:
        super().__init__(f"session {session!r} already exists")
        self.session = session


class ChatExists(HostError):
    """A chat or something else of the same owner has that URI already."""

    def __init__(self, chat: str) -> None:
        super().__init__(f"{chat!r:.200} is already in use")
        self.chat = chat


class TooManyChats(HostError):
    """A session has as many chats as this host allows."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"a session may have {limit} chats here; dispose of one first")
        self.limit = limit


class TerminalNotFound(HostError):
    """There is no terminal with that URI: it never existed, was disposed, or ended with the host."""

    def __init__(self, terminal: str) -> None:
        super().__init__(f"there is no terminal {terminal!r:.200}")
        self.terminal = terminal


class UriReserved(HostError):
    """A URI that cannot be given to anything new. Whether it is in use is not revealed."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri!r:.200} cannot be used here; choose another URI")
        self.uri = uri


class TerminalExists(HostError):
    """A terminal or session with that URI already exists."""

    def __init__(self, terminal: str) -> None:
        super().__init__(f"{terminal!r:.200} is already in use")
        self.terminal = terminal


class SandboxUnavailable(HostError):
    """A sandbox is required, but none can be made here; the sentence says why."""


class ShellsRefused(HostError):
    """Without a sandbox, a shell would reach what other owners have; the sentence says what would help."""


class ContentNotFound(HostError):
    """There is no content with that URI: it never existed, or was deleted together with its session."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no content {uri!r}; content is deleted together with its session")
        self.uri = uri


class ToolError(HostError):
    """Raised by tools: the tool cannot do what it was asked to, and the model should read why."""


class LimitReached(HostError):
    """Something took longer than this host allows."""


class ModelFailed(HostError):
    """A model, or the service that runs it, did not answer; the sentence says what would help."""


class UnsupportedVersion(HostError):
    """The client speaks no protocol version that we speak; `supported` lists ours."""

    def __init__(self, supported: list[str]) -> None:
        super().__init__(f"no common protocol version; this host speaks {', '.join(supported)}")
        self.supported = supported


class AuthRequired(HostError):
    """An agent needs tokens that this client did not pass, or that are not valid, for `resources`."""

    def __init__(self, resources: list[Any]) -> None:
        names = ", ".join(str(one.get("resource_name", one["resource"])) for one in resources)
        super().__init__(f"a token is needed for {names}; an AHP client passes it with `authenticate`")
        self.resources = resources


class GrantMissing(HostError):
    """The client's key lacks the grant that is needed."""

    def __init__(self, what: str, grant: str) -> None:
        option = f" --{grant}" if grant in ("terminals", "run", "admin") else ""
        super().__init__(
            f"{what} needs a key with the grant {grant!r}, which this one lacks; "
            f"`agenthost keys create{option}` creates one that has it"
        )
        self.grant = grant


class SwitchedOff(HostError):
    """The host has this switched off, for everybody."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"{what} is refused: {name} are switched off on this host")
        self.name = name


class AgentNotFound(HostError):
    """The host serves no agent with that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no agent {name!r}")
        self.name = name


class AgentUnavailable(HostError):
    """The program or service behind an agent is missing or refuses; the sentence says why and what helps."""


class TurnInProgress(HostError):
    """The turn is still running; wait until it ends, or cancel it."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"turn {turn_id!r} is still running")
        self.turn_id = turn_id


class SessionNotReady(HostError):
    """A session takes no turns: it is still being made, or could not be."""

    def __init__(self, lifecycle: str) -> None:
        super().__init__(f"the session is not ready: its lifecycle is {lifecycle!r}")
        self.lifecycle = lifecycle


class OwnedElsewhere(HostError):
    """A session is written by another node of this host, which cannot be asked for this, or not now."""

    def __init__(self, what: str, why: str = "") -> None:
        more = f" ({why})" if why else ""
        super().__init__(f"{what} is at another node of this host, and this cannot be done from here{more}")


class ClientActive(HostError):
    """Another client brings the tools of a session."""

    def __init__(self, client_id: str) -> None:
        super().__init__(f"client {client_id!r} is active")
        self.client_id = client_id


class ActionRefused(HostError):
    """An action may not be applied; the sentence says why."""


class TurnNotFound(HostError):
    """The session has no turn with that id."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"there is no turn {turn_id!r} in this session")
        self.turn_id = turn_id


class ResourceError(HostError):
    """A file or folder could not be read or changed; the sentence says why."""


class ResourceNotFound(ResourceError):
    """There is no file or folder with that URI, or this host does not know its scheme."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no {uri!r:.200}")
        self.uri = uri


class ResourceDenied(ResourceError):
    """That file or folder may not be read, or not be changed.

    `request` is the permission that the client may request; None if requesting it is of no use.
    """

    def __init__(self, why: str, *, uri: str | None = None, read: bool = False, write: bool = False) -> None:
        super().__init__(why)
        wanted = {name: True for name, is_wanted in (("read", read), ("write", write)) if is_wanted}
        self.request: dict[str, str | bool] | None = None if uri is None else {"uri": uri, **wanted}


class ResourceExists(ResourceError):
    """A file or folder with that URI already exists, and may not be replaced."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri!r:.200} already exists")
        self.uri = uri


class ResourceConflict(ResourceError):
    """A file is not in the state that the client has seen; nothing was changed."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri!r:.200} was changed in the meantime; read it again")
        self.uri = uri


class TooMany(HostError):
    """There are more of something than can be listed or changed at once."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} has more than {limit} entries")
        self.what = what
        self.limit = limit


class PeerGone(HostError):
    """Another node of this host cannot be reached, or the connection to it was lost.

    Unless `was_sent` is false, what it was asked to do may have been done.
    """

    def __init__(self, node: int, why: str, *, was_sent: bool = False) -> None:
        super().__init__(f"node {node} of this host cannot be reached: {why}; try again soon")
        self.node = node
        self.was_sent = was_sent


class PeerRefused(HostError):
    """Another node of this host refused what it was asked; `error` is what it would have raised here."""

    def __init__(self, error: HostError) -> None:
        super().__init__(str(error))
        self.error = error


class PeerFailed(HostError):
    """Another node of this host failed unexpectedly; its log says why."""

    def __init__(self, why: str = "another node of this host failed; its log says why") -> None:
        super().__init__(why)
