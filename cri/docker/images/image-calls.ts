// Images: listed, pulled, removed, imported and exported. Names are given to the daemon in full: a short one might be the beginning of an
// image's id. A pinned image has one more tag, as the daemon has no labels for images.
import type { Readable } from "node:stream";
import type { Clock } from "../../../api/clock.ts";
import { normalizeImageName } from "../../images/image-names.ts";
import { RuntimeError, type ImageAuth, type Runtime } from "../../runtime.ts";
import { imageStatus, imageSummary, pinnedRepository } from "../answers.ts";
import type { CallContext } from "../call-context.ts";
import { statusCodeOf, type DockerConnection } from "../connection.ts";
import { loadArchive } from "./image-load.ts";
import { layerBytes } from "./layer-sizes.ts";
import { Downloads, readProgress } from "./progress.ts";

type ImageCalls = Pick<
  Runtime,
  | "listImages"
  | "imageStatus"
  | "pullImage"
  | "removeImage"
  | "imageFsInfo"
  | "importImage"
  | "exportImages"
  | "downloads"
>;

/** A pull without any progress for so long is given up. */
const pullSilenceMs = 60_000;

/** As the daemon finds it: an id, or a full name. */
function daemonName(image: string): string {
  if (/^(?:sha256:)?[0-9a-f]{64}$/.test(image)) return image;
  try {
    return normalizeImageName(image);
  } catch (error) {
    throw new RuntimeError("invalid", (error as Error).message, {
      cause: error,
    });
  }
}

export function imageCalls(context: CallContext): ImageCalls {
  const { connection, clock } = context;
  const downloads = new Downloads();
  const status: Runtime["imageStatus"] = async (image) => {
    try {
      return imageStatus(
        await connection.call("ImageStatus", (docker) =>
          docker.getImage(daemonName(image)).inspect(),
        ),
      );
    } catch (error) {
      if (error instanceof RuntimeError && error.code === "not-found")
        return undefined;
      throw error;
    }
  };
  const all: Runtime["listImages"] = async () => {
    const images = await connection.call("ListImages", (docker) =>
      docker.listImages(),
    );
    return images.map((image) => imageSummary(image));
  };

  /** Layers that images share count for each of them. */
  const sumOfImages = async (): Promise<number> =>
    (await all()).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

  return {
    listImages: all,
    imageStatus: status,

    async pullImage(image, auth) {
      const name = daemonName(image);
      const download = downloads.begin();
      await pull(connection, clock, name, auth, download.heard).finally(
        download.end,
      );
      const found = await status(name);
      if (!found)
        throw new RuntimeError(
          "unknown",
          `image ${name} is not there after its pull`,
        );
      return found.id;
    },

    async removeImage(image) {
      const found = await connection
        .call("ImageStatus", (docker) =>
          docker.getImage(daemonName(image)).inspect(),
        )
        .catch((error: unknown) => {
          if (statusCodeOf(error) === 404) return undefined;
          throw error;
        });
      if (!found) return;
      // All of its names, as the other runtimes do it; the last one takes the image along.
      const names = [...(found.RepoTags ?? []), ...(found.RepoDigests ?? [])];
      for (const name of [...names, found.Id])
        await removeName(connection, name);
    },

    async imageFsInfo() {
      const facts = await context.facts();
      const usedBytes = (await layerBytes(facts)) ?? (await sumOfImages());
      return [{ mountpoint: facts.rootDirectory, usedBytes, inodesUsed: 0 }];
    },

    async importImage(tarPath, { pinned = false } = {}) {
      const { names, ids } = await loadArchive(connection, tarPath);
      if (pinned) for (const id of ids) await pinImage(connection, id);
      return names;
    },

    async exportImages(names) {
      const known = names.map(daemonName);
      for (const name of known)
        if (!(await status(name)))
          throw new RuntimeError("not-found", `image ${name} is not here`);
      return await connection.call(
        "ExportImages",
        // Not in the library's types.
        (docker) =>
          (
            docker as unknown as {
              getImages(options: object): Promise<Readable>;
            }
          ).getImages({ names: known }),
        0,
      );
    },

    downloads: () => Promise.resolve(downloads.list()),
  };
}

export async function pinImage(
  connection: DockerConnection,
  id: string,
): Promise<void> {
  await connection.call("TagImage", (docker) =>
    docker.getImage(id).tag({
      repo: pinnedRepository,
      tag: id.replace(/^sha256:/, "").slice(0, 12),
    }),
  );
}

async function removeName(
  connection: DockerConnection,
  name: string,
): Promise<void> {
  try {
    await connection.call("RemoveImage", (docker) =>
      docker.getImage(name).remove(),
    );
  } catch (error) {
    // It went with the name before.
    if (statusCodeOf(error) !== 404) throw error;
  }
}

async function pull(
  connection: DockerConnection,
  clock: Clock,
  name: string,
  auth: ImageAuth | undefined,
  onReport: Parameters<typeof readProgress>[1],
): Promise<void> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  connection.closed.addEventListener("abort", abort);
  let silence = clock.after(pullSilenceMs, abort);
  const heard = (): void => {
    silence.cancel();
    silence = clock.after(pullSilenceMs, abort);
  };
  try {
    await connection.call(
      "PullImage",
      async (docker) => {
        const progress = (await docker.createImage({
          fromImage: name,
          ...(auth === undefined
            ? {}
            : { authconfig: daemonAuth(auth) as never }),
          abortSignal: stop.signal,
        })) as Readable;
        stop.signal.addEventListener("abort", () =>
          progress.destroy(new Error("aborted")),
        );
        await readProgress(progress, (report) => {
          heard();
          onReport(report);
        });
      },
      0,
    );
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    throw new RuntimeError(
      connection.closed.aborted ? "unavailable" : "timeout",
      connection.closed.aborted
        ? `the pull of ${name} was cancelled`
        : `the pull of ${name} was cancelled: no progress for ${pullSilenceMs / 1000} s`,
      { cause: error },
    );
  } finally {
    silence.cancel();
    connection.closed.removeEventListener("abort", abort);
  }
}

/** `auth` is the base64 of user:password, as configuration files of Docker have it. */
function daemonAuth(auth: ImageAuth): Record<string, string> {
  const pair =
    auth.auth !== undefined && auth.auth !== "" && !auth.username
      ? Buffer.from(auth.auth, "base64").toString("utf8")
      : undefined;
  const colon = pair?.indexOf(":") ?? -1;
  return {
    username: pair !== undefined ? pair.slice(0, colon) : (auth.username ?? ""),
    password:
      pair !== undefined ? pair.slice(colon + 1) : (auth.password ?? ""),
    ...(auth.identityToken ? { identitytoken: auth.identityToken } : {}),
    ...(auth.registryToken ? { registrytoken: auth.registryToken } : {}),
  };
}
