/** The client against a host that speaks real messages: watching, acting, breaking off and coming back. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ROOT } from "../src/ahp/wire";
import { CHAT, chatState, Host, SESSION, sessionState, summary, TIME } from "./hosting";

let host: Host;

beforeEach(() => {
  vi.useFakeTimers();
  host = new Host();
  host.states.set(SESSION, sessionState());
  host.states.set(CHAT, chatState());
});

afterEach(() => {
  vi.useRealTimers();
});

/** Let all that is under way arrive, and be drawn. */
const settle = () => vi.advanceTimersByTimeAsync(250);

const retitled = (title: string) => ({ type: "session/titleChanged", title }) as const;

test("what a client may not do is known once it is connected, and asked for again with another key", async () => {
  host.withheld = { terminals: "key" };
  const client = host.client();
  expect(client.withheld.value).toEqual({});
  client.start();
  await settle();
  expect(client.withheld.value).toEqual({ terminals: "key" });
  host.withheld = {};
  client.useKey("another", "tab");
  await settle();
  expect(client.withheld.value).toEqual({});
});

async function started() {
  const client = host.client();
  client.start();
  await settle();
  return client;
}

test("it connects, sees the root and the list, and says how it is connected", async () => {
  host.answers["listSessions"] = () => ({ items: [summary()] });
  const client = await started();
  expect(client.connection.value).toMatchObject({ phase: "connected", how: "initialize" });
  expect(client.root.value).toEqual({ agents: [] });
  expect(client.sessions.value?.map(({ title }) => title)).toEqual(["One"]);
  expect(host.said("initialize")[0]).toMatchObject({ clientId: "me", protocolVersions: ["1.0.0"] });
  expect(host.heard.map(({ params }) => (params as { channel?: string }).channel)).toEqual([ROOT, ROOT]);
});

test("watches of one resource share a subscription, which ends with the last of them", async () => {
  const client = await started();
  const [one, other] = [client.session(SESSION), client.session(SESSION)];
  expect(one.presence.value.status).toBe("loading");
  await settle();
  expect(host.said("subscribe")).toEqual([{ channel: SESSION }]);
  expect(one.state.value).toBe(other.state.value);
  one.close();
  one.close();
  await vi.advanceTimersByTimeAsync(2000);
  expect(host.said("unsubscribe")).toEqual([]);
  other.close();
  await vi.advanceTimersByTimeAsync(2000);
  expect(host.said("unsubscribe")).toEqual([{ channel: SESSION }]);
});

test("a view that comes back at once finds its session still there", async () => {
  const client = await started();
  client.session(SESSION).close();
  const again = client.session(SESSION);
  await vi.advanceTimersByTimeAsync(2000);
  expect(again.state.value?.title).toBe("One");
  expect(host.said("unsubscribe")).toEqual([]);
});

test("what is not there is gone, and is asked for again when somebody looks again", async () => {
  const client = await started();
  const watch = client.session("demo:/2");
  await settle();
  expect(watch.presence.value).toEqual({ status: "gone", reason: "there is no such session" });
  host.states.set("demo:/2", sessionState());
  const again = client.session("demo:/2");
  await settle();
  expect(again.presence.value.status).toBe("live");
});

test("actions that come together are shown together, and what did not change stays the same object", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  let shown = 0;
  const stop = watch.state.subscribe(() => (shown += 1));
  const chats = watch.state.value?.chats;
  for (let n = 0; n < 100; n++) host.act(SESSION, retitled(`title ${n}`));
  await settle();
  stop();
  expect(shown).toBe(2); // the first is what was there
  expect(watch.state.value?.title).toBe("title 99");
  expect(watch.state.value?.chats).toBe(chats);
});

test("an action shows at once, and stays when the host echoes it", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  const echo = client.dispatch(SESSION, retitled("Mine"));
  expect([watch.state.value?.title, watch.pending.value]).toEqual(["Mine", 1]);
  const [{ channel, clientSeq, action }] = host.said("dispatchAction");
  host.act(channel, action, { origin: { clientId: "me", clientSeq } });
  await settle();
  await expect(echo).resolves.toBeUndefined();
  expect([watch.state.value?.title, watch.pending.value]).toEqual(["Mine", 0]);
});

test("an action that the host refuses is taken back, with the reason", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  const echo = client.dispatch(SESSION, retitled("Mine"));
  host.act(SESSION, retitled("Theirs"));
  host.act(SESSION, retitled("Mine"), { origin: { clientId: "me", clientSeq: 1 }, rejectionReason: "no" });
  await settle();
  await expect(echo).rejects.toThrow("no");
  expect(watch.state.value?.title).toBe("Theirs");
  const [refusal] = client.refusals.value;
  expect(refusal).toMatchObject({ reason: "no", channel: SESSION, action: { title: "Mine" } });
  client.forget(refusal!);
  expect(client.refusals.value).toEqual([]);
});

test("refusals of others change nothing", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  host.act(SESSION, retitled("X"), { origin: { clientId: "you", clientSeq: 1 }, rejectionReason: "no" });
  await settle();
  expect(watch.state.value?.title).toBe("One");
  expect(client.refusals.value).toEqual([]);
});

test("after a break it comes back with what it saw last, and applies what it missed once", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  host.act(SESSION, retitled("Seen"));
  const seen = host.seq;
  host.answers["reconnect"] = () => ({
    type: "replay",
    actions: [{ channel: SESSION, action: retitled("Missed"), serverSeq: ++host.seq }],
    missing: [],
  });
  host.cut();
  expect(client.connection.value.phase).toBe("waiting");
  expect(watch.state.value).toBeDefined();
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.connection.value).toMatchObject({ phase: "connected", how: "replay" });
  expect(host.said("reconnect")[0]).toMatchObject({ clientId: "me", lastSeenServerSeq: seen });
  expect(host.said("reconnect")[0].subscriptions).toContain(SESSION);
  expect(watch.state.value?.title).toBe("Missed");
  expect(host.said("listSessions")).toHaveLength(2);
});

test("after a replay, what was not answered is sent again under its number", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  const echo = client.dispatch(SESSION, retitled("Mine"));
  host.answers["reconnect"] = () => ({ type: "replay", actions: [], missing: [] });
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  expect(host.said("dispatchAction").map(({ clientSeq }) => clientSeq)).toEqual([1, 1]);
  expect(watch.state.value?.title).toBe("Mine");
  host.act(SESSION, retitled("Mine"), { origin: { clientId: "me", clientSeq: 1 } });
  await settle();
  await expect(echo).resolves.toBeUndefined();
});

test("after snapshots, what was sent is not sent again, and what was not sent is sent", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  const lost = client.dispatch(SESSION, retitled("Lost"));
  host.cut();
  const kept = client.dispatch(SESSION, { type: "session/isReadChanged", isRead: true });
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.connection.value).toMatchObject({ phase: "connected", how: "snapshot" });
  await expect(lost).rejects.toThrow("not known");
  expect(host.said("dispatchAction").map(({ clientSeq }) => clientSeq)).toEqual([1, 2]);
  expect(watch.state.value).toMatchObject({ title: "One", status: 33 });
  host.act(
    SESSION,
    { type: "session/isReadChanged", isRead: true },
    { origin: { clientId: "me", clientSeq: 2 } },
  );
  await settle();
  await expect(kept).resolves.toBeUndefined();
});

test("what went away meanwhile is gone, and what was seen of it stays", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  host.states.delete(SESSION);
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  expect(watch.presence.value.status).toBe("gone");
  expect(watch.state.value?.title).toBe("One");
});

test("a host that does not resume is greeted anew over the same connection", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  host.answers["reconnect"] = () => {
    throw { code: -32603, message: "who are you?" };
  };
  host.states.set(SESSION, sessionState({ title: "Other" }));
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.connection.value).toMatchObject({ phase: "connected", how: "initialize" });
  expect(host.sockets).toHaveLength(2);
  expect(watch.presence.value.status).toBe("live");
});

test("while there is no host it tries again, less and less often, and at once when told", async () => {
  const client = await started();
  host.isUp = false;
  host.access = "away";
  host.cut();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(client.connection.value).toMatchObject({ phase: "waiting", reason: "the host cannot be reached" });
  expect(host.sockets.length).toBeGreaterThan(5);
  expect(host.sockets.length).toBeLessThan(15);
  host.isUp = true;
  client.retry();
  await settle();
  expect(client.connection.value.phase).toBe("connected");
});

test("a host that wants a key locks the page until there is one that fits", async () => {
  host.isUp = false;
  host.access = "missing";
  const client = await started();
  expect(client.connection.value).toEqual({ phase: "locked", reason: "missing" });
  const tries = host.sockets.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(host.sockets).toHaveLength(tries);
  host.access = "wrong";
  client.useKey("ah_1", "tab");
  await settle();
  expect(client.connection.value).toEqual({ phase: "locked", reason: "wrong" });
  host.isUp = true;
  client.useKey("ah_2", "tab");
  await settle();
  expect(client.connection.value.phase).toBe("connected");
});

test("a key that is revoked while it is used locks the page", async () => {
  const client = await started();
  host.access = "wrong";
  host.cut(1008, "the key is no longer valid");
  await settle();
  expect(client.connection.value).toEqual({ phase: "locked", reason: "wrong" });
});

test("a host of another version is final", async () => {
  host.answers["initialize"] = () => {
    throw { code: -32005, message: "no common version" };
  };
  const client = await started();
  expect(client.connection.value).toMatchObject({ phase: "failed" });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(host.sockets).toHaveLength(1);
});

test("when another window takes over its id, it goes on under a new one", async () => {
  const client = await started();
  host.cut(4001, "the client has connected anew");
  await vi.advanceTimersByTimeAsync(1000);
  expect(client.clientId).toBe("me-1");
  expect(client.connection.value).toMatchObject({ phase: "connected", how: "initialize" });
});

test("a host that falls silent is asked for a sign of life, and then given up", async () => {
  const client = await started();
  await vi.advanceTimersByTimeAsync(21_000);
  expect(host.said("ping")).toHaveLength(1);
  expect(client.connection.value.phase).toBe("connected");
  delete host.answers["ping"];
  await vi.advanceTimersByTimeAsync(40_000);
  expect(client.tap.frames().map(({ text }) => text)).toContain("The connection is lost: the host is silent");
});

test("requests wait for a connection; those that only ask survive a break, others do not", async () => {
  const client = host.client();
  host.answers["resourceList"] = () => ({ entries: [] });
  const early = client.request("resourceList", { uri: "file:///" });
  client.start();
  await settle();
  await expect(early).resolves.toEqual({ entries: [] });
  delete host.answers["resourceList"];
  const asking = client.request("resourceList", { uri: "file:///" });
  const moving = client.request("resourceMove", { source: "file:///a", destination: "file:///b" });
  const failed = expect(moving).rejects.toThrow("not known");
  await settle();
  host.answers["resourceList"] = () => ({ entries: [{ name: "a", type: "file" }] });
  host.cut();
  await failed;
  await vi.advanceTimersByTimeAsync(1000);
  await expect(asking).resolves.toEqual({ entries: [{ name: "a", type: "file" }] });
});

test("a session that is being made when the connection breaks is made once", async () => {
  const client = await started();
  const making = client.createSession({ provider: "demo" });
  await settle();
  host.answers["createSession"] = () => {
    throw { code: -32003, message: "it exists" };
  };
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  const uri = await making;
  expect(host.said("createSession")).toMatchObject([{ channel: uri }, { channel: uri }]);
  await expect(client.request("createSession", { channel: uri })).rejects.toThrow("it exists");
});

test("a request that nobody answers times out, and its error says so", async () => {
  const client = await started();
  const asking = expect(client.request("resourceRead", { uri: "file:///a" }, 5)).rejects.toThrow(
    "no answer to resourceRead in 5 seconds",
  );
  await vi.advanceTimersByTimeAsync(6000);
  await asking;
});

test("errors of the host have their code and data", async () => {
  const client = await started();
  host.answers["resourceRead"] = () => {
    throw { code: -32009, message: "outside", data: { request: { uri: "file:///etc" } } };
  };
  const asking = client.request("resourceRead", { uri: "file:///etc" });
  await expect(asking).rejects.toMatchObject({ code: -32009, data: { request: { uri: "file:///etc" } } });
});

test("requests of the host are declined, and frames that are no messages do no harm", async () => {
  const client = await started();
  host.say({ id: 7, method: "resourceRequest", params: { uri: "file:///a" } });
  expect(host.heard.at(-1)).toMatchObject({ id: 7, error: { code: -32601 } });
  host.socket.onmessage?.({ data: "not json" });
  host.say({ method: "somethingNew", params: {} });
  const watch = client.session(SESSION);
  await settle();
  host.act(SESSION, { type: "session/newer" } as never);
  host.act(SESSION, { type: "session/inputNeededSet" } as never);
  host.say({ method: "action", params: null });
  host.say({ method: "root/sessionAdded", params: null });
  host.say({ method: "root/progress", params: { channel: ROOT } });
  host.act(SESSION, retitled("Still here"));
  await settle();
  expect(watch.state.value?.title).toBe("Still here");
  expect(client.connection.value.phase).toBe("connected");
});

test("a listener hears snapshots and each confirmed action in order", async () => {
  host.states.set("terminal:/1", {
    title: "sh",
    lifecycle: { status: "running" },
    content: [{ type: "unclassified", value: "$ " }],
    claim: { kind: "client", clientId: "me" },
  });
  const client = await started();
  const watch = client.terminal("terminal:/1");
  const heard: string[] = [];
  const stop = watch.listen({
    snapshot: (state) => heard.push(`snapshot ${state.content.length}`),
    action: (action) => heard.push("data" in action ? action.data : action.type),
  });
  await settle();
  for (const data of ["a", "b"]) host.act("terminal:/1", { type: "terminal/data", data });
  await settle();
  expect(heard).toEqual(["snapshot 1", "a", "b"]);
  stop();
  host.act("terminal:/1", { type: "terminal/data", data: "c" });
  await settle();
  expect(heard).toHaveLength(3);
});

test("the list follows what the host tells, also while it is on its way", async () => {
  let tell = () => {};
  host.answers["listSessions"] = () => {
    tell();
    return { items: [summary(), summary({ resource: "demo:/2", title: "Two" })] };
  };
  tell = () => host.notify("root/sessionRemoved", { session: "demo:/2" });
  const client = await started();
  const titles = () => client.sessions.value?.map(({ title }) => title);
  expect(titles()).toEqual(["One"]);
  const later = { modifiedAt: "2026-01-02T00:00:00.000Z", activity: "busy" };
  host.notify("root/sessionAdded", { summary: summary({ resource: "demo:/3", title: "Three", ...later }) });
  expect(titles()).toEqual(["Three", "One"]);
  const changes = { title: "Uno", modifiedAt: "2026-01-03T00:00:00.000Z", provider: "other" };
  host.notify("root/sessionSummaryChanged", { session: SESSION, changes });
  expect(client.sessions.value?.[0]).toMatchObject({ title: "Uno", provider: "demo" });
  host.notify("root/sessionSummaryChanged", { session: "demo:/3", changes: { activity: "" } });
  expect(client.sessions.value?.[1]?.activity).toBe("");
  host.notify("root/sessionSummaryChanged", { session: "demo:/none", changes: { title: "No" } });
  expect(titles()).toEqual(["Uno", "Three"]);
});

const page = (...names: string[]) => names.map((title) => summary({ resource: `demo:/${title}`, title }));

test("a list that comes in pages is shown from the first page on, and exchanged as a whole later", async () => {
  const seen: unknown[] = [];
  const titles = () => client.sessions.value?.map(({ title }) => title);
  host.answers["listSessions"] = ({ cursor }) => {
    seen.push(titles());
    if (cursor === undefined) return { items: page("a", "b"), nextCursor: "next" };
    host.notify("root/sessionRemoved", { session: "demo:/a" });
    return { items: page("b", "c") };
  };
  const client = host.client();
  client.start();
  await settle();
  expect(host.said("listSessions")).toEqual([{ channel: ROOT }, { channel: ROOT, cursor: "next" }]);
  expect(seen).toEqual([undefined, ["a", "b"]]);
  expect(titles()).toEqual(["b", "c"]); // no session twice, and none that is gone
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen.slice(2)).toEqual([
    ["b", "c"],
    ["b", "c"],
  ]);
  expect(titles()).toEqual(["b", "c"]);
});

test("a list whose next page is refused is what has come of it", async () => {
  host.answers["listSessions"] = ({ cursor }) => {
    if (cursor === undefined) return { items: page("a"), nextCursor: "next" };
    throw { code: -32602, message: "no such cursor" };
  };
  const client = await started();
  expect(client.sessions.value?.map(({ title }) => title)).toEqual(["a"]);
  host.notify("root/sessionRemoved", { session: "demo:/a" });
  expect(client.sessions.value).toEqual([]);
});

test("a session that is removed is gone for who looks at it", async () => {
  const client = await started();
  const watch = client.session(SESSION);
  await settle();
  host.notify("root/sessionRemoved", { session: SESSION });
  expect(watch.presence.value).toEqual({ status: "gone", reason: "it was removed" });
});

test("what happens in a chat comes over the chat's channel, and is seen there alone", async () => {
  const client = await started();
  const [session, chat] = [client.session(SESSION), client.chat(CHAT)];
  await settle();
  const before = session.state.value;
  const message = { text: "Hi", origin: { kind: "user" } } as const;
  const echo = client.dispatch(CHAT, { type: "chat/turnStarted", turnId: "t", startedAt: TIME, message });
  expect(chat.state.value?.activeTurn?.message).toEqual(message);
  const [{ channel, clientSeq, action }] = host.said("dispatchAction");
  expect(channel).toBe(CHAT);
  host.act(CHAT, action, { origin: { clientId: "me", clientSeq } });
  host.act(SESSION, { type: "session/chatUpdated", chat: CHAT, changes: { status: 8 } });
  host.act("ahp-chat:/other", { type: "chat/truncated" });
  await settle();
  await expect(echo).resolves.toBeUndefined();
  expect(chat.state.value).toMatchObject({ status: 8, activeTurn: { id: "t" } });
  expect(session.state.value?.chats[0]?.status).toBe(8);
  expect(session.state.value).not.toBe(before);
});

test("a chat is made in its session under a URI of its own, once, also if the connection breaks", async () => {
  const client = await started();
  const source = { kind: "fork", chat: CHAT, turnId: "t" } as const;
  const making = client.createChat(SESSION, { source });
  await settle();
  host.answers["createChat"] = () => {
    throw { code: -32010, message: "it exists" };
  };
  host.cut();
  await vi.advanceTimersByTimeAsync(1000);
  const chat = await making;
  expect(chat).toMatch(/^ahp-chat:\/uuid-/);
  const params = { channel: SESSION, chat, source };
  expect(host.said("createChat")).toEqual([params, params]);
});

test("requests go to the root, unless they name another channel", async () => {
  const client = await started();
  host.answers["resourceList"] = () => ({ entries: [] });
  host.answers["disposeChat"] = () => null;
  await Promise.all([
    client.request("resourceList", { uri: "file:///" }),
    client.request("disposeChat", { channel: CHAT }),
    settle(),
  ]);
  expect(host.said("resourceList")).toEqual([{ channel: ROOT, uri: "file:///" }]);
  expect(host.said("disposeChat")).toEqual([{ channel: CHAT }]);
});

test("a channel without a state is watched without one", async () => {
  const client = await started();
  host.answers["subscribe"] = () => ({});
  const watch = client.changeset("ahp-changeset:/1");
  await settle();
  expect(watch.presence.value.status).toBe("loading");
  expect(watch.state.value).toBeUndefined();
});

test("a chat that is removed from its session is gone, also for those who come back to it", async () => {
  const client = await started();
  client.session(SESSION);
  const chat = client.chat(CHAT);
  await settle();
  expect(chat.presence.value.status).toBe("live");
  host.act(SESSION, { type: "session/chatRemoved", chat: CHAT });
  await settle();
  expect(chat.presence.value).toEqual({ status: "gone", reason: "It was removed." });
});
