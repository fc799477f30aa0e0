/** When to show what has come: once for each frame that the browser draws. */

/** Browsers draw nothing in tabs that nobody sees; then this long passes instead. */
const UNSEEN_MILLISECONDS = 200;

/** Run something before the next frame is drawn, or soon if none is. */
export function beforeDrawing(run: () => void): void {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
    run();
  };
  const timer = setTimeout(once, UNSEEN_MILLISECONDS);
  const frame = typeof requestAnimationFrame === "function" ? requestAnimationFrame(once) : undefined;
}
