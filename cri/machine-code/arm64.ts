// Instructions of arm64 that programs here share. Where an operand is a place, it is found by its distance.
import type { Reference } from "./assembly.ts";
import { int32 } from "./elf-file.ts";

/** 16 bits into a quarter of the register; the others become zero. */
export const movz = (register: number, value: number, quarter = 0): number[] =>
  int32(0xd2800000 | (quarter << 21) | (value << 5) | register);

const movk = (register: number, value: number, quarter: number): number[] =>
  int32(0xf2800000 | (quarter << 21) | (value << 5) | register);

/** 32 bits into the register. */
export const wide = (register: number, value: number): number[][] => [
  movz(register, value & 0xffff),
  movk(register, value >>> 16, 1),
];

/** Eight bytes into the register, as they lie in memory. */
export const word = (register: number, bytes: readonly number[]): number[][] =>
  [0, 1, 2, 3].map((quarter) =>
    (quarter === 0 ? movz : movk)(
      register,
      bytes[2 * quarter]! | (bytes[2 * quarter + 1]! << 8),
      quarter,
    ),
  );

/** The address of the place into the register. */
export const adr = (register: number, to: string): Reference => ({
  to,
  encode: (distance) =>
    0x10000000 |
    ((distance & 3) << 29) |
    (((distance >> 2) & 0x7ffff) << 5) |
    register,
});

/** A branch on a condition or a register: a distance in instructions of so many bits. */
const branch = (instruction: number, to: string, bits = 19): Reference => ({
  to,
  encode: (distance) =>
    instruction | (((distance >> 2) & ((1 << bits) - 1)) << 5),
});

/** After `cmp`. */
export const ifEqual = (to: string): Reference => branch(0x54000000, to);
export const ifNot = (to: string): Reference => branch(0x54000001, to);
/** Of x0, where a call's result is. */
export const ifZero = (to: string): Reference => branch(0xb4000000, to);
export const unlessZero = (to: string): Reference => branch(0xb5000000, to);
export const ifNegative = (to: string): Reference => branch(0xb7f80000, to, 14);

export const jump = (to: string): Reference => ({
  to,
  encode: (distance) => 0x14000000 | ((distance >> 2) & 0x3ffffff),
});

/** A system call: its number goes into x8, its result comes into x0. */
export const call = (number: number): number[] => [
  ...movz(8, number),
  ...int32(0xd4000001), // svc
];
