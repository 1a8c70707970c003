// The system calls of a sandbox that runs our own image: what its program does, and what runc does between loading the filter
// and starting it (a Go program's own needs). It is a part of the runtime's default profile, and so stricter; putting that one's
// hundreds of rules together takes longer than all else that runc does to start a sandbox.
import * as fs from "node:fs/promises";
import { join } from "node:path";

const allowed = [
  // The program.
  ...["exit", "exit_group", "pause", "ppoll", "restart_syscall"],
  ...["rt_sigaction", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait"],
  // Starting it.
  ...["access", "arch_prctl", "brk", "capget", "capset", "chdir", "execve"],
  ...["execveat", "faccessat", "faccessat2", "fchdir", "getcwd", "prctl"],
  // Go's scheduler, memory and files, also of versions other than the one this was tried with: without one of these calls
  // runc ends after it has reported success, and with it every sandbox.
  ...["clock_getres", "clock_gettime", "clock_nanosleep", "clone", "clone3"],
  ...["futex", "getegid", "geteuid", "getgid", "getpid", "getppid"],
  ...["getrandom", "gettid", "gettimeofday", "getuid", "kill", "membarrier"],
  ...["nanosleep", "rseq", "rt_sigpending", "rt_sigprocmask"],
  ...["sched_getaffinity", "sched_yield", "set_robust_list"],
  ...["set_tid_address", "setitimer", "sigaltstack", "sysinfo", "tgkill"],
  ...["timer_create", "timer_delete", "timer_settime", "tkill", "uname"],
  ...["wait4", "waitid", "getrlimit", "prlimit64", "setrlimit"],
  ...["madvise", "mincore", "mmap", "mprotect", "mremap", "munmap"],
  ...["close", "close_range", "dup", "dup2", "dup3", "epoll_create"],
  ...["epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2"],
  ...["epoll_wait", "eventfd2", "fcntl", "fstat", "fstatfs", "getdents"],
  ...["getdents64", "ioctl", "lseek", "lstat", "newfstatat", "open"],
  ...["openat", "openat2", "pipe", "pipe2", "poll", "pread64", "pselect6"],
  ...["pwrite64", "read", "readlink", "readlinkat", "readv", "recvfrom"],
  ...["recvmsg", "select", "sendmsg", "sendto", "stat", "statfs", "statx"],
  ...["write", "writev"],
];

/** In the format of the OCI runtime specification, for the machine's own architecture alone. */
export const sandboxProfile = {
  defaultAction: "SCMP_ACT_ERRNO",
  syscalls: [{ names: allowed, action: "SCMP_ACT_ALLOW" }],
};

/** The kernel can filter system calls: without that a profile is refused where the default one is left out. */
export async function canFilter(): Promise<boolean> {
  const file = "/proc/sys/kernel/seccomp/actions_avail";
  const actions = await fs.readFile(file, "utf8").catch(() => "");
  return /\berrno\b/.test(actions);
}

/** Writes the profile below the directory. Resolves to its path; undefined: sandboxes take the runtime's default profile. */
export async function writeSandboxProfile(
  directory: string,
): Promise<string | undefined> {
  if (!(await canFilter())) return undefined;
  const path = join(directory, "sandbox-seccomp.json");
  const text = `${JSON.stringify(sandboxProfile, undefined, 1)}\n`;
  if ((await fs.readFile(path, "utf8").catch(() => "")) !== text) {
    await fs.writeFile(`${path}.${process.pid}`, text, { mode: 0o600 });
    await fs.rename(`${path}.${process.pid}`, path);
  }
  return path;
}
