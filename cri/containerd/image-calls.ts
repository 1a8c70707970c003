// Images: listed, pulled, removed, imported and exported.
import { RuntimeError, type Runtime } from "../runtime.ts";
import { imageFilesystems, imageSummary } from "./answers.ts";
import type { CallContext } from "./call-context.ts";
import { exportImages } from "./image-export.ts";
import { importImageArchive } from "./image-import.ts";
import { leaseId } from "./lease-id.ts";
import { PinnedImages } from "./pinned-images.ts";
import { sandboxMessage } from "./requests.ts";
import { containerdMethods, type IngestStatus } from "./services.ts";

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

export function imageCalls({ connection, clock }: CallContext): ImageCalls {
  const pinnedImages = new PinnedImages(connection, clock);
  return {
    async listImages() {
      const [{ images }, pinned] = await Promise.all([
        connection.call("ListImages", {}),
        pinnedImages.names(),
      ]);
      return images.map((image) =>
        imageSummary(
          image,
          [...image.repo_tags, ...image.repo_digests, image.id].some((name) =>
            pinned.has(name),
          ),
        ),
      );
    },

    async imageStatus(image) {
      const [{ image: found }, pinned] = await Promise.all([
        connection.call("ImageStatus", { image: { image } }),
        pinnedImages.names(),
      ]);
      if (found === undefined) return undefined;
      return imageSummary(
        found,
        [...found.repo_tags, ...found.repo_digests, found.id].some((name) =>
          pinned.has(name),
        ),
      );
    },

    async pullImage(image, auth, sandbox) {
      const { image_ref } = await connection.call(
        "PullImage",
        {
          image: { image },
          auth:
            auth === undefined
              ? undefined
              : {
                  username: auth.username ?? "",
                  password: auth.password ?? "",
                  auth: auth.auth ?? "",
                  identity_token: auth.identityToken ?? "",
                  registry_token: auth.registryToken ?? "",
                },
          sandbox_config:
            sandbox === undefined ? undefined : sandboxMessage(sandbox),
        },
        0,
      );
      return image_ref;
    },

    async removeImage(image) {
      await connection.call("RemoveImage", { image: { image } });
    },

    async imageFsInfo() {
      return imageFilesystems(await connection.call("ImageFsInfo", {}));
    },

    importImage: (tarPath, { pinned = false } = {}) => {
      pinnedImages.forget();
      return importImageArchive(connection, tarPath, {
        pinned,
        leaseId: leaseId(),
      }).finally(() => pinnedImages.forget());
    },

    exportImages: (names) => exportImages(connection, names),

    async downloads() {
      try {
        const { statuses } = await connection.service<{
          statuses: IngestStatus[];
        }>(containerdMethods.ingestStatuses, {});
        return statuses.map(({ ref, offset, total }) => ({
          name: ref,
          doneBytes: offset,
          totalBytes: total,
        }));
      } catch (error) {
        if (error instanceof RuntimeError && error.code === "unsupported")
          return [];
        throw error;
      }
    },
  };
}
