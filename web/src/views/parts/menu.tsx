/** A menu behind a button: arrows move, Esc and a click elsewhere close it. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon, type IconName } from "./icon";
import { rove } from "./roving";

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly run: () => void;
}

interface MenuProps {
  label: string;
  items: readonly MenuItem[];
  icon?: IconName;
  tabIndex?: number;
}

/** Show the button, and the menu when it is open. */
export function Menu({ label, items, icon = "more", tabIndex = 0 }: MenuProps) {
  const open = useSignal(false);
  const holder = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open.value) return;
    place(button.current, list.current);
    list.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const away = (event: Event) => {
      if (!holder.current?.contains(event.target as Node)) open.value = false;
    };
    document.addEventListener("pointerdown", away, true);
    document.addEventListener("focusin", away);
    return () => {
      document.removeEventListener("pointerdown", away, true);
      document.removeEventListener("focusin", away);
    };
  }, [open.value]);
  const close = () => {
    open.value = false;
    button.current?.focus();
  };
  return (
    <div class="menu-holder" ref={holder}>
      <button
        ref={button}
        type="button"
        class="quiet"
        tabIndex={tabIndex}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open.value}
        aria-controls={open.value ? id : undefined}
        onClick={(event) => {
          event.stopPropagation();
          open.value = !open.value;
        }}
      >
        <Icon name={icon} />
      </button>
      {open.value && (
        <div
          ref={list}
          id={id}
          class="menu"
          role="menu"
          aria-label={label}
          onClick={(event) => event.stopPropagation()}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Escape") close();
            else rove(event, "[role=menuitem]:not([disabled])");
          }}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.danger ? "danger-text" : undefined}
              disabled={item.disabled}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Fixed to the window, so that no list that scrolls cuts it off. */
function place(button: HTMLElement | null, list: HTMLElement | null): void {
  if (!button || !list) return;
  const at = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.right - width, window.innerWidth - width - 8));
  const below = at.bottom + 4;
  const top = below + height > window.innerHeight - 8 ? Math.max(8, at.top - height - 4) : below;
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}
