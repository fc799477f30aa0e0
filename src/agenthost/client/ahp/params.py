"""Params: what is sent to create sessions, chats and terminals."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from agenthost.wire.ahp import ROOT_URI
from agenthost.wire.ahp.chat import ChatSource
from agenthost.wire.ahp.commands.chat import CreateChatParams
from agenthost.wire.ahp.commands.session import CreateSessionParams
from agenthost.wire.ahp.commands.terminal import CreateTerminalParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.message import Message
from agenthost.wire.ahp.root import ModelSelection
from agenthost.wire.ahp.terminal import TerminalClaim
from agenthost.wire.json import JsonObject

__all__ = ["choices", "model_selection", "new_chat", "new_fork", "new_session", "new_terminal"]


def model_selection(model: str, config: Mapping[str, Any] | None) -> ModelSelection:
    """Return a model with its settings."""
    selection: ModelSelection = {"id": model}
    if config:
        selection["config"] = dict(config)
    return selection


def new_session(
    provider: str,
    *,
    uri: URI | None,
    config: JsonObject | None,
    folder: URI | None,
) -> CreateSessionParams:
    """Return the params of a new session; it has a random URI unless one is given."""
    params: CreateSessionParams = {"channel": uri or _random_uri(provider), "provider": provider}
    if config is not None:
        params["config"] = config
    if folder is not None:
        params["workingDirectories"] = [folder]
    return params


def new_fork(source: URI, turn_id: str, provider: str | None) -> CreateSessionParams:
    """Return the params of a session that begins like another one, up to a turn."""
    scheme = source.partition(":")[0]
    # AHP 1.0 forks into another chat of the same session: this is ours.
    params: CreateSessionParams = {
        "channel": _random_uri(scheme),
        "_meta": {"agenthost": {"fork": {"session": source, "turnId": turn_id}}},
    }
    if provider is not None:
        params["provider"] = provider
    return params


def new_chat(
    session: URI,
    *,
    uri: URI | None,
    message: Message | None,
    source: ChatSource | None,
    folders: Sequence[URI],
) -> CreateChatParams:
    """Return the params of a new chat; it has a random URI unless one is given."""
    params: CreateChatParams = {"channel": session, "chat": uri or _random_uri("ahp-chat")}
    if message is not None:
        params["initialMessage"] = message
    if source is not None:
        params["source"] = source
    if folders:
        params["workingDirectories"] = list(folders)
    return params


def new_terminal(
    claim: TerminalClaim,
    *,
    uri: URI | None,
    name: str | None,
    folder: URI | None,
    cols: int | None,
    rows: int | None,
) -> CreateTerminalParams:
    """Return the params of a new terminal; it has a random URI unless one is given."""
    params: CreateTerminalParams = {"channel": uri or _random_uri("ahp-terminal"), "claim": claim}
    if name is not None:
        params["name"] = name
    if folder is not None:
        params["cwd"] = folder
    if cols is not None:
        params["cols"] = cols
    if rows is not None:
        params["rows"] = rows
    return params


def choices(agent: str | None, folder: URI | None, config: JsonObject | None) -> dict[str, Any]:
    """Return the choices that a session's settings depend on."""
    given = {"channel": ROOT_URI, "provider": agent, "workingDirectory": folder, "config": config}
    return {key: value for key, value in given.items() if value is not None}


def _random_uri(scheme: str) -> URI:
    return f"{scheme}:/{secrets.token_hex(16)}"
