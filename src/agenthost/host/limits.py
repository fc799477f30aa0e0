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
    """

    sessions_in_memory: int = 1_000
    log_per_session: int = 10_000
    log_in_all: int = 1_000_000
    subscriber_items: int = 10_000
    subscriber_bytes: int = 16 * 1024 * 1024
    write_backlog: int = 100_000

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} has to be at least 1, not {getattr(self, name)}")
