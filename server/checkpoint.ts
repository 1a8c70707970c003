// POST /checkpoint/{namespace}/{pod}/{container}: the runtime writes the state of a running container into an archive on
// the node; the answer names it. The codes and texts are the reference's, 404 for a bad timeout included.
import type { NodeAgentView } from "../api/contracts.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest } from "../http-kit/port.ts";

export async function serveCheckpoint(
  request: PortRequest,
  view: NodeAgentView,
): Promise<void> {
  const { namespace, pod, container } = request.parameters as {
    namespace: string;
    pod: string;
    container: string;
  };
  const found = view.pod(namespace, pod);
  if (!found) throw new HttpError(404, "pod does not exist");
  const { initContainers, containers, ephemeralContainers } = found.spec;
  if (
    ![initContainers, containers, ephemeralContainers]
      .flatMap((list) => list ?? [])
      .some(({ name }) => name === container)
  )
    throw new HttpError(404, `container ${container} does not exist`);
  const timeout = request.query.getAll("timeout").at(-1);
  if (
    timeout !== undefined &&
    !(/^[+-]?\d+$/.test(timeout) && Number.isSafeInteger(Number(timeout)))
  )
    throw new HttpError(404, "cannot parse value of timeout parameter");
  const location = await view
    .checkpoint(namespace, pod, container, Number(timeout ?? 0))
    .catch((error: Error) => {
      throw new HttpError(
        500,
        `checkpointing of ${namespace}/${pod}/${container} failed (${error.message})`,
      );
    });
  request.json({ items: [location] });
}
