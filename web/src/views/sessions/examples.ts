/** Things to say first, for who does not know yet what an agent is good for. */

export interface Example {
  /** What it is, for people. */
  readonly label: string;
  /** What is said. */
  readonly text: string;
}

/** Agents do not say what to ask them. This one is known: it comes with the server. */
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

/** Give a few things to say to an agent. */
export function examplesFor(provider: string): readonly Example[] {
  return KNOWN[provider] ?? GENERAL;
}
