"""What people do in VS Code with a host, step by step; looked at on the screen, and on disk if it matters."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from playwright.sync_api import expect

from vscode.window import MILLISECONDS, Window

__all__ = ["STEPS", "Stage", "Step", "tell"]

RESTART_SECONDS = 6
"""How long the turn takes in which the host is killed."""

DOTS_A_SECOND = 20
"""How fast `/wait` of the demo agent is."""


class Stage(Protocol):
    """The host that VS Code talks to."""

    work: Path

    def start(self) -> None:
        """Start it again."""

    def kill(self) -> None:
        """Kill it."""


Doing: TypeAlias = Callable[[Window, Stage], None]


class Step(NamedTuple):
    """A step, and the sentence that is true when it has been done."""

    sentence: str
    run: Doing

    @property
    def name(self) -> str:
        """What it is called in files."""
        return self.run.__name__.replace("_", "-")


STEPS: list[Step] = []


def _step(sentence: str) -> Callable[[Doing], Doing]:
    """Make a function the next step."""

    def keep(run: Doing) -> Doing:
        STEPS.append(Step(sentence, run))
        return run

    return keep


@_step("it connects with the token, and offers the host's agents beside its own")
def connects(window: Window, _stage: Stage) -> None:
    window.wait_agents("Demo", "Plain")


@_step("an agent that names no model can be picked, and answers")
def talks_to_one_without_models(window: Window, _stage: Stage) -> None:
    window.choose("Plain")
    window.say("Hello")
    window.wait_answer("That has 5 characters.")
    window.wait_idle()
    window.start_anew()


@_step("another agent is picked, and answers")
def converses(window: Window, _stage: Stage) -> None:
    window.choose("Demo")
    window.say("Hello from VS Code")
    window.wait_answer("You said: Hello from VS Code")
    window.wait_idle()


@_step("Markdown is shown as Markdown")
def shows_markdown(window: Window, _stage: Stage) -> None:
    window.say("/help")
    expect(window.answer.locator("li").filter(has_text="/think").first).to_be_visible()
    window.wait_idle()


@_step("an edit asks first, shows what it would change, and is done when it is allowed")
def approves_an_edit(window: Window, stage: Stage) -> None:
    file = stage.work / "app.py"
    window.say("/edit app.py print('good morning')")
    expect(window.confirmation).to_contain_text("app.py")
    window.show_changes()
    expect(window.changes.filter(has_text=re.compile(r"good\s+morning")).first).to_be_visible()
    assert "good morning" not in file.read_text()
    window.picture("asks-to-approve")
    window.approve()
    window.wait_answer(re.compile(r"Wrote\s+21\s+characters"))
    window.wait_idle()
    assert file.read_text() == "print('good morning')"
    expect(window.answer).to_contain_text("app.py")


@_step("an edit that is denied is not done, and the agent is told")
def denies_an_edit(window: Window, stage: Stage) -> None:
    window.say("/edit notes.txt Buy milk")
    window.deny()
    window.wait_answer("Tool call denied")
    window.wait_idle()
    assert not (stage.work / "notes.txt").exists()


@_step("the session and the turn say what they have changed, each file once, and show it as a diff")
def shows_the_changes(window: Window, _stage: Stage) -> None:
    window.say("/edit app.py print('good evening')")
    window.approve()
    window.wait_answer(re.compile(r"Wrote\s+21\s+characters"))
    window.wait_idle()
    expect(window.turn_changes).to_have_text(re.compile(r"1 file changed\s*\+1\s*-1"))
    expect(window.session_changes).to_have_text(re.compile(r"1 File\s*\+1\s*-5"))
    window.session_changes.click()
    expect(window.changes.filter(has_text=re.compile(r"good\s+evening")).first).to_be_visible()
    expect(window.changed_files.first).to_contain_text("app.py")
    expect(window.replaced.filter(has_text=re.compile(r"def\s+main")).first).to_be_visible()


@_step("a command is allowed by a choice of the host's, and its terminal is shown")
def sees_a_terminal(window: Window, _stage: Stage) -> None:
    command = "echo one; echo two"
    window.say(f"/call run {json.dumps({'command': command})}")
    window.approve("Allow once")
    window.wait_idle()
    rows = window.expand_terminal(command)
    expect(rows).to_contain_text("one")
    expect(rows).to_contain_text("two")


@_step("questions of each kind are answered")
def answers_questions(window: Window, _stage: Stage) -> None:
    window.say("/ask")
    window.answer_questions(Name="Ada", Price="9.5", Count="3", Gift="True", Colour="Green", Extras="ribbon")
    for line in ("name: Ada", "price: 9.5", "count: 3", "gift: yes", "colour: green", "extras: ribbon"):
        window.wait_answer(line)
    window.wait_idle()


@_step("an error is shown, and the next turn runs")
def shows_an_error(window: Window, _stage: Stage) -> None:
    window.say("/error")
    window.wait_answer("this is the error that you asked for")
    window.wait_idle()


@_step("a turn that is cancelled stops, and the next one runs")
def cancels(window: Window, _stage: Stage) -> None:
    window.say("/wait 600")
    window.wait_answer("...")
    window.cancel()
    window.wait_idle()
    window.say("Still there?")
    window.wait_answer("You said: Still there?")
    window.wait_idle()


@_step("the host is killed in mid-turn and comes back: nothing of the answer is lost or doubled")
def survives_a_restart(window: Window, stage: Stage) -> None:
    window.say(f"/wait {RESTART_SECONDS}")
    window.wait_answer("......")
    stage.kill()
    time.sleep(1)
    stage.start()
    whole = "." * (RESTART_SECONDS * DOTS_A_SECOND)
    expect(window.answer.locator(".rendered-markdown").first).to_have_text(whole, timeout=2 * MILLISECONDS)
    window.wait_idle()
    window.say("And now?")
    window.wait_answer("You said: And now?")
    window.wait_idle()


@_step("a window that is loaded anew finds the session by its title, and goes on in it")
def finds_the_session_again(window: Window, _stage: Stage) -> None:
    window.say("/title A tour of VS Code")
    window.wait_answer("The title is now: A tour of VS Code")
    window.wait_idle()
    window.reload()
    window.open_session("A tour of VS Code")
    window.wait_answer("The title is now: A tour of VS Code")
    expect(window.session_changes).to_contain_text("1 File")
    window.say("Good to see you")
    window.wait_answer("You said: Good to see you")
    window.wait_idle()


@_step("a conversation is forked, and the fork goes on by itself")
def forks(window: Window, _stage: Stage) -> None:
    window.start_anew()
    for text in ("One", "Two"):
        window.say(text)
        window.wait_answer(f"You said: {text}")
        window.wait_idle()
    window.fork("Two")
    window.wait_answer("You said: One")
    window.say("Another two")
    window.wait_answer("You said: Another two")
    window.wait_idle()
    expect(window.page.locator(".interactive-request")).to_have_count(2)


@_step("no other server was asked for anything")
def stays_on_this_machine(window: Window, _stage: Stage) -> None:
    assert window.foreign == []


def tell(window: Window, stage: Stage, say: Callable[[str], None]) -> None:
    """Do all steps, say of each that it holds, and keep a picture of it."""
    for step in STEPS:
        begun = time.monotonic()
        try:
            step.run(window, stage)
        except BaseException:
            say(f"FAILED  {step.sentence}")
            raise
        window.picture(step.name)
        say(f"ok {time.monotonic() - begun:5.1f} s  {step.sentence}")
