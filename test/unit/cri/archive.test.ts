// Image names, tar indexes and image archives: good ones and bad ones.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import type { Connection } from "../../../cri/containerd/connection.ts";
import { importImageArchive } from "../../../cri/containerd/image-import.ts";
import { openImageArchive } from "../../../cri/images/image-archive.ts";
import { normalizeImageName } from "../../../cri/images/image-names.ts";
import { openPlainArchive } from "../../../cri/images/plain-archive.ts";
import { indexTar, type TarIndex } from "../../../cri/images/tar-index.ts";
import { buildSandboxImage } from "../../../cri/sandbox-image/image.ts";
import { writeTar } from "../../../cri/sandbox-image/tar.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories();
const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["busybox", "docker.io/library/busybox:latest"],
  ["busybox:1.36", "docker.io/library/busybox:1.36"],
  ["me/app", "docker.io/me/app:latest"],
  ["localhost/app", "localhost/app:latest"],
  ["example.com:5000/a/b:v1", "example.com:5000/a/b:v1"],
  ["index.docker.io/busybox", "docker.io/library/busybox:latest"],
  [`busybox@${digest}`, `docker.io/library/busybox@${digest}`],
  [`busybox:1@${digest}`, `docker.io/library/busybox:1@${digest}`],
])("%s is %s", (name, full) => expect(normalizeImageName(name)).toBe(full));

test.each(["", "Upper", "a//b", "a:b:c", "a@b", "-a", "a/../b", "a b"])(
  "the name %j is refused",
  (name) =>
    expect(() => normalizeImageName(name)).toThrow("invalid image name"),
);

async function index(tar: string): Promise<TarIndex> {
  const file = await fs.promises.open(tar);
  try {
    return await indexTar(file);
  } finally {
    await file.close();
  }
}

test.each([
  ["gnu", 60],
  ["posix", 60],
  ["ustar", 45],
] as const)(
  "members, long names and links of a tar in %s form",
  async (format, width) => {
    const directory = temporary();
    const deep = path.join("d".repeat(width), "e".repeat(width));
    const content = path.join(directory, "content");
    fs.mkdirSync(path.join(content, deep), { recursive: true });
    fs.writeFileSync(path.join(content, deep, "file"), "hello");
    fs.symlinkSync("file", path.join(content, deep, "link"));
    fs.linkSync(path.join(content, deep, "file"), path.join(content, "hard"));
    const tar = path.join(directory, "t.tar");
    execFileSync("tar", ["-cf", tar, `--format=${format}`, "-C", content, "."]);
    const found = await index(tar);
    for (const name of [
      path.join(deep, "file"),
      path.join(deep, "link"),
      "hard",
      `./hard`,
    ]) {
      const member = found.find(name)!;
      expect(member.sizeBytes).toBe(5);
      expect(
        fs
          .readFileSync(tar)
          .toString("latin1", member.offset, member.offset + 5),
      ).toBe("hello");
    }
    expect(found.find("nothing")).toBeUndefined();
  },
);

test("a circle of links is no file", async () => {
  const directory = temporary();
  const content = path.join(directory, "content");
  fs.mkdirSync(content);
  fs.symlinkSync("b", path.join(content, "a"));
  fs.symlinkSync("a", path.join(content, "b"));
  fs.writeFileSync(path.join(content, "c"), "");
  const tar = path.join(directory, "t.tar");
  execFileSync("tar", ["-cf", tar, "-C", content, "."]);
  expect((await index(tar)).find("a")).toBeUndefined();
});

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
const descriptor = {
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  digest,
  size: 2,
};

test.each([
  ["neither form", files({ other: "x" }), "neither"],
  ["broken JSON", files({ "index.json": "{" }), "not valid JSON"],
  ["no names", files({ "index.json": { manifests: [] } }), "names no image"],
  [
    "a bad digest",
    files({
      "index.json": {
        manifests: [{ ...descriptor, digest: "sha256:../../etc" }],
      },
    }),
    "bad descriptor",
  ],
  [
    "a missing blob",
    files({ "index.json": { manifests: [descriptor] } }),
    "missing",
  ],
  [
    "a wrong size",
    files({
      "index.json": { manifests: [descriptor] },
      [`blobs/sha256/${"a".repeat(64)}`]: "{ }",
    }),
    "wrong size",
  ],
  [
    "a manifest without layers",
    files({
      "index.json": { manifests: [descriptor] },
      [`blobs/sha256/${"a".repeat(64)}`]: "{}",
    }),
    "no config or layers",
  ],
  [
    "a docker manifest that is no list",
    files({ "manifest.json": {} }),
    "malformed",
  ],
  [
    "a docker manifest of nothing",
    files({ "manifest.json": [null] }),
    "malformed",
  ],
  [
    "a docker layer that is no name",
    files({ "manifest.json": [{ Config: "c", Layers: [{}] }], c: "{}" }),
    "manifest.json in the archive is malformed",
  ],
  [
    "tags that are no list",
    files({ "manifest.json": [{ Config: "c", Layers: [], RepoTags: "ab" }] }),
    "manifest.json in the archive is malformed",
  ],
  [
    "manifests that are no list",
    files({ "index.json": { manifests: 7 } }),
    "index.json in the archive is malformed",
  ],
  [
    "a docker layer that is missing",
    files({
      "manifest.json": [{ Config: "c", Layers: ["l"], RepoTags: ["a"] }],
      c: "{}",
    }),
    "missing",
  ],
  [
    "an index of itself",
    files({
      "index.json": {
        manifests: [
          {
            ...descriptor,
            mediaType: "application/vnd.oci.image.index.v1+json",
            size: 162,
          },
        ],
      },
      [`blobs/sha256/${"a".repeat(64)}`]: {
        manifests: [
          {
            ...descriptor,
            mediaType: "application/vnd.oci.image.index.v1+json",
            size: 162,
          },
        ],
      },
    }),
    "",
  ],
])("an archive with %s is refused", async (_name, bytes, message) => {
  const file = path.join(temporary(), "a.tar");
  fs.writeFileSync(file, bytes);
  await expect(openImageArchive(file)).rejects.toThrow(message);
});

test("a tag that is there thousands of times names one image", async () => {
  const file = path.join(temporary(), "a.tar");
  const RepoTags = [...Array<string>(5000).fill("a:1"), "a:2"];
  fs.writeFileSync(
    file,
    files({
      "manifest.json": [{ Config: "c", Layers: [], RepoTags }],
      c: "{}",
    }),
  );
  const archive = await openImageArchive(file);
  expect(archive.images.map(({ name }) => name)).toEqual([
    "docker.io/library/a:1",
    "docker.io/library/a:2",
  ]);
  await archive.close();
});

test("every truncation of a good archive is refused or read whole, never hangs", async () => {
  const { tar } = buildSandboxImage("amd64");
  const file = path.join(temporary(), "a.tar");
  for (let length = 0; length < tar.length - 1024; length += 700) {
    fs.writeFileSync(file, tar.subarray(0, length));
    await expect(openImageArchive(file)).rejects.toThrow();
  }
});

describe("in a file system of 16 MiB", () => {
  const mebibyte = 1024 * 1024;
  let mounted: string;
  let packed: string;

  beforeEach(() => {
    const directory = temporary();
    packed = path.join(directory, "packed");
    mounted = path.join(directory, "mounted");
    fs.mkdirSync(mounted);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", mounted]);
  });
  afterEach(() => execFileSync("umount", [mounted]));

  const write: Record<string, (bytes: Buffer) => void> = {
    gzip: (bytes) => fs.writeFileSync(packed, gzipSync(bytes)),
    zstd: (input) =>
      execFileSync("zstd", ["-q", "-o", packed], {
        input,
        stdio: ["pipe", "ignore", "inherit"],
      }),
  };

  test.each(Object.keys(write))(
    "an archive of %s that unpacks to more is refused, and nothing of it stays",
    async (form) => {
      write[form]!(Buffer.alloc(64 * mebibyte));
      await expect(openPlainArchive(packed, mounted)).rejects.toThrow(
        `the archive unpacks to more than there is room for in ${mounted}`,
      );
      expect(fs.readdirSync(mounted)).toEqual([]);
      expect(fs.statfsSync(mounted)).toMatchObject({
        bavail: fs.statfsSync(mounted).blocks,
      });
    },
  );

  test.each(Object.keys(write))(
    "one of %s that has room is read",
    async (form) => {
      write[form]!(Buffer.alloc(13 * mebibyte));
      const { file, close } = await openPlainArchive(packed, mounted);
      // What has no name goes with the process, however that ends.
      expect(fs.readdirSync(mounted)).toEqual([]);
      expect((await file.stat()).size).toBe(13 * mebibyte);
      await close();
      const { bavail, blocks } = fs.statfsSync(mounted);
      expect(bavail).toBe(blocks);
    },
  );

  test("one that leaves less than a sixth free is refused: pods would be ended for it", async () => {
    write["gzip"]!(Buffer.alloc(14 * mebibyte));
    await expect(openPlainArchive(packed, mounted)).rejects.toThrow(
      "where a part of the file system stays free",
    );
  });

  test("where less is free to begin with, archives are read until a twentieth is", async () => {
    fs.writeFileSync(path.join(mounted, "full"), Buffer.alloc(14 * mebibyte));
    write["gzip"]!(Buffer.alloc(mebibyte));
    const { close } = await openPlainArchive(packed, mounted);
    await close();
    write["gzip"]!(Buffer.alloc(2 * mebibyte));
    await expect(openPlainArchive(packed, mounted)).rejects.toThrow(
      "where a part of the file system stays free",
    );
  });

  test.each([
    ["that has room", 12, undefined],
    ["that leaves less than a sixth free", 14, "stays free"],
  ])("a layer %s where images are kept", async (_what, size, refusal) => {
    const layer = Buffer.alloc(size * mebibyte);
    fs.writeFileSync(
      packed,
      files({
        "manifest.json": [{ Config: "c", Layers: ["l"], RepoTags: ["a"] }],
        c: "{}",
        l: layer.toString("latin1"),
      }),
    );
    const connection = {
      call: (name: string) =>
        Promise.resolve(
          name === "ImageFsInfo"
            ? {
                image_filesystems: [{ fs_id: { mountpoint: mounted } }],
                container_filesystems: [],
              }
            : { image: {} },
        ),
      service: () => Promise.resolve({}),
      duplexStream: () => {
        const stream = new PassThrough({ objectMode: true });
        return Object.assign(stream, { cancel: () => stream.destroy() });
      },
    } as unknown as Connection;
    const imported = importImageArchive(connection, packed, {
      pinned: false,
      leaseId: "lease",
    });
    if (refusal)
      await expect(imported).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining(refusal) as string,
      });
    else expect(await imported).toEqual(["docker.io/library/a:latest"]);
  });
});
