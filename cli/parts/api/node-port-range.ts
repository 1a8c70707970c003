// Ports that Services of type NodePort get, as --service-node-port-range names them: FIRST-LAST, or FIRST+COUNT.

export function nodePorts(text: string): { from: number; to: number } {
  const [, first, sign, last] = /^(\d+)([-+])(\d+)$/.exec(text)!;
  const from = Number(first);
  return { from, to: sign === "+" ? from + Number(last) : Number(last) };
}
