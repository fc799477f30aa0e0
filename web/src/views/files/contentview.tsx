/** Content that is kept elsewhere: small images at once, all else when somebody asks for it. */
import { useSignal } from "@preact/signals";
import type { ContentRef } from "../../ahp/wire";
import { CodeBlock } from "../parts/code";
import { Icon } from "../parts/icon";
import { baseName } from "../sessions/summaries";
import { bytes, languageOf } from "./reading";
import { type Reading, useRead } from "./useread";

const AT_ONCE = 4_000_000;

/** Show a reference, and what it refers to. */
export function ContentView({ content }: { content: ContentRef }) {
  const isSmallImage = content.contentType?.startsWith("image/") && (content.sizeHint ?? 0) < AT_ONCE;
  const wanted = useSignal(isSmallImage === true);
  const reading = useRead(wanted.value ? content.uri : undefined);
  const name = baseName(content.uri);
  const facts = [content.contentType, content.sizeHint !== undefined && bytes(content.sizeHint)].filter(
    Boolean,
  );
  return (
    <figure class="card content">
      <figcaption>
        <Icon name={content.contentType?.startsWith("image/") ? "image" : "file"} />
        <span class="grow mono">{name}</span>
        <small class="faint">{facts.join(" · ")}</small>
        {!wanted.value && (
          <button type="button" class="small" onClick={() => (wanted.value = true)}>
            Show
          </button>
        )}
      </figcaption>
      {wanted.value && <ReadingView reading={reading.value} uri={content.uri} />}
    </figure>
  );
}

/** Show what was read, or why it was not. */
export function ReadingView({ reading, uri }: { reading: Reading; uri: string }) {
  switch (reading.kind) {
    case "loading":
      return <p class="faint pad">Reading</p>;
    case "failed":
      return <p class="failure">{reading.reason}</p>;
    case "image":
      return <img class="picture" src={reading.url} alt={baseName(uri)} />;
    case "text":
      return <CodeBlock text={reading.text} language={languageOf(uri)} label={baseName(uri)} />;
    case "bytes":
      return <p class="faint pad">{bytes(reading.size)} that are no text.</p>;
  }
}
