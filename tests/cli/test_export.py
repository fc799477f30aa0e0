"""A session as Markdown."""

from typing import Any

from agenthost.cli.export import session_to_markdown

CREATED = "1970-01-01T00:00:00.000Z"
USED = "1970-01-01T00:01:00.000Z"
ASKED = {
    "id": "r",
    "message": "A form",
    "questions": [
        {"id": "n", "kind": "text", "message": "Name?"},
        {"id": "w", "kind": "multi-select", "message": "Which?"},
        {"id": "s", "kind": "boolean", "message": "Sure?"},
    ],
}
ANSWERS = {
    "n": {"state": "submitted", "value": {"kind": "text", "value": "Ann"}},
    "w": {"state": "submitted", "value": {"kind": "selected-many", "value": ["a", "b"]}},
    "s": {"state": "skipped"},
}


def test_everything_that_was_said_and_done_is_in_it() -> None:
    call: Any = {
        "displayName": "Add",
        "toolInput": '{"a":1}',
        "status": "completed",
        "success": True,
        "pastTenseMessage": "Ran Add",
        "content": [
            {"type": "text", "text": "before\n```\ninside\n```"},
            {"type": "fileEdit", "after": {"uri": "file:///a.txt", "content": {"uri": "x:/1"}}},
            {"type": "subagent", "title": "Helps", "resource": "demo:/below"},
        ],
    }
    parts: Any = [
        {"kind": "reasoning", "id": "r", "content": "hm\n\nwell"},
        {"kind": "markdown", "id": "m", "content": "Hello **you**\n"},
        {"kind": "toolCall", "toolCall": call},
        {"kind": "toolCall", "toolCall": {"displayName": "Wait", "status": "running", "toolInput": "{}"}},
        {"kind": "systemNotification", "content": "nearly full"},
        {"kind": "contentRef", "uri": "x:/2", "contentType": "image/png"},
        {"kind": "inputRequest", "request": ASKED, "answers": ANSWERS, "response": "accept"},
        {"kind": "of the future"},
    ]
    message = {"text": "hi", "attachments": [{"label": "notes.txt"}]}
    turns = [
        {
            "id": "1",
            "message": message,
            "responseParts": parts,
            "state": "cancelled",
            "usage": {"inputTokens": 5},
        },
        {
            "id": "2",
            "message": {"text": "again"},
            "responseParts": [{"kind": "error", "error": {"message": "no"}}],
            "state": "error",
        },
    ]
    active: Any = {"id": "3", "message": message, "responseParts": []}
    chat: Any = {"turns": turns, "activeTurn": active, "modifiedAt": USED}
    session: Any = {"provider": "demo", "title": "A talk"}
    assert session_to_markdown("demo:/abc", session, [chat], CREATED) == (
        "# A talk\n\nSession abc with demo, from 1970-01-01 00:00 UTC to 1970-01-01 00:01 UTC.\n\n"
        "## User\n\nhi\n\n- attached: notes.txt\n\n## demo\n\n> hm\n>\n> well\n\nHello **you**\n\n"
        '**Add**: Ran Add a: 1\n\n```json\n{"a":1}\n```\n\n````text\nbefore\n```\ninside\n```\n````\n\n'
        "- changed: file:///a.txt\n\n- subagent: Helps (demo:/below)\n\n"
        "**Wait**: Wait\n\n```json\n{}\n```\n\n"
        "*nearly full*\n\n*content: image/png: x:/2*\n\n"
        "**Question**: A form\n\n- Name? Ann\n- Which? a, b\n- Sure? not answered\n\n"
        "*stopped*\n\n*5 in tokens*\n\n"
        "## User\n\nagain\n\n## demo\n\n**Error:** no\n\n"
        "## User\n\nhi\n\n- attached: notes.txt\n\n## demo\n\n*still running*\n"
    )


def test_further_chats_follow_under_their_names() -> None:
    session: Any = {"title": "Ours", "provider": "demo"}

    def chat(name: str, title: str = "", kind: str = "fork") -> Any:
        origin = {"kind": kind}
        return {"resource": name, "title": title, "modifiedAt": USED, "turns": [], "origin": origin}

    chats = [chat("1"), chat("2"), chat("3", "Named"), chat("4"), chat("5", kind="sideChat")]
    text = session_to_markdown("demo:/abc", session, chats, None)
    names = [line for line in text.splitlines() if line.startswith("# ")]
    assert names == ["# Ours", "# Ours: Fork 1", "# Ours: Named", "# Ours: Fork 2", "# Ours: Side chat"]
