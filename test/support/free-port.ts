// Free TCP ports for programs that can't be told port 0. They lie below the range from which the kernel takes the ports
// of outgoing connections (and below node ports), so that none is taken between its choice and its use; and above the
// ports that Kubernetes' own parts have by default.
import { randomInt } from "node:crypto";
import * as net from "node:net";

const first = 11_000;
const last = 29_999;

/** No port is given twice by one process. */
const given = new Set<number>();

/** Whether nothing listens on the port, on any address. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/** `count` different ports that are free on all addresses. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(first, last + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}
