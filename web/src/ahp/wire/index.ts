/** What travels between an AHP host and its clients, version 0.1.0. */

export * from "./actions";
export * from "./common";
export * from "./input";
export * from "./methods";
export * from "./session";
export * from "./terminal";
export * from "./toolcall";
