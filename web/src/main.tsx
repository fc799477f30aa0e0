/** The page begins here. */

import { render } from "preact";
import { client } from "./ahp";
import "./styles.css";
import { App } from "./views/app";

client.start();
const place = document.getElementById("page");
if (place) render(<App />, place);
