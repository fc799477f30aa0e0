"""Who can use the page: with a keyboard alone, on a phone, with a screen reader, over a bad connection."""

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.access.keys import KeyFile
from browsing import UNREACHABLE, OpenTab, Tab
from journeys import (
    STAGE,
    Stage,
    answer,
    begin,
    call,
    chat_of,
    composer,
    expect,
    go_to,
    make_session,
    say,
    shortcut,
    wait_idle,
)
from serving import serving

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PHONE = {"width": 375, "height": 740}


# A keyboard alone


def test_a_turn_is_asked_approved_and_read_with_a_keyboard_alone(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    field = page.get_by_label("First message")
    expect(field).to_be_focused()
    skip = page.get_by_role("link", name="Skip to the session")
    stops = page.locator("a, button, input, textarea, select").evaluate_all("(all) => all[0].textContent")
    assert stops == "Skip to the session"
    skip.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("n")
    expect(field).to_be_focused()
    for name in ("Agent", "Model"):
        page.keyboard.press("Tab")
        expect(page.get_by_label(name)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Folder")).to_be_focused()
    page.keyboard.press("Tab")
    options = page.get_by_role("button", name="Options")
    expect(options).to_be_focused()
    page.keyboard.press("Enter")
    expect(options).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    field.focus()
    page.keyboard.type('/call run {"command": "echo by keys"}')
    page.keyboard.press("Enter")
    expect(call(tab)).to_contain_text("needs approval")
    shortcut(tab, "a")
    expect(page.get_by_role("button", name="Allow once")).to_be_focused()
    page.keyboard.press("Enter")
    expect(answer(tab)).to_contain_text("run -> by keys")
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Conversation")).to_be_focused()
    page.keyboard.press("i")
    expect(composer(tab)).to_be_focused()


def test_lists_menus_tabs_and_dialogs_are_one_stop_each_and_give_the_focus_back(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    made = [make_session(tab) for _ in range(3)]
    go_to(tab, made[-1])
    shortcut(tab, "/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    links = page.locator(".session-link")
    expect(links.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Actions for").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.get_by_role("tab", name="Changes")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Files")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_have_count(0)
    expect(page.get_by_role("button", name="Actions for").first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


# A phone


def test_on_a_phone_the_list_is_a_drawer_and_panels_fill_the_screen(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url, viewport=PHONE, has_touch=True, is_mobile=True)
    page = tab.page
    page.get_by_role("button", name="Sessions").tap()
    expect(page.get_by_role("button", name="Close the list")).to_be_visible()
    page.get_by_role("navigation").get_by_role("button", name="New session", exact=True).tap()
    expect(page.get_by_role("button", name="Close the list")).to_be_hidden()
    page.get_by_label("First message").fill('/call run {"command": "echo on the way"}')
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Send").tap()
    page.get_by_role("button", name="Allow once").tap()
    expect(answer(tab)).to_contain_text("run -> on the way")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Panels", exact=True).tap()
    dock = page.get_by_role("complementary")
    box = dock.bounding_box()
    assert box
    assert (box["width"], box["height"]) == (PHONE["width"], PHONE["height"])
    for name in ("Files", "Terminals", "Wire", "Changes"):
        dock.get_by_role("tab", name=name).tap()
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    page.get_by_role("button", name="Close the panel").tap()
    expect(composer(tab)).to_be_visible()


def test_on_a_phone_the_model_can_be_read_and_chosen_while_a_turn_runs(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url, viewport={**PHONE, "width": 320}, has_touch=True, is_mobile=True)
    uri = begin(tab, "demo", "/wait 60")
    model = tab.page.get_by_role("combobox", name="Model")
    for label in ("Stop", "Steer", "Queue"):
        expect(tab.page.get_by_role("button", name=label)).to_be_in_viewport(ratio=1)
    box = model.bounding_box()
    assert box
    assert box["width"] > 150  # about twenty letters
    model.select_option("steady")
    say(tab, "and then")
    queued = "client.chat(argument).state.value.queuedMessages?.[0].message.model.id"
    tab.until(f"{queued} === 'steady'", chat_of(tab, uri))
    tab.page.get_by_role("button", name="Remove: and then").tap()
    tab.page.get_by_role("button", name="Settings of the model").tap()
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    tab.page.get_by_role("button", name="Done").tap()
    tab.page.get_by_role("button", name="Stop").tap()


# A screen reader


def test_what_happens_is_told_politely_and_not_word_by_word(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    begin(tab)
    told = """
        globalThis.told = [];
        const region = document.querySelector("main [role=status]");
        const changes = { childList: true, characterData: true, subtree: true };
        new MutationObserver(() => told.push(region.textContent)).observe(region, changes);
    """
    tab.run(told)
    say(tab, "/stream 300")
    wait_idle(tab)
    say(tab, '/call run {"command": "true"}')
    expect(call(tab)).to_contain_text("needs approval")
    tab.until("told.at(-1).startsWith('Approval')")
    heard = tab.run("return told.filter(Boolean)")
    assert [words.split()[0] for words in heard] == ["Answering", "Answered:", "Answering", "Approval"]
    assert heard[1].endswith("and more")
    assert heard[3] == "Approval needed: Run"


def axe(tab: Tab) -> list[str]:
    """Return what axe finds that is serious: its rule and where."""
    tab.page.add_script_tag(path=AXE) if not tab.run("return 'axe' in globalThis") else None
    found: dict[str, Any] = tab.run("return await axe.run(document, { resultTypes: ['violations'] })")
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [f"{one['id']}: {node['html'][:120]}" for one in serious for node in one["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_what_a_checker_of_accessibility_calls_serious(
    stage: Stage, open_tab: OpenTab, theme: str
) -> None:
    # The checker is a script of no server of ours, which the policy would not let in.
    tab = open_tab(stage.url, color_scheme=theme, bypass_csp=True, reduced_motion="reduce")
    page = tab.page
    found = {"home": axe(tab)}
    page.get_by_role("button", name="Options").click()
    expect(page.get_by_label("Greeting", exact=True)).to_be_visible()
    found["create"] = axe(tab)
    begin(tab, "stage", "/tour")
    wait_idle(tab)
    found["conversation"] = axe(tab)
    begin(tab, "demo", "/edit notes.txt Buy milk")
    expect(call(tab)).to_contain_text("needs approval")
    found["approval"] = axe(tab)
    page.get_by_role("button", name="Allow once").click()
    wait_idle(tab)
    turn = page.locator(".turn").last
    turn.hover()
    turn.get_by_role("button", name="Fork from here").click()
    expect(page.locator(".chat-source")).to_be_visible()
    found["fork"] = axe(tab)
    page.get_by_role("button", name="New chat").click()
    expect(page.get_by_role("button", name="Do not begin a chat")).to_be_visible()
    found["new chat"] = axe(tab)
    page.get_by_role("navigation", name="Chats").get_by_role("link", name="Main").click()
    expect(page.locator(".chat-source")).to_have_count(0)
    expect(answer(tab)).to_contain_text("to notes.txt.")
    say(tab, "/error")
    expect(answer(tab).locator(".failure")).to_be_visible()
    say(tab, "/ask")
    expect(page.locator("form.asking")).to_be_visible()
    say(tab, "waits")
    for panel in ("Changes", "Files", "Terminals", "The wire"):
        page.get_by_role("group", name="Panels").get_by_role("button", name=panel).click()
        if panel == "Terminals":
            page.get_by_role("button", name="New terminal").first.click()
            expect(page.locator(".xterm")).to_be_visible()
        found[panel] = axe(tab)
    page.locator(".frame").last.click()
    found["message"] = axe(tab)
    page.get_by_role("tab", name="AAP turn").click()
    found["AAP"] = axe(tab)
    page.get_by_role("button", name="Keyboard shortcuts").click()
    found["shortcuts"] = axe(tab)
    problems = [f"{view}: {one}" for view, serious in found.items() for one in serious]
    assert not problems, "\n".join(problems)


# A bad connection


def test_a_lost_connection_is_said_and_what_was_missed_comes_by_itself(
    tmp_path: Path, open_tab: OpenTab
) -> None:
    with serving(STAGE, "--data", tmp_path) as first:
        url = first.wait_url()
        tab = open_tab(url)
        tab.forgive(UNREACHABLE)
        begin(tab, "demo", "/wait 2")
        expect(answer(tab)).to_contain_text("...")
        first.stop(signal.SIGKILL)
        banner = tab.page.locator(".banner")
        expect(banner).to_contain_text("The connection is lost")
        assert banner.evaluate("(banner) => banner.clientWidth === innerWidth")
        composer(tab).fill("said while it was away")
    same = [sys.executable, "-m", "agenthost", "serve", "--port", url.rpartition(":")[2]]
    with serving(STAGE, "--data", tmp_path, command=same) as second:
        second.wait_url()
        expect(banner).to_contain_text("what was missed is here")
        composer(tab).press("Enter")
        expect(answer(tab)).to_contain_text("You said: said while it was away")
        expect(tab.page.locator(".turn").first).to_contain_text("." * 40)
        expect(banner).to_have_count(0)


def test_where_a_key_is_needed_a_dialog_asks_for_it(tmp_path: Path, open_tab: OpenTab) -> None:
    key = KeyFile(tmp_path).create("ann")[1]
    with serving("--data", tmp_path) as served:
        tab = open_tab(served.wait_url(), until="locked")
        tab.forgive("WebSocket connection to .* failed")
        dialog = tab.page.get_by_role("dialog", name="A key is needed")
        expect(dialog.get_by_role("button", name="Close")).to_have_count(0)  # it would do nothing
        field = tab.page.get_by_label("API key of this server")
        for _ in range(3):
            field.press("Escape")
        expect(dialog).to_be_visible()
        field.fill("ah_0_1")
        field.press("Enter")
        expect(tab.page.get_by_text("This key is not valid")).to_be_visible()
        field.fill(key)
        tab.page.get_by_label("Remember it").check()
        tab.page.get_by_role("button", name="Connect").click()
        tab.wait("connected")
        expect(tab.page.get_by_role("dialog")).to_have_count(0)
