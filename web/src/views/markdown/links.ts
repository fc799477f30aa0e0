/** Which addresses in untrusted text may become links. */
const SAFE = /^(?:https?:|mailto:)/i;

/** Return the address if it may be followed, else nothing: no scripts, no files, nothing relative to this page. */
export function safeHref(href: string): string | undefined {
  const trimmed = href.trim();
  return SAFE.test(trimmed) ? trimmed : undefined;
}
