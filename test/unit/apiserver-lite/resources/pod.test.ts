import type { ApiError } from "../../../../api/errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type {
  Affinity,
  Pod,
  PodStatus,
} from "../../../../api/types/core-v1.ts";
import { withDefaults } from "./strategy-context.ts";
import { createPodStrategy } from "../../../../apiserver-lite/resources/core/pod/pod.ts";
import { podSubresources } from "../../../../apiserver-lite/resources/core/pod/pod-subresources.ts";
import { strategyContext } from "./strategy-context.ts";

const podStrategy = createPodStrategy();

function pod(change: (pod: Pod) => void = () => undefined): AnyObject {
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", uid: "u" },
    spec: { containers: [{ name: "c", image: "busybox" }] },
  } as unknown as Pod;
  change(object);
  return withDefaults(object as unknown as AnyObject);
}

const context = strategyContext();
const problems = (object: AnyObject): string[] =>
  podStrategy.validate!(object, context).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );

test("a plain pod is good", () => expect(problems(pod())).toEqual([]));

const container = (extra: object) => (object: Pod) =>
  Object.assign(object.spec.containers[0]!, extra);

test.each<[string, (pod: Pod) => void, string]>([
  [
    "no containers",
    (p) => (p.spec.containers = []),
    "spec.containers: Required value",
  ],
  [
    "no image",
    container({ image: "" }),
    "spec.containers[0].image: Required value",
  ],
  [
    "spaces",
    container({ image: " a" }),
    'spec.containers[0].image: Invalid value: " a": must not have leading or trailing whitespace',
  ],
  [
    "twice the same",
    (p) => p.spec.containers.push({ ...p.spec.containers[0]! }),
    'spec.containers[1].name: Duplicate value: "c"',
  ],
  [
    "port",
    container({ ports: [{ containerPort: 70000 }] }),
    "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
  ],
  [
    "protocol",
    container({ ports: [{ containerPort: 1, protocol: "X" }] }),
    'spec.containers[0].ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
  ],
  [
    "mount",
    container({ volumeMounts: [{ name: "v", mountPath: "/v" }] }),
    'spec.containers[0].volumeMounts[0].name: Not found: "v"',
  ],
  [
    "requests over limits",
    container({ resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
    'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  ],
  [
    "quantity",
    container({ resources: { limits: { cpu: "-1" } } }),
    'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    "pull policy",
    container({ imagePullPolicy: "Now" }),
    'spec.containers[0].imagePullPolicy: Unsupported value: "Now": supported values: "Always", "IfNotPresent", "Never"',
  ],
  [
    "probe",
    container({ livenessProbe: {} }),
    "spec.containers[0].livenessProbe: Required value: must specify a handler type",
  ],
  [
    "success",
    container({
      livenessProbe: { exec: { command: ["x"] }, successThreshold: 2 },
    }),
    "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
  ],
  [
    "env source",
    container({
      env: [
        {
          name: "A",
          value: "x",
          valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
        },
      ],
    }),
    'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
  ],
  [
    "restart policy",
    (p) => (p.spec.restartPolicy = "Maybe"),
    'spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
  ],
  [
    "two volume types",
    (p) =>
      (p.spec.volumes = [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }]),
    "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
  ],
  [
    "probe on init",
    (p) =>
      (p.spec.initContainers = [
        { name: "i", image: "x", livenessProbe: { exec: { command: ["x"] } } },
      ]),
    "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
  ],
  [
    "host port twice",
    container({
      ports: [
        { containerPort: 1, hostPort: 8 },
        { containerPort: 2, hostPort: 8 },
      ],
    }),
    'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//8"',
  ],
  [
    "deadline",
    (p) => (p.spec.activeDeadlineSeconds = -1),
    "spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive",
  ],
])("%s", (_, change, expected) =>
  expect(problems(pod(change))).toContain(expected),
);

test("creation sets status", async () => {
  const object = pod((p) => (p.spec.schedulingGates = [{ name: "a.b/c" }]));
  object.status = { phase: "Running" };
  await podStrategy.prepareForCreate!(object, context);
  expect(object.status).toMatchObject({
    phase: "Pending",
    qosClass: "BestEffort",
    conditions: [{ reason: "SchedulingGated" }],
  });
});

describe("updates", () => {
  const update = (change: (pod: Pod) => void, old = pod()): string[] =>
    podStrategy.validateUpdate!(pod(change), old, context).map(
      ({ field, detail }) => `${field}: ${detail.split("\n")[0]}`,
    );
  test("images may change", () =>
    expect(
      update(
        (p) => (p.spec.containers[0]!.image = "other:1"),
        pod((p) => (p.spec.containers[0]!.imagePullPolicy = "Always")),
      ),
    ).toHaveLength(1));
  test("images alone may change", () => {
    const pinned = (image: string) => (p: Pod) =>
      Object.assign(p.spec.containers[0]!, {
        image,
        imagePullPolicy: "Always",
      });
    expect(update(pinned("b"), pod(pinned("a")))).toEqual([]);
  });
  test("other fields may not", () => {
    const [text] = update((p) => (p.spec.nodeName = "n"));
    expect(text).toMatch(
      /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`/,
    );
  });
  test("containers stay", () =>
    expect(
      update((p) => p.spec.containers.push({ name: "d", image: "x" })),
    ).toEqual([
      "spec.containers: Forbidden: pod updates may not add or remove containers",
    ]));
  test("tolerations are added only", () => {
    const tolerant = pod(
      (p) => (p.spec.tolerations = [{ key: "a", operator: "Exists" }]),
    );
    expect(
      update(
        (p) => (p.spec.tolerations = [{ key: "b", operator: "Exists" }]),
        tolerant,
      ),
    ).toEqual([
      "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
    ]);
    expect(
      update(
        (p) =>
          (p.spec.tolerations = [
            { key: "a", operator: "Exists" },
            { key: "b", operator: "Exists" },
          ]),
        tolerant,
      ),
    ).toEqual([]);
  });

  describe("of a pod that a scheduling gate holds back", () => {
    const gated =
      (affinity?: Affinity, gates = [{ name: "a.b/c" }]) =>
      (p: Pod) =>
        Object.assign(p.spec, {
          schedulingGates: gates,
          ...(affinity && { affinity }),
        });
    const nodes = (key: string): Affinity => ({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key, operator: "Exists" }] },
          ],
        },
      },
    });
    const near: Affinity = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } },
        ],
      },
    };
    test.each<[string, Affinity | undefined, Affinity | undefined]>([
      ["without affinity", undefined, undefined],
      ["with affinity to pods", near, near],
      ["gets affinity to nodes", undefined, nodes("a")],
      ["gets it beside affinity to pods", near, { ...near, ...nodes("a") }],
      ["keeps it", nodes("a"), nodes("a")],
    ])("%s, its labels and gates may change", (_, was, now) => {
      const change = (p: Pod): void => {
        gated(now, [])(p);
        p.metadata.labels = { a: "b" };
      };
      expect(update(change, pod(gated(was)))).toEqual([]);
    });
    test.each<[string, Affinity | undefined, Affinity | undefined]>([
      ["get", undefined, near],
      ["lose", near, undefined],
      ["get it with nodes", undefined, { ...near, ...nodes("a") }],
    ])("it may not %s affinity to pods", (_, was, now) =>
      expect(update(gated(now), pod(gated(was)))).toEqual([
        expect.stringMatching(/^spec: Forbidden: pod updates may not change/),
      ]),
    );
  });
});

test.each<[string, Partial<Pod["spec"]>, string, number | undefined, number]>([
  ["not scheduled", { nodeName: "" }, "Pending", 5, 0],
  ["terminal", { nodeName: "n" }, "Succeeded", undefined, 0],
  [
    "default",
    { nodeName: "n", terminationGracePeriodSeconds: 30 },
    "Running",
    undefined,
    30,
  ],
  ["asked", { nodeName: "n" }, "Running", 5, 5],
  ["negative", { nodeName: "n" }, "Running", -3, 1],
])("grace of %s", (_, spec, phase, asked, expected) => {
  const object = pod((p) => Object.assign(p.spec, spec));
  object.status = { phase };
  expect(
    podStrategy.graceSeconds!(
      object,
      asked === undefined ? {} : { gracePeriodSeconds: asked },
    ),
  ).toBe(expected);
});

test("grace is never lengthened", () => {
  const object = pod((p) => (p.spec.nodeName = "n"));
  object.metadata.deletionTimestamp = "2025-01-01T00:00:00Z";
  object.metadata.deletionGracePeriodSeconds = 3;
  expect(podStrategy.graceSeconds!(object, { gracePeriodSeconds: 10 })).toBe(3);
});

describe("subresources", () => {
  function handlerContext(object: AnyObject, stored: AnyObject[] = []) {
    const removed: unknown[] = [];
    return {
      removed,
      ...strategyContext(stored),
      parent: () => Promise.resolve(object),
      mutate: (change: (object: AnyObject) => void) => {
        change(object);
        return Promise.resolve(object);
      },
      mutateStatusOf: (
        _: unknown,
        _namespace: string,
        _name: string,
        change: (object: AnyObject) => void,
      ) =>
        Promise.resolve().then(() => {
          for (const each of stored) change(each);
        }),
      remove: (options: unknown) => {
        removed.push(options);
        return Promise.resolve(object);
      },
    };
  }
  const request = (body: object, verb: "create" | "update" = "create") => ({
    verb,
    namespace: "default",
    name: "p",
    body: body as AnyObject,
    query: new URLSearchParams(),
  });

  test("binding", async () => {
    const object = pod();
    const bound = await podSubresources.binding!.handle(
      request({ metadata: { name: "p" }, target: { kind: "Node", name: "n" } }),
      handlerContext(object),
    );
    expect(bound).toMatchObject({
      kind: "Status",
      status: "Success",
      code: 201,
    });
    expect(object).toMatchObject({
      spec: { nodeName: "n" },
      status: { conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    await expect(
      podSubresources.binding!.handle(
        request({ metadata: { name: "p" }, target: { name: "m" } }),
        handlerContext(object),
      ),
    ).rejects.toMatchObject({
      code: 409,
      message:
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    });
    const check = (body: object): void =>
      podSubresources.binding!.prepareCreated!(
        body as AnyObject,
        request(body),
      );
    const target = { kind: "Pod", name: "" };
    expect(() => check({ metadata: { name: "p" }, target })).toThrow(
      "target.kind",
    );
    expect(() => check({ metadata: { name: "x" } })).toThrow(
      "name in URL does not match name in Binding object",
    );
  });

  test("eviction asks the budget", async () => {
    const object = pod((p) => (p.metadata.labels = { app: "x" }));
    object.status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
    };
    const budget = (allowed: number): AnyObject =>
      ({
        kind: "PodDisruptionBudget",
        metadata: { name: "b", namespace: "default", generation: 1 },
        spec: { selector: { matchLabels: { app: "x" } } },
        status: {
          disruptionsAllowed: allowed,
          observedGeneration: 1,
          desiredHealthy: 1,
          currentHealthy: 1,
        },
      }) as unknown as AnyObject;
    const refused = podSubresources.eviction!.handle(
      request({ metadata: { name: "p" } }),
      handlerContext(object, [budget(0)]),
    );
    await expect(refused).rejects.toMatchObject({
      code: 429,
      message:
        "Cannot evict pod as it would violate the pod's disruption budget.",
    });
    await refused.catch((error: ApiError) =>
      expect(error.status.details?.causes).toEqual([
        {
          reason: "DisruptionBudget",
          message:
            "The disruption budget b needs 1 healthy pods and has 1 currently",
        },
      ]),
    );
    const spent = budget(1);
    const allowed = handlerContext(object, [spent]);
    await podSubresources.eviction!.handle(
      request({
        metadata: { name: "p" },
        deleteOptions: { gracePeriodSeconds: 1 },
      }),
      allowed,
    );
    expect(allowed.removed).toEqual([{ gracePeriodSeconds: 1 }]);
    expect(spent["status"]).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) },
    });
    expect((object.status as PodStatus).conditions).toContainEqual(
      expect.objectContaining({
        type: "DisruptionTarget",
        reason: "EvictionByEvictionAPI",
      }),
    );
  });

  test("ephemeral containers only come", async () => {
    const object = pod();
    const add = {
      spec: {
        ephemeralContainers: [
          {
            name: "e",
            image: "x",
            imagePullPolicy: "Always",
            terminationMessagePolicy: "File",
          },
        ],
      },
    };
    await podSubresources.ephemeralcontainers!.handle(
      request(add, "update"),
      handlerContext(object),
    );
    expect(object).toMatchObject(add);
    await expect(
      podSubresources.ephemeralcontainers!.handle(
        request({ spec: {} }, "update"),
        handlerContext(object),
      ),
    ).rejects.toMatchObject({ code: 422 });
  });
});
