// Finds the flow of a request among the schemas in effect. What is known of a user is kept: the schemas whose subjects it
// is one of, which are few, and the flows its requests belong to; a request is compared with these rules only.
// Invariants: `classify` always finds a flow; what is kept is bounded, and is of one set of schemas and levels.
import type { UserInfo } from "../../api/contracts.ts";
import type {
  FlowSchema,
  PolicyRulesWithSubjects,
} from "../../api/types/flowcontrol-v1.ts";
import type { RequestInfo } from "../request/request-info.ts";
import type { Flow } from "./flow-claim.ts";
import { concernsUser, matchesRequest } from "./flow-rules.ts";

/** Users and flows of namespaces that are kept. */
const maxKept = 4096;
/** Names may be the client's: longer ones are not kept. */
const maxNamesLength = 512;

/** A schema that a user's requests may match. */
interface Candidate {
  readonly schema: FlowSchema;
  /** Those that concern the user. */
  readonly rules: readonly PolicyRulesWithSubjects[];
  /** By distinguisher. */
  readonly flows: Map<string, Flow>;
}

interface KnownUser {
  readonly groups: readonly string[];
  readonly candidates: readonly Candidate[];
}

export class FlowClassifier {
  readonly #users = new Map<string, KnownUser>();
  #kept = 0;

  /**
   * @param schemas in matching order, catch-all among them
   * @param distinguisherOf "" where all requests of a schema are one flow
   */
  constructor(
    private readonly schemas: readonly FlowSchema[],
    private readonly distinguisherOf: (
      schema: FlowSchema,
      user: UserInfo,
      info: RequestInfo,
    ) => string,
    private readonly flowOf: (
      schema: FlowSchema,
      distinguisher: string,
    ) => Flow,
  ) {}

  classify(user: UserInfo, info: RequestInfo): Flow {
    const { schema, flows } = this.#candidateFor(user, info);
    const distinguisher = this.distinguisherOf(schema, user, info);
    let flow = flows.get(distinguisher);
    if (flow) return flow;
    flow = this.flowOf(schema, distinguisher);
    if (distinguisher.length > maxNamesLength) return flow;
    this.#makeRoom();
    flows.set(distinguisher, flow);
    return flow;
  }

  #candidateFor(user: UserInfo, info: RequestInfo): Candidate {
    const { candidates } = this.#known(user);
    for (const candidate of candidates)
      for (const rule of candidate.rules)
        if (matchesRequest(rule, info)) return candidate;
    // A user of no group: the last resort is for everybody.
    return candidates.at(-1)!;
  }

  #known(user: UserInfo): KnownUser {
    const { name, groups } = user;
    const known = this.#users.get(name);
    if (known && areSame(known.groups, groups)) return known;
    const found: KnownUser = { groups, candidates: this.#candidates(user) };
    let length = name.length;
    for (const group of groups) length += group.length;
    if (length > maxNamesLength) return found;
    this.#makeRoom();
    this.#users.set(name, found);
    return found;
  }

  /** The last one is catch-all. */
  #candidates(user: UserInfo): Candidate[] {
    const candidates: Candidate[] = [];
    let lastResort: Candidate | undefined;
    for (const schema of this.schemas) {
      const rules = (schema.spec.rules ?? []).filter((rule) =>
        concernsUser(rule, user),
      );
      const candidate = { schema, rules, flows: new Map<string, Flow>() };
      if (schema.metadata.name === "catch-all")
        lastResort = { ...candidate, rules: [] };
      if (rules.length > 0) candidates.push(candidate);
    }
    return [...candidates, lastResort!];
  }

  #makeRoom(): void {
    if (this.#kept >= maxKept) {
      this.#users.clear();
      this.#kept = 0;
    }
    this.#kept++;
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++)
    if (some[at] !== others[at]) return false;
  return true;
}
