// What a driver says of a volume's use, as statistics show it.
import { usageOf } from "../../../../agent/volumes/csi/csi-volume.ts";

test("bytes, inodes and the condition of a volume", () => {
  expect(
    usageOf({
      usage: [
        { available: 60, total: 100, used: 40, unit: 1 },
        { available: 9, total: 10, used: 0, unit: 2 },
      ],
      volume_condition: { abnormal: true, message: "a disk is failing" },
    }),
  ).toEqual({
    availableBytes: 60,
    capacityBytes: 100,
    usedBytes: 40,
    inodesFree: 9,
    inodes: 10,
    inodesUsed: 0,
    abnormal: true,
  });
});

test("negative amounts are left out: readers take them as unsigned", () => {
  expect(
    usageOf({
      usage: [
        { available: -1, total: 100, used: -5, unit: 1 },
        { available: -1, total: -1, used: -1, unit: 2 },
      ],
    }),
  ).toEqual({ capacityBytes: 100 });
});
