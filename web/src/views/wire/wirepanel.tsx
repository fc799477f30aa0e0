/** The wire: every message of this connection, live; and the same turn over the other protocol. */
import { useSignal } from "@preact/signals";
import { Tabs } from "../parts/tabs";
import { AapView } from "./aapview";
import { FramesView } from "./framesview";

const PANEL = "wire-panel";

/** Show the wire; `text` is the initial message of a turn over AAP. */
export function WirePanel({ session, text }: { session: string | undefined; text: string }) {
  const tab = useSignal("ahp");
  return (
    <>
      <div class="subbar">
        <Tabs
          label="Protocols"
          panel={PANEL}
          chosen={tab.value}
          onChoose={(id) => (tab.value = id)}
          tabs={[
            { id: "ahp", label: "AHP messages" },
            { id: "aap", label: "AAP turn" },
          ]}
        />
      </div>
      <div id={PANEL} class="panel" role="tabpanel" aria-labelledby={`${PANEL}-${tab.value}`}>
        {tab.value === "ahp" ? <FramesView /> : <AapView session={session} text={text} />}
      </div>
    </>
  );
}
