/** Example messages, for users who do not know yet what an agent can do. */

export interface Example {
  /** The label. */
  readonly label: string;
  /** The message. */
  readonly text: string;
}

/** Agents do not declare examples. This one is known: it comes with the server. */
const KNOWN: Readonly<Record<string, readonly Example[]>> = {
  demo: [
    { label: "See all that it can do", text: "/help" },
    { label: "Run a command", text: '/call run {"command": "ls -la"}' },
    { label: "Change a file", text: "/edit notes.txt Buy milk" },
    { label: "Be asked something", text: "/ask" },
  ],
};

const GENERAL: readonly Example[] = [
  { label: "Get to know it", text: "What can you do?" },
  { label: "Look around", text: "Which files are here, and what are they for?" },
];

/** Return a few example messages for an agent. */
export function examplesFor(provider: string): readonly Example[] {
  return KNOWN[provider] ?? GENERAL;
}
