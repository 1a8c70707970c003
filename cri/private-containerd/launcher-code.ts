// The program in front of crun (`crun-launcher.ts`) as a static ELF file for amd64 and arm64. With `check` as its first
// argument it ends with success. Where a word of its arguments is `create` it first takes a mount namespace of its own and
// performs its mounts there, if it has any. Then it runs crun from a read-only mount of its file, which has no place in any
// directory and goes with the process. Where any of that can't be done it runs crun as it is, which says by itself what it
// can't do.
import * as amd from "../machine-code/amd64.ts";
import type { Architecture } from "../machine-code/architecture.ts";
import * as arm from "../machine-code/arm64.ts";
import { assembleProgram, text, type Part } from "../machine-code/assembly.ts";
import { int32 } from "../machine-code/elf-file.ts";

export interface LauncherMount {
  /** Undefined: none is named, as for a change of propagation. */
  source?: string;
  target: string;
  /** Of the file system; undefined: none is made. */
  type?: string;
  /** MS_… of mount(2). */
  flags: number;
}

interface LauncherSettings {
  /** The file that is run: an ELF file. A script is run as it is. */
  program: string;
  /** In the namespace, in this order; none: no namespace is made. */
  mounts: readonly LauncherMount[];
}

const cloneNewNamespace = 0x20000;
/** OPEN_TREE_CLONE and OPEN_TREE_CLOEXEC. */
const ownMount = 0x80001;
/** struct mount_attr: four numbers of 64 bits, of which the first says what is set: MOUNT_ATTR_RDONLY. */
const readOnly = [1, ...Array<number>(31).fill(0)];
/** AT_EMPTY_PATH: the descriptor itself is meant. */
const emptyPath = 0x1000;
/** As a shell says that a program can't be run. */
const notRun = 127;

/** The first eight bytes of a word's memory, shifted by what is not the word's: the word and its zero, as 8 bytes. */
function shiftedWord(word: string): { shift: number; bytes: number[] } {
  const own = [...Buffer.from(`${word}\0`)];
  const foreign = 8 - own.length;
  return {
    shift: 8 * foreign,
    bytes: [...Array<number>(foreign).fill(0), ...own],
  };
}

const check = shiftedWord("check");
const create = shiftedWord("create");

/** Everything the instructions name. */
const data = ({ program, mounts }: LauncherSettings): Part[] => [
  ...text("program", program),
  ...text("nothing", ""),
  "read-only",
  readOnly,
  ...mounts.flatMap(({ source, target, type }, i) => [
    ...(source === undefined ? [] : text(`source${i}`, source)),
    ...text(`target${i}`, target),
    ...(type === undefined ? [] : text(`type${i}`, type)),
  ]),
];

function amd64(settings: LauncherSettings): Part[] {
  const { call, ifEqual, ifNegative, ifNot, jump, lea, testResult } = amd;
  const mount = ({ source, type, flags }: LauncherMount, i: number): Part[] => [
    ...(source === undefined ? [[0x31, 0xff]] : lea.rdi(`source${i}`)), // xor edi, edi
    ...lea.rsi(`target${i}`),
    ...(type === undefined ? [[0x31, 0xd2]] : lea.rdx(`type${i}`)), // xor edx, edx
    [0x41, 0xba, ...int32(flags)], //       mov  r10d, flags
    [0x45, 0x31, 0xc0], //                  xor  r8d, r8d         no data
    call(165),
    testResult,
    ...ifNot("run"),
  ];
  const namespace: Part[] = [
    [0x48, 0xb9, ...create.bytes], //       mov  rcx, word
    "next",
    [0x48, 0x8b, 0x03], //                  mov  rax, [rbx]
    testResult,
    ...ifEqual("protect"),
    [0x48, 0x83, 0xc3, 0x08], //            add  rbx, 8
    [0x48, 0x8b, 0x10], //                  mov  rdx, [rax]
    [0x48, 0xc1, 0xe2, create.shift], //    shl  rdx, bits
    [0x48, 0x39, 0xca], //                  cmp  rdx, rcx
    ...ifNot("next"),
    [0xbf, ...int32(cloneNewNamespace)], // mov  edi, CLONE_NEWNS
    call(272), //                           unshare
    testResult,
    ...ifNot("run"),
    ...settings.mounts.flatMap(mount),
  ];
  return [
    [0x4c, 0x8b, 0x24, 0x24], //            mov  r12, [rsp]       number of arguments
    [0x4c, 0x8d, 0x6c, 0x24, 0x08], //      lea  r13, [rsp + 8]   arguments
    [0x4f, 0x8d, 0x74, 0xe5, 0x08], //      lea  r14, [r13 + r12*8 + 8]  environment
    [0x49, 0x8d, 0x5d, 0x08], //            lea  rbx, [r13 + 8]
    [0x48, 0x8b, 0x03], //                  mov  rax, [rbx]
    testResult,
    ...ifEqual("protect"),
    [0x48, 0x8b, 0x10], //                  mov  rdx, [rax]
    [0x48, 0xc1, 0xe2, check.shift], //     shl  rdx, bits
    [0x48, 0xb9, ...check.bytes], //        mov  rcx, word
    [0x48, 0x39, 0xca], //                  cmp  rdx, rcx
    ...ifEqual("good"),
    ...(settings.mounts.length > 0 ? namespace : []),
    "protect",
    [0x31, 0xff], //                        xor  edi, edi         the path is absolute
    ...lea.rsi("program"),
    [0xba, ...int32(ownMount)], //          mov  edx, flags
    call(428), //                           open_tree
    testResult,
    ...ifNegative("run"),
    [0x89, 0xc3], //                        mov  ebx, eax
    [0x89, 0xdf], //                        mov  edi, ebx
    ...lea.rsi("nothing"),
    [0xba, ...int32(emptyPath)], //         mov  edx, AT_EMPTY_PATH
    ...lea.r10("read-only"),
    [0x41, 0xb8, ...int32(readOnly.length)], // mov  r8d, bytes
    call(442), //                           mount_setattr
    testResult,
    ...ifNot("run"),
    [0x89, 0xdf], //                        mov  edi, ebx
    ...lea.rsi("nothing"),
    [0x4c, 0x89, 0xea], //                  mov  rdx, r13
    [0x4d, 0x89, 0xf2], //                  mov  r10, r14
    [0x41, 0xb8, ...int32(emptyPath)], //   mov  r8d, AT_EMPTY_PATH
    call(322), //                           execveat
    "run",
    ...lea.rdi("program"),
    [0x4c, 0x89, 0xee], //                  mov  rsi, r13
    [0x4c, 0x89, 0xf2], //                  mov  rdx, r14
    call(59), //                            execve
    [0xbf, ...int32(notRun)], //            mov  edi, status
    ...jump("exit"),
    "good",
    [0x31, 0xff], //                        xor  edi, edi
    "exit",
    call(231), //                           exit_group
    ...data(settings),
  ];
}

function arm64(settings: LauncherSettings): Part[] {
  const { adr, call, ifEqual, ifNegative, ifNot, ifZero } = arm;
  const { jump, movz, unlessZero, wide, word } = arm;
  /** lsl x1, x1, bits */
  const shift = (bits: number): number[] =>
    int32(0xd3400021 | ((64 - bits) << 16) | ((63 - bits) << 10));
  const mount = ({ source, type, flags }: LauncherMount, i: number): Part[] => [
    source === undefined ? movz(0, 0) : adr(0, `source${i}`),
    adr(1, `target${i}`),
    type === undefined ? movz(2, 0) : adr(2, `type${i}`),
    ...wide(3, flags),
    movz(4, 0), //                no data
    call(40),
    unlessZero("run"),
  ];
  const namespace: Part[] = [
    ...word(2, create.bytes),
    "next",
    int32(0xf94002c0), //         ldr  x0, [x22]
    ifZero("protect"),
    int32(0x910022d6), //         add  x22, x22, 8
    int32(0xf9400001), //         ldr  x1, [x0]
    shift(create.shift),
    int32(0xeb02003f), //         cmp  x1, x2
    ifNot("next"),
    ...wide(0, cloneNewNamespace),
    call(97), //                  unshare
    unlessZero("run"),
    ...settings.mounts.flatMap(mount),
  ];
  return [
    int32(0xf94003f3), //         ldr  x19, [sp]          number of arguments
    int32(0x910023f4), //         add  x20, sp, 8         arguments
    int32(0x8b130e95), //         add  x21, x20, x19, lsl 3
    int32(0x910022b5), //         add  x21, x21, 8        environment
    int32(0x91002296), //         add  x22, x20, 8
    int32(0xf94002c0), //         ldr  x0, [x22]
    ifZero("protect"),
    int32(0xf9400001), //         ldr  x1, [x0]
    shift(check.shift),
    ...word(2, check.bytes),
    int32(0xeb02003f), //         cmp  x1, x2
    ifEqual("good"),
    ...(settings.mounts.length > 0 ? namespace : []),
    "protect",
    movz(0, 0), //                the path is absolute
    adr(1, "program"),
    ...wide(2, ownMount),
    call(428), //                 open_tree
    ifNegative("run"),
    int32(0xaa0003f7), //         mov  x23, x0
    adr(1, "nothing"),
    movz(2, emptyPath),
    adr(3, "read-only"),
    movz(4, readOnly.length),
    call(442), //                 mount_setattr
    unlessZero("run"),
    int32(0xaa1703e0), //         mov  x0, x23
    adr(1, "nothing"),
    int32(0xaa1403e2), //         mov  x2, x20
    int32(0xaa1503e3), //         mov  x3, x21
    movz(4, emptyPath),
    call(281), //                 execveat
    "run",
    adr(0, "program"),
    int32(0xaa1403e1), //         mov  x1, x20
    int32(0xaa1503e2), //         mov  x2, x21
    call(221), //                 execve
    movz(0, notRun),
    jump("exit"),
    "good",
    movz(0, 0),
    "exit",
    call(94), //                  exit_group
    ...data(settings),
  ];
}

/** The whole ELF file. @param settings its program by an absolute path */
export function launcherProgram(
  architecture: Architecture,
  settings: LauncherSettings,
): Buffer {
  const parts = architecture === "amd64" ? amd64(settings) : arm64(settings);
  return assembleProgram(architecture, parts);
}
