import { execFileSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { AapError, aapIdOf, curlOf, requestOf, SseDecoder, sendTurn } from "../src/aap";

const TURN = { session: "demo:/one", text: 'It\'s "so"\n$HOME', stream: "delta" } as const;

let server: Server | undefined;

afterEach(() => {
  server?.close();
  vi.unstubAllGlobals();
});

/** Serve one answer, and let `fetch` find it as a page would. */
async function serve(status: number, type: string, body: string): Promise<{ key: () => string | undefined }> {
  let key: string | undefined;
  server = createServer((request, response) => {
    key = request.headers.authorization;
    response.writeHead(status, { "Content-Type": type }).end(body);
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const real = fetch;
  vi.stubGlobal("fetch", (path: string, how: RequestInit) => real(`http://127.0.0.1:${port}${path}`, how));
  return { key: () => key };
}

async function collected(key?: string) {
  const events = [];
  for await (const event of sendTurn(TURN, key)) events.push(event);
  return events;
}

test("AAP knows a session by its path, or by all of its URI where that is not safe", () => {
  expect(aapIdOf("demo:/0f8c-1")).toBe("0f8c-1");
  expect(aapIdOf("demo:/a/b")).toBe("uri-ZGVtbzovYS9i");
  expect(aapIdOf("demo:/uri-x")).toBe("uri-ZGVtbzovdXJpLXg");
});

test("a shell reads the command back as it was meant", () => {
  const curl = curlOf(TURN, "http://here:1", true).replace("curl", "printf '%s\\n'");
  const words = execFileSync("sh", ["-c", curl], { env: { AGENTHOST_KEY: "ah_1" } }).toString();
  expect(words).toContain("http://here:1/aap/sessions/one/turns\n");
  expect(words).toContain("Authorization: Bearer ah_1\n");
  expect(words).toContain(`${JSON.stringify(requestOf(TURN).body)}\n`);
});

test("events come out alike, wherever the text is cut", () => {
  const text =
    ': hello\r\nevent: a\r\ndata: {"x": 1}\r\n\r\ndata:one\ndata: two\n\nevent: empty\n\nevent: late\n';
  const events = [
    { name: "a", data: '{"x": 1}' },
    { name: "message", data: "one\ntwo" },
  ];
  for (let size = 1; size <= text.length; size++) {
    const decoder = new SseDecoder();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...decoder.feed(text.slice(at, at + size)));
    expect(found).toEqual(events);
  }
});

test("a turn's events are given as they come, and the key is sent along", async () => {
  const { key } = await serve(
    200,
    "text/event-stream",
    "event: turn_start\ndata: {}\n\nevent: x\ndata: 1\n\n",
  );
  expect(await collected("ah_1")).toEqual([
    { name: "turn_start", data: "{}" },
    { name: "x", data: "1" },
  ]);
  expect(key()).toBe("Bearer ah_1");
});

test("without a stream the body is the one event", async () => {
  await serve(200, "application/json", '{"stopReason":"end_turn"}');
  expect(await collected()).toEqual([{ name: "body", data: '{"stopReason":"end_turn"}' }]);
});

test("a refusal has its status, its code and its sentence", async () => {
  await serve(409, "application/json", '{"error": {"code": "turn_in_progress", "message": "wait"}}');
  await expect(collected()).rejects.toThrowError(new AapError("wait", 409, "turn_in_progress"));
});
