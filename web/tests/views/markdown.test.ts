import { expect, test } from "vitest";
import { type Document, readMarkdown } from "../../src/views/markdown/blocks";
import { decodeEntities } from "../../src/views/markdown/entities";
import { safeHref } from "../../src/views/markdown/links";

const TEXT = `# A title

A paragraph with **strong** words,
and \`code\` in it. A line of its own
---

- one
- two

  with a paragraph of its own
  - nested
- three

1. first
2. second

> a quote
that goes on

| a | b |
|---|--:|
| 1 | 2 |
| 3 | 4 |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

    indented code

<b>html</b> is text

* * *

the end`;

function streamed(text: string, sizes: () => number): Document {
  let document: Document | undefined;
  for (let at = 0; at < text.length;) {
    at += sizes();
    document = readMarkdown(text.slice(0, at), document);
  }
  return document ?? readMarkdown("");
}

test("text that streamed in, in pieces of any size, is read like text that came whole", () => {
  const whole = readMarkdown(TEXT).blocks.map((token) => [token.type, token.raw.trimEnd()]);
  let seed = 3;
  const chance = (below: number) => (seed = (seed * 16807) % 2147483647) % below;
  for (const sizes of [() => 1, () => 7, () => 1 + chance(30), () => 1 + chance(90)]) {
    expect(streamed(TEXT, sizes).blocks.map((token) => [token.type, token.raw.trimEnd()])).toEqual(whole);
  }
});

test("what was read of the beginning is kept as it is", () => {
  const before = readMarkdown("# One\n\nTwo\n\nThr");
  const after = readMarkdown("# One\n\nTwo\n\nThree", before);
  expect(after.blocks.slice(0, 2)).toEqual(before.blocks.slice(0, 2));
  expect(after.blocks[0]).toBe(before.blocks[0]);
  expect(after.blocks[2]).not.toBe(before.blocks[2]);
});

test("a text that is not the beginning of the new one is forgotten", () => {
  const before = readMarkdown("something else");
  expect(readMarkdown("# One", before)).toEqual(readMarkdown("# One"));
});

test("only the end is read again, however long the text is", () => {
  const paragraph = `${"word ".repeat(40)}

`;
  const before = readMarkdown(paragraph.repeat(500));
  const after = readMarkdown(`${before.source}and more`, before);
  expect(before.source.length - before.from).toBe(paragraph.length);
  expect(after.blocks.slice(0, 499).every((token, at) => token === before.blocks[at])).toBe(true);
});

test("only addresses of the web and of mail are links", () => {
  expect(safeHref("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
  expect(safeHref("mailto:a@example.org")).toBe("mailto:a@example.org");
  for (const href of [
    "javascript:alert(1)",
    " jAvascript:1",
    "data:text/html,x",
    "file:///etc/hosts",
    "/relative",
  ]) {
    expect(safeHref(href)).toBeUndefined();
  }
});

test("character references are resolved, those that nobody knows stay", () => {
  expect(decodeEntities("a &lt; b &amp;&amp; c &#8594; &#x2192; &unknown; &#xD800;")).toBe(
    "a < b && c → → &unknown; \ufffd",
  );
});
