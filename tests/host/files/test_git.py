"""What git runs and reads by itself is not written by clients: a hook is a program."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import ResourceDenied
from agenthost.host.files.files import Files
from agenthost.host.files.uris import uri_of
from host.files.filing import opened
from hosting import run

Attempt = Callable[[Files, Path], Awaitable[None]]


def moved(source: str, destination: str, kind: str = "move") -> Attempt:
    async def attempt(files: Files, top: Path) -> None:
        uris: Any = {"source": uri_of(top / source), "destination": uri_of(top / destination)}
        await getattr(files, kind)(None, uris)

    return attempt


def written(path: str, **over: Any) -> Attempt:
    async def attempt(files: Files, top: Path) -> None:
        params: Any = {"uri": uri_of(top / path), "data": "#!/bin/sh", "encoding": "utf-8", **over}
        await files.write(None, params)

    return attempt


def made(path: str) -> Attempt:
    async def attempt(files: Files, top: Path) -> None:
        await files.mkdir(None, {"uri": uri_of(top / path)})

    return attempt


async def deleted(files: Files, top: Path) -> None:
    await files.delete(None, {"uri": uri_of(top / ".git/config")})


@pytest.mark.parametrize(
    "attempt",
    [
        written(".git/hooks/pre-commit"),
        written(".git/config"),
        written("sub/.GIT"),
        written("sub/.git"),
        written(".git/hooks/pre-commit", mode="append"),
        written(".git/config", mode="append"),
        written(".git/config", mode="insert", position=3),
        written(".git/config", position=3),
        made("sub/.git"),
        made("sub/.git/hooks"),
        made(".git/hooks/new"),
        made(".git/hooks"),
        moved("plain/hook", ".git/hooks/pre-commit"),
        moved("plain/hook", ".git/hooks/pre-commit", "copy"),
        moved("plain", "sub/.git"),
        moved("plain", "sub/.git", "copy"),
        moved(".git", "elsewhere"),
        moved(".git/config", "plain/config"),
        deleted,
    ],
)
def test_files_of_git_are_not_written_moved_or_deleted(tmp_path: Path, attempt: Attempt) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            for folder in (".git/hooks", "plain", "sub"):
                (workspace / folder).mkdir(parents=True)
            (workspace / "plain" / "hook").write_text("#!/bin/sh")
            (workspace / ".git" / "config").write_text("[core]")
            with pytest.raises(ResourceDenied, match="belongs to git"):
                await attempt(files, workspace)
            assert (workspace / ".git" / "config").read_text() == "[core]"
            assert not any((workspace / ".git" / "hooks").iterdir())

    run(story)


def test_files_of_git_can_be_read_and_a_whole_repository_moved(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "repo" / ".git").mkdir(parents=True)
            (workspace / "repo" / ".git" / "config").write_text("[core]")
            await written("repo/.gitignore")(files, workspace)
            assert (await files.read(None, {"uri": uri_of(workspace / "repo/.git/config")}))[
                "data"
            ] == "[core]"
            await moved("repo", "other")(files, workspace)
            assert (workspace / "other" / ".git" / "config").exists()

    run(story)
