// What a service proxy that runs alone asks of its Node: the ranges of its pods.
import type { Logger } from "pino";
import type { Client } from "../../../client/client.ts";
import { nodes } from "../../../client/resources.ts";

/** A Node that has no ranges after this time has none. */
const patienceMs = 15_000;

/** Empty: the Node has none, so that nothing is masqueraded for where it comes from. */
export async function nodeRanges(
  client: Client,
  nodeName: string,
  logger: Logger,
): Promise<readonly string[]> {
  const informer = client.informer(nodes, {
    fieldSelector: `metadata.name=${nodeName}`,
  });
  let dispose = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const found = await new Promise<readonly string[]>((resolve) => {
    const look = ({ spec }: { spec?: { podCIDRs?: string[] } }): void => {
      if (spec?.podCIDRs?.length) resolve(spec.podCIDRs);
    };
    dispose = informer.addHandler({
      onAdd: look,
      onUpdate: (_, now) => look(now),
    });
    timer = setTimeout(() => resolve([]), patienceMs);
  });
  clearTimeout(timer);
  dispose();
  if (found.length === 0)
    logger.warn(
      { node: nodeName },
      "the Node has no ranges of pods, and there is no --cluster-cidr: what comes to cluster addresses keeps its own address",
    );
  return found;
}
