"""Every path of a model stays in the workspace, whatever links and swaps there are."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agenthost import Tool, ToolContext
from agenthost.host.files.jail import BOTH, Jail, Root
from agenthost.host.files.workspace import Workspace
from agenthost.tools.workspace import edit_file, list_files, read_file, search, write_file
from agenthost.tools.workspace.paths import resolve_path
from working import given, outcome, refused

THEIRS = "the secret of others"

CALLS: list[tuple[Tool, dict[str, str]]] = [
    (read_file, {}),
    (list_files, {}),
    (search, {"pattern": "secret"}),
    (write_file, {"content": "mine"}),
    (edit_file, {"old": "secret", "new": "mine"}),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a workspace beside something that is not to be touched."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text(THEIRS)
    workspace = tmp_path / "workspace"
    (workspace / "in").mkdir(parents=True)
    (workspace / "in" / "file").write_text("inside")
    return workspace


@pytest.mark.parametrize(("one", "more"), CALLS, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize(
    "path", ["../outside/file", "/etc/passwd", "in/../../outside/file", "..", "/", "in/../.."]
)
def test_what_is_outside_is_refused_in_the_models_words(
    folder: Path, one: Tool, more: dict[str, str], path: str
) -> None:
    sentence = refused(one, folder, path=path, **more)
    assert sentence == f"{path!r} is outside of the workspace; only what is in it can be used"


@pytest.mark.parametrize(("one", "more"), CALLS, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_link_leads_nowhere_outside(folder: Path, one: Tool, more: dict[str, str], kind: str) -> None:
    outside = folder.parent / "outside"
    (folder / "link").symlink_to(outside if kind == "folder" else outside / "file")
    path = "link/file" if kind == "folder" else "link"
    assert THEIRS not in (sentence := refused(one, folder, path=path, **more))
    assert "may be read" in sentence or "link" in sentence
    assert (outside / "file").read_text() == THEIRS


def test_links_inside_are_read_and_not_written(folder: Path) -> None:
    (folder / "link").symlink_to("in/file")
    assert "in/file: lines" in given(read_file, folder, path="link")
    assert "a link" in refused(edit_file, folder, path="link", old="inside", new="x")
    assert "a link" in refused(write_file, folder, path="link", content="x")
    assert (folder / "in" / "file").read_text() == "inside"


def test_a_path_may_be_absolute_or_roundabout_if_it_leads_inside(folder: Path) -> None:
    for path in (str(folder / "in" / "file"), "./in//file", "in/../in/./file", "../workspace/in/file"):
        assert given(read_file, folder, path=path).startswith("in/file: lines")
    linked = folder.parent / "linked"
    linked.symlink_to(folder)
    assert given(read_file, linked, path=str(linked / "in" / "file")).startswith("in/file: lines")


@pytest.mark.parametrize("path", ["", "a\0b", "/".join("a" * 300)])
def test_an_invalid_path_is_refused(folder: Path, path: str) -> None:
    assert refused(read_file, folder, path=path)


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "in/.git/config", ".GIT/x"])
def test_files_of_git_are_not_written(folder: Path, path: str) -> None:
    assert "belongs to git" in refused(write_file, folder, path=path, content="#!/bin/sh")
    assert not (folder / path).exists()


def test_the_workspace_itself_is_not_a_file(folder: Path) -> None:
    assert "the workspace itself" in refused(write_file, folder, path=".", content="x")


def test_what_is_hidden_is_neither_read_nor_listed_nor_found(folder: Path) -> None:
    root = Root.at(folder.parts[1:], BOTH)
    workspace = Workspace(root.path, root.path, Jail([root], hidden=[(*root.path, "in")]))

    async def call(one: Tool, **arguments: str) -> str:
        return (await one.run(arguments, ToolContext(workspace=lambda: workspace))).text

    assert "outside of what may be read" in asyncio.run(call(read_file, path="in/file"))
    assert asyncio.run(call(list_files)) == "nothing was found"
    assert asyncio.run(call(search, pattern="inside")) == "nothing was found"


@contextmanager
def swapping(folder: Path) -> Iterator[None]:
    """Swap a folder for a link to the outside and back, as fast as can be, all the time."""
    real, link, place = folder / "real", folder / "link", folder / "in"
    link.symlink_to(folder.parent / "outside")
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            with suppress(OSError):
                place.rename(real)
                link.rename(place)
                place.rename(link)
                real.rename(place)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_swap_in_the_middle_of_a_call_leads_nowhere_outside(folder: Path) -> None:
    calls = [(read_file, {}), (write_file, {"content": "mine"}), (edit_file, {"old": "s", "new": "mine"})]
    with swapping(folder):
        for _ in range(30):
            for one, more in calls:
                assert THEIRS not in outcome(one, folder, path="in/file", **more).text
        for _ in range(3):
            assert THEIRS not in outcome(search, folder, pattern="secret").text
    assert (folder.parent / "outside" / "file").read_text() == THEIRS
    assert [one.name for one in (folder.parent / "outside").iterdir()] == ["file"]


def test_a_path_is_read_without_looking_at_the_disk() -> None:
    workspace = Workspace(("nowhere", "w"), ("nowhere", "w"), Jail([]))
    assert resolve_path(workspace, "a/./b/../c").path == ("nowhere", "w", "a", "c")
