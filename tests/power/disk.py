"""A disk that loses what was not synced: plays what `recorder.c` recorded, up to the cut.

What was synced is there after a cut. Of the rest each sector of a write may be there or not, in any order; a
truncation too; and of the changes of names in the folder the first few. POSIX promises no more than that.
"""

import random
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")

HEAD = struct.Struct("<BQQQQ")
SECTOR = 512

WAYS = ("nothing", "everything", "first", "some")
"""What is kept of all that was not synced."""


class Record(NamedTuple):
    """What a process did, and the place of that among all that it did, from 1 on."""

    place: int
    kind: str
    inode: int
    offset: int
    path: str
    data: bytes


def read_records(log: Path) -> Iterator[Record]:
    """Read the records; the last one may be torn by the kill, then it did not happen."""
    raw = log.read_bytes() if log.exists() else b""
    at, place = 0, 0
    while at + HEAD.size <= len(raw):
        kind, inode, offset, path_length, data_length = HEAD.unpack_from(raw, at)
        middle = at + HEAD.size + path_length
        if middle + data_length > len(raw):
            return
        place += 1
        path = raw[at + HEAD.size : middle].decode()
        yield Record(place, chr(kind), inode, offset, path, raw[middle : middle + data_length])
        at = middle + data_length


@dataclass(slots=True, eq=False)
class File:
    """A file: what the disk surely has, and what was done to it since."""

    synced: bytearray
    pending: list[Record] = field(default_factory=list)

    def sync(self, before: int) -> None:
        """Let the disk have all that was done up to this place."""
        for record in self.pending:
            if record.place <= before:
                self.apply(record)
        self.pending = [record for record in self.pending if record.place > before]

    def apply(self, record: Record) -> None:
        """Let the disk have one write, or one truncation."""
        if record.kind == "t":
            del self.synced[record.offset :]
            self._grow(record.offset)
        else:
            self._grow(record.offset)
            self.synced[record.offset : record.offset + len(record.data)] = record.data

    def _grow(self, length: int) -> None:
        self.synced.extend(bytes(max(0, length - len(self.synced))))


class Disk:
    """A folder as the disk has it. Take it before a life; `cut` the power after it."""

    def __init__(self, folder: Path) -> None:
        paths = [path for path in folder.rglob("*") if path.is_file()]
        self._names = {str(path.relative_to(folder)): File(bytearray(path.read_bytes())) for path in paths}
        self._inodes = {path.stat().st_ino: self._names[str(path.relative_to(folder))] for path in paths}
        self._changes: list[tuple[Record, File | None]] = []
        self._folder = folder
        self.lost = 0
        """How many writes the disk had not been made to keep."""

    def cut(self, log: Path, chance: random.Random) -> str:
        """Leave the folder as a power cut would. Return what was kept of what was not synced."""
        for record in read_records(log):
            self._take(record)
        way = chance.choice(WAYS)
        for record, file in self._kept(self._changes, way, chance):
            self._rename(record, file)
        for file in self._inodes.values():
            self.lost += len(file.pending)
            for record in self._kept(file.pending, way, chance):
                for part in _parts(record, way, chance):
                    file.apply(part)
        self._write()
        return way

    def _take(self, record: Record) -> None:
        match record.kind:
            case "c":
                self._inodes[record.inode] = File(bytearray())
                self._changes.append((record, self._inodes[record.inode]))
            case "w" | "t":
                self._inodes[record.inode].pending.append(record)
            case "s":
                self._inodes[record.inode].sync(record.offset)
            case "d":
                for change, file in self._changes:
                    if change.place <= record.offset:
                        self._rename(change, file)
                self._changes = [one for one in self._changes if one[0].place > record.offset]
            case "r" | "u":
                self._changes.append((record, None))

    def _rename(self, record: Record, file: File | None) -> None:
        if record.kind == "c" and file is not None:
            self._names[record.path] = file
        elif record.kind == "u":
            self._names.pop(record.path, None)
        else:
            old, new = record.path.split("\0")
            if old in self._names:
                self._names[new] = self._names.pop(old)

    @staticmethod
    def _kept(things: list[T], way: str, chance: random.Random) -> list[T]:
        match way:
            case "nothing":
                return []
            case "first":
                return things[: chance.randrange(len(things) + 1)]
            case _:
                return things

    def _write(self) -> None:
        shutil.rmtree(self._folder)
        self._folder.mkdir(mode=0o700)
        for name, file in self._names.items():
            path = self._folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(file.synced)
            path.chmod(0o600)


def _parts(record: Record, way: str, chance: random.Random) -> Iterator[Record]:
    """Return what the disk has of a write; of `some` every other sector is missing, at the average."""
    if way != "some":
        yield record
    elif record.kind == "t":
        if chance.random() < 0.5:
            yield record
    else:
        for begin in range(0, len(record.data), SECTOR):
            if chance.random() < 0.5:
                data = record.data[begin : begin + SECTOR]
                yield record._replace(offset=record.offset + begin, data=data)
