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
