"""Turns with a program that speaks ACP: what it says, thinks, plans, and how it stops."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from acp_acting import PROGRAMS, Served, last
from agenthost.agents.acp import AcpAgent
from agenthost.wire.ahp.message import MessageAttachment
from talking import said
from turning import parts, send_pending, transcript, until

ECHO = [sys.executable, str(PROGRAMS / "echo.py")]


def test_the_smallest_program_there_is_answers(tmp_path: Path) -> None:
    heard = said(tmp_path, AcpAgent("echo", ECHO), "Hello there")
    assert heard.text == "Hello there"
    assert heard.ending["type"] == "session/turnComplete"


def test_a_missing_program_is_named_in_the_first_turn(tmp_path: Path) -> None:
    heard = said(tmp_path, AcpAgent("nobody", "no-such-program --acp"), "Hello")
    assert heard.ending["error"] == {
        "errorType": "agentUnavailable",
        "message": "there is no program 'no-such-program' to run; install it, or correct the command: "
        "no-such-program --acp",
    }


def test_a_program_that_does_not_speak_acp_is_reported_with_its_output(tmp_path: Path) -> None:
    heard = said(tmp_path, AcpAgent("cat", ["sh", "-c", "echo no idea >&2; exit 4"]), "Hello")
    assert heard.ending["error"]["message"] == (
        "cat ended with exit code 4; the next message starts it again. Its last output: no idea"
    )


def test_text_arrives_unchanged(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("say to be or not to be")
        assert heard.text == "to be or not to be "
        assert last(talk)["usage"] == {"inputTokens": 3, "outputTokens": 2}

    served.run(story())


def test_thoughts_are_thoughts(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("think of nothing")
        assert parts(last(talk)) == [("reasoning", "of nothing"), ("markdown", "I thought.")]

    served.run(story())


def test_a_new_plan_is_a_thought_and_its_progress_the_activity(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("plan")
        assert parts(last(talk)) == [
            ("reasoning", "\n\nPlan:\n- [ ] Look\n- [ ] Leap\n\n"),
            ("markdown", "Planned."),
        ]
        doing = [action.get("activity") for action in heard.of("activityChanged")]
        assert doing == ["Look (0 of 2 done)", "Leap (1 of 2 done)"]
        await until(talk, lambda state: "activity" not in state["summary"])

    served.run(story())


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_the_stop_reason_is_reported(served: Served, reason: str) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say(f"stop {reason}")
        assert heard.ending["type"] == "session/turnComplete"
        assert talk.session.private["stops"] == {last(talk)["id"]: reason}

    served.run(story())


def test_reaching_the_limit_of_requests_is_reported(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("stop max_turn_requests")
        (notice,) = parts(last(talk))
        assert notice[0] == "systemNotification"

    served.run(story())


def test_lines_that_are_not_messages_are_ignored(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("garbage")
        assert heard.text == "Still here."

    served.run(story())


def test_a_line_may_be_very_long(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("flood 3000000")
        assert len(heard.text) == 3_000_000

    served.run(story())


def test_attachments_are_sent_in_a_form_that_the_program_accepts(served: Served) -> None:
    image: MessageAttachment = {
        "type": "embeddedResource",
        "label": "dot",
        "data": "aGVsbG8=",
        "contentType": "image/png",
    }
    words: Any = {**image, "label": "notes.txt", "contentType": "text/plain"}
    file: MessageAttachment = {"type": "resource", "label": "a.py", "uri": "file:///a.py"}
    simple: MessageAttachment = {"type": "simple", "label": "x", "modelRepresentation": "an x"}

    async def story() -> None:
        talk = await served.talk()
        # The text comes last: the program takes the last text as its command.
        heard = await talk.say("blocks", [image, words, file])
        assert json.loads(heard.text) == [
            {"type": "text", "text": "blocks"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {
                "type": "resource",
                "resource": {"uri": "attachment:///notes.txt", "mimeType": "text/plain", "text": "hello"},
            },
            {"type": "resource_link", "name": "a.py", "uri": "file:///a.py"},
        ]
        heard = await talk.say("", [{**simple, "modelRepresentation": "blocks"}])
        assert json.loads(heard.text) == [{"type": "text", "text": "blocks"}]

    served.run(story())


def test_a_picture_of_the_program_is_shown_by_reference(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("picture")
        (part,) = last(talk)["responseParts"]
        assert (part["kind"], part["contentType"]) == ("contentRef", "image/png")
        found = await talk.host.parts.files.read(None, {"uri": part["uri"]})
        assert found["data"] in ("hello", "aGVsbG8=")

    served.run(story())


def test_the_program_names_the_session(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("title A tale")
        assert talk.state["summary"]["title"] == "A tale"

    served.run(story())


def test_steering_reaches_the_program_after_its_answer(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("edit steered.txt")
        ready = await talk.hear_one("toolCallReady")
        await send_pending(talk, "say something else", "steering")
        await talk.approve(ready)
        heard = await talk.finish()
        assert heard.text == "You chose y1.something else "
        assert [one["role"] for one in transcript(talk.session)] == [
            *["user", "assistant", "tool", "assistant", "user", "assistant"]
        ]

    served.run(story())


def test_its_commands_are_completed(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        (command,) = served.site.host.agents["acting"].commands_of(talk.uri)
        assert (command.name, command.description) == ("say", "Say something.")

    served.run(story())


def test_what_it_offers_is_declared(served: Served) -> None:
    async def story() -> None:
        await served.talk()
        agent = served.site.host.agents["acting"]
        assert (agent.label, agent.version, tuple(agent.images)) == ("Acting", "7.1", ("data",))
        (info,) = served.site.host.parts.engine.root.state["agents"]
        assert info["displayName"] == "Acting"

    served.run(story())
