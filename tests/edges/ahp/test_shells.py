"""Shells over AHP, of a server as people run it: with several owners, there is none without a sandbox."""

import sys
from pathlib import Path

import pytest

from agenthost.core.decisions.grants import GRANTS
from agenthost.host.access.keys import KeyFile
from ahp_speaking import Client
from hosting import run
from rules import rule
from sandboxing import BOXED
from serving import serving, wait_ready

CLAIM = {"kind": "client", "clientId": "me"}

NO_BWRAP = str(Path(sys.executable).parent)
"""A `PATH` without bubblewrap."""


@rule("HR-R01")
@pytest.mark.parametrize(
    ("owners", "words", "is_refused"), [(1, (), False), (2, (), True), (2, ("off",), False)]
)
def test_with_several_owners_a_shell_needs_a_sandbox_or_an_explicit_setting(
    tmp_path: Path, owners: int, words: tuple[str, ...], *, is_refused: bool
) -> None:
    keys = [KeyFile(tmp_path / "data").create(f"owner{place}", grants=GRANTS)[1] for place in range(owners)]
    sandbox = [word for mode in words for word in ("--sandbox", mode)]
    with serving("--data", tmp_path / "data", "--workspace", tmp_path, *sandbox, PATH=NO_BWRAP) as served:
        url = served.wait_url()
        wait_ready(url)

        async def story() -> None:
            async with Client.connected(url, "me", keys[0]) as client:
                await client.open()
                if not is_refused:
                    await client.request("createTerminal", terminal="t:/1", claim=CLAIM)
                    return
                error = await client.refusal("createTerminal", terminal="t:/1", claim=CLAIM)
                assert error.code == -32009
                assert "bubblewrap is not installed" in error.message
                assert "--sandbox off" in error.message

        run(story)


@rule("HR-R01")
@BOXED
def test_with_several_owners_shells_in_sandboxes_are_given(tmp_path: Path) -> None:
    keys = [KeyFile(tmp_path / "data").create(owner, grants=GRANTS)[1] for owner in ("ada", "bob")]
    words = ("--data", tmp_path / "data", "--workspaces", tmp_path / "all", "--sandbox", "on")
    with serving(*words) as served:
        url = served.wait_url()
        wait_ready(url)

        async def story() -> None:
            async with Client.connected(url, "me", keys[1]) as client:
                await client.open()
                await client.request("createTerminal", terminal="t:/1", claim=CLAIM)
                state = await client.subscribe("t:/1")
                assert state["cwd"] == (tmp_path / "all" / "bob").as_uri()

        run(story)
