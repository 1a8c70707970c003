// Which of a sandbox's addresses are the pod's: one of each family, that of the node's first address first.
const isV6 = (ip: string): boolean => ip.includes(":");

export function podAddresses(
  ofSandbox: readonly string[],
  nodeIPs: readonly string[],
): string[] {
  const firstIsV6 = nodeIPs[0] !== undefined && isV6(nodeIPs[0]);
  return [firstIsV6, !firstIsV6].flatMap(
    (wanted) => ofSandbox.find((ip) => isV6(ip) === wanted) ?? [],
  );
}
