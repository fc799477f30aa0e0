"""Limits of a host, with defaults for one machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a host keeps and allows.

    Attributes:
        sessions_in_memory: idle sessions beyond this number leave memory, least recently used first.
        log_per_session: how many log entries of a session are kept for replay, at least.
        log_in_all: how many log entries of all sessions together are kept for replay, at least.
        subscriber_items: how many envelopes may wait for one subscriber before it is cut off.
        subscriber_bytes: how large they may be together; a client that missed more gets snapshots.
        write_backlog: how many writes may wait for the disk before agents have to wait.
        steps_per_turn: how often an agent may ask for tools in one turn.
        turn_seconds: how long a turn may take, not counting the time that it waits for people.
        crashes_per_turn: how often the host may crash during a turn that makes no progress.
        tool_seconds: how long a tool may take if it declares no time limit of its own.
        tools_at_once: how many tools may run at the same time, in all sessions together.
        tasks_at_once: how many tasks of one turn may run at the same time, including tasks of subagents.
        tasks_per_turn: how many tasks one turn may give in total, including tasks of subagents.
        task_depth: how deep subagents may be nested; with 1, subagents have none of their own.
        chats_per_session: how many chats a session may have, not counting those of subagents.
        message_bytes: how large a user message may be.
        client_grace_seconds: how long calls wait for a client that disconnected to return.
        terminals: how many terminals may exist at the same time.
        terminals_per_owner: how many of them one owner may have.
        scrollback_characters: how much of a terminal's output is kept for new subscribers, at least.
        watches: how many watches of files may exist at the same time.
        watches_per_owner: how many of them one owner may have.
        watches_per_client: how many of them one client may have.
        watched_entries: how many files and folders the watches of one owner may cover together.
    """

    sessions_in_memory: int = 1_000
    log_per_session: int = 10_000
    log_in_all: int = 1_000_000
    subscriber_items: int = 100_000
    subscriber_bytes: int = 32 * 1024 * 1024
    write_backlog: int = 20_000
    steps_per_turn: int = 100
    turn_seconds: float = 3_600
    crashes_per_turn: int = 3
    tool_seconds: float = 600
    tools_at_once: int = 64
    tasks_at_once: int = 8
    tasks_per_turn: int = 64
    task_depth: int = 3
    chats_per_session: int = 100
    message_bytes: int = 16 * 1024 * 1024
    client_grace_seconds: float = 30
    terminals: int = 32
    terminals_per_owner: int = 16
    scrollback_characters: int = 1024 * 1024
    watches: int = 512
    watches_per_owner: int = 256
    watches_per_client: int = 64
    watched_entries: int = 200_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            least = 0 if name.endswith("_seconds") else 1
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
