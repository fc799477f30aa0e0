/** The page begins here. */

import { render } from "preact";
import "./styles.css";
import { App } from "./views/app";

const place = document.getElementById("page");
if (place) render(<App />, place);
