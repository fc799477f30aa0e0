/**
 * xterm.js under a policy that forbids inline styles.
 *
 * xterm writes `<style>` elements, and `style` attributes for colours that are in no palette. `style-src 'self'`
 * refuses both, but allows the same through the CSSOM. So the style elements of xterm become sheets that the
 * document adopts, and the attribute of spans, which make up its lines, is set as `cssText`.
 */

/** Create an element that takes the text of a style sheet, in place of a `<style>`. */
function makeSheet(): HTMLElement {
  const element = create.call(document, "span") as HTMLElement;
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

const create = Document.prototype.createElement;

HTMLSpanElement.prototype.setAttribute = function (name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};

/** Open a terminal; the styles that it makes meanwhile are sheets. */
export function strictly(open: () => void): void {
  const instead = (name: string) => (name === "style" ? makeSheet() : create.call(document, name));
  document.createElement = instead as Document["createElement"];
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // the prototype's method is visible again
  }
}
