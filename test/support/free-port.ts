// Free TCP ports for programs that can't be told port 0. They lie below the range from which the kernel takes the ports
// of outgoing connections (and below node ports), so that none is taken between its choice and its use; and above the
// ports that Kubernetes' own parts have by default. A port belongs to the test that got it until the run ends: files in
// the run's directory claim it, as several test files run at once and some start a server on the same port again.
import { randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { portsName, runDirectoryVariable } from "./run/run-state.ts";

const first = 11_000;
const last = 29_999;

/** Outside of a run: no port is given twice by one process. */
const given = new Set<number>();

/** Whether the port was nobody's in this run. */
function claim(port: number): boolean {
  const run = process.env[runDirectoryVariable];
  if (!run) return !given.has(port) && Boolean(given.add(port));
  const directory = path.join(run, portsName);
  fs.mkdirSync(directory, { recursive: true });
  try {
    fs.closeSync(fs.openSync(path.join(directory, String(port)), "wx"));
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
    if (claim(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}
