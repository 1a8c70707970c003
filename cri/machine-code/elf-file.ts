// A static ELF file of one read-only executable segment, without libc: for programs of some dozens of instructions that are
// put together here byte by byte, so that nothing has to be compiled where Orbit is installed.
import type { Architecture } from "./architecture.ts";

/** One address for file and memory: the segment maps the whole file here. */
export const baseAddress = 0x400000;
/** ELF header (64) and one program header (56); code follows. */
export const codeOffset = 120;
/** Page size of the largest arm64 configuration, good for every other. */
const alignment = 0x10000;

/** ELF's numbers of the processors. */
const machines: Record<Architecture, number> = { amd64: 62, arm64: 183 };

/** Four bytes, the lowest first. */
export function int32(value: number): number[] {
  return [
    value & 0xff,
    (value >> 8) & 0xff,
    (value >> 16) & 0xff,
    (value >> 24) & 0xff,
  ];
}

/** The code is entered at its first byte, and can hold data behind its instructions. */
export function elfFile(architecture: Architecture, code: Buffer): Buffer {
  const file = Buffer.alloc(codeOffset + code.length);
  const entry = BigInt(baseAddress + codeOffset);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0], 0); // ELF, 64 bits, little-endian, version 1, System V
  file.writeUInt16LE(2, 16); // executable
  file.writeUInt16LE(machines[architecture], 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(entry, 24);
  file.writeBigUInt64LE(64n, 32); // program headers follow this header
  file.writeUInt16LE(64, 52); // size of this header
  file.writeUInt16LE(56, 54); // size of a program header
  file.writeUInt16LE(1, 56); // one of them
  file.writeUInt16LE(64, 58); // size of a section header (there are none)
  file.writeUInt32LE(1, 64); // PT_LOAD
  file.writeUInt32LE(5, 68); // readable, executable
  file.writeBigUInt64LE(0n, 72);
  file.writeBigUInt64LE(BigInt(baseAddress), 80);
  file.writeBigUInt64LE(BigInt(baseAddress), 88);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(BigInt(alignment), 112);
  code.copy(file, codeOffset);
  return file;
}
