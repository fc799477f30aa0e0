/** The tap: the last messages of a connection, as they were sent. */

import { signal } from "@preact/signals";
import type { Frame, Tap } from "./api";
import { beforeDrawing } from "./drawing";

const MOST_FRAMES = 10_000;
const MOST_CHARACTERS = 8_000_000;

export class FrameTap implements Tap {
  readonly version = signal(0);
  readonly totals = { in: 0, out: 0, bytesIn: 0, bytesOut: 0 };
  #frames: Frame[] = [];
  #shown: readonly Frame[] = [];
  #characters = 0;
  #count = 0;
  #isTelling = false;

  /** Record a message in either direction. */
  message(kind: "in" | "out", text: string): void {
    const size = bytesOf(text);
    this.totals[kind] += 1;
    this.totals[kind === "in" ? "bytesIn" : "bytesOut"] += size;
    this.#add({ n: ++this.#count, at: Date.now(), kind, text: kind === "out" ? masked(text) : text, size });
  }

  /** Record an event of the connection, as a sentence. */
  note(text: string): void {
    this.#add({ n: ++this.#count, at: Date.now(), kind: "note", text, size: 0 });
  }

  frames(): readonly Frame[] {
    return this.#shown;
  }

  clear(): void {
    this.#frames = [];
    this.#characters = 0;
    this.#tell();
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    this.#characters += frame.text.length;
    if (this.#isTelling) return;
    this.#isTelling = true;
    beforeDrawing(() => this.#tell());
  }

  #tell(): void {
    this.#isTelling = false;
    this.#trim();
    this.#shown = this.#frames.slice();
    this.version.value += 1;
  }

  #trim(): void {
    let gone = Math.max(0, this.#frames.length - MOST_FRAMES);
    let left = this.#characters;
    this.#frames.forEach((frame, place) => {
      // The newest stays, however large it is.
      const isTooMuch = left > MOST_CHARACTERS && place < this.#frames.length - 1;
      if (place >= gone && isTooMuch) gone = place + 1;
      if (place < gone) left -= frame.text.length;
    });
    this.#characters = left;
    this.#frames.splice(0, gone);
  }
}

/** Count the bytes that a text has in UTF-8, without making them. */
export function bytesOf(text: string): number {
  let bytes = text.length;
  for (let place = 0; place < text.length; place++) {
    const unit = text.charCodeAt(place);
    if (unit > 0x7ff) bytes += 2;
    else if (unit > 0x7f) bytes += 1;
    if (unit >= 0xd800 && unit <= 0xdbff) place += 1; // two units, four bytes
  }
  return bytes;
}

/** Tokens for the host are masked, even on this screen. */
function masked(text: string): string {
  if (!text.includes('"authenticate"')) return text;
  return text.replace(/("token":\s*)"(?:[^"\\]|\\.)*"/g, '$1"***"');
}
