// A small program that starts containerd's shim as the shim's own action `start` does, as a static ELF file for amd64 and
// arm64. The shim is a program of 10 MB in Go, which would be loaded a second time for nothing but this.
// Its arguments are the absolute path of a socket, and a program with its arguments. It listens on that socket, which only
// its owner may use, starts the program in a process group of its own with the socket as descriptor 3, and ends with success.
// Without a program it ends with success, too; where anything can't be done it ends with 1 and has started nothing.
import * as amd from "../machine-code/amd64.ts";
import type { Architecture } from "../machine-code/architecture.ts";
import * as arm from "../machine-code/arm64.ts";
import { assembleProgram, type Part } from "../machine-code/assembly.ts";
import { int32 } from "../machine-code/elf-file.ts";

/** Where the program finds its socket: the first one that is free, as who starts it has no other open. */
const descriptor = 3;
/** AF_UNIX and SOCK_STREAM. */
const [unix, stream] = [1, 1];
/** struct sockaddr_un: the family in two bytes, the path and its zero. */
const addressBytes = 110;
const pathBytes = addressBytes - 2;
const ownerOnly = 0o600;
/** What may wait to be accepted; the kernel's own limit holds where that is less. */
const backlog = 4096;
/** SIGCHLD: what its parent is sent when the program ends. */
const endSignal = 17;

function amd64(): Part[] {
  const { call, ifEqual, ifNegative, ifNot, jump, testResult } = amd;
  return [
    [0x48, 0x8b, 0x04, 0x24], //           mov  rax, [rsp]       number of arguments
    [0x4c, 0x8d, 0x74, 0xc4, 0x10], //     lea  r14, [rsp + rax*8 + 16]  environment
    [0x4c, 0x8d, 0x6c, 0x24, 0x18], //     lea  r13, [rsp + 24]  the program's arguments
    [0x48, 0x8b, 0x5c, 0x24, 0x10], //     mov  rbx, [rsp + 16]  path
    [0x48, 0x89, 0xd8], //                 mov  rax, rbx
    testResult,
    ...ifEqual("good"),
    [0x49, 0x8b, 0x45, 0x00], //           mov  rax, [r13]
    testResult,
    ...ifEqual("good"),
    [0x48, 0x83, 0xec, 0x70], //           sub  rsp, 112
    [0x66, 0xc7, 0x04, 0x24, unix, 0], //  mov  word [rsp], AF_UNIX
    [0x48, 0x89, 0xde], //                 mov  rsi, rbx
    [0x48, 0x8d, 0x7c, 0x24, 0x02], //     lea  rdi, [rsp + 2]
    [0xb9, ...int32(pathBytes)], //        mov  ecx, bytes
    "copy",
    [0xac], //                             lodsb
    [0xaa], //                             stosb
    [0x84, 0xc0], //                       test al, al
    ...ifEqual("socket"),
    [0xff, 0xc9], //                       dec  ecx
    ...ifNot("copy"),
    ...jump("failed"),
    "socket",
    [0xbf, ...int32(unix)], //             mov  edi, AF_UNIX
    [0xbe, ...int32(stream)], //           mov  esi, SOCK_STREAM
    [0x31, 0xd2], //                       xor  edx, edx
    call(41), //                           socket
    [0x83, 0xf8, descriptor], //           cmp  eax, 3
    ...ifNot("failed"),
    [0xbf, ...int32(descriptor)], //       mov  edi, 3
    [0x48, 0x89, 0xe6], //                 mov  rsi, rsp
    [0xba, ...int32(addressBytes)], //     mov  edx, bytes
    call(49), //                           bind
    testResult,
    ...ifNot("failed"),
    [0x48, 0x89, 0xdf], //                 mov  rdi, rbx
    [0xbe, ...int32(ownerOnly)], //        mov  esi, mode
    call(90), //                           chmod
    testResult,
    ...ifNot("failed"),
    [0xbf, ...int32(descriptor)], //       mov  edi, 3
    [0xbe, ...int32(backlog)], //          mov  esi, backlog
    call(50), //                           listen
    testResult,
    ...ifNot("failed"),
    call(57), //                           fork
    testResult,
    ...ifNegative("failed"),
    ...ifNot("good"),
    [0x31, 0xff], //                       xor  edi, edi         this process
    [0x31, 0xf6], //                       xor  esi, esi         a group of its own
    call(109), //                          setpgid
    [0x49, 0x8b, 0x7d, 0x00], //           mov  rdi, [r13]
    [0x4c, 0x89, 0xee], //                 mov  rsi, r13
    [0x4c, 0x89, 0xf2], //                 mov  rdx, r14
    call(59), //                           execve
    "failed",
    [0xbf, ...int32(1)], //                mov  edi, 1
    ...jump("exit"),
    "good",
    [0x31, 0xff], //                       xor  edi, edi
    "exit",
    call(231), //                          exit_group
  ];
}

function arm64(): Part[] {
  const { call, ifNegative, ifNot, ifZero, jump, movz, unlessZero } = arm;
  return [
    int32(0xf94003e0), //     ldr  x0, [sp]           number of arguments
    int32(0x910043f5), //     add  x21, sp, 16
    int32(0x8b000eb5), //     add  x21, x21, x0, lsl 3  environment
    int32(0x910063f4), //     add  x20, sp, 24        the program's arguments
    int32(0xf9400bf3), //     ldr  x19, [sp, 16]      path
    int32(0xaa1303e0), //     mov  x0, x19
    ifZero("good"),
    int32(0xf9400280), //     ldr  x0, [x20]
    ifZero("good"),
    int32(0xd101c3ff), //     sub  sp, sp, 112
    movz(1, unix),
    int32(0x790003e1), //     strh w1, [sp]
    int32(0xaa1303e2), //     mov  x2, x19
    int32(0x91000be3), //     add  x3, sp, 2
    movz(4, pathBytes),
    "copy",
    int32(0x38401440), //     ldrb w0, [x2], 1
    int32(0x38001460), //     strb w0, [x3], 1
    ifZero("socket"),
    int32(0xf1000484), //     subs x4, x4, 1
    ifNot("copy"),
    jump("failed"),
    "socket",
    movz(0, unix),
    movz(1, stream),
    movz(2, 0),
    call(198), //             socket
    int32(0xf1000c1f), //     cmp  x0, 3
    ifNot("failed"),
    movz(0, descriptor),
    int32(0x910003e1), //     mov  x1, sp
    movz(2, addressBytes),
    call(200), //             bind
    unlessZero("failed"),
    movz(0, 0), //            the path is absolute
    int32(0xaa1303e1), //     mov  x1, x19
    movz(2, ownerOnly),
    call(53), //              fchmodat
    unlessZero("failed"),
    movz(0, descriptor),
    movz(1, backlog),
    call(201), //             listen
    unlessZero("failed"),
    movz(0, endSignal),
    movz(1, 0),
    movz(2, 0),
    movz(3, 0),
    movz(4, 0),
    call(220), //             clone
    ifNegative("failed"),
    unlessZero("good"),
    movz(0, 0), //            this process
    movz(1, 0), //            a group of its own
    call(154), //             setpgid
    int32(0xf9400280), //     ldr  x0, [x20]
    int32(0xaa1403e1), //     mov  x1, x20
    int32(0xaa1503e2), //     mov  x2, x21
    call(221), //             execve
    "failed",
    movz(0, 1),
    jump("exit"),
    "good",
    movz(0, 0),
    "exit",
    call(94), //              exit_group
  ];
}

/** The whole ELF file. */
export function shimStarter(architecture: Architecture): Buffer {
  const parts = architecture === "amd64" ? amd64() : arm64();
  return assembleProgram(architecture, parts);
}
