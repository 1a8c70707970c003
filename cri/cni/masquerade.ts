// What pods send outside their own range leaves with the node's address: one nftables rule for the whole range, in a
// table of our own. It replaces the ptp plug-in's ipMasq, which runs iptables seven times for every pod made and
// five times for every pod removed. The table's name is the range's, so clusters on one host do not meet; writing it
// again changes nothing, and it outlives this process as the pods do (uninstall removes tables named orbit…).
import { spawn } from "node:child_process";

export function masqueradeTable(podCidr: string): string {
  return `orbit-pods-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

/** The rules as `nft -f -` reads them: the table is replaced in one transaction. */
export function masqueradeRules(podCidr: string): string {
  const family = podCidr.includes(":") ? "ip6" : "ip";
  const multicast = family === "ip6" ? "ff00::/8" : "224.0.0.0/4";
  const table = `${family} ${masqueradeTable(podCidr)}`;
  return `table ${table}
delete table ${table}
table ${table} {
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ${family} saddr ${podCidr} ${family} daddr != { ${podCidr}, ${multicast} } masquerade
  }
}
`;
}

const patienceMs = 5000;

/** Resolves when the rules are in the kernel; rejects with nft's error text, also when there is no nft. */
export function ensureMasquerade(
  podCidr: string,
  program = "nft",
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-f", "-"], {
      stdio: ["pipe", "ignore", "pipe"],
      timeout: patienceMs,
    });
    let words = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (words.length < 4096) words += chunk.toString("utf8");
    });
    child.once("error", reject);
    child.once("close", (code, signal) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `nft: ${words.trim() || `ended with ${signal ?? `code ${code}`}`}`,
            ),
          ),
    );
    // It may end before it has read: its exit says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(masqueradeRules(podCidr));
  });
}
