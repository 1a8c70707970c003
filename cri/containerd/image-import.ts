// Puts an image archive into containerd through its content and images services: blobs streamed in 1 MiB messages with
// their digests checked by containerd, as long as there is room for them, then the names. A lease keeps the garbage collector
// off until the names exist. Layers are unpacked by the runtime at the first container. Blobs that are already there are not sent again.
import { grpcCodes } from "../../grpc/channel.ts";
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { imageFilesystems } from "./answers.ts";
import { causeCode, toRuntimeError, type Connection } from "./connection.ts";
import {
  openImageArchive,
  type ArchiveBlob,
  type ArchiveDescriptor,
} from "../images/image-archive.ts";
import { diskRoom, keptFree, type DiskRoom } from "../images/disk-room.ts";
import { containerdMethods } from "./services.ts";
import { RuntimeError } from "../runtime.ts";

/** containerd's label of images that garbage collection leaves alone. */
const pinnedLabels: Readonly<Record<string, string>> = {
  "io.cri-containerd.pinned": "pinned",
};

const chunkBytes = 1024 * 1024;
const writeActions = { stat: 0, write: 1, commit: 2 } as const;
/** How long the CRI side may take to learn of a new name. */
const visibleTimeoutMs = 10_000;

async function* chunksOf(
  file: FileHandle,
  { source, size }: ArchiveBlob,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < size;) {
    const wanted = Math.min(chunkBytes, size - done);
    if (Buffer.isBuffer(source)) yield source.subarray(done, done + wanted);
    else {
      const chunk = Buffer.allocUnsafe(wanted);
      const { bytesRead } = await file.read(
        chunk,
        0,
        wanted,
        source.offset + done,
      );
      if (bytesRead !== wanted) throw new Error("the archive is truncated");
      yield chunk;
    }
    done += wanted;
  }
}

/** Needed by every pod, the sandbox's image is smaller: it is stored in any case. */
const smallBlobBytes = 1024 * 1024;

/** Where the runtime keeps images; undefined where it does not say, or in a mount namespace of its own. */
async function roomForImages(
  connection: Connection,
): Promise<DiskRoom | undefined> {
  const [images] = imageFilesystems(await connection.call("ImageFsInfo", {}));
  const directory = images?.mountpoint;
  return directory
    ? await diskRoom(directory).catch(() => undefined)
    : undefined;
}

async function checkRoom(
  room: DiskRoom | undefined,
  { digest, size }: ArchiveBlob,
): Promise<void> {
  if (room === undefined || size <= smallBlobBytes) return;
  if (size > (await room.left()))
    throw new RuntimeError(
      "invalid",
      `no room for ${digest} of ${size} bytes in ${room.directory}, ${keptFree}`,
    );
}

/**
 * Opening a write is also how a blob that is there already is put under the lease: a mere look at it would leave it to the
 * garbage collector.
 */
async function writeBlob(
  connection: Connection,
  file: FileHandle,
  blob: ArchiveBlob,
  { lease, room }: { lease: string; room: DiskRoom | undefined },
): Promise<void> {
  const ref = `${lease}-${blob.digest}`;
  const common = { ref, total: blob.size, expected: blob.digest };
  const stream = connection.duplexStream(containerdMethods.writeContent, {
    lease,
  });
  let failure: unknown;
  const ended = new Promise<void>((resolve) => {
    stream.on("error", (error) => {
      failure ??= error;
      resolve();
    });
    stream.on("end", resolve);
  });
  const answered = new Promise<void>((resolve) => stream.on("data", resolve));
  const drained = (): Promise<unknown> =>
    Promise.race([once(stream, "drain").catch(() => undefined), ended]);
  try {
    stream.write({ action: writeActions.stat, ...common });
    await Promise.race([answered, ended]);
    if (failure === undefined) await checkRoom(room, blob);
    let offset = 0;
    if (failure === undefined)
      for await (const data of chunksOf(file, blob)) {
        const action = writeActions.write;
        const more = stream.write({ action, ...common, offset, data });
        offset += data.length;
        if (!more) await drained();
        if (failure !== undefined) break;
      }
    if (failure === undefined) {
      const action = writeActions.commit;
      stream.write({ action, ...common, offset, labels: blob.labels });
    }
    stream.end();
    await ended;
  } catch (error) {
    stream.cancel();
    throw error;
  }
  if (failure === undefined) return;
  if (causeCode(failure) === grpcCodes.alreadyExists) {
    await keepBlob(connection, blob, lease);
    return;
  }
  await connection
    .service(containerdMethods.abortContent, { ref })
    .catch(() => undefined);
  throw toRuntimeError(failure, `storing ${blob.digest}`);
}

/** A blob that was there already may lack the references to its children. */
async function keepBlob(
  connection: Connection,
  blob: ArchiveBlob,
  lease: string,
): Promise<void> {
  const paths = Object.keys(blob.labels).map((label) => `labels.${label}`);
  if (paths.length === 0) return;
  await connection.service(
    containerdMethods.updateContent,
    {
      info: { digest: blob.digest, labels: blob.labels },
      update_mask: { paths },
    },
    { lease },
  );
}

async function nameImage(
  connection: Connection,
  name: string,
  target: ArchiveDescriptor,
  pinned: boolean,
): Promise<void> {
  const image = {
    name,
    labels: pinned ? pinnedLabels : {},
    target: {
      media_type: target.mediaType,
      digest: target.digest,
      size: target.size,
    },
  };
  try {
    await connection.service(containerdMethods.createImage, { image });
  } catch (error) {
    if (causeCode(error) !== grpcCodes.alreadyExists) throw error;
    const paths = [
      "target",
      ...Object.keys(image.labels).map((label) => `labels.${label}`),
    ];
    await connection.service(containerdMethods.updateImage, {
      image,
      update_mask: { paths },
    });
  }
}

/** The CRI side learns of names by an event; images are only usable once it has. */
async function untilVisible(
  connection: Connection,
  name: string,
): Promise<void> {
  for (
    let waitedMs = 0, delayMs = 2;
    ;
    waitedMs += delayMs, delayMs = Math.min(delayMs * 2, 100)
  ) {
    const { image } = await connection.call("ImageStatus", {
      image: { image: name },
    });
    if (image !== undefined) return;
    if (waitedMs > visibleTimeoutMs)
      throw new RuntimeError(
        "timeout",
        `image ${name} was stored but did not appear in the runtime`,
      );
    await sleep(delayMs);
  }
}

interface ImportOptions {
  pinned: boolean;
  leaseId: string;
  /** A further name for the first image. */
  extraName?: string;
}

/** Imports every image of the archive and resolves to their normalised names. Bad archives are RuntimeError "invalid". */
export async function importImageArchive(
  connection: Connection,
  path: string,
  options: ImportOptions,
): Promise<string[]> {
  const archive = await openImageArchive(path).catch((error: unknown) => {
    throw new RuntimeError("invalid", `${path}: ${(error as Error).message}`, {
      cause: error,
    });
  });
  const { leaseId: lease } = options;
  try {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    await connection
      .service(containerdMethods.createLease, {
        id: lease,
        labels: { "containerd.io/gc.expire": expires },
      })
      .catch((error: unknown) => {
        if (!(error instanceof RuntimeError) || error.code !== "unsupported")
          throw error;
        throw new RuntimeError(
          "unsupported",
          "the container runtime takes no image archives: CRI has no call for it, and only containerd and Docker have one of their own",
          { cause: error },
        );
      });
    try {
      const room = await roomForImages(connection);
      for (const blob of archive.blobs)
        await writeBlob(connection, archive.file, blob, { lease, room });
      for (const { name, target } of archive.images)
        await nameImage(connection, name, target, options.pinned);
      const names = [...new Set(archive.images.map(({ name }) => name))];
      if (
        options.extraName !== undefined &&
        !names.includes(options.extraName)
      ) {
        await nameImage(
          connection,
          options.extraName,
          archive.images[0]!.target,
          options.pinned,
        );
        names.push(options.extraName);
      }
      for (const name of names) await untilVisible(connection, name);
      return names;
    } finally {
      await connection
        .service(containerdMethods.deleteLease, { id: lease })
        .catch(() => undefined);
    }
  } finally {
    await archive.close();
  }
}
