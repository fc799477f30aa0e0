"""Sandboxes: what a program can see of this machine, as a command line for bubblewrap. Starts nothing itself.

There are two kinds. A shell sees the system, read-only, and its workspace. It has its own home and `/tmp`,
and sees neither the data folder nor other owners' workspaces. The program of an agent needs its settings and
credentials from the home folder: it sees what the host's user sees, except for what is hidden. Both have
their own process namespace, so they cannot see processes of the host or their environments.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["BWRAP", "Sandbox", "find_fault"]

BWRAP = "bwrap"

PROBE_SECONDS = 10.0
"""How long the test whether sandboxes work may take."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu")
"""Paths that every program needs, if they exist; read-only."""

RESOLVER = Path("/etc/resolv.conf")

KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
"""Paths that root could write even without capabilities, so they are made read-only."""

SETSID = "setsid"

TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - private to the sandbox

APART = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
ALONE = (*APART, "--die-with-parent", "--cap-drop", "ALL")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How programs are isolated from the rest of this machine.

    Attributes:
        program: the path of bubblewrap.
        network: whether programs inside may use the network.
        read: additional paths that shells may read.
        write: additional paths that shells may read and write.
        hidden: paths that nobody can see, even inside of visible ones.
    """

    program: str
    network: bool = True
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()

    def shell_command(
        self,
        words: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        write: Sequence[Path],
        read: Sequence[Path] = (),
        has_terminal: bool = True,
    ) -> list[str]:
        """Return the command that runs these words in this folder, with these paths besides the system.

        Paths that do not exist are left out. Hidden paths stay hidden inside of `read` and `self.write`, but
        `write` may be inside of a hidden one: that is where workspaces of owners are.
        """
        home = _empty_home(env)
        shown = [*_programs(env), *self.read]
        line = [*ALONE, *self._network_args(), *_system_args(), *_proc_args(), "--dev", "/dev"]
        for place in (*TEMPORARY, *([home] if home else [])):
            line += ["--tmpfs", place]
        line += _bind_args("--ro-bind", shown)
        line += _bind_args("--bind", self.write)
        line += _hide_args(self.hidden, [*shown, *self.write])
        line += _bind_args("--bind", write)
        line += _hide_args(self.hidden, write)
        line += [*_bind_args("--ro-bind", read), *_hide_args(self.hidden, read), "--remount-ro", "/"]
        # The program inside owns the terminal: otherwise Ctrl-C would end the sandbox, not the program.
        terminal = [SETSID, "-c"] if has_terminal else []
        return [self.program, *line, "--chdir", str(folder), "--", *terminal, *words]

    def program_command(self, words: Sequence[str], *, folder: Path, write: Sequence[Path] = ()) -> list[str]:
        """Return the command that runs the program of an agent, which sees everything that is not hidden.

        `write` is visible even inside of a hidden path.
        """
        line = [*ALONE, *self._network_args(), "--dev-bind", "/", "/", *_proc_args()]
        line += _hide_args(self.hidden, [Path("/")])
        line += _bind_args("--bind", [path for path in write if _is_in_any(path, self.hidden)])
        return [self.program, *line, "--chdir", str(folder), "--", *words]

    def _network_args(self) -> list[str]:
        return [] if self.network else ["--unshare-net"]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for a shell inside: temporary files go to its own `/tmp`."""
        kept = {name: value for name, value in env.items() if name != "TMPDIR"}
        return kept if _empty_home(env) else {**kept, "HOME": TEMPORARY[0]}


def _proc_args() -> list[str]:
    """Return the options for `/proc`."""
    kernel = KERNEL if os.getuid() == 0 else ()
    return ["--proc", "/proc", *(word for place in kernel for word in ("--ro-bind-try", place, place))]


def _empty_home(env: Mapping[str, str]) -> str | None:
    """Return where to mount an empty home; `None` if it would cover the system."""
    home = os.path.normpath(env.get("HOME") or "/")
    top = "/" + home.split("/")[1]
    return home if home.startswith("/") and top not in ("/", *SYSTEM) and home not in TEMPORARY else None


def _system_args() -> list[str]:
    """Return the options that show the system. Links stay links, so that `/bin` is the same as outside."""
    line: list[str] = []
    for place in SYSTEM:
        if Path(place).is_symlink():
            line += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).is_dir():
            line += ["--ro-bind", place, place]
    resolver = RESOLVER.resolve()
    if not _is_in_any(resolver, map(Path, SYSTEM)) and resolver.is_file():
        line += ["--ro-bind", str(resolver), str(resolver)]
    return line


def _programs(env: Mapping[str, str]) -> list[Path]:
    """Return the folders of `PATH` that are outside of the system, and of the Python that runs us.

    Folders that contain a whole home folder, or everything, are left out.
    """
    home = Path(_empty_home(env) or "/")
    named = [Path(one) for one in env.get("PATH", "").split(os.pathsep) if one.startswith("/")]
    found = [Path(os.path.normpath(one)) for one in (*named, Path(sys.prefix), Path(sys.base_prefix))]
    outside = [
        one for one in found if not _is_in_any(one, map(Path, SYSTEM)) and not home.is_relative_to(one)
    ]
    return list(dict.fromkeys(outside))


def _bind_args(option: str, paths: Iterable[Path]) -> list[str]:
    """Return the options that show these paths, parents first. Those that do not exist are left out."""
    there = sorted({path for path in paths if path.exists()}, key=lambda path: len(path.parts))
    return [word for path in there for word in (option, str(path), str(path))]


def _hide_args(hidden: Iterable[Path], shown: Sequence[Path]) -> list[str]:
    """Return the options that hide folders inside of visible paths."""
    found = [path for path in hidden if path.is_dir() and _is_in_any(path, shown)]
    return [word for path in found for word in ("--tmpfs", str(path))]


def _is_in_any(path: Path, others: Iterable[Path]) -> bool:
    return any(path.is_relative_to(other) for other in others)


@cache
def find_fault(program: str = BWRAP) -> str | None:
    """Return why sandboxes do not work here; `None` if they do. Runs one to find out, once."""
    path = shutil.which(program)
    if path is None:
        return "bubblewrap is not installed"
    if shutil.which(SETSID) is None:
        return "setsid (of util-linux) is not installed"
    words, top, sandbox = ["/bin/sh", "-c", ":"], Path("/"), Sandbox(path)
    fault = _run(sandbox.shell_command(words, folder=top, env={}, write=(), has_terminal=False))
    return fault or _run(sandbox.program_command(words, folder=top))


def _run(words: Sequence[str]) -> str | None:
    """Run a command. Return why it fails; `None` if it does not."""
    try:
        done = subprocess.run(  # noqa: S603 - a command of our own
            words, capture_output=True, timeout=PROBE_SECONDS, check=False, env={}, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be run here: {error}"
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return f"bubblewrap does not work here: {said[-1] if said else f'it ended with {done.returncode}'}"
    return None
