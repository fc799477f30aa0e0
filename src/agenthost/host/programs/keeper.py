"""The keeper of one program: a small process that starts it, on a pty or on pipes, and ends all of it.

It runs as `python -I -S keeper.py DESCRIPTORS COMMAND…`, apart from the host and with the standard library
only. DESCRIPTORS is that of a pty, or `IN,OUT,ERR` for three pipes. Why a process: a host has threads, so it
must not fork; and it may be killed with SIGKILL. The keeper holds one end of a pipe whose other end only the
host has. When that closes, for whatever reason, the keeper sends SIGHUP to everything that was started here,
and SIGKILL to what is left. On its standard output it prints `begun`, and then `ended CODE`.

It is two processes. The program is a child of the inner one, and might kill its parent. The outer one, the
guard, then inherits what is left, and ends that.
"""

import ctypes
import fcntl
import os
import select
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

GRACE_SECONDS = 0.5
"""How long a program may take to exit after SIGHUP."""

KILL_SECONDS = 2.0
"""How long to keep killing: a process may have started another in between."""

SANDBOX = "bwrap"
"""Bubblewrap ends with everything inside of it. So it gets no SIGHUP, but is killed once the programs inside
had their time to exit. The program inside takes the terminal, not bubblewrap."""

NOBODY = -1
"""No session."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    """Start the program, wait until it or the host ends, and leave nothing behind."""
    place, command = [int(number) for number in sys.argv[1].split(",")], sys.argv[2:]
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans become our children, even in their own sessions
    keeper = os.fork()
    if keeper:
        guard(keeper, place)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # the guard's end must end us too
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken = wake_by_children()
    is_boxed = Path(command[0]).name == SANDBOX
    program = os.fork()
    if program == 0:
        become(place, command, has_terminal=len(place) == 1 and not is_boxed)
    for descriptor in place:
        os.close(descriptor)  # otherwise the host would never read the end of the output
    say("begun")
    code = wait(program, woken)
    if code is not None:
        say(f"ended {code}")
    end_all(program, spared=program if is_boxed else 0)


def guard(keeper: int, place: list[int]) -> None:
    """Wait for the end of the inner keeper. If it was killed, end what it has left."""
    for descriptor in place:
        os.close(descriptor)
    pid, status = 0, 0
    while pid != keeper:
        pid, status = os.waitpid(-1, 0)
    if os.WIFSIGNALED(status):
        end_all(NOBODY, spared=0)
    os._exit(0)


def prctl(option: int, value: int) -> None:
    """Call `prctl` on Linux. Elsewhere there is none, and less can be guaranteed."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def say(line: str) -> None:
    """Report to the host, if it still exists."""
    with suppress(OSError):
        os.write(1, f"{line}\n".encode())


def wake_by_children() -> int:
    """Return a descriptor that becomes readable when a child has ended."""
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def become(place: list[int], command: list[str], *, has_terminal: bool) -> None:
    """Become the program: in a new session, on the pty, with default signal handlers."""
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()
        if has_terminal:
            fcntl.ioctl(place[0], termios.TIOCSCTTY, 0)
        for standard, descriptor in enumerate(place * 3 if len(place) == 1 else place):
            os.dup2(descriptor, standard)
        for descriptor in {*place} - {0, 1, 2}:
            os.close(descriptor)
        os.execvp(command[0], command)  # noqa: S606 - a terminal runs what it is told
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\r\n".encode())
    finally:
        os._exit(127)


def wait(program: int, woken: int) -> int | None:
    """Wait for the program to end. Return its exit code as a shell would; `None` if the host ended first."""
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            code = reap(program)
            if code is not None:
                return code
        if 0 in ready and not os.read(0, 4096):
            return None


def reap(program: int = 0) -> int | None:
    """Reap children that have ended. Return the exit code of the program if it is one of them."""
    found = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                code = os.waitstatus_to_exitcode(status)
                found = code if code >= 0 else 128 - code
    return found


def end_all(program: int, *, spared: int) -> None:
    """Send SIGHUP to everything that was started here, then SIGKILL: some ignore SIGHUP, shells SIGTERM.

    `spared` gets no SIGHUP. It is killed with the rest.
    """
    signal_all(program, signal.SIGHUP, signal.SIGCONT, spared=spared)
    deadline = time.monotonic() + GRACE_SECONDS
    while family(program) and time.monotonic() < deadline:
        pause()
    deadline = time.monotonic() + KILL_SECONDS
    while signal_all(program, signal.SIGKILL) and time.monotonic() < deadline:
        pause()


def pause() -> None:
    """Sleep for a moment, and reap."""
    time.sleep(0.01)
    reap()


def signal_all(program: int, *numbers: signal.Signals, spared: int = 0) -> bool:
    """Send these signals to everything that is left. Return whether there was anything."""
    pids = family(program)
    for pid in sorted(pids - {spared}):  # a shell before its children, or it would report their end
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
    return bool(pids)


def family(program: int) -> set[int]:
    """Return all live processes that descend from us, or are in the session of the program."""
    reap()
    parents = dict(listed())
    found = {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return {pid for pid in parents if pid in found or session_of(pid) == program} - {os.getpid()}


def session_of(pid: int) -> int:
    """Return the session of a process; 0 if it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def listed() -> list[tuple[int, int]]:
    """List the live processes of this machine with their parents."""
    if sys.platform != "linux":
        shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=False)  # noqa: S607
        rows = [line.split() for line in shown.stdout.splitlines()]
        return [(int(pid), int(parent)) for pid, parent in rows]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name is in parentheses and may contain anything: read on after the last one.
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found.append((int(folder.name), int(parent)))
    return found


if __name__ == "__main__":
    main()
