"""The server as a process: what it says, how it stops, and what it says when it cannot start."""

import http.client
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agenthost.edges.server import CannotServe, listen
from sandboxing import BOXED
from serving import ECHO, TIMEOUT, ask, environment, run_serve, serving, wait_ready

SLOW = f"""{ECHO}
import asyncio

async def stop():
    print("slow", flush=True)
    await asyncio.Event().wait()

echo.stop = stop
"""

STUCK = f"""{ECHO}
import asyncio
import threading

async def stop():
    await asyncio.to_thread(threading.Event().wait)

echo.stop = stop
"""

HEARD = f"""{ECHO}
import sys

async def start():
    print("open", file=sys.stderr, flush=True)

echo.start = start
"""

SIGNALS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_it_says_where_it_listens_what_it_serves_and_how_to_try_it(echo: Path, data: Path) -> None:
    with serving(echo, "--data", data, "--workspace", echo.parent, "--sandbox", "off") as served:
        url = served.wait_url()
        assert ask(url, "/healthz").json == {"status": "ok"}
        wait_ready(url)
        assert served.stop(signal.SIGTERM) == 0
        shown = [line.split() for line in served.out.rest()]
    assert shown == [
        ["page", f"{url}/"],
        ["agents", "echo", "(Echo)"],
        ["data", str(data)],
        ["workspace", str(echo.parent)],
        ["sandbox", *"off: shells can do everything that this user can".split()],
        ["warning", *"no authentication: everybody on this machine can do what you can".split()],
        ["AAP", f"{url}/aap"],
        ["AHP", f"ws://{url.removeprefix('http://')}/ahp"],
        ["try", "agenthost", "chat", url, "--agent", "echo"],
        ["stop", "Ctrl-C"],
    ]


@BOXED
def test_it_says_that_shells_are_in_a_sandbox_and_where_owners_work(echo: Path, data: Path) -> None:
    words = ("--workspaces", echo.parent / "owners", "--sandbox", "on", "--no-sandbox-network")
    with serving(echo, "--data", data, *words) as served:
        wait_ready(served.wait_url())
        assert served.stop(signal.SIGTERM) == 0
        shown = "\n".join(served.out.rest())
    assert f"{echo.parent / 'owners'}, a folder for each owner of keys" in shown
    assert "sandbox    on: shells see the workspace and the system only, without a network" in shown


def test_it_does_not_start_without_a_required_sandbox(echo: Path, data: Path) -> None:
    python = Path(sys.executable).parent
    done = run_serve(echo, "--port", "0", "--data", data, "--sandbox", "on", PATH=str(python))
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "--sandbox on: bubblewrap is not installed; on Debian and Ubuntu: apt-get install bubblewrap"
    )


def test_without_files_it_serves_the_demo_agent(data: Path) -> None:
    with serving("--data", data) as served:
        assert "demo" in served.out.wait_for("agents")


@pytest.mark.parametrize("kind", SIGNALS)
def test_a_signal_ends_it_cleanly_although_connections_are_open(echo: Path, data: Path, kind: int) -> None:
    with serving(echo, "--data", data) as served:
        url = served.wait_url()
        idle = http.client.HTTPConnection(url.removeprefix("http://"))
        idle.request("GET", "/healthz")
        idle.getresponse().read()
        assert served.stop(kind) == 0
        assert not any("Traceback" in line for line in served.err.rest())
        idle.close()
    with serving(echo, "--data", data) as served:
        wait_ready(served.wait_url())


def test_a_second_ctrl_c_ends_it_at_once(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text(SLOW)
    with serving(file, "--data", data) as served:
        served.wait_url()
        served.process.send_signal(signal.SIGINT)
        served.out.wait_for("slow")
        begun = time.monotonic()
        assert served.stop(signal.SIGINT) == 130
        assert time.monotonic() - begun < 3


@pytest.mark.thorough
def test_it_ends_within_bounded_time_even_if_something_cannot_be_stopped(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "stuck.py"
    file.write_text(STUCK)
    with serving(file, "--data", data) as served:
        served.wait_url()
        assert served.stop(signal.SIGTERM) == 1
        assert served.err.rest()[-1].endswith(
            "the host could not be closed in 6 seconds; what was shown is safe"
        )


def test_a_thread_left_by_an_agent_does_not_keep_it_running(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "left.py"
    file.write_text(ECHO + "import threading\nthreading.Thread(target=threading.Event().wait).start()\n")
    with serving(file, "--data", data) as served:
        served.wait_url()
        assert served.stop(signal.SIGTERM) == 0


def test_a_program_that_serves_its_own_host_works_the_same(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from agenthost.host.host import Host\nhost = Host()\n"
        "@host.agent('mine')\nasync def mine(turn):\n    pass\n"
        "host.serve(port=0)\nprint('after')\n"
    )
    with serving(file, command=[sys.executable]) as served:
        wait_ready(served.wait_url())
        assert "mine" in served.out.wait_for("agents")
        assert served.stop(signal.SIGINT) == 0
        assert served.out.rest()[-1] == "after"
    with serving(file, "--data", tmp_path / "data") as served:
        served.out.wait_for("after")
        wait_ready(served.wait_url())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("prot=1", "prot: no such setting; did you mean port?"),
        ("port='x'", "port: expected a whole number from 0 to 65535, found 'x'"),
        ("data='x'", "data: pass this to the host itself: Host(data=…)"),
        (
            "read_outside='deny'",
            "read_outside: pass this to the host itself: Host(file_policy=FilePolicy(…))",
        ),
    ],
)
def test_a_program_is_told_what_is_wrong_with_its_call(call: str, sentence: str) -> None:
    code = f"from agenthost.host.host import Host; Host().serve({call})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment()
    )
    assert (done.returncode, done.stderr) == (2, f"agenthost: {sentence}\n")


def test_an_agent_that_fails_to_stop_is_reported_and_the_rest_is_closed(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(ECHO + "async def stop():\n    raise RuntimeError('still busy')\necho.stop = stop\n")
    with serving(file, "--data", data) as served:
        served.wait_url()
        assert served.stop(signal.SIGTERM) == 1
        assert "RuntimeError: still busy" in served.err.rest()


def test_a_port_in_use_is_named(echo: Path, data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_serve(echo, "--data", data, "--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"agenthost: port {port} on 127.0.0.1 is in use; stop what listens there, or choose another port "
        "(0 takes any that is free)\n"
    )


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("0.0.0.0", "others could reach it there, and there are no API keys yet"),  # noqa: S104
        ("::", "others could reach it there"),
        ("192.0.2.1", "others could reach it there"),
        ("no.such.name.invalid", "there is no such address; try 127.0.0.1"),
    ],
)
def test_an_address_that_others_can_reach_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(CannotServe) as caught:
        listen(address, 0)
    assert str(caught.value).startswith(f"cannot listen on {address!r}: {sentence}")


def test_names_and_both_kinds_of_addresses_can_be_listened_on(echo: Path, data: Path) -> None:
    for address, start in (("localhost", "http://127.0.0.1:"), ("127.0.0.2", "http://127.0.0.2:")):
        with serving(echo, "--data", data, "--host", address) as served:
            url = served.wait_url()
            assert url.startswith(start)
            assert ask(url, "/healthz").status == 200
            assert served.stop(signal.SIGTERM) == 0


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_address_with_colons_is_shown_in_brackets(echo: Path, data: Path) -> None:
    try:
        listen("::1", 0).close()
    except CannotServe:
        pytest.skip("no IPv6 here")
    with serving(echo, "--data", data, "--host", "::1") as served:
        url = served.wait_url()
        assert url.startswith("http://[::1]:")
        assert ask(url, "/healthz").status == 200


def test_a_data_folder_in_use_is_named_with_the_process_that_uses_it(echo: Path, data: Path) -> None:
    with serving(echo, "--data", data) as served:
        served.wait_url()
        done = run_serve(echo, "--data", data, "--port", "0")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"agenthost: {data} is in use by process {served.process.pid} (")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_data_folder_that_others_can_access_is_reported_in_one_line(
    echo: Path, tmp_path: Path, mode: int
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with serving(echo, "--data", folder) as served:
        served.wait_url()
        served.stop(signal.SIGTERM)
        said = [line for line in served.err.rest() if "can access the data folder" in line]
    assert len(said) == (1 if mode == 0o755 else 0)
    assert all(line.endswith(f"(mode 0755): chmod 700 {folder}") for line in said)


def test_a_damaged_store_is_reported_in_one_sentence(echo: Path, data: Path) -> None:
    data.mkdir()
    (data / "agenthost.db").write_bytes(b"not a database " * 100)
    done = run_serve(echo, "--data", data, "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"agenthost: {data / 'agenthost.db'} is not a database of agenthost")
    assert done.stderr.count("\n") == 1


def test_an_agent_that_cannot_start_is_reported_with_its_traceback_in_the_log(
    tmp_path: Path, data: Path
) -> None:
    file = tmp_path / "broken.py"
    file.write_text(ECHO + "async def start():\n    raise RuntimeError('no key')\necho.start = start\n")
    done = run_serve(file, "--data", data, "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "RuntimeError: no key" in done.stderr
    assert done.stderr.splitlines()[-1] == "agenthost: the host could not be opened; the log says why"


@pytest.mark.parametrize("closing", ["pipe", "closed"])
def test_it_keeps_running_if_nobody_reads_its_output(tmp_path: Path, data: Path, closing: str) -> None:
    file = tmp_path / "heard.py"
    file.write_text(HEARD)
    command = [sys.executable, "-m", "agenthost", "serve", "--port", "0", "--data", str(data), str(file)]
    if closing == "closed":
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.readline() == "open\n"
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(TIMEOUT) == 0
        assert [line for line in rest.splitlines() if "stopping" not in line] == []
