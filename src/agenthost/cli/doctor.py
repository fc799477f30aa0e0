"""`agenthost doctor`: whether a server's data is whole, and what can be done where it is not.

Ends with 0 if nothing is damaged, with 1 if something is (or was, before its repair), with 2 if that could
not be found out.
"""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from agenthost.cli.ending import called_as, fail
from agenthost.errors import StorageError
from agenthost.host.storage.checking import Report, examine
from agenthost.host.storage.folder import DataFolder
from agenthost.host.storage.repairing import repair
from agenthost.host.storage.sqlite import FILE
from agenthost.settings import SettingsError, read_settings

__all__ = ["run"]

PROGRESS_SECONDS = 5.0
"""How often a check that takes long says how far it is."""


def run(options: Mapping[str, Any], *, is_deep: bool, is_repair: bool) -> None:
    """Check the store of a data folder that no server uses; repair it, if that is wanted and needed."""
    try:
        path = read_settings(options).data / FILE
    except SettingsError as error:
        fail(str(error), code=2)
    if not path.exists():
        fail(f"there is no store in {path.parent}; name its folder with --data", code=2)
    folder = DataFolder(path.parent)
    try:
        folder.hold()
        report = examine(path, is_deep=is_deep or is_repair, progress=_progress())
        _tell(report, is_deep=is_deep or is_repair)
        if is_repair and not report.is_sound:
            _repair(report)
    except StorageError as error:
        fail(str(error), code=2)
    finally:
        folder.let_go()
    if not report.is_sound:
        raise SystemExit(1)


def _progress() -> Callable[[int], None]:
    told = time.monotonic()

    def progress(count: int) -> None:
        nonlocal told
        if time.monotonic() - told >= PROGRESS_SECONDS:
            told = time.monotonic()
            print(f"{count:,} sessions so far", file=sys.stderr)

    return progress


def _tell(report: Report, *, is_deep: bool) -> None:
    for line in report.structure:
        print(f"structure of the file: {line}")
    for line in report.others:
        print(f"damaged: {line}")
    for name, fault in report.damaged.values():
        print(f"damaged: session {name}: {fault}")
    for number, content_id in report.contents:
        print(f"damaged: content {content_id} of session number {number}")
    looked = (
        "every row" if is_deep else "the structure, and the rows of the sessions; --deep looks at all rows"
    )
    if report.is_sound:
        print(f"{report.path}: {report.session_count:,} sessions, nothing is damaged ({looked})")
        return
    count = len(report.damaged)
    print(f"{report.path}: {count:,} of {report.session_count:,} sessions are damaged ({looked})")
    print(
        f"Restore a backup of {report.path.parent}, and check the disk and the memory of this machine.\n"
        f"Without a backup: {called_as()} doctor --repair makes a new store of all that can be read,\n"
        "without the damaged sessions, and keeps the damaged file beside it."
    )


def _repair(report: Report) -> None:
    done = repair(report)
    print(f"\nrepaired: {done.sessions:,} sessions came along; the damaged file is kept as {done.kept}")
    with suppress(StorageError):
        again = examine(report.path, is_deep=True)
        print("the new store is whole" if again.is_sound else "the new store is damaged, too: check the disk")
