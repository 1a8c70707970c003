// What of a pod can change, through which door: the pod, its status, its ephemeral containers, bindings, evictions.
import { plain, updateEach } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

const container = { name: "c", image: "i" };
const pod = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { containers: [container], ...spec },
});

export const corePodsChanges: Scenario = {
  name: "core-pods-changes",
  async run(server) {
    const { call, namespace } = server;
    const all = `/api/v1/namespaces/${namespace}/pods`;
    await updateEach(
      server,
      "pod",
      all,
      pod("p", {
        tolerations: [
          {
            key: "a",
            operator: "Exists",
            effect: "NoExecute",
            tolerationSeconds: 5,
          },
        ],
        activeDeadlineSeconds: 50,
      }),
      [
        {},
        { "spec.containers.0.image": "j" },
        { "spec.containers.0.image": "" },
        { "spec.containers.0.image": " j" },
        { "spec.containers.0.name": "d" },
        { "spec.containers.0.command": ["a"] },
        { "spec.containers": [container, { name: "d", image: "i" }] },
        { "spec.containers": [] },
        { "spec.initContainers": [container] },
        { "spec.activeDeadlineSeconds": 20 },
        { "spec.activeDeadlineSeconds": 60 },
        { "spec.activeDeadlineSeconds": undefined },
        { "spec.activeDeadlineSeconds": -1 },
        { "spec.tolerations": [] },
        { "spec.tolerations.0.tolerationSeconds": 9 },
        { "spec.tolerations.0.key": "b" },
        { "spec.tolerations.3": { key: "x", operator: "Exists" } },
        { "spec.terminationGracePeriodSeconds": 5 },
        { "spec.nodeName": "n" },
        { "spec.hostname": "h" },
        { "spec.restartPolicy": "Never" },
        { "spec.serviceAccountName": "x" },
        { "spec.nodeSelector": { a: "b" } },
        { "spec.schedulingGates": [{ name: "x" }] },
        { "spec.volumes": [{ name: "v", emptyDir: {} }] },
        { "spec.priority": 5 },
        { "spec.priorityClassName": "system-node-critical" },
        { "spec.ephemeralContainers": [{ name: "e", image: "i" }] },
        { "spec.schedulerName": "x" },
        { "metadata.labels": { a: "b" } },
        { "metadata.annotations": { "kubernetes.io/config.mirror": "x" } },
        { status: { phase: "Running" } },
        { spec: {} },
        { spec: undefined },
      ],
    );
    await updateEach(
      server,
      "gated",
      all,
      pod("g", {
        schedulingGates: [{ name: "x" }, { name: "y" }],
        nodeSelector: { a: "b" },
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: "a", operator: "Exists" }] },
              ],
            },
          },
        },
      }),
      [
        { "spec.schedulingGates": [{ name: "x" }] },
        { "spec.schedulingGates": [] },
        { "spec.schedulingGates": [{ name: "x" }, { name: "z" }] },
        { "spec.nodeSelector": { a: "b", c: "d" } },
        { "spec.nodeSelector": { a: "c" } },
        { "spec.nodeSelector": undefined },
        {
          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchExpressions.1":
            { key: "b", operator: "Exists" },
        },
        {
          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.1":
            { matchExpressions: [{ key: "b", operator: "Exists" }] },
        },
        {
          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.0.matchExpressions.0.key":
            "b",
        },
        { "spec.affinity": undefined },
        { "spec.nodeName": "n" },
        { "spec.tolerations": [] },
      ],
    );
    await updateEach(
      server,
      "pod",
      all,
      pod("p"),
      [
        { status: { phase: "Running", podIP: "1.2.3.4", hostIP: "5.6.7.8" } },
        { status: { phase: "Running", podIPs: [{ ip: "1.2.3.4" }] } },
        {
          status: {
            phase: "Running",
            podIP: "1.2.3.4",
            podIPs: [{ ip: "1.2.3.5" }],
          },
        },
        { status: { podIPs: [{ ip: "x" }] } },
        { status: { podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.5" }] } },
        { status: { podIPs: [{ ip: "1.2.3.4" }, { ip: "1.2.3.4" }] } },
        { status: { hostIPs: [{ ip: "x" }] } },
        { status: { phase: "Odd", qosClass: "Guaranteed" } },
        { status: { nominatedNodeName: "A_" } },
        { status: { conditions: [{ type: "a b", status: "x" }] } },
        {
          status: {
            conditions: [
              { type: "Ready", status: "True" },
              { type: "Ready", status: "True" },
            ],
          },
        },
        {
          status: {
            containerStatuses: [
              {
                name: "c",
                image: "",
                imageID: "",
                ready: true,
                restartCount: 0,
                state: { running: { startedAt: "2024-01-01T00:00:00Z" } },
              },
            ],
          },
        },
        {
          status: {
            containerStatuses: [
              {
                name: "none",
                image: "",
                imageID: "",
                ready: true,
                restartCount: 0,
                started: true,
                containerID: "x",
              },
            ],
          },
        },
        { status: { resize: "Proposed" } },
        { status: { observedGeneration: 5 } },
        {
          "spec.nodeName": "n",
          "spec.hostname": "h",
          "metadata.labels": { a: "b" },
        },
        {
          "metadata.finalizers": ["a.b/c"],
          "metadata.ownerReferences": [
            { apiVersion: "v1", kind: "Pod", name: "x", uid: "y" },
          ],
        },
      ],
      "status",
    );
    await call("ended", "PATCH", `${all}/p/status`, {
      body: {
        status: {
          phase: "Failed",
          containerStatuses: [
            {
              name: "c",
              image: "i",
              imageID: "",
              ready: false,
              restartCount: 0,
              state: { terminated: { exitCode: 1 } },
            },
          ],
        },
      },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
    await updateEach(
      server,
      "ephemeral",
      all,
      pod("p"),
      [
        { "spec.ephemeralContainers": [{ name: "e", image: "i" }] },
        { "spec.ephemeralContainers": [{ name: "c", image: "i" }] },
        { "spec.ephemeralContainers": [{}] },
        {
          "spec.ephemeralContainers": [
            { name: "e", image: " i" },
            { name: "e", image: "i" },
          ],
        },
        {
          "spec.ephemeralContainers": [
            { name: "e", image: "i", targetContainerName: "x" },
          ],
        },
        {
          "spec.ephemeralContainers": [
            {
              name: "e",
              image: "i",
              targetContainerName: "c",
              stdin: true,
              tty: true,
            },
          ],
        },
        {
          "spec.ephemeralContainers": [
            {
              name: "e",
              image: "i",
              ports: [{ containerPort: 80 }],
              resources: { limits: { cpu: "1" } },
              livenessProbe: {},
              lifecycle: {},
              restartPolicy: "Always",
              volumeMounts: [{ name: "x", mountPath: "/a", subPath: "b" }],
            },
          ],
        },
        {
          "spec.ephemeralContainers": [{ name: "e", image: "i" }],
          "spec.containers.0.image": "j",
          "metadata.labels": { a: "b" },
        },
        { "spec.ephemeralContainers": [] },
      ],
      "ephemeralcontainers",
    );
    const ephemeral = `${all}/p/ephemeralcontainers`;
    const strategic = {
      "content-type": "application/strategic-merge-patch+json",
    };
    await call("add an ephemeral container", "PATCH", ephemeral, {
      body: { spec: { ephemeralContainers: [{ name: "e", image: "i" }] } },
      headers: strategic,
      ...plain,
    });
    await call("change it", "PATCH", ephemeral, {
      body: { spec: { ephemeralContainers: [{ name: "e", image: "j" }] } },
      headers: strategic,
      ...plain,
    });
    await call("remove it", "PATCH", ephemeral, {
      body: { spec: { ephemeralContainers: null } },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
    await call("get them", "GET", ephemeral, plain);
    await call("resize", "PATCH", `${all}/p/resize`, {
      body: {
        spec: {
          containers: [{ name: "c", resources: { limits: { cpu: "1" } } }],
        },
      },
      headers: strategic,
      ...plain,
    });

    const bind = (name: string, body: object): Promise<unknown> =>
      call(
        `bind ${name} ${JSON.stringify(body)}`,
        "POST",
        `${all}/${name}/binding`,
        { body, ...plain },
      );
    await call("", "POST", all, { body: pod("b"), silent: true });
    await bind("b", { metadata: { name: "b" } });
    await bind("b", { metadata: { name: "other" }, target: { name: "n" } });
    await bind("b", {
      metadata: { name: "b" },
      target: { kind: "Pod", name: "n" },
    });
    await bind("b", {
      metadata: { name: "b" },
      target: { kind: "Node", name: "" },
    });
    await bind("b", {
      metadata: { name: "b", uid: "x" },
      target: { kind: "Node", name: "n" },
    });
    await bind("b", {
      metadata: { name: "b" },
      target: { kind: "Node", name: "A_" },
    });
    await bind("none", { metadata: { name: "none" }, target: { name: "n" } });
    await bind("g", { metadata: { name: "g" }, target: { name: "n" } });
    await bind("b", {
      metadata: { name: "b", labels: { a: "b" }, annotations: { c: "d" } },
      target: { kind: "Node", name: "n" },
    });
    await bind("b", {
      metadata: { name: "b" },
      target: { kind: "Node", name: "n" },
    });
    await call("bound", "GET", `${all}/b`, plain);
    await call(
      "binding elsewhere",
      "POST",
      `/api/v1/namespaces/${namespace}/bindings`,
      {
        body: { metadata: { name: "p" }, target: { kind: "Node", name: "n" } },
        ...plain,
      },
    );
    await call(
      "bindings listed",
      "GET",
      `/api/v1/namespaces/${namespace}/bindings`,
      plain,
    );

    await call("delete a bound pod", "DELETE", `${all}/b`, plain);
    await call("delete it sooner", "DELETE", `${all}/b`, {
      body: { gracePeriodSeconds: 5 },
      ...plain,
    });
    await call("delete it later", "DELETE", `${all}/b`, {
      body: { gracePeriodSeconds: 50 },
      ...plain,
    });
    await call("bind while deleted", "POST", `${all}/b/binding`, {
      body: { metadata: { name: "b" }, target: { name: "n" } },
      ...plain,
    });
    await call(
      "delete it at once",
      "DELETE",
      `${all}/b?gracePeriodSeconds=0`,
      plain,
    );
    await call("it is gone", "GET", `${all}/b`, plain);
    await call("delete a pod with no node", "DELETE", `${all}/g`, plain);
    await call("that is gone", "GET", `${all}/g`, plain);

    const evict = (name: string, body: object): Promise<unknown> =>
      call(
        `evict ${name} ${JSON.stringify(body)}`,
        "POST",
        `${all}/${name}/eviction`,
        { body, ...plain },
      );
    await call("", "POST", all, { body: pod("e1"), silent: true });
    await call("", "POST", all, {
      body: { ...pod("e2"), metadata: { name: "e2", labels: { a: "b" } } },
      silent: true,
    });
    await call(
      "",
      "POST",
      `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
      {
        body: {
          metadata: { name: "pdb" },
          spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } },
        },
        silent: true,
      },
    );
    await evict("none", { metadata: { name: "none" } });
    await evict("e1", { metadata: { name: "x" } });
    await evict("e1", {});
    await evict("e1", {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "e1" },
      deleteOptions: { dryRun: ["All"] },
    });
    await evict("e1", {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "e1" },
      deleteOptions: { preconditions: { uid: "x" } },
    });
    await evict("e2", { metadata: { name: "e2" } });
    await evict("e1", { metadata: { name: "e1" } });
    await call("evicted", "GET", `${all}/e1`, plain);
  },
};
