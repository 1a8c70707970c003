// Whether this machine can do what --node-routes=wireguard asks of it, before anything is started.
import { randomBytes } from "node:crypto";
import * as dgram from "node:dgram";
import * as fs from "node:fs/promises";
import {
  programRunner,
  type RunProgram,
} from "../../../network/links/ip-command.ts";
import { DependencyError, UsageError } from "../../options/table.ts";
import type { NetworkPlan } from "./network-plan.ts";
import { nodePorts } from "../api/node-port-range.ts";

const option = "--node-routes=wireguard";

interface Machine {
  readonly run: RunProgram;
  /** Whether there is the device of the kernel that makes links of programs. */
  hasTun(): Promise<boolean>;
  /** Whether another program has the UDP port. */
  isTaken(port: number): Promise<boolean>;
}

const thisMachine: Machine = {
  run: programRunner(),
  hasTun: () =>
    fs.access("/dev/net/tun").then(
      () => true,
      () => false,
    ),
  isTaken: (port) =>
    new Promise((resolve, reject) => {
      const socket = dgram.createSocket("udp4");
      socket.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "EADDRINUSE" ? resolve(true) : reject(error),
      );
      socket.bind({ port, exclusive: true }, () =>
        socket.close(() => resolve(false)),
      );
    }),
};

/** Makes a link for a moment, which also loads the module: nothing else says for certain what the kernel has. */
async function kernelHasIt(run: RunProgram): Promise<boolean> {
  const link = `orbit-t${randomBytes(3).toString("hex")}`;
  try {
    await run(["ip", "link", "add", link, "type", "wireguard"]);
  } catch {
    return false;
  }
  await run(["ip", "link", "del", link]);
  return true;
}

/** Throws for a port that Services get. @param range of --service-node-port-range */
export function checkWireguardPort(
  plan: NetworkPlan | undefined,
  range: string,
): void {
  if (plan?.routes !== "wireguard") return;
  const { port } = plan.wireguard;
  const { from, to } = nodePorts(range);
  if (port >= from && port <= to)
    throw new UsageError(
      `invalid argument "${port}" for "--wireguard-port": it is one of the ports of Services (${range})`,
    );
}

/** Rejects with what is missing. Resolves where WireGuard is not asked for. */
export async function checkWireguard(
  plan: NetworkPlan | undefined,
  { run, hasTun, isTaken }: Machine = thisMachine,
): Promise<void> {
  if (plan?.routes !== "wireguard") return;
  const { port } = plan.wireguard;
  const has = (program: string): Promise<boolean> =>
    run(["sh", "-c", 'command -v "$1"', "sh", program]).then(
      () => true,
      () => false,
    );
  if (!(await has("wg")))
    throw new DependencyError(
      `${option} needs the program wg: install wireguard-tools`,
    );
  if (!(await kernelHasIt(run))) {
    if (!(await has("wireguard-go")))
      throw new DependencyError(
        `${option}: the kernel has no WireGuard: load its module wireguard, or install wireguard-go`,
      );
    if (!(await hasTun()))
      throw new DependencyError(
        `${option}: the kernel has no WireGuard, and wireguard-go needs /dev/net/tun, which is not there`,
      );
  }
  if (!(await isTaken(port))) return;
  // Ours of an earlier run is used again.
  const ports = await run(["wg", "show", "all", "listen-port"]);
  if (
    !ports
      .split("\n")
      .some((line) => /^orbit-/.test(line) && line.endsWith(`\t${port}`))
  )
    throw new DependencyError(
      `${option}: UDP port ${port} is another program's: choose one with --wireguard-port on every node`,
    );
}
