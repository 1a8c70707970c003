// Writes a Deployment's status when it differs from the one the informer shows.
import { sameStatus } from "../workloads/status-equality.ts";
import type { Deployment, DeploymentStatus } from "../../api/types/apps-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Lister } from "../../client/informer.ts";
import { deployments } from "../../client/resources.ts";

export class StatusWriter {
  constructor(
    private readonly client: Client,
    private readonly lister: Lister<Deployment>,
  ) {}

  /** @returns the Deployment as it then is */
  async write(
    deployment: Deployment,
    status: DeploymentStatus,
  ): Promise<Deployment> {
    const { name, namespace, uid } = deployment.metadata;
    // Not with its own: a status may be noted on it that only the final write carries.
    const observed = this.lister.get(name, namespace);
    if (observed?.metadata.uid === uid && sameStatus(observed?.status, status))
      return deployment;
    return this.client
      .resource(deployments)
      .updateStatus({ ...deployment, status });
  }
}
