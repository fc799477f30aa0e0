/** The edge of a panel, to resize it by dragging or with the arrow keys. A double click resets it. */

const STEP = 40;

interface SeparatorProps {
  label: string;
  /** The edge of the panel that this is. */
  edge: "left" | "right";
  width: number;
  min: number;
  max: number;
  onMove: (width: number) => void;
  onReset: () => void;
}

/** Show the edge. */
export function Separator({ label, edge, width, min, max, onMove, onReset }: SeparatorProps) {
  const move = (wanted: number) => onMove(Math.max(min, Math.min(wanted, max)));
  const wider = edge === "left" ? "ArrowLeft" : "ArrowRight";
  const narrower = edge === "left" ? "ArrowRight" : "ArrowLeft";
  const byKey: Readonly<Record<string, number>> = {
    [wider]: width + STEP,
    [narrower]: width - STEP,
    Home: min,
    End: max,
  };
  return (
    <div
      class={`separator ${edge}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onKeyDown={(event) => {
        const wanted = byKey[event.key];
        if (wanted === undefined) return;
        event.preventDefault();
        move(wanted);
      }}
      // Otherwise the browser drags what is under the pointer, such as a link in the list.
      onMouseDown={(event) => event.preventDefault()}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId))
          move(edge === "left" ? innerWidth - event.clientX : event.clientX);
      }}
      onDblClick={onReset}
    />
  );
}
