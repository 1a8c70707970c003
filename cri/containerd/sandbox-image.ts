// Sees to it that the sandbox image containerd is configured with is there: when it is missing, the built-in image is
// imported, under its own name and under the configured one, so that no registry is ever needed for it.
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { buildSandboxImage } from "../sandbox-image/image.ts";
import type { Connection } from "./connection.ts";
import { normalizeImageName } from "../images/image-names.ts";
import { importImageArchive } from "./image-import.ts";
import { leaseId } from "./lease-id.ts";
import { sandboxImageName } from "./runtime-configuration.ts";

/** @param name as containerd asks for it, where it has said so */
export async function ensureSandboxImage(
  connection: Connection,
  logger: Logger,
  name?: string,
): Promise<void> {
  const built = buildSandboxImage();
  const wanted = name ?? (await sandboxImageName(connection)) ?? built.name;
  if (
    (await connection.call("ImageStatus", { image: { image: wanted } }))
      .image !== undefined
  )
    return;
  const directory = await fs.mkdtemp(join(tmpdir(), "orbit-pause-"));
  try {
    const path = join(directory, "pause.tar");
    await fs.writeFile(path, built.tar);
    await importImageArchive(connection, path, {
      pinned: true,
      leaseId: leaseId(),
      extraName: normalizeImageName(wanted),
    });
    logger.info({ image: wanted }, "imported the built-in sandbox image");
  } finally {
    await fs.rm(directory, { recursive: true, force: true });
  }
}
