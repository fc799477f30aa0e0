/**
 * A document for xterm.js under a policy that forbids inline styles.
 *
 * xterm writes `<style>` elements, and `style` attributes for colours that are in no palette. Both are refused by
 * `style-src 'self'`; the same through the CSSOM is not. So style elements become sheets that the document adopts,
 * and the attribute is set as `cssText`. https://github.com/xtermjs/xterm.js/issues/4445 is about this.
 */

/** Make an element that takes the text of a style sheet, and stands where a `<style>` would. */
function makeSheet(): HTMLElement {
  const element = document.createElement("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    set: (text: string) => sheet.replaceSync(text),
    get: () => "",
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

const create = Document.prototype.createElement;

function createElement(name: string): HTMLElement {
  if (name === "style") return makeSheet();
  const element = create.call(document, name) as HTMLElement;
  element.setAttribute = setAttribute;
  return element;
}

/** The document that xterm is given. */
export const strictDocument: Document = new Proxy(document, {
  get(target, key) {
    if (key === "createElement") return createElement;
    const value: unknown = Reflect.get(target, key, target);
    return typeof value === "function" ? value.bind(target) : value;
  },
});

/** Run something that makes elements with the page's own document, as xterm's scroll bar does, the same way. */
export function strictly(run: () => void): void {
  document.createElement = createElement as Document["createElement"];
  try {
    run();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // the prototype's is there again
  }
}
