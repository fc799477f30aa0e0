"""The relay between an agent's turns and its program: which conversation a turn belongs to, and how it ends.

What the program knows of a session is kept with the session: the id of its own session, and the last turn
that it was given. So a host that is started again, a program that is, and a session that was cut off or
forked are all the same question: does it know what was said? If so, it is asked to take its session up; else
it begins a new one and is told.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from acp.schema import PromptCapabilities, PromptResponse

from agenthost.agents.acp.conversation import Conversation
from agenthost.agents.acp.peer import Peer, Refused
from agenthost.agents.acp.peers import Peers
from agenthost.agents.acp.prompts import blocks_of, context_of, text_of
from agenthost.agents.acp.servers import server_params
from agenthost.agents.acp.settings import MODE
from agenthost.agents.acp.starting import shown_if_slow
from agenthost.errors import AgentUnavailable
from agenthost.host.agent import Command
from agenthost.host.steps import Usage
from agenthost.host.turn import Turn
from agenthost.wire.json import JsonObject

if TYPE_CHECKING:
    from agenthost.agents.acp.agent import AcpAgent

__all__ = ["Relay"]

MOST_HELD = 100
"""How many sessions the program holds at once, if it can take up those that it let go."""

CLOSE_SECONDS = 5.0

log = logging.getLogger("agenthost.acp")


class Relay:
    """The way from the sessions of one agent to its program."""

    def __init__(self, agent: "AcpAgent") -> None:
        self._agent = agent
        cwd = agent.cwd or agent.home.workspace
        command = replace(agent.command, sandbox=agent.home.sandbox)
        self._peers = Peers(agent.label, command, cwd, agent.idle_seconds)
        self._conversations: dict[str, Conversation] = {}
        self._spare: tuple[JsonObject, Conversation] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    # What it offers

    async def get_to_know(self) -> None:
        """Have the program say what it offers; the session that this takes is the next one's.

        Raises:
            AgentUnavailable: it cannot be started, or does not do it.
        """
        async with shown_if_slow(self._agent.label):
            peer = await self._peers.get()
            self._offer_peer(peer)
            place = self._place(peer, self._agent.cwd or self._agent.home.workspace)
            conversation = await Conversation.begin(peer, place, self._peers.retire, self._agent.mode)
        self._spare = (place, conversation)
        self._offer(conversation)

    def _offer_peer(self, peer: Peer) -> None:
        info, can = peer.info.agent_info, peer.can.prompt_capabilities or PromptCapabilities()
        self._agent.offer(images=("data",) if can.image else ())
        if info is not None:
            self._agent.offer(version=info.version, title=info.title or self._agent.title)

    def _offer(self, conversation: Conversation) -> None:
        pinned = [] if self._agent.mode is None else [MODE]
        settings = conversation.settings
        self._agent.offer(options=settings.options(pinned), models=settings.models())

    def commands_of(self, session: str) -> Sequence[Command]:
        """Give the words with a slash that are known in a session, or in another if that has not begun."""
        others = [self._spare[1]] if self._spare is not None else [*self._conversations.values()][-1:]
        conversation = self._conversations.get(session) or next(iter(others), None)
        return conversation.commands if conversation is not None else ()

    def _place(self, peer: Peer, folder: Path) -> JsonObject:
        """Say where a session works, and with which MCP servers, as far as the program takes them."""
        can = peer.can.mcp_capabilities
        taken = {"stdio"} | {kind for kind in ("http", "sse") if can is not None and getattr(can, kind)}
        servers = [server_params(server) for server in self._agent.mcp_servers]
        for server in servers:
            if server.get("type", "stdio") not in taken:
                log.warning("%s takes no MCP server by %s: %s", peer.name, server["type"], server["name"])
        kept = [server for server in servers if server.get("type", "stdio") in taken]
        return {"cwd": str(folder), "mcpServers": kept}

    # Turns

    async def answer(self, turn: Turn) -> None:
        """Have a turn answered.

        Raises:
            AgentUnavailable: the program is not there, broke, or was interrupted; the sentence says more.
        """
        if turn.kept.get("turn") == turn.id:
            sentence = self._interrupted(turn)
            turn.fail_reported(f"{self._agent.label} was interrupted; whether it did this is unknown")
            raise AgentUnavailable(sentence)
        try:
            await self._answer(turn)
        except AgentUnavailable:
            if not turn.is_over:
                turn.fail_reported(f"{self._agent.label} broke off; whether it did this is unknown")
            raise

    def _interrupted(self, turn: Turn) -> str:
        """Say what a restart of the host means for a turn that ran: the program that answered is gone."""
        what = f"This host was restarted while {self._agent.label} was at work, so this turn ends here."
        if turn.kept.get("resumes"):
            return f"{what} Its session can be taken up: send another message to go on."
        return f"{what} The next message begins anew, and is given this conversation to read."

    async def _answer(self, turn: Turn) -> None:
        if (before := self._conversations.get(turn.session)) is not None:
            await before.wait_ended()
        async with shown_if_slow(self._agent.label, turn):
            peer = await self._peers.get()
        with self._peers.used(peer):
            async with shown_if_slow(self._agent.label, turn):
                conversation, prompt = await self._joined(turn, peer)
            self._make_room(conversation)
            await conversation.agreement.agree(turn)
            can = peer.can.prompt_capabilities or PromptCapabilities()
            prompt += blocks_of(turn.message, can)
            await self._keep(turn, conversation)
            while prompt:
                response = await conversation.answer(turn, prompt)
                await self._note(turn, response)
                prompt = await self._more(turn, conversation)

    async def _keep(self, turn: Turn, conversation: Conversation) -> None:
        """Note what the program is about to know: durably, as it may act on it at once."""
        resumes = conversation.peer.can_resume
        await turn.keep({"session": conversation.id, "turn": turn.id, "resumes": resumes})

    async def _note(self, turn: Turn, response: PromptResponse) -> None:
        """Take why the program stopped, and what that cost."""
        if response.usage is not None:
            used = response.usage
            cached = used.cached_read_tokens
            await turn.use(Usage(used.input_tokens, used.output_tokens, cache_read_tokens=cached))
        match response.stop_reason:
            case "max_tokens" | "refusal" as reason:
                turn.stop(reason)
            case "max_turn_requests":
                await turn.notify("The agent has made as many requests as it may in one turn; it can go on.")
            case "cancelled":
                await turn.notify("The agent has cancelled its turn.")

    async def _more(self, turn: Turn, conversation: Conversation) -> list[JsonObject]:
        """Give what the program has to hear before the turn ends: why calls were denied, what was said."""
        reasons, conversation.reasons = conversation.reasons, []
        steering = await turn.steering()
        said = [] if steering is None else text_of(steering)
        return [*({"type": "text", "text": reason} for reason in reasons), *said]

    # Conversations

    async def _joined(self, turn: Turn, peer: Peer) -> tuple[Conversation, list[JsonObject]]:
        """Give the conversation of a turn, and what has to be told first."""
        kept = turn.kept
        last = kept.get("turn")
        is_known = last in turn.past_turns
        conversation = self._conversations.get(turn.session)
        if conversation is not None and (conversation.peer is not peer or not is_known):
            await self._end(self._taken(turn.session))
            conversation = None
        place = self._place(peer, self._agent.cwd or turn.workspace)
        if conversation is None and is_known and peer.can_resume:
            conversation = await self._resumed(turn, peer, place)
        if conversation is not None:
            return conversation, context_of(turn.history(last))
        self._conversations[turn.session] = conversation = await self._begun(peer, place)
        self._offer(conversation)
        return conversation, context_of(self._agent.compact(turn.history(), self._agent.context_tokens))

    async def _resumed(self, turn: Turn, peer: Peer, place: JsonObject) -> Conversation | None:
        try:
            found = await Conversation.resume(
                peer, turn.kept["session"], place, self._peers.retire, self._agent.mode
            )
        except Refused as refused:
            log.warning("%s", refused)
            sentence = f"{self._agent.label} could not take up its session, and was given this conversation"
            await turn.notify(f"{sentence} to read instead.")
            return None
        self._conversations[turn.session] = found
        return found

    async def _begun(self, peer: Peer, place: JsonObject) -> Conversation:
        spare, self._spare = self._spare, None
        if spare is not None and spare[0] == place and spare[1].peer is peer:
            return spare[1]
        return await Conversation.begin(peer, place, self._peers.retire, self._agent.mode)

    def _make_room(self, newest: Conversation) -> None:
        """Let the program close the sessions that were not used for longest, if there are too many."""
        names = {conversation: session for session, conversation in self._conversations.items()}
        self._conversations[names[newest]] = self._conversations.pop(names[newest])
        idle = [session for session, one in self._conversations.items() if one.is_idle and one is not newest]
        if newest.peer.can_resume:
            for session in idle[: max(len(self._conversations) - MOST_HELD, 0)]:
                task = asyncio.create_task(self._end(self._taken(session)))
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    def _taken(self, session: str) -> Conversation | None:
        """Let go of a conversation, at once: the next turn of its session begins another."""
        conversation = self._conversations.pop(session, None)
        if conversation is not None:
            conversation.peer.leave_alone(conversation.id)
        return conversation

    async def forget(self, session: str) -> None:
        """Have the program close a session that was removed."""
        await self._end(self._taken(session))

    async def _end(self, conversation: Conversation | None) -> None:
        """End the commands that still run for a conversation, and have the program close it, if it can."""
        if conversation is None:
            return
        await conversation.machine.close()
        can = conversation.peer.can.session_capabilities
        if can is None or can.close is None or conversation.peer.is_over:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await conversation.peer.ask("session/close", {"sessionId": conversation.id})
        except (AgentUnavailable, TimeoutError) as error:
            log.debug("a session was not closed: %s", error)

    async def close(self) -> None:
        """End the program, and what it runs."""
        for conversation in self._conversations.values():
            await conversation.machine.close()
        await self._peers.close()
        if self._closing:
            await asyncio.wait(self._closing)
