// Makes the Node of this agent, or brings the labels, annotations and ranges of one that is there up to date.
import type { Logger } from "pino";
import { isAlreadyExists } from "../../api/errors.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import { nodes } from "../../client/resources.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { NodeStartup } from "../metrics/node-startup.ts";
import { labelChanges } from "./node-labels.ts";
import { annotationChanges, nodeObject, specPodRanges } from "./node-object.ts";

interface RegistrationOptions {
  readonly config: AgentConfig;
  readonly logger: Logger;
  readonly startup: NodeStartup;
}

/** The Node as the API server has it now. Rejects with what the API server answered. */
export async function ensureNode(
  client: Client,
  { config, logger, startup }: RegistrationOptions,
): Promise<Node> {
  startup.registers();
  const api = client.resource(nodes);
  let node: Node;
  try {
    node = await api.create(nodeObject(config));
    logger.info({ node: config.nodeName }, "registered the node");
    startup.registered();
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    node = await api.get(config.nodeName);
    const labels = labelChanges(node, config);
    const spec =
      specPodRanges(node).length === 0 ? nodeObject(config).spec : undefined;
    const ranges = spec?.podCIDRs
      ? { podCIDR: spec.podCIDR, podCIDRs: spec.podCIDRs }
      : undefined;
    const annotations = annotationChanges(node, config);
    if (
      Object.keys(labels).length + Object.keys(annotations).length > 0 ||
      ranges
    )
      node = await api.patch(config.nodeName, undefined, {
        type: "merge",
        body: {
          metadata: { labels, annotations },
          ...(ranges ? { spec: ranges } : {}),
        },
      });
  }
  return node;
}
