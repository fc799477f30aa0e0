"""What `read_file` gives of files of every kind and size."""

import os
from pathlib import Path

import pytest

from agenthost.tools.workspace import read_file
from agenthost.tools.workspace.file_reader import MAX_CHARACTERS, MAX_IMAGE_BYTES, MAX_LINES
from agenthost.tools.workspace.texts import content_version
from working import given, outcome, refused

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_a_text_comes_with_line_numbers_and_its_version(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    version = content_version(b"one\ntwo\n")
    text = given(read_file, tmp_path, path="a.txt")
    assert text == f"a.txt: lines 1 to 2 of 2; version {version}\n1\tone\n2\ttwo"


def test_a_part_says_how_to_read_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    text = given(read_file, tmp_path, path="a.txt", offset=3, limit=2)
    assert text.startswith("a.txt: lines 3 to 4 of 10; version ")
    assert text.endswith("\n3\tline 3\n4\tline 4\n[there is more: go on with offset=5]")
    assert given(read_file, tmp_path, path="a.txt", offset=10).endswith("\n10\tline 10")
    assert refused(read_file, tmp_path, path="a.txt", offset=11) == (
        "'a.txt' has 10 lines; line 11 is after its end"
    )
    assert "at least 1" in refused(read_file, tmp_path, path="a.txt", offset=0)


@pytest.mark.parametrize(
    ("data", "head", "rest"),
    [
        (b"", "empty", ""),
        (b"\n", "lines 1 to 1 of 1", "\n1\t"),
        (b"no end", "lines 1 to 1 of 1", "\n1\tno end"),
        (b"a\r\nb\r\n", "lines 1 to 2 of 2", "\n1\ta\n2\tb"),
        ("\ufeffmarked\n".encode(), "lines 1 to 1 of 1", "\n1\tmarked"),
        ("schön 🎉\n".encode(), "lines 1 to 1 of 1", "\n1\tschön 🎉"),
        ("sch\xf6n\n".encode("latin-1"), "lines 1 to 1 of 1", "\n1\tsch\ufffdn"),
        ("a\u2028b\x0cc\n".encode(), "lines 1 to 1 of 1", "\n1\ta\u2028b\x0cc"),
    ],
)
def test_line_ends_marks_and_other_encodings_are_read(
    tmp_path: Path, data: bytes, head: str, rest: str
) -> None:
    (tmp_path / "a").write_bytes(data)
    text = given(read_file, tmp_path, path="a")
    first, _, lines = text.partition("\n")
    assert first.startswith(f"a: {head}; version {content_version(data)}")
    assert ("CRLF" in first) == (b"\r\n" in data)
    assert ("not UTF-8" in first) == ("\ufffd" in lines)
    assert lines == rest.removeprefix("\n")


def test_a_long_line_is_cut_and_a_long_text_bounded(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("ä" * 200_000 + "\nend\n")
    _, line, end = given(read_file, tmp_path, path="long").split("\n")
    assert line == "1\t" + "ä" * 2_000 + "… [the line has 400001 bytes]"
    assert end == "2\tend"
    (tmp_path / "many").write_text("x\n" * 10_000)
    lines = given(read_file, tmp_path, path="many").split("\n")
    assert len(lines) == MAX_LINES + 2
    (tmp_path / "wide").write_text(f"{'y' * 1_000}\n" * 500)
    assert len(given(read_file, tmp_path, path="wide")) < MAX_CHARACTERS + 2_000


def test_a_huge_file_is_read_in_parts(tmp_path: Path) -> None:
    huge = tmp_path / "huge.log"
    with huge.open("wb") as file:
        file.write(b"first\n" * 2_000)
        file.truncate(200 * 1024 * 1024)  # holes cost nothing
    text = given(read_file, tmp_path, path="huge.log", limit=2)
    assert text == "huge.log: lines 1 to 2\n1\tfirst\n2\tfirst\n[there is more: go on with offset=3]"


def test_images_are_shown_and_other_binaries_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    found = outcome(read_file, tmp_path, path="a.png")
    assert [block["type"] for block in found.content] == ["text", "embeddedResource"]
    assert found.content[1]["contentType"] == "image/png"  # type: ignore[typeddict-item]
    (tmp_path / "b.zip").write_bytes(b"PK\0\0")
    assert refused(read_file, tmp_path, path="b.zip") == "'b.zip' is binary: application/zip, 4 bytes"
    with (tmp_path / "c.png").open("wb") as file:
        file.truncate(MAX_IMAGE_BYTES + 1)
    assert "larger than" in refused(read_file, tmp_path, path="c.png")


def test_missing_files_and_folders_are_refused_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("")
    assert refused(read_file, tmp_path, path="src/mian.py") == (
        "there is no 'src/mian.py' in the workspace; did you mean 'src/main.py'?"
    )
    assert refused(read_file, tmp_path, path="nowhere/x") == "there is no 'nowhere/x' in the workspace"
    assert refused(read_file, tmp_path, path="src") == "'src' is a folder, not a file"
    os.mkfifo(tmp_path / "pipe")
    assert refused(read_file, tmp_path, path="pipe") == "'pipe' is a pipe, not a file"
    assert refused(read_file, tmp_path, path="src/main.py/x") == (
        "there is no 'src/main.py/x' in the workspace"
    )
