import type { Authorizer, UserInfo } from "../../../../api/contracts.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
} from "../../../../apiserver-lite/admission/plugin.ts";
import {
  OFF_BY_DEFAULT,
  orderedAdmissionPlugins,
} from "../../../../apiserver-lite/admission/plugins/index.ts";
import { systemPriorityClasses } from "../../../../apiserver-lite/admission/plugins/priority.ts";
import {
  alwaysAllow,
  alwaysDeny,
} from "../../../../apiserver-lite/authorization/union-authorizer.ts";
import type { StrategyContext } from "../../../../apiserver-lite/resources/strategy.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";
import { firstRound } from "../../../support/admission-attributes.ts";

const admin: UserInfo = {
  name: "admin",
  groups: ["system:masters"],
  extra: {},
};
const agent: UserInfo = {
  name: "system:node:n1",
  groups: ["system:nodes"],
  extra: {},
};

/** Those that run in a secure cluster without options. */
function builtIn(authorizer: Authorizer): AdmissionPlugin[] {
  const all = orderedAdmissionPlugins({
    authorizer,
    resourcesOf: () => [],
    makeNamespace: () => Promise.resolve(),
  });
  return all.filter(
    ({ name }) => !OFF_BY_DEFAULT.has(name) || name === "NodeRestriction",
  );
}

let state: FakeState;
let warnings: string[];

beforeEach(() => {
  state = new FakeState();
  warnings = [];
  namespace("ns");
  state.put("", "serviceaccounts", {
    metadata: { name: "default", namespace: "ns" },
  });
});

function namespace(
  name: string,
  labels: Record<string, string> = {},
  phase = "Active",
): void {
  state.put("", "namespaces", {
    metadata: { name, labels },
    status: { phase },
  });
}

function attributesOf(
  resource: string,
  object: unknown,
  extra: Partial<AdmissionAttributes> = {},
): AdmissionAttributes {
  const [plural = "", group = ""] = resource.split(/\.(.*)/);
  const { name = "", namespace: inNamespace = "ns" } = ((
    object as AnyObject | undefined
  )?.metadata ?? {}) as {
    name?: string;
    namespace?: string;
  };
  return {
    operation: "CREATE",
    resource: { group, version: "v1", resource: plural },
    kind: { group, version: "v1", kind: "X" },
    subresource: "",
    namespace: inNamespace,
    name,
    user: admin,
    dryRun: false,
    options: {},
    object: object as AnyObject | undefined,
    oldObject: undefined,
    ...firstRound(),
    ...extra,
  };
}

async function admit(
  attributes: AdmissionAttributes,
  clock = new FakeClock(),
): Promise<void> {
  const context: StrategyContext = {
    user: attributes.user,
    apiVersion: "v1",
    dryRun: false,
    clock,
    pauses: () => () => undefined,
    read: (group, resource, inNamespace, name) =>
      state.read(group, resource, inNamespace, name),
    list: (group, resource, inNamespace) =>
      state.list(group, resource, inNamespace),
    warn: (text) => warnings.push(text),
    annotate: () => undefined,
  };
  const plugins = builtIn(alwaysAllow);
  for (const plugin of plugins) await plugin.admit?.(attributes, context);
  for (const plugin of plugins) await plugin.validate?.(attributes, context);
}

function pod(spec: object = {}, metadata: object = {}): Pod {
  return {
    metadata: { name: "p", namespace: "ns", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
  } as unknown as Pod;
}

it("completes a pod as the reference does", async () => {
  const made = pod({ initContainers: [{ name: "i" }] });
  await admit(attributesOf("pods", made));
  const volume = made.spec.volumes![0]!;
  expect(volume.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
  expect(volume.projected).toEqual({
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      {
        configMap: {
          name: "kube-root-ca.crt",
          items: [{ key: "ca.crt", path: "ca.crt" }],
        },
      },
      {
        downwardAPI: {
          items: [
            {
              path: "namespace",
              fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" },
            },
          ],
        },
      },
    ],
  });
  const mount = {
    name: volume.name,
    readOnly: true,
    mountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
  };
  expect(made.spec.containers[0]!.volumeMounts).toEqual([mount]);
  expect(made.spec.initContainers![0]!.volumeMounts).toEqual([mount]);
  expect(made.spec).toMatchObject({
    serviceAccountName: "default",
    priority: 0,
    preemptionPolicy: "PreemptLowerPriority",
    tolerations: [
      {
        key: "node.kubernetes.io/not-ready",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
      {
        key: "node.kubernetes.io/unreachable",
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      },
    ],
  });
});

it("is happy with its own work: a second pass changes nothing", async () => {
  const made = pod();
  await admit(attributesOf("pods", made));
  const once = JSON.stringify(made);
  await admit(attributesOf("pods", made));
  expect(JSON.stringify(made)).toBe(once);
});

it.each<[string, object, object, boolean]>([
  ["by default", {}, {}, true],
  [
    "unless the pod says no",
    { automountServiceAccountToken: false },
    {},
    false,
  ],
  [
    "unless the account says no",
    {},
    { automountServiceAccountToken: false },
    false,
  ],
  [
    "when the pod says yes against its account",
    { automountServiceAccountToken: true },
    { automountServiceAccountToken: false },
    true,
  ],
])("mounts the token %s", async (_, spec, account, mounted) => {
  state.put("", "serviceaccounts", {
    metadata: { name: "default", namespace: "ns" },
    ...account,
  });
  const made = pod(spec);
  await admit(attributesOf("pods", made));
  expect(made.spec.volumes !== undefined).toBe(mounted);
});

it("waits a little for a new namespace's default account", async () => {
  const clock = new FakeClock();
  namespace("new");
  const admitted = admit(
    attributesOf("pods", pod({}, { namespace: "new" }), { namespace: "new" }),
    clock,
  );
  await clock.advanceAsync(300);
  state.put("", "serviceaccounts", {
    metadata: { name: "default", namespace: "new" },
  });
  await clock.advanceAsync(200);
  await admitted;
});

it.each<[string, () => AdmissionAttributes, number, string | RegExp]>([
  [
    "a missing account",
    () => attributesOf("pods", pod({ serviceAccountName: "none" })),
    403,
    'pods "p" is forbidden: error looking up service account ns/none: serviceaccount "none" not found',
  ],
  [
    "a missing namespace",
    () => attributesOf("pods", pod(), { namespace: "none" }),
    404,
    'namespaces "none" not found',
  ],
  [
    "a namespace that goes away",
    () => {
      namespace("ns", {}, "Terminating");
      return attributesOf("configmaps", {
        metadata: { name: "c", namespace: "ns" },
      });
    },
    403,
    'configmaps "c" is forbidden: unable to create new content in namespace ns because it is being terminated',
  ],
  [
    "deleting kube-system",
    () =>
      attributesOf("namespaces", undefined, {
        operation: "DELETE",
        name: "kube-system",
        namespace: "",
      }),
    403,
    'namespaces "kube-system" is forbidden: this namespace may not be deleted',
  ],
  [
    "an unknown priority class",
    () => attributesOf("pods", pod({ priorityClassName: "none" })),
    403,
    'pods "p" is forbidden: no PriorityClass with name none was found',
  ],
  [
    "a priority of one's own",
    () => attributesOf("pods", pod({ priority: 7 })),
    403,
    /must not be provided in pod spec/,
  ],
  [
    "a privileged pod in a baseline namespace",
    () => {
      namespace("ns", { "pod-security.kubernetes.io/enforce": "baseline" });
      return attributesOf(
        "pods",
        pod({
          containers: [{ name: "c", securityContext: { privileged: true } }],
        }),
      );
    },
    403,
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
  ],
  [
    "a plain pod in a restricted namespace",
    () => {
      namespace("ns", { "pod-security.kubernetes.io/enforce": "restricted" });
      return attributesOf("pods", pod());
    },
    403,
    'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    "an agent's plain pod",
    () => attributesOf("pods", pod({ nodeName: "n1" }), { user: agent }),
    403,
    /node "n1" can only create mirror pods/,
  ],
  [
    "an agent's write to another node",
    () =>
      attributesOf(
        "nodes",
        { metadata: { name: "n2" } },
        { user: agent, namespace: "" },
      ),
    403,
    /node "n1" is not allowed to modify node "n2"/,
  ],
  [
    "an agent's forbidden label",
    () =>
      attributesOf(
        "nodes",
        {
          metadata: {
            name: "n1",
            labels: { "node-role.kubernetes.io/control-plane": "", mine: "1" },
          },
        },
        { user: agent, namespace: "" },
      ),
    403,
    /is not allowed to set the following labels: node-role.kubernetes.io\/control-plane$/,
  ],
  [
    "a second default priority class",
    () => {
      state.put("scheduling.k8s.io", "priorityclasses", {
        metadata: { name: "a" },
        globalDefault: true,
        value: 1,
      });
      return attributesOf(
        "priorityclasses.scheduling.k8s.io",
        { metadata: { name: "b" }, globalDefault: true },
        { namespace: "" },
      );
    },
    403,
    /PriorityClass a is already marked as default/,
  ],
  [
    "more than a limit range allows",
    () => {
      state.put("", "limitranges", {
        metadata: { name: "l", namespace: "ns" },
        spec: {
          limits: [
            {
              type: "Container",
              max: { memory: "1Gi" },
              default: { memory: "512Mi" },
            },
          ],
        },
      });
      return attributesOf(
        "pods",
        pod({
          containers: [{ name: "c", resources: { limits: { memory: "2Gi" } } }],
        }),
      );
    },
    403,
    'pods "p" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
  ],
])("refuses %s", async (_, make, code, message) => {
  const error = await admit(make()).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code });
  if (typeof message === "string")
    expect((error as Error).message).toBe(message);
  else expect((error as Error).message).toMatch(message);
});

it("knows the system's priority classes before they are stored", async () => {
  const made = pod({ priorityClassName: "system-node-critical" });
  await admit(attributesOf("pods", made));
  expect(made.spec.priority).toBe(systemPriorityClasses[0]!["value"]);
});

it("gives claims the newest default class, and protection", async () => {
  const storageClass = (
    name: string,
    creationTimestamp: string,
    isDefault = "true",
  ): void =>
    state.put("storage.k8s.io", "storageclasses", {
      metadata: {
        name,
        creationTimestamp,
        annotations: {
          "storageclass.kubernetes.io/is-default-class": isDefault,
        },
      },
    });
  storageClass("old", "2024-01-01T00:00:00Z");
  storageClass("new", "2025-01-01T00:00:00Z");
  storageClass("other", "2026-01-01T00:00:00Z", "false");
  const claim: AnyObject = {
    metadata: { name: "c", namespace: "ns" },
    spec: {},
  };
  await admit(attributesOf("persistentvolumeclaims", claim));
  expect(claim["spec"]).toEqual({ storageClassName: "new" });
  expect(claim.metadata.finalizers).toEqual(["kubernetes.io/pvc-protection"]);
  const none: AnyObject = {
    metadata: { name: "d", namespace: "ns" },
    spec: { storageClassName: "" },
  };
  await admit(attributesOf("persistentvolumeclaims", none));
  expect(none["spec"]).toEqual({ storageClassName: "" });
});

it("taints new nodes", async () => {
  const node: AnyObject = { metadata: { name: "n1" } };
  await admit(attributesOf("nodes", node, { user: agent, namespace: "" }));
  expect(node["spec"]).toEqual({
    taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }],
  });
});

it("asks who may approve and sign", async () => {
  const [approval] = builtIn(alwaysDeny).filter(
    ({ name }) => name === "CertificateApproval",
  );
  const object = {
    metadata: { name: "r" },
    spec: { signerName: "example.com/s" },
  };
  const attributes = attributesOf(
    "certificatesigningrequests.certificates.k8s.io",
    object,
    {
      operation: "UPDATE",
      subresource: "approval",
    },
  );
  await expect(
    approval!.validate!(attributes, {} as StrategyContext),
  ).rejects.toThrow(
    'user not permitted to approve requests with signerName "example.com/s"',
  );
});

it("warns only, where only warnings are asked for", async () => {
  namespace("ns", { "pod-security.kubernetes.io/warn": "restricted" });
  await admit(attributesOf("pods", pod()));
  expect(warnings[0]).toMatch(/^would violate PodSecurity "restricted:latest"/);
});

describe("ResourceQuota", () => {
  const quota = (hard: object, scopes?: string[]): void =>
    state.put("", "resourcequotas", {
      metadata: { name: "q", namespace: "ns" },
      spec: { hard, ...(scopes ? { scopes } : {}) },
    });
  const sized = (name: string, memory: string): Pod =>
    pod(
      { containers: [{ name: "c", resources: { requests: { memory } } }] },
      { name },
    );
  let plugin: AdmissionPlugin;
  // It remembers what is under way.
  beforeEach(() => {
    plugin = builtIn(alwaysAllow).find(({ name }) => name === "ResourceQuota")!;
  });
  const ask = async (resource: string, object: unknown): Promise<void> => {
    await plugin.validate!(attributesOf(resource, object), {
      clock: new FakeClock(),
      read: (group: string, kind: string, inNamespace: string, name: string) =>
        state.read(group, kind, inNamespace, name),
      list: (group: string, kind: string, inNamespace?: string) =>
        state.list(group, kind, inNamespace),
    } as unknown as StrategyContext);
  };

  it("bounds what a namespace takes, counting what is under way", async () => {
    quota({ "requests.memory": "1Gi", pods: "3" });
    state.put("", "pods", sized("old", "512Mi") as unknown as AnyObject);
    state.put("", "pods", {
      ...sized("done", "4Gi"),
      status: { phase: "Succeeded" },
    } as unknown as AnyObject);
    await ask("pods", sized("fits", "256Mi"));
    await expect(ask("pods", sized("late", "512Mi"))).rejects.toThrow(
      'pods "late" is forbidden: exceeded quota: q, requested: requests.memory=512Mi, used: requests.memory=768Mi, limited: requests.memory=1Gi',
    );
  });

  it("charges a resize with what it takes more, once until it is stored", async () => {
    quota({ "requests.memory": "1Gi" });
    const stored = (
      name: string,
      memory: string,
      version: string,
    ): AnyObject => {
      const { metadata, ...rest } = sized(name, memory);
      return {
        ...rest,
        metadata: { ...metadata, resourceVersion: version },
      } as unknown as AnyObject;
    };
    const old = ["a", "b"].map((name) => stored(name, "256Mi", "1"));
    for (const one of old) state.put("", "pods", one);
    const resize = (at: 0 | 1, memory: string): unknown =>
      plugin.validate!(
        {
          ...attributesOf("pods", stored(old[at]!.metadata.name!, memory, "1")),
          operation: "UPDATE",
          subresource: "resize",
          oldObject: old[at],
        },
        {
          clock: new FakeClock(),
          read: (group: string, kind: string, where: string, name: string) =>
            state.read(group, kind, where, name),
          list: (group: string, kind: string, where?: string) =>
            state.list(group, kind, where),
        } as unknown as StrategyContext,
      );
    await resize(0, "768Mi");
    // The first is under way: its 512Mi are gone.
    expect(() => resize(1, "257Mi")).toThrow(
      'pods "b" is forbidden: exceeded quota: q, requested: requests.memory=1Mi, used: requests.memory=1Gi, limited: requests.memory=1Gi',
    );
    state.put("", "pods", stored("a", "300Mi", "2"));
    await resize(1, "700Mi");
    await resize(0, "100Mi");
  });

  it("wants to be told what it bounds", async () => {
    quota({ "limits.cpu": "1" });
    await expect(ask("pods", pod({}, { name: "silent" }))).rejects.toThrow(
      'pods "silent" is forbidden: failed quota: q: must specify limits.cpu for: c',
    );
  });

  it("counts objects of any kind, and leaves other scopes alone", async () => {
    quota({ "count/deployments.apps": "0" });
    await expect(
      ask("deployments.apps", { metadata: { name: "d", namespace: "ns" } }),
    ).rejects.toThrow(
      /exceeded quota: q, requested: count\/deployments.apps=1, used: count\/deployments.apps=0, limited: count\/deployments.apps=0/,
    );
    quota({ "count/events": "0", "count/events.events.k8s.io": "0" });
    for (const events of ["events", "events.events.k8s.io"])
      await ask(events, { metadata: { name: "e", namespace: "ns" } });
    quota({ pods: "0" }, ["BestEffort"]);
    await ask("pods", sized("burstable", "1Mi"));
    await expect(ask("pods", pod({}, { name: "best-effort" }))).rejects.toThrow(
      /exceeded quota/,
    );
  });
});

it("keeps a pod's priority when an update leaves it out", async () => {
  const old = pod({ priority: 7, preemptionPolicy: "Never" });
  const bare = pod({});
  await admit(
    attributesOf("pods", bare, {
      operation: "UPDATE",
      oldObject: old as unknown as AnyObject,
    }),
  );
  expect(bare.spec).toMatchObject({ priority: 7, preemptionPolicy: "Never" });

  // What is said is left as it is: validation refuses the change.
  const changed = pod({ priority: 8, preemptionPolicy: "Never" });
  await admit(
    attributesOf("pods", changed, {
      operation: "UPDATE",
      oldObject: old as unknown as AnyObject,
    }),
  );
  expect(changed.spec.priority).toBe(8);
});
