// Free TCP ports for programs that can't be told port 0. They lie below the range from which the kernel takes the ports
// of outgoing connections (and below node ports), so that none is taken between its choice and its use; and above the
// ports that Kubernetes' own parts have by default. A port belongs to the test that got it until the run ends: files in
// the run's directory claim it, as several test files run at once and some start a server on the same port again. Ranges
// of pod addresses, which tables of rules are named by, are claimed alike.
import { randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { portsName, runDirectoryVariable } from "./run/run-state.ts";

const first = 11_000;
const last = 29_999;

/** Outside of a run: nothing is given twice by one process. */
const given = new Set<string>();

/** Whether the port or range was nobody's in this run. */
function claim(name: string): boolean {
  const run = process.env[runDirectoryVariable];
  if (!run) return !given.has(name) && Boolean(given.add(name));
  const directory = path.join(run, portsName);
  fs.mkdirSync(directory, { recursive: true });
  try {
    fs.closeSync(fs.openSync(path.join(directory, name), "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

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
    if (claim(String(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** Of 10.200.0.0 to 10.249.255.0. */
export function freePodRange(): string {
  for (;;) {
    const network = `10.${randomInt(200, 250)}.${randomInt(256)}.0`;
    if (claim(network)) return `${network}/24`;
  }
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}
