// The Pod Security Standards by level and version, which policy labels make, and who is exempt.
import { metricsText } from "../../../../api/metrics/family.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Pod, PodSpec } from "../../../../api/types/core-v1.ts";
import { PodSecurityMetrics } from "../../../../apiserver-lite/admission/plugins/pod-security/pod-security-metrics.ts";
import { createPodSecurity } from "../../../../apiserver-lite/admission/plugins/pod-security/pod-security.ts";
import {
  policyOf,
  privilegedPolicy,
  shownLevel,
} from "../../../../apiserver-lite/admission/plugins/pod-security/policy.ts";
import {
  podViolations,
  type SecurityLevel,
} from "../../../../apiserver-lite/admission/plugins/pod-security/standards.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { firstRound } from "../../../support/admission-attributes.ts";

type Context = NonNullable<PodSpec["containers"][0]["securityContext"]>;
const hardened: Context = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const pod = (
  context: Context = {},
  spec: Partial<PodSpec> = {},
  annotations?: Record<string, string>,
): Pod =>
  ({
    metadata: { name: "p", ...(annotations ? { annotations } : {}) },
    spec: {
      containers: [{ name: "c", image: "i", securityContext: context }],
      ...spec,
    },
  }) as Pod;
const base = (context: Context, spec?: Partial<PodSpec>): Pod =>
  pod({ ...hardened, ...context }, spec);
const inPod = (securityContext: PodSpec["securityContext"]): Pod =>
  pod(hardened, { securityContext } as Partial<PodSpec>);
const volume = (source: object): Pod =>
  pod(hardened, { volumes: [{ name: "v", ...source }] });
const sysctl = (name: string): Pod =>
  inPod({ sysctls: [{ name, value: "1" }] });

// [pod, level, minor version, violation; undefined: none]
const rows: readonly [Pod, SecurityLevel, number, string | undefined][] = [
  [pod({ privileged: true }), "privileged", Infinity, undefined],
  [pod(), "baseline", Infinity, undefined],
  [pod(hardened), "restricted", Infinity, undefined],
  [
    pod({ privileged: true }),
    "baseline",
    0,
    'privileged: container "c" must not set securityContext.privileged=true',
  ],
  [
    pod({}, { hostNetwork: true, hostPID: true, hostIPC: true }),
    "baseline",
    0,
    "host namespaces: hostNetwork=true, hostPID=true, hostIPC=true",
  ],
  [
    pod({ windowsOptions: { hostProcess: true } }),
    "baseline",
    0,
    'hostProcess: container "c" must not set securityContext.windowsOptions.hostProcess=true',
  ],
  [
    inPod({ windowsOptions: { hostProcess: true } }),
    "restricted",
    Infinity,
    "hostProcess: pod must not set securityContext.windowsOptions.hostProcess=true",
  ],
  [
    pod({ windowsOptions: { hostProcess: false } }),
    "baseline",
    Infinity,
    undefined,
  ],
  [
    pod({ capabilities: { add: ["SYS_ADMIN", "CHOWN", "NET_RAW"] } }),
    "baseline",
    0,
    'non-default capabilities: container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add',
  ],
  [
    pod({ procMount: "Unmasked" }),
    "baseline",
    0,
    'procMount: container "c" must not set securityContext.procMount to "Unmasked"',
  ],
  [
    pod({}, { volumes: [{ name: "v", hostPath: { path: "/" } }] }),
    "baseline",
    0,
    'hostPath volumes: volume "v"',
  ],
  [
    pod({}, {
      containers: [
        {
          name: "c",
          image: "i",
          ports: [
            { containerPort: 1, hostPort: 80 },
            { containerPort: 2, hostPort: 443 },
          ],
        },
      ],
    } as Partial<PodSpec>),
    "baseline",
    0,
    'hostPort: container "c" uses hostPorts 443, 80',
  ],
  [
    pod({ seLinuxOptions: { type: "spc_t", user: "u", role: "r" } }),
    "baseline",
    0,
    'seLinuxOptions: container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set',
  ],
  [
    pod({ seLinuxOptions: { type: "container_engine_t" } }),
    "baseline",
    30,
    'seLinuxOptions: container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t"',
  ],
  [
    pod({ seLinuxOptions: { type: "container_engine_t" } }),
    "baseline",
    31,
    undefined,
  ],
  [
    pod({ seccompProfile: { type: "Unconfined" } }),
    "baseline",
    19,
    'seccompProfile: container "c" must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [pod({ seccompProfile: { type: "Unconfined" } }), "baseline", 18, undefined],
  [
    pod({}, {}, { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" }),
    "baseline",
    18,
    'seccompProfile: forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"',
  ],
  [
    pod({ appArmorProfile: { type: "Unconfined" } }),
    "baseline",
    0,
    'forbidden AppArmor profile: container "c" must not set AppArmor profile type to "Unconfined"',
  ],
  [
    pod(
      {},
      {},
      { "container.apparmor.security.beta.kubernetes.io/c": "unconfined" },
    ),
    "baseline",
    0,
    'forbidden AppArmor profile: annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined""',
  ],
  ...(
    [
      ["net.ipv4.tcp_syncookies", 0],
      ["net.ipv4.ip_local_reserved_ports", 27],
      ["net.ipv4.tcp_keepalive_time", 29],
      ["net.ipv4.tcp_rmem", 32],
    ] as const
  ).flatMap(([name, since]): (typeof rows)[number][] => [
    [sysctl(name), "baseline", since, undefined],
    [sysctl(name), "restricted", Infinity, undefined],
    ...(since > 0
      ? [
          [
            sysctl(name),
            "baseline",
            since - 1,
            `forbidden sysctls: ${name}`,
          ] as (typeof rows)[number],
        ]
      : []),
  ]),
  [
    sysctl("kernel.msgmax"),
    "baseline",
    Infinity,
    "forbidden sysctls: kernel.msgmax",
  ],
  [
    base({ allowPrivilegeEscalation: undefined as never }),
    "restricted",
    8,
    'allowPrivilegeEscalation != false: container "c" must set securityContext.allowPrivilegeEscalation=false',
  ],
  [
    base({ allowPrivilegeEscalation: undefined as never }),
    "restricted",
    7,
    undefined,
  ],
  [
    base({ capabilities: { drop: ["CHOWN"], add: ["CHOWN"] } }),
    "restricted",
    22,
    'unrestricted capabilities: container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add',
  ],
  [
    base({ capabilities: { drop: ["CHOWN"], add: ["CHOWN"] } }),
    "restricted",
    21,
    undefined,
  ],
  [
    base({ capabilities: { add: ["SYS_ADMIN"] } }),
    "restricted",
    21,
    'non-default capabilities: container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add',
  ],
  [
    base({ runAsNonRoot: false }),
    "restricted",
    0,
    'runAsNonRoot != true: container "c" must not set securityContext.runAsNonRoot=false',
  ],
  [
    base({ runAsUser: 0 }),
    "restricted",
    23,
    'runAsUser=0: container "c" must not set runAsUser=0',
  ],
  [base({ runAsUser: 0 }), "restricted", 22, undefined],
  [
    base({ seccompProfile: undefined as never }),
    "restricted",
    19,
    'seccompProfile: pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
  ],
  [base({ seccompProfile: undefined as never }), "restricted", 18, undefined],
  [
    base(
      { seccompProfile: undefined as never },
      { securityContext: { seccompProfile: { type: "Unconfined" } } },
    ),
    "restricted",
    Infinity,
    'seccompProfile: pod must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [
    volume({ hostPath: { path: "/" } }),
    "restricted",
    0,
    'restricted volume types: volume "v" uses restricted volume type "hostPath"',
  ],
  [
    volume({ nfs: { server: "s", path: "/" } }),
    "restricted",
    Infinity,
    'restricted volume types: volume "v" uses restricted volume type "nfs"',
  ],
  [volume({ projected: { sources: [] } }), "restricted", 0, undefined],
  // Windows pods can't set these.
  [
    pod({ runAsNonRoot: true }, { os: { name: "windows" } }),
    "restricted",
    25,
    undefined,
  ],
];

it.each(
  rows.map(([of, level, minor, violation]) => ({
    of,
    level,
    minor,
    violation,
  })),
)("$level 1.$minor: $violation", ({ of, level, minor, violation }) => {
  expect(
    podViolations(of, level, minor).map(
      ({ reason, detail }) => `${reason}: ${detail}`,
    ),
  ).toEqual(violation === undefined ? [] : [violation]);
});

it("looks at init and ephemeral containers as well", () => {
  const container = {
    name: "x",
    image: "i",
    securityContext: { privileged: true },
  };
  for (const field of ["initContainers", "ephemeralContainers"])
    expect(
      podViolations(pod({}, { [field]: [container] }), "baseline"),
    ).toEqual([
      {
        reason: "privileged",
        detail: 'container "x" must not set securityContext.privileged=true',
      },
    ]);
});

const prefix = "pod-security.kubernetes.io/";
const labelled = (labels: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(labels).map(([key, value]) => [prefix + key, value]),
  );

it.each<[Record<string, string>, string]>([
  [{}, "privileged:latest privileged:latest privileged:latest"],
  [
    { enforce: "baseline" },
    "baseline:latest privileged:latest baseline:latest",
  ],
  [
    { enforce: "baseline", "enforce-version": "v1.25" },
    "baseline:v1.25 privileged:latest baseline:v1.25",
  ],
  [
    { enforce: "baseline", warn: "privileged" },
    "baseline:latest privileged:latest privileged:latest",
  ],
  [
    { enforce: "baseline", "enforce-version": "v1.25", warn: "restricted" },
    "baseline:v1.25 privileged:latest restricted:latest",
  ],
  [
    { audit: "restricted", "audit-version": "v1.0" },
    "privileged:latest restricted:v1.0 privileged:latest",
  ],
  // What can't be read is enforced at its strictest, and not told of.
  [
    { enforce: "strict", "enforce-version": "1.25", audit: "x", warn: "x" },
    "restricted:latest privileged:latest privileged:latest",
  ],
])("%j makes the policy %s", (labels, expected) => {
  const { enforce, audit, warn } = policyOf(labelled(labels), privilegedPolicy);
  expect([enforce, audit, warn].map(shownLevel).join(" ")).toBe(expected);
});

describe("requests", () => {
  function ask(
    options: Parameters<typeof createPodSecurity>[0],
    more: object = {},
    labels = labelled({ enforce: "baseline" }),
  ) {
    const object = pod({ privileged: true }, { runtimeClassName: "vm" });
    return () =>
      createPodSecurity(options).validate!(
        {
          operation: "CREATE",
          resource: { group: "", version: "v1", resource: "pods" },
          kind: { group: "", version: "v1", kind: "Pod" },
          subresource: "",
          namespace: "ns",
          name: "p",
          user: { name: "ann", groups: [], extra: {} },
          dryRun: false,
          options: {},
          object: object as unknown as AnyObject,
          oldObject: undefined,
          ...firstRound(),
          ...more,
        },
        {
          read: () => ({ metadata: { name: "ns", labels } }),
          warn: () => undefined,
          annotate: () => undefined,
        } as unknown as StrategyContext,
      );
  }
  const broken = /violates PodSecurity/;

  it("are exempt by namespace, user and runtime class", () => {
    expect(ask({})).toThrow(broken);
    expect(ask({ exemptions: { namespaces: ["ns"] } })).not.toThrow();
    expect(ask({ exemptions: { usernames: ["ann"] } })).not.toThrow();
    expect(ask({ exemptions: { runtimeClasses: ["vm"] } })).not.toThrow();
    expect(
      ask({
        exemptions: {
          namespaces: ["other"],
          usernames: ["bob"],
          runtimeClasses: ["runc"],
        },
      }),
    ).toThrow(broken);
  });

  it("follow the version of the label", () => {
    const old = labelled({ enforce: "baseline", "enforce-version": "v1.18" });
    const object = pod({ seccompProfile: { type: "Unconfined" } });
    expect(ask({}, { object })).toThrow(/"baseline:latest"/);
    expect(ask({}, { object }, old)).not.toThrow();
  });

  it("that change no image pass, so that older pods can be handled", () => {
    const oldObject = pod({ privileged: true });
    const update = (object: Pod) =>
      ask({}, { operation: "UPDATE", object, oldObject });
    expect(
      update({ ...oldObject, metadata: { name: "p", labels: { a: "b" } } }),
    ).not.toThrow();
    const other = structuredClone(oldObject);
    other.spec.containers[0]!.image = "another";
    expect(update(other)).toThrow(broken);
    const debugged = structuredClone(oldObject);
    debugged.spec.ephemeralContainers = [{ name: "d", image: "i" }] as never;
    expect(update(debugged)).toThrow(broken);
  });

  it("for workloads, templates among them, only warn", () => {
    const resource = { group: "", version: "v1", resource: "podtemplates" };
    const template = pod({ privileged: true });
    expect(ask({}, { resource, object: { template } })).not.toThrow();
  });
});

test("what is allowed, refused, warned about and exempt is counted", () => {
  const metrics = new PodSecurityMetrics();
  const check = (
    object: object,
    labels: Record<string, string>,
    resource = "pods",
    name = "ann",
  ): void => {
    try {
      void createPodSecurity({
        metrics,
        exemptions: { usernames: ["root"] },
      }).validate!(
        {
          operation: "CREATE",
          resource: { group: "", version: "v1", resource },
          kind: { group: "", version: "v1", kind: "X" },
          subresource: "",
          namespace: "ns",
          name: "p",
          user: { name, groups: [], extra: {} },
          dryRun: false,
          options: {},
          object: object as AnyObject,
          oldObject: undefined,
          ...firstRound(),
        },
        {
          read: () => ({ metadata: { labels } }),
          annotate: () => undefined,
          warn: () => undefined,
        } as unknown as StrategyContext,
      );
    } catch {
      // Refused: counted.
    }
  };
  const at = (modes: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(modes).map(([mode, value]) => [
        `pod-security.kubernetes.io/${mode}`,
        value,
      ]),
    );
  const privileged = pod({ privileged: true });
  check(privileged, {});
  check(privileged, at({ enforce: "baseline", "enforce-version": "v1.20" }));
  check(privileged, at({ enforce: "baseline", "enforce-version": "v1.99" }));
  check(privileged, at({ audit: "restricted", warn: "baseline" }));
  check(pod(), at({ enforce: "none" }));
  check({ template: privileged }, at({ enforce: "baseline" }), "podtemplates");
  check(privileged, at({ enforce: "baseline" }), "pods", "root");
  const samples = metricsText(metrics.families())
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) =>
      line
        .replaceAll(/[a-z_]+=/g, "")
        .replaceAll('"', "")
        .replace("pod_security_", ""),
    );
  expect(samples).toEqual([
    "evaluations_total{allow,enforce,privileged,latest,create,pod,} 2",
    "evaluations_total{deny,enforce,baseline,v1.20,create,pod,} 1",
    "evaluations_total{deny,enforce,baseline,future,create,pod,} 1",
    "evaluations_total{deny,audit,restricted,latest,create,pod,} 1",
    "evaluations_total{deny,warn,baseline,latest,create,pod,} 1",
    "evaluations_total{deny,enforce,restricted,latest,create,pod,} 1",
    "evaluations_total{deny,warn,baseline,latest,create,controller,} 1",
    "exemptions_total{create,pod,} 1",
    "errors_total{false,create,pod,} 1",
  ]);
});
