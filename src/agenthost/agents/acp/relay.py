"""The relay between an agent's turns and its program: runs each turn in the conversation that it belongs to.

Two things are saved with each session: the id of the program's session, and the last turn that the program
was given. After a restart of the host or the program, a truncation or a fork, they answer one question: does
the program know what was said? If so, it resumes its session; otherwise it begins a new one and is given the
conversation as text.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from acp.schema import PromptCapabilities, PromptResponse

from agenthost.agents.acp.conversation import Conversation
from agenthost.agents.acp.peer import Peer, RequestRefused
from agenthost.agents.acp.peer_pool import PeerPool
from agenthost.agents.acp.program import ProgramConfig
from agenthost.agents.acp.prompts import context_blocks, message_blocks, steering_blocks
from agenthost.agents.acp.servers import server_params
from agenthost.agents.acp.settings import MODE
from agenthost.agents.acp.startup import report_slow_start
from agenthost.errors import AgentUnavailable
from agenthost.host.authoring.agent import Agent, Command
from agenthost.host.authoring.steps import Usage
from agenthost.host.authoring.turn import Turn
from agenthost.wire.json import JsonObject

__all__ = ["Relay"]

MAX_CONVERSATIONS = 100
"""How many sessions the program holds at once, if it can resume those that were closed."""

CLOSE_SECONDS = 5.0

log = logging.getLogger("agenthost.acp")


class Relay:
    """Connects the sessions of one agent to its program.

    `offer` is called with what the program offers: options, models, images, version and title.
    """

    def __init__(self, agent: Agent, program: ProgramConfig, offer: Callable[..., None]) -> None:
        self._agent = agent
        self._program = program
        self._declare = offer
        cwd = program.cwd or agent.home.workspace
        command = replace(program.command, sandbox=agent.home.sandbox)
        self._pool = PeerPool(agent.label, command, cwd, program.idle_seconds)
        self._conversations: dict[str, Conversation] = {}
        self._spare: tuple[JsonObject, Conversation] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    # Offers of the program

    async def discover(self) -> None:
        """Ask the program what it offers. That takes a session, which the next conversation uses.

        Raises:
            AgentUnavailable: the program cannot be started, or refused.
        """
        async with report_slow_start(self._agent.label):
            peer = await self._pool.get()
            self._offer_peer(peer)
            params = self._session_params(peer, self._program.cwd or self._agent.home.workspace)
            conversation = await Conversation.begin(peer, params, self._pool.retire, self._program.mode)
        self._spare = (params, conversation)
        self._offer(conversation)

    def _offer_peer(self, peer: Peer) -> None:
        info, can = peer.info.agent_info, peer.capabilities.prompt_capabilities or PromptCapabilities()
        self._declare(images=("data",) if can.image else ())
        if info is not None:
            self._declare(version=info.version, title=info.title or self._agent.title)

    def _offer(self, conversation: Conversation) -> None:
        pinned = [] if self._program.mode is None else [MODE]
        settings = conversation.settings
        self._declare(options=settings.options(pinned), models=settings.models())

    def commands_for(self, session: str) -> Sequence[Command]:
        """Return the slash commands of a session, or of another one if it has no conversation yet."""
        others = [self._spare[1]] if self._spare is not None else [*self._conversations.values()][-1:]
        conversation = self._conversations.get(session) or next(iter(others), None)
        return conversation.commands if conversation is not None else ()

    def _session_params(self, peer: Peer, folder: Path) -> JsonObject:
        """Return the params of `session/new`: the folder, and the MCP servers that the program supports."""
        can = peer.capabilities.mcp_capabilities
        # ACP: every agent supports stdio; the others only if it announces them.
        taken = {"stdio"} | {kind for kind in ("http", "sse") if can is not None and getattr(can, kind)}
        servers = [server_params(server) for server in self._program.mcp_servers]
        for server in servers:
            if server.get("type", "stdio") not in taken:
                log.warning(
                    "%s does not support MCP servers over %s: %s is left out",
                    *(peer.name, server["type"], server["name"]),
                )
        kept = [server for server in servers if server.get("type", "stdio") in taken]
        return {"cwd": str(folder), "mcpServers": kept}

    # Turns

    async def answer(self, turn: Turn) -> None:
        """Run a turn.

        Raises:
            AgentUnavailable: the program cannot be started, failed, or was interrupted; the message says why.
        """
        if turn.kept.get("turn") == turn.id:
            sentence = self._interrupted(turn)
            turn.fail_reported(f"{self._agent.label} was interrupted; whether it did this is unknown")
            raise AgentUnavailable(sentence)
        try:
            await self._answer(turn)
        except AgentUnavailable:
            if not turn.is_over:
                turn.fail_reported(
                    f"{self._agent.label} stopped unexpectedly; whether it did this is unknown"
                )
            raise

    def _interrupted(self, turn: Turn) -> str:
        """Explain a turn that ran when the host was restarted: the process that answered it is gone."""
        what = f"This host was restarted while {self._agent.label} was at work, so this turn ends here."
        if turn.kept.get("resumes"):
            return f"{what} Its session can be resumed: send another message to go on."
        return f"{what} The next message starts a new session, which is given this conversation to read."

    async def _answer(self, turn: Turn) -> None:
        if (before := self._conversations.get(turn.session)) is not None:
            await before.wait_ended()
        async with report_slow_start(self._agent.label, turn):
            peer = await self._pool.get()
        with self._pool.in_use(peer):
            async with report_slow_start(self._agent.label, turn):
                conversation, prompt = await self._open(turn, peer)
            self._make_room(conversation)
            await conversation.settings_sync.sync(turn)
            can = peer.capabilities.prompt_capabilities or PromptCapabilities()
            prompt += message_blocks(turn.message, can)
            await self._save(turn, conversation)
            while prompt:
                response = await conversation.answer(turn, prompt)
                await self._record_response(turn, response)
                prompt = await self._follow_up(turn, conversation)

    async def _save(self, turn: Turn, conversation: Conversation) -> None:
        """Save the prompt before it is sent. It must be durable, as the program may act at once."""
        resumes = conversation.peer.can_resume
        await turn.keep({"session": conversation.id, "turn": turn.id, "resumes": resumes})

    async def _record_response(self, turn: Turn, response: PromptResponse) -> None:
        """Record the usage and the stop reason of a response."""
        if response.usage is not None:
            used = response.usage
            cached = used.cached_read_tokens
            await turn.use(Usage(used.input_tokens, used.output_tokens, cache_read_tokens=cached))
        match response.stop_reason:
            case "max_tokens" | "refusal" as reason:
                turn.stop(reason)
            case "max_turn_requests":
                await turn.notify("The agent has reached its limit of requests in one turn; it can go on.")
            case "cancelled":
                await turn.notify("The agent has cancelled its turn.")

    async def _follow_up(self, turn: Turn, conversation: Conversation) -> list[JsonObject]:
        """Return the texts that the program must get before the turn ends: reasons of denials, steering."""
        reasons, conversation.reasons = conversation.reasons, []
        steering = await turn.steering()
        blocks = [] if steering is None else steering_blocks(steering)
        return [*({"type": "text", "text": reason} for reason in reasons), *blocks]

    # Conversations

    async def _open(self, turn: Turn, peer: Peer) -> tuple[Conversation, list[JsonObject]]:
        """Return the conversation of a turn, and the blocks that the program must be given first."""
        kept = turn.kept
        last = kept.get("turn")
        is_known = last in turn.past_turns
        conversation = self._conversations.get(turn.session)
        if conversation is not None and (conversation.peer is not peer or not is_known):
            await self._close_conversation(self._detach(turn.session))
            conversation = None
        params = self._session_params(peer, self._program.cwd or turn.workspace)
        if conversation is None and is_known and peer.can_resume:
            conversation = await self._resume(turn, peer, params)
        if conversation is not None:
            return conversation, context_blocks(turn.history(last))
        self._conversations[turn.session] = conversation = await self._begin(peer, params)
        self._offer(conversation)
        return conversation, context_blocks(self._agent.compact(turn.history(), self._agent.context_tokens))

    async def _resume(self, turn: Turn, peer: Peer, params: JsonObject) -> Conversation | None:
        try:
            found = await Conversation.resume(
                peer, turn.kept["session"], params, self._pool.retire, self._program.mode
            )
        except RequestRefused as refused:
            log.warning("%s", refused)
            sentence = f"{self._agent.label} could not resume its session"
            await turn.notify(f"{sentence}, so it was given this conversation to read.")
            return None
        self._conversations[turn.session] = found
        return found

    async def _begin(self, peer: Peer, params: JsonObject) -> Conversation:
        spare, self._spare = self._spare, None
        if spare is not None and spare[0] == params and spare[1].peer is peer:
            return spare[1]
        return await Conversation.begin(peer, params, self._pool.retire, self._program.mode)

    def _make_room(self, newest: Conversation) -> None:
        """Close the least recently used sessions if there are too many."""
        names = {conversation: session for session, conversation in self._conversations.items()}
        self._conversations[names[newest]] = self._conversations.pop(names[newest])
        idle = [session for session, one in self._conversations.items() if one.is_idle and one is not newest]
        if newest.peer.can_resume:
            for session in idle[: max(len(self._conversations) - MAX_CONVERSATIONS, 0)]:
                task = asyncio.create_task(self._close_conversation(self._detach(session)))
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    def _detach(self, session: str) -> Conversation | None:
        """Remove a conversation. The next turn of its session begins another."""
        conversation = self._conversations.pop(session, None)
        if conversation is not None:
            conversation.peer.remove_listener(conversation.id)
        return conversation

    async def forget(self, session: str) -> None:
        """Close the program's session of a session that was removed."""
        await self._close_conversation(self._detach(session))

    async def _close_conversation(self, conversation: Conversation | None) -> None:
        """End the commands of a conversation, and let the program close it if it supports that."""
        if conversation is None:
            return
        await conversation.client_methods.close()
        can = conversation.peer.capabilities.session_capabilities
        if can is None or can.close is None or conversation.peer.is_over:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await conversation.peer.request("session/close", {"sessionId": conversation.id})
        except (AgentUnavailable, TimeoutError) as error:
            log.debug("a session was not closed: %s", error)

    async def close(self) -> None:
        """End the program and the commands that it runs."""
        for conversation in self._conversations.values():
            await conversation.client_methods.close()
        await self._pool.close()
        if self._closing:
            await asyncio.wait(self._closing)
