// What the admission plug-ins that are on by default make of pods, claims and namespaces, and how they refuse.
import { plain } from "../cases.ts";
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const pod = (
  spec: object,
  containers: object[] = [{}],
  metadata: object = {},
): object => ({
  metadata: { name: "p", ...metadata },
  spec: {
    containers: containers.map((container, index) => ({
      name: `c${index}`,
      image: "i",
      ...container,
    })),
    ...spec,
  },
});
const using = (resources: object): object => pod({}, [{ resources }]);

export const coreAdmission: Scenario = {
  name: "core-admission",
  async run(server) {
    const { call, namespace } = server;
    const ns = `/api/v1/namespaces/${namespace}`;
    const make = (path: string, body: object): Promise<unknown> =>
      call("", "POST", path, { body, silent: true });

    await make(`/apis/scheduling.k8s.io/v1/priorityclasses`, {
      metadata: { name: "ref-high" },
      value: 1000,
      preemptionPolicy: "Never",
    });
    await tryEach(server, `${ns}/pods`, "priority", pod({}), {
      class: pod({ priorityClassName: "ref-high" }),
      "class and its value": pod({
        priorityClassName: "ref-high",
        priority: 1000,
      }),
      "class and another value": pod({
        priorityClassName: "ref-high",
        priority: 5,
      }),
      "class and another policy": pod({
        priorityClassName: "ref-high",
        preemptionPolicy: "PreemptLowerPriority",
      }),
      unknown: pod({ priorityClassName: "ref-none" }),
      "value zero": pod({ priority: 0 }),
      "critical elsewhere": pod({
        priorityClassName: "system-cluster-critical",
      }),
    });
    await make(`/apis/node.k8s.io/v1/runtimeclasses`, {
      metadata: { name: "ref-rc" },
      handler: "h",
      overhead: { podFixed: { cpu: "10m" } },
      scheduling: {
        nodeSelector: { a: "b" },
        tolerations: [{ key: "k", operator: "Exists" }],
      },
    });
    await tryEach(server, `${ns}/pods`, "runtime", pod({}), {
      class: pod({ runtimeClassName: "ref-rc" }),
      "another selector": pod({
        runtimeClassName: "ref-rc",
        nodeSelector: { a: "c" },
      }),
      "more selector": pod({
        runtimeClassName: "ref-rc",
        nodeSelector: { d: "e" },
      }),
      overhead: pod({ runtimeClassName: "ref-rc", overhead: { cpu: "20m" } }),
      "overhead fits": pod({
        runtimeClassName: "ref-rc",
        overhead: { cpu: "10m" },
      }),
      unknown: pod({ runtimeClassName: "ref-none" }),
      "overhead alone": pod({ overhead: { cpu: "1" } }),
    });
    await tryEach(server, `${ns}/pods`, "tolerations", pod({}), {
      "not ready": pod({
        tolerations: [
          {
            key: "node.kubernetes.io/not-ready",
            operator: "Exists",
            effect: "NoExecute",
          },
        ],
      }),
      all: pod({ tolerations: [{ operator: "Exists" }] }),
      memory: using({ requests: { memory: "1Mi" } }),
      guaranteed: using({ limits: { memory: "1Mi", cpu: "1" } }),
    });

    await make(`${ns}/limitranges`, {
      metadata: { name: "lr" },
      spec: {
        limits: [
          {
            type: "Container",
            min: { cpu: "100m" },
            max: { cpu: "1", memory: "1Gi" },
            default: { cpu: "500m" },
            defaultRequest: { cpu: "200m" },
            maxLimitRequestRatio: { cpu: "4" },
          },
          { type: "Pod", max: { cpu: "1500m" } },
          {
            type: "PersistentVolumeClaim",
            min: { storage: "1Gi" },
            max: { storage: "5Gi" },
          },
        ],
      },
    });
    await tryEach(
      server,
      `${ns}/pods`,
      "limits",
      using({ limits: { cpu: "1", memory: "1Gi" } }),
      {
        nothing: pod({}),
        memory: using({ limits: { memory: "100Mi" } }),
        "too much": using({ limits: { cpu: "2", memory: "2Gi" } }),
        "too little": using({
          requests: { cpu: "10m" },
          limits: { memory: "1Mi" },
        }),
        ratio: using({
          requests: { cpu: "100m" },
          limits: { cpu: "1", memory: "1Mi" },
        }),
        "of the pod": pod({}, [
          { resources: { limits: { cpu: "1", memory: "1Mi" } } },
          { resources: { limits: { cpu: "1", memory: "1Mi" } } },
        ]),
      },
    );
    const claim = (storage: string): object => ({
      metadata: { name: "c" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage } },
      },
    });
    await tryEach(
      server,
      `${ns}/persistentvolumeclaims`,
      "limits of claims",
      claim("2Gi"),
      { small: claim("1Mi"), large: claim("10Gi"), fits: claim("2Gi") },
    );
    await call("", "DELETE", `${ns}/limitranges/lr`, { silent: true });

    const levels = ["baseline", "restricted"];
    for (const level of levels) {
      const name = `${namespace}-${level}`;
      await make("/api/v1/namespaces", {
        metadata: {
          name,
          labels: {
            "pod-security.kubernetes.io/enforce": level,
            "pod-security.kubernetes.io/warn": "restricted",
          },
        },
      });
      const strict = {
        runAsNonRoot: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" },
      };
      await tryEach(
        server,
        `/api/v1/namespaces/${name}/pods`,
        level,
        pod({}, [{ securityContext: strict }]),
        {
          plain: pod({}),
          strict: pod({}, [{ securityContext: strict }]),
          privileged: pod({}, [{ securityContext: { privileged: true } }]),
          host: pod({ hostNetwork: true, hostPID: true, hostIPC: true }),
          "host ports": pod({}, [
            { ports: [{ containerPort: 80, hostPort: 80 }] },
          ]),
          "host path": pod({
            volumes: [
              { name: "v", hostPath: { path: "/a" } },
              { name: "w", hostPath: { path: "/b" } },
            ],
          }),
          capabilities: pod({}, [
            {
              securityContext: {
                capabilities: { add: ["NET_ADMIN", "CHOWN"] },
              },
            },
            { securityContext: { capabilities: { add: ["SYS_TIME"] } } },
          ]),
          sysctls: pod({
            securityContext: {
              sysctls: [{ name: "kernel.msgmax", value: "1" }],
            },
          }),
          seccomp: pod({
            securityContext: { seccompProfile: { type: "Unconfined" } },
          }),
          apparmor: pod({
            securityContext: { appArmorProfile: { type: "Unconfined" } },
          }),
          "se linux": pod({
            securityContext: {
              seLinuxOptions: { type: "x", user: "u", role: "r" },
            },
          }),
          root: pod({ securityContext: { runAsUser: 0 } }, [
            { securityContext: { ...strict, runAsUser: 0 } },
          ]),
          "volume types": pod({
            volumes: [{ name: "v", nfs: { server: "s", path: "/a" } }],
          }),
        },
      );
    }
    await call("label a namespace with pods", "PATCH", ns, {
      body: {
        metadata: {
          labels: { "pod-security.kubernetes.io/enforce": "restricted" },
        },
      },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
  },
};
