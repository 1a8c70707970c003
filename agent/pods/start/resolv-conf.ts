// The host's resolv.conf: what pods get of it, and what resolvers can't take of it. Limits and the texts of the event
// CheckLimitsForResolvConf are the reference's.
import { readFile } from "node:fs/promises";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { PodEvents } from "../../events/pod-events.ts";

export interface Dns {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export const maxSearches = 32;
export const maxSearchCharacters = 2048;
export const maxDomainCharacters = 253;
/** Search domains that pods of a cluster with a domain get before those of the host. */
const clusterSearches = 3;

/** What was read, or why nothing could be: then without anything. */
export async function readResolvConf(
  path: string,
): Promise<{ dns: Dns; problem?: string }> {
  try {
    return { dns: parseResolvConf(await readFile(path, "utf8")) };
  } catch (error) {
    return { dns: parseResolvConf(""), problem: (error as Error).message };
  }
}

/** Of several lines of search domains the last one counts, of each option the last value. */
export function parseResolvConf(text: string): Dns {
  const servers: string[] = [];
  let searches: string[] = [];
  const options: string[] = [];
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "nameserver" && values[0]) servers.push(values[0]);
    else if (keyword === "search")
      searches = values
        .filter((value) => value !== ".")
        .map((value) => value.replace(/\.$/, ""));
    else if (keyword === "options") options.push(...values);
  }
  return { servers, searches, options: lastOfEach(options) };
}

/** Options are named by what is before the colon. */
export function lastOfEach(options: readonly string[]): string[] {
  const byName = new Map(
    options.map((option) => [option.split(":")[0]!, option]),
  );
  return [...byName.values()];
}

/** An event of the node, once at the start, where the file can't be read or pods can't get all of it. */
export async function checkResolvConf({
  settings: { resolvConf, clusterDomain },
  events,
}: {
  readonly settings: Pick<AgentConfig, "resolvConf" | "clusterDomain">;
  readonly events: Pick<PodEvents, "node">;
}): Promise<void> {
  if (resolvConf === "") return;
  const { dns, problem } = await readResolvConf(resolvConf);
  const message = problem ?? searchLimitProblem(resolvConf, dns, clusterDomain);
  if (message !== undefined)
    events.node("Warning", "CheckLimitsForResolvConf", message);
}

/** Why pods can't get all search domains of the file; undefined: they can. */
function searchLimitProblem(
  path: string,
  { searches }: Pick<Dns, "searches">,
  clusterDomain: string,
): string | undefined {
  const most = maxSearches - (clusterDomain ? clusterSearches : 0);
  if (searches.length > most)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${most} domains!`;
  if (searches.some((domain) => domain.length > maxDomainCharacters))
    return `Resolv.conf file "${path}" contains a search path which length is more than allowed ${maxDomainCharacters} chars!`;
  if (searches.join(" ").length > maxSearchCharacters)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${maxSearchCharacters} chars!`;
  return undefined;
}
