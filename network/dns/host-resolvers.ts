// The host's resolvers, out of a resolv.conf. A local stub such as systemd-resolved's is passed over for the file in which
// it names the real ones.
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { isLoopbackAddress } from "../../api/address-kind.ts";
import type { Upstream } from "./upstream-socket.ts";

const behindStub = "/run/systemd/resolve/resolv.conf";
const maxResolvers = 8;

function parseResolvConf(text: string): Upstream[] {
  return text
    .split("\n")
    .flatMap((line) => {
      const [, address = ""] = /^\s*nameserver\s+(\S+)/.exec(line) ?? [];
      // A zone says through which link an address is reached; sockets take it as it is.
      return isIP(address) === 0 ? [] : [{ address, port: 53 }];
    })
    .slice(0, maxResolvers);
}

function read(file: string): Upstream[] {
  try {
    return parseResolvConf(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}

/** @param file of --resolv-conf; missing or empty: no resolvers */
export function hostResolvers(file = "/etc/resolv.conf"): Upstream[] {
  const own = read(file);
  if (
    own.length > 0 &&
    own.every(({ address }) => isLoopbackAddress(address))
  ) {
    const behind = read(behindStub);
    if (behind.length > 0) return behind;
  }
  return own;
}
