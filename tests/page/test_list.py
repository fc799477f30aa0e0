"""The list of sessions: by date, found by what was said, marked where somebody was, as wide as one likes."""

import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Locator

from browsing import OpenTab, Tab
from journeys import (
    Stage,
    answer,
    begin,
    call,
    chat_of,
    dispatch,
    expect,
    go_to,
    make_session,
    say,
    session_of,
    turn_started,
    wait_idle,
)

DAY = 24 * 60 * 60


def row_of(tab: Tab, uri: str) -> Locator:
    """Return the row of a session."""
    return tab.page.locator(f'.session[data-session="{uri}"]')


def choose(tab: Tab, uri: str, item: str) -> None:
    """Choose from the menu of a session in the list."""
    row_of(tab, uri).hover()
    row_of(tab, uri).get_by_role("button", name="Actions").click()
    tab.page.get_by_role("menuitem", name=item, exact=True).click()


def ask_over_aap(tab: Tab, url: str, text: str) -> str:
    """Make a session and say something in it as a program would; returns its URI."""
    made = tab.page.request.post(f"{url}/aap/sessions", data={"agent": {"name": "demo"}}).json()
    turn = {"messages": [{"role": "user", "content": text}], "stream": "none"}
    assert tab.page.request.post(f"{url}/aap/sessions/{made['sessionId']}/turns", data=turn).ok
    return f"demo:/{made['sessionId']}"


def test_sessions_stand_under_the_day_of_their_last_change(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = make_session(tab)
    headings = tab.page.locator(".sessions .period")
    expect(headings.first).to_have_text("Today")
    for days, name in ((1, "Yesterday"), (4, "Previous 7 days"), (20, "Previous 30 days")):
        tab.page.clock.set_fixed_time(time.time() + days * DAY)
        tab.page.reload()
        expect(row_of(tab, uri)).to_be_visible()
        expect(headings).to_have_text([name])


def test_a_session_is_found_by_what_was_said_in_it(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = begin(tab, "demo", "Where did I put the parchment?")
    wait_idle(tab)
    dispatch(tab, uri, "session/titleChanged", title="Lost")
    search = tab.page.get_by_role("searchbox", name="Search sessions")
    search.fill("PARCHMENT put")
    expect(row_of(tab, uri)).to_contain_text("Where did I put the parchment?")
    expect(tab.page.locator(".session")).to_have_count(1)
    search.fill("no-such-word-anywhere")
    expect(row_of(tab, uri)).to_have_count(0)
    search.fill("")
    expect(row_of(tab, uri)).not_to_contain_text("parchment")


def test_only_sessions_that_somebody_opened_are_marked_as_unread(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    made = [ask_over_aap(tab, stage.url, f"number {number}") for number in range(3)]
    for uri in made:
        expect(row_of(tab, uri)).to_be_visible()
        expect(row_of(tab, uri)).not_to_contain_text("unread")
    go_to(tab, made[0])
    begin(tab)  # and elsewhere
    for uri in made[:2]:
        dispatch(tab, chat_of(tab, uri), "chat/turnStarted", **turn_started("more", uri))
    expect(row_of(tab, made[0])).to_contain_text("unread")
    expect(row_of(tab, made[1])).not_to_contain_text("unread")
    tab.page.reload()
    expect(row_of(tab, made[0])).to_contain_text("unread")
    choose(tab, made[2], "Mark as unread")
    expect(row_of(tab, made[2])).to_contain_text("unread")
    choose(tab, made[2], "Mark as read")
    expect(row_of(tab, made[2])).not_to_contain_text("unread")


def test_the_list_is_made_wider_by_dragging_and_by_keys_and_stays_so(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    edge = page.get_by_role("separator", name="Width of the list")

    def wait_for_width(wanted: float) -> None:
        tab.until("document.querySelector('nav.side')?.offsetWidth === argument", wanted)

    wait_for_width(280)
    page.mouse.move(280, 400)
    page.mouse.down()
    page.mouse.move(400, 420, steps=4)
    wait_for_width(400)
    page.mouse.up()
    edge.focus()
    page.keyboard.press("ArrowRight")
    wait_for_width(440)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    wait_for_width(360)
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", "360")
    wait_for_width(360)
    edge.press("End")
    wait_for_width(float(edge.get_attribute("aria-valuemax") or 0))
    edge.press("Home")
    wait_for_width(float(edge.get_attribute("aria-valuemin") or 0))
    edge.dblclick()
    wait_for_width(280)


def exported(stage: Stage, uri: str) -> str:
    """Return the document that the command line writes of a session."""
    command = [sys.executable, "-m", "agenthost", "sessions", "export", uri.partition(":/")[2]]
    done = subprocess.run([*command, "--url", stage.url], capture_output=True, text=True, check=True)
    return done.stdout


def test_a_session_is_exported_as_the_command_line_does_it(
    stage: Stage, open_tab: OpenTab, tmp_path: Path
) -> None:
    tab = open_tab(stage.url)
    uri = begin(tab, "stage", "/tour")
    wait_idle(tab)
    say(tab, "```\nfences\tand tabs\n```")
    wait_idle(tab)
    for item, name in (("Export as Markdown", "tour.md"), ("Export as JSON", "tour.json")):
        with tab.page.expect_download() as waiting:
            choose(tab, uri, item)
        assert waiting.value.suggested_filename == name
        waiting.value.save_as(tmp_path / name)
    assert (tmp_path / "tour.md").read_text() == exported(stage, uri)
    other = begin(tab, "demo", '/call run {"command": "echo \'a\\tb\'"}')
    call(tab).get_by_role("button", name="Deny").first.click()
    wait_idle(tab)
    say(tab, "/error")
    expect(answer(tab)).to_contain_text("Try again")
    tab.page.get_by_role("button", name="Session", exact=True).click()
    tab.page.get_by_role("menuitem", name="Fork").click()
    expect(tab.page.locator(".chat-source")).to_be_visible()
    say(tab, "in another chat")
    expect(answer(tab)).to_contain_text("You said: in another chat")
    wait_idle(tab)
    with tab.page.expect_download() as waiting:
        tab.page.get_by_role("button", name="Session", exact=True).click()
        tab.page.get_by_role("menuitem", name="Export as Markdown").click()
    waiting.value.save_as(tmp_path / "other.md")
    assert (tmp_path / "other.md").read_text() == exported(stage, other)
    assert session_of(tab) == other
