"""Which paths a watch tells of."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.host.files.uris import uri_of
from host.files.filing import opened
from host.files.watching import watching
from hosting import run

EVERYTHING = "a.py b.txt sub sub/a.py sub/b.txt sub/deep sub/deep/a.py out out/a.py"


@pytest.mark.parametrize(
    ("over", "told"),
    [
        ({}, EVERYTHING),
        ({"includes": ["**/*.py"]}, "a.py sub/a.py sub/deep/a.py out/a.py"),
        ({"includes": ["*.py"]}, "a.py"),
        ({"includes": ["sub"]}, "sub sub/a.py sub/b.txt sub/deep sub/deep/a.py"),
        ({"includes": ["sub/**"]}, "sub sub/a.py sub/b.txt sub/deep sub/deep/a.py"),
        ({"includes": ["./sub/*.{py,txt}"]}, "sub/a.py sub/b.txt"),
        ({"includes": []}, ""),
        ({"excludes": ["**/out/**"]}, "a.py b.txt sub sub/a.py sub/b.txt sub/deep sub/deep/a.py"),
        ({"excludes": ["out", "sub/deep/"]}, "a.py b.txt sub sub/a.py sub/b.txt"),
        ({"excludes": ["**/*.py"]}, "b.txt sub sub/b.txt sub/deep out"),
        ({"excludes": ["**"]}, ""),
        ({"includes": ["**/*.py"], "excludes": ["sub/deep", "out"]}, "a.py sub/a.py"),
        ({"excludes": ["TOP/sub/**", "/out"]}, "a.py b.txt"),
        ({"excludes": ["!a.py", "#b.txt", "A.PY"]}, EVERYTHING),
    ],
)  # fmt: skip
def test_globs_say_what_is_told(tmp_path: Path, over: dict[str, Any], told: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            globs: Any = {key: [one.replace("TOP", str(workspace)) for one in over[key]] for key in over}
            async with watching(files, workspace, recursive=True, **globs) as ear:
                for path in ("a.py", "b.txt", "sub/a.py", "sub/b.txt", "sub/deep/a.py", "out/a.py"):
                    (workspace / path).parent.mkdir(exist_ok=True)
                    (workspace / path).touch()
                if told:
                    await ear.hears(*((path, "added") for path in told.split()))
                await ear.hears_nothing(0.2)

    run(story)


def test_files_in_a_deleted_folder_are_told_if_only_they_are_included(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            (workspace / "sub" / "deep").mkdir(parents=True)
            for path in ("sub/a.py", "sub/a.txt", "sub/deep/b.py"):
                (workspace / path).touch()
            async with watching(files, workspace, recursive=True, includes=["**/*.py"]) as ear:
                shutil.rmtree(workspace / "sub")
                await ear.hears(("sub/a.py", "deleted"), ("sub/deep/b.py", "deleted"))
                workspace.rmdir()
                await ear.hears(("", "deleted"))  # the top is told whatever the globs say

    run(story)


@pytest.mark.parametrize("glob", ["", "/", "[", "a" * 1025, "{a,b}" * 7, "\\"])
@pytest.mark.parametrize("which", ["includes", "excludes"])
def test_globs_that_cannot_be_read_are_refused(tmp_path: Path, which: str, glob: str) -> None:
    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            globs: Any = {which: [glob]}
            with pytest.raises(InvalidValue, match=rf"\$\.{which}"):
                await files.watches.create(None, "client", uri_of(workspace), **globs)
            globs = {which: ["a"] * 201}
            with pytest.raises(InvalidValue, match=rf"\$\.{which}"):
                await files.watches.create(None, "client", uri_of(workspace), **globs)

    run(story)
