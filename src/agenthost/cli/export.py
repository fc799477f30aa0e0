"""A session as a Markdown document: everything that was said and done in it. Pure."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agenthost.cli.chat.render.calls import content_blocks, describe_content, headline, outcome, text_lines
from agenthost.cli.chat.render.events import plain_text
from agenthost.cli.chat.render.wording import describe_end, describe_usage, session_id
from agenthost.core.queries import has_ended
from agenthost.core.times import unix_ms
from agenthost.wire.ahp.chat import ChatState
from agenthost.wire.ahp.message import attachment_label
from agenthost.wire.ahp.session import SessionState

__all__ = ["format_time", "session_to_markdown"]

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


_KINDS = {"fork": "Fork", "sideChat": "Side chat"}
"""What chats without a title are called, by their origin."""


def session_to_markdown(
    uri: str, session: SessionState, chats: Sequence[ChatState], created_at: str | None
) -> str:
    """Return the document of a session and its chats, the default one first."""
    title = session["title"] or "Untitled"
    begun = f"from {format_time(created_at)} to " if created_at else "last used "
    used = format_time(max(chat["modifiedAt"] for chat in chats))
    blocks = [f"# {title}", f"Session {session_id(uri)} with {session['provider']}, {begun}{used}."]
    for number, chat in enumerate(chats):
        if number > 0:
            blocks.append(f"# {title}: {_chat_name(chat, chats[1:])}")
        turns = [*chat["turns"], *([chat["activeTurn"]] if "activeTurn" in chat else [])]
        blocks += (block for turn in turns for block in _turn(turn, session["provider"]))
    return "\n\n".join(blocks) + "\n"


def _chat_name(chat: ChatState, others: Sequence[ChatState]) -> str:
    """Return the name of a further chat; without a title, after its origin and with a number if needed."""
    if chat["title"]:
        return chat["title"]
    kind = _chat_kind(chat)
    alike = [one["resource"] for one in others if not one["title"] and _chat_kind(one) == kind]
    number = f" {alike.index(chat['resource']) + 1}" if len(alike) > 1 else ""
    return f"{kind}{number}"


def _chat_kind(chat: ChatState) -> str:
    return _KINDS.get(chat.get("origin", {"kind": "user"})["kind"], "Chat")


def format_time(time: str) -> str:
    """Return a time in UTC, to the minute."""
    milliseconds = unix_ms(time) or 0
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _turn(turn: Any, agent: str) -> list[str]:
    message = turn["message"]
    blocks = ["## User", message["text"]]
    blocks += [f"- attached: {attachment_label(attachment)}" for attachment in message.get("attachments", [])]
    blocks.append(f"## {agent}")
    for part in turn["responseParts"]:
        blocks += _part(part)
    if "state" not in turn:
        blocks.append("*still running*")
    elif sentence := describe_end(turn, None):
        blocks.append(f"*{sentence}*")
    if usage := describe_usage(turn.get("usage")):
        blocks.append(f"*{usage}*")
    return [block for block in blocks if block.strip()]


def _part(part: Any) -> list[str]:
    match part["kind"]:
        case "markdown":
            return [part["content"].strip("\n")]
        case "reasoning":
            return ["\n".join(f"> {line}".rstrip() for line in part["content"].strip().split("\n"))]
        case "systemNotification":
            return [f"*{plain_text(part['content'])}*"]
        case "contentRef":
            return [f"*content: {describe_content(part)}*"]
        case "error":
            return [f"**Error:** {part['error']['message']}"]
        case "inputRequest":
            return _request(part["request"], part)
        case "toolCall":
            return _call(part["toolCall"])
        case _:
            return []


def _request(request: Any, part: Any) -> list[str]:
    """Return the questions of the agent, and what was answered."""
    answers = {**request.get("answers", {}), **part.get("answers", {})}
    blocks = [f"**Question**: {plain_text(request.get('message'))}"]
    for question in request.get("questions", []):
        value: Any = answers.get(question["id"], {}).get("value", {}).get("value", "not answered")
        said = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        blocks.append(f"- {plain_text(question.get('message'))} {said}")
    return [*blocks[:1], "\n".join(blocks[1:])]


def _call(call: Any) -> list[str]:
    blocks = [f"**{call['displayName']}**: {outcome(call) if has_ended(call) else headline(call)}"]
    if isinstance(given := call.get("toolInput"), str) and given:
        blocks.append(_fenced(given, "json"))
    if texts := text_lines(call):
        blocks.append(_fenced("\n".join(texts), "text"))
    for edit in content_blocks(call, "fileEdit"):
        version = edit.get("after") or edit.get("before") or {}
        blocks.append(f"- changed: {version.get('uri', 'a file')}")
    blocks += [
        f"- subagent: {block['title']} ({block['resource']})" for block in content_blocks(call, "subagent")
    ]
    return blocks


def _fenced(text: str, language: str) -> str:
    """Put a text into a fence that is longer than any inside it."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
