/** What travels between an AHP host and its clients, version 1.0.0, as far as this page needs it. */

export * from "./actions";
export * from "./changeset";
export * from "./chat";
export * from "./common";
export * from "./customization";
export * from "./input";
export * from "./message";
export * from "./methods";
export * from "./session";
export * from "./terminal";
export * from "./toolcall";
