"""Grants: who may touch what beside the workspace, who decides, and how it ends."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import InvalidValue, ResourceDenied
from agenthost.host.files.files import Files
from agenthost.host.files.grants import AccessRequest, Decide, FilePolicy, Grants
from agenthost.host.files.jail import READ, Access
from agenthost.host.files.uris import uri_of
from host.files.filing import OUTSIDE, opened
from hosting import run


def answering(*, yes: bool, asked: list[AccessRequest]) -> Decide:
    async def decide(request: AccessRequest) -> bool:
        asked.append(request)
        return yes

    return decide


async def write(files: Files, owner: str | None, path: Path) -> None:
    await files.write(owner, {"uri": uri_of(path), "data": "new", "encoding": "utf-8"})


async def is_denied(deed: Any) -> bool:
    try:
        await deed
    except ResourceDenied:
        return True
    return False


def test_reading_and_writing_are_granted_separately_to_one_owner(tmp_path: Path) -> None:
    async def story() -> None:
        policy = FilePolicy(reading="allow", writing="allow")
        with opened(tmp_path, policy) as (files, _, outside):
            uri = uri_of(outside)
            await files.request("ann", {"uri": uri})  # neither flag: to read
            assert (await files.read("ann", {"uri": f"{uri}/file"}))["data"] == OUTSIDE
            assert await is_denied(write(files, "ann", outside / "new"))
            assert await is_denied(files.read("bob", {"uri": f"{uri}/file"}))
            await files.request("bob", {"uri": uri, "write": True})
            await write(files, "bob", outside / "new")
            assert await is_denied(files.read("bob", {"uri": f"{uri}/file"}))
            # What is moved could be read where it arrives.
            moved = uri_of(tmp_path / "workspace/moved")
            assert await is_denied(files.move("bob", {"source": f"{uri}/file", "destination": moved}))
            await files.copy("ann", {"source": uri, "destination": moved})  # a granted folder as a whole
            assert (tmp_path / "workspace/moved/file").read_text() == OUTSIDE
            await files.request("ann", {"uri": uri, "write": True})
            await write(files, "ann", outside / "file")
            assert [one.access for one in files.grants.granted("ann")] == [Access(read=True, write=True)]

    run(story)


def test_a_grant_for_one_file_does_not_include_its_neighbours(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow", writing="allow")) as (files, _, outside):
            (outside / "file2").touch()
            await files.request(None, {"uri": uri_of(outside / "file"), "read": True, "write": True})
            await files.request(None, {"uri": uri_of(outside / "new"), "write": True})
            await write(files, None, outside / "file")
            await write(files, None, outside / "new")
            for path in (outside, outside / "file2", outside / "new"):
                assert await is_denied(files.read(None, {"uri": uri_of(path)}))
            assert await is_denied(files.delete(None, {"uri": uri_of(outside / "file")}))

    run(story)


def test_a_grant_is_valid_until_it_is_revoked(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, workspace, outside):
            (workspace / "link").symlink_to("../outside/file")
            uris = [uri_of(outside / "file"), uri_of(workspace / "link")]
            for revoked in (uri_of(outside), None):
                await files.request(None, {"uri": uri_of(outside)})
                for uri in uris:
                    assert (await files.read(None, {"uri": uri}))["data"] == OUTSIDE
                files.grants.revoke(None, revoked)
                for uri in uris:
                    assert await is_denied(files.read(None, {"uri": uri}))
            assert files.grants.granted(None) == []

    run(story)


def test_whoever_is_asked_decides_and_sees_the_real_path(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, _, outside):
            (tmp_path / "nice").symlink_to("outside")
            asked: list[AccessRequest] = []
            uri = uri_of(tmp_path / "nice")
            assert await is_denied(files.request("ann", {"uri": uri}))  # nobody is there to be asked
            files.grants.decide = answering(yes=False, asked=asked)
            assert await is_denied(files.request("ann", {"uri": uri}))
            files.grants.decide = answering(yes=True, asked=asked)
            await files.request("ann", {"uri": uri})
            assert asked == [AccessRequest(uri_of(outside.resolve()), READ, "ann")] * 2
            for name in ("nice", "outside"):
                assert (await files.read("ann", {"uri": uri_of(tmp_path / name / "file")}))["data"] == OUTSIDE
            await files.request("ann", {"uri": uri})  # it is there already
            assert len(asked) == 2
            # The link is exchanged: the grant stays where it was.
            (tmp_path / "nice").unlink()
            (tmp_path / "nice").symlink_to("/etc")
            assert (await files.read("ann", {"uri": f"{uri}/file"}))["data"] == OUTSIDE

    run(story)


def test_a_decision_that_fails_is_a_no(tmp_path: Path) -> None:
    async def story() -> None:
        async def decide(_request: AccessRequest) -> bool:
            raise RuntimeError("the window was closed")

        with opened(tmp_path) as (files, _, outside):
            files.grants.decide = decide
            assert await is_denied(files.request(None, {"uri": uri_of(outside)}))

    run(story)


def test_a_policy_of_deny_asks_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        asked: list[AccessRequest] = []
        with opened(tmp_path, FilePolicy(reading="ask", writing="deny")) as (files, _, outside):
            files.grants.decide = answering(yes=True, asked=asked)
            assert await is_denied(files.request(None, {"uri": uri_of(outside), "read": True, "write": True}))
            assert asked == []
            await files.request(None, {"uri": uri_of(outside), "read": True})

    run(story)


def test_everything_or_a_home_is_never_simply_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home/ann"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))

    async def story() -> None:
        with opened(tmp_path, FilePolicy(reading="allow")) as (files, _, _outside):
            for path in (Path("/"), home, home.parent, tmp_path):
                assert await is_denied(files.request(None, {"uri": uri_of(path)}))
            await files.request(None, {"uri": uri_of(home / "notes")})
            asked: list[AccessRequest] = []
            files.grants.decide = answering(yes=True, asked=asked)
            await files.request("ann", {"uri": uri_of(home)})
            assert len(asked) == 1
        configured = Grants(tmp_path / "workspace", FilePolicy(reading="allow", whole=(home,)))
        await configured.request(None, {"uri": uri_of(home)})
        assert await is_denied(configured.request(None, {"uri": uri_of(home.parent)}))

    run(story)


def test_grants_and_questions_are_bounded(tmp_path: Path) -> None:
    async def story() -> None:
        policy = FilePolicy(writing="allow", grants_per_owner=2, questions_per_owner=1)
        with opened(tmp_path, policy) as (files, _, outside):
            for name in ("a", "b"):
                await files.request("ann", {"uri": uri_of(outside / name), "write": True})
            assert await is_denied(files.request("ann", {"uri": uri_of(outside / "c"), "write": True}))
            await files.request("bob", {"uri": uri_of(outside / "c"), "write": True})
            waiting, may_answer = asyncio.Event(), asyncio.Event()

            async def decide(_request: AccessRequest) -> bool:
                waiting.set()
                return await may_answer.wait()

            files.grants.decide = decide
            first = asyncio.create_task(files.request("bob", {"uri": uri_of(outside / "d")}))
            await waiting.wait()
            assert await is_denied(files.request("bob", {"uri": uri_of(outside / "e")}))
            may_answer.set()
            await first
            assert [one.uri for one in files.grants.granted("bob")][-1] == uri_of((outside / "d").resolve())

    run(story)


def test_a_request_for_something_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, _, _outside), pytest.raises(InvalidValue):
            await files.request(None, {"uri": "file://elsewhere/a"})

    run(story)
