"""The scanner: splits the output of a program into text and the events that escape sequences report.

Sequences (OSC) for titles and folders stay in the text, because a client's own terminal understands them.
Marks of shell integration (OSC 633 and 133, and folders by 1337) are taken out (HR-X02). A mark counts only
if it ends with the nonce that our own script was given: otherwise any printed file could pretend that
commands were run. Folders by OSC 7 and 1337 have no nonce, and count only if the shell prints no marks.
Characters and sequences may be split anywhere between two reads.
"""

import codecs
import re
import socket
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

MAX_SEQUENCE = 64 * 1024
"""A sequence that does not end within this length is text."""

MAX_TITLE = 256
MAX_PATH = 4096

_OSC = re.compile(r"\x1b\](\d{1,4});([^\x07\x1b]*)(?:\x07|\x1b\\)")
_INCOMPLETE = re.compile(r"\x1b(?:\](?:[^\x07\x1b]*\x1b?)?)?\Z")
_ESCAPED = re.compile(r"\\(\\|x[0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Title:
    """The program sets the title."""

    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The program reports its working directory."""

    path: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The shell reports commands, and is at a prompt."""


@dataclass(frozen=True, slots=True)
class Started:
    """A command started. The line is empty if the shell keeps it secret."""

    line: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The command ended."""

    code: int | None


Event: TypeAlias = str | Title | Folder | Ready | Started | Finished
"""The items that a scanner finds. A string is text."""


class Scanner:
    """Scans the output of one program."""

    def __init__(self, nonce: str | None = None) -> None:
        """Accept marks with this nonce; without a nonce, accept none."""
        self._nonce = nonce
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def feed(self, data: bytes, *, is_last: bool = False) -> list[Event]:
        """Scan more output. What may be the beginning of a sequence is held until more arrives."""
        text = self._held + self._decoder.decode(data, is_last)
        self._held = ""
        if "\x1b" not in text:
            return [text] if text else []
        if not is_last:
            text = self._hold_incomplete(text)
        return self._events(text)

    def _hold_incomplete(self, text: str) -> str:
        begun = _INCOMPLETE.search(text)
        if begun is None or len(text) - begun.start() > MAX_SEQUENCE:
            return text
        self._held = text[begun.start() :]
        return text[: begun.start()]

    def _events(self, text: str) -> list[Event]:
        found: list[Event] = []
        begin = 0  # of the text that was not added yet
        for match in _OSC.finditer(text):
            event, is_kept = self._interpret(match[1], match[2])
            end = match.end() if is_kept else match.start()
            if event is not None or not is_kept:
                if end > begin:
                    found.append(text[begin:end])
                begin = match.end()
            if event is not None:
                found.append(event)
        if begin < len(text):
            found.append(text[begin:])
        return found

    def _interpret(self, kind: str, body: str) -> tuple[Event | None, bool]:
        """Return the event of a sequence, and whether the sequence stays in the text."""
        match kind:
            case "0" | "2":
                return Title(_CONTROL.sub(" ", body).strip()[:MAX_TITLE]), True
            case "7":
                return self._claimed_folder(_local_path(body)), True
            case "133":
                return None, False
            case "633":
                return self._mark(body), False
            case "1337" if body.startswith("CurrentDir="):
                return self._claimed_folder(body.removeprefix("CurrentDir=")), False
            case _:
                return None, True

    def _claimed_folder(self, path: str | None) -> Folder | None:
        """Return a folder that any output can claim. If the shell prints marks, only these count."""
        return _folder(path) if self._nonce is None else None

    def _mark(self, body: str) -> Event | None:
        *words, nonce = body.split(";")
        if self._nonce is None or nonce != self._nonce:
            return None
        match words:
            case ["A"]:
                return Ready()
            case ["E", line]:
                return Started(_unescaped(line))
            case ["D", code]:
                return Finished(int(code) if code.isdecimal() and len(code) < 4 else None)
            case ["P", place] if place.startswith("Cwd="):
                return _folder(_unescaped(place.removeprefix("Cwd=")))
            case _:
                return None


def _folder(path: str | None) -> Folder | None:
    is_plain = path is not None and path.startswith("/") and len(path) <= MAX_PATH
    return Folder(path) if path and is_plain and not _CONTROL.search(path) else None


def _local_path(uri: str) -> str | None:
    """Return the path of a `file:` URI; `None` if it is on another machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    is_here = parts.netloc.lower() in ("", "localhost", socket.gethostname().lower())
    return unquote(parts.path) if parts.scheme == "file" and is_here else None


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)
