"""Sandboxes: what a program sees of this machine, as a command line for bubblewrap. Starts nothing itself.

Two kinds. A shell sees the system, read-only, and its workspace; it has a home and a `/tmp` of its own, and
neither the data folder nor anybody else's workspace is there. The program of an agent needs its settings and
credentials, which are in the home folder: it sees what the host's user sees, but for what is hidden. Both
have a process namespace of their own, so that no process of the host, and no environment of one, is there.
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
"""How long it may take to find out whether sandboxes work here."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu")
"""What every program needs, as far as it is there; read-only."""

RESOLVER = Path("/etc/resolv.conf")

KERNEL = ("/proc/sys", "/proc/sysrq-trigger")
"""What root may write although it has no capabilities; so it is read-only."""

SETSID = "setsid"

TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - private to the sandbox

APART = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
ALONE = (*APART, "--die-with-parent", "--cap-drop", "ALL")


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How programs are kept apart from the rest of this machine.

    Attributes:
        program: the path of bubblewrap.
        network: whether what is inside may use the network.
        read: more that shells may read.
        write: more that shells may read and write.
        hidden: what nobody sees, even inside of something that may be seen.
    """

    program: str
    network: bool = True
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()

    def shell(
        self,
        words: Sequence[str],
        *,
        folder: Path,
        env: Mapping[str, str],
        write: Sequence[Path],
        read: Sequence[Path] = (),
        has_terminal: bool = True,
    ) -> list[str]:
        """Return the command that runs these words in this folder, with these paths beside the system.

        Paths that are not there are left out. What is hidden stays so below `read` and `self.write`, but not
        above `write`: a workspace may be in a folder that is hidden as a whole.
        """
        home = _home_of(env)
        shown = [*_programs(env), *self.read]
        line = [*ALONE, *self._network(), *_system(), *_proc(), "--dev", "/dev"]
        for place in (*TEMPORARY, *([home] if home else [])):
            line += ["--tmpfs", place]
        line += _bound("--ro-bind", shown)
        line += _bound("--bind", self.write)
        line += _covered(self.hidden, [*shown, *self.write])
        line += _bound("--bind", write)
        line += _covered(self.hidden, write)
        line += [*_bound("--ro-bind", read), *_covered(self.hidden, read), "--remount-ro", "/"]
        # The pty belongs to what is inside alone: else Ctrl-C would end the sandbox and not the program.
        terminal = [SETSID, "-c"] if has_terminal else []
        return [self.program, *line, "--chdir", str(folder), "--", *terminal, *words]

    def beside(self, words: Sequence[str], *, folder: Path, write: Sequence[Path] = ()) -> list[str]:
        """Return the command that runs the program of an agent: all is there, but for what is hidden.

        `write` is there although it is in something hidden.
        """
        line = [*ALONE, *self._network(), "--dev-bind", "/", "/", *_proc()]
        line += _covered(self.hidden, [Path("/")])
        line += _bound("--bind", [path for path in write if _is_in_any(path, self.hidden)])
        return [self.program, *line, "--chdir", str(folder), "--", *words]

    def _network(self) -> list[str]:
        return [] if self.network else ["--unshare-net"]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return an environment as a shell inside has it: temporary files go to its own `/tmp`."""
        kept = {name: value for name, value in env.items() if name != "TMPDIR"}
        return kept if _home_of(env) else {**kept, "HOME": TEMPORARY[0]}


def _proc() -> list[str]:
    """Return the options for the processes inside."""
    kernel = KERNEL if os.getuid() == 0 else ()
    return ["--proc", "/proc", *(word for place in kernel for word in ("--ro-bind-try", place, place))]


def _home_of(env: Mapping[str, str]) -> str | None:
    """Return where an empty home goes; nothing where that would cover the system."""
    home = os.path.normpath(env.get("HOME") or "/")
    top = "/" + home.split("/")[1]
    return home if home.startswith("/") and top not in ("/", *SYSTEM) and home not in TEMPORARY else None


def _system() -> list[str]:
    """Return the options that show the system: links as links, so that `/bin` is what it is outside."""
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
    """Return the folders outside of the system that programs are found in, and the Python that runs us.

    Not those that hold a whole home folder, or everything.
    """
    home = Path(_home_of(env) or "/")
    named = [Path(one) for one in env.get("PATH", "").split(os.pathsep) if one.startswith("/")]
    found = [Path(os.path.normpath(one)) for one in (*named, Path(sys.prefix), Path(sys.base_prefix))]
    outside = [
        one for one in found if not _is_in_any(one, map(Path, SYSTEM)) and not home.is_relative_to(one)
    ]
    return list(dict.fromkeys(outside))


def _bound(option: str, paths: Iterable[Path]) -> list[str]:
    """Return the options that show these, those above before those below; what is not there is left out."""
    there = sorted({path for path in paths if path.exists()}, key=lambda path: len(path.parts))
    return [word for path in there for word in (option, str(path), str(path))]


def _covered(hidden: Iterable[Path], shown: Sequence[Path]) -> list[str]:
    """Return the options that cover what is hidden below what is shown."""
    found = [path for path in hidden if path.is_dir() and _is_in_any(path, shown)]
    return [word for path in found for word in ("--tmpfs", str(path))]


def _is_in_any(path: Path, others: Iterable[Path]) -> bool:
    return any(path.is_relative_to(other) for other in others)


@cache
def find_fault(program: str = BWRAP) -> str | None:
    """Return why there can be no sandboxes here; nothing if they work. Runs one to find out, once."""
    path = shutil.which(program)
    if path is None:
        return "bubblewrap is not installed"
    if shutil.which(SETSID) is None:
        return "setsid (of util-linux) is not installed"
    words, top, sandbox = ["/bin/sh", "-c", ":"], Path("/"), Sandbox(path)
    fault = _run(sandbox.shell(words, folder=top, env={}, write=(), has_terminal=False))
    return fault or _run(sandbox.beside(words, folder=top))


def _run(words: Sequence[str]) -> str | None:
    """Return why this does not work."""
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
