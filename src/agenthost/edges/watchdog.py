"""The watchdog: a small process that kills a host which was told to stop and does not.

It runs as `python -I -S watchdog.py PID SECONDS`, with the standard library only. Why a process: whatever
holds the GIL, such as one long match of a regular expression, blocks all signal handlers and threads of
Python. A handler in C (see `shutdown`) still writes to a pipe, which is our standard input. When data
arrives, the host has so many seconds left. When the pipe closes, the host has ended.
"""

import os
import select
import signal
import sys
import time

READ_BYTES = 64 * 1024


def main(host: int, seconds: float) -> None:
    """Wait until the host is told to stop. Then wait until it ends, or kill it."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if not os.read(0, READ_BYTES):
        return
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([0], [], [], left)[0] and not os.read(0, READ_BYTES):
            return
    if os.getppid() == host:  # otherwise it has ended, and another process may have its number
        sys.stderr.write(f"agenthost: could not be stopped within {seconds:g} seconds; killed\n")
        os.kill(host, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
