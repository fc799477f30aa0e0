/** Light or dark: as in the system, or as the user chose. */
import { computed, effect, signal } from "@preact/signals";
import { keep, kept } from "./route";

export type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => (systemIsDark.value = system.matches));

/** What was chosen. */
export const theme = signal<Theme>(THEMES.find((one) => one === kept("theme")) ?? "system");

/** Whether the page is dark now. */
export const isDark = computed(() =>
  theme.value === "system" ? systemIsDark.value : theme.value === "dark",
);

effect(() => {
  keep("theme", theme.value);
  const { dataset } = document.documentElement;
  if (theme.value === "system") delete dataset["theme"];
  else dataset["theme"] = theme.value;
});

/** Switch between light and dark. */
export function toggleTheme(): void {
  theme.value = isDark.value ? "light" : "dark";
}
