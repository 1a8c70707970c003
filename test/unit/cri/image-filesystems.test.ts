// Where a CRI runtime says that images and writable layers lie.
import { imageFilesystems } from "../../../cri/containerd/answers.ts";
import type { FilesystemUsage } from "../../../cri/containerd/cri-v1-types.ts";

const at = (mountpoint: string, bytes: number): FilesystemUsage => ({
  timestamp: 1,
  fs_id: { mountpoint },
  used_bytes: { value: bytes },
  inodes_used: { value: 2 },
});
const images = { mountpoint: "/images", usedBytes: 5, inodesUsed: 2 };

test("a runtime of before 1.29 says nothing of layers, others may name the same place twice", () => {
  for (const container_filesystems of [[], [at("/images", 7)]])
    expect(
      imageFilesystems({
        image_filesystems: [at("/images", 5)],
        container_filesystems,
      }),
    ).toEqual([images]);
});

test("layers that lie elsewhere are reported with their own use", () => {
  expect(
    imageFilesystems({
      image_filesystems: [at("/images", 5)],
      container_filesystems: [at("/layers", 7)],
    }),
  ).toEqual([
    {
      ...images,
      layers: { mountpoint: "/layers", usedBytes: 7, inodesUsed: 2 },
    },
  ]);
});

test("a runtime that knows no file system of images has none, whatever it says of layers", () => {
  expect(
    imageFilesystems({
      image_filesystems: [],
      container_filesystems: [at("/layers", 7)],
    }),
  ).toEqual([]);
});
