// The machine's interfaces with the addresses that new connections may use: not those that the kernel has as deprecated (what
// `orbit server` announces for load balancers is among them) and not those that it still looks for on the link.
import { readFileSync } from "node:fs";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

const deprecated = 0x20;
const tentative = 0x40;

/** Of /proc/net/if_inet6, in the form in which it has them: 32 digits. */
function unusable(text: string): Set<string> {
  return new Set(
    text.split("\n").flatMap((line) => {
      const [digits = "", , , , flags = ""] = line.trim().split(/\s+/);
      return parseInt(flags, 16) & (deprecated | tentative) ? [digits] : [];
    }),
  );
}

function digitsOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = (part: string): string[] =>
    part === "" ? [] : part.split(":").map((group) => group.padStart(4, "0"));
  const front = groups(head);
  const back = groups(tail ?? "");
  return [
    ...front,
    ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0000"),
    ...back,
  ].join("");
}

export function hostInterfaces(): NodeJS.Dict<NetworkInterfaceInfo[]> {
  let text = "";
  try {
    text = readFileSync("/proc/net/if_inet6", "utf8");
  } catch {
    // A kernel without IPv6.
  }
  const left = unusable(text);
  return Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, addresses]) => [
      name,
      addresses?.filter(
        ({ family, address }) =>
          family === "IPv4" || !left.has(digitsOf(address)),
      ),
    ]),
  );
}
