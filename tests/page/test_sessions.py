"""Sessions in the page: made by a form, found in the list, changed, forked, cut short and deleted."""

import re
from typing import Any
from urllib.parse import quote

from browsing import OpenTab, Tab
from journeys import (
    Stage,
    answer,
    begin,
    call,
    chat_of,
    composer,
    expect,
    go_to,
    make_session,
    refusals,
    say,
    session_of,
    wait_idle,
)


def test_the_page_opens_with_a_field_and_enter_makes_a_session_with_what_is_in_it(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    field = tab.page.get_by_label("First message")
    expect(field).to_be_focused()
    field.press("Enter")  # nothing to say yet
    field.press_sequentially("Hello")
    field.press("Shift+Enter")
    field.press_sequentially("there")
    tab.page.reload()
    expect(field).to_have_value("Hello\nthere")
    field.press("Enter")
    expect(answer(tab)).to_contain_text("You said: Hello there")
    expect(composer(tab)).to_be_focused()
    tab.page.goto(f"{stage.url}/#/")
    expect(field).to_have_value("")


def test_an_example_is_said_with_a_click(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    examples = tab.page.get_by_role("list", name="Examples")
    expect(examples.get_by_role("button")).to_have_count(4)
    examples.get_by_role("button", name="Change a file").click()
    expect(call(tab).locator(".diff")).to_contain_text("Buy milk")
    tab.page.get_by_role("button", name="Deny", exact=True).click()
    tab.page.get_by_role("button", name="New session", exact=True).first.click()
    tab.page.get_by_label("Agent").select_option("stage")
    examples.get_by_role("button", name="What can you do?").click()
    expect(answer(tab)).to_contain_text("I heard: What can you do?")


def model_of(tab: Tab, turn: str) -> Any:
    """Return the model that the message of a turn of the open session names."""
    script = f"return client.chat(argument).state.value.{turn}.message.model"
    return tab.run(script, chat_of(tab, session_of(tab)))


def test_the_agent_the_model_and_the_folder_are_chosen_by_chips(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    page.get_by_label("Agent").select_option("stage")
    expect(page.get_by_label("Model")).to_have_count(0)  # it has none to choose from
    page.get_by_label("Agent").select_option("demo")
    page.get_by_label("Model").select_option("steady")
    page.get_by_role("button", name="Folder: work").click()
    page.get_by_role("dialog").get_by_role("button", name="src").click()
    page.get_by_role("button", name="Choose this folder").click()
    expect(page.get_by_role("button", name="Folder: src")).to_be_focused()
    field = page.get_by_label("First message")
    field.fill("With chips")
    field.press("Enter")
    expect(answer(tab)).to_contain_text("You said: With chips")
    wait_idle(tab)
    state = tab.run("return client.session(argument).state.value", session_of(tab))
    assert (state["provider"], model_of(tab, "turns.at(-1)")) == ("demo", {"id": "steady"})
    assert state["workingDirectories"][0].endswith("/src")


def test_a_message_is_kept_when_its_session_is_not_made(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    tab.page.get_by_label("Agent").select_option("guarded")
    tab.page.get_by_label("First message").fill("Let me in")
    tab.page.get_by_role("button", name="Send").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(refusals(tab)).to_contain_text("The session was not made")
    expect(tab.page.get_by_label("First message")).to_have_value("Let me in")
    tab.page.reload()
    expect(tab.page.get_by_label("Agent")).to_have_value("guarded")  # it is remembered


def test_a_session_is_made_by_a_form_that_follows_the_agents_schema(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    page.get_by_role("navigation").get_by_role("button", name="New session", exact=True).click()
    page.get_by_role("button", name="Options").click()
    page.get_by_role("radio", name="Stage").check()
    page.get_by_label("Depth").select_option("deep")
    expect(page.get_by_label("Fixed")).to_have_value("stone")
    branch = page.get_by_label("Branch")
    branch.focus()
    branch.press_sequentially("re")
    expect(page.locator("datalist option")).to_have_count(2)
    branch.fill("review")
    page.get_by_role("button", name="Browse").click()
    page.get_by_role("dialog").get_by_role("button", name="src").click()
    expect(page.get_by_text("No folders in here.")).to_be_visible()
    page.get_by_role("button", name="Choose this folder").click()
    expect(page.get_by_label("Folder", exact=True)).to_have_value(re.compile("/src$"))
    page.get_by_label("First message").fill("Hello stage")
    page.get_by_role("button", name="Create session").click()
    expect(answer(tab)).to_contain_text("I heard: Hello stage")
    state = tab.run("const watch = client.session(argument); return watch.state.value", session_of(tab))
    assert state["config"]["values"] == {"depth": "deep", "branch": "review", "fixed": "stone"}
    assert state["workingDirectories"][0].endswith("/src")


def test_a_model_and_its_settings_are_chosen_when_a_session_is_made_and_later(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url, "/#/new")
    page = tab.page
    page.get_by_role("button", name="Options").click()
    page.get_by_label("Model").select_option("steady")
    page.get_by_label("Pause").select_option("short")
    page.get_by_role("button", name="Create session").click()
    expect(composer(tab)).to_be_enabled()
    page.reload()
    chosen = page.get_by_role("combobox", name="Model")
    expect(chosen).to_have_value("steady")
    say(tab, "/wait 60")
    tab.page.get_by_role("button", name="Stop").click()
    wait_idle(tab)
    assert model_of(tab, "turns.at(-1)") == {"id": "steady", "config": {"pause": "short"}}
    page.get_by_role("button", name="Settings of the model").click()
    page.get_by_role("dialog").get_by_label("Pause").select_option("long")
    page.get_by_role("button", name="Done").click()
    say(tab, "/wait 60")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    assert model_of(tab, "activeTurn") == {"id": "steady", "config": {"pause": "long"}}
    chosen.select_option("swift")
    page.get_by_role("button", name="Stop").click()
    wait_idle(tab)
    expect(chosen).to_have_value("swift")
    say(tab, "Hello")
    expect(answer(tab)).to_contain_text("You said: Hello")
    wait_idle(tab)
    assert model_of(tab, "turns.at(-1)") == {"id": "swift"}


def test_a_window_shows_the_model_that_answered_last_whoever_chose_it(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab)
    go_to(other, uri)
    tab.page.get_by_role("combobox", name="Model").select_option("steady")
    say(tab, "Hello")
    wait_idle(tab)
    expect(other.page.get_by_role("combobox", name="Model")).to_have_value("steady")
    other.page.get_by_role("combobox", name="Model").select_option("swift")
    say(other, "Hello")
    wait_idle(other)
    expect(tab.page.get_by_role("combobox", name="Model")).to_have_value("swift")


def test_the_list_shows_how_sessions_stand_and_finds_them(stage: Stage, open_tab: OpenTab) -> None:
    tab, watcher = open_tab(stage.url), open_tab(stage.url)
    listed = watcher.page.get_by_role("list", name="Sessions")
    begin(tab, "demo", "/title A needle")
    wait_idle(tab)
    begin(tab, "demo", "/error")
    failed = listed.locator(".session", has_text="/error")
    expect(failed).to_contain_text("error")
    begin(tab, "demo", "/ask")
    expect(listed.locator(".session", has_text="/ask")).to_contain_text("needs input")
    running = begin(tab)
    go_to(watcher, running)  # what nobody has opened is not unread
    watcher.page.goto(f"{stage.url}/#/")
    say(tab, "/wait 60")
    row = listed.locator(f'.session[data-session="{running}"]')
    expect(row).to_contain_text("running, unread")
    tab.page.get_by_role("button", name="Stop").click()
    # Whoever looks at it has read it.
    expect(row.locator(".dot")).to_have_attribute("title", "idle")
    watcher.page.get_by_role("searchbox", name="Search sessions").fill("NEEDLE demo")
    expect(listed.locator(".session")).to_have_count(1)
    watcher.page.get_by_role("searchbox", name="Search sessions").fill("no such thing")
    expect(listed).to_contain_text("No session fits.")


def test_a_session_is_renamed_marked_archived_and_deleted_after_a_question(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    uri = begin(tab, "demo", "Something old")
    wait_idle(tab)
    page.get_by_role("button", name="Something old", exact=True).click()
    page.get_by_label("Title").fill("Something new")
    page.get_by_role("button", name="Rename", exact=True).click()
    row = page.locator(f'.session[data-session="{uri}"]')
    expect(row).to_contain_text("Something new")

    def choose(item: str) -> None:
        row.hover()
        row.get_by_role("button", name="Actions").click()
        page.get_by_role("menuitem", name=item).click()

    page.goto(f"{stage.url}/#/")
    choose("Mark as unread")
    expect(row).to_contain_text("unread")
    choose("Mark as read")
    expect(row).not_to_contain_text("unread")
    choose("Archive")
    expect(row).to_have_count(0)
    page.get_by_role("button", name="Show archived sessions").click()
    choose("Delete")
    page.get_by_role("button", name="Cancel").click()
    expect(row).to_be_visible()
    choose("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)


def test_a_session_is_forked_from_a_turn(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    first = begin(tab, "demo", "one")
    for text in ("two", "three"):
        wait_idle(tab)
        say(tab, text)
    expect(answer(tab)).to_contain_text("You said: three")
    wait_idle(tab)
    tab.page.locator(".turn", has_text="You said: two").hover()
    tab.page.locator(".turn", has_text="You said: two").get_by_role("button", name="Fork from here").click()
    tab.page.wait_for_url("**/ahp-chat*")  # a chat of the same session
    assert first in session_of(tab)
    expect(tab.page.locator(".turn")).to_have_count(2)
    say(tab, "/history")
    expect(answer(tab)).to_contain_text("5")


def test_a_message_is_edited_and_sent_again_and_what_came_after_it_goes(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "one")
    wait_idle(tab)
    say(tab, "two")
    expect(answer(tab)).to_contain_text("You said: two")
    wait_idle(tab)
    go_to(other, uri)
    first = tab.page.locator(".turn").first
    first.hover()
    first.get_by_role("button", name="Edit and send again").click()
    expect(composer(tab)).to_have_value("one")
    composer(tab).press("Escape")
    expect(composer(tab)).to_have_value("")
    first.hover()
    first.get_by_role("button", name="Edit and send again").click()
    say(tab, "one, but better")
    for window in (tab, other):
        expect(window.page.locator(".turn")).to_have_count(1)
        expect(answer(window)).to_contain_text("You said: one, but better")


def test_a_long_list_comes_a_page_at_a_time(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    tab.run("for (let n = 0; n < 120; n++) await client.createSession({ provider: 'stage' })")
    tab.page.get_by_role("searchbox", name="Search sessions").fill("stage")
    rows = tab.page.locator(".session")
    expect(rows.nth(40)).to_be_attached()
    assert rows.count() < 110
    scroll = "document.querySelector('.sessions').scrollTo(0, 1e6)"
    tab.until(f"({scroll}, document.querySelectorAll('.session').length >= 120)")


def test_settings_that_may_change_do_and_refusals_are_said_in_the_hosts_words(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    uri = make_session(tab, "stage")
    go_to(tab, uri)
    page.get_by_role("button", name="Session", exact=True).click()
    page.get_by_role("menuitem", name="Settings").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Fixed")).to_be_disabled()
    dialog.get_by_label("Depth").select_option("deep")
    state = "const watch = client.session(argument); return watch.state.value.config.values.depth"
    tab.until("client.session(argument).state.value?.config.values.depth === 'deep'", uri)
    assert tab.run(state, uri) == "deep"
    page.keyboard.press("Escape")
    cancelled = "{ type: 'chat/turnCancelled', turnId: 'no', duration: 1 }"
    tab.run(f"client.dispatch(argument, {cancelled}).catch(() => 0)", chat_of(tab, uri))
    expect(refusals(tab)).to_contain_text("turn")


def test_an_agent_that_needs_a_token_is_given_one_and_then_used(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url, "/#/new")
    page = tab.page
    page.get_by_label("Agent").select_option("guarded")
    page.get_by_label("First message").fill("Let me in")
    page.get_by_label("First message").press("Enter")
    token = page.get_by_role("dialog", name="This agent needs a token").get_by_label("The library")
    token.fill("bad")
    token.press("Enter")
    expect(refusals(tab)).to_be_visible()
    token.fill("good")
    token.press("Enter")
    expect(answer(tab)).to_contain_text("I heard: Let me in")


def test_a_session_that_cannot_be_made_says_why(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = make_session(tab, "unready")
    tab.run("location.hash = argument", f"#/session/{quote(uri, safe='')}")
    expect(tab.page.get_by_role("main")).to_contain_text("The session could not be made.")
    tab.run("location.hash = '#/session/demo%3A%2Fnever'")
    expect(tab.page.get_by_role("main")).to_contain_text("This session is not there.")


def test_a_session_that_is_still_being_made_takes_the_keyboard_when_it_is_ready(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    uri = make_session(tab, "gradual")
    tab.run("location.hash = argument", f"#/session/{quote(uri, safe='')}")
    expect(composer(tab)).to_be_disabled()
    expect(composer(tab)).to_be_focused()
