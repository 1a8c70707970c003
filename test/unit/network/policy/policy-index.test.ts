// From objects to rules: against an evaluator of its own for thousands of pairs, change by change against all at once, and
// as the texts that nft reads.
import type { Namespace, Pod } from "../../../../api/types/core-v1.ts";
import type {
  NetworkPolicy,
  NetworkPolicySpec,
} from "../../../../api/types/networking-v1.ts";
import { compilePolicy } from "../../../../network/policy/compiled-policy.ts";
import { LocalPods, podKey } from "../../../../network/policy/local-pods.ts";
import { PolicyIndex } from "../../../../network/policy/policy-index.ts";
import { policyTableText } from "../../../../network/policy/policy-table.ts";
import { NftPolicyTable } from "../../../support/nft-policy-table.ts";
import {
  oracleAllows,
  type Attempt,
  type OracleWorld,
} from "../../../support/policy-oracle.ts";
import { named, policyScenarios } from "../../../support/policy-scenarios.ts";
import { randomNumbers } from "../../../support/random-numbers.ts";

const nodeName = "node-1";

function newIndex(): PolicyIndex {
  return new PolicyIndex("inet orbit-policy", policyTableText);
}

function namespace(name: string, labels = { team: name }): Namespace {
  return { metadata: { name, labels }, spec: {} };
}

function pod(
  of: string,
  name: string,
  ips: readonly string[],
  more: {
    node?: string;
    labels?: Record<string, string>;
    phase?: string;
    port?: number;
    hostNetwork?: boolean;
  } = {},
): Pod {
  const {
    node = nodeName,
    labels = { app: name, team: of },
    phase = "Running",
    port = name.endsWith("1") ? 80 : 81,
    hostNetwork,
  } = more;
  return {
    metadata: { name, namespace: of, labels, uid: `${of}/${name}` },
    spec: {
      nodeName: node,
      ...(hostNetwork ? { hostNetwork } : {}),
      containers: (["TCP", "UDP"] as const).map((protocol) => ({
        name: protocol,
        ports: [{ name: "web", containerPort: port, protocol }],
      })),
    },
    status: { phase, podIPs: ips.map((ip) => ({ ip })) },
  } as Pod;
}

let names = 0;

function policy(
  of: string,
  spec: Partial<NetworkPolicySpec>,
  name = `p${++names}`,
): NetworkPolicy {
  return {
    metadata: { name, namespace: of },
    spec: { podSelector: {}, ...spec },
  };
}

/** Everything of a world in a new index. */
function indexOf({ namespaces, pods, policies }: OracleWorld): PolicyIndex {
  const index = newIndex();
  const local = new LocalPods(nodeName);
  for (const each of namespaces)
    index.setNamespace(each.metadata.name!, each.metadata.labels ?? {});
  for (const each of policies)
    index.setPolicy(
      each.metadata.namespace!,
      each.metadata.name!,
      compilePolicy(each),
    );
  for (const each of pods)
    index.setPod(podKey(each), local.facts(podKey(each), each));
  index.settle();
  return index;
}

function tableOf(index: PolicyIndex): NftPolicyTable {
  const table = new NftPolicyTable();
  table.apply(index.wholeScript());
  return table;
}

/** What the rules decide otherwise than the evaluator, between any two addresses. */
function disagreements(
  world: OracleWorld,
  table: NftPolicyTable,
  ends: readonly string[],
  ports: readonly number[],
): Attempt[] {
  const attempts = ends.flatMap((from) =>
    ends
      .filter((to) => to.includes(":") === from.includes(":"))
      .flatMap((to) =>
        (["tcp", "udp", "sctp"] as const).flatMap((protocol) =>
          ports.map((port) => ({ from, to, protocol, port })),
        ),
      ),
  );
  return attempts.filter(
    (each) => oracleAllows(world, each) !== table.allows(each),
  );
}

const small: OracleWorld = {
  namespaces: [namespace("a"), namespace("b")],
  pods: [
    pod("a", "a1", ["10.42.0.2", "fd42::2"]),
    pod("a", "a2", ["10.42.0.3", "fd42::3"]),
    pod("b", "b1", ["10.42.0.4", "fd42::4"]),
    pod("b", "b2", ["192.0.2.3"]),
    pod("b", "host", ["192.0.2.9"], { hostNetwork: true }),
    pod("a", "done", ["10.42.0.8"], { phase: "Succeeded" }),
  ],
  policies: [],
};
const addresses = [
  "10.42.0.2",
  "10.42.0.3",
  "10.42.0.4",
  "192.0.2.3",
  "192.0.2.2",
  "192.0.2.9",
  "10.42.0.8",
  "fd42::2",
  "fd42::3",
  "fd42::4",
  "fd42::9",
];

test.each(Object.entries(policyScenarios))("%s", (_, all) => {
  const world = {
    ...small,
    policies: all.map(([of, app, spec]) =>
      policy(of, app ? { ...spec, podSelector: named(app) } : spec),
    ),
  };
  expect(
    disagreements(world, tableOf(indexOf(world)), addresses, [80, 81, 85]),
  ).toEqual([]);
});

test("pods of other nodes have no rules, and are peers", () => {
  const world = {
    ...small,
    pods: [
      pod("a", "a1", ["10.42.0.2"]),
      pod("a", "a2", ["10.42.1.2"], { node: "node-2" }),
    ],
    policies: [policy("a", { ingress: [{ from: [{ podSelector: {} }] }] })],
  };
  const table = tableOf(indexOf(world));
  const tcp = (from: string, to: string) =>
    table.allows({ from, to, protocol: "tcp", port: 80 });
  expect(tcp("10.42.1.2", "10.42.0.2")).toBe(true);
  expect(tcp("192.0.2.2", "10.42.0.2")).toBe(false);
  expect(tcp("192.0.2.2", "10.42.1.2")).toBe(true);
});

/** Few names and labels, so that policies and pods meet. */
class RandomWorld {
  readonly #random: () => number;
  readonly namespaces = new Map<string, Namespace>();
  readonly pods = new Map<string, Pod>();
  readonly policies = new Map<string, NetworkPolicy>();

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  get world(): OracleWorld {
    return {
      namespaces: [...this.namespaces.values()],
      pods: [...this.pods.values()],
      policies: [...this.policies.values()],
    };
  }

  pick<T>(...all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!;
  }

  #some<T>(most: number, make: () => T): T[] {
    return Array.from(
      { length: Math.floor(this.#random() * (most + 1)) },
      make,
    );
  }

  #labels(): Record<string, string> {
    return {
      ...(this.pick(true, false) ? { app: this.pick("x", "y", "z") } : {}),
      ...(this.pick(true, false) ? { tier: this.pick("", "1") } : {}),
    };
  }

  #selector(): object {
    return {
      ...(this.pick(true, false) ? { matchLabels: this.#labels() } : {}),
      ...(this.pick(true, false, false)
        ? {
            matchExpressions: [
              this.pick(
                { key: "app", operator: "In", values: ["x", "y"] },
                { key: "app", operator: "NotIn", values: ["x"] },
                { key: "tier", operator: "Exists" },
                { key: "tier", operator: "DoesNotExist" },
              ),
            ],
          }
        : {}),
    };
  }

  #peer(): object {
    return this.pick<() => object>(
      () => ({ podSelector: this.#selector() }),
      () => ({ namespaceSelector: this.#selector() }),
      () => ({
        podSelector: this.#selector(),
        namespaceSelector: this.#selector(),
      }),
      () => ({
        ipBlock: this.pick<object>(
          { cidr: "0.0.0.0/0", except: ["10.42.0.4/30", "10.42.0.8/32"] },
          { cidr: "10.42.0.0/29", except: ["10.42.0.0/31", "10.42.0.1/32"] },
          { cidr: "010.42.0.004/30" },
          { cidr: "::/0", except: ["fd42::4/126"] },
          { cidr: "192.0.2.2/32" },
        ),
      }),
    )();
  }

  #port(): object {
    const protocol = this.pick("TCP", "UDP", "SCTP");
    return this.pick<object>(
      { protocol },
      { port: "web", ...(this.pick(true, false) ? { protocol } : {}) },
      { protocol, port: this.pick(80, 81) },
      { protocol, port: 79, endPort: this.pick(80, 81, 90) },
    );
  }

  #policy(): Partial<NetworkPolicySpec> {
    const rules = (peers: "from" | "to") =>
      this.#some(2, () => ({
        ...(this.pick(true, true, false)
          ? { [peers]: this.#some(2, () => this.#peer()) }
          : {}),
        ...(this.pick(true, true, false)
          ? { ports: this.#some(3, () => this.#port()) }
          : {}),
      }));
    return {
      podSelector: this.#selector(),
      ...(this.pick(true, false) ? { ingress: rules("from") } : {}),
      ...(this.pick(true, false) ? { egress: rules("to") } : {}),
      ...(this.pick(true, false)
        ? {
            policyTypes: this.pick(
              ["Ingress"],
              ["Egress"],
              ["Ingress", "Egress"],
            ),
          }
        : {}),
    };
  }

  /** One change; returns it as a change of an index. */
  change(): (index: PolicyIndex) => void {
    const of = this.pick("a", "b", "c");
    const gone = this.pick(true, false, false, false);
    switch (this.pick("namespace", "pod", "pod", "policy", "policy")) {
      case "namespace": {
        const made = gone ? undefined : namespace(of, this.#labels() as never);
        if (made) this.namespaces.set(of, made);
        else this.namespaces.delete(of);
        return (index) => index.setNamespace(of, made?.metadata.labels);
      }
      case "pod": {
        const number = this.pick(2, 3, 4, 5, 6, 7);
        const made = pod(
          ["a", "b", "c"][number % 3]!,
          `pod${number}`,
          [`10.42.0.${number}`, `fd42:0:0::${number}`],
          {
            labels: this.#labels(),
            port: this.pick(80, 81),
            phase: this.pick("Running", "Running", "Failed"),
          },
        );
        const key = podKey(made);
        if (gone) this.pods.delete(key);
        else this.pods.set(key, made);
        const facts = gone
          ? undefined
          : new LocalPods(nodeName).facts(key, made);
        return (index) => index.setPod(key, facts);
      }
      default: {
        const name = `p${this.pick(1, 2, 3)}`;
        const made = gone ? undefined : policy(of, this.#policy(), name);
        if (made) this.policies.set(`${of}/${name}`, made);
        else this.policies.delete(`${of}/${name}`);
        return (index) =>
          index.setPolicy(of, name, made && compilePolicy(made));
      }
    }
  }
}

const randomEnds = [
  ...[2, 3, 4, 5, 6, 7, 8].map((n) => `10.42.0.${n}`),
  "192.0.2.2",
  "fd42::2",
  "fd42::5",
  "fd42::99",
];

test.each([1, 2, 3, 4])("random changes, seed %i", (seed) => {
  const random = new RandomWorld(seed);
  const index = newIndex();
  const table = tableOf(index);
  for (let round = 0; round < 250; round++) {
    random.change()(index);
    // Sometimes several changes are one transaction.
    if (random.pick(true, false)) continue;
    index.settle();
    table.apply(index.changeScript());
    if (round % 5 !== 0) continue;
    const again = tableOf(indexOf(random.world));
    expect(table.snapshot()).toEqual(again.snapshot());
    // The evaluator reads no addresses of another form.
    const world = {
      ...random.world,
      pods: random.world.pods.map((each) => ({
        ...each,
        status: {
          ...each.status,
          podIPs: each.status!.podIPs!.map(({ ip }) => ({
            ip: ip.replace("fd42:0:0::", "fd42::"),
          })),
        },
      })),
      policies: random.world.policies.map(
        (each) =>
          JSON.parse(
            JSON.stringify(each).replaceAll("010.42.0.004", "10.42.0.4"),
          ) as NetworkPolicy,
      ),
    };
    expect(disagreements(world, table, randomEnds, [80, 81])).toEqual([]);
  }
});

test("the texts of a policy that comes and goes", () => {
  const index = indexOf(small);
  index.wholeScript();
  index.setPolicy(
    "a",
    "web",
    compilePolicy(
      policy("a", {
        podSelector: named("a1"),
        ingress: [
          {
            from: [
              { podSelector: named("a2") },
              { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.2/32"] } },
            ],
            ports: [{ port: "web" }, { port: 443, endPort: 445 }],
          },
        ],
      }),
    ),
  );
  index.settle();
  expect(index.isolatedPods).toBe(1);
  expect(index.changeScript()).toMatchSnapshot();
  expect(index.changeScript()).toBe("");
  index.setPolicy("a", "web", undefined);
  index.settle();
  expect(index.isolatedPods).toBe(0);
  expect(index.changeScript()).toMatchSnapshot();
  expect(index.changeScript()).toBe("");
});

test("a change of a policy writes the rules of the pods it selects, and nothing else", () => {
  const open = (port: number): NetworkPolicy =>
    policy(
      "a",
      {
        podSelector: {},
        ingress: [
          { from: [{ podSelector: named("a2") }], ports: [{ port }] },
          { ports: [{ port: 8080 }] },
        ],
      },
      "web",
    );
  const world = {
    ...small,
    policies: [open(80), policy("b", { egress: [{ ports: [{ port: 53 }] }] })],
  };
  const index = indexOf(world);
  const table = tableOf(index);
  index.setPolicy("a", "web", compilePolicy(open(81)));
  index.settle();
  const script = index.changeScript();
  // One chain, which all pods of the namespace share; who jumps to it stays.
  expect(script).toMatch(/^flush chain inet orbit-policy (in-\w+)\n/);
  const [, chain = ""] = /^flush chain inet orbit-policy (\S+)/.exec(script)!;
  for (const line of script.trim().split("\n").slice(1))
    expect(line).toMatch(new RegExp(`^add rule inet orbit-policy ${chain} `));
  table.apply(script);
  expect(table.snapshot()).toEqual(tableOf(index).snapshot());
});

test("the whole table", () => {
  const world = {
    ...small,
    policies: [
      policy(
        "b",
        {
          egress: [
            { to: [{ namespaceSelector: {} }], ports: [{ port: "web" }] },
          ],
        },
        "web",
      ),
    ],
  };
  expect(indexOf(world).wholeScript()).toMatchSnapshot();
});

test("what can't be read allows nothing", () => {
  const broken = { matchExpressions: [{ key: "app", operator: "Near" }] };
  const world = {
    ...small,
    policies: [
      policy("a", {
        podSelector: broken,
        ingress: [
          { from: [{ podSelector: broken }, {}] },
          { from: [{ ipBlock: { cidr: "192.0.2.0" } }] },
          { from: [{ ipBlock: { cidr: "192.0.2.0/24", except: ["x"] } }] },
          { ports: [{ protocol: "ICMP" }] },
        ],
      }),
    ],
  };
  const table = tableOf(indexOf(world));
  for (const to of ["10.42.0.2", "10.42.0.3"])
    for (const from of ["10.42.0.4", "192.0.2.3"])
      expect(table.allows({ from, to, protocol: "tcp", port: 80 })).toBe(false);
});

test("a policy without a spec isolates its namespace", () => {
  const bare = { metadata: { name: "bare", namespace: "a" } } as NetworkPolicy;
  const table = tableOf(indexOf({ ...small, policies: [bare] }));
  const tcp = (from: string, to: string) =>
    table.allows({ from, to, protocol: "tcp", port: 80 });
  expect(tcp("10.42.0.4", "10.42.0.2")).toBe(false);
  expect(tcp("10.42.0.2", "10.42.0.4")).toBe(true);
});

test("an address that is given out again does not bring the old pod's rules", () => {
  const local = new LocalPods(nodeName);
  const old = pod("a", "old", ["10.42.0.9"]);
  const next = pod("b", "next", []);
  expect(local.claim(old, ["10.42.0.9"])).toEqual([]);
  expect(local.claim(next, ["10.42.0.9", "fd42:0::9"])).toEqual(["a/old"]);
  expect(local.facts("a/old", old)?.addresses).toEqual([]);
  expect(
    local.facts("b/next", next)?.addresses.map(({ text }) => text),
  ).toEqual(["10.42.0.9", "fd42::9"]);
  local.forget(pod("b", "next", []));
  expect(local.facts("a/old", old)?.addresses).toHaveLength(1);
});
