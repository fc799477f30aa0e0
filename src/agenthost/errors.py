"""What can go wrong, as one tree. Knows no protocol: each edge has a table from here to its own words."""


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
    """The store cannot be opened, read or written; the sentence says why and what would help."""


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


class ToolError(HostError):
    """For the authors of tools to raise: the tool cannot do it, and the model should read why."""


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
