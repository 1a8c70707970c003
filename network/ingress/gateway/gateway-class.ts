// The GatewayClass of this controller.
import { isAlreadyExists, isNotFound } from "../../../api/errors.ts";
import type { Client } from "../../../client/client.ts";
import { gatewayClasses } from "./objects.ts";

export const gatewayController = "orbit.io/gateway";
const gatewayClassName = "orbit";

/** Creates it, unless there is one of its name. */
export async function ensureGatewayClass(client: Client): Promise<void> {
  const classes = client.resource(gatewayClasses);
  try {
    await classes.get(gatewayClassName);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await classes
      .create({
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "GatewayClass",
        metadata: { name: gatewayClassName },
        spec: { controllerName: gatewayController },
      })
      .catch((failed: unknown) => {
        // Another node of the cluster was first.
        if (!isAlreadyExists(failed)) throw failed;
      });
  }
}
