// The plug-ins that run only when they are asked for.
import type { AccessAttributes, UserInfo } from "../../../../api/contracts.ts";
import { ApiError } from "../../../../api/errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Pod, Toleration } from "../../../../api/types/core-v1.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
} from "../../../../apiserver-lite/admission/plugin.ts";
import { createTrustBundleAttest } from "../../../../apiserver-lite/admission/plugins/certificates.ts";
import { createEventRateLimit } from "../../../../apiserver-lite/admission/plugins/event-rate-limit.ts";
import { denyServiceExternalIPs } from "../../../../apiserver-lite/admission/plugins/external-ips.ts";
import {
  createNamespaceAutoProvision,
  namespaceExists,
} from "../../../../apiserver-lite/admission/plugins/namespace-existence.ts";
import { createOwnerPermissionEnforcement } from "../../../../apiserver-lite/admission/plugins/owner-permission.ts";
import { alwaysPullImages } from "../../../../apiserver-lite/admission/plugins/pods/always-pull-images.ts";
import { limitPodHardAntiAffinityTopology } from "../../../../apiserver-lite/admission/plugins/pods/anti-affinity.ts";
import { createImagePolicyWebhook } from "../../../../apiserver-lite/admission/plugins/pods/image-policy.ts";
import { createPodNodeSelector } from "../../../../apiserver-lite/admission/plugins/pods/node-selector.ts";
import {
  createPodTolerationRestriction,
  extendedResourceToleration,
} from "../../../../apiserver-lite/admission/plugins/pods/tolerations.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { WebhookStatusError } from "../../../../client/webhook/call-failure.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";
import { firstRound } from "../../../support/admission-attributes.ts";

const user: UserInfo = { name: "u", groups: [], extra: {} };
let state: FakeState;
let clock: FakeClock;

beforeEach(() => {
  state = new FakeState();
  clock = new FakeClock();
});

function namespace(annotations: Record<string, string> = {}): void {
  state.put("", "namespaces", { metadata: { name: "ns", annotations } });
}

/** Runs both phases, as a request does. */
async function run(
  plugin: AdmissionPlugin,
  object: unknown,
  extra: Partial<AdmissionAttributes> = {},
): Promise<void> {
  const attributes: AdmissionAttributes = {
    operation: "CREATE",
    resource: { group: "", version: "v1", resource: "pods" },
    kind: { group: "", version: "v1", kind: "Pod" },
    subresource: "",
    namespace: "ns",
    name: "p",
    user,
    dryRun: false,
    options: {},
    object: object as AnyObject,
    oldObject: undefined,
    ...firstRound(),
    ...extra,
  };
  const context = {
    user,
    apiVersion: "v1",
    dryRun: false,
    clock,
    read: state.read.bind(state),
    list: state.list.bind(state),
    pauses: () => () => undefined,
    warn: () => undefined,
    annotate: () => undefined,
  } satisfies StrategyContext;
  await plugin.admit?.(attributes, context);
  await plugin.validate?.(attributes, context);
}

const pod = (spec: object = {}): Pod =>
  ({
    metadata: { name: "p", namespace: "ns" },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  }) as unknown as Pod;

const services = { group: "", version: "v1", resource: "services" };

describe("AlwaysPullImages", () => {
  it("sets the policy of every container and image volume", async () => {
    const made = pod({
      initContainers: [{ name: "i", image: "x", imagePullPolicy: "Never" }],
      volumes: [{ name: "v", image: { reference: "r" } }, { name: "w" }],
    });
    await run(alwaysPullImages, made);
    expect(made.spec.initContainers![0]!.imagePullPolicy).toBe("Always");
    expect(made.spec.containers[0]!.imagePullPolicy).toBe("Always");
    expect(made.spec.volumes![0]!.image!.pullPolicy).toBe("Always");
  });
  it("leaves an update without new images alone", async () => {
    const made = pod();
    await run(alwaysPullImages, made, {
      operation: "UPDATE",
      oldObject: pod() as unknown as AnyObject,
    });
    expect(made.spec.containers[0]!.imagePullPolicy).toBeUndefined();
  });
  it("refuses what was changed behind it", () => {
    const made = pod() as unknown as AnyObject;
    const attributes = {
      operation: "CREATE",
      resource: { group: "", version: "v1", resource: "pods" },
      subresource: "",
      name: "p",
      object: made,
    } as unknown as AdmissionAttributes;
    expect(() => {
      void alwaysPullImages.validate!(attributes, {} as StrategyContext);
    }).toThrow(
      'pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: "": supported values: "Always"',
    );
  });
});

it("LimitPodHardAntiAffinityTopology allows host names only", async () => {
  const term = (topologyKey: string): Pod =>
    pod({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }],
        },
      },
    });
  const plugin = limitPodHardAntiAffinityTopology;
  await run(plugin, term("kubernetes.io/hostname"));
  await expect(run(plugin, term("zone"))).rejects.toThrow(
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
  );
});

describe("PodNodeSelector", () => {
  const key = "scheduler.alpha.kubernetes.io/node-selector";
  it("merges the namespace's selector", async () => {
    namespace({ [key]: "a=b, c = d" });
    const made = pod({ nodeSelector: { x: "y" } });
    await run(createPodNodeSelector(), made);
    expect(made.spec.nodeSelector).toEqual({ a: "b", c: "d", x: "y" });
  });
  it("uses the cluster's default where the namespace says nothing", async () => {
    namespace();
    const made = pod();
    await run(
      createPodNodeSelector({ clusterDefaultNodeSelector: "a=b" }),
      made,
    );
    expect(made.spec.nodeSelector).toEqual({ a: "b" });
  });
  it.each([
    ["a=b", {}, { a: "c" }, /conflicts with its namespace node label selector/],
    ["", { ns: "a=b" }, { z: "1" }, /conflict with its namespace whitelist/],
    ["a", {}, {}, /^invalid selector: \[a\]$/],
    ["a=b=c", {}, {}, /^invalid selector: \[a b c\]$/],
    ["a=-", {}, {}, /^\[a\]: Invalid value: "-"/],
    ["-=a", {}, {}, /^<nil>: Invalid value: "-"/],
  ])("refuses: %s with %j", async (text, selectors, nodeSelector, message) => {
    namespace({ [key]: text });
    await expect(
      run(
        createPodNodeSelector(selectors as Record<string, string>),
        pod({ nodeSelector }),
      ),
    ).rejects.toThrow(message);
  });
});

describe("PodTolerationRestriction", () => {
  const defaults = "scheduler.alpha.kubernetes.io/defaultTolerations";
  const allowed = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";
  const exists = (key: string): Toleration => ({
    key,
    operator: "Exists",
    effect: "NoSchedule",
  });
  it("adds the namespace's tolerations and that of memory pressure", async () => {
    namespace({ [defaults]: JSON.stringify([exists("a")]) });
    const made = pod({
      tolerations: [
        { key: "a", operator: "Equal", value: "1", effect: "NoSchedule" },
      ],
      containers: [{ name: "c", resources: { requests: { cpu: "1" } } }],
    });
    await run(createPodTolerationRestriction(), made);
    expect(made.spec.tolerations).toEqual([
      exists("a"),
      exists("node.kubernetes.io/memory-pressure"),
    ]);
  });
  it("keeps to the list of the namespace, then of the cluster", async () => {
    namespace({ [allowed]: JSON.stringify([exists("a")]) });
    const made = (): Pod => pod({ tolerations: [exists("b")] });
    await expect(run(createPodTolerationRestriction(), made())).rejects.toThrow(
      "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist",
    );
    namespace();
    await run(createPodTolerationRestriction(), made());
    await expect(
      run(createPodTolerationRestriction({ whitelist: [exists("a")] }), made()),
    ).rejects.toThrow("conflict with its cluster whitelist");
  });
  it.each(["{", "{}", "[1]", '[{"key":1}]'])(
    "fails on the annotation %s",
    async (text) => {
      namespace({ [defaults]: text });
      await expect(
        run(createPodTolerationRestriction(), pod()),
      ).rejects.toBeInstanceOf(ApiError);
    },
  );
});

it("ExtendedResourceToleration tolerates what is kept for devices", async () => {
  const made = pod({
    containers: [
      {
        name: "c",
        resources: {
          requests: { "b.io/x": "1", "a.io/x": "1", cpu: "1" },
        },
      },
    ],
  });
  await run(extendedResourceToleration, made);
  await run(extendedResourceToleration, made);
  expect(made.spec.tolerations).toEqual(
    ["a.io/x", "b.io/x"].map((key) => ({
      key,
      operator: "Exists",
      effect: "NoSchedule",
    })),
  );
});

it("DenyServiceExternalIPs refuses new addresses only", async () => {
  const service = (...externalIPs: string[]): AnyObject => ({
    metadata: { name: "s" },
    spec: { externalIPs },
  });
  const at = { resource: services, name: "s" };
  await run(denyServiceExternalIPs, service(), at);
  await run(denyServiceExternalIPs, service("1.1.1.1"), {
    ...at,
    operation: "UPDATE",
    oldObject: service("1.1.1.1", "2.2.2.2"),
  });
  await expect(
    run(denyServiceExternalIPs, service("1.1.1.1"), at),
  ).rejects.toThrow(
    'services "s" is forbidden: Use of external IPs is denied by admission control',
  );
});

it("EventRateLimit counts by key and refills with time", async () => {
  const plugin = createEventRateLimit([
    { type: "Namespace", qps: 1, burst: 2 },
    { type: "SourceAndObject", qps: 1, burst: 1, cacheSize: 1 },
  ]);
  const event = (name: string, namespace = "ns"): Promise<void> =>
    run(
      plugin,
      { metadata: { name }, involvedObject: { name }, source: {} },
      {
        resource: { group: "", version: "v1", resource: "events" },
        kind: { group: "", version: "v1", kind: "Event" },
        namespace,
      },
    );
  await event("a");
  await expect(event("a")).rejects.toMatchObject({
    status: {
      code: 429,
      reason: "TooManyRequests",
      message:
        "Too many requests: limit reached on type SourceAndObject for key a",
    },
  });
  await expect(event("a")).rejects.toThrow(
    "Too many requests: [limit reached on type Namespace for key ns, limit reached on type SourceAndObject for key a]",
  );
  await event("b", "other");
  await clock.advance(1000);
  await event("a");
});

describe("namespaces", () => {
  it("are made for the first object, and not in a dry run", async () => {
    const made: string[] = [];
    const plugin = createNamespaceAutoProvision((name) => {
      made.push(name);
      return Promise.resolve();
    });
    await run(plugin, pod(), { dryRun: true });
    await run(plugin, pod(), { namespace: "" });
    await run(plugin, pod(), { operation: "UPDATE" });
    expect(made).toEqual([]);
    await run(plugin, pod());
    namespace();
    await run(plugin, pod());
    expect(made).toEqual(["ns"]);
  });
  it("that can't be made refuse the object", async () => {
    const plugin = createNamespaceAutoProvision(() =>
      Promise.reject(new Error("not yet ready to handle request")),
    );
    await expect(run(plugin, pod())).rejects.toThrow(
      'pods "p" is forbidden: not yet ready to handle request',
    );
  });
  it("have to be there for every write", async () => {
    await run(namespaceExists, undefined, { operation: "CONNECT" });
    await expect(
      run(namespaceExists, undefined, { operation: "DELETE" }),
    ).rejects.toThrow('namespaces "ns" not found');
    namespace();
    await run(namespaceExists, undefined, { operation: "DELETE" });
  });
});

describe("OwnerReferencesPermissionEnforcement", () => {
  const owned = (...refs: object[]): AnyObject => ({
    metadata: { name: "p", ownerReferences: refs as never },
  });
  const ref = (uid: string, blockOwnerDeletion?: boolean): object => ({
    ...{ apiVersion: "apps/v1", kind: "ReplicaSet", name: `n-${uid}`, uid },
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  });
  const withRights = (
    ...rights: string[]
  ): { plugin: AdmissionPlugin; asked: AccessAttributes[] } => {
    const asked: AccessAttributes[] = [];
    const plugin = createOwnerPermissionEnforcement(
      {
        authorize(access) {
          asked.push(access);
          const wanted = `${access.verb} ${access.resource}/${access.subresource}`;
          return rights.includes(wanted)
            ? { decision: "allow", reason: "" }
            : { decision: "no-opinion", reason: "why" };
        },
      },
      (apiVersion) =>
        apiVersion === "apps/v1"
          ? [
              {
                ...{ group: "apps", version: "v1", resource: "replicasets" },
                namespaced: true,
              },
            ]
          : [],
    );
    return { plugin, asked };
  };
  it("lets a create set owners, and asks before an update does", async () => {
    const { plugin } = withRights();
    await run(plugin, owned(ref("1")));
    const update = { operation: "UPDATE", oldObject: owned() } as const;
    await expect(run(plugin, owned(ref("1")), update)).rejects.toThrow(
      "cannot set an ownerRef on a resource you can't delete: why, <nil>",
    );
    await run(withRights("delete pods/").plugin, owned(ref("1")), update);
    await run(plugin, owned(ref("1")), { ...update, subresource: "status" });
  });
  it("asks for the finalizers of owners that would have to wait", async () => {
    const { plugin, asked } = withRights();
    await expect(run(plugin, owned(ref("1", true)))).rejects.toThrow(
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: why, <nil>",
    );
    expect(asked.at(-1)).toMatchObject({
      ...{ verb: "update", group: "apps", resource: "replicasets" },
      ...{ subresource: "finalizers", name: "n-1", namespace: "ns" },
    });
    await run(
      withRights("update replicasets/finalizers").plugin,
      owned(ref("1", true)),
    );
    await run(withRights("update */finalizers").plugin, owned(ref("1", true)));
  });
  it("refuses an owner of an unknown kind", async () => {
    const unknown = { ...ref("1", true), apiVersion: "x.io/v1" };
    await expect(run(withRights().plugin, owned(unknown))).rejects.toThrow(
      'cannot find RESTMapping for APIVersion x.io/v1 Kind ReplicaSet: no matches for kind "ReplicaSet" in version "x.io/v1"',
    );
  });
});

it("ClusterTrustBundleAttest asks who may attest for a signer", async () => {
  const plugin = createTrustBundleAttest({
    authorize: ({ verb, name }) => ({
      decision:
        verb === "attest" && name === "good.io/*" ? "allow" : "no-opinion",
      reason: "",
    }),
  });
  const at = {
    resource: {
      ...{ group: "certificates.k8s.io", version: "v1alpha1" },
      resource: "clustertrustbundles",
    },
    name: "b",
  };
  const bundle = (signerName: string): AnyObject => ({
    metadata: { name: "b" },
    spec: { signerName },
  });
  await run(plugin, bundle(""), at);
  await run(plugin, bundle("good.io/x"), at);
  await expect(run(plugin, bundle("bad.io/x"), at)).rejects.toThrow(
    'clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "bad.io/x"',
  );
});

describe("ImagePolicyWebhook", () => {
  const answers: (string | Error)[] = [];
  const asked: string[] = [];
  const options = {
    post: (body: string): Promise<string> => {
      asked.push(body);
      const answer = answers.shift() ?? new Error("connection refused");
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer);
    },
    ...{ allowTtlMs: 1000, denyTtlMs: 0, retryBackoffMs: 1 },
    defaultAllow: false,
  };
  const answer = (status: object): string =>
    JSON.stringify({ kind: "ImageReview", status });
  beforeEach(() => {
    answers.length = 0;
    asked.length = 0;
  });

  it("sends the images and what the pod says to the webhook, once", async () => {
    const plugin = createImagePolicyWebhook(options);
    answers.push(answer({ allowed: true }));
    const made = pod({ initContainers: [{ name: "i", image: "x" }] });
    made.metadata.annotations = { a: "b", "my.image-policy.k8s.io/t": "1" };
    await run(plugin, made);
    await run(plugin, made);
    expect(
      asked.map((body) => (JSON.parse(body) as { spec: unknown }).spec),
    ).toEqual([
      {
        containers: [{ image: "i" }, { image: "x" }],
        annotations: { "my.image-policy.k8s.io/t": "1" },
        namespace: "ns",
      },
    ]);
  });
  it.each([
    [
      answer({ allowed: false }),
      "one or more images rejected by webhook backend",
    ],
    [
      answer({ allowed: false, reason: "no" }),
      "image policy webhook backend denied one or more images: no",
    ],
    [answer({}), "one or more images rejected by webhook backend"],
    ["{}", "the webhook's answer is no ImageReview"],
    ["nonsense", "JSON"],
    [new Error("connection refused"), "connection refused"],
  ])("refuses at %s", async (given, message) => {
    answers.push(given);
    await expect(run(createImagePolicyWebhook(options), pod())).rejects.toThrow(
      message,
    );
  });
  it("lets pass and marks where it is to", async () => {
    const made = pod();
    await run(
      createImagePolicyWebhook({ ...options, defaultAllow: true }),
      made,
    );
    expect(made.metadata.annotations).toEqual({
      "alpha.image-policy.k8s.io/failed-open": "true",
    });
  });
  it("asks again after an answer that may pass", async () => {
    const busy = new WebhookStatusError({
      code: 429,
      message: "busy",
      reason: "",
    });
    answers.push(busy, answer({ allowed: true }));
    const running = run(createImagePolicyWebhook(options), pod());
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(2);
    await running;
    expect(asked).toHaveLength(2);
  });
});
