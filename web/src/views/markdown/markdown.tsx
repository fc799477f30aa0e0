/** Markdown as elements, block by block. A block is rendered again only when its own text has changed. */
import type { Token, Tokens } from "marked";
import { type ComponentChildren, Fragment, h } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import { CodeBlock } from "../parts/code";
import { type Document, readMarkdown } from "./blocks";
import { Inline } from "./inline";

/** A container takes its direction from its first letter; its lines decide for themselves (`markdown.css`). */
const AUTO = { dir: "auto" } as const;

interface MarkdownProps {
  text: string;
  /** The text may still grow: only its end is parsed again. Once it is complete, all of it is parsed. */
  streaming?: boolean | undefined;
}

/** Show Markdown text, which may still grow. */
export const Markdown = memo(function Markdown({ text, streaming = false }: MarkdownProps) {
  const before = useRef<Document | undefined>(undefined);
  const document = readMarkdown(text, streaming ? before.current : undefined);
  before.current = document;
  return <div class="markdown">{<Blocks tokens={document.blocks} />}</div>;
});

function Blocks({ tokens }: { tokens: readonly Token[] | undefined }): ComponentChildren {
  return tokens?.map((token, index) => <BlockView key={index} token={token} />);
}

const BlockView = memo(
  function BlockView({ token }: { token: Token }): ComponentChildren {
    switch (token.type) {
      case "heading":
        // One level down: the page's own headings are above those of an answer.
        return h(
          `h${Math.min((token as Tokens.Heading).depth + 2, 6)}`,
          null,
          <Inline tokens={token.tokens} />,
        );
      case "paragraph":
        return (
          <p>
            <Inline tokens={token.tokens} />
          </p>
        );
      case "code":
        return <CodeBlock text={(token as Tokens.Code).text} language={languageOf(token as Tokens.Code)} />;
      case "blockquote":
        return (
          <blockquote {...AUTO}>
            <Blocks tokens={token.tokens} />
          </blockquote>
        );
      case "list":
        return <List token={token as Tokens.List} />;
      case "table":
        return <Table token={token as Tokens.Table} />;
      case "hr":
        return <hr />;
      case "text":
        return <Inline tokens={token.tokens ?? [token]} />;
      case "checkbox":
        return null;
      case "space":
        return null;
      default:
        return <p>{token.raw}</p>;
    }
  },
  (before, after) => before.token.type === after.token.type && before.token.raw === after.token.raw,
);

function languageOf(token: Tokens.Code): string {
  return (token.lang ?? "").trim().split(/\s/, 1)[0] ?? "";
}

function List({ token }: { token: Tokens.List }) {
  const items = token.items.map((item, index) => <Item key={index} item={item} loose={token.loose} />);
  if (!token.ordered) return <ul {...AUTO}>{items}</ul>;
  return (
    <ol {...AUTO} start={typeof token.start === "number" ? token.start : 1}>
      {items}
    </ol>
  );
}

const Item = memo(
  function Item({ item }: { item: Tokens.ListItem; loose: boolean }) {
    return (
      <li class={item.task ? "task" : undefined}>
        {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label="done" />}
        <Blocks tokens={item.tokens} />
      </li>
    );
  },
  (before, after) => before.item.raw === after.item.raw && before.loose === after.loose,
);

function Table({ token }: { token: Tokens.Table }) {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="table">
      <table {...AUTO}>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <Cell key={index} cell={cell} />
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <Cell key={column} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ cell }: { cell: Tokens.TableCell }) {
  const Tag = cell.header ? "th" : "td";
  return (
    <Tag class={cell.align ? `align-${cell.align}` : undefined}>
      <Inline tokens={cell.tokens} />
    </Tag>
  );
}

/** Text that may be Markdown: a plain string is shown as it is. */
export function Words({ value }: { value: string | { markdown: string } | undefined }): ComponentChildren {
  if (value === undefined) return null;
  return typeof value === "string" ? <Fragment>{value}</Fragment> : <Markdown text={value.markdown} />;
}
