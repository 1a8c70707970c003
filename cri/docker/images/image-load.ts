// An image archive in either form as the daemon can load it: it wants the docker form, of one platform. The archive is read
// and checked as for the other runtimes, and a new one is sent while it is made, with the blobs where they lie.
import type { FileHandle } from "node:fs/promises";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  openImageArchive,
  type ArchiveBlob,
  type ArchiveDescriptor,
} from "../../images/image-archive.ts";
import { RuntimeError } from "../../runtime.ts";
import { hostArchitecture } from "../../machine-code/architecture.ts";
import { tarEnd, tarHeader, tarPadding } from "../../sandbox-image/tar.ts";
import type { DockerConnection } from "../connection.ts";
import { readProgress } from "./progress.ts";

interface Manifest {
  config?: ArchiveDescriptor;
  layers?: ArchiveDescriptor[];
  manifests?: (ArchiveDescriptor & {
    platform?: { os?: string; architecture?: string };
  })[];
}

const chunkBytes = 1024 * 1024;

/** Resolves to the names and the ids of the images. A bad archive is a RuntimeError "invalid". */
export async function loadArchive(
  connection: DockerConnection,
  path: string,
): Promise<{ names: string[]; ids: string[] }> {
  const bad = (error: unknown): never => {
    throw new RuntimeError("invalid", `${path}: ${(error as Error).message}`, {
      cause: error,
    });
  };
  const archive = await openImageArchive(path).catch(bad);
  try {
    const blobs = new Map(archive.blobs.map((blob) => [blob.digest, blob]));
    const images = new Map<string, { manifest: Manifest; names: string[] }>();
    for (const { name, target } of archive.images) {
      const manifest = platformManifest(blobs, target.digest);
      const id = manifest.config!.digest;
      const known = images.get(id);
      if (known) known.names.push(name);
      else images.set(id, { manifest, names: [name] });
    }
    await loadTar(
      connection,
      Readable.from(dockerArchive(archive.file, blobs, images.values()), {
        objectMode: false,
      }),
    ).catch((error: unknown) => {
      if (error instanceof BadArchiveError) bad(error);
      throw error;
    });
    return {
      names: [...new Set(archive.images.map(({ name }) => name))],
      ids: [...images.keys()],
    };
  } finally {
    await archive.close();
  }
}

class BadArchiveError extends Error {}

function platformManifest(
  blobs: ReadonlyMap<string, ArchiveBlob>,
  digest: string,
): Manifest {
  const source = blobs.get(digest)?.source;
  if (!Buffer.isBuffer(source))
    throw new RuntimeError("invalid", `${digest} is missing in the archive`);
  const manifest = JSON.parse(source.toString("utf8")) as Manifest;
  if (manifest.config) return manifest;
  const children = (manifest.manifests ?? []).filter((child) =>
    blobs.has(child.digest),
  );
  const own = children.find(
    ({ platform }) =>
      platform?.os === "linux" && platform.architecture === hostArchitecture(),
  );
  const chosen = own ?? children[0];
  if (!chosen) throw new RuntimeError("invalid", `${digest} holds no image`);
  return platformManifest(blobs, chosen.digest);
}

async function* dockerArchive(
  file: FileHandle,
  blobs: ReadonlyMap<string, ArchiveBlob>,
  images: Iterable<{ manifest: Manifest; names: string[] }>,
): AsyncGenerator<Buffer> {
  const entries: { Config: string; RepoTags: string[]; Layers: string[] }[] =
    [];
  const written = new Set<string>();
  const place = (digest: string): string => digest.slice(7);
  for (const { manifest, names } of images) {
    const parts = [manifest.config!, ...(manifest.layers ?? [])];
    for (const { digest } of parts) {
      if (written.has(digest)) continue;
      written.add(digest);
      yield* member(file, place(digest), blobs.get(digest)!);
    }
    entries.push({
      Config: place(manifest.config!.digest),
      RepoTags: names,
      Layers: (manifest.layers ?? []).map(({ digest }) => place(digest)),
    });
  }
  const content = Buffer.from(JSON.stringify(entries));
  yield tarHeader("manifest.json", 0o644, content.length);
  yield content;
  yield tarPadding(content.length);
  yield tarEnd;
}

async function* member(
  file: FileHandle,
  name: string,
  { source, size, digest }: ArchiveBlob,
): AsyncGenerator<Buffer> {
  yield tarHeader(name, 0o644, size);
  const hash = createHash("sha256");
  for (let done = 0; done < size;) {
    const wanted = Math.min(chunkBytes, size - done);
    let chunk: Buffer;
    if (Buffer.isBuffer(source)) chunk = source.subarray(done, done + wanted);
    else {
      chunk = Buffer.allocUnsafe(wanted);
      const { bytesRead } = await file.read(
        chunk,
        0,
        wanted,
        source.offset + done,
      );
      if (bytesRead !== wanted)
        throw new BadArchiveError("the archive is truncated");
    }
    hash.update(chunk);
    yield chunk;
    done += wanted;
  }
  // Before the manifest is sent, so nothing of the archive gets a name.
  if (`sha256:${hash.digest("hex")}` !== digest)
    throw new BadArchiveError(
      `blob ${digest} in the archive has another digest`,
    );
  yield tarPadding(size);
}

/** A plain archive for the daemon to load. */
export async function loadTar(
  connection: DockerConnection,
  tar: Readable,
): Promise<void> {
  await connection.call(
    "ImportImage",
    async (docker) => {
      const progress = await docker.loadImage(tar, { quiet: true });
      await readProgress(progress as Readable, () => undefined);
    },
    0,
  );
}
