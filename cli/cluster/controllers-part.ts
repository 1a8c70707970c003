// The controllers inside a composed cluster. A file of its own, so that their modules are read only where they run.
import { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import { createControllerManager } from "../../controllers/manager.ts";
import type { ControllerOptions } from "../../controllers/options.ts";
import type { OptionValues } from "../options/parse.ts";
import { featureGatesOf, gatesOfPart } from "../parts/api/emulated-version.ts";
import { controllerOptions } from "../parts/controllers/controller-options.ts";
import type { NodeIpamPlan } from "../parts/network/node-ipam-plan.ts";
import { PartMetrics } from "../parts/part-metrics.ts";
import {
  clusterTokenSigner,
  signingAuthorities,
} from "../parts/signing-authorities.ts";
import type { LoadBalancerPlan } from "./load-balancer-plan.ts";
import type { ClusterContext } from "./cluster-context.ts";
import { inProcessAccountClients } from "./account-clients.ts";
import { electionOf, startPart } from "./elected-part.ts";
import { ensureLocalPathClass } from "./local-path-class.ts";

interface ControllerPlans {
  readonly loadBalancer: LoadBalancerPlan;
  readonly nodeIpam?: NodeIpamPlan;
  /** There is a class of volumes that are directories of nodes. */
  readonly localPath: boolean;
}

/** @param options of --controller-manager-arg */
export async function startControllers(
  cluster: ClusterContext,
  options: OptionValues,
  { loadBalancer, nodeIpam, localPath }: ControllerPlans,
): Promise<void> {
  const { values, pki, clock, logger, started } = cluster;
  const metrics = new PartMetrics();
  const asked = new ClientMetrics();
  metrics.add("client", () => asked.families());
  const shared = {
    client: cluster.clientFor("system:kube-controller-manager", asked),
    clock,
    logger: logger.child({ part: "controllers" }),
  };
  const chosen: Partial<ControllerOptions> = {
    enableGarbageCollector: values.flag("enable-garbage-collector"),
    controllers: ["*", "bootstrapsigner", "tokencleaner"],
    ...controllerOptions(options),
    leaderElect: false,
    ...(loadBalancer ? { loadBalancer } : {}),
    ...(nodeIpam ? { nodeIpam } : {}),
    rootCa: pki.clusterCa.certificate,
    clusterSigningCa: pki.clusterCa,
    approveServingCertificates: true,
    ...signingAuthorities(options),
    ...clusterTokenSigner(options, values, pki.serviceAccountKey),
    // One program: what is on in the API server is on here, unless the controllers' own option says otherwise.
    featureGates: {
      ...gatesOfPart(values, () => {}),
      ...featureGatesOf(options, "1.32", (text) => logger.warn(text)),
    },
  };
  const accounts = options.flag("use-service-account-credentials")
    ? { clientOf: inProcessAccountClients(cluster, shared.client) }
    : {};
  await startPart(started, {
    ...shared,
    metrics,
    lease: electionOf(values, options, "kube-controller-manager"),
    create: () =>
      createControllerManager({
        ...shared,
        ...accounts,
        metrics,
        options: chosen,
      }),
  });
  if (localPath) {
    // Nothing waits for it: a claim gets a default class that comes later too.
    const made = ensureLocalPathClass(shared.client).catch((error: unknown) =>
      logger.warn({ err: error }, "can't make the class local-path"),
    );
    started.add(() => made);
  }
  await cluster.openPort({
    option: "controllers-port",
    what: "the controllers' port",
    metrics,
    gates: chosen.featureGates ?? {},
    values: options,
  });
}
