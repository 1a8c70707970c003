// The sandbox ("pause") program as a static ELF file, put together here byte by byte for amd64 and arm64.
// It is PID 1 of a sandbox: it ignores SIGCHLD, so that the kernel reaps orphans of a shared PID namespace by itself;
// exits 0 on SIGTERM and SIGINT; and sleeps otherwise. No libc, no stack use, one read-only executable segment.

export type Architecture = "amd64" | "arm64";

const signals = { int: 2, term: 15, chld: 17 };
/** One address for file and memory: the segment maps the whole file here. */
const baseAddress = 0x400000;
/** ELF header (64) and one program header (56); code follows. */
const codeOffset = 120;
/** Page size of the largest arm64 configuration, good for every other. */
const alignment = 0x10000;
/** struct sigaction of the kernel on both: handler, flags, restorer, mask; 64 bits each. */
const sigactionBytes = 32;
const ignoreHandler = 1n;
/** amd64 refuses to deliver a signal without a restorer (the process would die of SIGSEGV). */
const saRestorer = 0x04000000n;

interface Program {
  code: Buffer;
  machine: number;
}

function int32(value: number): number[] {
  return [
    value & 0xff,
    (value >> 8) & 0xff,
    (value >> 16) & 0xff,
    (value >> 24) & 0xff,
  ];
}

function sigaction(handler: bigint, flags: bigint, restorer: bigint): Buffer {
  const bytes = Buffer.alloc(sigactionBytes);
  bytes.writeBigUInt64LE(handler, 0);
  bytes.writeBigUInt64LE(flags, 8);
  bytes.writeBigUInt64LE(restorer, 16);
  return bytes;
}

/** Code, padding to 8, then two sigaction structures: [ignore, exit]. */
function withActions(
  code: number[],
  handlerOffset: number,
  restorerOffset: number | undefined,
): Buffer {
  const start = BigInt(baseAddress + codeOffset);
  return Buffer.concat([
    Buffer.from(code),
    Buffer.alloc(-code.length & 7),
    sigaction(
      ignoreHandler,
      restorerOffset === undefined ? 0n : saRestorer,
      restorerOffset === undefined ? 0n : start + BigInt(restorerOffset),
    ),
    sigaction(
      start + BigInt(handlerOffset),
      restorerOffset === undefined ? 0n : saRestorer,
      restorerOffset === undefined ? 0n : start + BigInt(restorerOffset),
    ),
  ]);
}

function amd64(): Program {
  const setActionBytes = 32;
  const loop = 3 * setActionBytes;
  const handler = loop + 9;
  const restorer = handler + 9;
  const end = restorer + 7;
  const actions = (end + 7) & ~7;
  const setAction = (at: number, signal: number, action: number): number[] => [
    ...[0xb8, ...int32(13)], //       mov  eax, 13          rt_sigaction
    ...[0xbf, ...int32(signal)], //   mov  edi, signal
    ...[0x48, 0x8d, 0x35, ...int32(action - (at + 17))], // lea rsi, [rip + action]
    ...[0x31, 0xd2], //               xor  edx, edx         no old action
    ...[0x41, 0xba, ...int32(8)], //  mov  r10d, 8          bytes of the signal mask
    ...[0x0f, 0x05], //               syscall
    ...[0x0f, 0x1f, 0x44, 0x00, 0x00], // nop, to 32 bytes
  ];
  const code = [
    ...setAction(0, signals.chld, actions),
    ...setAction(setActionBytes, signals.term, actions + sigactionBytes),
    ...setAction(2 * setActionBytes, signals.int, actions + sigactionBytes),
    // loop:
    ...[0xb8, ...int32(34)], //       mov  eax, 34          pause
    ...[0x0f, 0x05], //               syscall
    ...[0xeb, 0xf7], //               jmp  loop
    // handler:
    ...[0xb8, ...int32(231)], //      mov  eax, 231         exit_group
    ...[0x31, 0xff], //               xor  edi, edi
    ...[0x0f, 0x05], //               syscall
    // restorer:
    ...[0xb8, ...int32(15)], //       mov  eax, 15          rt_sigreturn
    ...[0x0f, 0x05], //               syscall
  ];
  return { code: withActions(code, handler, restorer), machine: 62 };
}

function arm64(): Program {
  const x = (register: number): number => register;
  const movz = (register: number, value: number): number[] =>
    int32(0xd2800000 | (value << 5) | register);
  const adr = (register: number, distance: number): number[] =>
    int32(
      0x10000000 |
        ((distance & 3) << 29) |
        (((distance >> 2) & 0x7ffff) << 5) |
        register,
    );
  const svc = int32(0xd4000001);
  const setActionBytes = 24;
  const loop = 3 * setActionBytes;
  const handler = loop + 32;
  const end = handler + 12;
  const actions = (end + 7) & ~7;
  const setAction = (at: number, signal: number, action: number): number[] => [
    ...movz(x(0), signal),
    ...adr(x(1), action - (at + 4)),
    ...movz(x(2), 0), //   no old action
    ...movz(x(3), 8), //   bytes of the signal mask
    ...movz(x(8), 134), // rt_sigaction
    ...svc,
  ];
  const code = [
    ...setAction(0, signals.chld, actions),
    ...setAction(setActionBytes, signals.term, actions + sigactionBytes),
    ...setAction(2 * setActionBytes, signals.int, actions + sigactionBytes),
    // loop: ppoll(NULL, 0, NULL, NULL, 0), for arm64 has no pause
    ...movz(x(0), 0),
    ...movz(x(1), 0),
    ...movz(x(2), 0),
    ...movz(x(3), 0),
    ...movz(x(4), 0),
    ...movz(x(8), 73),
    ...svc,
    ...int32(0x14000000 | (-7 & 0x3ffffff)), // b loop
    // handler: exit_group(0)
    ...movz(x(0), 0),
    ...movz(x(8), 94),
    ...svc,
  ];
  return { code: withActions(code, handler, undefined), machine: 183 };
}

/** The whole ELF file of the sandbox program. */
export function pauseProgram(architecture: Architecture): Buffer {
  const { code, machine } = architecture === "amd64" ? amd64() : arm64();
  const file = Buffer.alloc(codeOffset + code.length);
  const entry = BigInt(baseAddress + codeOffset);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0], 0); // ELF, 64 bits, little-endian, version 1, System V
  file.writeUInt16LE(2, 16); // executable
  file.writeUInt16LE(machine, 18);
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
