// What a process, with its children, listens on: from /proc, in the process's own network namespace.
import * as fs from "node:fs";

export interface ListeningSocket {
  /** 127.0.0.1, ::1, 0.0.0.0, :: … */
  readonly address: string;
  readonly port: number;
}

const read = (file: string): string => {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

function withChildren(pid: number): number[] {
  const threads = fs.existsSync(`/proc/${pid}/task`)
    ? fs.readdirSync(`/proc/${pid}/task`)
    : [];
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`)
      .split(" ")
      .filter(Boolean)
      .map(Number),
  );
  return [pid, ...children.flatMap(withChildren)];
}

function socketInodes(pid: number): string[] {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        const target = fs.readlinkSync(`/proc/${pid}/fd/${name}`);
        return /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Groups of four bytes, each little-endian, as the kernel writes them. */
function addressOf(hex: string): string {
  const bytes = [...hex.matchAll(/.{8}/g)].flatMap(([word]) =>
    [...Buffer.from(word, "hex")].reverse(),
  );
  if (bytes.length === 4) return bytes.join(".");
  const text = Buffer.from(bytes).toString("hex");
  if (/^0{32}$/.test(text)) return "::";
  return /^0{31}1$/.test(text) ? "::1" : text;
}

const LISTEN = "0A";

/** Sorted by port and address. */
export function listeningSockets(pid: number): ListeningSocket[] {
  const inodes = new Set(withChildren(pid).flatMap(socketInodes));
  const found = ["tcp", "tcp6"].flatMap((name) =>
    read(`/proc/${pid}/net/${name}`)
      .split("\n")
      .slice(1)
      .flatMap((line): ListeningSocket[] => {
        const fields = line.trim().split(/\s+/);
        if (fields[3] !== LISTEN || !inodes.has(fields[9] ?? "")) return [];
        const [address, port] = fields[1]!.split(":");
        return [{ address: addressOf(address!), port: parseInt(port!, 16) }];
      }),
  );
  return found.sort(
    (a, b) => a.port - b.port || a.address.localeCompare(b.address),
  );
}
