// Nodes that are not ready, short of something or closed to pods, and clocks that are ahead of this machine's.
import { findCondition } from "../../../api/objects/conditions.ts";
import type { Lease } from "../../../api/types/coordination-v1.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import { failed, ok, warning, type Finding } from "../finding.ts";
import { several, short } from "./several.ts";

/** Nodes report no more often than that; a difference of clocks below it looks like a lease on its way. */
const aheadMs = 5000;

function ofNode(node: Node): Finding[] {
  const name = `node ${node.metadata.name}`;
  const conditions = node.status?.conditions ?? [];
  const ready = findCondition(conditions, "Ready");
  const describe = `kubectl describe node ${node.metadata.name}`;
  const findings = conditions
    .filter(({ type, status }) => type !== "Ready" && status === "True")
    .map(({ type, message }) =>
      warning(name, short(`${type}: ${message ?? ""}`), describe),
    );
  if (ready?.status !== "True")
    findings.unshift(
      failed(
        name,
        ready
          ? short(`not ready: ${ready.reason ?? ""}: ${ready.message ?? ""}`)
          : "has never reported",
        "on that machine: systemctl status orbit, and the log of its node agent",
      ),
    );
  if (node.spec?.unschedulable)
    findings.push(
      warning(
        name,
        "closed to new pods",
        `kubectl uncordon ${node.metadata.name}`,
      ),
    );
  return findings;
}

export function nodeFindings(nodes: readonly Node[]): Finding[] {
  if (nodes.length === 0)
    return [
      failed("nodes", "none", "start a node agent; its log says what is wrong"),
    ];
  return several(
    "nodes",
    nodes.flatMap(ofNode),
    `${nodes.length} ready`,
    "kubectl get nodes",
  );
}

/**
 * @param leases of the nodes @param serverTime what the API server's clock said, undefined: unknown @param nowMs this
 * machine's
 */
export function clockFindings(
  leases: readonly Lease[],
  serverTime: string | undefined,
  nowMs: number,
): Finding[] {
  const remedy =
    "set the clocks by one source on all machines (apt-get install chrony): certificates, leases and tokens depend on them";
  const findings: Finding[] = [];
  // The server's time has no fractions of a second.
  const offMs = serverTime === undefined ? 0 : Date.parse(serverTime) - nowMs;
  if (Math.abs(offMs) > aheadMs)
    findings.push(
      failed(
        "clock",
        `the API server's is ${Math.round(Math.abs(offMs) / 1000)} s ${offMs > 0 ? "ahead of" : "behind"} this machine's`,
        remedy,
      ),
    );
  for (const { metadata, spec } of leases) {
    const leadMs = Date.parse(spec?.renewTime ?? "") - nowMs;
    if (leadMs > aheadMs)
      findings.push(
        failed(
          `clock of node ${metadata.name}`,
          `${Math.round(leadMs / 1000)} s ahead of this machine's`,
          remedy,
        ),
      );
  }
  return findings.length > 0
    ? findings
    : [ok("clocks", "the API server's and the nodes' agree with this machine")];
}
