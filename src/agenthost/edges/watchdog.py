"""The watchdog: a small process that ends a host which was told to stop and does not.

It runs as `python -I -S watchdog.py PID SECONDS`, with the standard library only. Why a process: whatever
holds the interpreter's lock, such as one long match of an expression, holds up all handlers and threads of
Python. A handler in C still writes into a pipe (`stopping` sees to that), whose other end is our standard
input. When something comes, the host has so many seconds left; when the pipe ends, it has ended.
"""

import os
import select
import signal
import sys
import time

READ_BYTES = 64 * 1024


def main(host: int, seconds: float) -> None:
    """Wait until the host is told to stop, and then until it has, or has to."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if not os.read(0, READ_BYTES):
        return
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([0], [], [], left)[0] and not os.read(0, READ_BYTES):
            return
    if os.getppid() == host:  # else it is gone, and the number may be somebody else's
        sys.stderr.write(f"agenthost: nothing could be stopped within {seconds:g} seconds; killed\n")
        os.kill(host, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
