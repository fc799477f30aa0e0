"""What can go wrong, as one tree. Knows no protocol: each edge has a table from here to its own words."""

from typing import Any


class HostError(Exception):
    """Anything that agenthost refuses or fails at, with a sentence fit for the peer."""


class NotJson(HostError):
    """The bytes are not one JSON value, or one that is too large or too deep to hold."""


class InvalidValue(HostError):
    """A JSON value does not have the shape that the protocol asks for at this place.

    `path` points at the culprit (`$.messages[1].content`); `expected` and `found` are words for people.
    """

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.path = path
        self.expected = expected
        self.found = found


class TooLarge(HostError):
    """What a peer sends is larger than we are willing to hold; `limit` is in bytes."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} is larger than {limit} bytes")
        self.what = what
        self.limit = limit


class StorageError(HostError):
    """The store cannot be opened, read or written; the sentence says why and what would help.

    `reason` is why, in a few words that name nothing of this machine; peers may be told.
    """

    def __init__(self, sentence: str, reason: str | None = None) -> None:
        super().__init__(sentence)
        self.reason = reason

    @property
    def public(self) -> str:
        """What peers are told."""
        why = f": {self.reason}" if self.reason else ""
        return f"the store cannot be read or written at present{why}; try again later"


class StorageInUse(StorageError):
    """Another process holds the store; the sentence says which."""


class Damaged(StorageError):
    """Something in the store is not as it was written; the rest of the store can be used."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is damaged on the disk of this host and cannot be read; its operator should run "
            "`agenthost doctor`"
        )

    @property
    def public(self) -> str:
        """What peers are told: all of it, as it names nothing of this machine."""
        return str(self)


class SlowConsumer(HostError):
    """A subscriber fell too far behind; what it missed is in the log, and it may subscribe again."""

    def __init__(self, items: int, size: int) -> None:
        super().__init__(f"fell behind: {items} envelopes of {size} bytes were waiting")


class SessionNotFound(HostError):
    """There is no session of that URI or name, or not for this owner."""

    def __init__(self, session: str) -> None:
        super().__init__(f"there is no session {session!r}")
        self.session = session


class SessionExists(HostError):
    """A session of that URI or name is there already."""

    def __init__(self, session: str) -> None:
        super().__init__(f"there is a session {session!r} already")
        self.session = session


class TerminalNotFound(HostError):
    """There is no terminal of that URI: it never was, was removed, or ended with the host that had it."""

    def __init__(self, terminal: str) -> None:
        super().__init__(f"there is no terminal {terminal!r:.200}")
        self.terminal = terminal


class UriReserved(HostError):
    """A URI that nobody here can give to something new; whether it is in use is not said."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri!r:.200} cannot be used here; choose another URI")
        self.uri = uri


class TerminalExists(HostError):
    """A terminal or session of that URI is there already."""

    def __init__(self, terminal: str) -> None:
        super().__init__(f"{terminal!r:.200} is in use already")
        self.terminal = terminal


class SandboxUnavailable(HostError):
    """Sandboxes are asked for, and there can be none here; the sentence says why."""


class ShellsRefused(HostError):
    """A shell without a sandbox would give an owner what is others'; the sentence says what would help."""


class ContentNotFound(HostError):
    """There is no content of that URI: it never was, or its session is gone, and its contents with it."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no content {uri!r}; it goes when its session is disposed")
        self.uri = uri


class ToolError(HostError):
    """For the authors of tools to raise: the tool cannot do it, and the model should read why."""


class LimitReached(HostError):
    """Something went on for longer than this host lets it."""


class ModelFailed(HostError):
    """A model, or the service that runs it, did not answer; the sentence says what would help."""


class UnsupportedVersion(HostError):
    """The peer speaks no version that we speak; `supported` are ours."""

    def __init__(self, supported: list[str]) -> None:
        super().__init__(f"no common protocol version; this host speaks {', '.join(supported)}")
        self.supported = supported


class AuthRequired(HostError):
    """An agent needs tokens that this client has not brought, or that are no good; `resources` says which."""

    def __init__(self, resources: list[Any]) -> None:
        names = ", ".join(str(one.get("resource_name", one["resource"])) for one in resources)
        super().__init__(f"a token is needed for {names}; an AHP client brings it with `authenticate`")
        self.resources = resources


class GrantMissing(HostError):
    """Who asks has a key that is not worth this: it lacks the grant that is needed."""

    def __init__(self, what: str, grant: str) -> None:
        option = f" --{grant}" if grant in ("terminals", "run", "admin") else ""
        super().__init__(
            f"{what} needs a key with the grant {grant!r}, and this one is without; "
            f"`agenthost keys create{option}` makes one that has it"
        )
        self.grant = grant


class SwitchedOff(HostError):
    """Nobody may do that on this host: whoever runs it has switched it off."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(f"{what} is refused: {name} are switched off on this host")
        self.name = name


class AgentNotFound(HostError):
    """The host serves no agent of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no agent {name!r}")
        self.name = name


class AgentUnavailable(HostError):
    """What answers is gone or refuses: a program, a service. The sentence says why, and what would help."""


class TurnInProgress(HostError):
    """The turn is still running; wait until it ends, or cancel it."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"turn {turn_id!r} is still running")
        self.turn_id = turn_id


class TurnNotFound(HostError):
    """The session has no turn of that id."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"there is no turn {turn_id!r} in this session")
        self.turn_id = turn_id


class ResourceError(HostError):
    """A file or folder could not be read or changed; the sentence says why."""


class ResourceNotFound(ResourceError):
    """There is no file or folder of that URI, or it is of a kind that this host does not have."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is no {uri!r:.200}")
        self.uri = uri


class ResourceDenied(ResourceError):
    """That file or folder may not be touched, or not in this way.

    `request` is what the peer may ask for to be let in; nothing if asking is of no use.
    """

    def __init__(self, why: str, *, uri: str | None = None, read: bool = False, write: bool = False) -> None:
        super().__init__(why)
        wanted = {name: True for name, is_wanted in (("read", read), ("write", write)) if is_wanted}
        self.request: dict[str, str | bool] | None = None if uri is None else {"uri": uri, **wanted}


class ResourceExists(ResourceError):
    """A file or folder of that URI is there already, and may not be replaced."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"there is a {uri!r:.200} already")
        self.uri = uri


class TooMany(HostError):
    """There are more of something than we are willing to give or to touch at once."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"{what} has more than {limit} entries")
        self.what = what
        self.limit = limit
