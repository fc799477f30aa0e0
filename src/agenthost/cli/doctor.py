"""`agenthost doctor`: checks a server's data for damage, and repairs it.

The exit code is 0 if nothing is damaged, 1 if something is (or was, before the repair), and 2 if the check
was not possible.
"""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from agenthost.cli.exit_codes import fail
from agenthost.commands import command
from agenthost.errors import StorageError
from agenthost.host.storage.data_folder import DataFolder
from agenthost.host.storage.integrity import Report, examine
from agenthost.host.storage.repair import repair
from agenthost.host.storage.sqlite import FILE
from agenthost.settings import SettingsError, data_option, read_settings

__all__ = ["run"]

PROGRESS_SECONDS = 5.0
"""How often a long check says how far it is."""


def run(options: Mapping[str, Any], *, is_deep: bool, is_repair: bool) -> None:
    """Check the store of a data folder that no server uses; repair it if wanted and needed."""
    try:
        settings = read_settings(options)
    except SettingsError as error:
        fail(str(error), code=2)
    if settings.store is not None and options.get("data") is None:
        fail(
            "doctor checks the SQLite store of a data folder; PostgreSQL has its own programs for that, such "
            "as pg_amcheck, and the server reports every damaged row that it reads",
            code=2,
        )
    path = settings.data / FILE
    if not path.exists():
        fail(f"there is no store in {path.parent}; use --data to name its folder", code=2)
    folder = DataFolder(path.parent)
    try:
        folder.acquire()
        report = examine(path, is_deep=is_deep or is_repair, progress=_progress())
        _print_report(report, is_deep=is_deep or is_repair)
        if is_repair and not report.is_sound:
            _repair(report)
    except StorageError as error:
        fail(str(error), code=2)
    finally:
        folder.release()
    if not report.is_sound:
        raise SystemExit(1)


def _progress() -> Callable[[int], None]:
    last = time.monotonic()

    def progress(count: int) -> None:
        nonlocal last
        if time.monotonic() - last >= PROGRESS_SECONDS:
            last = time.monotonic()
            print(f"checked {count:,} sessions so far", file=sys.stderr)

    return progress


def _print_report(report: Report, *, is_deep: bool) -> None:
    for line in report.structure:
        print(f"structure of the file: {line}")
    for line in report.others:
        print(f"damaged: {line}")
    for name, fault in report.damaged.values():
        print(f"damaged: session {name}: {fault}")
    for number, content_id in report.contents:
        print(f"damaged: content {content_id} of session number {number}")
    scope = (
        "checked every row" if is_deep else "checked the structure and the sessions; --deep checks all rows"
    )
    if report.is_sound:
        print(f"{report.path}: {report.session_count:,} sessions, no damage ({scope})")
        return
    count = len(report.damaged)
    print(f"{report.path}: {count:,} of {report.session_count:,} sessions are damaged ({scope})")
    repair_command = command("doctor", "--repair", *data_option(report.path.parent))
    print(
        f"Restore a backup of {report.path.parent}, and check the disk and the memory of this machine.\n"
        f"Without a backup: {repair_command}\n"
        "builds a new store from what can be read, without the damaged sessions, and keeps the damaged file."
    )


def _repair(report: Report) -> None:
    done = repair(report)
    print(f"\nrepaired: {done.sessions:,} sessions were saved; the damaged file is kept as {done.kept}")
    with suppress(StorageError):
        again = examine(report.path, is_deep=True)
        print(
            "the new store has no damage"
            if again.is_sound
            else "the new store is damaged too: check the disk"
        )
