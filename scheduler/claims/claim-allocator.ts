// Which devices claims get on one node: requests one after another, each device tried in turn, and taken back when the
// rest does not fit with it (the first solution is the answer, as at the reference). Pure but for its compiled selectors.
// Invariants: a device is taken once, unless for administration; a search that tries too many devices ends with an error,
// as it holds up all other pods.
// Worked example: two requests "one GPU with 80Gi" and "any GPU", devices a (80Gi) and b (40Gi), slices in the order a, b:
// the first takes a, the second b. With the requests exchanged "any" takes a at first, the other finds none, and a is given
// back for b.
import type { Node } from "../../api/types/core-v1.ts";
import type {
  AllocationResult,
  Device,
  DeviceClass,
  DeviceRequest,
  ResourceClaim,
  ResourceSlice,
} from "../../api/types/resource-v1beta1.ts";
import { allocationResult, type TakenDevice } from "./allocation-result.ts";
import type { DeviceMatcher, SelectorBudget } from "./device-matcher.ts";
import { poolsOf, type DevicePool } from "./device-pools.ts";
import { MatchAttribute } from "./match-attribute.ts";

export interface AllocationState {
  readonly slices: readonly ResourceSlice[];
  readonly deviceClass: (name: string) => DeviceClass | undefined;
  /** `driver/pool/device` of all that claims have, or are about to be given. */
  readonly allocated: ReadonlySet<string>;
  readonly matcher: DeviceMatcher;
  readonly budget: SelectorBudget;
  /** Gate DRAAdminAccess. */
  readonly adminAccess: boolean;
}

interface Candidate {
  readonly id: string;
  readonly pool: DevicePool;
  readonly slice: ResourceSlice;
  readonly device: Device;
}

interface WantedRequest {
  readonly claim: ResourceClaim;
  readonly claimIndex: number;
  readonly request: DeviceRequest;
  readonly deviceClass: DeviceClass;
  readonly isAdmin: boolean;
  readonly count: number;
  /** All that match, for requests of all of them. */
  readonly all: readonly Candidate[] | undefined;
}

/** Devices of one claim, as at the reference. */
const maxResults = 32;
/** Devices tried for one pod on one node. */
const maxTries = 50_000;

export const deviceId = (
  driver: string,
  pool: string,
  device: string,
): string => `${driver}/${pool}/${device}`;

const keyOf = ({ metadata }: ResourceClaim): string =>
  `${metadata.namespace}/${metadata.name}`;

/**
 * One result a claim, in their order; undefined: they do not fit on the node.
 * @throws Error for claims and classes that can be allocated nowhere
 */
export function allocateClaims(
  claims: readonly ResourceClaim[],
  node: Node,
  state: AllocationState,
): AllocationResult[] | undefined {
  try {
    return new Search(claims, node, state).run();
  } catch (error) {
    if (error === noSolution) return undefined;
    throw error;
  }
}

/** Ends a search that can't succeed whatever is tried. */
const noSolution = new Error("no solution");

class Search {
  readonly #claims: readonly ResourceClaim[];
  readonly #state: AllocationState;
  readonly #pools: readonly DevicePool[];
  readonly #constraints: readonly (readonly MatchAttribute[])[];
  readonly #taken: TakenDevice[][];
  readonly #taking = new Set<string>();
  readonly #matches = new Map<string, boolean>();
  #tries = 0;

  constructor(
    claims: readonly ResourceClaim[],
    node: Node,
    state: AllocationState,
  ) {
    this.#claims = claims;
    this.#state = state;
    this.#pools = poolsOf(state.slices, node);
    this.#taken = claims.map(() => []);
    this.#constraints = claims.map(({ spec }) =>
      (spec.devices?.constraints ?? []).map(
        (constraint) => new MatchAttribute(constraint),
      ),
    );
  }

  run(): AllocationResult[] | undefined {
    const wanted = this.#claims.flatMap((claim, claimIndex) =>
      this.#wantedOf(claim, claimIndex),
    );
    for (const claim of this.#claims) {
      const count = wanted
        .filter((each) => each.claim === claim)
        .reduce((sum, each) => sum + each.count, 0);
      if (count > maxResults)
        throw new Error(
          `claim ${keyOf(claim)}: number of requested devices ${count} exceeds the claim limit of ${maxResults}`,
        );
    }
    if (!this.#fill(wanted, 0, 0)) return undefined;
    return this.#claims.map((claim, index) =>
      allocationResult(claim, this.#taken[index]!, (request) =>
        this.#state.deviceClass(request.deviceClassName),
      ),
    );
  }

  #wantedOf(claim: ResourceClaim, claimIndex: number): WantedRequest[] {
    return (claim.spec.devices?.requests ?? []).map((request) => {
      const fail = (why: string): never => {
        throw new Error(
          `claim ${keyOf(claim)}, request ${request.name}: ${why}`,
        );
      };
      if (!this.#state.adminAccess && request.adminAccess !== undefined)
        fail("admin access is requested, but the feature is disabled");
      const name = request.deviceClassName;
      const deviceClass =
        this.#state.deviceClass(name) ??
        fail(
          `could not retrieve device class ${name}: deviceclass.resource.k8s.io "${name}" not found`,
        );
      const partly = {
        claim,
        claimIndex,
        request,
        deviceClass,
        isAdmin: request.adminAccess ?? false,
      };
      const mode = request.allocationMode ?? "ExactCount";
      if (mode === "ExactCount")
        return { ...partly, count: request.count ?? 1, all: undefined };
      if (mode !== "All") fail(`unsupported count mode ${mode}`);
      const broken = this.#pools.find(
        ({ isIncomplete, problem }) => isIncomplete || problem !== undefined,
      );
      if (broken)
        fail(
          `asks for all devices, but resource pool ${broken.driver}/${broken.name} is currently ${broken.isIncomplete ? "being updated" : "invalid"}`,
        );
      const all = [...this.#candidates()].filter((candidate) =>
        this.#isSelectable(partly, candidate),
      );
      return { ...partly, count: all.length, all };
    });
  }

  /** Takes devices for the request at `index` from its `done`-th on, and for all after it. */
  #fill(
    wanted: readonly WantedRequest[],
    index: number,
    done: number,
  ): boolean {
    const request = wanted[index];
    if (!request) return true;
    if (done >= request.count) return this.#fill(wanted, index + 1, 0);
    if (request.all) {
      const candidate = request.all[done]!;
      // Whichever order they are taken in: without this one there is no solution.
      if (this.#isTaken(request, candidate)) throw noSolution;
      if (!this.#take(request, candidate))
        throw new Error(
          `claim ${keyOf(request.claim)}, request ${request.request.name}: cannot add device ${candidate.id} because a claim constraint would not be satisfied`,
        );
      if (this.#fill(wanted, index, done + 1)) return true;
      this.#giveBack(request, candidate);
      return false;
    }
    for (const candidate of this.#candidates()) {
      if (++this.#tries > maxTries)
        throw new Error(
          `claim ${keyOf(request.claim)}, request ${request.request.name}: no allocation was found after trying ${maxTries} devices`,
        );
      if (this.#isTaken(request, candidate)) continue;
      if (!this.#isSelectable(request, candidate)) continue;
      const { problem, name } = candidate.pool;
      if (problem) throw new Error(`pool ${name} is invalid: ${problem}`);
      if (!this.#take(request, candidate)) continue;
      if (this.#fill(wanted, index, done + 1)) return true;
      this.#giveBack(request, candidate);
    }
    return false;
  }

  *#candidates(): Generator<Candidate> {
    for (const pool of this.#pools)
      for (const slice of pool.slices)
        for (const device of slice.spec.devices ?? [])
          yield {
            id: deviceId(pool.driver, pool.name, device.name),
            pool,
            slice,
            device,
          };
  }

  #isTaken({ isAdmin }: WantedRequest, { id }: Candidate): boolean {
    return !isAdmin && (this.#state.allocated.has(id) || this.#taking.has(id));
  }

  #isSelectable(
    {
      claim,
      claimIndex,
      request,
      deviceClass,
    }: Omit<WantedRequest, "count" | "all">,
    { id, pool, device }: Candidate,
  ): boolean {
    const key = `${claimIndex}/${request.name}/${id}`;
    let matches = this.#matches.get(key);
    if (matches === undefined) {
      const { matcher, budget } = this.#state;
      const ofClass = `class ${deviceClass.metadata.name}`;
      matches =
        matcher.matches(
          pool.driver,
          device,
          deviceClass.spec.selectors,
          ofClass,
          budget,
        ) &&
        matcher.matches(
          pool.driver,
          device,
          request.selectors,
          `claim ${keyOf(claim)}`,
          budget,
        );
      this.#matches.set(key, matches);
    }
    return matches;
  }

  /** False: a constraint is in the way. */
  #take(
    { claimIndex, request, isAdmin }: WantedRequest,
    { id, pool, slice, device }: Candidate,
  ): boolean {
    const constraints = this.#constraints[claimIndex]!;
    const against = constraints.findIndex(
      (constraint) => !constraint.add(request.name, pool.driver, device),
    );
    if (against >= 0) {
      for (const constraint of constraints.slice(0, against))
        constraint.remove(request.name);
      return false;
    }
    if (!isAdmin) this.#taking.add(id);
    this.#taken[claimIndex]!.push({
      slice,
      result: {
        request: request.name,
        driver: pool.driver,
        pool: pool.name,
        device: device.name,
        ...(isAdmin ? { adminAccess: true } : {}),
      },
    });
    return true;
  }

  #giveBack(
    { claimIndex, request, isAdmin }: WantedRequest,
    { id }: Candidate,
  ): void {
    for (const constraint of this.#constraints[claimIndex]!)
      constraint.remove(request.name);
    if (!isAdmin) this.#taking.delete(id);
    this.#taken[claimIndex]!.pop();
  }
}
