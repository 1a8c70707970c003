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
/** Of one archive in all: they are parsed in one turn each, and stay in memory until they are stored. */
const maxManifestsBytes = 8 * maxManifestBytes;
const maxIndexDepth = 4;
/** Of an image, and of all images of a docker archive. */
const maxLayers = 1000;
const maxDockerLayers = 20_000;
const maxNames = 10_000;
const configLabel = "containerd.io/gc.ref.content.config";
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

/** An archive's file and where its members lie. */
class Members {
  readonly #digests = new Map<
    TarMember,
    Promise<{ digest: string; gzip: boolean }>
  >();
  #bytesLeft = maxManifestsBytes;

  constructor(
    private readonly file: FileHandle,
    private readonly index: TarIndex,
  ) {}

  find(name: string): TarMember | undefined {
    return this.index.find(name);
  }

  blob(digest: string): TarMember | undefined {
    return this.find(`blobs/sha256/${digest.slice(7)}`);
  }

  /** All of a manifest, an index or a configuration. */
  async read({ name, offset, sizeBytes }: TarMember): Promise<Buffer> {
    if (sizeBytes > maxManifestBytes)
      throw new Error(`${name} in the archive is too large`);
    this.#bytesLeft -= sizeBytes;
    if (this.#bytesLeft < 0)
      throw new Error("the manifests in the archive are too large in all");
    const bytes = Buffer.alloc(sizeBytes);
    await this.file.read(bytes, 0, sizeBytes, offset);
    return bytes;
  }

  /** Read once, however many images have it as a layer. */
  digest(member: TarMember): Promise<{ digest: string; gzip: boolean }> {
    let known = this.#digests.get(member);
    if (!known) {
      known = digestOf(this.file, member);
      this.#digests.set(member, known);
    }
    return known;
  }
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
  members: Members,
  descriptor: ArchiveDescriptor,
  blobs: Map<string, ArchiveBlob>,
  depth: number,
): Promise<boolean> {
  if (depth > maxIndexDepth)
    throw new Error("the archive's indexes are nested too deeply");
  if (blobs.has(descriptor.digest)) return true;
  const member = members.blob(descriptor.digest);
  if (member === undefined) return false;
  if (member.sizeBytes !== descriptor.size)
    throw new Error(
      `blob ${descriptor.digest} in the archive has a wrong size`,
    );
  const bytes = await members.read(member);
  const manifest = parseJson<Manifest>(bytes, descriptor.digest);
  const labels: Record<string, string> = {};
  if (isIndex(descriptor.mediaType)) {
    let count = 0;
    const children = descriptorsOf(manifest, descriptor.digest);
    for (const [position, child] of children.entries())
      if (
        await collect(
          members,
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
      const source = members.blob(child.digest);
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
    if (manifest.layers.length > maxLayers)
      throw new Error(
        `manifest ${descriptor.digest} in the archive has more than ${maxLayers} layers`,
      );
    leaf(manifest.config, configLabel);
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

/** The hexadecimal digest of an image's configuration, by which its file is named → the image's tags. */
function dockerTags(
  docker: DockerManifest,
): ReadonlyMap<string, ReadonlySet<string>> {
  const tags = new Map<string, Set<string>>();
  for (const { Config, RepoTags } of docker) {
    const [hex] = /[0-9a-f]{64}/.exec(Config) ?? [];
    if (hex === undefined || !RepoTags) continue;
    const known = tags.get(hex) ?? new Set();
    tags.set(hex, known);
    for (const tag of RepoTags) known.add(tag);
  }
  return tags;
}

async function readOciLayout(
  members: Members,
  docker: DockerManifest,
): Promise<Pick<ImageArchive, "blobs" | "images">> {
  const top = parseJson<Manifest>(
    await members.read(members.find("index.json")!),
    "index.json",
  );
  const tags = dockerTags(docker);
  const blobs = new Map<string, ArchiveBlob>();
  const images: ImageArchive["images"] = [];
  for (const entry of descriptorsOf(top, "index.json")) {
    const target = checkDescriptor(entry, "index.json");
    if (!(await collect(members, target, blobs, 0)))
      throw new Error(`blob ${target.digest} is missing in the archive`);
    const names = new Set<string>();
    const own = ociName(target);
    if (own !== undefined) names.add(normalizeImageName(own));
    const config = blobs.get(target.digest)?.labels[configLabel];
    if (config !== undefined)
      for (const tag of tags.get(config.slice(7)) ?? [])
        names.add(normalizeImageName(tag));
    for (const name of names) images.push({ name, target });
    checkCount(images);
  }
  return { blobs: [...blobs.values()], images };
}

async function readDockerArchive(
  members: Members,
  docker: DockerManifest,
): Promise<Pick<ImageArchive, "blobs" | "images">> {
  const blobs = new Map<string, ArchiveBlob>();
  const images: ImageArchive["images"] = [];
  const member = (name: string): TarMember => {
    const found = members.find(name);
    if (found === undefined)
      throw new Error(`${name} is missing in the archive`);
    return found;
  };
  if (
    docker.reduce((sum, image) => sum + image.Layers.length, 0) >
    maxDockerLayers
  )
    throw new Error(
      `manifest.json in the archive has more than ${maxDockerLayers} layers`,
    );
  for (const image of docker) {
    const configBytes = await members.read(member(image.Config));
    const config: ArchiveDescriptor = {
      mediaType: "application/vnd.docker.container.image.v1+json",
      digest: `sha256:${createHash("sha256").update(configBytes).digest("hex")}`,
      size: configBytes.length,
    };
    const labels: Record<string, string> = {
      [configLabel]: config.digest,
    };
    const layers: ArchiveDescriptor[] = [];
    for (const [position, name] of image.Layers.entries()) {
      const source = member(name);
      const { digest, gzip } = await members.digest(source);
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
    for (const tag of new Set(image.RepoTags))
      images.push({ name: normalizeImageName(tag), target });
    checkCount(images);
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

function checkCount({ length }: ImageArchive["images"]): void {
  if (length > maxNames)
    throw new Error(`the archive names more than ${maxNames} images`);
}

/** Each name once: of several images with one name the last has it. */
function namedOnce(images: ImageArchive["images"]): ImageArchive["images"] {
  return [...new Map(images.map((image) => [image.name, image])).values()];
}

/** Opens the archive, unpacked into a temporary file that close() removes. Rejects with an Error that says what is wrong. */
export async function openImageArchive(path: string): Promise<ImageArchive> {
  const { file, close } = await openPlainArchive(path);
  try {
    const members = new Members(file, await indexTar(file));
    const dockerMember = members.find("manifest.json");
    const docker: unknown =
      dockerMember === undefined
        ? []
        : parseJson(await members.read(dockerMember), "manifest.json");
    if (!isDockerManifest(docker))
      throw new Error("manifest.json in the archive is malformed");
    const layout = members.find("index.json");
    if (layout === undefined && dockerMember === undefined)
      throw new Error(
        "the archive is neither an OCI image layout nor a docker archive",
      );
    const content =
      layout === undefined
        ? await readDockerArchive(members, docker)
        : await readOciLayout(members, docker);
    if (content.images.length === 0)
      throw new Error("the archive names no image");
    const { blobs, images } = content;
    return { file, blobs, images: namedOnce(images), close };
  } catch (error) {
    await close();
    throw error;
  }
}
