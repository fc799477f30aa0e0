"""What `list_files` shows of a workspace."""

from pathlib import Path

import pytest

from agenthost.tools.workspace import list_files
from agenthost.tools.workspace.file_list import MAX_ENTRIES
from bounding import run_bounded
from working import given, refused

FILES = [
    ".github/ci.yml",
    ".git/config",
    "a/b/c/deep.py",
    "a/b/x.ts",
    "a/one.py",
    "build/out.o",
    "a/keep.log",
    "a/other.log",
    "top.tsx",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a tree with rules for what git ignores."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "a" / ".gitignore").write_text("!keep.log\n")
    (tmp_path / "link").symlink_to(tmp_path.parent)
    return tmp_path


def listed(folder: Path, **arguments: object) -> list[str]:
    return given(list_files, folder, **arguments).split("\n")


def test_two_levels_are_shown_without_what_git_ignores(folder: Path) -> None:
    assert listed(folder) == [
        ".github/",
        ".github/ci.yml",
        ".gitignore",
        "a/",
        "a/.gitignore",
        "a/b/",
        "a/keep.log",
        "a/one.py",
        "link",
        "top.tsx",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"glob": "*.py"}, ["a/b/c/deep.py", "a/one.py"]),
        ({"glob": "a/*.py"}, ["a/one.py"]),
        ({"glob": "**/*.{ts,tsx}"}, ["a/b/x.ts", "top.tsx"]),
        ({"glob": "*.log", "ignored": True}, ["a/keep.log", "a/other.log"]),
        ({"path": "a/b"}, ["a/b/c/", "a/b/c/deep.py", "a/b/x.ts"]),
        ({"path": "a/b", "depth": 1}, ["a/b/c/", "a/b/x.ts"]),
        ({"path": "a", "glob": "*.log"}, ["a/keep.log"]),
        ({"path": "build"}, ["build/out.o"]),
        ({"path": "a/b/c", "glob": "*.rs"}, ["nothing was found"]),
    ],
)
def test_a_part_is_shown_by_folder_glob_and_depth(
    folder: Path, arguments: dict[str, object], expected: list[str]
) -> None:
    assert listed(folder, **arguments) == expected


def test_a_listing_that_is_cut_off_says_so(tmp_path: Path) -> None:
    for number in range(MAX_ENTRIES + 5):
        (tmp_path / f"{number:05}").touch()
    lines = listed(tmp_path)
    assert len(lines) == MAX_ENTRIES + 1
    assert lines[-1] == "[there are more: name a folder, or give a glob]"


def test_what_cannot_be_listed_is_refused(folder: Path) -> None:
    assert refused(list_files, folder, path="nowhere") == "there is no 'nowhere' in the workspace"
    assert refused(list_files, folder, path="top.tsx") == "'top.tsx' is a file, not a folder"
    assert "at least 1" in refused(list_files, folder, depth=0)
    assert "nothing can match" in refused(list_files, folder, glob="[")


def test_names_in_all_scripts_are_shown_and_unprintable_ones_left_out(tmp_path: Path) -> None:
    (tmp_path / "größe 🎉.txt").touch()
    (tmp_path / "line\nend").touch()
    (tmp_path / "bad\udcff").touch()
    assert listed(tmp_path) == ["größe 🎉.txt"]


@pytest.mark.parametrize("call", ["list_files, folder", "search, folder, pattern='x'"])
def test_a_glob_that_would_backtrack_takes_no_time(tmp_path: Path, call: str) -> None:
    (tmp_path / ("a" * 200)).write_text("x")
    code = (
        "import sys; from pathlib import Path; from working import given; folder = Path(sys.argv[1]); "
        "from agenthost.tools.workspace import list_files, search; "
        f"print(given({call}, glob='*a' * 9 + 'b'))"
    )
    assert run_bounded(code, tmp_path) == "nothing was found"


@pytest.mark.parametrize(
    ("glob", "sentence"),
    [
        ("a" * 2_000, "the glob is longer than 1024 characters"),
        ("{a,b}" * 7, "the braces of the glob expand to more than 64 patterns"),
    ],
)
def test_a_glob_that_is_too_long_is_refused(tmp_path: Path, glob: str, sentence: str) -> None:
    assert refused(list_files, tmp_path, glob=glob) == sentence
