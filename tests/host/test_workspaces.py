"""Each owner works in a folder of its own, and cannot see those of others."""

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, ResourceDenied
from agenthost.host.files.grants import FilePolicy, folder_name
from agenthost.host.files.uris import uri_of
from agenthost.host.host import Host
from ahp_sites import served
from ahp_speaking import new_uri
from hosting import run
from sandboxing import BOXED
from shelling import URI, Watch, claim_of
from talking import talking

OWNERS = ("ada", "bob")


async def write(host: Host, owner: str | None, path: Path, data: str) -> None:
    await host.parts.files.write(owner, {"uri": uri_of(path), "data": data, "encoding": "utf-8"})


def test_owners_have_folders_of_their_own_which_only_they_can_touch(tmp_path: Path) -> None:
    folder = tmp_path / "workspaces"
    everything = FilePolicy(reading="allow", writing="allow")

    async def story() -> None:
        async with talking(tmp_path, workspaces=folder, file_policy=everything) as host:
            mine = folder / "ada" / "a.txt"
            await write(host, "ada", host.parts.workspace_of("ada") / "a.txt", "mine")
            assert mine.read_text() == "mine"
            assert stat.S_IMODE(mine.parent.stat().st_mode) == 0o700
            for owner in ("bob", "", None):
                for uri in (
                    uri_of(mine),
                    uri_of(folder),
                    uri_of(host.workspace / ".." / "workspaces" / "ada"),
                ):
                    with pytest.raises(ResourceDenied):
                        await host.parts.files.read(owner, {"uri": uri})
                    with pytest.raises(ResourceDenied):
                        await host.parts.files.request(owner, {"uri": uri, "read": True})
            assert host.parts.workspace_of(None) == host.parts.workspace_of("") == host.workspace
            with pytest.raises(ResourceDenied):
                await host.parts.files.list("ada", {"uri": uri_of(folder)})

    run(story)


def test_the_workspaces_may_be_in_the_workspace_and_are_not_seen_there(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, workspaces=tmp_path / "workspace" / "owners") as host:
            own = host.parts.workspace_of("ada")
            await write(host, "ada", own / "a.txt", "mine")
            with pytest.raises(ResourceDenied):
                await host.parts.files.read(None, {"uri": uri_of(own / "a.txt")})
            await write(host, None, host.workspace / "b.txt", "ours")

    run(story)


def test_terminals_of_an_owner_start_in_its_folder_and_in_no_other(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, workspaces=tmp_path / "all") as host:
            watch = await Watch.start(host, "pwd", owner="ada")
            await watch.until_exit()
            assert watch.text == f"{tmp_path / 'all' / 'ada'}\r\n"
            for folder in (host.parts.workspace_of("bob"), host.workspace, tmp_path / "all"):
                with pytest.raises(InvalidValue, match="a folder in the workspace"):
                    await host.parts.terminals.create(
                        "term:/2", claim_of("a"), cwd=uri_of(folder), owner="ada"
                    )

    run(story)


@BOXED
def test_in_a_sandbox_the_folders_of_others_are_not_there(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, workspaces=tmp_path / "all", sandbox="on") as host:
            (host.parts.workspace_of("bob") / "b.txt").write_text("bob's")
            watch = await Watch.start(
                host, "echo mine > a.txt; cat ../bob/b.txt; ls ..; ls ../../workspace", owner="ada"
            )
            await watch.until_exit()
            assert "bob's" not in watch.text
            assert "\r\nada\r\n" in watch.text
            assert (host.parts.workspace_of("ada") / "a.txt").read_text() == "mine\n"
            await host.parts.terminals.dispose(URI)

    run(story)


def test_a_client_is_told_the_folder_of_its_owner_and_completes_from_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with served(tmp_path, keys=OWNERS, workspaces=tmp_path / "all") as place:
            for owner in OWNERS:
                async with place.stranger(owner, place.keys[owner]) as client:
                    own = tmp_path / "all" / owner
                    assert (await client.open())["defaultDirectory"] == own.as_uri()
                    (own / f"of-{owner}").touch()
                    uri = await client.begun(new_uri("demo"))
                    asked = {"kind": "userMessage", "session": uri, "text": "@of", "offset": 3}
                    found = (await client.request("completions", **asked))["items"]
                    assert [one["insertText"] for one in found] == [f"@of-{owner}"]

    run(story)


@given(st.text(min_size=1, max_size=80))
def test_the_folder_of_an_owner_is_one_name_that_is_safe(owner: str) -> None:
    name = folder_name(owner)
    assert "/" not in name
    assert "\0" not in name
    assert name not in (".", "..")
    assert not name.startswith((".", "-")) or "~" in name
    assert len(name.encode()) < 128


@pytest.mark.parametrize(
    "others", [["ada", "Ada", "ADA", "ada ", " ada"], ["a/b", "a-b", "a:b"], ["..", ".", "~"]]
)
def test_no_two_owners_have_one_folder(others: list[str]) -> None:
    assert len({folder_name(owner).casefold() for owner in others}) == len(others)
    assert folder_name(folder_name(others[-1])) != folder_name(others[-1]) or "~" not in folder_name(
        others[-1]
    )
