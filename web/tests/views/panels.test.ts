/** Which panels are offered, and what is said of one that is not. */

import { expect, test } from "vitest";
import { isOffered, whyNoTerminals } from "../../src/views/panels";

test("terminals are offered unless they are withheld, other panels always", () => {
  expect(isOffered("terminals", {})).toBe(true);
  expect(isOffered("terminals", { run: "key", admin: "off" })).toBe(true);
  expect(isOffered("terminals", { terminals: "off" })).toBe(false);
  expect(isOffered("terminals", { terminals: "key" })).toBe(false);
  expect(isOffered("files", { terminals: "key", files: "key" })).toBe(true);
});

test("a panel of terminals that is open stays, and says why it is empty", () => {
  expect(isOffered("terminals", { terminals: "key" }, "terminals")).toBe(true);
  expect(isOffered("terminals", { terminals: "key" }, "files")).toBe(false);
  expect(whyNoTerminals({})).toBeUndefined();
  expect(whyNoTerminals({ terminals: "off" })).toBe("Terminals are switched off on this host.");
  expect(whyNoTerminals({ terminals: "key" })).toContain("keys create --terminals");
});
