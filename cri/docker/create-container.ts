// Creating a container under its name. The name is unique in the daemon: what is left under it of an attempt that was cut
// short is removed first, but never something that runs.
import type { ContainerCreateOptions } from "dockerode";
import { RuntimeError } from "../runtime.ts";
import {
  ignoreNotFound,
  statusCodeOf,
  type DockerConnection,
} from "./connection.ts";

export async function createNamed(
  connection: DockerConnection,
  request: ContainerCreateOptions,
  timeoutMs: number,
  /** Undoes what belongs to the container that is in the way. */
  beforeRemoval: (id: string) => Promise<void>,
): Promise<string> {
  const create = (): Promise<string> =>
    connection.call(
      "CreateContainer",
      async (docker, signal) =>
        (await docker.createContainer({ ...request, abortSignal: signal })).id,
      timeoutMs,
    );
  try {
    return await create();
  } catch (error) {
    if (statusCodeOf(error) !== 409) throw error;
  }
  const name = request.name ?? "";
  const found = await connection
    .call("InspectContainer", (docker, signal) =>
      docker.getContainer(name).inspect({ abortSignal: signal }),
    )
    .catch((error: unknown) => {
      if (error instanceof RuntimeError && error.code === "not-found")
        return undefined;
      throw error;
    });
  if (found?.State.Running === true)
    throw new RuntimeError(
      "unknown",
      `the container name ${JSON.stringify(name)} is in use by ${found.Id}, which runs`,
    );
  if (found) {
    await beforeRemoval(found.Id);
    await removeContainer(connection, found.Id);
  }
  return create();
}

/** With its anonymous volumes, running or not. Idempotent. */
export async function removeContainer(
  connection: DockerConnection,
  id: string,
): Promise<void> {
  try {
    await ignoreNotFound(
      connection.call("RemoveContainer", (docker, signal) =>
        docker
          .getContainer(id)
          .remove({ force: true, v: true, abortSignal: signal } as object),
      ),
    );
  } catch (error) {
    // Another call removes it already.
    if (statusCodeOf(error) !== 409) throw error;
  }
}
