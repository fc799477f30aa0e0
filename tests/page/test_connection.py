"""The page's connection: two windows in step, a host that dies under an open page, and long answers."""

import signal
import sys
from pathlib import Path
from typing import Any

from browsing import UNREACHABLE, OpenTab, Tab
from journeys import chat_of, dispatch, turn_started
from serving import serving

STATES = "return [session.state.value, watch.state.value]"
STATE = "return watch.state.value"


def new_session(tab: Tab) -> tuple[str, str]:
    """Make a session, and watch it; returns its URI and that of its chat."""
    uri: str = tab.run("return await client.createSession({ provider: 'demo' })")
    return uri, watch(tab, uri)


def watch(tab: Tab, uri: str) -> str:
    """Watch a session as `session`, and its chat as `watch`; returns the chat."""
    chat = chat_of(tab, uri)
    tab.run(
        "globalThis.session = client.session(argument[0]); globalThis.watch = client.chat(argument[1])",
        [uri, chat],
    )
    tab.until("session.state.value?.lifecycle === 'ready'")
    return chat


def say(tab: Tab, chat: str, text: str) -> None:
    dispatch(tab, chat, "chat/turnStarted", **turn_started(text, "t1"))


def wait_for_call(*tabs: Tab) -> str:
    """Wait until each window sees a call that waits for approval; returns its id."""
    call = "watch.state.value.activeTurn?.responseParts.at(-1)?.toolCall"
    for tab in tabs:
        tab.until(f"{call}?.status === 'pending-confirmation'")
    found: str = tabs[0].run(f"return {call}.toolCallId")
    return found


def states_at_end(tab: Tab) -> Any:
    """Wait for the end of the turn; returns the states of the session and its chat."""
    tab.until("watch.state.value.turns.length === 1 && session.state.value.chats[0].status & 1")
    return tab.run(STATES)


def test_two_windows_on_one_session_stay_in_step(url: str, open_tab: OpenTab) -> None:
    one, other = open_tab(url), open_tab(url)
    uri, chat = new_session(one)
    other.until("client.sessions.value.some(({ resource }) => resource === argument)", uri)
    watch(other, uri)
    say(one, chat, '/call run {"command": "echo hi"}')
    call = {"turnId": "t1", "toolCallId": wait_for_call(one, other)}
    dispatch(other, chat, "chat/toolCallConfirmed", **call, approved=True, confirmed="user-action")
    assert states_at_end(one) == states_at_end(other)
    assert "hi" in str(one.run(STATE)["turns"][0]["responseParts"])


def test_the_second_of_two_answers_to_a_question_is_taken_back(url: str, open_tab: OpenTab) -> None:
    one, other = open_tab(url), open_tab(url)
    uri, chat = new_session(one)
    watch(other, uri)
    say(one, chat, '/call run {"command": "true"}')
    call = {"turnId": "t1", "toolCallId": wait_for_call(one, other)}
    dispatch(one, chat, "chat/toolCallConfirmed", **call, approved=True, confirmed="user-action")
    reason = other.run(
        "return await client.dispatch(...argument).then(() => 'taken', (error) => error.name)",
        [chat, {"type": "chat/toolCallConfirmed", **call, "approved": False, "reason": "denied"}],
    )
    assert reason == "Rejected"
    assert len(other.run("return client.refusals.value")) == 1
    assert states_at_end(one) == states_at_end(other)


def test_a_host_that_is_killed_and_comes_back_costs_an_open_page_nothing(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    with serving("--data", tmp_path) as first:
        url = first.wait_url()
        tab = open_tab(url)
        tab.forgive(UNREACHABLE)
        uri, chat = new_session(tab)
        say(tab, chat, "/wait 3")
        tab.until("watch.state.value.activeTurn?.responseParts[0]?.content.length > 5")
        first.stop(signal.SIGKILL)
        tab.wait("waiting")
        assert tab.run("return watch.state.value.activeTurn.responseParts[0].content.length") > 5
    same = [sys.executable, "-m", "agenthost", "serve", "--port", url.rpartition(":")[2]]
    with serving("--data", tmp_path, command=same) as second:
        second.wait_url()
        tab.wait("connected")
        assert tab.run("return client.connection.value.how") == "replay"
        states = states_at_end(tab)
        assert states[1]["turns"][0]["responseParts"][0]["content"] == "." * 60
        fresh = open_tab(url)
        watch(fresh, uri)
        assert fresh.run(STATES) == states


def test_five_thousand_pieces_arrive_whole_and_are_shown_in_few_steps(url: str, open_tab: OpenTab) -> None:
    tab = open_tab(url)
    _, chat = new_session(tab)
    tab.run("globalThis.shown = 0; watch.state.subscribe(() => { shown += 1 })")
    say(tab, chat, "/stream 5000")
    tab.until("watch.state.value.turns.length === 1")
    content = tab.run("return watch.state.value.turns[0].responseParts.map((part) => part.content).join('')")
    assert content == "hello world " * 5000
    assert tab.run("return shown") < 1000
    assert tab.run("return client.tap.totals.in") > 5000
    assert len(tab.run("return client.tap.frames()")) <= 10000
