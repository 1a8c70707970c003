// The ingress as a part of a node's network: the controller, and the thread that serves what it says.
import * as os from "node:os";
import { IngressController } from "../../../network/ingress/ingress-controller.ts";
import type { IngressPlan } from "./ingress-plan.ts";
import type { Metrics, NodeNetworkContext } from "./network-context.ts";
import type { NetworkPlan } from "./network-plan.ts";

/** For requests under way when the program stops. */
const graceMs = 5000;

export async function startIngress(
  { clock, logger, started, clientFor }: NodeNetworkContext,
  { nodeName }: NetworkPlan,
  plan: IngressPlan,
): Promise<Metrics> {
  const controller = new IngressController({
    ...plan,
    client: clientFor("system:orbit-ingress"),
    nodeName: nodeName || os.hostname(),
    graceMs,
    clock,
    logger: logger.child({ part: "ingress" }),
  });
  started.add(() => controller.stop());
  await controller.start();
  return () => controller.families();
}
