// Sees to it that the built-in sandbox image is in the daemon, pinned: it is loaded when it is not there.
import { Readable } from "node:stream";
import type { Logger } from "pino";
import { RuntimeError } from "../../runtime.ts";
import { buildSandboxImage } from "../../sandbox-image/image.ts";
import type { DockerConnection } from "../connection.ts";
import { pinImage } from "./image-calls.ts";
import { loadTar } from "./image-load.ts";

/** Content never changes, so its id says which one it is. */
export const sandboxImageId = (): string => buildSandboxImage().id;

export async function ensureSandboxImage(
  connection: DockerConnection,
  logger: Logger,
): Promise<void> {
  const { name, tar, id } = buildSandboxImage();
  try {
    await connection.call("ImageStatus", (docker) =>
      docker.getImage(id).inspect(),
    );
    return;
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "not-found")
      throw error;
  }
  await loadTar(connection, Readable.from([tar]));
  await pinImage(connection, id);
  logger.info({ image: name }, "imported the built-in sandbox image");
}
