// Images out of containerd's content store as one archive. Of an index that was pulled for this platform alone, the
// platform's manifest is written in its place: the archive then holds all that it names.
import { Readable } from "node:stream";
import { grpcCodes } from "../../grpc/channel.ts";
import {
  layoutTar,
  type LayoutDescriptor,
  type LayoutImage,
} from "./oci-layout.ts";
import { normalizeImageName } from "../images/image-names.ts";
import { hostArchitecture } from "../machine-code/architecture.ts";
import { RuntimeError } from "../runtime.ts";
import { causeCode, toRuntimeError, type Connection } from "./connection.ts";
import { containerdMethods, type StoredImage } from "./services.ts";

interface Manifest {
  readonly config?: LayoutDescriptor;
  readonly layers?: readonly LayoutDescriptor[];
  readonly manifests?: readonly (LayoutDescriptor & {
    readonly platform?: {
      readonly os?: string;
      readonly architecture?: string;
    };
  })[];
}

/** As importing refuses larger ones. */
const maxManifestBytes = 8 * 1024 * 1024;
const maxDepth = 4;

export async function exportImages(
  connection: Connection,
  names: readonly string[],
): Promise<Readable> {
  const blobs = new Map<string, LayoutDescriptor>();
  const images: LayoutImage[] = [];
  for (const name of names)
    images.push(await collectImage(connection, name, blobs));
  return Readable.from(
    layoutTar(images, [...blobs.values()], (digest) =>
      readBlob(connection, digest),
    ),
    { objectMode: false },
  );
}

async function collectImage(
  connection: Connection,
  given: string,
  blobs: Map<string, LayoutDescriptor>,
): Promise<LayoutImage> {
  const name = normalized(given);
  const { image } = await connection
    .service<{ image?: StoredImage }>(containerdMethods.getImage, { name })
    .catch((error: unknown) => {
      if (causeCode(error) === grpcCodes.unimplemented)
        throw new RuntimeError(
          "unsupported",
          "the container runtime gives no image archives: CRI has no call for it, and only containerd and Docker have one of their own",
          { cause: error },
        );
      throw error;
    });
  if (!image?.target)
    throw new RuntimeError("not-found", `image ${name} is not here`);
  const { media_type: mediaType, digest, size } = image.target;
  const target = { mediaType, digest, size };
  const found = await collect(connection, target, blobs, 0);
  if (!found)
    throw new RuntimeError(
      "not-found",
      `image ${name} can't be saved: parts of it are not kept by the container runtime`,
    );
  return { name, ...found };
}

/** Undefined when something of it is not there. What is not needed after all may be among the blobs. */
async function collect(
  connection: Connection,
  target: LayoutDescriptor,
  blobs: Map<string, LayoutDescriptor>,
  depth: number,
): Promise<Pick<LayoutImage, "target" | "manifest"> | undefined> {
  if (depth > maxDepth) return undefined;
  if (!(await isPresent(connection, target.digest))) return undefined;
  const manifest = await readManifest(connection, target);
  if (manifest.config) {
    const { config, layers = [] } = manifest;
    const parts = [config, ...layers];
    for (const part of parts)
      if (!(await isPresent(connection, part.digest))) return undefined;
    for (const part of [...parts, target]) blobs.set(part.digest, part);
    return { target, manifest: { config, layers } };
  }
  const children = manifest.manifests ?? [];
  const found: (Pick<LayoutImage, "target" | "manifest"> | undefined)[] = [];
  for (const child of children)
    found.push(await collect(connection, child, blobs, depth + 1));
  const own =
    found[
      children.findIndex(
        ({ platform }, index) =>
          found[index] !== undefined &&
          platform?.os === "linux" &&
          platform.architecture === hostArchitecture(),
      )
    ] ?? found.find((each) => each !== undefined);
  if (!own || found.includes(undefined)) return own;
  blobs.set(target.digest, target);
  return { target, manifest: own.manifest };
}

async function isPresent(
  connection: Connection,
  digest: string,
): Promise<boolean> {
  try {
    await connection.service(containerdMethods.contentInfo, { digest });
    return true;
  } catch (error) {
    if (causeCode(error) === grpcCodes.notFound) return false;
    throw error;
  }
}

async function readManifest(
  connection: Connection,
  { digest, size }: LayoutDescriptor,
): Promise<Manifest> {
  if (size > maxManifestBytes)
    throw new RuntimeError("invalid", `manifest ${digest} is too large`);
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(connection, digest)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Manifest;
}

async function* readBlob(
  connection: Connection,
  digest: string,
): AsyncGenerator<Buffer> {
  const stream = connection.serverStream(containerdMethods.readContent, {
    digest,
  });
  try {
    for await (const { data } of stream as AsyncIterable<{ data: Buffer }>)
      yield data;
  } catch (error) {
    throw toRuntimeError(error, `reading ${digest}`);
  } finally {
    stream.cancel();
  }
}

function normalized(name: string): string {
  try {
    return normalizeImageName(name);
  } catch (error) {
    throw new RuntimeError("invalid", (error as Error).message, {
      cause: error,
    });
  }
}
