"""The index of a tree: what is in it, how it follows changes, and how names are found."""

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agenthost.host.files.grants import Grants
from agenthost.host.files.index import FileIndex, IndexLimits
from agenthost.host.files.snapshot import Snapshot

OLD = (1_000_000_000, 1_000_000_000)
"""Long ago: what was changed a moment ago is read again in any case."""


def indexed(top: Path, limits: IndexLimits | None = None) -> tuple[FileIndex, Grants]:
    index, grants = FileIndex(top.parts[1:], limits), Grants(top, hidden=[top / "data"])
    index.refresh(grants.jail(None))
    return index, grants


def made(top: Path, *paths: str) -> None:
    for path in paths:
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).touch()


def aged(top: Path) -> None:
    """Let everything be from long ago."""
    for folder, _, files in os.walk(top):
        for name in [".", *files]:
            os.utime(Path(folder, name), OLD, follow_symlinks=False)


def test_links_git_hidden_and_unprintable_names_are_left_out(tmp_path: Path) -> None:
    top = tmp_path / "top"
    made(top, "a", "d/b", ".git/config", "data/key", "e/line\nbreak", "e/ä")
    made(tmp_path, "out/secret")
    (top / "link").symlink_to("../out")
    (top / os.fsdecode(b"\xff")).touch()
    index, _ = indexed(top)
    assert index.snapshot.paths == ["a", "d/", "e/", "d/b", "e/ä", "link"]
    assert index.snapshot.is_whole


def test_what_changes_is_seen_and_what_does_not_is_not_read_again(tmp_path: Path) -> None:
    made(tmp_path, "a/one", "b/two", "b/c/three")
    aged(tmp_path)
    index, grants = indexed(tmp_path)
    before = index.snapshot
    index.refresh(grants.jail(None))
    assert index.snapshot is before
    made(tmp_path, "b/c/new")
    (tmp_path / "a/one").unlink()
    (tmp_path / "a").rmdir()
    index.refresh(grants.jail(None))
    assert index.snapshot.paths == ["b/", "b/c/", "b/two", "b/c/new", "b/c/three"]
    # A folder with the time that it had is taken as it was: that is what makes it cheap.
    os.utime(tmp_path / "b", OLD)
    index.refresh(grants.jail(None))
    made(tmp_path, "b/unseen")
    os.utime(tmp_path / "b", OLD)
    index.refresh(grants.jail(None))
    assert "b/unseen" not in index.snapshot.paths


def test_new_rules_apply_to_everything_below_them(tmp_path: Path) -> None:
    made(tmp_path, "a/x.log", "a/b/y.log", "z.log")
    (tmp_path / "a/.gitignore").write_text("nothing\n")
    aged(tmp_path)
    index, grants = indexed(tmp_path)
    assert "a/b/y.log" in index.snapshot.paths
    (tmp_path / "a/.gitignore").write_text("*.log\n")
    index.refresh(grants.jail(None))
    assert index.snapshot.paths == ["a/", "a/b/", "z.log", "a/.gitignore"]
    (tmp_path / "a/.gitignore").unlink()
    index.refresh(grants.jail(None))
    assert "a/b/y.log" in index.snapshot.paths


def test_a_folder_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    top = tmp_path / "top"
    made(top, "d/inside")
    made(tmp_path, "out/secret")
    aged(tmp_path)
    index, grants = indexed(top)
    (top / "d").rename(tmp_path / "gone")
    (top / "d").symlink_to("../out")
    os.utime(top, OLD)
    index.refresh(grants.jail(None))
    assert not [path for path in index.snapshot.paths if "secret" in path or "inside" in path]


def test_a_tree_that_is_too_large_or_too_deep_is_indexed_in_part(tmp_path: Path) -> None:
    made(tmp_path, *(f"{folder}/{name}" for folder in "abcdef" for name in "123456"))
    index, _ = indexed(tmp_path, IndexLimits(entries=10))
    assert 6 <= len(index.snapshot.paths) <= 12
    assert not index.snapshot.is_whole
    made(tmp_path, "a/b/c/deep")
    index, _ = indexed(tmp_path, IndexLimits(depth=1))
    assert "a/b/" in index.snapshot.paths
    assert "a/b/c/" not in index.snapshot.paths


def test_a_tree_that_is_gone_is_empty(tmp_path: Path) -> None:
    made(tmp_path, "top/a")
    index, grants = indexed(tmp_path / "top")
    (tmp_path / "top").rename(tmp_path / "elsewhere")
    index.refresh(grants.jail(None))
    assert index.snapshot.paths == []


# Searching

PATHS = [
    "app.py",
    "src/",
    "src/app.py",
    "src/apple.txt",
    "src/grapple.md",
    "apps/",
    "apps/x",
    "My App/notes",
    "a/p/p.c",
]


def test_better_matches_come_first() -> None:
    names = Snapshot(PATHS)
    assert names.search("app.py", 9) == ["app.py", "src/app.py"]
    assert names.search("APP", 9) == [
        *("apps/", "app.py", "src/app.py", "src/apple.txt"),  # a name begins with it
        "apps/x",  # the path does
        "src/grapple.md",  # a name has it
        "My App/notes",  # the path has
        "a/p/p.c",  # its letters are there in this order
    ]
    assert names.search("src/a", 2) == ["src/app.py", "src/apple.txt"]
    assert names.search("srpl", 1) == ["src/apple.txt"]
    assert names.search("", 3) == ["src/", "apps/", "app.py"]
    assert names.search("nothing of it", 3) == []


def test_paths_below_a_folder_are_relative_to_it() -> None:
    assert Snapshot(PATHS).below("src").paths == ["app.py", "apple.txt", "grapple.md"]
    assert Snapshot(PATHS).below("none").paths == []


letters = st.text("ab/.A", max_size=6)
some_paths = st.sets(
    st.lists(st.text("ab.A", min_size=1, max_size=4), min_size=1, max_size=3).map("/".join), max_size=20
)


@given(some_paths, letters, st.integers(1, 30))
def test_a_search_finds_exactly_the_paths_with_the_letters_in_order(
    paths: set[str], query: str, limit: int
) -> None:
    found = Snapshot(paths).search(query, limit)
    fitting = {path for path in paths if has_in_order(f"/{path}".lower(), query.lower())}
    assert len(found) == len(set(found)) == min(limit, len(fitting))
    assert set(found) <= fitting


def has_in_order(text: str, wanted: str) -> bool:
    rest = iter(text)
    return all(char in rest for char in wanted)
