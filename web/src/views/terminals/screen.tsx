/** A terminal's screen: xterm.js, loaded when the first one is looked at. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "preact/hooks";
import { client, outputOf } from "../../ahp";
import type { TerminalState, Watch } from "../../ahp";
import { isHeldHere } from "./claims";
import { replies } from "./replies";
import { strictly } from "./strict";
import { isDark, terminalTheme } from "./colours";

const RESIZE_MS = 80;

/** Show a terminal, and pass on what is typed. */
export default function Screen({ watch }: { watch: Watch<TerminalState> }) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!holder.current) return;
    return attach(watch, holder.current);
  }, [watch]);
  return <div ref={holder} class="screen" />;
}

function attach(watch: Watch<TerminalState>, holder: HTMLElement): () => void {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(holder).getPropertyValue("--mono"),
    fontSize: 13,
    theme: terminalTheme(holder),
    scrollback: 5000,
    screenReaderMode: true,
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  strictly(() => terminal.open(holder));
  // Tab and Esc belong to the program, so keyboard users need another way out.
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== "Escape" || !event.shiftKey) return true;
    document.querySelector<HTMLElement>(".dock [role=tab][aria-selected=true]")?.focus();
    return false;
  });
  terminal.focus();
  const type = (data: string) =>
    void client.dispatch(watch.uri, { type: "terminal/input", data }).catch(() => undefined);
  const isHolder = () => watch.state.value !== undefined && isHeldHere(watch.state.value.claim);
  const output = replies(terminal, type, isHolder);
  const size = sizeKeeper(watch, terminal, fit);
  const unlisten = watch.listen({
    snapshot: (state) => {
      terminal.reset();
      size.adopt(state);
      output.replay(state.content.map(outputOf).join(""));
    },
    action: (action, state) => {
      if (action.type === "terminal/data") output.live(action.data);
      else if (action.type === "terminal/cleared") terminal.clear();
      else size.adopt(state);
    },
  });
  const observer = new ResizeObserver(() => size.fit());
  observer.observe(holder);
  const recolour = () => (terminal.options.theme = terminalTheme(holder));
  const stopColours = isDark.subscribe(recolour);
  return () => {
    unlisten();
    observer.disconnect();
    stopColours();
    size.stop();
    terminal.dispose();
  };
}

/** The holder of a terminal sets its size; others see it in that size. */
function sizeKeeper(watch: Watch<TerminalState>, terminal: Terminal, addon: FitAddon) {
  let timer: number | undefined;
  const fit = () => {
    const state = watch.state.value;
    if (!state || !isHeldHere(state.claim) || state.lifecycle.status === "exited") return;
    const wanted = addon.proposeDimensions();
    if (!wanted || !(wanted.cols > 1 && wanted.rows > 1)) return;
    if (wanted.cols === terminal.cols && wanted.rows === terminal.rows && state.cols === wanted.cols) return;
    terminal.resize(wanted.cols, wanted.rows);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const { cols, rows } = terminal;
      void client.dispatch(watch.uri, { type: "terminal/resized", cols, rows }).catch(() => undefined);
    }, RESIZE_MS);
  };
  const adopt = (state: TerminalState) => {
    if (isHeldHere(state.claim)) fit();
    else if (state.cols && state.rows) terminal.resize(state.cols, state.rows);
  };
  return { fit, adopt, stop: () => clearTimeout(timer) };
}
