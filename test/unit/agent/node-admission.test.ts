// The node agent's last word on pods bound to it: reasons and messages, and what counts as used.
import { metricsText } from "../../../api/metrics/family.ts";
import { NodeAdmission } from "../../../agent/node/node-admission.ts";
import { configSourceAnnotation } from "../../../agent/pods/shape/labels.ts";
import type { Node, Pod, PodSpec } from "../../../api/types/core-v1.ts";
import type { NodePressure } from "../../../eviction/pressure-state.ts";

const calm: NodePressure = { memory: false, disk: false, pid: false };
const node: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n", labels: { zone: "a" } },
  spec: { taints: [{ key: "gone", effect: "NoExecute" }] },
  status: { allocatable: { cpu: "2", memory: "1Gi", pods: "3" } },
};
const tolerations = [{ key: "gone", operator: "Exists" }];

let counter = 0;
function pod(
  cpu: string | undefined,
  spec: Partial<PodSpec> = {},
  isStatic = false,
): Pod {
  const name = `p${counter++}`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      uid: name,
      ...(isStatic
        ? { annotations: { [configSourceAnnotation]: "file" } }
        : {}),
    },
    spec: {
      nodeName: "n",
      tolerations,
      containers: [
        {
          name: "c",
          image: "i",
          ...(cpu ? { resources: { requests: { cpu } } } : {}),
        },
      ],
      ...spec,
    },
  };
}

const withPort = (hostPort: number, hostIP?: string): Partial<PodSpec> => ({
  containers: [
    {
      name: "c",
      image: "i",
      ports: [
        {
          containerPort: 80,
          hostPort,
          protocol: "TCP",
          ...(hostIP ? { hostIP } : {}),
        },
      ],
    },
  ],
});

function admission(
  pressure: NodePressure = calm,
  seen: Node | undefined = node,
  options: { hasAppArmor?: boolean; shuttingDown?: boolean } = {},
): { admit: (p: Pod) => string | undefined; made: NodeAdmission; pods: Pod[] } {
  const pods: Pod[] = [];
  const made = new NodeAdmission({
    nodeName: "n",
    node: () => seen,
    pressure: () => pressure,
    shuttingDown: () => options.shuttingDown ?? false,
    hasAppArmor: options.hasAppArmor ?? false,
    keepsGroupsPolicy: () => options.hasAppArmor ?? false,
    heldDevices: () => new Map([["example.com/held", 2]]),
  });
  return {
    made,
    pods,
    admit(p) {
      pods.push(p);
      const answer = made.admit(p, pods);
      if (!answer) return undefined;
      if ("holdMs" in answer) return `hold ${answer.holdMs}`;
      return "preempt" in answer
        ? `preempt ${answer.preempt.map(({ metadata }) => metadata.name).join()}`
        : `${answer.reason}: ${answer.message}`;
    },
  };
}

test("cpu is counted over all pods, and given back", () => {
  const { admit, made } = admission();
  const first = pod("1500m");
  expect(admit(first)).toBeUndefined();
  const refused =
    "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000";
  expect(admit(pod("1"))).toBe(refused);
  // A refused pod counts nothing, an admitted one is not asked about again.
  expect(admit(pod("500m"))).toBeUndefined();
  expect(made.admit(first, [])).toBeUndefined();
  made.release(first.metadata.uid!);
  expect(admit(pod("1"))).toBeUndefined();
});

test("of several things that are missing the first is the reason, pods before cpu before memory", () => {
  const { admit } = admission();
  const much = (spec: Record<string, string>): Partial<PodSpec> => ({
    containers: [{ name: "c", image: "i", resources: { requests: spec } }],
  });
  expect(admit(pod(undefined, much({ memory: "2Gi", cpu: "3" })))).toMatch(
    /^OutOfcpu/,
  );
  for (let i = 0; i < 3; i++) expect(admit(pod(undefined))).toBeUndefined();
  expect(admit(pod(undefined, much({ memory: "2Gi", cpu: "3" })))).toMatch(
    /^OutOfpods/,
  );
});

test("the number of pods", () => {
  const { admit } = admission();
  for (let i = 0; i < 3; i++) expect(admit(pod(undefined))).toBeUndefined();
  expect(admit(pod(undefined))).toMatch(
    /^OutOfpods: .*requested: 1, used: 3, capacity: 3$/,
  );
});

test("what ran before counts; less important pods end for a static one", () => {
  const { admit, made, pods } = admission();
  const running = pod("2");
  pods.push(running);
  made.adopt([running.metadata.uid!]);
  expect(admit(pod("1"))).toMatch(/^OutOfcpu/);
  expect(metricsText(made.families())).not.toContain("kubelet_preemptions{");
  expect(admit(pod("1", {}, true))).toBe(`preempt ${running.metadata.name}`);
  expect(metricsText(made.families())).toContain(
    'kubelet_preemptions{preemption_signal="cpu"} 1\n',
  );
  // It counts from now on, though the other one has not ended yet.
  made.release(running.metadata.uid!);
  pods.splice(pods.indexOf(running), 1);
  expect(admit(pod("1500m"))).toMatch(/used: 1000/);
  expect(admit(pod("1"))).toBeUndefined();
});

test("where less important pods free too little a critical pod is refused, and nobody ends", () => {
  const { admit } = admission();
  expect(admit(pod("1500m", { priority: 2_000_000_000 }))).toBeUndefined();
  expect(admit(pod("100m"))).toBeUndefined();
  expect(admit(pod("1", { priority: 2_000_001_000 }))).toMatch(
    /^preempt p\d+$/,
  );
  expect(admit(pod("2", {}, true))).toMatch(
    /^UnexpectedAdmissionError: Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: \[\(res: cpu, q: \d+\), \]$/,
  );
});

test("nobody ends for a critical pod that could not run for another reason", () => {
  const { admit } = admission();
  expect(admit(pod("2"))).toBeUndefined();
  expect(
    admit(pod("1", { priority: 2e9, nodeSelector: { zone: "b" } })),
  ).toMatch(/^NodeAffinity/);
  const confined = pod("1", {
    priority: 2e9,
    securityContext: { appArmorProfile: { type: "RuntimeDefault" } },
  });
  expect(admit(confined)).toMatch(/^AppArmor/);
});

test("AppArmor profiles where the kernel has none, and without a name", () => {
  const refused =
    "AppArmor: Pod was rejected: Cannot enforce AppArmor: AppArmor is not enabled on the host";
  const withProfile = (type: string, localhostProfile?: string): Pod =>
    pod(undefined, {
      containers: [
        {
          name: "c",
          image: "i",
          securityContext: {
            appArmorProfile: {
              type,
              ...(localhostProfile === undefined ? {} : { localhostProfile }),
            },
          },
        },
      ],
    });
  const annotated = (value: string): Pod => {
    const made = pod(undefined);
    made.metadata.annotations = {
      "container.apparmor.security.beta.kubernetes.io/c": value,
    };
    return made;
  };
  const without = admission();
  expect(without.admit(withProfile("RuntimeDefault"))).toBe(refused);
  expect(without.admit(annotated("localhost/x"))).toBe(refused);
  expect(without.admit(withProfile("Unconfined"))).toBeUndefined();
  expect(without.admit(annotated("unconfined"))).toBeUndefined();
  const having = admission(calm, node, { hasAppArmor: true });
  expect(having.admit(withProfile("RuntimeDefault"))).toBeUndefined();
  expect(having.admit(withProfile("Localhost", " "))).toMatch(
    /invalid empty AppArmor profile name$/,
  );
});

test("a strict policy for groups on a runtime that merges them", () => {
  const strict = pod(undefined, {
    securityContext: { supplementalGroupsPolicy: "Strict" },
  });
  expect(admission().admit(strict)).toBe(
    "SupplementalGroupsPolicyNotSupported: Pod was rejected: SupplementalGroupsPolicy=Strict is not supported in this node",
  );
  const having = admission(calm, node, { hasAppArmor: true });
  expect(having.admit(strict)).toBeUndefined();
});

test("a pod that is resized needs room for what it asks for now; its own does not count", () => {
  const { admit, made, pods } = admission();
  const one = pod("500m");
  admit(one);
  admit(pod("1"));
  const resized = (cpu: string): Pod => ({ ...one, spec: pod(cpu).spec });
  expect(made.fits(resized("1"), pods)).toBeUndefined();
  expect(made.fits(resized("1100m"), pods)?.message).toBe(
    "Node didn't have enough resource: cpu, requested: 1100, used: 1000, capacity: 2000",
  );
  const critical = { ...resized("1100m") };
  critical.spec.priority = 2e9;
  expect(made.fits(critical, pods)?.reason).toBe("OutOfcpu");
});

test.each<[string, Pod, string | undefined]>([
  ["another node's pod", pod(undefined, { nodeName: "m" }), "NodeName"],
  [
    "a node selector",
    pod(undefined, { nodeSelector: { zone: "b" } }),
    "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ],
  [
    "a fitting selector",
    pod(undefined, { nodeSelector: { zone: "a" } }),
    undefined,
  ],
  [
    "a NoExecute taint",
    pod(undefined, { tolerations: [] }),
    "TaintToleration: Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  ],
  [
    "a static pod with that taint",
    pod(undefined, { tolerations: [] }, true),
    undefined,
  ],
  [
    "an unknown device",
    pod(undefined, {
      containers: [
        { name: "c", image: "i", resources: { requests: { "x.io/gpu": "1" } } },
      ],
    }),
    undefined,
  ],
])("%s", (_what, subject, wanted) => {
  const found = admission().admit(subject);
  if (wanted === undefined) expect(found).toBeUndefined();
  else expect(found?.startsWith(wanted)).toBe(true);
});

test("host ports: any address collides with each", () => {
  const { admit } = admission();
  expect(admit(pod(undefined, withPort(80, "127.0.0.1")))).toBeUndefined();
  expect(admit(pod(undefined, withPort(80, "127.0.0.2")))).toBeUndefined();
  expect(admit(pod(undefined, withPort(80)))).toMatch(/^NodePorts: /);
  expect(admit(pod(undefined, withPort(81)))).toBeUndefined();
});

test("under pressure", () => {
  const memory = admission({ ...calm, memory: true });
  expect(memory.admit(pod("1"))).toBeUndefined();
  expect(memory.admit(pod(undefined))).toBe(
    "Evicted: Pod was rejected: The node had condition: [MemoryPressure]. ",
  );
  expect(memory.admit(pod(undefined, {}, true))).toBeUndefined();
  const disk = admission({ ...calm, disk: true });
  expect(disk.admit(pod("1"))).toMatch(/DiskPressure/);
});

test("a node that shuts down takes no pods, but keeps those it admitted", () => {
  const options = { shuttingDown: false };
  const { admit, made } = admission(calm, node, options);
  const running = pod("1");
  expect(admit(running)).toBeUndefined();
  options.shuttingDown = true;
  expect(admit(pod("1"))).toBe(
    "NodeShutdown: Pod was rejected: Pod was rejected as the node is shutting down.",
  );
  expect(made.admit(running, [])).toBeUndefined();
});

test("without a node object only what is known counts", () => {
  const made = new NodeAdmission({
    nodeName: "n",
    node: () => undefined,
    pressure: () => calm,
    shuttingDown: () => false,
    hasAppArmor: false,
    keepsGroupsPolicy: () => false,
    heldDevices: () => new Map(),
  });
  expect(made.admit(pod("64"), [])).toBeUndefined();
});

test("pods of another operating system", () => {
  const { admit } = admission();
  expect(admit(pod(undefined, { os: { name: "linux" } }))).toBeUndefined();
  expect(admit(pod(undefined, { os: { name: "windows" } }))).toBe(
    "PodOSNotSupported: Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
  );
  const labelled = pod(undefined);
  labelled.metadata.labels = { "kubernetes.io/os": "windows" };
  expect(admit(labelled)).toBe(
    "PodOSSelectorNodeLabelDoesNotMatch: Pod was rejected: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
  );
});

test("devices that containers hold count as allocatable when their plug-in is gone", () => {
  const withDevice = (uid: string, name: string): Pod => ({
    ...pod(uid),
    spec: {
      ...pod(uid).spec,
      containers: [
        {
          name: "c",
          image: "i",
          resources: { requests: { [name]: "1" }, limits: { [name]: "1" } },
        },
      ],
    },
  });
  const gone: Node = {
    ...node,
    status: {
      ...node.status,
      allocatable: {
        ...node.status?.allocatable,
        "example.com/held": "0",
        "example.com/none": "0",
      },
    },
  };
  const { admit } = admission(calm, gone);
  expect(admit(withDevice("1", "example.com/held"))).toBeUndefined();
  expect(admit(withDevice("2", "example.com/none"))).toMatch(
    /^OutOfexample.com\/none: .*requested: 1, used: 0, capacity: 0$/,
  );
});

test("a pod whose workload was refused for pressure too often is held, until the pressure is over", () => {
  let pressure = true;
  let holdMs = 0;
  const node = new NodeAdmission({
    nodeName: "n",
    node: () => undefined,
    pressure: () => ({ memory: false, disk: pressure, pid: false }),
    pressureBackOff: { hold: () => holdMs },
    shuttingDown: () => false,
    hasAppArmor: false,
    keepsGroupsPolicy: () => false,
    heldDevices: () => new Map(),
  });
  const subject = pod("1");
  expect(node.admit(subject, [])).toMatchObject({ reason: "Evicted" });
  holdMs = 5000;
  expect(node.admit(subject, [])).toEqual({ holdMs: 5000 });
  pressure = false;
  expect(node.admit(subject, [])).toBeUndefined();
});
