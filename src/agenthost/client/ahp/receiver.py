"""The receiver: hands each message of the host to the part it is for, in order."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from agenthost.client.ahp.dialect import Call, Dialect
from agenthost.client.ahp.frames import TextFrame, decode_frame
from agenthost.client.ahp.link import Link
from agenthost.client.ahp.observable_replica import ObservableReplica
from agenthost.client.ahp.requests import PendingRequests
from agenthost.client.ahp.tasks import BackgroundTasks
from agenthost.errors import InvalidValue
from agenthost.threads import run_in_thread
from agenthost.wire.ahp.commands.resource import ResourceRequestParams
from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.errors import ErrorCode
from agenthost.wire.ahp.methods import METHODS
from agenthost.wire.jsonrpc import BadFrame, Failure, Notification, Request, Success, encode_message

__all__ = ["OnAccessRequest", "Receiver", "deny_access"]

log = logging.getLogger("agenthost.client")

OnAccessRequest: TypeAlias = Callable[[ResourceRequestParams], "bool | Awaitable[bool]"]
"""Decides whether the host may access a file of the application. Runs in a thread unless it is `async`."""


def deny_access(_request: ResourceRequestParams) -> bool:
    """Deny all access; this is the default."""
    return False


class Receiver:
    """Handles frames.

    `on_notification` is called with notifications, `on_stale` with resources whose state may be wrong.
    """

    def __init__(
        self,
        replica: ObservableReplica,
        requests: PendingRequests,
        tasks: BackgroundTasks,
        *,
        on_access_request: OnAccessRequest,
        on_notification: Callable[[Call], None],
        on_stale: Callable[[URI], None],
    ) -> None:
        self._replica = replica
        self._requests = requests
        self._tasks = tasks
        self._on_access_request = on_access_request
        self._on_notification = on_notification
        self._on_stale = on_stale

    def receive(self, data: bytes, link: Link) -> None:
        """Handle a frame. An invalid one is logged and ignored."""
        try:
            frame = decode_frame(data)
        except BadFrame as bad:
            log.warning("the host sent something that is not a message: %s", bad)
            return
        if type(frame) is TextFrame:
            params = frame.params
            self._replica.apply_text(params.channel, params.action, params.serverSeq)
        elif isinstance(frame, Notification):
            self._notified(frame, link.dialect)
        elif isinstance(frame, Request):  # never taken for an answer (HR-R10)
            self._tasks.spawn(self._answer(frame, link))
        elif isinstance(frame, Success | Failure):
            self._requests.resolve(frame)

    def _notified(self, message: Notification, dialect: Dialect) -> None:
        if message.method == "action":
            self._apply(message.params, dialect)
            return
        try:
            heard = dialect.read_notification(Call(message.method, message.params))
        except InvalidValue as error:
            log.warning("the host sent an invalid notification: %s", error)
        else:
            if heard is not None:
                self._on_notification(heard)

    def _apply(self, params: Any, dialect: Dialect) -> None:
        try:
            for envelope in dialect.read_envelopes(params):
                self._replica.apply(envelope)
        except InvalidValue as error:
            log.warning("the host sent an invalid action: %s", error)
            self._mark_stale(params, dialect)
        except Exception:
            log.exception("an action of the host could not be applied")
            self._mark_stale(params, dialect)

    def _mark_stale(self, params: Any, dialect: Dialect) -> None:
        """Have a state fetched again: what could not be applied here was applied at the host."""
        uri = dialect.stale_resource(params)
        if uri is not None and self._replica.is_subscribed(uri):
            self._on_stale(uri)

    async def _answer(self, request: Request, link: Link) -> None:
        """Answer a request of the host. The only one that clients know is a request for access."""
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
            log.exception("asking whether the host may have access failed")
            is_granted = False
        if is_granted:
            link.post(encode_message(Success(request.id, {})))
        else:
            sentence = "the application does not allow it"
            link.post(encode_message(Failure(request.id, ErrorCode.PERMISSION_DENIED, sentence)))

    async def _decide(self, wanted: ResourceRequestParams) -> bool:
        # `is True`: no other value, however truthy, grants access to files.
        if inspect.iscoroutinefunction(self._on_access_request):
            return await self._on_access_request(wanted) is True
        decision = await run_in_thread(lambda: self._on_access_request(wanted), "access for the host")
        return (await decision if inspect.isawaitable(decision) else decision) is True
