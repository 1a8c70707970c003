// Makes a container image of Debian's static busybox, without a registry or a builder:
//   node tools/busybox-image.mjs OUT.tar [NAME...]
// Default names: docker.io/library/busybox:latest, and the same with busybox's version as the tag (:1.35), which a pod may
// use without saying imagePullPolicy: only the tag latest is pulled each time.
// The tar is an OCI layout and a docker archive at once: `orbit image load OUT.tar`, `ctr -n k8s.io images import` and
// `docker load` all take it. It is the same bytes for the same busybox, whenever it is made.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";

const [out, ...given] = process.argv.slice(2);
if (!out) {
  console.error("usage: node tools/busybox-image.mjs OUT.tar [IMAGE-NAME...]");
  process.exit(1);
}
const busyboxPath = process.env.BUSYBOX ?? "/bin/busybox";
let busybox;
try {
  busybox = readFileSync(busyboxPath);
} catch {
  console.error(`${busyboxPath} is missing: apt-get install busybox-static`);
  process.exit(1);
}
const version = /v(\d+\.\d+)/.exec(
  execFileSync(busyboxPath, { encoding: "utf8" }),
)?.[1];
const names =
  given.length > 0
    ? given
    : ["latest", version]
        .filter(Boolean)
        .map((tag) => `docker.io/library/busybox:${tag}`);
const applets = execFileSync(busyboxPath, ["--list"], { encoding: "utf8" })
  .split("\n")
  .filter((name) => name && name !== "busybox");

/** One ustar record; type "0" file, "2" symbolic link, "5" directory. */
function tarEntry(
  name,
  { type = "0", mode = 0o644, body = Buffer.alloc(0), link = "" } = {},
) {
  const header = Buffer.alloc(512);
  const octal = (value, offset, length) =>
    header.write(value.toString(8).padStart(length - 1, "0"), offset, "latin1");
  header.write(name, 0, "utf8");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(type === "0" ? body.length : 0, 124, 12);
  octal(0, 136, 12);
  header.fill(" ", 148, 156);
  header.write(type, 156, "latin1");
  header.write(link, 157, "utf8");
  header.write("ustar\0" + "00", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([
    header,
    body,
    Buffer.alloc((512 - (body.length % 512)) % 512),
  ]);
}
const tar = (entries) => Buffer.concat([...entries, Buffer.alloc(1024)]);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const json = (value) => Buffer.from(JSON.stringify(value));

const layer = tar([
  ...[
    "bin/",
    "dev/",
    "etc/",
    "home/",
    "proc/",
    "root/",
    "sbin/",
    "sys/",
    "usr/",
    "usr/bin/",
    "var/",
    "var/www/",
  ].map((name) =>
    tarEntry(name, { type: "5", mode: name === "root/" ? 0o700 : 0o755 }),
  ),
  tarEntry("tmp/", { type: "5", mode: 0o1777 }),
  tarEntry("bin/busybox", { mode: 0o755, body: busybox }),
  ...applets.map((name) =>
    tarEntry(`bin/${name}`, { type: "2", mode: 0o777, link: "busybox" }),
  ),
  tarEntry("usr/bin/env", {
    type: "2",
    mode: 0o777,
    link: "../../bin/busybox",
  }),
  tarEntry("etc/passwd", {
    body: Buffer.from(
      "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n",
    ),
  }),
  tarEntry("etc/group", { body: Buffer.from("root:x:0:\nnogroup:x:65534:\n") }),
]);
const architecture =
  process.env.ARCHITECTURE ??
  { x64: "amd64", arm64: "arm64" }[process.arch] ??
  process.arch;
const config = json({
  created: "1970-01-01T00:00:00Z",
  architecture,
  os: "linux",
  config: {
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    Cmd: ["sh"],
    WorkingDir: "/",
  },
  rootfs: { type: "layers", diff_ids: [`sha256:${sha256(layer)}`] },
  history: [{ created: "1970-01-01T00:00:00Z", created_by: "busybox-static" }],
});
const manifest = json({
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  config: {
    mediaType: "application/vnd.oci.image.config.v1+json",
    digest: `sha256:${sha256(config)}`,
    size: config.length,
  },
  layers: [
    {
      mediaType: "application/vnd.oci.image.layer.v1.tar",
      digest: `sha256:${sha256(layer)}`,
      size: layer.length,
    },
  ],
});
const index = json({
  schemaVersion: 2,
  manifests: names.map((name) => ({
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    digest: `sha256:${sha256(manifest)}`,
    size: manifest.length,
    annotations: {
      "io.containerd.image.name": name,
      "org.opencontainers.image.ref.name": name,
    },
    platform: { architecture, os: "linux" },
  })),
});
const blob = (bytes) => `blobs/sha256/${sha256(bytes)}`;
const short = (name) => name.replace(/^docker\.io\/(library\/)?/, "");
const image = tar([
  tarEntry("blobs/", { type: "5", mode: 0o755 }),
  tarEntry("blobs/sha256/", { type: "5", mode: 0o755 }),
  ...[layer, config, manifest].map((bytes) =>
    tarEntry(blob(bytes), { body: bytes }),
  ),
  tarEntry("oci-layout", { body: json({ imageLayoutVersion: "1.0.0" }) }),
  tarEntry("index.json", { body: index }),
  tarEntry("manifest.json", {
    body: json([
      {
        Config: blob(config),
        RepoTags: names.map(short),
        Layers: [blob(layer)],
      },
    ]),
  }),
]);
const half = `${out}.${process.pid}.tmp`;
writeFileSync(half, image);
renameSync(half, out);
console.log(
  `${out}: ${names.join(", ")} (${(image.length / 1024 / 1024).toFixed(1)} MiB)`,
);
