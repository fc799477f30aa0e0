"""What watches tell of, on a real disk."""

import asyncio
import mmap
import os
import shutil
from pathlib import Path

import pytest

from agenthost.errors import ResourceNotFound
from agenthost.host.files.uris import uri_of
from agenthost.host.files.watches import watch as watch_module
from host.files.conftest import Switch
from host.files.filing import opened
from host.files.watching import watching
from hosting import run

# What is told


def test_files_that_are_added_changed_and_deleted_are_told(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            (workspace / "old").write_text("old")
            async with watching(files, workspace) as ear:
                (workspace / "new").write_text("new")
                await ear.hears(("new", "added"))
                (workspace / "old").write_text("newer")
                await ear.hears(("old", "updated"))
                (workspace / "old").chmod(0o600)
                await ear.hears(("old", "updated"))
                (workspace / "old").unlink()
                await ear.hears(("old", "deleted"))
                (workspace / "new").rename(workspace / "moved")
                await ear.hears(("new", "deleted"), ("moved", "added"))
                await ear.hears_nothing()

    run(story)


def test_what_the_host_writes_is_told_without_its_temporary_files(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            async with watching(files, workspace, recursive=True) as ear:
                uri = uri_of(workspace / "file")
                for kind in ("added", "updated"):
                    await files.write(None, {"uri": uri, "data": kind, "encoding": "utf-8"})
                    await ear.hears(("file", kind))
                await files.write(None, {"uri": uri, "data": "!", "encoding": "utf-8", "mode": "append"})
                await ear.hears(("file", "updated"))
                await files.mkdir(None, {"uri": uri_of(workspace / "a" / "b")})
                await ear.hears(("a", "added"), ("a/b", "added"))

    run(story)


def test_without_recursion_only_the_folder_itself_is_watched(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            (workspace / "folder").mkdir()
            async with watching(files, workspace) as ear:
                (workspace / "folder" / "deep").write_text("text")
                await ear.hears_nothing()
                (workspace / "other").mkdir()
                await ear.hears(("other", "added"))

    run(story)


def test_with_recursion_new_folders_are_watched_from_the_start(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            async with watching(files, workspace, recursive=True) as ear:
                for number in range(20):
                    deep = workspace / f"{number}" / "a" / "b"
                    deep.mkdir(parents=True)
                    (deep / "file").write_text("text")
                paths = [f"{n}{rest}" for n in range(20) for rest in ("", "/a", "/a/b", "/a/b/file")]
                await ear.hears(*((path, "added") for path in paths))
                (workspace / "7/a/b/file").write_text("other")
                await ear.hears(("7/a/b/file", "updated"))

    run(story)


def test_a_folder_is_moved_in_out_and_within(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            switch(files)
            (outside / "tree" / "deep").mkdir(parents=True)
            (outside / "tree" / "deep" / "file").write_text("text")
            async with watching(files, workspace, recursive=True) as ear:
                (outside / "tree").rename(workspace / "tree")
                await ear.hears(*((f"tree{rest}", "added") for rest in ("", "/deep", "/deep/file")))
                (workspace / "tree").rename(workspace / "other")
                await ear.hears(
                    ("tree", "deleted"),  # without what was in it
                    *((f"other{rest}", "added") for rest in ("", "/deep", "/deep/file")),
                )
                (workspace / "other/deep/file").write_text("more")
                await ear.hears(("other/deep/file", "updated"))
                (workspace / "other").rename(outside / "tree")
                await ear.hears(("other", "deleted"))
                (outside / "tree/deep/file").write_text("not ours any more")
                await ear.hears_nothing()

    run(story)


def test_what_comes_and_goes_between_two_looks_is_not_told(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "kept").write_text("text")
            async with watching(files, workspace) as ear:
                for number in range(200):
                    (workspace / f"{number}").touch()
                    (workspace / f"{number}").unlink()
                os.replace(workspace / "kept", workspace / "there")  # noqa: PTH105
                os.replace(workspace / "there", workspace / "kept")  # noqa: PTH105
                (workspace / "kept").unlink()
                (workspace / "kept").write_text("other")
                await ear.hears(("kept", "updated"))

    run(story)


def test_a_folder_that_is_replaced_by_one_with_its_number_is_watched_on(tmp_path: Path) -> None:
    """A file system gives the number of a deleted folder to the next one."""

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            async with watching(files, workspace, recursive=True) as ear:
                (workspace / "folder").mkdir()
                await ear.hears(("folder", "added"))
                for number in range(5):
                    shutil.rmtree(workspace / "folder")
                    (workspace / "folder").mkdir()
                    await asyncio.sleep(0.3)
                    (workspace / "folder" / f"{number}").touch()
                    await ear.hears_also((f"folder/{number}", "added"))

    run(story)


def test_a_file_becomes_a_folder_and_a_folder_a_file(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            (workspace / "a").write_text("text")
            (workspace / "b").mkdir()
            (workspace / "b" / "inner").touch()
            async with watching(files, workspace, recursive=True) as ear:
                (workspace / "a").unlink()
                (workspace / "a").mkdir()
                (workspace / "a" / "inner").touch()
                shutil.rmtree(workspace / "b")
                (workspace / "b").touch()
                await ear.hears(
                    ("a", "updated"), ("a/inner", "added"), ("b", "updated"), ("b/inner", "deleted")
                )

    run(story)


def test_names_that_are_not_text_are_told_too(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            async with watching(files, workspace) as ear:
                name = os.fsdecode(b"\xff 100%?#")
                (workspace / name).touch()
                await ear.hears((name, "added"))

    run(story)


def test_what_is_written_through_a_memory_map_is_told_when_the_file_is_closed(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "file").write_bytes(bytes(4096))
            async with watching(files, workspace) as ear:
                with (workspace / "file").open("r+b") as file:
                    mapped = mmap.mmap(file.fileno(), 4096)
                    mapped[:4] = b"text"
                    mapped.close()
                await ear.hears(("file", "updated"))
                with (workspace / "file").open("r+b"):
                    pass  # nothing is written
                await ear.hears_nothing()

    run(story)


# The top


def test_a_single_file_is_watched(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            file = workspace / "file"
            file.write_text("text")
            async with watching(files, file) as ear:
                file.write_text("other")
                await ear.hears(("", "updated"))
                (workspace / "next").write_text("as an editor saves it")
                (workspace / "next").replace(file)
                await ear.hears(("", "updated"))
                file.write_text("and again")
                await ear.hears(("", "updated"))
                file.unlink()
                await ear.hears(("", "deleted"))
                (workspace / "beside").touch()
                file.write_text("back")
                await ear.hears(("", "added"))
                file.write_text("and watched")
                await ear.hears(("", "updated"))

    run(story)


def test_a_file_that_does_not_exist_yet_is_watched(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            file = workspace / "not" / "yet" / "there"
            with pytest.raises(ResourceNotFound):
                await files.watches.create(None, "client", uri_of(file), must_exist=True)
            async with watching(files, file) as ear:
                await ear.hears_nothing(0.1)
                file.parent.mkdir(parents=True)
                file.write_text("text")
                await ear.hears(("", "added"))
                file.write_text("other")
                await ear.hears(("", "updated"))

    run(story)


def test_a_folder_that_is_deleted_is_watched_again_when_it_is_back(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            folder = workspace / "folder"
            (folder / "inner").mkdir(parents=True)
            async with watching(files, folder, recursive=True) as ear:
                shutil.rmtree(folder)
                await ear.hears(("", "deleted"))
                (folder / "inner").mkdir(parents=True)
                (folder / "file").touch()
                await ear.hears(("", "added"), ("inner", "added"), ("file", "added"))
                (folder / "inner" / "deep").touch()
                await ear.hears(("inner/deep", "added"))

    run(story)


def test_a_folder_above_is_moved_away(
    tmp_path: Path, switch: Switch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "TOP_SECONDS", 0.2)

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            folder = workspace / "a" / "b"
            folder.mkdir(parents=True)
            (folder / "same").touch()
            async with watching(files, folder) as ear:
                (workspace / "a").rename(workspace / "c")
                await ear.hears(("", "deleted"))
                (workspace / "c").rename(workspace / "a")
                await ear.hears(("", "added"), ("same", "added"))

    run(story)


def test_a_link_is_watched_where_it_leads_and_told_by_its_own_name(tmp_path: Path, switch: Switch) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            for name in ("one", "two"):
                (workspace / name).mkdir()
                (workspace / name / name).touch()
            (workspace / "link").symlink_to("one")
            async with watching(files, workspace / "link") as ear:
                (workspace / "one" / "new").touch()
                await ear.hears(("new", "added"))

    run(story)
