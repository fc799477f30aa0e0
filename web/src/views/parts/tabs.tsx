/** Tabs: one stop of the Tab key; arrows choose. The content below belongs to the caller. */
import type { ComponentChildren } from "preact";
import { rove } from "./roving";

export interface Tab {
  readonly id: string;
  readonly label: ComponentChildren;
  /** What a screen reader says, where the label is more than words. */
  readonly name?: string;
}

interface TabsProps {
  label: string;
  tabs: readonly Tab[];
  chosen: string | undefined;
  onChoose: (id: string) => void;
  /** The id of the element that the tabs control. */
  panel: string;
}

/** Show the row of tabs. */
export function Tabs({ label, tabs, chosen, onChoose, panel }: TabsProps) {
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        if (rove(event, "[role=tab]", "horizontal")) (document.activeElement as HTMLElement | null)?.click();
      }}
    >
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`${panel}-${tab.id}`}
          aria-selected={tab.id === chosen}
          aria-controls={panel}
          aria-label={tab.name}
          tabIndex={tab.id === chosen ? 0 : -1}
          onClick={() => onChoose(tab.id)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
