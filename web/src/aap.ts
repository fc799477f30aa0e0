/** The other protocol: the same turn over AAP, as a shell command, or sent from the page with its events. */

/** A turn for AAP. */
export interface AapTurn {
  /** The session's URI, as AHP knows it. */
  session: string;
  text: string;
  stream: "delta" | "message" | "none";
}

/** A server-sent event, as it came. */
export interface AapEvent {
  name: string;
  data: string;
}

/** AAP refused the turn. */
export class AapError extends Error {
  override name = "AapError";
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
  ) {
    super(message);
  }
}

/** Return the id of a session in AAP: the path of its URI, if that is safe in an address. */
export function aapIdOf(uri: string): string {
  const path = uri.slice(uri.indexOf(":/") + 2);
  if (uri.includes(":/") && /^[A-Za-z0-9._~-]{1,200}$/.test(path) && !path.startsWith("uri-")) {
    return path;
  }
  const bytes = String.fromCharCode(...new TextEncoder().encode(uri));
  return `uri-${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Return the path and the body of the request. */
export function requestOf(turn: AapTurn): { path: string; body: object } {
  const body = { messages: [{ role: "user", content: turn.text }], stream: turn.stream };
  return { path: `/aap/sessions/${aapIdOf(turn.session)}/turns`, body };
}

/** Write the request as a command for a shell. A key is named, not shown. */
export function curlOf(turn: AapTurn, origin: string, needsKey: boolean): string {
  const { path, body } = requestOf(turn);
  const key = needsKey ? ` -H "Authorization: Bearer $AGENTHOST_KEY"` : "";
  return `curl -sN ${origin}${path}${key} -d ${quoted(JSON.stringify(body))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Send a turn and yield its events as they arrive. With `stream: "none"`, the body is the one event. */
export async function* sendTurn(
  turn: AapTurn,
  key?: string,
  signal?: AbortSignal,
): AsyncGenerator<AapEvent, void, undefined> {
  const { path, body } = requestOf(turn);
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
  if (!answer.ok) throw await refusalOf(answer);
  if (!answer.headers.get("content-type")?.startsWith("text/event-stream") || !answer.body) {
    yield { name: "body", data: await answer.text() };
    return;
  }
  const decoder = new SseDecoder();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      yield* decoder.feed(part.value);
    }
  } finally {
    await reader.cancel().catch(() => {}); // ending the iteration ends the stream
  }
}

async function refusalOf(answer: Response): Promise<AapError> {
  const found: any = await answer.json().catch(() => ({}));
  const { message, code } = found.error ?? {};
  return new AapError(message ?? `the server answered ${answer.status}`, answer.status, code ?? "unknown");
}

/** Turns text, cut anywhere, into events. Data without a final blank line is not an event. */
export class SseDecoder {
  #rest = "";
  #name = "";
  #data: string[] = [];

  *feed(text: string): Generator<AapEvent, void, undefined> {
    this.#rest += text;
    // A CR at the very end may be half of a line end.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#take(line);
      if (event) yield event;
    }
  }

  #take(line: string): AapEvent | undefined {
    if (line === "") return this.#ended();
    const [field = "", value = ""] = line.split(/: ?(.*)/s);
    if (field === "event") this.#name = value;
    else if (field === "data") this.#data.push(value);
    return undefined;
  }

  #ended(): AapEvent | undefined {
    const event = { name: this.#name || "message", data: this.#data.join("\n") };
    const isOne = this.#data.length > 0;
    this.#name = "";
    this.#data = [];
    return isOne ? event : undefined;
  }
}
