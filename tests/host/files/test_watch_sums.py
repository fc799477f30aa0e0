"""Watches of a tree to which things happen by chance."""

import asyncio
import random
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from host.files.conftest import Switch
from host.files.filing import opened
from host.files.watching import watching
from hosting import run


def disturb(top: Path, chance: random.Random) -> None:
    """Do something to a file or folder by chance."""
    places = [top, *(path for path in top.rglob("*") if path.is_dir() and not path.is_symlink())]
    place = chance.choice(places) / chance.choice("abcd")
    there = place.exists() or place.is_symlink()
    match chance.randrange(6):
        case 0 if not there:
            place.mkdir()
        case 1 if not there:
            place.symlink_to(top)
        case 2 if there:
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
        case 3 if there:
            other = chance.choice(places) / chance.choice("abcd")
            if not other.is_relative_to(place) and not place.is_relative_to(other):
                shutil.rmtree(other, ignore_errors=True)
                if not other.exists() or not place.is_dir():
                    place.rename(other)
        case _ if not place.is_dir() and not place.is_symlink():
            place.write_text(str(chance.random()))


def paths_in(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*")}


def folded(known: set[str], heard: Iterable[tuple[str, str]]) -> set[str]:
    """Add up what was told: a folder is deleted with what is in it."""
    for path, kind in heard:
        assert (path in known) == (kind != "added"), (path, kind)
        if kind == "deleted":
            known = {one for one in known if one != path and not one.startswith(f"{path}/")}
        else:
            known = {*known, path}
    return known


@pytest.mark.parametrize("seed", range(4))
def test_what_was_told_adds_up_to_what_is_there(tmp_path: Path, switch: Switch, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311

    async def story() -> None:
        with opened(tmp_path) as (files, workspace, _):
            switch(files)
            for _ in range(50):
                disturb(workspace, chance)
            known = paths_in(workspace)
            async with watching(files, workspace, recursive=True) as ear:
                for _ in range(25):
                    for _ in range(chance.randrange(12)):
                        disturb(workspace, chance)
                    await asyncio.sleep(chance.choice([0, 0.02, 0.1, 0.3]))
                for _ in range(100):
                    is_told = folded(known, ear.heard) == paths_in(workspace)
                    await asyncio.sleep(0 if is_told else 0.1)
                assert folded(known, ear.heard) == paths_in(workspace)

    run(story)
