"""The questions that the agent or a tool of a running turn asks the user, and the answers.

Answers are kept in the session's private data, so questions are not repeated after a restart.
"""

from collections.abc import Callable, Sequence
from typing import Any

from agenthost.core import actions
from agenthost.core.conversation import ConversationAction
from agenthost.core.queries import open_questions
from agenthost.host.authoring.questions import Answers, Question
from agenthost.host.state.session import Session
from agenthost.host.turns.waiter import TurnWaiter
from agenthost.wire.ahp.input import ChatInputRequest

__all__ = ["TurnQuestions"]


class TurnQuestions:
    """Asks the user on behalf of one turn (HR-U09)."""

    def __init__(
        self, session: Session, turn_id: str, waiter: TurnWaiter, act: Callable[[ConversationAction], None]
    ) -> None:
        self._session = session
        self._turn_id = turn_id
        self._waiter = waiter
        self._act = act

    async def ask(
        self, number: str, questions: Sequence[Question], message: str | None, url: str | None
    ) -> Answers:
        """Ask the user, and wait for the answers. The number identifies the request after a restart."""
        return await self._ask(f"{self._turn_id}/ask/{number}", questions, message, url)

    async def ask_in_call(
        self, call_id: str, number: int, questions: Sequence[Question], message: str | None, url: str | None
    ) -> Answers:
        """Ask on behalf of a tool. If the tool is cancelled, the question is withdrawn."""
        request_id = f"{self._of_call(call_id)}{number}"
        try:
            return await self._ask(request_id, questions, message, url)
        finally:
            self._withdraw(request_id)

    def withdraw_of(self, call_id: str) -> None:
        """Withdraw all questions of a call."""
        self._withdraw(self._of_call(call_id))

    def _of_call(self, call_id: str) -> str:
        """Return the common prefix of the ids of a call's questions."""
        # `crashes` relies on this form, too: it tells which calls only wait for an answer.
        return f"{self._turn_id}/ask/{call_id}/"

    async def _ask(
        self, request_id: str, questions: Sequence[Question], message: str | None, url: str | None
    ) -> Answers:
        # After a restart the question may be open already, or answered.
        if self._answered(request_id) is None and not self._is_asked(request_id):
            self._request(request_id, questions, message, url)
        return await self._waiter.wait_for(lambda: self._answered(request_id))

    def _withdraw(self, beginning: str) -> None:
        if self._waiter.is_over:
            return  # the questions ended with the turn, or stay for the next start
        for request in open_questions(self._session.chat):
            if request["id"].startswith(beginning):
                self._act(actions.input_completed(request["id"], "cancel"))

    def _request(
        self, request_id: str, questions: Sequence[Question], message: str | None, url: str | None
    ) -> None:
        request: ChatInputRequest = {"id": request_id}
        if message is not None:
            request["message"] = message
        if url is not None:
            request["url"] = url
        if questions:
            request["questions"] = [question.asked() for question in questions]
        self._act(actions.input_requested(request))

    def _is_asked(self, request_id: str) -> bool:
        requests = open_questions(self._session.chat)
        return any(request["id"] == request_id for request in requests)

    def _answered(self, request_id: str) -> Answers | None:
        kept: Any = self._session.private.get("asked", {}).get(request_id)
        return None if kept is None else Answers(kept["response"], kept["answers"])
