"""A window of VS Code in a real browser, and what people do in it.

What is on the screen is found by the roles and the classes of VS Code 1.139.1: `scripts/vscode.sh` pins it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Route, expect, sync_playwright

from browsing import ARGUMENTS, find_browser

__all__ = ["MILLISECONDS", "Window", "opened"]

MILLISECONDS = 60_000
"""How long anything may take: the first start loads 20 MB of scripts, on machines that are busy."""

PATIENCE = 60
"""How often something is tried in that time."""

expect.set_options(timeout=MILLISECONDS)

SIZE = {"width": 1400, "height": 900}


class Window:
    """A window of VS Code, with its chat at the right.

    Attributes:
        page: Playwright's own.
        foreign: what it asked of other servers, and did not get.
    """

    def __init__(self, page: Page, pictures: Path) -> None:
        self.page = page
        self.foreign: list[str] = []
        self._pictures = pictures
        page.set_default_timeout(MILLISECONDS)

    def keep_inside(self, url: str) -> None:
        """Let it ask only the server at this address."""
        own = urlsplit(url).netloc

        def decide(route: Route) -> None:
            if urlsplit(route.request.url).netloc == own:
                route.continue_()
            else:
                self.foreign.append(route.request.url)
                route.abort()

        self.page.route(re.compile(r"^https?:"), decide)

    def open(self, url: str) -> None:
        """Load it, and wait until its chat is there."""
        self.keep_inside(url)
        self.page.goto(url)
        expect(self.input).to_be_visible(timeout=MILLISECONDS)

    def picture(self, name: str) -> Path:
        """Keep what is on the screen."""
        self._pictures.mkdir(parents=True, exist_ok=True)
        path = self._pictures / f"{name}.png"
        self.page.screenshot(path=path, animations="disabled", caret="hide")
        return path

    # Choosing

    @property
    def input(self) -> Locator:
        """The field that messages are written in."""
        return self.page.locator(".interactive-input-part .interactive-input-editor .monaco-editor").first

    @property
    def _picker(self) -> Locator:
        return self.page.locator(".chat-secondary-toolbar").get_by_role("button").first

    @property
    def _offered(self) -> Locator:
        return self.page.locator(".action-widget .monaco-list-row.action")

    def agents(self) -> list[str]:
        """Return who can be talked to, as the picker names them."""
        self._picker.click()
        expect(self._offered.first).to_be_visible()
        names = [row.inner_text().strip() for row in self._offered.all()]
        self.page.keyboard.press("Escape")
        expect(self._offered).to_have_count(0)
        return names

    def wait_agents(self, *names: str) -> None:
        """Wait until these can be talked to: the picker shows those that were there when it was opened."""
        offered: list[str] = []
        for _ in range(PATIENCE):
            offered = self.agents()
            if set(names) <= set(offered):
                return
            self.page.wait_for_timeout(MILLISECONDS / PATIENCE)
        raise AssertionError(f"VS Code offers only {offered}")

    def choose(self, agent: str) -> None:
        """Choose whom to talk to."""
        self._picker.click()
        self._offered.filter(has_text=agent).first.click()
        expect(self._picker).to_contain_text(agent)

    def run(self, command: str) -> None:
        """Run a command of VS Code by its name."""
        self.page.keyboard.press("F1")
        field = self.page.locator(".quick-input-widget input.input")
        field.fill(f">{command}")
        self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=command).first.click()
        expect(field).to_be_hidden()

    def reload(self) -> None:
        """Load it anew, as somebody who comes back."""
        self.page.reload()
        expect(self.input).to_be_visible()

    def open_session(self, title: str) -> None:
        """Open a session from the list beside the chat."""
        rows = self.page.locator(".agent-session-item-row")
        if not rows.first.is_visible():
            self.run("Show Agent Sessions Sidebar")
        rows.filter(has_text=title).first.click()

    def start_anew(self) -> None:
        """Leave this session for a new one."""
        self.page.locator(".auxiliarybar .title").get_by_role("button", name="New Chat").first.click()
        expect(self.page.locator(".interactive-request")).to_have_count(0)

    # Talking

    def say(self, text: str) -> None:
        """Send a message, and wait until it stands there."""
        self.input.click()
        self.page.keyboard.insert_text(text)
        self.page.locator(".chat-execute-toolbar").get_by_role("button", name="Send").click()
        sent = self.page.locator(".interactive-request").filter(has_text=text)
        expect(sent.last).to_be_visible()

    @property
    def answer(self) -> Locator:
        """The newest answer."""
        return self.page.locator(".interactive-response.chat-most-recent-response")

    def wait_answer(self, text: str | re.Pattern[str]) -> None:
        """Wait until the newest answer has this."""
        expect(self.answer).to_contain_text(text)

    def wait_idle(self) -> None:
        """Wait until the turn is over."""
        expect(self.page.locator(".chat-response-loading")).to_have_count(0)
        expect(self.page.locator(".chat-execute-toolbar").get_by_role("button", name="Cancel")).to_have_count(
            0
        )

    def cancel(self) -> None:
        """Stop the turn that runs."""
        self.page.locator(".chat-execute-toolbar").get_by_role("button", name="Cancel").click()

    def fork(self, text: str) -> None:
        """Fork the conversation before a message: it goes on in another chat of the session."""
        asked = self.page.locator(".interactive-request").filter(has_text=text).last
        asked.hover()
        asked.get_by_role("button", name="Fork conversation from this point").click()
        expect(asked).to_have_count(0)

    # Approving

    @property
    def confirmation(self) -> Locator:
        """What asks to be approved, above the field for messages."""
        return self.page.locator(".chat-tool-confirmation-carousel")

    def approve(self, label: str = "Allow") -> None:
        """Approve the call that waits."""
        self._rest_mouse()
        buttons = self.confirmation.locator(".chat-confirmation-widget-buttons")
        buttons.get_by_role("button", name=label, exact=True).click()
        expect(self.confirmation).to_have_count(0)

    def deny(self) -> None:
        """Dismiss the call that waits."""
        self._rest_mouse()
        self.confirmation.get_by_role("button", name="Skip All").click()
        expect(self.confirmation).to_have_count(0)

    def show_changes(self) -> None:
        """Open what the call that waits would change."""
        self._rest_mouse()
        self.confirmation.get_by_role("button", name="View All Changes").click()

    @property
    def changes(self) -> Locator:
        """The lines of the change that is open, as they would be."""
        return self.page.locator(".multiDiffEntry .modified .view-line")

    @property
    def changed_files(self) -> Locator:
        """The names of the files in the change that is open."""
        return self.page.locator(".multiDiffEntry .file-path")

    @property
    def replaced(self) -> Locator:
        """The lines of the change that is open, as they were."""
        return self.page.locator(".multiDiffEntry .original .view-line")

    @property
    def session_changes(self) -> Locator:
        """What says how much the session has changed, above the field for messages; it opens as a diff."""
        return self.page.locator(".agent-host-session-input-pills .chat-changes-pill-button")

    @property
    def turn_changes(self) -> Locator:
        """What says how much the newest turn has changed, below its answer."""
        return self.answer.locator(".chat-turn-pills-part")

    # Answering

    def answer_questions(self, **answers: str) -> None:
        """Answer the questions that are put, by their titles: with a text, or with the label of a choice."""
        questions = self.page.locator(".chat-question-carousel-widget-container")
        for number, (title, answer) in enumerate(answers.items(), 1):
            question = questions.get_by_role("region", name=f"question {number} of {len(answers)}: {title}")
            expect(question).to_be_visible()
            if question.get_by_role("option").count():
                question.get_by_role("option", name=answer).click()
            else:
                question.locator("input").fill(answer)
            if number == len(answers):
                question.get_by_role("button", name="Submit").click()
            elif questions.get_by_text(
                f"{number}/{len(answers)}"
            ).is_visible():  # a choice may move on by itself
                question.get_by_role("button", name="Next").click()
        expect(questions).to_be_empty()

    # Terminals

    def expand_terminal(self, command: str) -> Locator:
        """Show the output of a command that ran, and return its lines."""
        self._rest_mouse()
        box = self.answer.locator(".chat-terminal-thinking-collapsible").filter(has_text=command).last
        rows = box.locator(".xterm-rows")
        for _ in range(PATIENCE):  # it closes by itself when the command has ended
            if rows.is_visible():
                break
            box.locator(".chat-used-context-label").get_by_role("button").click()
            self.page.wait_for_timeout(MILLISECONDS / PATIENCE)
        expect(rows).to_be_visible()
        return rows

    def widen_chat(self, pixels: int) -> None:
        """Give the chat more room, as a person does: by its edge."""
        box = self.page.locator(".part.auxiliarybar").bounding_box()
        assert box
        edge, middle = box["x"] - 3, box["y"] + box["height"] / 2
        self.page.mouse.move(edge, middle)
        self.page.mouse.down()
        self.page.mouse.move(edge - pixels, middle, steps=8)
        self.page.mouse.up()

    def _rest_mouse(self) -> None:
        """Move the mouse to where nothing pops up over what is clicked next."""
        size = self.page.viewport_size
        assert size
        self.page.mouse.move(size["width"] / 2, size["height"] - 150)


@contextmanager
def opened(url: str, pictures: Path) -> Iterator[Window]:
    """Open a window of VS Code in a browser of its own; a picture shows it when something failed."""
    path = find_browser()
    if path is None:
        raise FileNotFoundError("Chromium is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            context = browser.new_context(viewport=SIZE)  # type: ignore[arg-type] # a plain dict will do
            window = Window(context.new_page(), pictures)
            try:
                window.open(url)
                yield window
            except BaseException:
                window.picture("failed")
                raise
        finally:
            browser.close()
