// Which mode the service proxy works in: nftables, or iptables where the machine has no nft.
import { execFile } from "node:child_process";
import type { ProxyMode } from "./backends.ts";

function runs(program: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, ["--version"], { timeout: 10_000 }, (error) =>
      resolve(error === null),
    );
  });
}

/** @param asked undefined: what the machine has; with neither program nftables, whose absence is then reported */
export async function chooseProxyMode(
  asked: ProxyMode | undefined,
): Promise<ProxyMode> {
  if (asked !== undefined) return asked;
  if (await runs("nft")) return "nftables";
  return (await runs("iptables-restore")) ? "iptables" : "nftables";
}
