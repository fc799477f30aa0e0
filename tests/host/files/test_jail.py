"""The jail: real links, and what is never reached."""

from contextlib import suppress
from pathlib import Path

import pytest

from agenthost.errors import InvalidValue, ResourceDenied, ResourceError, ResourceNotFound
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.jail import READ, Access, Jail, Root
from agenthost.host.files.uris import Target, parse_uri, uri_of
from host.files.filing import opened, text_of
from hosting import run


def test_a_link_that_stays_inside_is_read_through(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "a/b").mkdir(parents=True)
            (workspace / "a/b/file").write_text("inside")
            for name, leads_to in {
                "relative": "a/b/file",
                "absolute": str(workspace / "a/b/file"),
                "again": "relative",
                "a/up": "../again",
                "folder": "a/b",
                "a/b/round": "../../folder/../b/file",
                "dots": "./a//b/./file",
            }.items():
                (workspace / name).symlink_to(leads_to)
            for path in (
                "relative",
                "absolute",
                "again",
                "a/up",
                "folder/file",
                "a/b/round",
                "folder/round",
                "dots",
            ):
                assert await text_of(files, workspace / path) == "inside", path

    run(story)


def test_a_link_that_leads_outside_is_denied_and_not_followed(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            (workspace / "inner").mkdir()
            for name, leads_to in {
                "relative": "../outside/file",
                "absolute": str(outside / "file"),
                "missing": str(outside / "missing"),
                "inner/deep": "../../outside/file",
                "folder": "../outside",
                "top": "/",
                "up": "..",
                "sneaky": f"{workspace}/../outside/file",
            }.items():
                (workspace / name).symlink_to(leads_to)
            for path in (
                "relative",
                "absolute",
                "missing",
                "inner/deep",
                "folder/file",
                "top",
                "up",
                "sneaky",
            ):
                with pytest.raises(ResourceDenied):
                    await text_of(files, workspace / path)
            with pytest.raises(ResourceDenied):
                await files.list(None, {"uri": uri_of(workspace / "folder")})

    run(story)


def test_a_link_above_the_workspace_may_be_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("inside")
    (tmp_path / "link").symlink_to("real")
    files = Files(Grants(tmp_path / "link"))

    async def story() -> None:
        for name in ("link", "real"):
            assert await text_of(files, tmp_path / name / "file") == "inside"
        assert files.grants.folder_of(None) == (tmp_path / "real").resolve()

    run(story)
    files.close()


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "one").symlink_to("two")
            (workspace / "two").symlink_to("one")
            (workspace / "self").symlink_to("self/self")
            for name in ("one", "self", "one/file"):
                with pytest.raises(ResourceDenied):
                    await text_of(files, workspace / name)

    run(story)


def test_paths_outside_are_denied_the_same_way_whether_they_exist_or_not(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, outside):
            for path in (outside / "file", outside / "missing", tmp_path, Path("/"), Path("/etc/passwd")):
                for deed in (text_of(files, path), files.list(None, {"uri": uri_of(path)})):
                    with pytest.raises(ResourceDenied) as denied:
                        await deed
                    assert denied.value.request is None  # nobody could be asked
            with pytest.raises(ResourceDenied):
                await files.read(None, {"uri": f"{uri_of(workspace)}/../outside/file"})
            with pytest.raises(ResourceDenied):
                await text_of(files, workspace.with_name("workspace2"))

    run(story)


def test_a_denial_says_which_request_would_help(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow", writing="deny")) as (files, workspace, outside):
            uri = uri_of(outside / "file")
            with pytest.raises(ResourceDenied) as denied:
                await files.read(None, {"uri": uri})
            assert denied.value.request == {"uri": uri, "read": True}
            (workspace / "link").symlink_to("../outside/file")
            with pytest.raises(ResourceDenied) as denied:
                await text_of(files, workspace / "link")
            assert denied.value.request == {"uri": uri_of((outside / "file").resolve()), "read": True}
            with pytest.raises(ResourceDenied) as denied:
                await files.delete(None, {"uri": uri})
            assert denied.value.request is None

    run(story)


def test_the_hosts_own_data_is_hidden_even_in_the_workspace(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, workspace, _):
            (workspace / "data").mkdir()
            (workspace / "data/keys").write_text("secret")
            (workspace / "link").symlink_to("data/keys")
            for path in ("data", "data/keys", "link", "data/missing"):
                with pytest.raises(ResourceDenied) as denied:
                    await text_of(files, workspace / path)
                assert denied.value.request is None
            with pytest.raises(ResourceDenied):
                await files.request(None, {"uri": uri_of(workspace / "data")})
            for deed in (
                files.delete(None, {"uri": uri_of(workspace), "recursive": True}),
                files.delete(None, {"uri": uri_of(workspace / "data"), "recursive": True}),
                files.copy(None, {"source": uri_of(workspace), "destination": uri_of(workspace / "copy")}),
            ):
                with pytest.raises(ResourceDenied):
                    await deed
            assert (workspace / "data/keys").exists()

    run(story)


def test_a_path_through_a_file_is_not_found_and_a_file_is_not_a_folder(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "file").write_text("x")
            with pytest.raises(ResourceNotFound):
                await text_of(files, workspace / "file/below")
            with pytest.raises(InvalidValue):
                await files.folder(None, uri_of(workspace / "file"))
            assert await files.folder(None, uri_of(workspace)) == workspace.resolve()

    run(story)


def test_a_read_only_root_is_not_written_and_a_write_only_one_not_read(tmp_path: Path) -> None:
    for access in (Access(read=True), Access(write=True)):
        jail = Jail([Root.at(tmp_path.parts[1:], access)])
        target = parse_uri(uri_of(tmp_path / "file"))
        for wanted in (Access(read=True), Access(write=True), Access(read=True, write=True)):
            if wanted == access:
                with jail.place(target, wanted) as place:
                    assert place.name == "file"
                continue
            with pytest.raises(ResourceDenied), jail.place(target, wanted):
                pass


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/up").symlink_to("../..")
    (tmp_path / "out").symlink_to("/etc")
    jail = Jail([Root.at(tmp_path.parts[1:], READ)])
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("a/b/up", "a/b/up/a/b/up/missing", "out/passwd", "missing/x"):
        path = (*tmp_path.parts[1:], *name.split("/"))
        with suppress(ResourceError), jail.place(Target(uri_of(path), path), READ, follow=True) as place:
            place.status()
    assert len(list(Path("/dev/fd").iterdir())) == before
