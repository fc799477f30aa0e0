/** Content that is kept elsewhere: small images are loaded at once, everything else on request. */
import { useSignal } from "@preact/signals";
import type { ContentRef } from "../../ahp/wire";
import { Code, CodeBlock } from "../parts/code";
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
  const name = nameOf(content);
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
      {wanted.value && <ReadingView reading={reading.value} uri={content.uri} name={name} bare />}
    </figure>
  );
}

/** Contents of sessions have names that mean nothing to people. */
function nameOf({ uri, contentType }: ContentRef): string {
  const name = baseName(uri);
  if (!/^[0-9a-f-]{16,}$/.test(name)) return name;
  return contentType?.startsWith("image/") ? "Image" : "Text";
}

interface ReadingViewProps {
  reading: Reading;
  uri: string;
  name?: string;
  bare?: boolean;
}

/** Show the content, or why it could not be read; without a title if its surroundings have one. */
export function ReadingView({ reading, uri, name = baseName(uri), bare = false }: ReadingViewProps) {
  switch (reading.kind) {
    case "loading":
      return <p class="faint pad">Reading</p>;
    case "failed":
      return <p class="failure">{reading.reason}</p>;
    case "image":
      return <img class="picture" src={reading.url} alt={name} />;
    case "text":
      return bare ? (
        <Code text={reading.text} language={languageOf(uri)} label={name} />
      ) : (
        <CodeBlock text={reading.text} language={languageOf(uri)} label={name} />
      );
    case "bytes":
      return <p class="faint pad">{bytes(reading.size)} that are no text.</p>;
  }
}
