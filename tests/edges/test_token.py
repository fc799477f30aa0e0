"""The token of a server without keys: who has it comes in, and nobody else; our own clients find it."""

import asyncio
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agenthost.client import AapClient, AhpClient
from agenthost.locations import find_token, server_note
from serving import ECHO, TIMEOUT, Served, ask, run_agenthost, run_serve, serving

HERE = "http://127.0.0.1"


@contextmanager
def asking(folder: Path, *words: str) -> Iterator[Served]:
    """Run a server as people do, with a home of its own."""
    home = str(folder)
    with serving("--data", folder / "data", *words, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=home) as served:
        yield served


def token_of(folder: Path, *words: str) -> str:
    code, out, err = run_agenthost("token", "--data", str(folder / "data"), *words)
    assert code == 0, err
    return out.removesuffix("\n")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_only_clients_with_the_token_get_access(tmp_path: Path) -> None:
    with asking(tmp_path) as served:
        url = served.wait_url()
        page = served.out.wait_for("page").split()[-1]
        token = token_of(tmp_path)
        assert page == f"{url}/#tkn={token}"
        assert ask(url, "/aap/meta").status == 401
        assert ask(url, "/aap/meta", **bearer(token[:-1] + "x")).status == 401
        assert ask(url, "/aap/meta", **bearer(token)).status == 200
        assert ask(url, "/metrics", **bearer(token)).status == 200
        assert [ask(url, path).status for path in ("/healthz", "/readyz", "/")] == [200, 200, 200]
        assert served.stop(signal.SIGTERM) == 0
        said = served.out.rest() + served.err.rest()
        assert token not in "\n".join(said)
    file = tmp_path / "data" / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "origin", [None, "http://localhost:3000", "http://127.0.0.1:1", "vscode-file://vscode-app"]
)
def test_no_origin_gets_access_without_the_token(tmp_path: Path, origin: str | None) -> None:
    with asking(tmp_path) as served:
        url = served.wait_url()
        headers = {"Origin": origin} if origin else {}
        with pytest.raises(InvalidStatus, match="401"):
            connect(f"ws{url.removeprefix('http')}/ahp", additional_headers=headers, proxy=None)
        body = {"agent": {"name": "demo"}}
        assert ask(url, "/aap/sessions", "POST", body=body, **headers).status == 401
        more = {**headers, **bearer(token_of(tmp_path))}
        assert ask(url, "/aap/sessions", "POST", body=body, **more).status == 201


def test_the_token_survives_restarts_until_it_is_renewed(tmp_path: Path) -> None:
    with asking(tmp_path) as served:
        served.wait_url()
        token = token_of(tmp_path)
    with asking(tmp_path) as served:
        url = served.wait_url()
        assert token_of(tmp_path) == token
        new = token_of(tmp_path, "--new")
        assert new != token
        while ask(url, "/aap/meta", **bearer(new)).status != 200:
            pass
        assert ask(url, "/aap/meta", **bearer(token)).status == 401


def test_the_first_key_disables_the_token_unless_it_is_enabled(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    with asking(tmp_path) as served:
        url = served.wait_url()
        token = token_of(tmp_path)
        with connect(f"ws{url.removeprefix('http')}/ahp?tkn={token}", proxy=None) as socket:
            assert run_agenthost("keys", "create", *data)[0] == 0
            with pytest.raises(Exception, match="1008"):
                socket.recv(TIMEOUT)
        assert ask(url, "/aap/meta", **bearer(token)).status == 401
        code, out, err = run_agenthost("token", *data)
        assert (code, out) == (1, "")
        assert "token --enable" in err
        assert token_of(tmp_path, "--enable") == token
        while ask(url, "/aap/meta", **bearer(token)).status != 200:
            pass
        assert run_agenthost("token", "--disable", *data)[:2] == (0, "")
        while ask(url, "/aap/meta", **bearer(token)).status != 401:
            pass


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_our_commands_and_clients_find_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    async def both(url: str) -> list[str]:
        async with AapClient(url) as aap, AhpClient(url, client_id="me") as ahp:
            meta = await aap.meta()
            return [*[agent["name"] for agent in meta["agents"]], ahp.client_id]

    with asking(tmp_path) as served:
        url = served.wait_url().replace("127.0.0.1", host)
        assert asyncio.run(both(url)) == ["demo", "me"]
        code, out, err = run_agenthost("ask", "Hello", "--url", url, XDG_DATA_HOME=str(tmp_path))
        assert (code, out.strip()) == (0, "You said: Hello"), err
        other = run_agenthost("ask", "Hello", "--url", url, XDG_DATA_HOME=str(tmp_path / "other"))
        assert (other[0], "AGENTHOST_KEY" in other[2]) == (1, True)
        served.stop(signal.SIGKILL)

    port = int(url.rpartition(":")[2])
    assert (tmp_path / "agenthost" / "servers").is_dir()
    assert find_token("127.0.0.1", port) is None, "a note that a crash left is not believed"


def test_a_note_counts_only_for_its_own_address_and_while_its_server_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    token = tmp_path / "token"
    token.write_text("ah_1\nenabled\n")
    with server_note("127.0.0.1", 1, token):
        (note,) = (tmp_path / "agenthost" / "servers").iterdir()
        assert stat.S_IMODE(note.stat().st_mode) == 0o600
        assert find_token("127.0.0.1", 1) == "ah_1"
        assert find_token("127.0.0.1", 2) is None
        assert find_token("::1", 1) is None
        note.write_text("{")
        assert find_token("127.0.0.1", 1) is None
    assert not note.exists()


def test_no_auth_lets_everybody_in_and_says_so_in_one_line(tmp_path: Path) -> None:
    with asking(tmp_path, "--no-auth") as served:
        url = served.wait_url()
        assert ask(url, "/aap/meta").status == 200
        assert served.out.wait_for("page").split()[-1] == f"{url}/"
        warning = served.out.wait_for("warning")
        assert warning.endswith("no authentication: everybody on this machine can do what you can")
    assert not (tmp_path / "data" / "token").exists()
    done = run_serve("--no-auth", "--host", "0.0.0.0", "--port", "0", "--data", tmp_path / "data")  # noqa: S104 - it is refused
    assert (done.returncode, "others could reach it there" in done.stderr) == (1, True)


def test_no_auth_does_not_open_a_server_that_has_keys(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert run_agenthost("keys", "create", "--data", str(tmp_path / "data"))[0] == 0
    with asking(tmp_path, "--no-auth") as served:
        assert ask(served.wait_url(), "/aap/meta").status == 401


def test_a_host_that_is_served_from_python_asks_for_a_token_too(tmp_path: Path) -> None:
    code = (
        "from agenthost import Host\nfrom echo import echo\nhost = Host()\nhost.add(echo)\nhost.serve(port=0)"
    )
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "served.py").write_text(code)
    over = {"XDG_DATA_HOME": str(tmp_path), "AGENTHOST_NO_AUTH": "false"}
    with serving(command=[sys.executable, str(tmp_path / "served.py")], **over) as served:
        url = served.wait_url()
        assert ask(url, "/aap/meta").status == 401
        token = served.out.wait_for("#tkn=").partition("#tkn=")[2]
        assert ask(url, "/aap/meta", **bearer(token)).status == 200


def test_a_token_file_with_something_else_is_refused_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("what\n")
    done = run_serve(
        "--port", "0", "--data", tmp_path, AGENTHOST_NO_AUTH="false", XDG_DATA_HOME=str(tmp_path)
    )
    assert done.returncode == 1
    assert "contains no token; remove it" in done.stderr
    assert (tmp_path / "token").read_text() == "what\n"


def test_there_is_no_token_before_a_server_made_one(tmp_path: Path) -> None:
    code, out, err = run_agenthost("token", "--data", str(tmp_path))
    assert (code, out) == (1, "")
    assert "serve" in err
