// Names of hosts that probes and hooks ask for, looked up without getaddrinfo: that takes one of this process's few threads
// until the name server answers, and which server that is, the owner of a name decides. The machine's hosts file, then its
// name servers with the search list of resolv.conf, as the reference's resolver does.
import { readFile } from "node:fs/promises";
import type { LookupAddress, LookupOptions } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";

type Answer = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** The resolver's defaults for one question. */
const timeoutMs = 5000;
const tries = 2;
/** For all names together, though who asked may wait longer: a probe asks again each second. */
const longestMs = 10_000;
const maxSearches = 6;

/** In the form of dns.lookup, for `connect` and requests. */
export function lookUpHost(
  host: string,
  options: LookupOptions,
  answer: Answer,
): void {
  addressesOf(host).then(
    (found) => {
      const wanted = Number(options.family) || 0;
      const fitting = found.filter(
        ({ family }) => wanted === 0 || family === wanted,
      );
      const [first] = fitting;
      if (!first) return answer(notFound(host), "");
      if (options.all === true) answer(null, fitting);
      else answer(null, first.address, first.family);
    },
    () => answer(notFound(host), ""),
  );
}

function notFound(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: host,
  });
}

async function addressesOf(host: string): Promise<LookupAddress[]> {
  const own = inHostsFile(
    await readFile("/etc/hosts", "utf8").catch(() => ""),
    host,
  );
  if (own.length > 0) return own;
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  const settings = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    resolver.cancel();
  }, longestMs);
  try {
    for (const name of namesToAsk(settings, host)) {
      const [four, six] = await Promise.all([
        resolver.resolve4(name).catch((): string[] => []),
        resolver.resolve6(name).catch((): string[] => []),
      ]);
      const found = [
        ...four.map((address) => ({ address, family: 4 })),
        ...six.map((address) => ({ address, family: 6 })),
      ];
      if (found.length > 0 || late) return found;
    }
    return [];
  } finally {
    clearTimeout(limit);
  }
}

/** Of each line the address, for its names. */
export function inHostsFile(text: string, host: string): LookupAddress[] {
  const wanted = host.toLowerCase().replace(/\.$/, "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line
      .replace(/#.*/, "")
      .trim()
      .split(/\s+/);
    const family = isIP(address);
    return family !== 0 &&
      names.some((name) => name.toLowerCase().replace(/\.$/, "") === wanted)
      ? [{ address, family }]
      : [];
  });
}

/** The name by itself and with each domain of the search list; which comes first, its dots decide. */
export function namesToAsk(resolvConf: string, host: string): string[] {
  if (host.endsWith(".")) return [host];
  let searches: string[] = [];
  let dots = 1;
  for (const line of resolvConf.split("\n")) {
    const [key, ...values] = line.trim().split(/\s+/);
    if (key === "search" || key === "domain") searches = values;
    if (key === "options")
      for (const value of values) {
        const found = /^ndots:(\d+)$/.exec(value)?.[1];
        if (found !== undefined) dots = Math.min(Number(found), 15);
      }
  }
  const longer = searches
    .slice(0, maxSearches)
    .map((domain) => `${host}.${domain.replace(/\.$/, "")}`);
  const isWhole = host.split(".").length - 1 >= dots;
  return isWhole ? [host, ...longer] : [...longer, host];
}
