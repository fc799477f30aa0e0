"""The client without `await`: the same methods, and no deadlocks."""

import inspect
import signal
import subprocess
import sys
import threading

import pytest

from agenthost.client import AapClient, NotFound, Session, SyncAapClient, SyncSession, SyncTurn, Turn
from serving import TIMEOUT, environment


def names_of(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("wrapper", "kind"), [(SyncAapClient, AapClient), (SyncSession, Session), (SyncTurn, Turn)]
)
def test_sync_wrappers_have_the_methods_of_what_they_wrap(wrapper: type, kind: type) -> None:
    assert names_of(wrapper) - {"close"} == names_of(kind) - {"aclose"}


def test_parameters_and_docstrings_are_those_of_the_async_client() -> None:
    with SyncAapClient("http://localhost") as client:
        assert inspect.signature(client.create) == inspect.signature(AapClient.create)
        assert client.create.__doc__ == AapClient.create.__doc__
        assert client.url == "http://localhost"


def test_a_whole_conversation_needs_no_event_loop(base: str) -> None:
    def count(fruit: str) -> int:
        """Count a fruit."""
        return len(fruit)

    with SyncAapClient(base) as client:
        assert client.version() == int(base[-1])
        session = client.create("demo", tools=[count])
        assert session.ask('/call count {"fruit": "figs"}').text == "count -> 4"
        kinds = [event["event"] for event in session.send("/stream 2")]
        assert kinds == ["turn_start", "text_delta", "text_delta", "turn_stop"]
        assert session.info()["sessionId"] in {info["sessionId"] for info in client.sessions()}
        again = client.session(session.id)
        assert again.history()[-1]["content"] == "hello world hello world "
        assert (again.is_created, again.open_calls()) == (True, [])
        session.delete()
        with pytest.raises(NotFound):
            session.info()


def test_a_turn_can_be_closed_early_or_answered(server: str) -> None:
    with SyncAapClient(f"{server}/aap") as client:
        turn = client.create("demo").send("/stream 2")
        assert next(turn)["event"] == "turn_start"
        assert turn.answer().text == "hello world hello world "
        session = client.create("demo")
        with session.send("/wait 30") as turn:
            assert next(turn)["event"] == "turn_start"
        session.delete()


def test_a_tool_may_use_the_client_that_runs_it_unless_it_is_async(server: str) -> None:
    client = SyncAapClient(f"{server}/aap")

    def from_a_thread() -> int:
        """Ask the client."""
        return client.version()

    async def from_the_loop() -> int:
        """Ask the client, which would wait for itself."""
        return client.version()

    with client:
        session = client.create("demo", tools=[from_a_thread, from_the_loop])
        lines = session.ask("/call from_a_thread && from_the_loop").text.splitlines()
        assert lines[0] == "from_a_thread -> 3"
        assert lines[1].startswith("from_the_loop -> from_the_loop failed: RuntimeError")


def test_a_closed_client_has_no_thread_and_says_so() -> None:
    before = threading.active_count()
    client = SyncAapClient("http://localhost:1")
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.version()
    client.close()
    assert threading.active_count() == before


def test_threads_end_with_the_client(server: str) -> None:
    before = threading.active_count()
    with SyncAapClient(f"{server}/aap") as client:
        client.version()
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    client.close()


WAITS = """
import sys
from agenthost.client import SyncAapClient
with SyncAapClient(sys.argv[1]) as client:
    for event in client.create("demo").send("/wait 60"):
        print(event["event"], flush=True)
"""


def test_ctrl_c_ends_the_wait(server: str) -> None:
    command = [sys.executable, "-c", WAITS, f"{server}/aap"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "turn_start\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert err.splitlines()[-1] == "KeyboardInterrupt"
