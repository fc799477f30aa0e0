/** Reading a content for as long as it is shown. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { client } from "../../ahp";
import { type Content, contentOf } from "./reading";

export type Reading =
  Content | { readonly kind: "loading" } | { readonly kind: "failed"; readonly reason: string };

const LOADING: Reading = { kind: "loading" };

/** Read a resource; nothing is read without a URI. */
export function useRead(uri: string | undefined): Signal<Reading> {
  const reading = useSignal<Reading>(LOADING);
  useEffect(() => {
    if (uri === undefined) return;
    let isWanted = true;
    reading.value = LOADING;
    client.request("resourceRead", { uri }).then(
      (read) => isWanted && (reading.value = contentOf(read, uri)),
      (error: unknown) => isWanted && (reading.value = { kind: "failed", reason: (error as Error).message }),
    );
    return () => {
      isWanted = false;
    };
  }, [uri]);
  return reading;
}
