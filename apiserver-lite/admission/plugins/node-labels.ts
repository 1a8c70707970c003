// Which labels an agent may give its own Node: those outside of the project's domains, and the few inside that agents
// report. Any other could draw pods to the node that are not meant for it.
type Labels = Readonly<Record<string, string>> | undefined;

/** Kept from agents in so many words. */
const restrictedDomain = "node-restriction.kubernetes.io";
const agentDomains = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const agentLabels = new Set([
  "kubernetes.io/hostname",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "beta.kubernetes.io/instance-type",
  "node.kubernetes.io/instance-type",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
  "beta.kubernetes.io/os",
  "beta.kubernetes.io/arch",
]);

/** Those added, changed or removed that are not the agent's to set, sorted. */
export function forbiddenNodeLabels(now: Labels, before: Labels): string[] {
  const keys = new Set([
    ...Object.keys(now ?? {}),
    ...Object.keys(before ?? {}),
  ]);
  return [...keys]
    .filter((key) => now?.[key] !== before?.[key] && !isAgentLabel(key))
    .sort();
}

function isAgentLabel(label: string): boolean {
  const slash = label.indexOf("/");
  const domain = slash < 0 ? "" : label.slice(0, slash);
  const within = (parent: string): boolean =>
    domain === parent || domain.endsWith(`.${parent}`);
  if (within(restrictedDomain)) return false;
  if (agentLabels.has(label)) return true;
  if (!within("kubernetes.io") && !within("k8s.io")) return true;
  return agentDomains.some(within);
}
