"""Tool calls of a program that speaks ACP: shown, asked about, told; its files and its terminals."""

from pathlib import Path
from typing import Any

import pytest

from acp_acting import Served
from agenthost.core.actions import terminal_input
from agenthost.core.transcript import check_imported_history, public
from agenthost.host.access.identity import Identity
from talking import Talk
from turning import assistant, calls_in, result, transcript, until_call, use, user


def last_calls(talk: Talk) -> list[Any]:
    return calls_in(talk.state["turns"][-1])


def kinds(heard: Any) -> list[str]:
    return [
        kind for one in heard.actions if (kind := one["type"].removeprefix("session/")).startswith("tool")
    ]


def test_a_call_is_shown_from_its_announcement_to_its_result(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        heard = await talk.say("read notes.txt")
        assert kinds(heard) == [
            *("toolCallStart", "toolCallReady", "toolCallContentChanged", "toolCallComplete"),
        ]
        (call,) = last_calls(talk)
        assert (call["toolName"], call["displayName"], call["invocationMessage"]) == (
            *("read", "Read", "Read notes.txt"),
        )
        assert (call["success"], call["structuredContent"]) == (True, {"lines": 3})
        call_id = call["toolCallId"]
        assert transcript(talk.session) == [
            user("read notes.txt"),
            assistant(use(call_id, "read", title="Read notes.txt", paths=["notes.txt"])),
            result(call_id, "all of it"),
            assistant("There it is."),
        ]

    served.run(story())


def test_a_call_that_fails_says_why(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say("fail out of luck")
        (call,) = last_calls(talk)
        assert (call["success"], call["error"]["message"]) == (False, "out of luck")
        assert call["toolInput"] == '{"how":"hard"}'

    served.run(story())


@pytest.mark.parametrize(
    ("option", "chosen"), [(None, "y1"), ("y1", "y1"), ("yy", "yy")], ids=["plainly", "once", "always"]
)
def test_the_program_gets_exactly_the_option_that_was_chosen(
    served: Served, option: str | None, chosen: str
) -> None:
    name = f"allowed-{option}.txt"

    async def story() -> None:
        talk = await served.talk()
        await talk.send(f"edit {name}")
        call = await until_call(talk, "pending-confirmation")
        assert [(one["id"], one["label"], one["kind"]) for one in call["options"]] == [
            ("y1", "Yes", "approve"),
            ("yy", "Always", "approve"),
            ("n1", "No", "deny"),
        ]
        (edit,) = call["edits"]["items"]
        uri = (served.workspace / name).as_uri()
        assert ("before" in edit, edit["after"]["uri"], edit["diff"]["added"]) == (False, uri, 1)
        assert await talk.approve(call, option=option) is None
        heard = await talk.finish()
        assert heard.text == f"You chose {chosen}."
        assert (served.workspace / name).read_text() == "new\n"
        (done,) = last_calls(talk)
        assert (done["status"], done["content"]) == ("completed", [{"type": "fileEdit", **edit}])
        assert talk.state["summary"]["diffs"] == [edit]

    served.run(story())


def test_a_change_of_a_file_shows_what_was_there(served: Served) -> None:
    (served.workspace / "old.txt").write_text("old\n")

    async def story() -> None:
        talk = await served.talk()
        await talk.send("edit old.txt")
        call = await until_call(talk, "pending-confirmation")
        (edit,) = call["edits"]["items"]
        before = await talk.host.parts.files.read(None, {"uri": edit["before"]["content"]["uri"]})
        assert before["data"] == "old\n"
        await talk.approve(call)
        await talk.finish()

    served.run(story())


def test_a_plain_denial_denies_once_and_the_program_is_told_the_reason(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("edit denied.txt")
        call = await until_call(talk, "pending-confirmation")
        assert await talk.deny(call, "say it in words") is None
        heard = await talk.finish()
        # ACP has no field for the reason, so it is sent in a later prompt.
        assert heard.text == "You chose n1. I heard: 'Edit denied.txt' was denied: say it in words"
        assert not (served.workspace / "denied.txt").exists()
        (done,) = last_calls(talk)
        assert (done["status"], done["reason"]) == ("cancelled", "denied")
        assert transcript(talk.session)[2] == result(done["toolCallId"], "Tool call denied: say it in words")

    served.run(story())


def test_a_plain_approval_does_not_allow_permanently(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("forever")
        await talk.approve(await until_call(talk, "pending-confirmation"))
        assert (await talk.finish()).text == "You chose cancelled."
        await talk.send("forever")
        await talk.approve(await until_call(talk, "pending-confirmation"), option="yy")
        assert (await talk.finish()).text == "You chose yy."

    served.run(story())


def test_a_program_may_start_a_call_before_it_asks(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("late late.txt")
        call = await until_call(talk, "pending-confirmation")
        path = served.workspace / "late.txt"
        assert call["confirmationTitle"] == f"Allow write: {path}?"
        await talk.approve(call)
        await talk.finish()
        (done,) = last_calls(talk)
        text, edit = done["content"]
        assert text == {"type": "text", "text": "Wrote it."}
        # The call names no change, but the program asked the host to write.
        assert (edit["type"], edit["after"]["uri"]) == ("fileEdit", path.as_uri())
        assert len(transcript(talk.session)) == 4

    served.run(story())


def test_while_one_call_asks_nothing_new_begins_and_what_runs_may_end(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("both")
        call = await until_call(talk, "pending-confirmation")
        await until_call(talk, "completed")
        turn = talk.state["activeTurn"]
        assert [one["invocationMessage"] for one in calls_in(turn)] == ["Run", "Ask 2"]
        await talk.approve(call, option="yy")
        await talk.hear(lambda action: action.get("invocationMessage") == "Ask 3")
        await talk.approve(await until_call(talk, "pending-confirmation"))
        heard = await talk.finish()
        assert heard.text == "Meanwhile. You chose yy y1."
        one, two, three = (call["toolCallId"] for call in last_calls(talk))
        messages = public([said.message for said in talk.session.messages])
        check_imported_history(messages)
        assert messages == [
            user("both"),
            assistant(use(two, "other", n=2)),
            assistant(use(three, "other", n=3)),
            result(three, "3"),
            result(two, "2"),
            assistant(use(one, "execute", n=1)),
            result(one, "one"),
            assistant("Meanwhile. You chose yy y1."),
        ]

    served.run(story())


def test_files_are_read_inside_of_the_workspace_only(served: Served, tmp_path: Path) -> None:
    (served.workspace / "lines.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "secret.txt").write_text("secret")

    async def story() -> None:
        talk = await served.talk()
        assert (await talk.say(f"fetch {served.workspace}/lines.txt")).text == "one\ntwo\nthree\n"
        assert (await talk.say(f"fetch {served.workspace}/lines.txt:2")).text == "two\n"
        assert (await talk.say(f"fetch {served.workspace}/none.txt")).text.startswith("-32002: Resource not")
        denied = (await talk.say(f"fetch {tmp_path}/secret.txt")).text
        assert denied.startswith("-32602: ")
        assert "secret" not in denied.replace("secret.txt", "")
        assert (await talk.say("fetch lines.txt")).text.startswith("-32602: expected an absolute path")

    served.run(story())


def test_what_is_written_without_a_call_is_shown_as_one(served: Served, tmp_path: Path) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.say(f"write {served.workspace}/plain.txt hello")
        (call,) = last_calls(talk)
        assert (call["invocationMessage"], call["content"][0]["type"]) == ("Write plain.txt", "fileEdit")
        assert (served.workspace / "plain.txt").read_text() == "hello"
        heard = await talk.say(f"write {tmp_path}/outside.txt hello")
        assert heard.text.startswith("-32602: ")
        assert not (tmp_path / "outside.txt").exists()

    served.run(story())


def test_its_commands_run_in_terminals_that_people_can_watch(served: Served) -> None:
    async def story() -> None:
        talk = await served.talk()
        await talk.send("run echo hello $WHO; read line; echo $line; exit 3")
        call = await until_call(talk, "running")
        while not call.get("content"):
            await talk.hear_one("toolCallContentChanged")
            call = await until_call(talk, "running")
        (block,) = call["content"]
        terminal = talk.host.parts.terminals.get(block["resource"])
        claim: Any = terminal.claim
        assert claim["toolCallId"] == call["toolCallId"]
        typed = terminal_input("from me\n")
        assert await talk.host.client(Identity("watcher")).dispatch(1, terminal.uri, typed) is None
        heard = await talk.finish()
        code, _, output = heard.text.partition(": ")
        # What is typed is printed too, sooner or later.
        assert (code, sorted(output.splitlines())) == ("3", ["from me", "from me", "hello me"])
        (done,) = last_calls(talk)
        assert done["content"] == [block]

    served.run(story())
