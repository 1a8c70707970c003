// The program in front of crun (`crun-launcher.ts`) as a static ELF file for amd64 and arm64. With `check` as its first
// argument it ends with success. Where a word of its arguments is `create` it first takes a mount namespace of its own and
// performs its mounts there, if it has any. Then it runs crun out of a sealed copy in memory. Where any of that can't be
// done it runs crun as it is, which says by itself what it can't do.
import { elfFile, int32, type Architecture } from "../elf-file.ts";

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
  /** The file that is run: an ELF file. A script can't run from memory and is run as it is. */
  program: string;
  /** In the namespace, in this order; none: no namespace is made. */
  mounts: readonly LauncherMount[];
}

const cloneNewNamespace = 0x20000;
const closeOnExec = 0x80000;
/** MFD_CLOEXEC and MFD_ALLOW_SEALING. */
const memoryFileFlags = 3;
const addSeals = 1033;
/** F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE. */
const allSeals = 15;
/** What one call of sendfile(2) takes at most. */
const mostBytes = 0x7ffff000;
const emptyPath = 0x1000;
/** As a shell says that a program can't be run. */
const notRun = 127;

/** The place of what has a name, before it is known: four bytes are left for it. */
interface Reference {
  to: string;
  /** The four bytes, by the distance in bytes from their own first one. */
  encode: (distance: number) => number;
}
/** Bytes; a name for this place; a reference. */
type Part = readonly number[] | string | Reference;

function assemble(parts: readonly Part[]): Buffer {
  const places = new Map<string, number>();
  let length = 0;
  for (const part of parts)
    if (typeof part === "string") places.set(part, length);
    else length += "to" in part ? 4 : part.length;
  const bytes: number[] = [];
  for (const part of parts)
    if (typeof part === "string") continue;
    else if ("to" in part) {
      const place = places.get(part.to);
      if (place === undefined) throw new Error(`no place named ${part.to}`);
      bytes.push(...int32(part.encode(place - bytes.length)));
    } else bytes.push(...part);
  return Buffer.from(bytes);
}

/** A text and the zero that ends it, under a name. */
const text = (name: string, value: string): Part[] => [
  name,
  [...Buffer.from(`${value}\0`)],
];

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
const texts = ({ program, mounts }: LauncherSettings): Part[] => [
  ...text("program", program),
  ...text("copyName", "crun"),
  ...text("nothing", ""),
  ...mounts.flatMap(({ source, target, type }, i) => [
    ...(source === undefined ? [] : text(`source${i}`, source)),
    ...text(`target${i}`, target),
    ...(type === undefined ? [] : text(`type${i}`, type)),
  ]),
];

function amd64(settings: LauncherSettings): Buffer {
  /** Relative to the end of the four bytes. */
  const near = (to: string): Reference => ({
    to,
    encode: (distance) => distance - 4,
  });
  const lea = {
    rdi: (to: string): Part[] => [[0x48, 0x8d, 0x3d], near(to)],
    rsi: (to: string): Part[] => [[0x48, 0x8d, 0x35], near(to)],
    rdx: (to: string): Part[] => [[0x48, 0x8d, 0x15], near(to)],
  };
  const ifEqual = (to: string): Part[] => [[0x0f, 0x84], near(to)];
  const ifNot = (to: string): Part[] => [[0x0f, 0x85], near(to)];
  const ifNegative = (to: string): Part[] => [[0x0f, 0x88], near(to)];
  const call = (number: number): Part => [0xb8, ...int32(number), 0x0f, 0x05];
  const testResult = [0x48, 0x85, 0xc0]; // test rax, rax
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
    ...ifEqual("copy"),
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
  return assemble([
    [0x4c, 0x8b, 0x24, 0x24], //            mov  r12, [rsp]       number of arguments
    [0x4c, 0x8d, 0x6c, 0x24, 0x08], //      lea  r13, [rsp + 8]   arguments
    [0x4f, 0x8d, 0x74, 0xe5, 0x08], //      lea  r14, [r13 + r12*8 + 8]  environment
    [0x49, 0x8d, 0x5d, 0x08], //            lea  rbx, [r13 + 8]
    [0x48, 0x8b, 0x03], //                  mov  rax, [rbx]
    testResult,
    ...ifEqual("copy"),
    [0x48, 0x8b, 0x10], //                  mov  rdx, [rax]
    [0x48, 0xc1, 0xe2, check.shift], //     shl  rdx, bits
    [0x48, 0xb9, ...check.bytes], //        mov  rcx, word
    [0x48, 0x39, 0xca], //                  cmp  rdx, rcx
    ...ifEqual("good"),
    ...(settings.mounts.length > 0 ? namespace : []),
    "copy",
    ...lea.rdi("program"),
    [0xbe, ...int32(closeOnExec)], //       mov  esi, O_CLOEXEC
    call(2), //                             open
    testResult,
    ...ifNegative("run"),
    [0x41, 0x89, 0xc7], //                  mov  r15d, eax
    ...lea.rdi("copyName"),
    [0xbe, ...int32(memoryFileFlags)], //   mov  esi, flags
    call(319), //                           memfd_create
    testResult,
    ...ifNegative("run"),
    [0x89, 0xc3], //                        mov  ebx, eax
    "more",
    [0x89, 0xdf], //                        mov  edi, ebx
    [0x44, 0x89, 0xfe], //                  mov  esi, r15d
    [0x31, 0xd2], //                        xor  edx, edx         from where it is
    [0x41, 0xba, ...int32(mostBytes)], //   mov  r10d, bytes
    call(40), //                            sendfile
    testResult,
    ...ifNegative("run"),
    ...ifNot("more"),
    [0x89, 0xdf], //                        mov  edi, ebx
    [0xbe, ...int32(addSeals)], //          mov  esi, F_ADD_SEALS
    [0xba, ...int32(allSeals)], //          mov  edx, seals
    call(72), //                            fcntl
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
    [0xe9], //                              jmp
    near("exit"),
    "good",
    [0x31, 0xff], //                        xor  edi, edi
    "exit",
    call(231), //                           exit_group
    ...texts(settings),
  ]);
}

/** Instructions of arm64, and references of them. */
const arm = (() => {
  const movz = (register: number, value: number, half = 0): number[] =>
    int32(0xd2800000 | (half << 21) | (value << 5) | register);
  const movk = (register: number, value: number, half: number): number[] =>
    int32(0xf2800000 | (half << 21) | (value << 5) | register);
  const wide = (register: number, value: number): number[][] => [
    movz(register, value & 0xffff),
    movk(register, value >>> 16, 1),
  ];
  const word = (register: number, bytes: readonly number[]): number[][] =>
    [0, 1, 2, 3].map((half) =>
      (half === 0 ? movz : movk)(
        register,
        bytes[2 * half]! | (bytes[2 * half + 1]! << 8),
        half,
      ),
    );
  const adr = (register: number, to: string): Reference => ({
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
  const ifEqual = (to: string): Reference => branch(0x54000000, to);
  const ifNot = (to: string): Reference => branch(0x54000001, to);
  const ifZero = (to: string): Reference => branch(0xb4000000, to); // cbz x0
  const unlessZero = (to: string): Reference => branch(0xb5000000, to); // cbnz x0
  const ifNegative = (to: string): Reference => branch(0xb7f80000, to, 14); // tbnz x0, 63
  const jump = (to: string): Reference => ({
    to,
    encode: (distance) => 0x14000000 | ((distance >> 2) & 0x3ffffff),
  });
  /** lsl x1, x1, bits */
  const shift = (bits: number): number[] =>
    int32(0xd3400021 | ((64 - bits) << 16) | ((63 - bits) << 10));
  const call = (number: number): number[] => [
    ...movz(8, number),
    ...int32(0xd4000001),
  ];
  return {
    movz,
    wide,
    word,
    adr,
    ifEqual,
    ifNot,
    ifZero,
    unlessZero,
    ifNegative,
    jump,
    shift,
    call,
  };
})();

function arm64(settings: LauncherSettings): Buffer {
  const { movz, wide, word, adr, jump, shift, call } = arm;
  const { ifEqual, ifNot, ifZero, unlessZero, ifNegative } = arm;
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
    ifZero("copy"),
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
  return assemble([
    int32(0xf94003f3), //         ldr  x19, [sp]          number of arguments
    int32(0x910023f4), //         add  x20, sp, 8         arguments
    int32(0x8b130e95), //         add  x21, x20, x19, lsl 3
    int32(0x910022b5), //         add  x21, x21, 8        environment
    int32(0x91002296), //         add  x22, x20, 8
    int32(0xf94002c0), //         ldr  x0, [x22]
    ifZero("copy"),
    int32(0xf9400001), //         ldr  x1, [x0]
    shift(check.shift),
    ...word(2, check.bytes),
    int32(0xeb02003f), //         cmp  x1, x2
    ifEqual("good"),
    ...(settings.mounts.length > 0 ? namespace : []),
    "copy",
    int32(0x92800c60), //         mov  x0, AT_FDCWD
    adr(1, "program"),
    ...wide(2, closeOnExec),
    movz(3, 0),
    call(56), //                  openat
    ifNegative("run"),
    int32(0xaa0003f7), //         mov  x23, x0
    adr(0, "copyName"),
    movz(1, memoryFileFlags),
    call(279), //                 memfd_create
    ifNegative("run"),
    int32(0xaa0003f8), //         mov  x24, x0
    "more",
    int32(0xaa1803e0), //         mov  x0, x24
    int32(0xaa1703e1), //         mov  x1, x23
    movz(2, 0), //                from where it is
    ...wide(3, mostBytes),
    call(71), //                  sendfile
    ifNegative("run"),
    unlessZero("more"),
    int32(0xaa1803e0), //         mov  x0, x24
    movz(1, addSeals),
    movz(2, allSeals),
    call(25), //                  fcntl
    unlessZero("run"),
    int32(0xaa1803e0), //         mov  x0, x24
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
    ...texts(settings),
  ]);
}

/** The whole ELF file. */
export function launcherProgram(
  architecture: Architecture,
  settings: LauncherSettings,
): Buffer {
  const code = architecture === "amd64" ? amd64(settings) : arm64(settings);
  return elfFile(architecture, code);
}
