"""What was typed before: kept in a file of the user's own, a line of JSON for each message."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History, InMemoryHistory

__all__ = ["FileHistory", "history_of"]

MOST_KEPT = 1_000


def history_of(*, is_private: bool) -> History:
    """Give what was typed before; in private nothing is read, and nothing written."""
    folder = _folder()
    return InMemoryHistory() if is_private or folder is None else FileHistory(folder / "chat-history")


def _folder() -> Path | None:
    """Give the folder for what a program remembers of its use, as the XDG specification has it."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if Path(given).is_absolute():
        return Path(given, "agenthost")
    try:
        return Path.home() / ".local" / "state" / "agenthost"
    except RuntimeError:
        return None


class FileHistory(History):
    """A file of messages, the newest last. That it cannot be read or written is no reason to complain."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._last = ""

    def load_history_strings(self) -> Iterable[str]:
        """Give all messages, the newest first."""
        messages = self._read()
        if len(messages) > 2 * MOST_KEPT:
            messages = messages[-MOST_KEPT:]
            with suppress(OSError):
                self._write(messages)
        self._last = messages[-1] if messages else ""
        return reversed(messages)

    def store_string(self, string: str) -> None:
        """Keep a message, unless it is the last one again."""
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
            with suppress(ValueError):  # of a newer version, or cut off
                message = json.loads(line)
                if isinstance(message, str):
                    messages.append(message)
        return messages

    def _write(self, messages: list[str]) -> None:
        with self._open("w") as file:
            file.writelines(map(_encoded, messages))

    def _open(self, mode: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - as `open` does
        return open(
            self._path, mode, opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8"
        )


def _encoded(message: str) -> str:
    return json.dumps(message) + "\n"
