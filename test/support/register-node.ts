// A Node object with an address, for tests of what reads nodes where no agent runs.
import type { Client } from "../../client/client.ts";
import { nodes } from "../../client/resources.ts";

export async function registerNode(
  client: Client,
  name: string,
  address: string,
): Promise<void> {
  await client
    .resource(nodes)
    .create({ apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
  const body = { status: { addresses: [{ type: "InternalIP", address }] } };
  await client
    .resource(nodes)
    .patch(name, undefined, { type: "merge", body }, { subresource: "status" });
}
