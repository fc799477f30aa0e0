"""One session, driven at once over AHP 1.0, 0.9 and 0.1 and over AAP: all of them see the same.

`tests/page/test_one_truth.py` has the page beside them.
"""

import asyncio
from pathlib import Path

from ahp_channels import channel_client
from ahp_sites import Place, on_a_host, served
from driving import NAMES, Drivers, said
from hosting import run
from rules import rule

ROUNDS = 4


@rule("1.0/Q1", "1.0/Q2")
def test_a_session_that_all_drive_at_once_is_the_same_for_all_also_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with Drivers("demo:/shared") as crew:
            async with served(tmp_path) as place:
                await crew.join(place.url)
                await crew.drive(ROUNDS)
                await crew.check()
                turns = crew.new.chat(crew.uri)["turns"]
                texts = [said(turn) for turn in turns]
                assert all(f"You said: Hello 0 from {name}" in texts for name in NAMES)
                for turn in turns:
                    # An application that says something while a call waits means: not that call.
                    assert turn["state"] in ("complete", "cancelled")
                    words = turn["message"]["text"].split()
                    if words[0] == "/edit":
                        is_there = (place.workspace / words[1]).exists()
                        assert is_there == (turn["state"] == "complete")
                await crew.new.send(crew.uri, "/edit last.txt at last")
                await crew.old.until(lambda: crew.old.state(crew.uri)["summary"]["status"] & 31 == 24)
                await crew.leave()
            async with served(tmp_path) as place:
                assert await crew.come_back(place.url) == ["replay"] * 3
                approving = asyncio.create_task(crew.approve(crew.old))
                await crew.wait_turns(4 * ROUNDS + 1)
                approving.cancel()
                assert (place.workspace / "last.txt").read_text() == "at last"
                await crew.drive(2)
                await crew.check()

    run(story)


@rule("1.0/C4")
@on_a_host()
async def test_a_call_that_one_protocol_waits_for_is_answered_over_another(place: Place) -> None:
    async with channel_client(place, "new") as new, place.client("old") as old:
        uri = await new.begun()
        await old.subscribe(uri)
        for number, answers in enumerate(("new", "old")):
            turn = await new.send(uri, f"/edit file{number}.txt text")
            call = await new.call(uri, "pending-confirmation")
            ids = {"turnId": turn, "toolCallId": call["toolCallId"]}
            approval = {"approved": True, "confirmed": "user-action"}
            await old.until(lambda: old.state(uri)["summary"]["status"] & 31 == 24)
            if answers == "new":
                await new.decide(new.chat_of(uri), "chat/toolCallConfirmed", **ids, **approval)
            else:
                await old.decide(uri, "session/toolCallConfirmed", **ids, **approval)
            await new.finish(uri, turn)
            await old.finish(uri, turn)
            assert (place.workspace / f"file{number}.txt").read_text() == "text"
        await new.check_folds()
