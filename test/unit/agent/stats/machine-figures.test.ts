// What the kernel's texts say of the machine, for /metrics/cadvisor.
import {
  countProcessors,
  swapBytes,
  usedSwapBytes,
} from "../../../../agent/stats/containers/machine-figures.ts";

const processor = (id: number, socket: number, core: number): string =>
  `processor\t: ${id}\nmodel name\t: x\nphysical id\t: ${socket}\nsiblings\t: 4\ncore id\t\t: ${core}\ncpu cores\t: 2\n`;

test("two sockets of two cores with two threads each", () => {
  const text = Array.from({ length: 8 }, (_, id) =>
    processor(id, Math.floor(id / 4), Math.floor(id / 2) % 2),
  ).join("\n");
  expect(countProcessors(text, 8)).toEqual({
    cores: 8,
    physicalCores: 4,
    sockets: 2,
  });
});

test("cores are counted by their socket, whatever numbers they have there", () => {
  // The second socket goes on counting, and each has a thread that is offline.
  const text = [
    processor(0, 0, 0),
    processor(1, 0, 1),
    processor(2, 0, 1),
    processor(3, 3, 8),
    processor(4, 3, 8),
    processor(5, 3, 12),
  ].join("\n");
  expect(countProcessors(text, 6)).toEqual({
    cores: 6,
    physicalCores: 4,
    sockets: 2,
  });
});

test("a kernel that says nothing of sockets has one of them", () => {
  expect(countProcessors("processor\t: 0\nBogoMIPS\t: 50\n", 4)).toEqual({
    cores: 4,
    physicalCores: 4,
    sockets: 1,
  });
});

test("swap", () => {
  expect(swapBytes("MemTotal:  1 kB\nSwapTotal:   2048 kB\n")).toBe(2 ** 21);
  expect(swapBytes("MemTotal:  1 kB\n")).toBe(0);
  expect(usedSwapBytes("SwapTotal:  2048 kB\nSwapFree:   1024 kB\n")).toBe(
    2 ** 20,
  );
});
