"""The keeper of one program: a small process that starts it, on a pty or on pipes, and ends all of it.

It runs as `python -I -S keeper.py PLACE COMMAND…`, apart from the host and with the standard library only.
PLACE is the descriptor of a pty, or `IN,OUT,ERR` for those of three pipes. Why: a host has threads, and may
not fork; and it may be killed with SIGKILL. The keeper holds one end of a pipe whose other end only the host
has: when that closes, for whatever reason, everything that was started here is hung up, and killed if it
stays. On its standard output it says `begun`, and `ended CODE`.

It is two processes: the program knows one of them as its parent, and might kill it. The other, above, then
gets all that is left, and ends that.
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
"""How long a program may take to leave after it was hung up."""

KILL_SECONDS = 2.0
"""How long we go on killing what still appears: a process may have started another meanwhile."""

SANDBOX = "bwrap"
"""What ends with all that is inside of it: so it is not hung up, but killed when those inside had their time.
Its terminal is taken by what runs inside."""

NOBODY = -1
"""No session."""

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    """Start the program, wait for its end or the host's, and leave nothing behind."""
    place, command = [int(number) for number in sys.argv[1].split(",")], sys.argv[2:]
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # what leaves its session becomes our child, and cannot hide
    keeper = os.fork()
    if keeper:
        guard(keeper, place)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken = wake_by_children()
    is_boxed = Path(command[0]).name == SANDBOX
    program = os.fork()
    if program == 0:
        become(place, command, has_terminal=len(place) == 1 and not is_boxed)
    for descriptor in place:
        os.close(descriptor)  # else the pty, or the pipe, would never end
    say("begun")
    code = wait(program, woken)
    if code is not None:
        say(f"ended {code}")
    end_all(program, spared=program if is_boxed else 0)


def guard(keeper: int, place: list[int]) -> None:
    """Wait for the end of the process that keeps the program; if it was killed, end what it has left."""
    for descriptor in place:
        os.close(descriptor)
    pid, status = 0, 0
    while pid != keeper:
        pid, status = os.waitpid(-1, 0)
    if os.WIFSIGNALED(status):
        end_all(NOBODY, spared=0)
    os._exit(0)


def prctl(option: int, value: int) -> None:
    """Ask Linux for something; elsewhere there is no such thing, and less is promised."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def say(line: str) -> None:
    """Tell the host, if it is there."""
    with suppress(OSError):
        os.write(1, f"{line}\n".encode())


def wake_by_children() -> int:
    """Give a descriptor that can be read when a child has ended."""
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def become(place: list[int], command: list[str], *, has_terminal: bool) -> None:
    """Be the program: in a session of its own, with the pty as its terminal and all signals as usual."""
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
    """Wait for the program's end, and give its exit code as a shell would; `None` if the host left first."""
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
    """Take away children that have ended; give the exit code of the program, if it is among them."""
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
    """Hang up all that was started here, and kill what stays: some ignore SIGHUP, and shells SIGTERM.

    `spared` is killed only, when the others had their time.
    """
    signal_all(program, signal.SIGHUP, signal.SIGCONT, spared=spared)
    deadline = time.monotonic() + GRACE_SECONDS
    while family(program) and time.monotonic() < deadline:
        pause()
    deadline = time.monotonic() + KILL_SECONDS
    while signal_all(program, signal.SIGKILL) and time.monotonic() < deadline:
        pause()


def pause() -> None:
    """Let a moment pass."""
    time.sleep(0.01)
    reap()


def signal_all(program: int, *numbers: signal.Signals, spared: int = 0) -> bool:
    """Send these signals to all that is left; tell whether that was anything."""
    pids = family(program)
    for pid in sorted(pids - {spared}):  # a shell before its children, else it would tell of their end
        for number in numbers:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
    return bool(pids)


def family(program: int) -> set[int]:
    """Give all living processes that descend from us, or are in the session of the program."""
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
    """Give the session of a process; 0 if it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def listed() -> list[tuple[int, int]]:
    """List the processes of this machine that are not dead yet, with their parents."""
    if sys.platform != "linux":
        shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=False)  # noqa: S607
        rows = [line.split() for line in shown.stdout.splitlines()]
        return [(int(pid), int(parent)) for pid, parent in rows]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name, in parentheses, may hold anything: what counts is behind the last one.
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found.append((int(folder.name), int(parent)))
    return found


if __name__ == "__main__":
    main()
