// Who owns what of many kinds after a create, a PUT, patches, writes of subresources and applies: managedFields exactly.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";
import { container, keeping, managedFields, send } from "./patching.ts";

const template = (more: object = {}) => ({
  metadata: { labels: { a: "b" } },
  spec: { containers: [container("one")], ...more },
});
const selector = { matchLabels: { a: "b" } };

/** Collections, and an object for each; NS stands for the scenario's namespace. */
const kinds: readonly (readonly [string, object])[] = [
  ["/api/v1/namespaces/NS/configmaps", {}],
  ["/api/v1/namespaces/NS/configmaps", { data: {} }],
  ["/api/v1/namespaces/NS/configmaps", { data: { a: "" }, binaryData: {} }],
  [
    "/api/v1/namespaces/NS/configmaps",
    { data: { "a.b": "1", "-": "2" }, immutable: true },
  ],
  [
    "/api/v1/namespaces/NS/configmaps",
    {
      metadata: {
        labels: { managed: "b" },
        annotations: {},
        finalizers: ["example.com/a"],
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Pod",
            name: "p",
            uid: "11111111-1111-1111-1111-111111111111",
            controller: true,
          },
        ],
      },
    },
  ],
  [
    "/api/v1/namespaces/NS/secrets",
    { data: { a: "YQ==" }, stringData: { b: "c" } },
  ],
  [
    "/api/v1/namespaces/NS/serviceaccounts",
    { secrets: [{ name: "x" }], automountServiceAccountToken: false },
  ],
  [
    "/api/v1/namespaces/NS/services",
    { spec: { ports: [{ port: 80 }], selector: { a: "b" } } },
  ],
  [
    "/api/v1/namespaces/NS/services",
    {
      spec: {
        type: "NodePort",
        ports: [
          { name: "a", port: 80, targetPort: "http" },
          { name: "b", port: 53, protocol: "UDP" },
        ],
        sessionAffinity: "ClientIP",
        externalIPs: ["10.0.0.9"],
      },
    },
  ],
  [
    "/api/v1/namespaces/NS/services",
    { spec: { type: "ExternalName", externalName: "x.example.com" } },
  ],
  [
    "/api/v1/namespaces/NS/services",
    { spec: { clusterIP: "None", selector: { a: "b" } } },
  ],
  [
    "/api/v1/namespaces/NS/endpoints",
    { subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }] },
  ],
  [
    "/api/v1/namespaces/NS/persistentvolumeclaims",
    {
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ],
  [
    "/api/v1/namespaces/NS/resourcequotas",
    { spec: { hard: { "count/secrets": "100" } } },
  ],
  [
    "/api/v1/namespaces/NS/replicationcontrollers",
    { spec: { template: template() } },
  ],
  ["/api/v1/namespaces/NS/podtemplates", { template: template() }],
  [
    "/api/v1/namespaces/NS/events",
    {
      involvedObject: { kind: "Pod", name: "p", namespace: "NS" },
      reason: "R",
      message: "m",
      type: "Normal",
      count: 1,
    },
  ],
  ["/api/v1/namespaces/NS/pods", { spec: { containers: [container("one")] } }],
  [
    "/api/v1/namespaces/NS/pods",
    {
      spec: {
        initContainers: [container("init", { restartPolicy: "Always" })],
        containers: [
          container("one", {
            args: ["x"],
            env: [
              { name: "A", value: "" },
              {
                name: "B",
                valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
              },
              {
                name: "C",
                valueFrom: { configMapKeyRef: { name: "c", key: "k" } },
              },
              {
                name: "D",
                valueFrom: { resourceFieldRef: { resource: "limits.cpu" } },
              },
            ],
            envFrom: [{ configMapRef: { name: "c" } }],
            ports: [
              { containerPort: 80 },
              { containerPort: 80, protocol: "UDP", hostPort: 0 },
            ],
            resources: {
              limits: { cpu: "1", memory: "1Gi" },
              requests: { cpu: 0.5 },
            },
            volumeMounts: [{ name: "a", mountPath: "/a" }],
            volumeDevices: [{ name: "b", devicePath: "/b" }],
            livenessProbe: { httpGet: { port: 80 } },
            readinessProbe: { exec: { command: ["x"] } },
            startupProbe: { tcpSocket: { port: "x" } },
            lifecycle: { preStop: { sleep: { seconds: 1 } } },
            securityContext: {
              capabilities: { add: ["NET_ADMIN"] },
              runAsUser: 0,
              privileged: false,
            },
            stdin: true,
          }),
        ],
        volumes: [
          { name: "a", emptyDir: {} },
          { name: "b", persistentVolumeClaim: { claimName: "c" } },
          {
            name: "c",
            configMap: { name: "c", items: [{ key: "k", path: "p" }] },
          },
          {
            name: "d",
            projected: {
              sources: [
                { serviceAccountToken: { path: "t" } },
                {
                  downwardAPI: {
                    items: [
                      { path: "l", fieldRef: { fieldPath: "metadata.labels" } },
                    ],
                  },
                },
              ],
            },
          },
          { name: "e", hostPath: { path: "/x" } },
          { name: "f" },
        ],
        tolerations: [{ key: "a", operator: "Exists" }],
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
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "z",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: selector,
          },
        ],
        hostAliases: [{ ip: "10.0.0.1", hostnames: ["a"] }],
        imagePullSecrets: [{ name: "s" }],
        readinessGates: [{ conditionType: "example.com/a" }],
        securityContext: {
          fsGroup: 1,
          sysctls: [{ name: "net.ipv4.tcp_syncookies", value: "1" }],
          supplementalGroups: [1],
        },
        dnsConfig: {
          nameservers: ["10.0.0.1"],
          options: [{ name: "ndots", value: "1" }],
        },
        terminationGracePeriodSeconds: 0,
        hostNetwork: false,
        schedulerName: "x",
        overhead: {},
      },
    },
  ],
  [
    "/apis/apps/v1/namespaces/NS/deployments",
    { spec: { selector, template: template() } },
  ],
  [
    "/apis/apps/v1/namespaces/NS/deployments",
    {
      spec: {
        replicas: 0,
        paused: false,
        strategy: { type: "Recreate" },
        selector,
        template: template({ volumes: [] }),
      },
    },
  ],
  [
    "/apis/apps/v1/namespaces/NS/replicasets",
    { spec: { selector, template: template() } },
  ],
  [
    "/apis/apps/v1/namespaces/NS/statefulsets",
    {
      spec: {
        serviceName: "s",
        selector,
        template: template(),
        volumeClaimTemplates: [
          {
            metadata: { name: "v" },
            spec: {
              accessModes: ["ReadWriteOnce"],
              resources: { requests: { storage: "1Gi" } },
            },
          },
        ],
      },
    },
  ],
  [
    "/apis/apps/v1/namespaces/NS/daemonsets",
    { spec: { selector, template: template() } },
  ],
  [
    "/apis/apps/v1/namespaces/NS/controllerrevisions",
    { revision: 1, data: { a: { b: 1 } } },
  ],
  [
    "/apis/batch/v1/namespaces/NS/jobs",
    {
      spec: {
        template: {
          spec: { restartPolicy: "Never", containers: [container("one")] },
        },
      },
    },
  ],
  [
    "/apis/batch/v1/namespaces/NS/cronjobs",
    {
      spec: {
        schedule: "* * * * *",
        jobTemplate: {
          spec: {
            template: {
              spec: { restartPolicy: "Never", containers: [container("one")] },
            },
          },
        },
      },
    },
  ],
  [
    "/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers",
    {
      spec: {
        maxReplicas: 2,
        scaleTargetRef: {
          kind: "Deployment",
          name: "d",
          apiVersion: "apps/v1",
        },
      },
    },
  ],
  [
    "/apis/autoscaling/v1/namespaces/NS/horizontalpodautoscalers",
    {
      spec: {
        maxReplicas: 2,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: {
          kind: "Deployment",
          name: "d",
          apiVersion: "apps/v1",
        },
      },
    },
  ],
  [
    "/apis/policy/v1/namespaces/NS/poddisruptionbudgets",
    { spec: { minAvailable: "50%", selector } },
  ],
  [
    "/apis/networking.k8s.io/v1/namespaces/NS/ingresses",
    {
      spec: {
        tls: [{ hosts: ["a.example.com"] }],
        rules: [
          {
            host: "a.example.com",
            http: {
              paths: [
                {
                  path: "/",
                  pathType: "Prefix",
                  backend: { service: { name: "s", port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
    },
  ],
  [
    "/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies",
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }],
      },
    },
  ],
  [
    "/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices",
    {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    },
  ],
  [
    "/apis/coordination.k8s.io/v1/namespaces/NS/leases",
    {
      spec: {
        holderIdentity: "a",
        leaseDurationSeconds: 5,
        renewTime: "2020-01-01T00:00:00.000000Z",
      },
    },
  ],
  [
    "/apis/events.k8s.io/v1/namespaces/NS/events",
    {
      eventTime: "2020-01-01T00:00:00.000000Z",
      reportingController: "example.com/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Normal",
      regarding: { kind: "Pod", name: "p", namespace: "NS" },
    },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles",
    { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings",
    {
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Role",
        name: "r",
      },
      subjects: [{ kind: "ServiceAccount", name: "s", namespace: "x" }],
    },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    { aggregationRule: { clusterRoleSelectors: [selector] } },
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    {
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "r",
      },
      subjects: [{ kind: "User", name: "u" }],
    },
  ],
  [
    "/api/v1/namespaces/NS/limitranges",
    { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } },
  ],
  ["/api/v1/namespaces", {}],
  [
    "/api/v1/nodes",
    {
      spec: {
        taints: [{ key: "a", effect: "NoSchedule" }],
        podCIDR: "10.0.0.0/24",
      },
    },
  ],
  [
    "/api/v1/persistentvolumes",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        hostPath: { path: "/x" },
      },
    },
  ],
  [
    "/api/v1/persistentvolumes",
    {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: "d", volumeHandle: "h" },
        claimRef: { name: "c", namespace: "NS" },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchFields: [
                  { key: "metadata.name", operator: "In", values: ["n"] },
                ],
              },
            ],
          },
        },
      },
    },
  ],
  [
    "/apis/storage.k8s.io/v1/storageclasses",
    { provisioner: "p", parameters: { a: "b" } },
  ],
  ["/apis/storage.k8s.io/v1/csidrivers", { spec: { attachRequired: false } }],
  [
    "/apis/storage.k8s.io/v1/csinodes",
    { spec: { drivers: [{ name: "d", nodeID: "n", topologyKeys: ["a"] }] } },
  ],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: 5 }],
  ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "h" }],
  [
    "/apis/networking.k8s.io/v1/ingressclasses",
    { spec: { controller: "example.com/c" } },
  ],
  [
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    {
      spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    },
  ],
  [
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    {
      webhooks: [
        {
          name: "a.example.com",
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          clientConfig: { url: "https://127.0.0.1:1/x" },
          rules: [
            {
              apiGroups: ["example.com"],
              apiVersions: ["v1"],
              operations: ["CREATE"],
              resources: ["x"],
            },
          ],
        },
      ],
    },
  ],
];

export const managedFieldsOfKinds: Scenario = {
  name: "managed-fields",
  async run(server) {
    const { namespace, call } = server;
    const keep = { keep: managedFields };
    /** Of those alone: the others are as before. */
    const entriesOf = (...managers: string[]) => ({
      keep: keeping((object) =>
        (managedFields(object) as Json[] | undefined)?.filter(({ manager }) =>
          managers.includes(manager),
        ),
      ),
    });
    let count = 0;
    for (const [path, object] of kinds) {
      const collection = path.replace("NS", namespace);
      const name = `ref-managed-${++count}`;
      const [, group, kind] =
        /([^/]*\/[^/]*)(?:\/namespaces\/NS)?\/([^/]*)$/.exec(path)!;
      const label = `${group} ${kind} ${count}`;
      const text = JSON.stringify(object).replaceAll('"NS"', `"${namespace}"`);
      const body = JSON.parse(text) as Json;
      body.metadata = { ...body.metadata, name };
      const made = await call(label, "POST", `${collection}?fieldManager=c`, {
        body,
        ...keep,
      });
      if (made.status !== 201) continue;
      const own = `${collection}/${name}`;
      await send(
        server,
        `${label} labelled`,
        "merge",
        `${own}?fieldManager=l`,
        { metadata: { labels: { z: "1" } } },
        entriesOf("l"),
      );
      if (!group!.startsWith("events"))
        await send(
          server,
          `${label} badly labelled`,
          "merge",
          `${own}?fieldManager=l`,
          { metadata: { labels: { z: "a b" } } },
          {
            keep: ({ message, details }: Json) => [
              message.slice(0, 60),
              details.causes.length,
            ],
          },
        );
      const { apiVersion, kind: kindName } = made.body;
      await send(
        server,
        `${label} applied`,
        "apply",
        `${own}?fieldManager=a&force=true`,
        { apiVersion, kind: kindName, ...body },
        entriesOf("a"),
      );
      const live = await call("", "GET", own, { silent: true });
      await call(`${label} put`, "PUT", `${own}?fieldManager=p`, {
        body: {
          ...live.body,
          metadata: { ...live.body.metadata, annotations: { p: "1" } },
        },
        ...entriesOf("l", "p"),
      });
      if (path.includes("NS")) continue;
      // Other scenarios list what is in no namespace.
      const released = { metadata: { finalizers: null } };
      await send(server, "", "merge", own, released, { silent: true });
      await call("", "DELETE", own, { silent: true });
    }

    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const d = `${deployments}/d`;
    const applied = (replicas: number | undefined, more: object = {}) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: {
        ...(replicas === undefined ? {} : { replicas }),
        selector,
        template: template(),
        ...more,
      },
    });
    const scale = (replicas: number | undefined) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d" },
      spec: replicas === undefined ? {} : { replicas },
    });
    const owners = keeping(({ kind, metadata, spec, status }) => ({
      kind,
      spec: kind === "Scale" ? spec : spec?.replicas,
      status: status?.replicas ?? status?.conditions,
      managedFields: (managedFields({ metadata }) as Json)?.map(
        (entry: Json) => ({
          ...entry,
          fieldsV1: {
            "f:status": entry.fieldsV1["f:status"],
            "f:replicas": entry.fieldsV1["f:spec"]?.["f:replicas"],
            "f:template": entry.fieldsV1["f:spec"]?.["f:template"] && true,
          },
        }),
      ),
    }));
    const shown = { keep: owners };
    await send(
      server,
      "deployment applied",
      "apply",
      `${d}?fieldManager=m`,
      applied(1),
      shown,
    );
    await send(
      server,
      "scale applied by another",
      "apply",
      `${d}/scale?fieldManager=s`,
      scale(2),
      shown,
    );
    await send(
      server,
      "scale applied by force",
      "apply",
      `${d}/scale?fieldManager=s&force=true`,
      scale(2),
      shown,
    );
    await call("owners after the scale", "GET", d, shown);
    await call("scale read", "GET", `${d}/scale`, {
      keep: keeping(({ metadata }) => ({
        ...metadata,
        resourceVersion: undefined,
      })),
    });
    await send(
      server,
      "deployment applied against the scale",
      "apply",
      `${d}?fieldManager=m`,
      applied(1),
      shown,
    );
    await send(
      server,
      "deployment applied as scaled",
      "apply",
      `${d}?fieldManager=m`,
      applied(2),
      shown,
    );
    await send(
      server,
      "deployment applied without replicas",
      "apply",
      `${d}?fieldManager=m`,
      applied(undefined),
      shown,
    );
    await call("scale put", "PUT", `${d}/scale?fieldManager=p`, {
      body: scale(3),
      ...shown,
    });
    await call("owners after the put", "GET", d, shown);
    await send(
      server,
      "scale applied again",
      "apply",
      `${d}/scale?fieldManager=s`,
      scale(2),
      shown,
    );
    await send(
      server,
      "scale applied empty",
      "apply",
      `${d}/scale?fieldManager=s`,
      scale(undefined),
      shown,
    );
    await send(
      server,
      "scale of another kind",
      "apply",
      `${d}/scale?fieldManager=s`,
      { ...scale(2), kind: "Deployment" },
      shown,
    );
    await send(
      server,
      "scale of another version",
      "apply",
      `${d}/scale?fieldManager=s`,
      { ...scale(2), apiVersion: "apps/v1" },
      shown,
    );
    await send(
      server,
      "scale of another name",
      "apply",
      `${d}/scale?fieldManager=s`,
      { ...scale(2), metadata: { name: "x" } },
      shown,
    );
    await send(
      server,
      "scale with an unknown field",
      "apply",
      `${d}/scale?fieldManager=s`,
      { ...scale(2), foo: 1 },
      shown,
    );
    await send(
      server,
      "scale of nothing",
      "apply",
      `${deployments}/none/scale?fieldManager=s`,
      { ...scale(2), metadata: { name: "none" } },
      shown,
    );
    const status = (conditions: object[], more: object = {}) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      status: { conditions, ...more },
    });
    const available = { type: "Available", status: "True" };
    await send(
      server,
      "status applied",
      "apply",
      `${d}/status?fieldManager=s`,
      status([available], { replicas: 1 }),
      shown,
    );
    await send(
      server,
      "status applied with another condition",
      "apply",
      `${d}/status?fieldManager=t`,
      status([{ type: "Progressing", status: "True" }]),
      shown,
    );
    await send(
      server,
      "status applied against",
      "apply",
      `${d}/status?fieldManager=t`,
      status([{ ...available, status: "False" }]),
      shown,
    );
    await send(
      server,
      "status with conditions twice",
      "apply",
      `${d}/status?fieldManager=t`,
      status([available, available]),
      shown,
    );
    await send(
      server,
      "status with a spec",
      "apply",
      `${d}/status?fieldManager=t`,
      { ...status([]), spec: { replicas: 9 } },
      shown,
    );
    await send(
      server,
      "status with labels",
      "apply",
      `${d}/status?fieldManager=t`,
      { ...status([]), metadata: { name: "d", labels: { s: "t" } } },
      { keep: managedFields },
    );
    await send(
      server,
      "status in the whole",
      "apply",
      `${d}?fieldManager=m`,
      { ...applied(undefined), status: { replicas: 7 } },
      shown,
    );
    await send(
      server,
      "status patched",
      "merge",
      `${d}/status?fieldManager=u`,
      { status: { readyReplicas: 1, replicas: 2 } },
      shown,
    );
    await send(
      server,
      "status of nothing",
      "apply",
      `${deployments}/none/status?fieldManager=s`,
      { ...status([]), metadata: { name: "none" } },
      shown,
    );

    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await call("pod", "POST", `${pods}?fieldManager=c`, {
      silent: true,
      body: {
        metadata: { name: "p" },
        spec: { containers: [container("one")] },
      },
    });
    await send(
      server,
      "pod status",
      "strategic",
      `${pods}/p/status?fieldManager=kubelet`,
      {
        status: {
          phase: "Running",
          podIP: "10.0.0.1",
          podIPs: [{ ip: "10.0.0.1" }],
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [],
        },
      },
      keep,
    );
    await call(
      "pod bound",
      "POST",
      `${pods}/p/binding?fieldManager=scheduler`,
      {
        body: { metadata: { name: "p" }, target: { kind: "Node", name: "n" } },
      },
    );
    await call("after the binding", "GET", `${pods}/p`, keep);
    await send(
      server,
      "pod ephemeral",
      "strategic",
      `${pods}/p/ephemeralcontainers?fieldManager=debug`,
      {
        spec: {
          ephemeralContainers: [
            container("debug", { targetContainerName: "one" }),
          ],
        },
      },
      keep,
    );
    await send(
      server,
      "pod ephemeral applied",
      "apply",
      `${pods}/p/ephemeralcontainers?fieldManager=debug2`,
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: {
          ephemeralContainers: [
            container("debug2", { targetContainerName: "one" }),
          ],
        },
      },
      keep,
    );
    await send(
      server,
      "pod image applied",
      "apply",
      `${pods}/p?fieldManager=m`,
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: { containers: [container("one")] },
      },
      keep,
    );
    await send(
      server,
      "pod with a new container applied",
      "apply",
      `${pods}/p?fieldManager=m`,
      {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: { containers: [container("one"), container("two")] },
      },
      { keep: keeping(() => undefined) },
    );
  },
};
