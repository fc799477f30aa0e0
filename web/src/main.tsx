/** The page begins here. */

import { effect } from "@preact/signals";
import { render } from "preact";
import { client } from "./ahp";
import "./styles.css";
import { App } from "./views/app";

// For whoever looks behind the page: the console has the client, and styles know how the connection is.
Object.assign(globalThis, { agenthost: { client } });
effect(() => {
  document.documentElement.dataset["connection"] = client.connection.value.phase;
});

client.start();
const place = document.getElementById("page");
if (place) render(<App />, place);
