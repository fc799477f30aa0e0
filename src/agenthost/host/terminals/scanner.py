"""The scanner: what a program prints, taken apart into text and what the text tells beside itself.

Titles and folders are told by escape sequences (OSC) that stay in the text, for a client's own terminal knows
them. Marks of shell integration (OSC 633 and 133, and a folder by 1337) are taken out. A mark counts only if
it ends with the nonce that our own script was given: else what is printed, such as a stranger's file, could
pretend that commands were run. Folders by OSC 7 and 1337 carry none, and count only where no marks are to
come. Characters and sequences may be cut anywhere between two reads.
"""

import codecs
import re
import socket
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

LONGEST_SEQUENCE = 64 * 1024
"""What is longer than this without an end is no sequence, but text."""

LONGEST_TITLE = 256
LONGEST_PATH = 4096

_OSC = re.compile(r"\x1b\](\d{1,4});([^\x07\x1b]*)(?:\x07|\x1b\\)")
_BEGUN = re.compile(r"\x1b(?:\](?:[^\x07\x1b]*\x1b?)?)?\Z")
_ESCAPED = re.compile(r"\\(\\|x[0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Title:
    """The program wants to be called so."""

    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The program is in this folder."""

    path: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The shell tells of commands, and is at a prompt."""


@dataclass(frozen=True, slots=True)
class Started:
    """A command began; the line is empty if the shell keeps it to itself."""

    line: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The command ended."""

    code: int | None


Event: TypeAlias = str | Title | Folder | Ready | Started | Finished
"""What a scanner finds; text stands for itself."""


class Scanner:
    """Reads the output of one program."""

    def __init__(self, nonce: str | None = None) -> None:
        """Believe marks that carry this nonce; without one, none."""
        self._nonce = nonce
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def feed(self, data: bytes, *, is_last: bool = False) -> list[Event]:
        """Take more output; what may be the beginning of a sequence is kept until more is known."""
        text = self._held + self._decoder.decode(data, is_last)
        self._held = ""
        if "\x1b" not in text:
            return [text] if text else []
        if not is_last:
            text = self._hold_back(text)
        return self._events(text)

    def _hold_back(self, text: str) -> str:
        begun = _BEGUN.search(text)
        if begun is None or len(text) - begun.start() > LONGEST_SEQUENCE:
            return text
        self._held = text[begun.start() :]
        return text[: begun.start()]

    def _events(self, text: str) -> list[Event]:
        found: list[Event] = []
        begin = 0  # of the text that is not handed out yet
        for match in _OSC.finditer(text):
            event, is_kept = self._told(match[1], match[2])
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

    def _told(self, kind: str, body: str) -> tuple[Event | None, bool]:
        """Give what a sequence tells, and whether it stays in the text."""
        match kind:
            case "0" | "2":
                return Title(_CONTROL.sub(" ", body).strip()[:LONGEST_TITLE]), True
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
        """Give a folder that anything printed can claim; where marks tell, only they count."""
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
    is_plain = path is not None and path.startswith("/") and len(path) <= LONGEST_PATH
    return Folder(path) if path and is_plain and not _CONTROL.search(path) else None


def _local_path(uri: str) -> str | None:
    """Give the path that a `file:` URI means here; one of another machine means nothing here."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    is_here = parts.netloc.lower() in ("", "localhost", socket.gethostname().lower())
    return unquote(parts.path) if parts.scheme == "file" and is_here else None


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)
