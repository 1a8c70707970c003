// The sandbox ("pause") program as a static ELF file, its code put together here byte by byte for amd64 and arm64.
// It is PID 1 of a sandbox: it ignores SIGCHLD, so that the kernel reaps orphans of a shared PID namespace by itself;
// exits 0 on SIGTERM and SIGINT; and sleeps otherwise. No libc, no stack use, one read-only executable segment.

import type { Architecture } from "../machine-code/architecture.ts";
import { adr, call, movz } from "../machine-code/arm64.ts";
import {
  baseAddress,
  codeOffset,
  elfFile,
  int32,
} from "../machine-code/elf-file.ts";

const signals = { int: 2, term: 15, chld: 17 };
/** struct sigaction of the kernel on both: handler, flags, restorer, mask; 64 bits each. */
const sigactionBytes = 32;
const ignoreHandler = 1n;
/** amd64 refuses to deliver a signal without a restorer (the process would die of SIGSEGV). */
const saRestorer = 0x04000000n;

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

function amd64(): Buffer {
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
  return withActions(code, handler, restorer);
}

function arm64(): Buffer {
  const setActionBytes = 24;
  const loop = 3 * setActionBytes;
  const handler = loop + 32;
  const end = handler + 12;
  const actions = (end + 7) & ~7;
  const setAction = (at: number, signal: number, action: number): number[] => [
    ...movz(0, signal),
    ...int32(adr(1, "action").encode(action - (at + 4))),
    ...movz(2, 0), // no old action
    ...movz(3, 8), // bytes of the signal mask
    ...call(134), //  rt_sigaction
  ];
  const code = [
    ...setAction(0, signals.chld, actions),
    ...setAction(setActionBytes, signals.term, actions + sigactionBytes),
    ...setAction(2 * setActionBytes, signals.int, actions + sigactionBytes),
    // loop: ppoll(NULL, 0, NULL, NULL, 0), for arm64 has no pause
    ...movz(0, 0),
    ...movz(1, 0),
    ...movz(2, 0),
    ...movz(3, 0),
    ...movz(4, 0),
    ...call(73),
    ...int32(0x14000000 | (-7 & 0x3ffffff)), // b loop
    // handler: exit_group(0)
    ...movz(0, 0),
    ...call(94),
  ];
  return withActions(code, handler, undefined);
}

/** The whole ELF file of the sandbox program. */
export function pauseProgram(architecture: Architecture): Buffer {
  return elfFile(architecture, architecture === "amd64" ? amd64() : arm64());
}
