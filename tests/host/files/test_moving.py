"""Files and folders copied, moved and deleted, on a real disk."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import (
    InvalidValue,
    ResourceDenied,
    ResourceExists,
    ResourceNotFound,
    TooLarge,
    TooMany,
)
from agenthost.host.files.files import FileLimits, Files
from agenthost.host.files.uris import uri_of
from host.files.filing import OUTSIDE, opened
from hosting import run


def tree_of(folder: Path) -> dict[str, str]:
    """Show a tree: each file with its text, each link with where it leads."""
    return {
        str(path.relative_to(folder)): (
            f"-> {path.readlink()}" if path.is_symlink() else "/" if path.is_dir() else path.read_text()
        )
        for path in sorted(folder.rglob("*"))
    }


async def put(files: Files, deed: str, source: Path, destination: Path, **over: Any) -> None:
    params: Any = {"source": uri_of(source), "destination": uri_of(destination), **over}
    await (files.copy(None, params) if deed == "copy" else files.move(None, params))


DEEDS = pytest.mark.parametrize("deed", ["copy", "move"])


@DEEDS
@pytest.mark.parametrize("over", [{}, {"failIfExists": True}])
def test_a_file_arrives_with_its_permissions(tmp_path: Path, deed: str, over: dict[str, bool]) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a").write_text("text")
            (workspace / "a").chmod(0o750)
            await put(files, deed, workspace / "a", workspace / "b", **over)
            assert tree_of(workspace) == ({"a": "text"} if deed == "copy" else {}) | {"b": "text"}
            assert stat.S_IMODE((workspace / "b").stat().st_mode) == 0o750

    run(story)


@DEEDS
@pytest.mark.parametrize("over", [{}, {"failIfExists": True}])
def test_a_folder_arrives_with_everything_in_it(tmp_path: Path, deed: str, over: dict[str, bool]) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a/b").mkdir(parents=True)
            (workspace / "a/b/c").write_text("text")
            (workspace / "a/link").symlink_to("/etc/passwd")
            inside = tree_of(workspace / "a")
            await put(files, deed, workspace / "a", workspace / "z", **over)
            assert tree_of(workspace / "z") == inside
            assert (workspace / "a").exists() == (deed == "copy")
            assert len(list(workspace.iterdir())) == (2 if deed == "copy" else 1)

    run(story)


@DEEDS
def test_a_file_is_replaced_unless_fail_if_exists_is_set(tmp_path: Path, deed: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a").write_text("new")
            (workspace / "b").write_text("old")
            before = tree_of(workspace)
            with pytest.raises(ResourceExists):
                await put(files, deed, workspace / "a", workspace / "b", failIfExists=True)
            with pytest.raises(ResourceExists):
                await put(files, deed, workspace / "a", workspace / "a", failIfExists=True)
            await put(files, deed, workspace / "a", workspace / "a")
            assert tree_of(workspace) == before
            await put(files, deed, workspace / "a", workspace / "b")
            assert (workspace / "b").read_text() == "new"

    run(story)


@DEEDS
def test_an_impossible_copy_or_move_changes_nothing(tmp_path: Path, deed: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "file").write_text("file")
            (workspace / "folder/inner").mkdir(parents=True)
            (workspace / "empty").mkdir()
            (workspace / "link").symlink_to("file")
            (workspace / "out").symlink_to(outside / "file")
            before = tree_of(tmp_path)
            refused: list[tuple[str, str, type[Exception]]] = [
                ("missing", "new", ResourceNotFound),
                ("file", "missing/new", ResourceNotFound),
                ("file", "empty", ResourceExists),
                ("folder", "empty", ResourceExists),
                ("folder", "file", ResourceExists),
                ("folder", "folder/inner/new", InvalidValue),
                ("file", "link", ResourceDenied),
                ("file", "out", ResourceDenied),
                ("file", "../outside/new", ResourceDenied),
                ("../outside/file", "new", ResourceDenied),
            ]
            for source, destination, kind in refused:
                with pytest.raises(kind):
                    await put(files, deed, workspace / source, workspace / destination)
            assert tree_of(tmp_path) == before
            with pytest.raises(ResourceDenied):
                await put(files, "move", workspace, workspace / "folder/self")
            with pytest.raises(ResourceDenied):
                await put(files, "copy", workspace / "out", workspace / "new")
            assert tree_of(tmp_path) == before

    run(story)


def test_a_copy_beyond_the_limits_leaves_nothing_behind(tmp_path: Path) -> None:
    async def story() -> None:
        limits = FileLimits(copy_entries=4, copy_bytes=10)
        with opened(tmp_path, limits=limits) as (files, workspace, _):
            (workspace / "many").mkdir()
            (workspace / "large").mkdir()
            for number in range(4):
                (workspace / f"many/{number}").touch()
            (workspace / "large/file").write_text("x" * 11)
            before = tree_of(workspace)
            with pytest.raises(TooMany):
                await put(files, "copy", workspace / "many", workspace / "new")
            for name in ("large", "large/file"):
                with pytest.raises(TooLarge):
                    await put(files, "copy", workspace / name, workspace / "new")
            assert tree_of(workspace) == before

    run(story)


def test_a_link_is_moved_and_deleted_as_a_link(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "link").symlink_to("../outside")
            await put(files, "move", workspace / "link", workspace / "other")
            assert tree_of(workspace) == {"other": "-> ../outside"}
            with pytest.raises(ResourceDenied):
                await files.delete(None, {"uri": uri_of(workspace / "other/file")})
            await files.delete(None, {"uri": uri_of(workspace / "other"), "recursive": True})
            assert tree_of(tmp_path) == {"outside": "/", "outside/file": OUTSIDE, "workspace": "/"}
            assert outside.exists()

    run(story)


def test_a_folder_that_is_not_empty_is_deleted_only_recursively(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "a/b").mkdir(parents=True)
            (workspace / "a/file").write_text("text")
            (workspace / "a/out").symlink_to(outside)
            (workspace / "empty").mkdir()
            with pytest.raises(InvalidValue, match=r"\$\.recursive"):
                await files.delete(None, {"uri": uri_of(workspace / "a")})
            assert len(tree_of(workspace)) == 5
            await files.delete(None, {"uri": uri_of(workspace / "empty")})
            await files.delete(None, {"uri": uri_of(workspace / "a/file")})
            await files.delete(None, {"uri": uri_of(workspace / "a"), "recursive": True})
            assert tree_of(workspace) == {}
            assert (outside / "file").read_text() == OUTSIDE
            with pytest.raises(ResourceNotFound):
                await files.delete(None, {"uri": uri_of(workspace / "a")})
            with pytest.raises(ResourceDenied):
                await files.delete(None, {"uri": uri_of(workspace), "recursive": True})

    run(story)


def test_a_folder_that_is_1500_deep_is_deleted_with_few_descriptors(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "deep").mkdir()
            (outside / "kept").write_text("x")
            folder = os.open(workspace / "deep", os.O_RDONLY)
            for _ in range(1_500):
                os.mkdir("a", dir_fd=folder)
                os.symlink(outside, "link", dir_fd=folder)
                inner = os.open("a", os.O_RDONLY, dir_fd=folder)
                os.close(folder)
                folder = inner
            os.close(folder)
            with few_descriptors(64):
                await files.delete(None, {"uri": uri_of(workspace / "deep"), "recursive": True})
            assert tree_of(workspace) == {}
            assert (outside / "kept").read_text() == "x"

    run(story)


@contextmanager
def few_descriptors(more: int) -> Iterator[None]:
    """Let this process open only so many files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
