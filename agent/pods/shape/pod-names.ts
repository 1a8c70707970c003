// What a pod is called on its node: the host name inside it, its domain, and the directory of its logs. The rules are the
// reference's.
import { join } from "node:path";
import { trimEnd } from "../../../api/patterns/trim.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AgentConfig } from "../../config/agent-config.ts";

const maxHostnameLength = 63;

/** `<namespace>_<name>_<uid>` below the pod logs directory. */
export function podLogDirectory(
  config: Pick<AgentConfig, "podLogsDirectory">,
  pod: Pod,
): string {
  const { namespace = "default", name, uid = "" } = pod.metadata;
  return join(config.podLogsDirectory, `${namespace}_${name}_${uid}`);
}

interface PodNames {
  hostname: string;
  /** "" or `subdomain.namespace.svc.<cluster domain>`. */
  domain: string;
}

export function podNames(pod: Pod, clusterDomain: string): PodNames {
  // An empty one is none: templates write it.
  let hostname = pod.spec.hostname || pod.metadata.name;
  if (hostname.length > maxHostnameLength)
    hostname = trimEnd(hostname.slice(0, maxHostnameLength), "-.");
  const domain = pod.spec.subdomain
    ? `${pod.spec.subdomain}.${pod.metadata.namespace ?? "default"}.svc.${clusterDomain}`
    : "";
  return { hostname, domain };
}
