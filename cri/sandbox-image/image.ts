// The built-in sandbox image: one tar that is an OCI image layout and a docker archive at once, so that containerd's
// importer and `docker load` both take it. Deterministic: the same architecture always gives the same digest.
import { createHash } from "node:crypto";
import {
  hostArchitecture,
  type Architecture,
} from "../machine-code/architecture.ts";
import { pauseProgram } from "./pause-program.ts";
import { writeTar } from "./tar.ts";

/** Fully qualified, so that no runtime adds a registry of its own to it. It is never pulled. */
export const sandboxImageName = "orbit.local/pause:1";

interface SandboxImage {
  name: string;
  tar: Buffer;
  /** `sha256:…` of the image configuration: the image id. */
  id: string;
}

function blob(content: Buffer | object): {
  content: Buffer;
  digest: string;
  path: string;
} {
  const bytes = Buffer.isBuffer(content)
    ? content
    : Buffer.from(JSON.stringify(content));
  const hex = createHash("sha256").update(bytes).digest("hex");
  return {
    content: bytes,
    digest: `sha256:${hex}`,
    path: `blobs/sha256/${hex}`,
  };
}

export function buildSandboxImage(
  architecture: Architecture = hostArchitecture(),
): SandboxImage {
  const layer = blob(
    writeTar([
      { name: "pause", mode: 0o755, content: pauseProgram(architecture) },
    ]),
  );
  const config = blob({
    architecture,
    os: "linux",
    config: { Entrypoint: ["/pause"], WorkingDir: "/" },
    rootfs: { type: "layers", diff_ids: [layer.digest] },
    history: [{ created: "1970-01-01T00:00:00Z", comment: "orbit sandbox" }],
    created: "1970-01-01T00:00:00Z",
  });
  const manifest = blob({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: config.digest,
      size: config.content.length,
    },
    layers: [
      {
        mediaType: "application/vnd.oci.image.layer.v1.tar",
        digest: layer.digest,
        size: layer.content.length,
      },
    ],
  });
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [
      {
        mediaType: "application/vnd.oci.image.manifest.v1+json",
        digest: manifest.digest,
        size: manifest.content.length,
        annotations: {
          "io.containerd.image.name": sandboxImageName,
          "org.opencontainers.image.ref.name": "1",
        },
        platform: { architecture, os: "linux" },
      },
    ],
  };
  const dockerManifest = [
    { Config: config.path, RepoTags: [sandboxImageName], Layers: [layer.path] },
  ];
  const file = (
    name: string,
    content: Buffer,
  ): { name: string; mode: number; content: Buffer } => ({
    name,
    mode: 0o644,
    content,
  });
  const tar = writeTar([
    file("oci-layout", Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
    file("index.json", Buffer.from(JSON.stringify(index))),
    file("manifest.json", Buffer.from(JSON.stringify(dockerManifest))),
    { name: "blobs/", mode: 0o755 },
    { name: "blobs/sha256/", mode: 0o755 },
    ...[layer, config, manifest].map(({ path, content }) =>
      file(path, content),
    ),
  ]);
  return { name: sandboxImageName, tar, id: config.digest };
}
