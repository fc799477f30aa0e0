/** The content that a tool shows, while it runs or afterwards. */
import type { ToolResultContent } from "../../ahp/wire";
import { FileEdits } from "../diffs/fileedits";
import { ContentView, ReadingView } from "../files/contentview";
import { contentOf } from "../files/reading";
import { CodeBlock } from "../parts/code";
import { Icon } from "../parts/icon";
import { hrefOf, openTerminal } from "../route";
import { TerminalPeek } from "../terminals/peek";
import { client } from "../../ahp";
import { useAccess } from "./access";
import { placeOf } from "./chats";

/** Show blocks of content. */
export function ToolContent({ content, isLive }: { content: readonly ToolResultContent[]; isLive: boolean }) {
  return (
    <div class="tool-content">
      {content.map((block, at) => (
        <Block key={at} block={block} isLive={isLive} />
      ))}
    </div>
  );
}

function Block({ block, isLive }: { block: ToolResultContent; isLive: boolean }) {
  const { folder } = useAccess();
  switch (block.type) {
    case "text":
      return <CodeBlock text={block.text} label="Output" />;
    case "fileEdit":
      return <FileEdits edits={[block]} folder={folder} />;
    case "resource":
      return <ContentView content={block} />;
    case "embeddedResource":
      return <Embedded data={block.data} contentType={block.contentType} />;
    case "terminal":
      return <TerminalBlock uri={block.resource} title={block.title} isLive={isLive} />;
    case "subagent":
      return <Subagent block={block} />;
    default:
      return (
        <p class="faint">
          Content of a kind that this page does not know: {(block as { type: string }).type}
        </p>
      );
  }
}

function Embedded({ data, contentType }: { data: string; contentType: string }) {
  const isText = contentType.startsWith("text/") || contentType.includes("json");
  const read = isText
    ? {
        data: new TextDecoder().decode(Uint8Array.from(atob(data), (one) => one.charCodeAt(0))),
        encoding: "utf-8" as const,
        contentType,
      }
    : { data, encoding: "base64" as const, contentType };
  return <ReadingView reading={contentOf(read, contentType)} uri={contentType} />;
}

function TerminalBlock({ uri, title, isLive }: { uri: string; title: string; isLive: boolean }) {
  return (
    <div class="card terminal-block">
      <div class="card-head">
        <Icon name="terminal" />
        <span class="grow mono">{title}</span>
        <button type="button" class="small" onClick={() => openTerminal(uri)}>
          Open terminal
        </button>
      </div>
      {isLive && <TerminalPeek uri={uri} />}
    </div>
  );
}

function Subagent({ block }: { block: Extract<ToolResultContent, { type: "subagent" }> }) {
  const { session } = useAccess();
  // An unknown one is a chat of this session, created by a call.
  const place = placeOf(block.resource, client.sessions.value ?? []) ?? { session, chat: block.resource };
  return (
    <a class="card subagent" href={hrefOf(place.session, place.chat)}>
      <Icon name="fork" />
      <span class="grow">
        <strong>{block.title}</strong>
        {block.description && <small class="faint">{block.description}</small>}
      </span>
      {block.agentName && <span class="tag">{block.agentName}</span>}
      <Icon name="chevron" />
    </a>
  );
}
