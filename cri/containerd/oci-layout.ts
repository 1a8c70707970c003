// Writes an OCI image layout as a tar, blob by blob as they are read, with the docker archive's manifest.json beside it, so
// that docker's older releases load it too.
import { tarEnd, tarHeader, tarPadding } from "../sandbox-image/tar.ts";

export interface LayoutDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An image under one name; `manifest` is its own platform's. */
export interface LayoutImage {
  /** Normalised. */
  readonly name: string;
  readonly target: LayoutDescriptor;
  readonly manifest: {
    readonly config: LayoutDescriptor;
    readonly layers: readonly LayoutDescriptor[];
  };
}

const place = (digest: string): string => `blobs/${digest.replace(":", "/")}`;

function member(name: string, value: unknown): Buffer {
  const content = Buffer.from(JSON.stringify(value));
  return Buffer.concat([
    tarHeader(name, 0o644, content.length),
    content,
    tarPadding(content.length),
  ]);
}

/** @param read a blob's bytes; more or fewer than its size is an error. @param blobs each once, all that the images need */
export async function* layoutTar(
  images: readonly LayoutImage[],
  blobs: readonly LayoutDescriptor[],
  read: (digest: string) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for (const { digest, size } of blobs) {
    yield tarHeader(place(digest), 0o444, size);
    let bytes = 0;
    for await (const chunk of read(digest)) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== size)
      throw new Error(`blob ${digest} has ${bytes} bytes, not ${size}`);
    yield tarPadding(size);
  }
  yield member("oci-layout", { imageLayoutVersion: "1.0.0" });
  yield member("index.json", {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: images.map(({ name, target }) => ({
      ...target,
      annotations: {
        "io.containerd.image.name": name,
        "org.opencontainers.image.ref.name": tagOf(name),
      },
    })),
  });
  yield member(
    "manifest.json",
    images.map(({ name, manifest }) => ({
      Config: place(manifest.config.digest),
      RepoTags: name.includes("@") ? [] : [name],
      Layers: manifest.layers.map(({ digest }) => place(digest)),
    })),
  );
  yield tarEnd;
}

function tagOf(name: string): string {
  const [tagged = ""] = name.split("@");
  const colon = tagged.lastIndexOf(":");
  return colon > tagged.lastIndexOf("/") ? tagged.slice(colon + 1) : "latest";
}
