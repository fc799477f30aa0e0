/** Tokens that agents need for what they use: requested when the host says that one is missing; then the action is repeated. */
import { signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { AhpError, client } from "../../ahp";
import { type AuthRequiredData, ErrorCode, type ProtectedResourceMetadata } from "../../ahp/wire";
import { Dialog } from "../parts/dialog";
import { toastError } from "../parts/toasts";

interface Needed {
  readonly resources: readonly ProtectedResourceMetadata[];
  readonly answer: (given: boolean) => void;
}

const needed = signal<Needed | undefined>(undefined);

/** Do something; if tokens are missing for it, ask for them and do it again. */
export async function askForTokens<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AhpError) || error.code !== ErrorCode.AuthRequired) throw error;
    const { resources = [] } = (error.data ?? {}) as Partial<AuthRequiredData>;
    if (!(await giveTokens(resources))) throw error;
    return await run();
  }
}

/** Ask for tokens and hand them to the host. Returns whether they were given. */
export async function giveTokens(resources: readonly ProtectedResourceMetadata[]): Promise<boolean> {
  const isGiven = await new Promise<boolean>((resolve) => {
    needed.value = { resources, answer: resolve };
  });
  needed.value = undefined;
  return isGiven;
}

/** The dialog for tokens. */
export function Tokens() {
  const asked = needed.value;
  return asked ? <TokenDialog needed={asked} /> : null;
}

function TokenDialog({ needed: { resources, answer } }: { needed: Needed }) {
  const tokens = useSignal<Readonly<Record<string, string>>>({});
  const id = useId();
  const send = async () => {
    try {
      for (const { resource } of resources) {
        const token = tokens.value[resource];
        if (token) await client.request("authenticate", { resource, token });
      }
      answer(true);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Dialog title="This agent needs a token" class="narrow" onClose={() => answer(false)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {resources.map(({ resource, resource_name }) => (
          <div key={resource} class="field">
            <label for={`${id}-${resource}`}>{resource_name ?? resource}</label>
            <input
              id={`${id}-${resource}`}
              type="password"
              autocomplete="off"
              value={tokens.value[resource] ?? ""}
              onInput={(event) => (tokens.value = { ...tokens.value, [resource]: event.currentTarget.value })}
            />
            <small class="faint mono">{resource}</small>
          </div>
        ))}
        <footer>
          <button type="button" onClick={() => answer(false)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Go on
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
