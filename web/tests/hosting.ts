/** A host to test against: real messages over sockets that are none. */

import type { Withheld } from "../src/ahp/api";
import { AhpClient, type Surroundings } from "../src/ahp/client";
import type { Socket } from "../src/ahp/line";
import type { Action, ChatState, RpcMessage, SessionState, SessionSummary, State } from "../src/ahp/wire";
import { ROOT } from "../src/ahp/wire";

export const SESSION = "demo:/1";
export const CHAT = "ahp-chat:/1";
export const TIME = "2026-01-01T00:00:00.000Z";

export function summary(changes: Partial<SessionSummary> = {}): SessionSummary {
  const times = { createdAt: TIME, modifiedAt: TIME };
  return { resource: SESSION, provider: "demo", title: "One", status: 1, ...times, ...changes };
}

export function chatState(changes: Partial<ChatState> = {}): ChatState {
  return { resource: CHAT, title: "", status: 1, modifiedAt: TIME, turns: [], ...changes };
}

export function sessionState(changes: Partial<SessionState> = {}): SessionState {
  const { turns: _, ...chat } = chatState();
  return {
    provider: "demo",
    title: "One",
    status: 1,
    lifecycle: "ready",
    activeClients: [],
    chats: [chat],
    defaultChat: CHAT,
    ...changes,
  };
}

class HostSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  constructor(private readonly heard: (message: RpcMessage) => void) {}

  send(text: string): void {
    this.heard(JSON.parse(text));
  }

  close(): void {
    this.onclose = null;
  }
}

type Answer = (params: any) => unknown;

/** A host that answers at once, in the order in which it is asked. */
export class Host {
  /** Everything that was said to it, in order. */
  heard: RpcMessage[] = [];
  states = new Map<string, State>([[ROOT, { agents: [] }]]);
  seq = 10;
  sockets: HostSocket[] = [];
  access: "granted" | "missing" | "wrong" | "away" = "granted";
  withheld: Withheld = {};
  isUp = true;
  ids = 0;
  answers: Record<string, Answer> = {
    initialize: ({ initialSubscriptions }) => ({
      protocolVersion: "1.0.0",
      serverSeq: this.seq,
      snapshots: this.#snapshots(initialSubscriptions),
    }),
    reconnect: ({ subscriptions }) => ({ type: "snapshot", snapshots: this.#snapshots(subscriptions) }),
    subscribe: ({ channel }) => {
      const [snapshot] = this.#snapshots([channel]);
      if (!snapshot) throw { code: -32001, message: "there is no such session" };
      return { snapshot };
    },
    listSessions: () => ({ items: [] }),
    ping: () => null,
  };

  surroundings(): Surroundings {
    return {
      clientId: "me",
      newId: () => `me-${++this.ids}`,
      uuid: () => `uuid-${++this.ids}`,
      keepKey: () => {},
      dropKey: () => {},
      withheld: async () => this.withheld,
      heed: () => {},
      probe: async () => this.access,
      open: () => this.#open(),
    };
  }

  client(): AhpClient {
    return new AhpClient(this.surroundings());
  }

  get socket(): HostSocket {
    return this.sockets.at(-1)!;
  }

  /** All messages of a method that were heard. */
  said(method: string): any[] {
    return this.heard.filter((message) => message.method === method).map((message) => message.params);
  }

  say(message: object): void {
    this.socket.onmessage?.({ data: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  }

  act(channel: string, action: Action, more: object = {}): void {
    this.say({ method: "action", params: { channel, action, serverSeq: ++this.seq, ...more } });
  }

  notify(method: string, params: object): void {
    this.say({ method, params: { channel: ROOT, ...params } });
  }

  /** Break the connection. */
  cut(code = 1006, reason = ""): void {
    this.socket.onclose?.({ code, reason });
  }

  #open(): HostSocket {
    const socket = new HostSocket((message) => this.#hear(socket, message));
    this.sockets.push(socket);
    queueMicrotask(() => (this.isUp ? socket.onopen?.({}) : socket.onclose?.({ code: 1006, reason: "" })));
    return socket;
  }

  #hear(socket: HostSocket, message: RpcMessage): void {
    this.heard.push(message);
    const answer = this.answers[message.method ?? ""];
    if (message.id === undefined || !message.method || !answer) return;
    const { id } = message;
    try {
      const data = JSON.stringify({ jsonrpc: "2.0", id, result: answer(message.params) });
      queueMicrotask(() => socket.onmessage?.({ data }));
    } catch (error) {
      const data = JSON.stringify({ jsonrpc: "2.0", id, error });
      queueMicrotask(() => socket.onmessage?.({ data }));
    }
  }

  #snapshots(uris: readonly string[]) {
    return uris.flatMap((resource) => {
      const state = this.states.get(resource);
      return state ? [{ resource, state, fromSeq: this.seq }] : [];
    });
  }
}
