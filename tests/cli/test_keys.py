"""`agenthost keys`, alone and while a server runs on the same folder."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from serving import ECHO, TIMEOUT, Answer, ask, environment, run_serve, serving, wait_ready


def run_keys(*words: str | Path, **over: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agenthost", "keys", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env=environment(**over),
    )


def create(data: Path, *words: str) -> str:
    done = run_keys("create", "--data", data, *words)
    assert done.returncode == 0
    return done.stdout.removesuffix("\n")


def ask_until(is_it: Callable[[Answer], bool], url: str, path: str, **headers: str) -> Answer:
    end = time.monotonic() + TIMEOUT
    while not is_it(answer := ask(url, path, **headers)):
        assert time.monotonic() < end, f"still {answer.status}"
    return answer


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_only_the_key_is_on_standard_output_and_it_is_not_shown_again(data: Path) -> None:
    done = run_keys("create", "--owner", "ann", "--name", "a laptop", "--expires", "30d", "--data", data)
    assert done.returncode == 0
    _, key_id, secret = done.stdout.removesuffix("\n").split("_")
    assert done.stderr.startswith(f"Created key {key_id}. Keep it safe: it is not shown again.\n")
    shown = run_keys("list", AGENTHOST_DATA=str(data)).stdout
    head, row = shown.splitlines()
    assert head.split() == ["id", "owner", "name", "created", "expires", "grants"]
    assert row.split()[:4] == [key_id, "ann", "a", "laptop"]
    assert secret not in shown


def test_a_key_has_the_default_grants_unless_others_are_added_or_named(data: Path) -> None:
    usual = run_keys("create", "--data", data).stderr
    assert "Its grants: sessions, files.\n" in usual
    shell = run_keys("create", "--terminals", "--run", "--data", data).stderr
    assert (
        "Its grants: sessions, files, terminals, run. Whoever has it can do anything that the user" in shell
    )
    assert "Its grants: admin.\n" in run_keys("create", "--grant", "admin", "--data", data).stderr
    rows = run_keys("list", "--data", data).stdout.splitlines()[1:]
    assert [row.split()[-1] for row in rows] == ["sessions,files", "sessions,files,terminals,run", "admin"]
    wrong = run_keys("create", "--grant", "shell", "--data", data)
    expected = "sessions, files, terminals, run, admin"
    assert (wrong.returncode, wrong.stderr) == (
        2,
        f"agenthost: --grant: expected one of {expected}, found 'shell'\n",
    )


def test_a_key_from_before_there_were_grants_has_the_default_ones_and_is_marked(data: Path) -> None:
    key = {"id": "0" * 12, "owner": "ann", "name": "", "sha256": "f" * 64, "created": 1}
    (data / "keys.json").write_text(json.dumps({"version": 1, "keys": [key]}))
    done = run_keys("list", "--data", data)
    assert done.stdout.splitlines()[1].endswith("sessions,files (default)")
    assert done.stderr == "(default): created before there were grants, so it has the default ones.\n"
    create(data)
    assert "sessions,files (default)" in run_keys("list", "--data", data).stdout


def test_a_revoked_key_is_no_longer_listed(data: Path) -> None:
    key_id = create(data).split("_")[1]
    done = run_keys("revoke", key_id, "--data", data)
    assert (done.returncode, done.stdout) == (0, f"Revoked key {key_id}.\n")
    done = run_keys("list", "--data", data)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "There are no keys left.\n")


def test_only_the_first_key_comes_with_a_notice_of_what_it_changes(data: Path) -> None:
    first = run_keys("create", "--owner", "ann", "--data", data).stderr
    assert "From now on the server requires one" in first
    assert "AGENTHOST_KEY" in first
    assert first.endswith(f"a key without --owner opens them: agenthost keys create --data {data}\n")
    assert run_keys("create", "--data", data).stderr.count("\n") == 2


def test_revoking_the_last_key_says_that_nobody_can_connect_and_what_to_do(data: Path) -> None:
    first, last = create(data).split("_")[1], create(data, "--owner", "ann b").split("_")[1]
    assert run_keys("revoke", first, "--data", data).stderr == ""
    told = run_keys("revoke", last, "--data", data, _AGENTHOST_CALLED_AS="./run").stderr
    assert "nobody can connect now" in told
    assert f"./run keys create --owner 'ann b' --data {data}\n" in told
    assert told.endswith(f"rm {data / 'keys.json'}\n")


def test_expired_keys_do_not_count_when_the_last_one_is_revoked(data: Path) -> None:
    create(data, "--expires", "1s")
    key_id = create(data).split("_")[1]
    time.sleep(1)  # it has to expire
    assert "nobody can connect now" in run_keys("revoke", key_id, "--data", data).stderr


@pytest.mark.parametrize("words", [["create"], ["list"], ["revoke", "x"]])
def test_a_missing_folder_is_refused_and_not_created(tmp_path: Path, words: list[str]) -> None:
    typo = tmp_path / "dta"
    ways: list[tuple[list[str], dict[str, str]]] = [
        (["--data", str(typo)], {}),
        ([], {"AGENTHOST_DATA": str(typo)}),
    ]
    for given, over in ways:
        done = run_keys(*words, *given, **over)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(
            f"agenthost: there is no folder {typo}; to create it for a new server: "
        )
        assert done.stderr.endswith(f"mkdir -p {typo}\n")
    assert not typo.exists()


def test_the_default_folder_is_created_for_the_first_key(tmp_path: Path) -> None:
    assert run_keys("create", XDG_DATA_HOME=str(tmp_path / "new")).returncode == 0
    assert (tmp_path / "new" / "agenthost" / "keys.json").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ["create", "--expires", "soon"],
            2,
            "--expires: expected a duration such as 12h, 30d or 8w, found 'soon'",
        ),
        (
            ["create", "--expires", "0d"],
            2,
            "--expires: expected a duration such as 12h, 30d or 8w, found '0d'",
        ),
        (["create", "--owner", "a\nb"], 2, "--owner: expected at most 100 characters on one line"),
        (["create", "--name", "x" * 101], 2, "--name: expected at most 100 characters on one line"),
        (
            ["create", "--config", "/no/such"],
            2,
            "--config: cannot read /no/such: No such file or directory",
        ),
        (
            ["revoke", "nothing"],
            1,
            "there is no key with that id; to list the keys: agenthost keys list --data {data}",
        ),
    ],
)
def test_mistakes_are_answered_with_one_sentence(
    data: Path, words: list[str], code: int, sentence: str
) -> None:
    done = run_keys(*words, "--data", data)
    told = f"agenthost: {sentence.format(data=data)}\n"
    assert (done.returncode, done.stdout, done.stderr) == (code, "", told)


def test_a_damaged_file_is_refused_by_every_command_and_by_the_server(echo: Path, data: Path) -> None:
    create(data)
    (data / "keys.json").write_text("{")
    for words in (["create"], ["list"], ["revoke", "x"]):
        done = run_keys(*words, "--data", data)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"agenthost: {data / 'keys.json'} is damaged")
    done = run_serve(echo, "--data", data, "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"agenthost: {data / 'keys.json'} is damaged")
    assert (data / "keys.json").read_text() == "{"


def test_the_first_key_closes_a_running_server_and_revoking_it_does_not_open_it(
    echo: Path, data: Path
) -> None:
    with serving(echo, "--data", data) as served:
        url = served.wait_url()
        assert ask(url, "/aap/meta").status == 200
        key = create(data, "--owner", "ann")
        ask_until(lambda answer: answer.status == 401, url, "/aap/meta")
        assert ask(url, "/aap/meta", Authorization=f"Bearer {key}").status == 200
        assert run_keys("revoke", key.split("_")[1], "--data", data).returncode == 0
        ask_until(lambda answer: answer.status == 401, url, "/aap/meta", Authorization=f"Bearer {key}")
        assert ask(url, "/aap/meta").status == 401
        wait_ready(url)


def test_a_server_listens_beyond_this_machine_only_with_a_key(echo: Path, data: Path) -> None:
    done = run_serve(echo, "--data", data, "--port", "0", "--host", "0.0.0.0")  # noqa: S104
    assert (done.returncode, done.stdout) == (1, "")
    assert f"create one with `agenthost keys create --data {data}`" in done.stderr
    new = data / "new"
    told = run_serve(echo, "--data", new, "--port", "0", "--host", "0.0.0.0").stderr  # noqa: S104
    assert f"create one with `mkdir -p {new} && agenthost keys create --data {new}`" in told
    key = create(data)
    with serving(echo, "--data", data, "--host", "0.0.0.0") as served:  # noqa: S104
        url = served.wait_url().replace("0.0.0.0", "127.0.0.1")  # noqa: S104
        served.out.wait_for("only with an API key")
        assert ask(url, "/aap/sessions").status == 401
        for name in ("127.0.0.1", "agents.example"):
            answer = ask(url, "/aap/sessions", Authorization=f"Bearer {key}", Host=name)
            assert (answer.status, answer.json) == (200, {"sessions": []})


@pytest.mark.parametrize("form", ["human", "json"])
def test_keys_are_never_logged_however_they_are_sent(echo: Path, data: Path, form: str) -> None:
    key, unknown = create(data), f"ah_{'0' * 12}_{'f' * 64}"
    with serving(echo, "--data", data, "--log-level", "debug", "--log-format", form) as served:
        url = served.wait_url()
        assert ask(url, "/aap/meta", Authorization=f"Bearer {key}").status == 200
        for token, status in ((key, 404), (unknown, 401)):
            assert ask(url, f"/nothing?tkn={token}&{token}", Authorization=f"bearer {token}").status == status
            for query in (f"tkn={token}", f"x=1&tkn={token}", f"%74kn={token}", f"other={token}&tkn={token}"):
                with (
                    pytest.raises(InvalidStatus) as caught,
                    connect(f"{url.replace('http', 'ws')}/nothing?{query}"),
                ):
                    pass
                assert caught.value.response.status_code == status
        assert served.stop(signal.SIGTERM) == 0
        lines = [*served.out.rest(), *served.err.rest()]
    assert any("/nothing" in line for line in lines)
    assert not any("Traceback" in line or "handshake" in line for line in lines)
    assert [line for line in lines if key.split("_")[2] in line or "f" * 64 in line] == []
