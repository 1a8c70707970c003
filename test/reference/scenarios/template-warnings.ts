// Warnings about the pod templates of workloads, on each way to write them.
import { brief } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const container = { name: "c", image: "i" };
const labels = { app: "a" };

/** What a template has beside one container. */
const templates: Readonly<Record<string, Json>> = {
  "nothing odd": {},
  "annotations of old": {
    metadata: {
      annotations: {
        "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
        "container.seccomp.security.alpha.kubernetes.io/c": "unconfined",
        "container.apparmor.security.beta.kubernetes.io/c": "unconfined",
        "scheduler.alpha.kubernetes.io/critical-pod": "",
        "pod.alpha.kubernetes.io/init-containers": "[]",
      },
    },
  },
  "node labels of old": {
    spec: {
      nodeSelector: { "beta.kubernetes.io/os": "linux" },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: "beta.kubernetes.io/arch", operator: "Exists" },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 1,
              preference: {
                matchExpressions: [
                  {
                    key: "failure-domain.beta.kubernetes.io/region",
                    operator: "Exists",
                  },
                ],
              },
            },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "failure-domain.beta.kubernetes.io/zone",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: labels },
        },
      ],
    },
  },
  volumes: {
    spec: {
      volumes: [
        { name: "git", gitRepo: { repository: "r" } },
        {
          name: "rbd",
          rbd: { monitors: ["m"], image: "i" },
        },
        { name: "ceph", cephfs: { monitors: ["m"] } },
        { name: "gluster", glusterfs: { endpoints: "e", path: "p" } },
        {
          name: "scale",
          scaleIO: {
            gateway: "g",
            system: "s",
            volumeName: "v",
            secretRef: { name: "s" },
          },
        },
        { name: "flocker", flocker: { datasetName: "d" } },
        { name: "quobyte", quobyte: { registry: "r:1", volume: "v" } },
        { name: "storage", storageos: { volumeName: "v" } },
        { name: "photon", photonPersistentDisk: { pdID: "p" } },
        {
          name: "both",
          projected: {
            sources: [
              { configMap: { name: "a", items: [{ key: "k", path: "p" }] } },
              { secret: { name: "a", items: [{ key: "k", path: "p/r" }] } },
              { configMap: { name: "b", items: [{ key: "k", path: "p/q" }] } },
              {
                downwardAPI: {
                  items: [
                    { path: "p/q/s", fieldRef: { fieldPath: "metadata.name" } },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
  },
  duplicates: {
    spec: {
      hostAliases: [
        { ip: "1.1.1.1", hostnames: ["a"] },
        { ip: "1.1.1.1", hostnames: ["b"] },
      ],
      imagePullSecrets: [{}, { name: "a" }, { name: "a" }],
      containers: [
        {
          ...container,
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "2" },
            { name: "B", value: "$(A)" },
            { name: "B", value: "x$(B)" },
          ],
          ports: [
            { containerPort: 80 },
            { containerPort: 80 },
            { containerPort: 80, protocol: "UDP" },
            { containerPort: 81, name: "n" },
            { containerPort: 81, hostPort: 81 },
          ],
        },
      ],
      initContainers: [
        {
          name: "i",
          image: "i",
          env: [
            { name: "A", value: "1" },
            { name: "A", value: "1" },
          ],
        },
      ],
    },
  },
  amounts: {
    spec: {
      overhead: { cpu: "0.0001" },
      containers: [
        {
          ...container,
          resources: {
            requests: { memory: "100m", "ephemeral-storage": "1.5" },
            limits: { memory: "1234567m", "ephemeral-storage": "2500m" },
          },
        },
      ],
      volumes: [{ name: "e", emptyDir: { sizeLimit: "1500m" } }],
    },
  },
  "terms of affinity": {
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "t" },
            {
              topologyKey: "t",
              labelSelector: { matchLabels: {} },
            },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: "t" } },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "t",
          whenUnsatisfiable: "ScheduleAnyway",
        },
      ],
    },
  },
  "a short life": {
    spec: {
      terminationGracePeriodSeconds: -1,
      activeDeadlineSeconds: undefined,
    },
  },
  "a dotted name": {
    spec: {
      hostname: "a",
      nodeName: "n",
      serviceAccount: "old",
      serviceAccountName: "new",
    },
  },
  "runs once more": {
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          ...container,
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
          securityContext: { privileged: true, procMount: "Default" },
        },
      ],
    },
  },
};

interface Kind {
  readonly at: string;
  readonly restartPolicy?: string;
  readonly bodyOf: (template: Json) => object;
  readonly templateIn: string;
}

const selector = { matchLabels: labels };
const kinds: Readonly<Record<string, Kind>> = {
  Pod: {
    at: "/api/v1/namespaces/NS/pods",
    bodyOf: (template: Json) => template as object,
    templateIn: "",
  },
  PodTemplate: {
    at: "/api/v1/namespaces/NS/podtemplates",
    bodyOf: (template) => ({ template: template as object }),
    templateIn: "template",
  },
  ReplicationController: {
    at: "/api/v1/namespaces/NS/replicationcontrollers",
    bodyOf: (template) => ({ spec: { selector: labels, template } as object }),
    templateIn: "spec.template",
  },
  ReplicaSet: {
    at: "/apis/apps/v1/namespaces/NS/replicasets",
    bodyOf: (template) => ({ spec: { selector, template } as object }),
    templateIn: "spec.template",
  },
  Deployment: {
    at: "/apis/apps/v1/namespaces/NS/deployments",
    bodyOf: (template) => ({ spec: { selector, template } as object }),
    templateIn: "spec.template",
  },
  DaemonSet: {
    at: "/apis/apps/v1/namespaces/NS/daemonsets",
    bodyOf: (template) => ({ spec: { selector, template } as object }),
    templateIn: "spec.template",
  },
  StatefulSet: {
    at: "/apis/apps/v1/namespaces/NS/statefulsets",
    bodyOf: (template) => ({
      spec: { selector, serviceName: "s", template } as object,
    }),
    templateIn: "spec.template",
  },
  Job: {
    at: "/apis/batch/v1/namespaces/NS/jobs",
    restartPolicy: "Never",
    bodyOf: (template) => ({ spec: { template } as object }),
    templateIn: "spec.template",
  },
  CronJob: {
    at: "/apis/batch/v1/namespaces/NS/cronjobs",
    restartPolicy: "Never",
    bodyOf: (template) => ({
      spec: {
        schedule: "0 0 1 1 *",
        jobTemplate: { spec: { template } },
      } as object,
    }),
    templateIn: "spec.jobTemplate.spec.template",
  },
};

/** The warnings are headers; of an error what it says. */
const short = (body: Json): unknown =>
  body?.kind === "Status" ? brief(body) : "made";

const merge = { "content-type": "application/merge-patch+json" };

export const templateWarnings: Scenario = {
  name: "template-warnings",
  async run({ call, namespace }) {
    for (const [
      kind,
      { at, bodyOf, restartPolicy, templateIn },
    ] of Object.entries(kinds)) {
      const collection = at.replace("NS", namespace);
      const full = (template: Json): Json => ({
        ...template,
        metadata: { labels, ...template.metadata },
        spec: {
          containers: [container],
          ...(restartPolicy ? { restartPolicy } : {}),
          ...template.spec,
        },
      });
      const named = (body: Json, name: string): Json => ({
        ...body,
        metadata: { ...body.metadata, name },
      });
      for (const [what, template] of Object.entries(templates))
        await call(`${kind}: ${what}`, "POST", `${collection}?dryRun=All`, {
          body: named(bodyOf(full(template)), "x"),
          lean: true,
          keep: short,
        });
      if (templateIn === "") continue;
      // Changes of what was there, with and without a change of the template.
      const first = named(bodyOf(full(templates["node labels of old"])), "w");
      const options = { lean: true, keep: short };
      await call(`${kind}: made`, "POST", collection, {
        body: first,
        ...options,
      });
      await call(`${kind}: labels`, "PATCH", `${collection}/w`, {
        body: { metadata: { labels: { a: "b" } } },
        ...options,
        headers: merge,
      });
      await call(`${kind}: put again`, "PUT", `${collection}/w`, {
        body: first,
        ...options,
      });
      let patch: Json = { metadata: { labels: { b: "c" } } };
      for (const step of templateIn.split(".").reverse())
        patch = { [step]: patch as unknown };
      await call(`${kind}: its template`, "PATCH", `${collection}/w`, {
        body: patch,
        ...options,
        headers: merge,
      });
      await call(
        `${kind}: applied`,
        "PATCH",
        `${collection}/w?fieldManager=a&force=true`,
        {
          body: {
            apiVersion: at.startsWith("/apis/")
              ? at.split("/").slice(2, 4).join("/")
              : "v1",
            kind,
            ...first,
          },
          ...options,
          headers: { "content-type": "application/apply-patch+yaml" },
        },
      );
      await call(`${kind}: deleted`, "DELETE", `${collection}/w`, options);
    }
    const [jobs, sets] = ["jobs", "deployments"].map((resource) =>
      kinds[resource === "jobs" ? "Job" : "Deployment"]!.at.replace(
        "NS",
        namespace,
      ),
    ) as [string, string];
    for (const [what, collection, body] of [
      [
        "a job of many",
        jobs,
        {
          spec: {
            completions: 100_001,
            parallelism: 10_001,
            template: {
              spec: { restartPolicy: "Never", containers: [container] },
            },
          },
        },
      ],
      [
        "a job with a long name",
        jobs,
        {
          metadata: { name: "j".repeat(60) },
          spec: {
            completionMode: "Indexed",
            completions: 2,
            template: {
              spec: { restartPolicy: "Never", containers: [container] },
            },
          },
        },
      ],
      [
        "a deployment with a dot",
        sets,
        {
          metadata: { name: "a.b" },
          spec: {
            selector,
            template: {
              metadata: { labels },
              spec: { containers: [container] },
            },
          },
        },
      ],
    ] as const)
      await call(what, "POST", `${collection}?dryRun=All`, {
        body: { metadata: { name: "y" }, ...body },
        lean: true,
        keep: short,
      });
  },
};
