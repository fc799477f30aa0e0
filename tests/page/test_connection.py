"""The page's connection: two windows in step, a host that dies under an open page, and long answers."""

import signal
import sys
from pathlib import Path
from typing import Any

from browsing import UNREACHABLE, OpenTab, Tab
from serving import serving

STATE = "return watch.state.value"


def new_session(tab: Tab) -> str:
    """Make a session, and watch it as `watch`."""
    uri: str = tab.run("return await client.createSession({ provider: 'demo' })")
    watch(tab, uri)
    return uri


def watch(tab: Tab, uri: str) -> None:
    tab.run("globalThis.watch = client.session(argument)", uri)
    tab.until("watch.state.value?.lifecycle === 'ready'")


def say(tab: Tab, uri: str, text: str, turn: str = "t1") -> None:
    action = {"type": "session/turnStarted", "session": uri, "turnId": turn, "userMessage": {"text": text}}
    tab.run("await client.dispatch(argument)", action)


def without_clocks(state: Any) -> Any:
    """Leave out what each side stamps with its own clock."""
    return {**state, "summary": {**state["summary"], "modifiedAt": 0}}


def test_two_windows_on_one_session_stay_in_step(url: str, open_tab: OpenTab) -> None:
    one, other = open_tab(url), open_tab(url)
    uri = new_session(one)
    other.until("client.sessions.value.some(({ resource }) => resource === argument)", uri)
    watch(other, uri)
    say(one, uri, '/call run {"command": "echo hi"}')
    waiting = (
        "watch.state.value.activeTurn?.responseParts.at(-1)?.toolCall?.status === 'pending-confirmation'"
    )
    for tab in (one, other):
        tab.until(waiting)
    call = other.run("return watch.state.value.activeTurn.responseParts.at(-1).toolCall.toolCallId")
    common = {"session": uri, "turnId": "t1", "toolCallId": call, "type": "session/toolCallConfirmed"}
    other.run("await client.dispatch(argument)", {**common, "approved": True, "confirmed": "user-action"})
    for tab in (one, other):
        tab.until("watch.state.value.turns.length === 1")
    assert without_clocks(one.run(STATE)) == without_clocks(other.run(STATE))
    assert "hi" in str(one.run(STATE)["turns"][0]["responseParts"])


def test_the_second_of_two_answers_to_a_question_is_taken_back(url: str, open_tab: OpenTab) -> None:
    one, other = open_tab(url), open_tab(url)
    uri = new_session(one)
    watch(other, uri)
    say(one, uri, '/call run {"command": "true"}')
    for tab in (one, other):
        tab.until(
            "watch.state.value.activeTurn?.responseParts.at(-1)?.toolCall?.status === 'pending-confirmation'"
        )
    call = one.run("return watch.state.value.activeTurn.responseParts.at(-1).toolCall.toolCallId")
    common = {"session": uri, "turnId": "t1", "toolCallId": call, "type": "session/toolCallConfirmed"}
    one.run("await client.dispatch(argument)", {**common, "approved": True, "confirmed": "user-action"})
    reason = other.run(
        "return await client.dispatch(argument).then(() => 'taken', (error) => error.name)",
        {**common, "approved": False, "reason": "denied"},
    )
    assert reason == "Rejected"
    assert len(other.run("return client.refusals.value")) == 1
    for tab in (one, other):
        tab.until("watch.state.value.turns.length === 1")
    assert without_clocks(one.run(STATE)) == without_clocks(other.run(STATE))


def test_a_host_that_is_killed_and_comes_back_costs_an_open_page_nothing(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    with serving("--data", tmp_path) as first:
        url = first.wait_url()
        tab = open_tab(url)
        tab.forgive(UNREACHABLE)
        uri = new_session(tab)
        say(tab, uri, "/wait 3")
        tab.until("watch.state.value.activeTurn?.responseParts[0]?.content.length > 5")
        first.stop(signal.SIGKILL)
        tab.wait("waiting")
        assert tab.run("return watch.state.value.activeTurn.responseParts[0].content.length") > 5
    same = [sys.executable, "-m", "agenthost", "serve", "--port", url.rpartition(":")[2]]
    with serving("--data", tmp_path, command=same) as second:
        second.wait_url()
        tab.wait("connected")
        assert tab.run("return client.connection.value.how") == "replay"
        tab.until("watch.state.value.turns.length === 1")
        state = tab.run(STATE)
        assert state["turns"][0]["responseParts"][0]["content"] == "." * 60
        fresh = open_tab(url)
        watch(fresh, uri)
        assert without_clocks(fresh.run(STATE)) == without_clocks(state)


def test_five_thousand_pieces_arrive_whole_and_are_shown_in_few_steps(url: str, open_tab: OpenTab) -> None:
    tab = open_tab(url)
    uri = new_session(tab)
    tab.run("globalThis.shown = 0; watch.state.subscribe(() => { shown += 1 })")
    say(tab, uri, "/stream 5000")
    tab.until("watch.state.value.turns.length === 1")
    content = tab.run("return watch.state.value.turns[0].responseParts.map((part) => part.content).join('')")
    assert content == "hello world " * 5000
    assert tab.run("return shown") < 1000
    assert tab.run("return client.tap.totals.in") > 5000
    assert len(tab.run("return client.tap.frames()")) <= 10000
