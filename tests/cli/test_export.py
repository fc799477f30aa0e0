"""A session as Markdown."""

from typing import Any

from agenthost.cli.export import session_to_markdown

SUMMARY = {
    "resource": "demo:/abc",
    "provider": "demo",
    "title": "A talk",
    "createdAt": 0,
    "modifiedAt": 60_000,
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
        {"kind": "of the future"},
    ]
    message = {"text": "hi", "attachments": [{"label": "notes.txt"}]}
    turns = [
        {
            "id": "1",
            "userMessage": message,
            "responseParts": parts,
            "state": "cancelled",
            "usage": {"inputTokens": 5},
        },
        {
            "id": "2",
            "userMessage": {"text": "again"},
            "responseParts": [],
            "state": "error",
            "error": {"message": "no"},
        },
    ]
    state = {
        "summary": SUMMARY,
        "turns": turns,
        "activeTurn": {"id": "3", "userMessage": message, "responseParts": []},
    }
    assert session_to_markdown(state) == (
        "# A talk\n\nSession abc with demo, from 1970-01-01 00:00 UTC to 1970-01-01 00:01 UTC.\n\n"
        "## User\n\nhi\n\n- attached: notes.txt\n\n## demo\n\n> hm\n>\n> well\n\nHello **you**\n\n"
        '**Add**: Ran Add a: 1\n\n```json\n{"a":1}\n```\n\n````text\nbefore\n```\ninside\n```\n````\n\n'
        "- changed: file:///a.txt\n\n- subagent: Helps (demo:/below)\n\n"
        "**Wait**: Wait\n\n```json\n{}\n```\n\n"
        "*nearly full*\n\n*content: image/png: x:/2*\n\n*stopped*\n\n*5 in tokens*\n\n"
        "## User\n\nagain\n\n## demo\n\n**Error:** no\n\n"
        "## User\n\nhi\n\n- attached: notes.txt\n\n## demo\n\n*still running*\n"
    )
