import { expect, test } from "vitest";
import { labelOf } from "../../src/views/conversation/labels";

test.each([
  [{ type: "simple", label: "sel" }, "sel"],
  [{ type: "file", displayName: "x", uri: "file:///x" }, "x"],
  [{ type: "file", label: 5, uri: "file:///x" }, "file:///x"],
  [{ type: "hologram" }, "hologram"],
  [{}, "something"],
])("an attachment of any kind has a name: %j", (attachment, name) => {
  expect(labelOf(attachment)).toBe(name);
});
