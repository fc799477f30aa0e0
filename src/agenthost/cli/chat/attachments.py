"""Attachments: files sent with a message, from this machine or the host's."""

import mimetypes
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

__all__ = ["Attachments", "read_attachment"]

MAX_FILE_SIZE = 10_000_000
SAMPLE_SIZE = 4_096


def read_attachment(path: str) -> Any:
    """Read a file on this machine as an attachment.

    Raises:
        ValueError: it cannot be read, or is too large.
    """
    file = Path(path).expanduser()
    try:
        if not file.is_file():
            raise ValueError(f"there is no file {path!r}")
        if file.stat().st_size > MAX_FILE_SIZE:
            raise ValueError(f"{path!r} is larger than {MAX_FILE_SIZE // 1_000_000} MB")
        data = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{path!r}: {error.strerror or type(error).__name__}") from None
    content_type = mimetypes.guess_type(file.name)[0] or _guess_type(data)
    return {
        "type": "embeddedResource",
        "label": file.name,
        "displayKind": "image" if content_type.startswith("image/") else "document",
        "contentType": content_type,
        "data": b64encode(data).decode(),
    }


def _guess_type(data: bytes) -> str:
    try:
        data[:SAMPLE_SIZE].decode()
    except UnicodeDecodeError as error:
        # The end of the sample may cut a character, which has four bytes at most.
        if error.start < SAMPLE_SIZE - 4:
            return "application/octet-stream"
    return "text/plain"


class Attachments:
    """The attachments of the next message.

    Attributes:
        files: those that the user attached by a command.
    """

    def __init__(self) -> None:
        self.files: list[Any] = []

    def take(self, text: str, offered: dict[str, Any]) -> list[Any]:
        """Return and forget the files; add the offered attachments that the text names."""
        taken, self.files = self.files, []
        for name, attachment in offered.items():
            if attachment.get("type") == "resource":
                found = re.search(rf"(?<!\S){re.escape(name)}(?!\S)", text)
                if found is not None:
                    taken.append({**attachment, "range": _range(text, found.start(), found.end())})
        return taken


def _range(text: str, start: int, end: int) -> Any:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: str, index: int) -> Any:
    before = text[:index]
    return {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}
