// The runtime's handler of a pod's RuntimeClass.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { runtimeClasses } from "../../../client/resources.ts";

/** "" where the pod asks for none; rejects when there is no such class. */
export async function runtimeHandler(
  client: Client | undefined,
  pod: Pod,
): Promise<string> {
  const name = pod.spec.runtimeClassName;
  if (!name) return "";
  if (!client)
    throw new Error(
      `RuntimeClass "${name}" can't be looked up without an API server`,
    );
  return (await client.resource(runtimeClasses).get(name)).handler;
}
