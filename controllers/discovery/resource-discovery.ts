// Which resources a server has, by its discovery documents: each once, in its group's preferred version or else in the
// first that has it, with its verbs. The answer is kept until invalidate() or for half a minute. A group version that
// can't be read (an aggregated API that is down) is reported, and does not hide the others.
import type { Clock } from "../../api/clock.ts";
import {
  apiVersionsOf,
  parseApiVersion,
  type DescribedGroup,
} from "../../api/object.ts";
import type { Client, ResourceRef } from "../../client/client.ts";

export interface DiscoveredResource extends ResourceRef {
  readonly verbs: readonly string[];
}

export interface Discovered {
  resources: readonly DiscoveredResource[];
  /** Group versions that could not be read, each with the reason. */
  failures: readonly string[];
}

interface ApiResource {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs?: string[];
}

const keepMs = 30_000;
/**
 * Of one group version. Each costs its followers a list and a watch, and an aggregated server can name any number: a
 * document with more is not used.
 */
const maxResources = 2000;
/** Whole seconds of the server's times, and what its clock may differ. */
const clockSlackMs = 2000;

export class Discovery {
  #kept:
    | {
        readonly readMs: number;
        readonly atMs: number;
        readonly answer: Promise<Discovered>;
      }
    | undefined;

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
  ) {}

  invalidate(): void {
    this.#kept = undefined;
  }

  /** @param sinceMs the answer knows what was served at this time of the server's clock; default: any kept answer will do */
  resources(sinceMs = 0): Promise<Discovered> {
    const readMs = this.clock.monotonic();
    const atMs = this.clock.now();
    const kept = this.#kept;
    if (
      kept &&
      readMs - kept.readMs <= keepMs &&
      kept.atMs > sinceMs + clockSlackMs
    )
      return kept.answer;
    const answer = this.#read();
    this.#kept = { readMs, atMs, answer };
    answer.catch(() => this.invalidate());
    return answer;
  }

  /** The resource of a kind as owner references name it; undefined when the server has none. */
  async resourceOf(
    apiVersion: string,
    kind: string,
  ): Promise<DiscoveredResource | undefined> {
    const { group, version } = parseApiVersion(apiVersion);
    const { resources } = await this.resources();
    const ofKind = resources.filter(
      (resource) => resource.group === group && resource.kind === kind,
    );
    return ofKind.find((resource) => resource.version === version) ?? ofKind[0];
  }

  async #read(): Promise<Discovered> {
    const { body } = await this.client.raw("GET", "/apis");
    const { groups } = body as { groups: DescribedGroup[] };
    const failures: string[] = [];
    const found = await Promise.all(
      ["v1", ...groups.flatMap(apiVersionsOf)].map(async (apiVersion) => {
        try {
          return await this.#readVersion(apiVersion);
        } catch {
          failures.push(
            `${apiVersion}: stale GroupVersion discovery: ${apiVersion}`,
          );
          return [];
        }
      }),
    );
    const resources = new Map<string, DiscoveredResource>();
    for (const each of found.flat()) {
      const key = `${each.group}/${each.resource}`;
      if (!resources.has(key)) resources.set(key, each);
    }
    return { resources: [...resources.values()], failures };
  }

  async #readVersion(apiVersion: string): Promise<DiscoveredResource[]> {
    const { group, version } = parseApiVersion(apiVersion);
    const path = group === "" ? `/api/${version}` : `/apis/${apiVersion}`;
    const { body } = await this.client.raw("GET", path);
    const resources = (body as { resources: ApiResource[] }).resources.filter(
      ({ name }) => !name.includes("/"),
    );
    if (resources.length > maxResources)
      throw new Error(`${apiVersion} has more than ${maxResources} resources`);
    return resources.map(({ name, kind, namespaced, verbs = [] }) => ({
      group,
      version,
      resource: name,
      kind,
      namespaced,
      verbs,
    }));
  }
}
