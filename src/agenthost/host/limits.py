"""Limits: how much of everything a host holds, with defaults for one machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a host keeps and allows.

    Attributes:
        sessions_in_memory: idle sessions beyond this leave memory, those not needed for longest first.
        log_per_session: how many entries of a session's log are kept for replay, at least.
        log_in_all: how many entries are kept of all sessions together, at least.
        subscriber_items: how many envelopes may wait for one subscriber before it is cut off.
        subscriber_bytes: how large they may be together.
        write_backlog: how many writes may wait for the disk before agents are made to wait.
        steps_per_turn: how often an agent may ask for tools in one turn.
        turn_seconds: how long a turn may take, not counting the time that it waits for people.
        crashes_per_turn: how often the host may end unexpectedly while a turn runs and gets no further.
        tool_seconds: how long a tool may take that does not say so itself.
        tools_at_once: how many tools may run at the same time, of all sessions.
        tasks_at_once: how many tasks may run at the same time for one turn, with those of its children.
        tasks_per_turn: how many tasks one turn may give in all, with those of its children.
        task_depth: how many sessions may be in each other; 1 lets children give no tasks.
        message_bytes: how large a user's message may be.
        client_grace_seconds: how long calls of a client that left wait for it to come back.
        terminals: how many terminals there may be at the same time.
        terminals_per_owner: how many of them may be one owner's.
        scrollback_characters: how much of a terminal's output is kept for those who come to look, at least.
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
    message_bytes: int = 16 * 1024 * 1024
    client_grace_seconds: float = 30
    terminals: int = 32
    terminals_per_owner: int = 16
    scrollback_characters: int = 1024 * 1024

    def __post_init__(self) -> None:
        for name in self.__slots__:
            least = 0 if name.endswith("_seconds") else 1
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} has to be at least {least}, not {getattr(self, name)}")
