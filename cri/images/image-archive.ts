// Reads an image archive (a tar file, compressed or not) as what has to be stored: blobs and named descriptors. Takes the
// OCI image layout (index.json) and the docker archive (manifest.json); of one that is both, the OCI half is stored and
// the docker half only gives names. Contents of layers are not read here, except to learn a docker layer's digest.
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { normalizeImageName } from "./image-names.ts";
import { openPlainArchive } from "./plain-archive.ts";
import { indexTar, type TarIndex, type TarMember } from "./tar-index.ts";

export interface ArchiveDescriptor {
  mediaType: string;
  digest: string;
  size: number;
  annotations?: Record<string, string>;
}

export interface ArchiveBlob extends ArchiveDescriptor {
  /** Bytes in memory, or where they lie in the archive's file. */
  source: Buffer | TarMember;
  /** Garbage-collection references to the blobs this one needs. */
  labels: Record<string, string>;
}

interface ImageArchive {
  file: FileHandle;
  /** Children before parents. */
  blobs: ArchiveBlob[];
  images: { name: string; target: ArchiveDescriptor }[];
  close(): Promise<void>;
}

/** Manifests and indexes larger than this are refused, as the reference does. */
const maxManifestBytes = 8 * 1024 * 1024;
const maxIndexDepth = 4;
const chunkBytes = 1024 * 1024;

interface Manifest {
  mediaType?: string;
  config?: ArchiveDescriptor;
  layers?: ArchiveDescriptor[];
  manifests?: ArchiveDescriptor[];
}

type DockerManifest = {
  Config: string;
  RepoTags?: string[] | null;
  Layers: string[];
}[];

async function readMember(
  file: FileHandle,
  member: TarMember,
): Promise<Buffer> {
  if (member.sizeBytes > maxManifestBytes)
    throw new Error(`${member.name} in the archive is too large`);
  const bytes = Buffer.alloc(member.sizeBytes);
  await file.read(bytes, 0, member.sizeBytes, member.offset);
  return bytes;
}

function parseJson<T>(bytes: Buffer, what: string): T {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof value !== "object" || value === null)
      throw new Error("not an object");
    return value as T;
  } catch (error) {
    throw new Error(
      `${what} in the archive is not valid JSON: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function checkDescriptor(
  descriptor: ArchiveDescriptor,
  where: string,
): ArchiveDescriptor {
  const { mediaType, digest, size } = descriptor ?? {};
  if (
    typeof mediaType !== "string" ||
    typeof digest !== "string" ||
    !/^sha256:[0-9a-f]{64}$/.test(digest) ||
    !Number.isSafeInteger(size)
  )
    throw new Error(`${where} in the archive has a bad descriptor`);
  return descriptor;
}

/** Of an index; each is yet to be checked. */
function descriptorsOf(
  { manifests = [] }: Manifest,
  where: string,
): ArchiveDescriptor[] {
  if (!Array.isArray(manifests))
    throw new Error(`${where} in the archive is malformed`);
  return manifests;
}

function isIndex(mediaType: string): boolean {
  return /(?:image\.index\.v1|manifest\.list\.v2)\+json$/.test(mediaType);
}

async function digestOf(
  file: FileHandle,
  member: TarMember,
): Promise<{ digest: string; gzip: boolean }> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let gzip = false;
  for (let done = 0; done < member.sizeBytes;) {
    const { bytesRead } = await file.read(
      chunk,
      0,
      Math.min(chunkBytes, member.sizeBytes - done),
      member.offset + done,
    );
    if (bytesRead === 0) throw new Error("the archive is truncated");
    if (done === 0) gzip = chunk[0] === 0x1f && chunk[1] === 0x8b;
    hash.update(chunk.subarray(0, bytesRead));
    done += bytesRead;
  }
  return { digest: `sha256:${hash.digest("hex")}`, gzip };
}

/** Collects the blobs below one descriptor; children of other platforms that are not in the archive are left out. */
async function collect(
  file: FileHandle,
  index: TarIndex,
  descriptor: ArchiveDescriptor,
  blobs: Map<string, ArchiveBlob>,
  depth: number,
): Promise<boolean> {
  if (depth > maxIndexDepth)
    throw new Error("the archive's indexes are nested too deeply");
  if (blobs.has(descriptor.digest)) return true;
  const member = index.find(`blobs/sha256/${descriptor.digest.slice(7)}`);
  if (member === undefined) return false;
  if (member.sizeBytes !== descriptor.size)
    throw new Error(
      `blob ${descriptor.digest} in the archive has a wrong size`,
    );
  const bytes = await readMember(file, member);
  const manifest = parseJson<Manifest>(bytes, descriptor.digest);
  const labels: Record<string, string> = {};
  if (isIndex(descriptor.mediaType)) {
    let count = 0;
    const children = descriptorsOf(manifest, descriptor.digest);
    for (const [position, child] of children.entries())
      if (
        await collect(
          file,
          index,
          checkDescriptor(child, descriptor.digest),
          blobs,
          depth + 1,
        )
      ) {
        labels[`containerd.io/gc.ref.content.m.${position}`] = child.digest;
        count++;
      }
    if (count === 0)
      throw new Error(
        `the archive holds none of the images of index ${descriptor.digest}`,
      );
  } else {
    const leaf = (child: ArchiveDescriptor, label: string): void => {
      checkDescriptor(child, descriptor.digest);
      const source = index.find(`blobs/sha256/${child.digest.slice(7)}`);
      if (source === undefined)
        throw new Error(`blob ${child.digest} is missing in the archive`);
      if (source.sizeBytes !== child.size)
        throw new Error(`blob ${child.digest} in the archive has a wrong size`);
      labels[label] = child.digest;
      if (!blobs.has(child.digest))
        blobs.set(child.digest, { ...child, source, labels: {} });
    };
    if (manifest.config === undefined || !Array.isArray(manifest.layers))
      throw new Error(
        `manifest ${descriptor.digest} in the archive has no config or layers`,
      );
    leaf(manifest.config, "containerd.io/gc.ref.content.config");
    for (const [position, layer] of manifest.layers.entries())
      leaf(layer, `containerd.io/gc.ref.content.l.${position}`);
  }
  blobs.set(descriptor.digest, { ...descriptor, source: bytes, labels });
  return true;
}

/** The full name an OCI descriptor carries; a ref.name that is only a tag names nothing. */
function ociName({ annotations }: ArchiveDescriptor): string | undefined {
  const full: unknown = annotations?.["io.containerd.image.name"];
  if (typeof full === "string") return full;
  const name: unknown = annotations?.["org.opencontainers.image.ref.name"];
  return typeof name === "string" && /[/:]/.test(name) ? name : undefined;
}

async function configDigestOf(
  file: FileHandle,
  index: TarIndex,
  descriptor: ArchiveDescriptor,
): Promise<string | undefined> {
  const member = index.find(`blobs/sha256/${descriptor.digest.slice(7)}`);
  if (member === undefined || isIndex(descriptor.mediaType)) return undefined;
  return parseJson<Manifest>(await readMember(file, member), descriptor.digest)
    .config?.digest;
}

async function readOciLayout(
  file: FileHandle,
  index: TarIndex,
  docker: DockerManifest,
): Promise<Pick<ImageArchive, "blobs" | "images">> {
  const top = parseJson<Manifest>(
    await readMember(file, index.find("index.json")!),
    "index.json",
  );
  const blobs = new Map<string, ArchiveBlob>();
  const images: ImageArchive["images"] = [];
  for (const entry of descriptorsOf(top, "index.json")) {
    const target = checkDescriptor(entry, "index.json");
    if (!(await collect(file, index, target, blobs, 0)))
      throw new Error(`blob ${target.digest} is missing in the archive`);
    const names = new Set<string>();
    const own = ociName(target);
    if (own !== undefined) names.add(normalizeImageName(own));
    const config =
      docker.length === 0
        ? undefined
        : await configDigestOf(file, index, target);
    for (const image of docker)
      if (config !== undefined && image.Config.includes(config.slice(7)))
        for (const tag of image.RepoTags ?? [])
          names.add(normalizeImageName(tag));
    for (const name of names) images.push({ name, target });
  }
  return { blobs: [...blobs.values()], images };
}

async function readDockerArchive(
  file: FileHandle,
  index: TarIndex,
  docker: DockerManifest,
): Promise<Pick<ImageArchive, "blobs" | "images">> {
  const blobs = new Map<string, ArchiveBlob>();
  const images: ImageArchive["images"] = [];
  const member = (name: string): TarMember => {
    const found = index.find(name);
    if (found === undefined)
      throw new Error(`${name} is missing in the archive`);
    return found;
  };
  for (const image of docker) {
    const configBytes = await readMember(file, member(image.Config));
    const config: ArchiveDescriptor = {
      mediaType: "application/vnd.docker.container.image.v1+json",
      digest: `sha256:${createHash("sha256").update(configBytes).digest("hex")}`,
      size: configBytes.length,
    };
    const labels: Record<string, string> = {
      "containerd.io/gc.ref.content.config": config.digest,
    };
    const layers: ArchiveDescriptor[] = [];
    for (const [position, name] of image.Layers.entries()) {
      const source = member(name);
      const { digest, gzip } = await digestOf(file, source);
      const layer = {
        mediaType: `application/vnd.docker.image.rootfs.diff.tar${gzip ? ".gzip" : ""}`,
        digest,
        size: source.sizeBytes,
      };
      layers.push(layer);
      labels[`containerd.io/gc.ref.content.l.${position}`] = digest;
      blobs.set(digest, { ...layer, source, labels: {} });
    }
    const mediaType = "application/vnd.docker.distribution.manifest.v2+json";
    const bytes = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType, config, layers }),
    );
    const target = {
      mediaType,
      digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
      size: bytes.length,
    };
    blobs.set(config.digest, { ...config, source: configBytes, labels: {} });
    blobs.set(target.digest, { ...target, source: bytes, labels });
    for (const tag of image.RepoTags ?? [])
      images.push({ name: normalizeImageName(tag), target });
  }
  return { blobs: [...blobs.values()], images };
}

function isDockerManifest(value: unknown): value is DockerManifest {
  const areTexts = (list: unknown): boolean =>
    Array.isArray(list) && list.every((each) => typeof each === "string");
  return (
    Array.isArray(value) &&
    value.every((image: Partial<DockerManifest[number]> | null) => {
      const { Config, Layers, RepoTags } = image ?? {};
      return (
        typeof Config === "string" &&
        areTexts(Layers) &&
        areTexts(RepoTags ?? [])
      );
    })
  );
}

/** Each name once: of several images with one name the last has it. */
function namedOnce(images: ImageArchive["images"]): ImageArchive["images"] {
  return [...new Map(images.map((image) => [image.name, image])).values()];
}

/** Opens the archive, unpacked into a temporary file that close() removes. Rejects with an Error that says what is wrong. */
export async function openImageArchive(path: string): Promise<ImageArchive> {
  const { file, close } = await openPlainArchive(path);
  try {
    const index = await indexTar(file);
    const dockerMember = index.find("manifest.json");
    const docker: unknown =
      dockerMember === undefined
        ? []
        : parseJson(await readMember(file, dockerMember), "manifest.json");
    if (!isDockerManifest(docker))
      throw new Error("manifest.json in the archive is malformed");
    if (index.find("index.json") === undefined && dockerMember === undefined)
      throw new Error(
        "the archive is neither an OCI image layout nor a docker archive",
      );
    const content =
      index.find("index.json") === undefined
        ? await readDockerArchive(file, index, docker)
        : await readOciLayout(file, index, docker);
    if (content.images.length === 0)
      throw new Error("the archive names no image");
    const { blobs, images } = content;
    return { file, blobs, images: namedOnce(images), close };
  } catch (error) {
    await close();
    throw error;
  }
}
