"""Tool text: what a model reads when a tool raises, and text made safe to encode."""

import re

from agenthost.errors import HostError

__all__ = ["describe_error", "replace_surrogates"]

MAX_ERROR_TEXT = 200
"""How many characters of an unexpected error's message the model and clients are shown."""

_PATH = re.compile(r"(?<![\w:/.])(?:~?/|[A-Za-z]:\\)[^\s'\":,;)]+")


def describe_error(error: BaseException, name: str, *, masked: bool = False) -> str:
    """Return the sentence for the model about what the tool `name` raised.

    Our own errors are written for people and stay as they are. Others are cut short and lose their paths; if
    `masked`, only their class is named.
    """
    if isinstance(error, HostError):
        return str(error) or f"{name} failed"
    short = "" if masked else _first_words(error)
    return f"{name} failed: {type(error).__name__}" + (f": {short}" if short else "")


def _first_words(error: BaseException) -> str:
    """Return an error's message as one line of at most `MAX_ERROR_TEXT` characters."""
    try:
        # The message of an OSError repeats the file name; its strerror does not.
        message = str((isinstance(error, OSError) and error.strerror) or error)
    except Exception:  # __str__ may be anybody's code
        return ""
    printable = "".join(one if one.isprintable() else " " for one in message)
    words = _PATH.sub("…", " ".join(printable.split()))
    return words if len(words) <= MAX_ERROR_TEXT else words[:MAX_ERROR_TEXT] + "…"


def replace_surrogates(text: str) -> str:
    """Replace what UTF-8 cannot encode, such as undecodable bytes of a file name."""
    return text if text.isascii() else text.encode(errors="replace").decode()
