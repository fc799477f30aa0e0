"""Tools: made of functions, described, run, timed out and cancelled."""

import asyncio
import contextvars
import functools
import logging
import sys
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from agenthost.errors import InvalidValue, ToolError
from agenthost.host.authoring.tool import Tool, ToolContext, ToolOutcome, tool
from agenthost.wire.ahp.tool import ToolDefinition, ToolResultContent
from agenthost.wire.json import JsonObject
from agenthost.wire.shape import STRICT, Shape

T = TypeVar("T")

SECONDS = 10
"""How long a test waits for what must come."""


def within(work: Coroutine[Any, Any, T]) -> T:
    """Run on a loop of its own, and not for ever."""

    async def limited() -> T:
        async with asyncio.timeout(SECONDS):
            return await work

    return asyncio.run(limited())


@tool
def add(a: int, b: int = 1) -> int:  # noqa: D417 # one is enough
    """Add two numbers.

    Args:
        a: the first
    """
    return a + b


def test_a_function_is_a_tool_by_its_name_docstring_and_signature() -> None:
    assert (add.name, add.label, add.description) == ("add", "add", "Add two numbers.")
    assert add.schema["properties"]["a"] == {"type": "integer", "description": "the first"}
    assert add(1, b=2) == 3, "it can still be called"


def test_a_definition_has_only_what_was_declared() -> None:
    @tool(name="wipe-disk", title="Wipe", description="Gone.", destructive=True, open_world=False)
    def wipe(disk: str) -> None: ...

    definition = wipe.definition()
    Shape[ToolDefinition](ToolDefinition, STRICT).take(definition)
    assert definition == {
        "name": "wipe-disk",
        "title": "Wipe",
        "description": "Gone.",
        "inputSchema": wipe.schema,
        "annotations": {"destructiveHint": True, "openWorldHint": False},
    }
    assert set(add.definition()) == {"name", "description", "inputSchema"}


def test_only_read_only_or_idempotent_tools_may_be_repeated() -> None:
    assert not add.is_repeatable
    assert Tool.of(add.function, read_only=True).is_repeatable
    assert Tool.of(add.function, idempotent=True).is_repeatable


def test_a_method_of_an_instance_is_a_tool_too() -> None:
    class Shop:
        def price(self, item: str) -> str:
            return f"{item}: free"

    assert within(Tool.of(Shop().price).run({"item": "air"})).text == "air: free"
    with pytest.raises(TypeError, match="bound method of an instance"):
        tool(Shop.price)


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "ü"])
def test_a_name_that_models_do_not_accept_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid tool name"):
        tool(name=name)(add.function)


def test_a_timeout_of_zero_and_a_generator_are_refused() -> None:
    def counting() -> Iterator[int]:
        yield 1

    with pytest.raises(ValueError, match="above 0"):
        tool(timeout=0)(add.function)
    with pytest.raises(TypeError, match="generator"):
        tool(counting)


def test_arguments_can_be_checked_without_running_anything() -> None:
    assert add.read({"a": 2.0}) == {"a": 2}
    with pytest.raises(InvalidValue):
        add.read({"b": 2})


def test_wrong_arguments_are_a_failure_that_says_where_and_nothing_runs() -> None:
    ran = []

    @tool
    async def sleep(seconds: float) -> None:
        ran.append(seconds)

    outcome = within(sleep.run({"seconds": "1"}))
    assert outcome.text == "sleep was not run: $.seconds: expected a number, found a string"
    assert outcome.result()["error"]["code"] == "invalid-arguments"
    assert not ran


def test_an_asynchronous_tool_runs_on_the_loop_and_a_blocking_one_in_a_thread() -> None:
    @tool
    async def here() -> bool:
        return threading.current_thread() is threading.main_thread()

    @tool
    def there() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert within(here.run({})).text == "true"
    assert within(there.run({})).text == "false"


def test_a_blocking_tool_does_not_block_the_loop() -> None:
    go = threading.Event()

    @tool
    def wait() -> str:
        return "went" if go.wait(SECONDS) else "waited in vain"

    async def story() -> ToolOutcome:
        running = asyncio.create_task(wait.run({}))
        await asyncio.sleep(0)
        go.set()  # only a loop that is free gets here
        return await running

    assert within(story()).text == "went"


def test_a_blocking_tool_sees_the_callers_context_variables() -> None:
    trace: contextvars.ContextVar[str] = contextvars.ContextVar("trace", default="none")

    @tool
    def traced() -> str:
        return trace.get()

    async def story() -> ToolOutcome:
        trace.set("abc")
        return await traced.run({})

    assert within(story()).text == "abc"


def test_a_plain_function_around_an_asynchronous_one_is_awaited() -> None:
    async def inner(a: int) -> int:
        return a + 1

    @tool
    @functools.wraps(inner)
    def outer(a: int) -> Any:
        return inner(a=a)

    assert within(outer.run({"a": 1})).text == "2"


def test_an_asynchronous_tool_that_takes_too_long_is_stopped() -> None:
    stopped = []

    @tool(timeout=0.01)
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    outcome = within(hang.run({}, limit=SECONDS))
    assert outcome.text == "hang took longer than 0.01 seconds and was given up"
    assert outcome.result()["error"]["code"] == "timeout"
    assert stopped


def test_a_blocking_tool_that_takes_too_long_is_left_alone_and_its_late_failure_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    go, seen = threading.Event(), list[ToolResultContent]()

    @tool
    def hang(context: ToolContext) -> str:
        go.wait(SECONDS)
        context.report("too late")
        raise ValueError("cancelled" if context.is_cancelled else "not cancelled")

    async def story() -> ToolOutcome:
        outcome = await hang.run({}, ToolContext(on_progress=seen.extend), limit=0.01)
        (thread,) = [one for one in threading.enumerate() if one.name == "tool hang"]
        go.set()
        while thread.name == "tool hang":  # noqa: ASYNC110 - its end sets no event
            await asyncio.sleep(0.01)
        return outcome

    assert within(story()).text == "hang took longer than 0.01 seconds and was given up"
    assert not seen
    assert "failed after its call was cancelled" in caplog.text
    assert "ValueError: cancelled" in caplog.text


def test_a_time_out_inside_of_a_tool_is_its_own_failure() -> None:
    @tool(timeout=SECONDS)
    async def fetch() -> None:
        raise TimeoutError("no answer")

    assert within(fetch.run({})).text == "fetch failed: TimeoutError: no answer"


def test_cancelling_stops_an_asynchronous_tool_and_is_passed_on() -> None:
    async def story() -> str:
        begun, ended = asyncio.Event(), asyncio.Event()

        @tool
        async def hang() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        running = asyncio.create_task(hang.run({}))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return "ended" if ended.is_set() else "still there"

    assert within(story()) == "ended"


def test_cancelling_does_not_wait_for_a_blocking_tool_but_tells_it() -> None:
    told, begun, go = threading.Event(), threading.Event(), threading.Event()

    @tool
    def hang(context: ToolContext) -> None:
        begun.set()
        go.wait(SECONDS)
        if context.is_cancelled:
            told.set()

    async def story() -> None:
        running = asyncio.create_task(hang.run({}))
        await asyncio.to_thread(begun.wait, SECONDS)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    within(story())
    go.set()
    assert told.wait(SECONDS), "its loop is closed by now, and that is no harm"


def test_a_cancellation_that_a_tool_raises_by_itself_is_only_a_failure() -> None:
    @tool
    async def drop() -> None:
        raise asyncio.CancelledError

    assert within(drop.run({})).text == "drop failed: CancelledError"


def test_what_a_tool_says_on_purpose_reaches_the_model_and_not_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class NoSuchZone(ToolError):
        pass

    @tool
    def clock(zone: str) -> None:
        raise NoSuchZone(f"there is no zone {zone!r}")

    with caplog.at_level(logging.DEBUG, "agenthost.tools"):
        outcome = within(clock.run({"zone": "Mars"}))
    assert outcome.text == "there is no zone 'Mars'"
    assert [record.getMessage() for record in caplog.records if record.name == "agenthost.tools"] == [
        "tool clock raised NoSuchZone"
    ]


def test_what_a_tool_did_not_expect_is_short_for_the_model_and_whole_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @tool(title="Divide")
    def divide(by: int, password: str) -> float:
        return len(password) / by

    outcome = within(divide.run({"by": 0, "password": "hunter2"}))
    assert outcome.text == "divide failed: ZeroDivisionError: division by zero"
    assert outcome.message == "Divide failed"
    assert "Traceback" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize("is_async", [True, False])
def test_no_exception_of_a_tool_gets_out(is_async: bool) -> None:
    def leave(how: str) -> None:
        if how == "exit":
            sys.exit("bye")
        raise StopIteration(how)

    async def leave_later(how: str) -> None:
        leave(how)

    leaving = Tool.of(leave_later if is_async else leave, name="leave")
    assert within(leaving.run({"how": "exit"})).text == "leave failed: SystemExit: bye"
    assert not within(leaving.run({"how": "stop"})).success


def test_a_result_without_json_is_a_failure() -> None:
    @tool
    def odd() -> object:
        return object()

    assert within(odd.run({})).text.startswith("odd failed: TypeError: ")


def test_a_tool_knows_its_call_and_shows_how_far_it_is() -> None:
    seen: list[list[ToolResultContent]] = []

    @tool
    async def count(context: ToolContext, upto: int) -> str:
        for number in range(upto):
            await context.progress(f"{number}", {"type": "text", "text": "…"})
        return f"{context.session} {context.turn_id} {context.call_id}"

    context = ToolContext(session="demo:/1", turn_id="t1", call_id="c1", on_progress=seen.append)
    assert within(count.run({"upto": 2}, context)).text == "demo:/1 t1 c1"
    assert [blocks[0] for blocks in seen] == [{"type": "text", "text": text} for text in "01"]


def test_a_blocking_tool_reports_from_its_thread_and_the_last_word_is_seen() -> None:
    seen: list[tuple[int, list[ToolResultContent]]] = []

    def note(content: list[ToolResultContent]) -> None:
        seen.append((threading.get_ident(), content))

    @tool
    def count(context: ToolContext) -> None:
        for number in range(1000):
            context.report(f"{number}")

    within(count.run({}, ToolContext(on_progress=note)))
    assert seen[-1] == (threading.get_ident(), [{"type": "text", "text": "999"}])


def test_a_tool_by_a_schema_takes_what_fits_it_as_it_is() -> None:
    async def scale(arguments: JsonObject, context: ToolContext) -> JsonObject:
        return {"by": context.call_id, "twice": arguments["n"] * 2}

    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
    made = Tool.by_schema(scale, schema, description="Scale.", open_world=False)
    assert made.definition() == {
        "name": "scale",
        "description": "Scale.",
        "inputSchema": schema,
        "annotations": {"openWorldHint": False},
    }
    good = within(made.run({"n": 4}, ToolContext(call_id="c1")))
    assert good.structured == {"by": "c1", "twice": 8}
    bad = within(made.run({"n": 10}))
    assert bad.text == "scale was not run: $.n: expected a number of at most 9, found the number 10"
