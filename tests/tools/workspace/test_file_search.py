"""What `search` finds, with ripgrep and without: the same, in the same words."""

import os
from pathlib import Path

import pytest

from agenthost.tools.workspace import file_search, search
from agenthost.tools.workspace.file_search import BATCH_SIZE, MAX_LINE_CHARACTERS, MAX_MATCHES
from peering import ripgrep
from working import given, refused

FILES = {
    "a.py": "import os\n\ndef main():\n    return os.name\n",
    "b/c.py": "def other():\r\n    pass\r\n",
    "b/notes.md": "# Übersicht\ndefine the terms\n",
    "ignored/d.py": "def ignored(): ...\n",
    "empty": "",
}


@pytest.fixture(params=["ripgrep", "python"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a tree, and let one of the two searchers be found."""
    tools = tmp_path / "tools"
    tools.mkdir()
    if request.param == "ripgrep":
        (tools / "rg").symlink_to(ripgrep())
    monkeypatch.setenv("PATH", str(tools))
    workspace = tmp_path / "workspace"
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(text.encode())
    (workspace / ".gitignore").write_text("ignored/\n")
    (workspace / "binary").write_bytes(b"def \0 binary\n")
    (workspace / "link.py").symlink_to("a.py")
    return workspace


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": r"def \w+\("}, ["a.py:3:def main():", "b/c.py:1:def other():"]),
        ({"pattern": "def", "path": "b"}, ["b/c.py:1:def other():", "b/notes.md:2:define the terms"]),
        ({"pattern": "def", "path": "a.py"}, ["a.py:3:def main():"]),
        ({"pattern": "def", "path": "ignored"}, ["ignored/d.py:1:def ignored(): ..."]),
        ({"pattern": "def", "glob": "*.md"}, ["b/notes.md:2:define the terms"]),
        ({"pattern": "DEF", "ignore_case": True, "glob": "a.*"}, ["a.py:3:def main():"]),
        ({"pattern": "DEF"}, ["nothing was found"]),
        ({"pattern": "def", "names_only": True}, ["a.py", "b/c.py", "b/notes.md"]),
        ({"pattern": "Übers"}, ["b/notes.md:1:# Übersicht"]),
        (
            {"pattern": "main|pass|# ", "around": 1},
            [
                "a.py-2-",
                "a.py:3:def main():",
                "a.py-4-    return os.name",
                "--",
                "b/c.py-1-def other():",
                "b/c.py:2:    pass",
                "--",
                "b/notes.md:1:# Übersicht",
                "b/notes.md-2-define the terms",
            ],
        ),
        ({"pattern": "-e"}, ["nothing was found"]),
    ],
)
def test_matches_come_with_path_and_line(
    folder: Path, arguments: dict[str, object], expected: list[str]
) -> None:
    assert given(search, folder, **arguments).split("\n") == expected


def test_an_invalid_expression_is_reported(folder: Path) -> None:
    assert "cannot be searched for: " in refused(search, folder, pattern="(")
    assert "for one line" in refused(search, folder, pattern="a\nb")
    assert "for one line" in refused(search, folder, pattern="")
    assert "there is no 'nowhere'" in refused(search, folder, pattern="a", path="nowhere")


def test_many_files_and_many_matches_are_bounded(folder: Path) -> None:
    for number in range(2 * BATCH_SIZE + 3):
        (folder / f"n{number:04}").write_text("needle\n" * (number % 2))
    lines = given(search, folder, pattern="needle").split("\n")
    assert lines == [f"n{number:04}:1:needle" for number in range(1, 2 * BATCH_SIZE + 3, 2)]
    (folder / "many").write_text("needle\n" * 10_000)
    lines = given(search, folder, pattern="needle", path="many").split("\n")
    assert len(lines) == MAX_MATCHES + 2
    assert lines[-1] == "[there is more: narrow the search by path, glob or pattern]"


def test_a_long_line_is_cut(folder: Path) -> None:
    (folder / "long").write_text(f"needle{'x' * 1_000_000}\n")
    line = given(search, folder, pattern="needle", path="long")
    assert line == f"long:1:{f'needle{1_000 * chr(120)}'[:MAX_LINE_CHARACTERS]}…"


def test_a_search_that_would_never_end_is_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_search, "SECONDS", 0.5)
    (folder / "bad").write_text("a" * 40 + "b\n")
    found = given(search, folder, pattern="(a+)+$", path="bad")
    is_python = "rg" not in os.listdir(os.environ["PATH"])  # noqa: PTH208
    told = "[stopped after 0.5 seconds: narrow the search by path or glob]"
    assert found == (told if is_python else "nothing was found")
