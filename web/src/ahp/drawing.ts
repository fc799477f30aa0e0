/** Scheduling of updates: once for each frame that the browser draws. */

/** Browsers draw no frames in hidden tabs; then this delay is used instead. */
const UNSEEN_MILLISECONDS = 200;

/** Run a function before the next frame is drawn, or soon if there is none. */
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
