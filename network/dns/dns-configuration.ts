// The ConfigMap of the DNS server: `stubDomains` and `upstreamNameservers` in the form the ecosystem knows from kube-dns
// (JSON), and `hosts` as lines of a hosts file. A mistake is named by its key, and then nothing of the map is used.
import { isIP } from "node:net";
import type { DnsConfiguration } from "./dns-messages.ts";
import type { Upstream } from "./upstream-socket.ts";

const maxServers = 16;
const maxDomains = 256;
const maxHosts = 10_000;

/** `1.1.1.1`, `1.1.1.1:5353`, `2001:db8::1`, `[2001:db8::1]:5353`. */
function parseUpstream(text: string): Upstream | undefined {
  const [, bracketed, plain, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = isIP(text) === 6 ? text : (bracketed ?? plain ?? "");
  const number = isIP(text) === 6 ? 53 : Number(port);
  return isIP(address) === 0 || number < 1 || number > 65_535
    ? undefined
    : { address, port: number };
}

function servers(
  where: string,
  value: unknown,
  problems: string[],
): readonly Upstream[] {
  if (!Array.isArray(value) || value.length > maxServers) {
    problems.push(
      `${where}: must be a list of at most ${maxServers} addresses`,
    );
    return [];
  }
  return value.flatMap((each: unknown) => {
    const found = typeof each === "string" ? parseUpstream(each) : undefined;
    if (!found)
      problems.push(`${where}: ${JSON.stringify(each)} is not an address`);
    return found ? [found] : [];
  });
}

function parsed(key: string, text: string, problems: string[]): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    problems.push(`${key}: ${(error as Error).message}`);
    return undefined;
  }
}

function hostEntries(
  text: string,
  problems: string[],
): Record<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const [n, line] of text.split("\n").entries()) {
    const [address = "", ...names] = line
      .replace(/#.*/, "")
      .trim()
      .split(/\s+/);
    if (address === "") continue;
    if (isIP(address) === 0 || names.length === 0) {
      problems.push(
        `hosts: line ${n + 1}: must be an address and the names it is for`,
      );
      continue;
    }
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, "");
      hosts.set(key, [...(hosts.get(key) ?? []), address]);
    }
    if (hosts.size > maxHosts) {
      problems.push(`hosts: more than ${maxHosts} names`);
      break;
    }
  }
  return Object.fromEntries(hosts);
}

/** @param data the ConfigMap's; other keys than the three are named as problems */
export function readDnsConfiguration(data: Readonly<Record<string, string>>): {
  configuration: DnsConfiguration;
  problems: string[];
} {
  const problems: string[] = [];
  const { stubDomains, upstreamNameservers, hosts, ...rest } = data;
  for (const key of Object.keys(rest))
    problems.push(
      `${key}: unknown; the keys are stubDomains, upstreamNameservers and hosts`,
    );
  const upstreams = upstreamNameservers
    ? servers(
        "upstreamNameservers",
        parsed("upstreamNameservers", upstreamNameservers, problems) ?? [],
        problems,
      )
    : [];
  const stubs = stubDomains
    ? parsed("stubDomains", stubDomains, problems)
    : undefined;
  const stubEntries: [string, readonly Upstream[]][] = [];
  if (stubs !== undefined) {
    if (
      stubs === null ||
      typeof stubs !== "object" ||
      Array.isArray(stubs) ||
      Object.keys(stubs).length > maxDomains
    )
      problems.push(
        `stubDomains: must be an object of at most ${maxDomains} domains`,
      );
    else
      for (const [domain, list] of Object.entries(stubs))
        stubEntries.push([
          domain.toLowerCase().replace(/\.$/, ""),
          servers(`stubDomains.${domain}`, list, problems),
        ]);
  }
  return {
    configuration: {
      upstreams,
      stubDomains: Object.fromEntries(stubEntries),
      hosts: hosts ? hostEntries(hosts, problems) : {},
    },
    problems,
  };
}
