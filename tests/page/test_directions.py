"""Text from right to left: each text runs the way that its own letters do, whatever stands around it."""

from playwright.sync_api import Locator

from browsing import OpenTab
from journeys import Stage, answer, begin, composer, dispatch, expect, say, wait_idle

HEBREW = "שלום עולם, מה נשמע?"
MIXED = f"""\
An English line.

{HEBREW}

- {HEBREW}
- שורה

> {HEBREW}

```
code
```
"""

# Where the text stands, not what an attribute says.
SIDE = """(element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const text = [...range.getClientRects()].find((one) => one.width > 0);
    const box = element.getBoundingClientRect();
    return text.left - box.left > box.right - text.right + 1 ? "right" : "left";
}"""


def side_of(element: Locator) -> str:
    """Tell which side of its box a text stands at."""
    side: str = element.evaluate(SIDE)
    return side


def test_texts_run_the_way_that_their_letters_do(stage: Stage, open_tab: OpenTab) -> None:
    tab = open_tab(stage.url)
    page = tab.page
    uri = begin(tab, "stage", f"{HEBREW} {HEBREW}\nand one from left to right, longer than all of that")
    wait_idle(tab)
    assert side_of(page.locator(".said")) == "right"
    say(tab, MIXED)
    wait_idle(tab)
    said = answer(tab).locator(".markdown")
    assert side_of(said.locator("> p", has_text="English")) == "left"
    assert side_of(said.locator("> p", has_text="שלום").first) == "right"
    assert side_of(said.locator("li").first) == "right"
    assert side_of(said.locator("blockquote p")) == "right"
    expect(said.locator("ul")).to_have_css("direction", "rtl")
    expect(said.locator("pre")).to_have_css("direction", "ltr")
    composer(tab).fill(HEBREW)
    expect(composer(tab)).to_have_css("direction", "rtl")
    composer(tab).fill("left to right")
    expect(composer(tab)).to_have_css("direction", "ltr")
    dispatch(tab, uri, "session/titleChanged", title=HEBREW)
    expect(page.locator(".title-button")).to_have_css("direction", "rtl")
    expect(page.locator(f'.session[data-session="{uri}"] .title')).to_have_css("direction", "rtl")
    page.get_by_role("searchbox", name="Search sessions").fill(HEBREW)
    expect(page.get_by_role("searchbox", name="Search sessions")).to_have_css("direction", "rtl")
