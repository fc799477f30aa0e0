/** The entry point of the page. */

import { effect } from "@preact/signals";
import { render } from "preact";
import { client } from "./ahp";
import "./styles.css";
import { App } from "./views/app";

// For developers: the client is available in the console, and styles know the connection status.
Object.assign(globalThis, { agenthost: { client } });
effect(() => {
  document.documentElement.dataset["connection"] = client.connection.value.phase;
});

client.start();
const place = document.getElementById("page");
if (place) render(<App />, place);
