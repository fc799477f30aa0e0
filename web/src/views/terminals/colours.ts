/** The colours of terminals: those of the page, and a palette for each theme. */
import type { ITheme } from "@xterm/xterm";
import { isDark } from "../theme";

export { isDark };

const LIGHT: ITheme = {
  black: "#1f1e1b",
  red: "#b3261e",
  green: "#1a7344",
  yellow: "#8f5300",
  blue: "#1d5fa8",
  magenta: "#8a2f6b",
  cyan: "#0b6b62",
  white: "#6b6a63",
  brightBlack: "#69665f",
  brightRed: "#c9372c",
  brightGreen: "#22834f",
  brightYellow: "#9c6200",
  brightBlue: "#2a72c4",
  brightMagenta: "#a13c80",
  brightCyan: "#127d73",
  brightWhite: "#3a3935",
};

const DARK: ITheme = {
  black: "#3b3b43",
  red: "#ff8a80",
  green: "#62c88e",
  yellow: "#f0b45c",
  blue: "#7db7f0",
  magenta: "#e39bd0",
  cyan: "#59c8ba",
  white: "#d6d5d0",
  brightBlack: "#8b8b95",
  brightRed: "#ffaaa3",
  brightGreen: "#8adfae",
  brightYellow: "#f7cb87",
  brightBlue: "#a3cdf7",
  brightMagenta: "#efbde2",
  brightCyan: "#8fe0d6",
  brightWhite: "#ffffff",
};

/** Return the colours for the current theme. */
export function terminalTheme(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  const background = style.backgroundColor;
  return {
    ...(isDark.value ? DARK : LIGHT),
    background,
    foreground: style.color,
    cursor: style.color,
    cursorAccent: background,
    selectionBackground: isDark.value ? "#44546a" : "#cfe3df",
  };
}
