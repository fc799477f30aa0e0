/** Icons: few strokes on a grid of 16, in the colour of the text. Hidden from screen readers. */
const STROKES = {
  add: "M8 3v10M3 8h10",
  archive: "M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 9h3",
  aside: "M2.5 3h11v7.5H8L5 13.2v-2.7H2.5zM5.5 6.7h.01M8 6.7h.01M10.5 6.7h.01",
  attach:
    "M10.5 5.5l-4.3 4.3a1.2 1.2 0 0 0 1.7 1.7l4.6-4.6a2.6 2.6 0 0 0-3.7-3.7L4 8a4 4 0 0 0 5.7 5.7l3.3-3.3",
  back: "M9.5 3.5L5 8l4.5 4.5",
  check: "M3 8.5l3.2 3.2L13 4.8",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  diff: "M8 3v6M5 6h6M5 12.5h6",
  down: "M8 3v10M4 9l4 4 4-4",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9 4.7l2.3 2.3",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  folder: "M2.5 4h4l1.5 1.7h5.5v7.3h-11z",
  fork: "M4.5 5.5v5M4.5 9.2c0-1.4 1-2 2.5-2h1.8c1.5 0 2.2-.5 2.2-1.7M4.5 2.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3M4.5 10.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3M11 2.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3",
  grip: "M6 4.5h.01M10 4.5h.01M6 8h.01M10 8h.01M6 11.5h.01M10 11.5h.01",
  image: "M2.5 3.5h11v9h-11zM3 11l3-3 2.5 2.5L10.5 8l2.5 2.7M10 6h.01",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M12 7h.01M5 9.3h6",
  mail: "M2.5 4h11v8h-11zM2.8 4.5L8 8.7l5.2-4.2",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  moon: "M12.5 9.5A5 5 0 0 1 6.5 3.5a5 5 0 1 0 6 6z",
  more: "M3.2 7.5h1v1h-1zM7.5 7.5h1v1h-1zM11.8 7.5h1v1h-1z",
  panel: "M2.5 3.5h11v9h-11zM9.5 3.5v9",
  pause: "M5.5 4v8M10.5 4v8",
  play: "M5 3.5l7 4.5-7 4.5z",
  question: "M6 6.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 12h.01",
  remove: "M3.5 4.5h9M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  retry: "M12.8 8.5A4.8 4.8 0 1 1 11.6 4.8L13 6.2M13 2.8v3.4H9.6",
  search: "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.2 10.2l3 3",
  send: "M8 13V3.5M4 7.5l4-4 4 4",
  settings: "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3",
  stop: "M4.5 4.5h7v7h-7z",
  sun: "M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  terminal: "M2.5 3.5h11v9h-11zM5 6.5l2 1.7-2 1.7M8.5 10h2.5",
  think: "M5.5 12.5h5M6.5 14h3M8 2.5a4 4 0 0 1 2.3 7.3v1h-4.6v-1A4 4 0 0 1 8 2.5",
  tool: "M10 2.7a3 3 0 0 0-3 4L3 10.7a1.5 1.5 0 0 0 2.2 2.2l4-4a3 3 0 0 0 4-3.6L11.3 7 9.2 6.8 9 4.7z",
  up: "M8 13V3M4 7l4-4 4 4",
  user: "M8 3a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5M3.5 13.2c.5-2.4 2.3-3.6 4.5-3.6s4 1.2 4.5 3.6",
  wire: "M2.5 5.5h9M9 3l2.5 2.5L9 8M13.5 10.5h-9M7 8l-2.5 2.5L7 13",
} as const;

export type IconName = keyof typeof STROKES;

/** Show an icon. If it is alone, its container has the label. */
export function Icon({ name, class: more }: { name: IconName; class?: string }) {
  return (
    <svg class={more ? `icon ${more}` : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={STROKES[name]} />
    </svg>
  );
}
