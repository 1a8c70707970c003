// Image archives that were made to take the node's memory or time: small when they are compressed, endless when they are read.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { openImageArchive } from "../../../cri/images/image-archive.ts";
import { indexTar } from "../../../cri/images/tar-index.ts";
import {
  tarEnd,
  tarHeader,
  tarPadding,
  writeTar,
} from "../../../cri/sandbox-image/tar.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories();

const text = (value: unknown): Buffer =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const files = (entries: Record<string, unknown>): Buffer =>
  writeTar(
    Object.entries(entries).map(([name, value]) => ({
      name,
      mode: 0o644,
      content: text(value),
    })),
  );

/** A member of another type than a file. */
function special(type: string, name: string, content = ""): Buffer {
  const header = tarHeader(name, 0o644, content.length);
  header.write(`        ${type}`, 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const bytes = Buffer.from(content);
  return Buffer.concat([header, bytes, tarPadding(bytes.length)]);
}

const names = (count: number, length: number): Buffer[] =>
  Array.from({ length: count }, (_, n) =>
    Buffer.concat([
      special("L", "././@LongLink", `${n}`.padEnd(length, "n")),
      tarHeader("x", 0o644, 0),
    ]),
  );

test.each([
  ["a name of a megabyte", names(1, 1_000_000), "names in the tar file are"],
  ["many long names", names(4200, 4000), "names in the tar file are too long"],
  [
    "a link of a megabyte",
    [special("K", "k", "l".repeat(1_000_000)), special("2", "a")],
    "names in the tar file are too long",
  ],
  [
    "a directory without end",
    [Buffer.concat(Array<Buffer>(100_001).fill(special("5", "d/")))],
    "too many members",
  ],
  [
    "a header of empty records",
    [special("x", "pax", "6 a=b\n".repeat(5000))],
    "too many records",
  ],
])("a tar file with %s is refused", async (_what, parts, message) => {
  const file = path.join(temporary(), "a.tar");
  fs.writeFileSync(file, Buffer.concat([...parts, tarEnd]));
  const opened = await fs.promises.open(file);
  try {
    await expect(indexTar(opened)).rejects.toThrow(message);
  } finally {
    await opened.close();
  }
});

const sha256 = (bytes: string): string =>
  createHash("sha256").update(bytes).digest("hex");

/** An OCI layout of one image whose manifest is there so many times, with a docker archive's manifest beside it. */
function layout(manifest: string, times: number, docker: unknown): Buffer {
  const entry = {
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    digest: `sha256:${sha256(manifest)}`,
    size: manifest.length,
  };
  return files({
    "index.json": { manifests: Array(times).fill(entry) as unknown },
    [`blobs/sha256/${sha256(manifest)}`]: manifest,
    [`blobs/sha256/${sha256("{}")}`]: "{}",
    "manifest.json": docker,
  });
}
const config = {
  mediaType: "application/vnd.oci.image.config.v1+json",
  digest: `sha256:${sha256("{}")}`,
  size: 2,
};

test("the tags of a docker archive's manifest are those of the layout's images with its configuration", async () => {
  const file = path.join(temporary(), "a.tar");
  const Config = `blobs/sha256/${sha256("{}")}`;
  fs.writeFileSync(
    file,
    layout(JSON.stringify({ config, layers: [] }), 20_000, [
      { Config, Layers: [], RepoTags: ["a:1", "a:2"] },
      { Config: "other", Layers: [], RepoTags: ["b"] },
      ...(Array(20_000).fill({ Config, Layers: [], RepoTags: ["a:1"] }) as []),
    ]),
  );
  await expect(openImageArchive(file)).rejects.toThrow(
    "the archive names more than 10000 images",
  );
  fs.writeFileSync(
    file,
    layout(JSON.stringify({ config, layers: [] }), 2, [
      { Config, Layers: [], RepoTags: ["a:1", "a:2"] },
      { Config: "other", Layers: [], RepoTags: ["b"] },
    ]),
  );
  const archive = await openImageArchive(file);
  expect(archive.images.map(({ name }) => name)).toEqual([
    "docker.io/library/a:1",
    "docker.io/library/a:2",
  ]);
  await archive.close();
});

test("an image of a thousand and one layers is refused", async () => {
  const file = path.join(temporary(), "a.tar");
  const layers = Array(1001).fill(config) as unknown;
  fs.writeFileSync(file, layout(JSON.stringify({ config, layers }), 1, []));
  await expect(openImageArchive(file)).rejects.toThrow("more than 1000 layers");
});

test("manifests of more than 64 MiB in all are refused", async () => {
  const file = path.join(temporary(), "a.tar");
  const RepoTags = ["a"];
  const images = Array.from({ length: 9 }, (_, n) => `c${n}`);
  fs.writeFileSync(
    file,
    files({
      "manifest.json": images.map((Config) => ({
        ...{ Config, Layers: [], RepoTags },
      })),
      ...Object.fromEntries(
        images.map((name) => [name, " ".repeat(8 * 1024 * 1024)]),
      ),
    }),
  );
  await expect(openImageArchive(file)).rejects.toThrow("too large in all");
});
