"""Calls: who may run what, what the model reads of it, and what people see."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agenthost.core.turn_transcript import WITHHELD
from agenthost.errors import ToolError
from agenthost.host.access.identity import Identity
from agenthost.host.authoring.agent import Answer
from agenthost.host.authoring.steps import Call
from agenthost.host.authoring.tool import tool
from agenthost.host.authoring.turn import Turn
from hosting import run
from talking import Talk, talking
from turning import assistant, calls_in, made, result, tell, transcript, until_call, use, user


@tool(editable=True)
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def asking(*calls: Call) -> Answer:
    """Make a step function that asks for these calls in one step, and tells what came of them."""

    async def step(turn: Turn) -> AsyncIterator[Any]:
        if turn.transcript[-1]["role"] == "tool":
            yield "Done."
            return
        for call in calls:
            yield call

    return step


def calling(*calls: Call) -> Answer:
    """Make a handler that does the same."""

    async def handler(turn: Turn) -> None:
        await turn.calls(*calls)
        await turn.say("Done.")

    return handler


BOTH = pytest.mark.parametrize("ask", [asking, calling])
Ask = Callable[..., Answer]
GREET = Call("greet", {"name": "Ann"})


def one_call(talk: Talk) -> tuple[Any, Any]:
    """Return the only call of the last turn, and what the model reads of it; the rest is as it should be."""
    (call,) = calls_in(talk.state["turns"][-1])
    said = transcript(talk.session)
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant"]
    assert said[2]["toolCallId"] == call["toolCallId"] == said[1]["content"][-1]["toolCallId"]
    assert said[3] == assistant("Done.")
    return call, said[2]["content"]


@BOTH
def test_a_trusted_tool_runs_at_once(tmp_path: Path, ask: Ask) -> None:
    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        (ready,) = heard.of("toolCallReady")
        assert (ready["confirmed"], ready["toolInput"]) == ("setting", '{"name":"Ann"}')
        call, read = one_call(talk)
        assert (call["status"], call["success"], read) == ("completed", True, "Hello Ann")

    tell(tmp_path, ask(GREET), story, tools=[greet], start={"tools": {"greet": True}})


@BOTH
def test_tools_of_one_step_run_side_by_side_and_are_one_message(tmp_path: Path, ask: Ask) -> None:
    met = asyncio.Barrier(2)

    async def meet(who: str) -> str:
        await met.wait()
        return who

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        one, two = (call["toolCallId"] for call in calls_in(talk.state["turns"][0]))
        said = transcript(talk.session)
        assert said[1] == assistant(use(one, "meet", who="a"), use(two, "meet", who="b"))
        assert sorted(said[2:4], key=str) == sorted([result(one, "a"), result(two, "b")], key=str)

    calls = (Call("meet", {"who": "a"}), Call("meet", {"who": "b"}))
    tell(tmp_path, ask(*calls), story, tools=[meet], start={"tools": {"meet": True}})


def test_calls_that_a_handler_gathers_are_one_step_and_those_after_it_another(tmp_path: Path) -> None:
    async def handler(turn: Turn) -> None:
        await turn.say("Both: ")
        both = await asyncio.gather(turn.call("greet", name="Ann"), turn.call("greet", {"name": "Bob"}))
        third = await turn.call("greet", name="Cid")
        await turn.say(", ".join([*both, third]))

    async def story(talk: Talk) -> None:
        await talk.say("Hi")
        roles = [message["role"] for message in transcript(talk.session)]
        assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
        assert talk.answer == "Both: Hello Ann, Hello Bob, Hello Cid"

    tell(tmp_path, handler, story, tools=[greet], start={"tools": {"greet": True}})


@BOTH
def test_an_untrusted_tool_waits_until_it_is_allowed(tmp_path: Path, ask: Ask) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        assert (ready["confirmationTitle"], ready["editable"]) == ("Allow greet?", True)
        assert [option["id"] for option in ready["options"]] == ["allow-once", "allow-session", "deny"]
        assert talk.state["summary"]["status"] & 24 == 24
        assert await talk.approve(ready, option="allow-once") is None
        await talk.finish()
        call, read = one_call(talk)
        assert (call["selectedOption"]["id"], read) == ("allow-once", "Hello Ann")

    tell(tmp_path, ask(GREET), story, tools=[greet])


@BOTH
@pytest.mark.parametrize(
    ("denial", "read"),
    [
        ({"reason": "denied"}, "Tool call denied"),
        ({"reason": "denied", "reasonMessage": {"markdown": "*not* now"}}, "Tool call denied: *not* now"),
        ({"reason": "skipped"}, "Tool call denied: skipped by the user"),
        (
            {"reason": "denied", "selectedOptionId": "deny", "userSuggestion": {"text": "Greet Bob."}},
            "Tool call denied\nThe user suggests: Greet Bob.",
        ),
    ],
)
def test_the_model_is_told_of_a_denial_and_its_reason(
    tmp_path: Path, ask: Ask, denial: Any, read: str
) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        ids = {"turnId": ready["turnId"], "toolCallId": ready["toolCallId"]}
        assert await talk.act("toolCallConfirmed", **ids, approved=False, **denial) is None
        await talk.finish()
        call, told = one_call(talk)
        assert (call["status"], told) == ("cancelled", read)

    tell(tmp_path, ask(GREET), story, tools=[greet])


@BOTH
@pytest.mark.parametrize(
    ("edit", "read"),
    [
        ('{"name":"Bob"}', 'The user changed the input to {"name":"Bob"}\nHello Bob'),
        ('{ "name": "Ann" }', "Hello Ann"),
        ('{"name":5}', "greet was not run"),
        ("[]", "greet was not run"),
        ("{", "the input is not JSON"),
        ("", "the input is not JSON"),
    ],
)
def test_an_edited_input_is_what_runs_and_the_model_is_told(
    tmp_path: Path, ask: Ask, edit: str, read: str
) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        ids = {"turnId": ready["turnId"], "toolCallId": ready["toolCallId"]}
        approval = {"approved": True, "confirmed": "user-action", "editedToolInput": edit}
        assert await talk.act("toolCallConfirmed", **ids, **approval) is None
        await talk.finish()
        call, told = one_call(talk)
        assert (call["toolInput"], call["success"]) == (edit, "Hello" in read)
        assert read in told
        assert transcript(talk.session)[1] == assistant(use(call["toolCallId"], "greet", name="Ann"))

    tell(tmp_path, ask(GREET), story, tools=[greet])


def test_a_tool_that_is_allowed_for_the_session_is_not_asked_for_again_even_after_a_restart(
    tmp_path: Path,
) -> None:
    agent = made(calling(GREET), tools=[greet])

    async def story() -> None:
        async with talking(tmp_path, agent) as host:
            talk = await Talk.begin(host)
            await talk.send("Hi")
            await talk.approve(await talk.hear_one("toolCallReady"), option="allow-session")
            await talk.finish()
            assert (await talk.say("Again")).of("toolCallReady")[0]["confirmed"] == "setting"
        async with talking(tmp_path, agent) as host:
            talk = await Talk.join(host, talk.uri)
            assert (await talk.say("Again")).of("toolCallReady")[0]["confirmed"] == "setting"
            talk.host.client(Identity("me")).act(talk.session, [], tools={"greet": False})
            await talk.send("Again")
            assert "confirmed" not in await talk.hear_one("toolCallReady")

    run(story)


@BOTH
@pytest.mark.parametrize("approved", [True, False])
def test_a_result_may_have_to_be_approved_before_the_model_reads_it(
    tmp_path: Path, ask: Ask, approved: bool
) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        call = await until_call(talk, "pending-result-confirmation")
        assert "secret" not in str(talk.session.messages)
        ids = {"turnId": call["turnId"], "toolCallId": call["toolCallId"]}
        assert await talk.act("toolCallResultConfirmed", **ids, approved=approved) is None
        await talk.finish()
        call, read = one_call(talk)
        assert (call["status"], read) == (("completed", "secret") if approved else ("cancelled", WITHHELD))

    peek = tool(name="peek", needs_result_confirmation=True)(lambda: "secret")
    tell(tmp_path, ask(Call("peek")), story, tools=[peek], start={"tools": {"peek": True}})


@BOTH
@pytest.mark.parametrize(
    ("of_agent", "of_tool", "read"),
    [
        (False, None, "open failed: ValueError: the code is 1234"),
        (True, None, "open failed: ValueError"),
        (False, True, "open failed: ValueError"),
        (True, False, "open failed: ValueError: the code is 1234"),
    ],
)
def test_the_text_of_an_error_can_be_masked_by_agent_and_tool_for_model_and_application(
    tmp_path: Path, ask: Ask, of_agent: bool, of_tool: bool | None, read: str
) -> None:
    said: Any = {} if of_tool is None else {"mask_errors": of_tool}

    @tool(name="open", **said)
    def open_it() -> None:
        raise ValueError("the code is 1234")

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        done, told = one_call(talk)
        assert (done["error"]["message"], told) == (read, read)
        assert ("1234" in str(heard.actions)) == ("1234" in read)

    start = {"tools": {"open": True}}
    tell(tmp_path, ask(Call("open")), story, tools=[open_it], mask_errors=of_agent, start=start)


@BOTH
@pytest.mark.parametrize(
    ("call", "code", "read"),
    [
        (Call("greet", {"nam": "Ann"}), "invalid-arguments", "greet was not run"),
        (Call("nothing"), "unknown-tool", "there is no tool 'nothing' in this session"),
        (Call("off"), "unknown-tool", "there is no tool 'off' in this session"),
        (Call("breaks"), "failed", "breaks failed: ValueError: not in …"),
        (Call("regrets"), "failed", "The shop is closed."),
        (Call("sleeps"), "timeout", "sleeps took longer than 0.01 seconds and was given up"),
    ],
)
def test_a_call_that_fails_is_told_in_a_sentence_and_asks_nobody(
    tmp_path: Path, ask: Ask, call: Call, code: str, read: str, caplog: pytest.LogCaptureFixture
) -> None:
    def off() -> None:
        raise AssertionError("it is switched off")

    def breaks() -> None:
        raise ValueError("not in /srv/ann/notes")

    def regrets() -> None:
        raise ToolError("The shop is closed.")

    @tool(timeout=0.01)
    async def sleeps() -> None:
        await asyncio.Event().wait()

    async def story(talk: Talk) -> None:
        heard = await talk.say("Hi")
        done, told = one_call(talk)
        assert (done["status"], done["success"], done["error"]["code"]) == ("completed", False, code)
        assert read in told
        assert "Traceback" not in str(heard.actions)
        assert ("Traceback" in caplog.text) == (call.name == "breaks")

    names = ("greet", "breaks", "regrets", "sleeps")
    with caplog.at_level(logging.INFO):
        tell(
            tmp_path,
            ask(call),
            story,
            tools=[greet, off, breaks, regrets, sleeps],
            start={"tools": dict.fromkeys(names, True)},
        )


@BOTH
def test_a_tool_that_was_switched_off_meanwhile_does_not_run_although_somebody_allows_it(
    tmp_path: Path, ask: Ask
) -> None:
    async def story(talk: Talk) -> None:
        await talk.send("Hi")
        ready = await talk.hear_one("toolCallReady")
        talk.host.client(Identity("me")).act(talk.session, [], tools={})
        assert talk.session.state["serverTools"] == []
        assert await talk.approve(ready) is None
        await talk.finish()
        call, told = one_call(talk)
        assert (call["success"], told) == (False, "there is no tool 'greet' in this session")

    tell(tmp_path, ask(GREET), story, tools=[greet])


@BOTH
def test_calls_in_an_imported_history_do_not_approve_their_tool(tmp_path: Path, ask: Ask) -> None:
    seed = [
        user("Hi"),
        assistant(use("c", "greet", name="Ann")),
        result("c", "Hello Ann"),
        assistant("There."),
    ]

    async def story(talk: Talk) -> None:
        await talk.say("Again")
        (call,) = calls_in(talk.state["turns"][-1])
        assert call["error"]["code"] == "unknown-tool"
        assert transcript(talk.session)[:4] == seed

    tell(tmp_path, ask(GREET), story, tools=[greet], start={"tools": {}, "messages": seed})


@BOTH
def test_a_tool_that_is_not_exposed_needs_no_approval(tmp_path: Path, ask: Ask) -> None:
    async def story(talk: Talk) -> None:
        assert talk.session.state["serverTools"] == []
        heard = await talk.say("Hi")
        assert heard.of("toolCallReady")[0]["confirmed"] == "not-needed"
        assert one_call(talk)[1] == "inner"

    inner = tool(name="inner", exposed=False)(lambda: "inner")
    tell(tmp_path, ask(Call("inner")), story, tools=[inner], start={"tools": {}})
