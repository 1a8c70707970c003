// The API server's own named checks, from how it is now.
import type { Store } from "../../storage/store.ts";
import type { HealthCheck } from "./health.ts";

interface ServerCondition {
  readonly store: Pick<Store, "healthy">;
  readonly storeCheckTimeoutMs:
    { health: number; readiness: number } | undefined;
  /** The watch cache has lost the store's events. */
  readonly lost: Error | undefined;
  readonly others: readonly HealthCheck[];
  /** The post-start hooks have run. */
  readonly started: boolean;
  readonly stopping: boolean;
  /** Post-start hooks do not fail /livez yet. */
  readonly livezGrace: boolean;
}

/** The reference's names of what is done once at the start, in its order: all of it is done when the server has started. */
const hooks = [
  ...[
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "start-cluster-authentication-info-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
  ].map((name) => `poststarthook/${name}`),
  "autoregister-completion",
];
const ok = (): Promise<void> => Promise.resolve();

function unless(problem: string | Error | undefined | false) {
  return (): Promise<void> =>
    problem
      ? Promise.reject(problem instanceof Error ? problem : new Error(problem))
      : ok();
}

export function serverChecks(server: ServerCondition): HealthCheck[] {
  const { store, storeCheckTimeoutMs: timeouts, livezGrace } = server;
  const healthy = (): Promise<void> =>
    store.healthy().catch((error: Error) => {
      const why = error.message.replace(/^etcd: /, "");
      throw new Error(`error getting data from etcd: ${why}`);
    });
  const hooksRun = unless(!server.started && "not finished");
  return [
    { name: "ping", check: ok },
    { name: "log", check: ok },
    {
      name: "etcd",
      check: healthy,
      ...(timeouts ? { timeoutMs: timeouts.health } : {}),
    },
    {
      name: "etcd-readiness",
      on: ["readyz"],
      check: healthy,
      ...(timeouts ? { timeoutMs: timeouts.readiness } : {}),
    },
    { name: "informer-sync", on: ["readyz"], check: unless(server.lost) },
    ...server.others,
    ...hooks.flatMap((name): HealthCheck[] => [
      { name, on: ["healthz", "readyz"], check: hooksRun },
      { name, on: ["livez"], check: livezGrace ? ok : hooksRun },
    ]),
    {
      name: "shutdown",
      on: ["readyz"],
      check: unless(server.stopping && "process is shutting down"),
    },
  ];
}
