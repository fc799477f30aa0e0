"""Attaching: files that go with a message, from here or from the host."""

import mimetypes
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

__all__ = ["Attachments", "attach_file"]

LARGEST_FILE = 10_000_000


def attach_file(path: str) -> Any:
    """Read a file of this machine's as an attachment.

    Raises:
        ValueError: it cannot be read, or is too large.
    """
    file = Path(path).expanduser()
    try:
        if not file.is_file():
            raise ValueError(f"there is no file {path!r}")
        if file.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{path!r} is larger than {LARGEST_FILE // 1_000_000} MB")
        data = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{path!r}: {error.strerror or type(error).__name__}") from None
    kind = mimetypes.guess_type(file.name)[0] or _guessed(data)
    shown = "image" if kind.startswith("image/") else "document"
    content = b64encode(data).decode()
    return {
        "type": "embeddedResource",
        "label": file.name,
        "displayKind": shown,
        "contentType": kind,
        "data": content,
    }


def _guessed(data: bytes) -> str:
    try:
        data[:4_096].decode()
    except UnicodeDecodeError as error:
        if error.start < 4_092:
            return "application/octet-stream"
    return "text/plain"


class Attachments:
    """What goes with the next message.

    Attributes:
        files: what was attached by hand.
    """

    def __init__(self) -> None:
        self.files: list[Any] = []

    def take(self, text: str, offered: dict[str, Any]) -> list[Any]:
        """Give what goes with this text: the files, and what it names of the proposals."""
        taken, self.files = self.files, []
        for name, attachment in offered.items():
            if attachment.get("type") == "resource":
                found = re.search(rf"(?<!\S){re.escape(name)}(?!\S)", text)
                if found is not None:
                    taken.append({**attachment, "range": _range(text, found.start(), found.end())})
        return taken


def _range(text: str, start: int, end: int) -> Any:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: str, place: int) -> Any:
    before = text[:place]
    return {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}
