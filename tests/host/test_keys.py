"""API keys in their file: what is kept, what is refused, and how a running server notices changes."""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthost.errors import StorageError
from agenthost.host.access.keys import KeyFile, KeyNotFound, Keys

TIMEOUT = 20


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    return KeyFile(tmp_path / "data")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"


def watching(file: KeyFile) -> Keys:
    return Keys(file.path.parent)


def test_a_key_is_found_by_all_of_it_and_by_nothing_less(file: KeyFile) -> None:
    ann, text = file.create("ann", "laptop")
    _, other = file.create("bob")
    keys = watching(file)
    assert keys.find(text) == ann
    mixed = f"ah_{ann.id}_{other.rpartition('_')[2]}"
    for wrong in (
        mixed,
        text[:-1],
        text + "0",
        text.upper(),
        ann.id,
        ann.sha256,
        "",
        "ah__",
        "\udc80",
        text + "\n",
    ):
        assert keys.find(wrong) is None


def test_the_secret_is_not_kept_and_the_file_is_its_owners_alone(file: KeyFile) -> None:
    before = os.umask(0)
    try:
        _, text = file.create()
    finally:
        os.umask(before)
    kept = file.path.read_text()
    assert text.rpartition("_")[2] not in kept
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_every_key_has_256_bits_of_its_own(file: KeyFile) -> None:
    made = [file.create()[1].split("_") for _ in range(20)]
    assert {len(parts[2]) for parts in made} == {64}
    assert len({parts[2] for parts in made}) == len({parts[1] for parts in made}) == 20


def test_an_expired_key_opens_nothing(file: KeyFile) -> None:
    late, old = file.create(seconds=-1)
    _, good = file.create(seconds=1000)
    keys = watching(file)
    assert keys.find(old) is None
    assert keys.get(late.id) is None
    assert keys.find(good) is not None


class Clock:
    """A clock that a test sets: what the machine's own says, and so many seconds more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)


def test_a_clock_that_is_set_back_does_not_bring_an_expired_key_back(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    key, text = file.create(seconds=1)
    keys = watching(file)
    assert keys.find(text) is not None
    clock.ahead = -3600
    wait_for(lambda: keys.find(text) is None)
    assert keys.get(key.id) is None


def test_a_clock_that_was_ahead_for_a_while_locks_nobody_out_for_good(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    key, text = file.create(seconds=3600)
    keys = watching(file)
    clock.ahead = 7200
    assert keys.find(text) is None
    clock.ahead = 0
    assert keys.find(text) == key


def test_with_a_clock_behind_the_making_of_a_key_only_keys_that_never_expire_are_good(
    file: KeyFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    _, short = file.create(seconds=3600)
    lasting, long = file.create()
    clock.ahead = -200
    assert watching(file).find(short) is not None
    clock.ahead = -86400
    keys = watching(file)
    assert keys.find(short) is None
    assert keys.find(long) == lasting


def test_a_key_is_revoked_by_its_id_or_by_all_of_it(file: KeyFile) -> None:
    first, _ = file.create()
    second, text = file.create()
    assert file.revoke(first.id) == first
    assert file.read() == [second]
    assert file.revoke(text) == second
    assert file.read() == []
    with pytest.raises(KeyNotFound, match="there is no key with that id"):
        file.revoke(first.id)


def test_keys_that_are_created_at_the_same_time_are_all_kept(file: KeyFile) -> None:
    code = (
        "import sys; from pathlib import Path; from agenthost.host.access.keys import KeyFile\n"
        "for _ in range(10): print(KeyFile(Path(sys.argv[1])).create()[0].id)"
    )
    command = [sys.executable, "-c", code, str(file.path.parent)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    ids = [line for process in processes for line in process.communicate(timeout=TIMEOUT)[0].split()]
    assert len(ids) == 40
    assert {key.id for key in file.read() or []} == set(ids)


def test_a_process_that_is_killed_while_it_writes_leaves_a_file_that_is_whole(file: KeyFile) -> None:
    code = (
        "import sys; from pathlib import Path; from agenthost.host.access.keys import KeyFile\n"
        "while True: print(KeyFile(Path(sys.argv[1])).create()[0].id, flush=True)"
    )
    told: set[str] = set()
    for _ in range(5):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(file.path.parent)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            told.update(process.stdout.readline().strip() for _ in range(3))
            process.kill()
        assert told <= {key.id for key in file.read() or []}
    file.create()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b'{"version": 1, "keys": [',
        b"\xff\xfe",
        b"[]",
        b'{"version": 3, "keys": []}',
        b'{"version": 1, "keys": [{"id": "x"}]}',
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence_and_never_written_over(
    file: KeyFile, damage: bytes
) -> None:
    file.create()
    file.path.write_bytes(damage)
    for use in (file.read, file.create, lambda: file.revoke("x"), lambda: watching(file)):
        with pytest.raises(StorageError) as caught:
            use()
        assert str(caught.value).startswith(f"{file.path} is damaged, or was written by a newer agenthost (")
    assert file.path.read_bytes() == damage


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(StorageError, match=r"keys\.json cannot be changed: "):
        KeyFile(tmp_path / "data").create()


def test_without_a_folder_or_a_file_no_key_is_needed(file: KeyFile) -> None:
    for keys in (Keys(None), watching(file)):
        assert not keys.is_needed
        assert keys.find("ah_x_y") is None


def test_a_running_server_notices_the_first_key_and_that_it_is_revoked(file: KeyFile) -> None:
    keys = watching(file)
    key, text = file.create()
    wait_for(lambda: keys.is_needed)
    assert keys.find(text) == key
    assert keys.get(key.id) is not None
    file.revoke(key.id)
    wait_for(lambda: keys.find(text) is None)
    assert keys.get(key.id) is None


@pytest.mark.parametrize("how", ["revoked", "removed"])
def test_losing_the_last_key_opens_the_door_to_nobody(file: KeyFile, how: str) -> None:
    key, text = file.create()
    keys = watching(file)
    if how == "revoked":
        file.revoke(key.id)
    else:
        file.path.unlink()
    wait_for(lambda: keys.find(text) is None)
    assert keys.is_needed
    assert watching(file).is_needed is (how == "revoked")


def test_a_file_that_gets_damaged_leaves_a_running_server_with_the_keys_it_knew(
    file: KeyFile, caplog: pytest.LogCaptureFixture
) -> None:
    key, text = file.create()
    keys = watching(file)
    whole = file.path.read_bytes()
    file.path.write_bytes(b"{")
    wait_for(lambda: keys.find(text) is not None and "is damaged" in caplog.text)
    file.path.write_text(json.dumps({"version": 1, "keys": []}))
    wait_for(lambda: keys.find(text) is None)
    file.path.write_bytes(whole)
    wait_for(lambda: keys.find(text) == key)


def test_a_damaged_file_where_there_was_none_lets_nobody_in(file: KeyFile) -> None:
    keys = watching(file)
    file.path.parent.mkdir()
    file.path.write_bytes(b"{")
    wait_for(lambda: keys.is_needed)
