// Images that containers have as volumes: in use, though no container runs them.
import { RuntimeError, type Runtime } from "../runtime.ts";

/** As the runtime names them, of every container that it has. */
export async function mountedImages(
  runtime: Pick<Runtime, "listContainers" | "containerStatus">,
): Promise<string[]> {
  const containers = await runtime.listContainers();
  const found = new Set<string>();
  // One after the other: there is no hurry, and there may be many.
  for (const { id } of containers) {
    const mounts = await mountsOf(runtime, id);
    for (const { image } of mounts) if (image) found.add(image.id);
  }
  return [...found];
}

/** None of a container that is gone meanwhile. */
async function mountsOf(
  runtime: Pick<Runtime, "containerStatus">,
  id: string,
): Promise<Awaited<ReturnType<Runtime["containerStatus"]>>["mounts"]> {
  try {
    return (await runtime.containerStatus(id)).mounts;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "not-found") return [];
    throw error;
  }
}
