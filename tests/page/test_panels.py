"""What stands beside a conversation: terminals, files, and the wire."""

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser

from agenthost.host.access.keys import KeyFile
from browsing import OpenTab, Tab
from journeys import Stage, answer, begin, chat_of, composer, expect, say, shortcut, wait_idle
from page_stage import png
from serving import TIMEOUT, serving

# Terminals


def open_terminal(tab: Tab) -> None:
    """Open the panel, and a new terminal in it."""
    shortcut(tab, "3")
    tab.page.get_by_role("button", name="New terminal").first.click()
    expect(tab.page.locator(".xterm-helper-textarea")).to_be_focused()


def test_a_terminal_is_made_typed_into_resized_and_closed(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab)
    open_terminal(tab)
    page.keyboard.type("printf '\\033[38;2;200;80;20mcoloured\\033[0m\\n'; stty size\n")
    screen = page.locator(".xterm")
    expect(screen).to_contain_text(re.compile(r"\d+ \d+"))
    # A colour of no palette is a style of its own, which the policy allows only through the CSSOM.
    colour = "(one) => getComputedStyle(one).color"
    assert screen.locator(".xterm-rows span", has_text="coloured").last.evaluate(colour) == "rgb(200, 80, 20)"
    size = page.locator(".terminal-bar")
    before = size.inner_text()
    page.set_viewport_size({"width": 1000, "height": 500})
    expect(size).not_to_have_text(before)
    page.keyboard.press("Shift+Escape")
    expect(page.locator(".dock [role=tab][aria-selected=true]").first).to_be_focused()
    screen.click()
    page.keyboard.type("exit 7\n")
    expect(size).to_contain_text("ended with code 7")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("No terminal is open.")).to_be_visible()


def check_without_terminals(tab: Tab, sentence: str) -> None:
    """Hold that a tab offers no terminals, and that a panel that was open before says why it is empty."""
    page = tab.page
    begin(tab)
    expect(page.get_by_role("button", name="Files", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Terminals")).to_have_count(0)
    shortcut(tab, "3")
    expect(page.locator(".dock")).to_have_count(0)
    page.keyboard.press("2")
    tabs = page.locator(".dock").get_by_role("tab")
    expect(tabs.filter(has_text="Files")).to_be_visible()
    expect(tabs.filter(has_text="Terminals")).to_have_count(0)
    page.evaluate("localStorage.setItem('agenthost.panel', 'terminals')")
    page.reload()
    expect(page.locator(".dock")).to_contain_text(sentence)
    expect(page.get_by_role("button", name="New terminal")).to_have_count(0)


def test_terminals_that_are_switched_off_are_not_offered(
    browser: Browser, tmp_path: Path, open_tab: OpenTab
) -> None:
    (tmp_path / "work").mkdir()
    words = ("--data", tmp_path / "data", "--workspace", tmp_path / "work", "--no-terminals")
    with serving(*words) as served:
        check_without_terminals(open_tab(served.wait_url()), "Terminals are switched off on this host.")


def test_terminals_are_not_offered_to_a_key_that_may_not_use_them(
    browser: Browser, tmp_path: Path, open_tab: OpenTab
) -> None:
    (tmp_path / "work").mkdir()
    key = KeyFile(tmp_path / "data").create("ann")[1]
    words = ("--data", tmp_path / "data", "--workspace", tmp_path / "work")
    with serving(*words, AGENTHOST_NO_AUTH="false") as served:
        tab = open_tab(served.wait_url(), f"/#tkn={key}")
        check_without_terminals(tab, "This key may not use terminals.")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


ASKING = (
    "import os, select, sys, termios, time, tty\n"
    "tty.setraw(0)\n"
    "os.write(1, b'\\x1b[c\\x1b[6n\\x1b]11;?\\x07')\n"
    "heard = b''\n"
    "while b'q' not in heard:\n"
    "    heard += os.read(0, 1000)\n"
    "    open('heard', 'wb').write(heard)\n"
)
"""A program that asks its terminal what it is and where the cursor stands; keeps what it reads until `q`."""


def test_what_a_program_asked_before_is_not_answered_by_who_opens_the_terminal_later(
    stage: Stage, open_tab: OpenTab
) -> None:
    program, heard = stage.work / "asking.py", stage.work / "heard"
    program.write_text(ASKING)
    tab = open_tab(stage.url)
    begin(tab)
    open_terminal(tab)
    tab.page.keyboard.type(f"{sys.executable} asking.py\n")
    # The first window holds the terminal, so it answers.
    wait_for(lambda: heard.exists() and heard.read_bytes().count(b"\x1b") == 4)
    answered = heard.read_bytes()
    other = open_tab(stage.url)
    other.page.keyboard.press("Escape")  # leaves the field that a session begins with
    other.page.keyboard.press("3")
    expect(other.page.locator(".terminal-bar")).to_contain_text("another client's")
    other.page.locator(".xterm").click()
    other.page.keyboard.type("hello q")
    wait_for(lambda: b"q" in heard.read_bytes())
    assert heard.read_bytes() == answered + b"hello q"
    # Others look at the same folder, and at the list of terminals.
    program.unlink()
    heard.unlink()
    tab.page.get_by_role("button", name="Close", exact=True).click()
    tab.page.get_by_role("button", name="Close terminal").click()
    expect(other.page.get_by_text("No terminal is open.")).to_be_visible()


def test_a_terminal_is_seen_in_two_windows_and_taken_over_from_an_agent(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    begin(tab, "demo", '/call run {"command": "cat"}')
    tab.page.get_by_role("button", name="Allow once").click()
    tab.page.get_by_role("button", name="Open terminal").click()
    other.page.keyboard.press("Escape")  # leaves the field that a session begins with
    other.page.keyboard.press("3")
    for window in (tab, other):
        expect(window.page.locator(".terminal-bar")).to_contain_text("a tool call's")
    other.page.locator(".xterm").click()
    other.page.keyboard.type("typed there\n")
    for window in (tab, other):
        expect(window.page.locator(".xterm")).to_contain_text("typed there")
    tab.page.get_by_role("button", name="Detach from the tool call").click()
    wait_idle(tab)
    tab.page.get_by_role("button", name="Take over").click()
    expect(tab.page.locator(".terminal-bar")).to_contain_text("yours")
    expect(other.page.locator(".terminal-bar")).to_contain_text("another client's")
    tab.page.get_by_role("button", name="Close", exact=True).click()
    tab.page.get_by_role("button", name="Close terminal").click()
    expect(other.page.get_by_text("No terminal is open.")).to_be_visible()


# Files


def test_files_are_browsed_with_the_keyboard_and_read(stage: Stage, open_tab: OpenTab) -> None:
    (stage.work / "picture.png").write_bytes(png())
    (stage.work / "broken.bin").write_bytes(b"\0\1\2")
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab)
    shortcut(tab, "2")
    tree = page.get_by_role("tree", name="Files")
    expect(tree.get_by_role("treeitem")).to_have_text(["src", "broken.bin", "picture.png", "README.md"])
    tree.get_by_role("treeitem").first.focus()
    page.keyboard.press("ArrowRight")
    expect(tree.get_by_role("treeitem", name="app.py")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    viewer = page.get_by_role("region", name="File")
    expect(viewer).to_contain_text('print("hello")')
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name="app.py")).to_have_count(0)
    tree.get_by_role("treeitem", name="picture.png").click()
    expect(viewer.get_by_role("img")).to_be_visible()
    tree.get_by_role("treeitem", name="broken.bin").click()
    expect(viewer).to_contain_text("no text")


# The wire


def test_every_message_is_seen_filtered_and_read_whole(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    uri = begin(tab, "demo", "Hello wire")
    wait_idle(tab)
    shortcut(tab, "4")
    rows = page.locator(".frame")
    page.get_by_label("Kind").select_option("request")
    expect(rows.filter(has_text="createSession")).to_have_count(1)
    page.get_by_label("Kind").select_option("response")
    expect(rows.filter(has_text="createSession")).to_have_count(1)
    page.get_by_label("Kind").select_option("action")
    page.get_by_label("Direction").select_option("out")
    expect(rows.filter(has_text="chat/turnStarted")).to_have_count(1)
    page.get_by_label("Direction").select_option("in")
    page.get_by_label("Direction").select_option("both")
    page.get_by_label("Kind").select_option("response")
    page.get_by_label("Channel").select_option(uri)  # an answer is on the channel of its request
    expect(rows.filter(has_text="createSession").locator(".about")).to_have_text(uri)
    page.get_by_label("Channel").select_option("")
    page.get_by_label("Kind").select_option("action")
    page.get_by_label("Direction").select_option("in")
    page.get_by_label("Filter by text").fill("hello DELTA")
    expect(rows.first).to_contain_text("chat/delta")
    page.get_by_label("Channel").select_option(chat_of(tab, uri))
    expect(rows.first).to_contain_text("chat/delta")
    expect(rows.first.locator(".about")).to_have_text(chat_of(tab, uri))
    seq = int(rows.first.locator(".seq").inner_text())
    rows.first.click()
    detail = page.locator(".frame-detail")
    expect(detail).to_contain_text('"jsonrpc": "2.0"')
    detail.get_by_role("button", name="Copy as sent").click()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["params"]["serverSeq"] == seq
    page.get_by_role("listbox", name="Messages").focus()
    page.keyboard.press("Escape")
    expect(detail).to_have_count(0)
    page.keyboard.press("End")
    expect(detail).to_be_visible()


def test_the_wire_is_paused_and_cleared(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab)
    shortcut(tab, "4")
    page.get_by_role("button", name="Pause").click()
    totals = page.locator(".wire-totals")
    before = totals.inner_text().split(" · ")[0]
    say(tab, "unseen")
    wait_idle(tab)
    assert totals.inner_text().split(" · ")[0] == before
    page.get_by_role("button", name="Pause").click()
    expect(totals).not_to_contain_text(before)
    page.get_by_role("button", name="Clear").click()
    expect(totals).to_contain_text("0 of 0 shown")


def test_the_same_turn_goes_over_the_other_protocol(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    begin(tab, "demo", "Hello twice")
    wait_idle(tab)
    shortcut(tab, "4")
    page.get_by_role("tab", name="AAP turn").click()
    panel = page.get_by_role("tabpanel", name="AAP turn")
    expect(panel.locator(".curl")).to_contain_text(f"curl -sN {stage.url}/aap/sessions/")
    panel.get_by_role("button", name="Send over AAP").click()
    expect(panel.locator(".events li").last).to_contain_text('turn_stop{"stopReason":"end_turn"}')
    expect(panel.locator(".events strong").first).to_have_text("turn_start")
    expect(page.locator(".turn")).to_have_count(2)
    expect(answer(tab)).to_contain_text("You said: Hello twice")
    expect(composer(tab)).to_be_enabled()
