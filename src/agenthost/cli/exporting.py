"""A session as a document: all that was said and done in it, in Markdown. Pure."""

import re
from datetime import UTC, datetime
from typing import Any

from agenthost.cli.chat.calls import blocks_of, headline, outcome, sized, texts_of
from agenthost.cli.chat.story import plain_of
from agenthost.cli.chat.wording import ended, id_of, used
from agenthost.wire.ahp.message import label_of

__all__ = ["markdown_of", "time_of"]

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def markdown_of(state: Any) -> str:
    """Write a session down."""
    summary = state["summary"]
    turns = [*state["turns"], *([state["activeTurn"]] if "activeTurn" in state else [])]
    times = f"from {time_of(summary['createdAt'])} to {time_of(summary['modifiedAt'])}"
    blocks = [
        f"# {summary['title'] or 'Untitled'}",
        f"Session {id_of(summary['resource'])} with {summary['provider']}, {times}.",
        *(block for turn in turns for block in _turn(turn, summary["provider"])),
    ]
    return "\n\n".join(blocks) + "\n"


def time_of(milliseconds: float) -> str:
    """Write a time down, as everybody reads it."""
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _turn(turn: Any, agent: str) -> list[str]:
    message = turn["userMessage"]
    blocks = ["## User", message["text"]]
    blocks += [f"- attached: {label_of(attachment)}" for attachment in message.get("attachments", [])]
    blocks.append(f"## {agent}")
    for part in turn["responseParts"]:
        blocks += _part(part)
    if "state" not in turn:
        blocks.append("*still running*")
    elif sentence := ended(turn, None):
        blocks.append(f"*{sentence}*")
    if error := turn.get("error"):
        blocks.append(f"**Error:** {error['message']}")
    if usage := used(turn.get("usage")):
        blocks.append(f"*{usage}*")
    return [block for block in blocks if block.strip()]


def _part(part: Any) -> list[str]:
    match part["kind"]:
        case "markdown":
            return [part["content"].strip("\n")]
        case "reasoning":
            return ["\n".join(f"> {line}".rstrip() for line in part["content"].strip().split("\n"))]
        case "systemNotification":
            return [f"*{plain_of(part['content'])}*"]
        case "contentRef":
            return [f"*content: {sized(part)}*"]
        case "toolCall":
            return _call(part["toolCall"])
        case _:
            return []


def _call(call: Any) -> list[str]:
    is_over = call["status"] in ("completed", "cancelled")
    blocks = [f"**{call['displayName']}**: {outcome(call) if is_over else headline(call)}"]
    if given := call.get("toolInput"):
        blocks.append(_fenced(given, "json"))
    if texts := texts_of(call):
        blocks.append(_fenced("\n".join(texts), "text"))
    for edit in blocks_of(call, "fileEdit"):
        version = edit.get("after") or edit.get("before") or {}
        blocks.append(f"- changed: {version.get('uri', 'a file')}")
    blocks += [f"- subagent: {block['title']} ({block['resource']})" for block in blocks_of(call, "subagent")]
    return blocks


def _fenced(text: str, language: str) -> str:
    """Put a text into a fence that is longer than any inside of it."""
    longest = max((len(fence) for fence in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
