"""The input history: a private file of the user, with one line of JSON for each message."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, TextIO

from prompt_toolkit.history import History, InMemoryHistory

__all__ = ["FileHistory", "open_history"]

MAX_KEPT = 1_000


def open_history(*, is_private: bool) -> History:
    """Return the history; a private one neither reads nor writes the file."""
    folder = _folder()
    return InMemoryHistory() if is_private or folder is None else FileHistory(folder / "chat-history")


def _folder() -> Path | None:
    """Return the folder for state files, as the XDG Base Directory Specification defines it."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if Path(given).is_absolute():
        return Path(given, "agenthost")
    try:
        return Path.home() / ".local" / "state" / "agenthost"
    except RuntimeError:
        return None


class FileHistory(History):
    """A file of messages, the newest last. A file that cannot be read or written is ignored."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._last = ""

    def load_history_strings(self) -> Iterable[str]:
        """Return all messages, the newest first."""
        messages = self._read()
        if len(messages) > 2 * MAX_KEPT:
            messages = messages[-MAX_KEPT:]
            with suppress(OSError):
                self._write(messages)
        self._last = messages[-1] if messages else ""
        return reversed(messages)

    def store_string(self, string: str) -> None:
        """Append a message, unless it repeats the last one."""
        if string == self._last:
            return
        self._last = string
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._open("a") as file:
                file.write(_encoded(string))

    def _read(self) -> list[str]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return []
        messages = []
        for line in lines:
            with suppress(ValueError):  # written by a newer version, or cut off
                message = json.loads(line)
                if isinstance(message, str):
                    messages.append(message)
        return messages

    def _write(self, messages: list[str]) -> None:
        with self._open("w") as file:
            file.writelines(map(_encoded, messages))

    def _open(self, mode: Literal["a", "w"]) -> TextIO:
        return open(
            self._path, mode, opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8"
        )


def _encoded(message: str) -> str:
    return json.dumps(message) + "\n"
