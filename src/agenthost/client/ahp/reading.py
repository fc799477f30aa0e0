"""Reading: what the host sends, handed to whom it is for, in its order."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from agenthost.client.aap.tools import in_thread
from agenthost.client.ahp.calls import Calls
from agenthost.client.ahp.errors import AhpError
from agenthost.client.ahp.frames import TextFrame, decode_frame, envelope_of
from agenthost.client.ahp.link import Link
from agenthost.client.ahp.mirrors import Mirrors, now_ms
from agenthost.errors import InvalidValue
from agenthost.wire.ahp.actions import resource_of
from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.jsonrpc import BadFrame, Failure, Notification, Request, Success, encode_message

__all__ = ["Grant", "Reader", "deny_access"]

log = logging.getLogger("agenthost.client")

Grant: TypeAlias = Callable[[ResourceRequestParams], "bool | Awaitable[bool]"]
"""Decides whether the host may touch something of the application's. Runs in a thread unless `async`."""


def deny_access(_request: ResourceRequestParams) -> bool:
    """Let the host touch nothing; this is what happens where nobody decides."""
    return False


class Reader:
    """Takes frames, one after the other.

    `notified` hears notifications, `doubtful` of resources whose state cannot be trusted any more.
    """

    def __init__(
        self,
        mirrors: Mirrors,
        calls: Calls,
        *,
        grant: Grant,
        notified: Callable[[Any], None],
        doubtful: Callable[[URI], None],
    ) -> None:
        self._mirrors = mirrors
        self._calls = calls
        self._grant = grant
        self._notified = notified
        self._doubtful = doubtful
        self._tasks: set[asyncio.Task[Any]] = set()

    def take(self, data: bytes, link: Link) -> None:
        """Take a frame, whatever it holds."""
        try:
            frame = decode_frame(data)
        except BadFrame as bad:
            log.warning("the host sent what is no message: %s", bad)
            return
        if type(frame) is TextFrame:
            params = frame.params
            self._mirrors.take_text(params.action, params.serverSeq, now_ms())
        elif isinstance(frame, Notification):
            self._hear(frame)
        elif isinstance(frame, Request):
            self.spawn(self._answer(frame, link))
        elif isinstance(frame, Success | Failure):
            self._calls.answer(frame)

    def _hear(self, message: Notification) -> None:
        if message.method == "action":
            self._act(message.params)
        elif message.method == "notification":
            try:
                self._notified(METHODS["notification"].params.take(message.params)["notification"])
            except InvalidValue as error:
                log.warning("the host sent news that break the rules: %s", error)

    def _act(self, params: Any) -> None:
        try:
            self._mirrors.apply(envelope_of(params), now_ms())
        except InvalidValue as error:
            log.warning("the host sent an action that breaks the rules: %s", error)
            self._doubt(params)
        except Exception:
            log.exception("an action of the host could not be applied")
            self._doubt(params)

    def _doubt(self, params: Any) -> None:
        """Have a state fetched anew: what could not be applied here was applied there."""
        inner = params.get("envelope", params)
        action = inner.get("action") if isinstance(inner, dict) else None
        uri = resource_of(action) if isinstance(action, dict) else None
        if uri is not None and self._mirrors.is_watched(uri):
            self._doubtful(uri)

    async def _answer(self, request: Request, link: Link) -> None:
        """Answer a request of the host's: it may ask for access, and for nothing else."""
        if request.method != "resourceRequest":
            sentence = f"this client has no method {request.method!r:.100}"
            link.post(encode_message(Failure(request.id, ErrorCode.METHOD_NOT_FOUND, sentence)))
            return
        try:
            wanted = METHODS["resourceRequest"].params.take(request.params)
            is_granted = await self._decide(wanted)
        except InvalidValue as error:
            link.post(encode_message(Failure(request.id, ErrorCode.INVALID_PARAMS, str(error))))
            return
        except Exception:
            log.exception("nobody could be asked whether the host may have access")
            is_granted = False
        if is_granted:
            link.post(encode_message(Success(request.id, {})))
        else:
            sentence = "the application does not allow it"
            link.post(encode_message(Failure(request.id, ErrorCode.PERMISSION_DENIED, sentence)))

    async def _decide(self, wanted: ResourceRequestParams) -> bool:
        if inspect.iscoroutinefunction(self._grant):
            return await self._grant(wanted) is True
        said = await in_thread(lambda: self._grant(wanted), "access for the host")
        return (await said if inspect.isawaitable(said) else said) is True

    # What is done beside

    def spawn(self, work: Awaitable[Any]) -> asyncio.Task[Any]:
        """Do something beside, for as long as the client lives."""
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """End all that is done beside."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _quietly(work: Awaitable[Any]) -> None:
    try:
        await work
    except AhpError as error:
        log.info("something that was done beside failed: %s", error)
    except Exception:
        log.exception("something that was done beside failed")
