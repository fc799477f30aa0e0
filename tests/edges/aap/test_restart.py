"""A host that is killed in the middle of a stream, and one that asks for keys: in processes of their own."""

import signal
import threading
from pathlib import Path

from aap_talking import Reply, Speaker, assistant, permission, result, user
from agenthost.host.access.keys import KeyFile
from rules import rule
from serving import TIMEOUT, serving, wait_ready


@rule("Z4", "O8")
def test_after_a_restart_the_turn_ends_and_everything_is_there(tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    with serving(*data) as served:
        app = Speaker(served.wait_url(), 3)
        tool = app.tool("weather")
        agent = {"options": {"greeting": "Ahoy!", "token": "t"}, "tools": [{"name": "add"}]}
        session = app.begin("/wait 0.1", agent, tools=[tool]).session
        waiting = app.begin('/call weather {"city": "Rome"} && add {"a": 1, "b": 2}', agent, tools=[tool])
        shown = app.show(session)
        listening = app.start(session, "/wait 3", stream="delta")
        said = listening.read_until(b'"."').count(b'"."')
        assert served.stop(signal.SIGKILL) == -signal.SIGKILL
        listening.leave()
    with serving(*data) as served:
        again = Speaker(served.wait_url(), 3)
        wait_ready(again.url)
        assert again.show(session) == shown
        while again.turn(session, "Are you there?").status == 409:
            pass
        history = again.history(session)
        dots = "Ahoy! " + "." * 60
        assert history[2:4] == [user("/wait 3"), assistant(dots)]
        assert said <= 60
        calls = waiting.calls
        rest = again.turn(waiting.session, result(calls["weather"], "18°C"), permission(calls["add"]))
        assert rest.text == "Ahoy! weather -> 18°C\nadd -> 3"


@rule("Z8")
def test_a_server_that_is_told_to_stop_ends_its_streams_and_the_turns_go_on_later(tmp_path: Path) -> None:
    with serving("--data", tmp_path) as served:
        app = Speaker(served.wait_url(), 3)
        streamed, silent = app.make().session, app.make().session
        listening = app.start(streamed, "/wait 4", stream="delta")
        listening.read_until(b'"."')
        replies: list[Reply] = []
        asking = threading.Thread(target=lambda: replies.append(app.turn(silent, "/wait 4")))
        asking.start()
        while not app.history(silent):
            pass
        assert served.stop(signal.SIGTERM) == 0
        assert listening.rest().stop == "error"
        asking.join(TIMEOUT)
        assert (replies[0].status, replies[0].json["error"]["code"]) == (503, "stopping")
        assert not [line for line in served.err.rest() if "Traceback" in line]
    with serving("--data", tmp_path) as served:
        app = Speaker(served.wait_url(), 3)
        for session in (streamed, silent):
            while app.turn(session, "Are you there?").status == 409:
                pass
            assert app.history(session)[:2] == [user("/wait 4"), assistant("." * 80)]


@rule("A1")
def test_with_keys_every_endpoint_asks_for_one(tmp_path: Path) -> None:
    _, key = KeyFile(tmp_path).create("me")
    with serving("--data", tmp_path) as served:
        url = served.wait_url()
        for number in (1, 2, 3):
            app = Speaker(url, number)
            for method, path in (("GET", "/meta"), ("GET", "/sessions"), ("DELETE", app.one("x")[7:])):
                refused = app.ask(method, app.base + path)
                assert (refused.status, refused.error["code"]) == (401, "unauthorized")
                allowed = app.ask(method, app.base + path, Authorization=f"Bearer {key}")
                assert allowed.status == (404 if method == "DELETE" else 200)
