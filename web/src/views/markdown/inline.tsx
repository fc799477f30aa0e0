/** The inline part of Markdown as elements. HTML in it is shown as it was written: nothing here is ever parsed as HTML. */
import type { Token, Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { decodeEntities } from "./entities";
import { safeHref } from "./links";

/** Show inline tokens. */
export function Inline({ tokens }: { tokens: readonly Token[] | undefined }): ComponentChildren {
  return tokens?.map((token, index) => <Piece key={index} token={token} />);
}

function Piece({ token }: { token: Token }): ComponentChildren {
  switch (token.type) {
    case "strong":
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link token={token as Tokens.Link} />;
    case "image":
      return <ImageLink token={token as Tokens.Image} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text":
      return token.tokens ? (
        <Inline tokens={token.tokens} />
      ) : (
        shortNodes(decodeEntities((token as Tokens.Text).text))
      );
    default:
      return token.raw;
  }
}

const LONGEST_NODE = 1000;

/** Split a long text into several nodes, after spaces: while it grows, the browser shapes only the last one again. */
export function shortNodes(text: string): string | string[] {
  if (text.length <= LONGEST_NODE) return text;
  const nodes: string[] = [];
  let start = 0;
  while (text.length - start > LONGEST_NODE) {
    const space = text.indexOf(" ", start + LONGEST_NODE);
    if (space < 0) break;
    nodes.push(text.slice(start, space + 1));
    start = space + 1;
  }
  nodes.push(text.slice(start));
  return nodes;
}

function Link({ token }: { token: Tokens.Link }) {
  const href = safeHref(decodeEntities(token.href));
  if (href === undefined)
    return (
      <span title={token.href}>
        <Inline tokens={token.tokens} />
      </span>
    );
  return (
    <a href={href} title={token.title ?? undefined} target="_blank" rel="noopener noreferrer">
      <Inline tokens={token.tokens} />
    </a>
  );
}

/** An image becomes a link: fetching it would tell a third party that the answer is being read, and leak its address. */
function ImageLink({ token }: { token: Tokens.Image }) {
  const href = safeHref(decodeEntities(token.href));
  const words = `🖼 ${token.text || token.href}`;
  if (href === undefined) return <span title={token.href}>{words}</span>;
  return (
    <a href={href} title={token.title ?? undefined} target="_blank" rel="noopener noreferrer">
      {words}
    </a>
  );
}
