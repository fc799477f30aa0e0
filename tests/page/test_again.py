"""Answering again: what failed or was stopped is tried once more, and any answer can be had anew."""

from browsing import OpenTab, Tab
from journeys import Stage, answer, begin, chat_of, composer, expect, go_to, refusals, say, wait_idle

TURNS = "return client.chat(argument).state.value.turns.map((turn) => turn.id)"


def turns_of(tab: Tab, uri: str) -> list[str]:
    """Return the ids of the turns."""
    found: list[str] = tab.run(TURNS, chat_of(tab, uri))
    return found


def wait_for_another(tab: Tab, uri: str, place: int, old: str) -> None:
    """Wait until another turn than this one stands in a place."""
    condition = "client.chat(argument[0]).state.value.turns[argument[1]]?.id !== argument[2]"
    tab.until(condition, [chat_of(tab, uri), place, old])


def test_a_turn_that_failed_goes_on_from_there_or_is_answered_anew(stage: Stage, open_tab: OpenTab) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "/error")
    go_to(other, uri)
    again = answer(tab).get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    before = turns_of(tab, uri)
    again.click()
    for window in (tab, other):
        expect(answer(window)).to_contain_text("It failed here, and went on.")
        expect(answer(window).get_by_text("The turn failed.")).to_be_visible()  # as it was asked to
    expect(composer(tab)).to_be_focused()
    assert turns_of(tab, uri) == before
    answer(tab).get_by_role("button", name="Regenerate").click()
    wait_for_another(tab, uri, 0, before[0])
    expect(again).to_be_visible()
    expect(answer(tab)).not_to_contain_text("went on")
    assert len(turns_of(tab, uri)) == 1
    say(tab, "more")
    expect(answer(tab)).to_contain_text("You said: more")
    expect(tab.page.get_by_role("button", name="Try again")).to_have_count(0)  # only the last turn goes on


def test_a_turn_that_was_stopped_is_tried_again_in_its_place(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = begin(tab, "demo", "/wait 60")
    retry = answer(tab).get_by_role("button", name="Retry")
    tab.page.get_by_role("button", name="Stop").click()
    expect(answer(tab)).to_contain_text("Stopped.")
    retry.click()
    expect(answer(tab)).to_contain_text("...")
    tab.page.get_by_role("button", name="Stop").click()
    expect(answer(tab)).to_contain_text("Stopped.")
    assert len(turns_of(tab, uri)) == 1


def test_an_answer_is_regenerated_and_what_came_after_it_goes_only_after_a_question(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab, other = open_tab(stage.url), open_tab(stage.url)
    uri = begin(tab, "demo", "one")
    for text in ("two", "three"):
        wait_idle(tab)
        say(tab, text)
    expect(answer(tab)).to_contain_text("You said: three")
    wait_idle(tab)
    go_to(other, uri)
    old = turns_of(tab, uri)
    answer(tab).get_by_role("button", name="Regenerate").click()  # the last one needs no question
    wait_for_another(tab, uri, 2, old[2])
    expect(answer(tab)).to_contain_text("You said: three")
    wait_idle(tab)
    again = tab.page.locator(".turn", has_text="You said: two").get_by_role("button", name="Regenerate")
    again.click()
    dialog = tab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("The turn after it will be deleted")
    dialog.get_by_role("button", name="Cancel").click()
    expect(tab.page.locator(".turn")).to_have_count(3)
    again.click()
    dialog.get_by_role("button", name="Answer again").click()
    for window in (tab, other):
        expect(window.page.locator(".turn")).to_have_count(2)
        expect(answer(window)).to_contain_text("You said: two")
    wait_idle(tab)
    assert turns_of(tab, uri)[0] == old[0]
    assert turns_of(tab, uri)[1] != old[1]


def test_what_came_along_with_a_message_comes_along_again(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    uri = begin(tab)
    composer(tab).press_sequentially("/image of @src/a")
    expect(tab.page.locator(".completions [role=option]")).to_have_count(1)
    composer(tab).press("Enter")
    composer(tab).press("Enter")
    wait_idle(tab)
    expect(answer(tab).get_by_role("button", name="Regenerate")).to_be_enabled()
    before = turns_of(tab, uri)
    answer(tab).get_by_role("button", name="Regenerate").click()
    wait_for_another(tab, uri, 0, before[0])
    expect(tab.page.locator(".message .attachment")).to_have_text("src/app.py")


def test_where_the_host_does_not_cut_the_session_nothing_is_sent_twice(
    stage: Stage, open_tab: OpenTab
) -> None:
    tab = open_tab(stage.url)
    begin(tab, "demo", "one")
    wait_idle(tab)
    say(tab, "two")
    expect(answer(tab)).to_contain_text("You said: two")
    wait_idle(tab)
    # As a host would that keeps its past: the frame goes out with a turn that is not there.
    tab.run(
        "const send = WebSocket.prototype.send;"
        "WebSocket.prototype.send = function (text) {"
        "  if (!text.includes('chat/truncated')) return send.call(this, text);"
        "  const message = JSON.parse(text);"
        "  message.params.action.turnId = 'never';"
        "  return send.call(this, JSON.stringify(message));"
        "};"
    )
    answer(tab).get_by_role("button", name="Regenerate").click()
    expect(refusals(tab)).to_contain_text("never")
    expect(tab.page.locator(".turn")).to_have_count(2)
    expect(answer(tab)).to_contain_text("You said: two")
    expect(answer(tab).get_by_role("button", name="Regenerate")).to_be_enabled()
    tab.page.locator(".turn").last.hover()
    tab.page.locator(".turn").last.get_by_role("button", name="Edit and send again").click()
    say(tab, "three")
    expect(composer(tab)).to_have_value("three")
    expect(tab.page.locator(".turn")).to_have_count(2)
