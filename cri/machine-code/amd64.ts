// Instructions of amd64 that programs here share. Where an operand is a place, it is found by its distance.
import type { Part, Reference } from "./assembly.ts";
import { int32 } from "./elf-file.ts";

/** Relative to the end of the four bytes. */
const near = (to: string): Reference => ({
  to,
  encode: (distance) => distance - 4,
});

/** lea REGISTER, [place] */
export const lea = {
  rdi: (to: string): Part[] => [[0x48, 0x8d, 0x3d], near(to)],
  rsi: (to: string): Part[] => [[0x48, 0x8d, 0x35], near(to)],
  rdx: (to: string): Part[] => [[0x48, 0x8d, 0x15], near(to)],
  r10: (to: string): Part[] => [[0x4c, 0x8d, 0x15], near(to)],
};

/** After `cmp` and `testResult`: equal, or zero. */
export const ifEqual = (to: string): Part[] => [[0x0f, 0x84], near(to)];
export const ifNot = (to: string): Part[] => [[0x0f, 0x85], near(to)];
export const ifNegative = (to: string): Part[] => [[0x0f, 0x88], near(to)];
export const jump = (to: string): Part[] => [[0xe9], near(to)];

/** A system call: its number goes into eax, its result comes there. */
export const call = (number: number): Part => [
  ...[0xb8, ...int32(number)], // mov  eax, number
  ...[0x0f, 0x05], //             syscall
];

/** test rax, rax */
export const testResult = [0x48, 0x85, 0xc0];
