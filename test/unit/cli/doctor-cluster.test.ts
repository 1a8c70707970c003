// What `orbit doctor` says of a running cluster's objects, of its name server and of Docker.
import {
  createCertificateAuthority,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import type { Node, Pod } from "../../../api/types/core-v1.ts";
import { credentialFinding } from "../../../cli/doctor/cluster/cluster-checks.ts";
import { dnsFinding } from "../../../cli/doctor/cluster/dns-check.ts";
import {
  apiServiceFindings,
  definitionFindings,
  ServiceTargets,
  webhookFindings,
} from "../../../cli/doctor/cluster/extension-checks.ts";
import {
  clockFindings,
  nodeFindings,
} from "../../../cli/doctor/cluster/node-checks.ts";
import {
  namespaceFindings,
  podFindings,
} from "../../../cli/doctor/cluster/pod-checks.ts";
import { daemonFindings } from "../../../cli/doctor/docker-checks.ts";
import type { Finding, MachineFiles } from "../../../cli/doctor/finding.ts";
import { timeSource } from "../../../cli/doctor/host-checks.ts";

const nowMs = Date.parse("2026-05-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString();
const brief = (findings: readonly Finding[]): string[] =>
  findings.map(({ name, state, found }) => `${state} ${name}: ${found}`);

function node(
  name: string,
  conditions: readonly (readonly [type: string, status: string])[],
  spec: Node["spec"] = {},
): Node {
  return {
    metadata: { name },
    spec,
    status: {
      conditions: conditions.map(([type, status]) => ({
        ...{ type, status, reason: "R", message: "why" },
      })),
    },
  };
}

test("nodes that are not ready, under pressure or closed", () => {
  expect(
    brief(
      nodeFindings([
        node("a", [["Ready", "True"]]),
        node("b", [["Ready", "True"]]),
      ]),
    ),
  ).toEqual(["ok nodes: 2 ready"]);
  expect(
    brief(
      nodeFindings([
        node("pressed", [
          ["DiskPressure", "True"],
          ["MemoryPressure", "False"],
          ["Ready", "True"],
        ]),
        node("gone", [["Ready", "Unknown"]]),
        node("new", []),
        node("closed", [["Ready", "True"]], { unschedulable: true }),
      ]),
    ),
  ).toEqual([
    "failed node gone: not ready: R: why",
    "failed node new: has never reported",
    "warning node pressed: DiskPressure: why",
    "warning node closed: closed to new pods",
  ]);
  expect(brief(nodeFindings([]))).toEqual(["failed nodes: none"]);
});

test("of many findings the worst are shown and the rest counted", () => {
  const many = Array.from({ length: 20 }, (_, index) =>
    node(`n${index}`, [["Ready", index < 10 ? "True" : "False"]], {
      unschedulable: index < 10,
    }),
  );
  const found = nodeFindings(many);
  expect(found).toHaveLength(9);
  expect(found.every(({ state }) => state === "failed")).toBe(true);
  expect(found[8]).toEqual({
    ...{ name: "nodes", state: "failed", found: "12 more like these" },
    remedy: "kubectl get nodes",
  });
});

test("clocks that differ from this machine's", () => {
  const lease = (name: string, renewTime: string): object => ({
    metadata: { name },
    spec: { renewTime },
  });
  const leases = [lease("a", ago(9)), lease("b", ago(-30)), lease("c", "")];
  expect(brief(clockFindings(leases as never, ago(0), nowMs))).toEqual([
    "failed clock of node b: 30 s ahead of this machine's",
  ]);
  expect(brief(clockFindings([], ago(90), nowMs))).toEqual([
    "failed clock: the API server's is 90 s behind this machine's",
  ]);
  for (const serverTime of [ago(4), ago(-4), undefined])
    expect(clockFindings([], serverTime, nowMs)).toMatchObject([
      { state: "ok" },
    ]);
});

function pod(name: string, over: Partial<Pod> = {}): Pod {
  return {
    spec: { containers: [] },
    status: { phase: "Running", startTime: ago(1000) },
    ...over,
    metadata: { namespace: "x", name, ...over.metadata } as Pod["metadata"],
  };
}
const condition = (type: string, status: string, at: number): object => ({
  ...{ type, status, message: "why" },
  lastTransitionTime: ago(at),
});
const waiting = (reason: string): object => ({
  phase: "Pending",
  startTime: ago(5),
  containerStatuses: [
    { name: "c", state: { waiting: { reason, message: "why" } } },
  ],
});

test.each<[string, Partial<Pod>, string | undefined]>([
  [
    "runs",
    {
      status: {
        phase: "Running",
        conditions: [condition("Ready", "True", 900)] as never,
      },
    },
    undefined,
  ],
  ["is over", { status: { phase: "Failed" } }, undefined],
  ["pulls", { status: waiting("ContainerCreating") as never }, undefined],
  [
    "can't pull",
    { status: waiting("ImagePullBackOff") as never },
    "container c: ImagePullBackOff: why",
  ],
  [
    "just came",
    {
      status: { phase: "Pending" },
      metadata: { name: "", creationTimestamp: ago(60) },
    },
    undefined,
  ],
  [
    "hangs",
    {
      status: { phase: "Pending" },
      metadata: { name: "", creationTimestamp: ago(600) },
    },
    "does not start since 10 min",
  ],
  [
    "no room",
    {
      status: {
        phase: "Pending",
        conditions: [condition("PodScheduled", "False", 1)] as never,
      },
      metadata: { name: "", creationTimestamp: ago(600) },
    },
    "no node takes it: why",
  ],
  [
    "gated",
    {
      status: {
        phase: "Pending",
        conditions: [
          {
            ...condition("PodScheduled", "False", 1),
            reason: "SchedulingGated",
          },
        ] as never,
      },
      metadata: { name: "", creationTimestamp: ago(6000) },
    },
    undefined,
  ],
  [
    "comes up",
    {
      status: {
        phase: "Running",
        conditions: [condition("Ready", "False", 200)] as never,
      },
    },
    undefined,
  ],
  [
    "unready",
    {
      status: {
        phase: "Running",
        conditions: [condition("Ready", "False", 7200)] as never,
      },
    },
    "not ready since 2 h: why",
  ],
  ["ends", { metadata: { name: "", deletionTimestamp: ago(30) } }, undefined],
  [
    "is held",
    { metadata: { name: "", deletionTimestamp: ago(300), finalizers: ["f"] } },
    "ends since 5 min: held by the finalizers f",
  ],
  [
    "stays",
    { metadata: { name: "", deletionTimestamp: ago(300_000) } },
    "ends since 3 days: its node has not said that it is gone",
  ],
])("a pod that %s", (name, over, problem) => {
  const made = pod(name, over);
  made.metadata.name = name;
  expect(brief(podFindings([made], nowMs))).toEqual([
    problem === undefined
      ? "ok pods: 1, none is stuck"
      : `warning pod x/${name}: ${problem}`,
  ]);
  made.metadata.namespace = "kube-system";
  expect(podFindings([made], nowMs)[0]!.state).toBe(
    problem === undefined ? "ok" : "failed",
  );
});

test("a message of others is kept to one line of bounded length", () => {
  const status = waiting("CrashLoopBackOff") as Pod["status"];
  status!.containerStatuses![0]!.state!.waiting!.message =
    "\u0009a\nb " + "z".repeat(10_000);
  const [{ found }] = podFindings([pod("p", { status })], nowMs) as [Finding];
  expect(found).toMatch(/^container c: CrashLoopBackOff: a b z+…$/);
  expect(found.length).toBe(301);
});

test("a namespace that does not go says why", () => {
  const going = (seconds: number): object => ({
    metadata: { name: "n", deletionTimestamp: ago(seconds) },
    status: {
      conditions: [
        {
          type: "NamespaceContentRemaining",
          status: "True",
          message: "1 thing",
        },
        {
          type: "NamespaceDeletionContentFailure",
          status: "False",
          message: "ok",
        },
      ],
    },
  });
  expect(brief(namespaceFindings([going(10)] as never, nowMs))).toEqual([
    "ok namespaces: 1, none is stuck",
  ]);
  expect(brief(namespaceFindings([going(600)] as never, nowMs))).toEqual([
    "warning namespace n: goes since 10 min: 1 thing",
  ]);
});

const service = (name: string, type = "ClusterIP"): object => ({
  metadata: { namespace: "x", name },
  spec: { type },
});
const slice = (name: string, ...ready: (boolean | undefined)[]): object => ({
  metadata: { namespace: "x", labels: { "kubernetes.io/service-name": name } },
  endpoints: ready.map((each) => ({
    addresses: [],
    conditions: { ready: each },
  })),
});
const targets = new ServiceTargets(
  [
    service("up"),
    service("down"),
    service("bare"),
    service("far", "ExternalName"),
  ] as never,
  [slice("up", false, undefined), slice("down", false)] as never,
);

test("where nothing answers webhooks", () => {
  const authority = createCertificateAuthority({
    subject: { commonName: "ca" },
    nowMs: nowMs - 2 * YEAR_MS,
    validityMs: YEAR_MS,
  });
  const bundle = (pem: string): string => Buffer.from(pem).toString("base64");
  const webhook = (
    name: string,
    clientConfig: object,
    failurePolicy?: string,
  ): object => ({ name, clientConfig, failurePolicy });
  const to = (name: string): object => ({ service: { namespace: "x", name } });
  const refuses = ", and without it requests are refused";
  const configuration = (...webhooks: object[]) =>
    [
      { kind: "mutating" as const, name: "m", webhooks: webhooks as never },
    ] as const;
  const found = webhookFindings(
    configuration(
      webhook("a", to("up")),
      webhook("b", to("far")),
      webhook("c", to("none")),
      webhook("d", to("down"), "Fail"),
      webhook("e", to("bare"), "Ignore"),
      webhook("f", {
        url: "https://h",
        caBundle: bundle(authority.certificate),
      }),
      webhook("g", { url: "https://h", caBundle: bundle("nonsense") }),
      webhook("h", {
        url: "https://h",
        caBundle: bundle(
          "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ),
      }),
    ),
    targets,
    nowMs,
  );
  expect(brief(found)).toEqual([
    `failed webhook c: its Service x/none does not exist${refuses}`,
    `failed webhook d: its Service x/down has no pod that is ready${refuses}`,
    `failed webhook f: the certificates of its caBundle are no longer valid${refuses}`,
    expect.stringMatching(/^failed webhook h: its caBundle can't be read: /),
    "warning webhook e: its Service x/bare has no pod that is ready",
  ]);
  expect(found[0]!.remedy).toBe(
    "bring its server up, or kubectl delete mutatingwebhookconfiguration m",
  );
  expect(
    brief(
      webhookFindings(configuration(webhook("a", to("up"))), targets, nowMs),
    ),
  ).toEqual(["ok webhooks of admission: 1"]);
});

test("APIServices and definitions that are not served", () => {
  const available = (status?: string): object => ({
    metadata: { name: "v1.x" },
    spec: {},
    status: {
      conditions: status
        ? [{ type: "Available", status, reason: "R", message: "why" }]
        : [],
    },
  });
  expect(
    brief(
      apiServiceFindings([
        available("True"),
        available("False"),
        available(),
      ] as never),
    ),
  ).toEqual([
    "failed APIService v1.x: R: why",
    "failed APIService v1.x: not looked at yet",
  ]);
  const definition = (established: string, to?: string): object => ({
    metadata: { name: "things.x" },
    spec: to
      ? {
          conversion: {
            webhook: {
              clientConfig: { service: { namespace: "x", name: to } },
            },
          },
        }
      : {},
    status: {
      conditions: [
        { type: "NamesAccepted", status: established, message: "taken" },
        { type: "Established", status: established, message: "no" },
      ],
    },
  });
  const look = (each: object): string[] =>
    brief(definitionFindings([each] as never, targets, nowMs));
  expect(look(definition("True", "up"))).toEqual([
    "ok custom resources: 1 definitions served",
  ]);
  expect(look(definition("False", "down"))).toEqual([
    "failed definition things.x: not served: taken",
    "failed conversion of things.x: its Service x/down has no pod that is ready",
  ]);
});

test("the cluster's name server", async () => {
  const expected = ["10.0.0.1"];
  const asked: string[] = [];
  const answering =
    (...answer: string[]) =>
    (server: string, name: string) => {
      asked.push(`${server} ${name}`);
      return Promise.resolve(answer);
    };
  expect(
    await dnsFinding("10.0.0.10", "c.local", expected, answering("10.0.0.1")),
  ).toMatchObject({ state: "ok" });
  expect(asked).toEqual(["10.0.0.10 kubernetes.default.svc.c.local."]);
  expect(
    await dnsFinding("10.0.0.10", "c", expected, answering("192.0.2.1")),
  ).toMatchObject({
    state: "failed",
    found:
      "10.0.0.10 says 192.0.2.1 for kubernetes.default.svc.c, which is 10.0.0.1",
  });
  const failing = (): Promise<never> =>
    Promise.reject(Object.assign(new Error("x"), { code: "ETIMEOUT" }));
  expect(await dnsFinding("10.0.0.10", "c", expected, failing)).toMatchObject({
    state: "failed",
    found: "10.0.0.10 does not answer kubernetes.default.svc.c: ETIMEOUT",
  });
  expect(await dnsFinding(undefined, "c", expected, failing)).toMatchObject({
    state: "warning",
  });
});

test("Docker's daemon by its own word", () => {
  const good = {
    ServerVersion: "20.10",
    Driver: "overlay2",
    LiveRestoreEnabled: true,
  };
  expect(brief(daemonFindings(good))).toEqual(["ok Docker: 20.10, overlay2"]);
  expect(
    daemonFindings({
      Driver: "vfs",
      LiveRestoreEnabled: false,
      SecurityOptions: [
        "name=seccomp,profile=default",
        "name=rootless",
        "name=userns",
      ],
      Warnings: ["WARNING: No swap limit support"],
    }).map(({ state, found }) => `${state} ${found.slice(0, 20)}`),
  ).toEqual([
    "failed runs without root, a",
    "failed maps the users of al",
    "warning containers end when ",
    "warning copies whole images ",
    "warning No swap limit suppor",
  ]);
});

test("the kubeconfig's certificate", () => {
  const authority = createCertificateAuthority({
    subject: { commonName: "ca" },
    nowMs,
    validityMs: YEAR_MS,
  });
  const at = (ms: number): string[] =>
    credentialFinding(authority.certificate, "/k", ms).map(
      ({ state }) => state,
    );
  expect(at(nowMs)).toEqual(["ok"]);
  expect(at(nowMs + YEAR_MS - 86_400_000)).toEqual(["warning"]);
  expect(at(nowMs + YEAR_MS + 86_400_000)).toEqual(["failed"]);
  expect(credentialFinding("nonsense", "/k", nowMs)).toMatchObject([
    { state: "failed" },
  ]);
  expect(credentialFinding(undefined, "/k", nowMs)).toEqual([]);
});

test("what sets the machine's clock", async () => {
  const files = (directory: string, ...names: string[]): MachineFiles => ({
    read: () => Promise.resolve(undefined),
    link: () => Promise.resolve(undefined),
    list: (asked) => Promise.resolve(asked === directory ? names : []),
  });
  expect(await timeSource(files("/run", "ntpd.pid"))).toMatchObject({
    state: "ok",
    found: "/run/ntpd.pid",
  });
  expect(
    await timeSource(files("/run/systemd/timesync", "synchronized")),
  ).toMatchObject({ state: "ok" });
  expect(await timeSource(files("/run", "other"))).toMatchObject({
    state: "warning",
  });
});
