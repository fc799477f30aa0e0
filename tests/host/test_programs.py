"""The programs of agents in their sandbox: all is there that they need, and not what is the host's own."""

import os
from dataclasses import replace
from pathlib import Path

from agenthost.host.programs.command import parse_command
from agenthost.host.programs.process import Program
from agenthost.host.sandbox.policy import SandboxPolicy, confine
from hosting import run
from sandboxing import BOXED

LOOK = "echo $$; ls -A data; cat home; cat /proc/[0-9]*/cmdline | grep -ac '[b]in/pytest'; read x; echo $x"


async def lines_of(program: Program, count: int) -> list[str]:
    return [(await program.read_line() or b"").decode() for _ in range(count)]


@BOXED
def test_a_program_sees_what_its_user_sees_but_neither_the_data_nor_the_processes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "secret.key").write_text("x")
    (tmp_path / "home").write_text("settings\n")
    held = confine(SandboxPolicy("on"), data=tmp_path / "data", workspaces=None)

    async def story() -> None:
        command = replace(parse_command(["sh", "-c", LOOK], {}), sandbox=held.programs)
        env = command.environment()
        program = await Program.start("look", command.found(env, tmp_path), cwd=tmp_path, env=env)
        try:
            pid, *seen = await lines_of(program, 3)
            assert int(pid) != os.getpid()
            assert seen == ["settings", "0"]
            await program.write_line(b"hello")
            assert await lines_of(program, 1) == ["hello"]
            await program.wait()
            assert program.code == 0
        finally:
            await program.end()

    run(story)


@BOXED
def test_the_end_of_a_program_takes_all_that_it_started(tmp_path: Path) -> None:
    held = confine(SandboxPolicy("on"), data=tmp_path / "data", workspaces=None)

    async def story() -> None:
        line = "(setsid sh -c 'while :; do echo > alive; sleep 0.05; done' &); echo up; cat"
        command = replace(parse_command(["sh", "-c", line], {}), sandbox=held.programs)
        env = command.environment()
        program = await Program.start("many", command.found(env, tmp_path), cwd=tmp_path, env=env)
        assert await lines_of(program, 1) == ["up"]
        await program.end()
        (tmp_path / "alive").unlink(missing_ok=True)

    run(story)
    left = [one for one in Path("/proc").glob("[0-9]*/cmdline") if b"echo > alive" in read(one)]
    assert left == []


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
