"""The data folder: real files, real second processes."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agenthost.errors import StorageError
from agenthost.host.storage.data_folder import LOCK, DataFolder

HOLD = """
import sys
from pathlib import Path
from agenthost.host.storage.data_folder import DataFolder
DataFolder(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_can_access_the_folder_and_its_files(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "deep" / "data")
    folder.acquire()
    made = folder.make_file("file")
    assert (mode(folder.path), mode(folder.path / LOCK), mode(made)) == (0o700, 0o600, 0o600)
    folder.release()


def test_an_existing_file_keeps_its_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    assert DataFolder(tmp_path).make_file("file").read_bytes() == b"kept"


def test_the_lock_file_says_who_holds_it_since_when(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.acquire()
    found = json.loads((tmp_path / LOCK).read_text())
    assert (found["pid"], set(found)) == (os.getpid(), {"pid", "since", "command"})
    folder.release()


def test_a_second_process_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path) as process:
        since = json.loads((tmp_path / LOCK).read_text())["since"]
        with pytest.raises(StorageError, match=rf"in use by process {process.pid} \(.*\) since ") as refusal:
            DataFolder(tmp_path).acquire()
        assert since in str(refusal.value)


def test_the_same_process_is_refused_a_second_time(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.acquire()
    with pytest.raises(StorageError, match="this same process since"):
        DataFolder(tmp_path).acquire()
    folder.release()


def test_a_released_folder_can_be_acquired_again(tmp_path: Path) -> None:
    for _ in range(2):
        folder = DataFolder(tmp_path)
        folder.acquire()
        folder.release()
        folder.release()  # twice is fine


def test_the_kernel_releases_the_lock_of_a_killed_process(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        folder = DataFolder(tmp_path)
        folder.acquire()
        assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
        folder.release()


def test_a_holder_that_has_not_signed_yet_is_another_process(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.acquire()
    for unsigned in ("", "[]", '{"pid": "x"}'):
        (tmp_path / LOCK).write_text(unsigned)
        with pytest.raises(StorageError, match="in use by another process; stop"):
            DataFolder(tmp_path).acquire()
    folder.release()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    with pytest.raises(StorageError, match="is not a folder"):
        DataFolder(tmp_path / "data").acquire()
    with pytest.raises(StorageError, match="cannot be used"):
        DataFolder(tmp_path / "data" / "deeper").acquire()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="check who may write there"):
        DataFolder(tmp_path).acquire()
    tmp_path.chmod(0o700)
