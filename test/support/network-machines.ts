// A small network of namespaces for tests: a node with pods on routed pairs, as our CNI configuration makes them, and a
// client outside. Nothing of it touches the machine's own addresses, routes or rules.
import {
  execFile,
  execFileSync,
  spawn,
  type ChildProcess,
} from "node:child_process";
import { randomBytes } from "node:crypto";
import * as path from "node:path";
import { createInterface } from "node:readline";

const ip = (...words: string[]): void => {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
};

export interface Target {
  protocol: "tcp" | "udp";
  host: string;
  port: number;
  /** Default: ten seconds, enough for an answer on a busy machine. */
  waitMs?: number;
  /** Source address, and for UDP its port. */
  from?: string;
  fromPort?: number;
  /** Of what UDP sends; default 1. */
  bytes?: number;
}

/** A namespace with a process in it that serves and connects. */
export class Machine {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (result: string) => void>();
  #next = 0;

  constructor(
    readonly name: string,
    readonly namespace: string,
  ) {
    this.#child = spawn(
      "ip",
      [
        "netns",
        "exec",
        namespace,
        process.execPath,
        path.join(__dirname, "namespace-peer.mjs"),
        name,
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const { id, result } = JSON.parse(line) as { id: number; result: string };
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  #command(command: object): Promise<string> {
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin!.write(`${JSON.stringify({ id, ...command })}\n`);
    });
  }

  async serve(
    protocol: "tcp" | "udp",
    port: number,
    options: {
      /** TCP: what comes is sent back, instead of one answer. */
      echo?: boolean;
      /** Default: all addresses. */
      host?: string;
    } = {},
  ): Promise<void> {
    await this.#command({ verb: "serve", protocol, port, ...options });
  }

  /** A connection that stays open; a UDP server sends on it all the time. Returns how much came so far, when asked. */
  async open(
    target: Pick<Target, "protocol" | "host" | "port">,
  ): Promise<() => Promise<number>> {
    const connection = Number(await this.#command({ verb: "open", ...target }));
    return async () =>
      Number(await this.#command({ verb: "received", connection }));
  }

  /** The addresses that UDP came from. */
  async heard(): Promise<string[]> {
    return (await this.#command({ verb: "heard" })).split(",");
  }

  /** The ports of UDP servers that something came to since it was asked last. */
  async heardAt(): Promise<string[]> {
    const ports = await this.#command({ verb: "heardAt" });
    return ports === "" ? [] : ports.split(",");
  }

  /** Sends one datagram in fragments; `how` says in which (udp-fragments.pl). */
  fragments(from: string, to: string, port: number, how: string): void {
    const sender = path.join(__dirname, "udp-fragments.pl");
    this.run("perl", sender, from, to, String(port), how);
  }

  /** Whether an SCTP packet gets there: `reached` or `timeout`. */
  sctp(host: string, port: number, waitMs: number, from = ""): Promise<string> {
    const probe = path.join(__dirname, "sctp-probe.pl");
    return new Promise((resolve, reject) => {
      execFile(
        "ip",
        [
          "netns",
          "exec",
          this.namespace,
          "perl",
          probe,
          host,
          String(port),
        ].concat(from, String(waitMs)),
        (error, output) => (error ? reject(error) : resolve(output)),
      );
    });
  }

  /** What the server answered (its name and the client's address), else the error's code or `timeout`. */
  connect(target: Target): Promise<string> {
    return this.#command({ verb: "connect", waitMs: 10_000, ...target });
  }

  run(...words: string[]): string {
    return execFileSync("ip", ["netns", "exec", this.namespace, ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  stop(): void {
    this.#child.stdin!.end();
    this.#child.kill();
  }
}

export class NetworkMachines {
  readonly #machines: Machine[] = [];
  readonly #prefix = `orbit-${randomBytes(3).toString("hex")}`;

  #add(name: string): Machine {
    const namespace = `${this.#prefix}-${name}`;
    ip("netns", "add", namespace);
    const machine = new Machine(name, namespace);
    this.#machines.push(machine);
    machine.run("ip", "link", "set", "lo", "up");
    // Refusals are answered one a second otherwise, and a test that is refused often would wait.
    machine.run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0");
    machine.run("sysctl", "-qw", "net.ipv4.icmp_msgs_per_sec=100000");
    return machine;
  }

  /** A pair of links between a node and another machine, where it is eth0. Returns the node's end. */
  #join(node: Machine, other: Machine): string {
    const link = `v-${other.name}`;
    ip(
      "link",
      "add",
      link,
      "netns",
      node.namespace,
      "type",
      "veth",
      "peer",
      "name",
      "eth0",
      "netns",
      other.namespace,
    );
    node.run("ip", "link", "set", link, "up");
    other.run("ip", "link", "set", "eth0", "up");
    return link;
  }

  /** A node: it forwards. */
  node(name: string): Machine {
    const machine = this.#add(name);
    machine.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
    machine.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1");
    return machine;
  }

  /** A pod of a node, on a routed pair: one address each, the node's end as the gateway. */
  pod(node: Machine, name: string, addresses: readonly string[]): Machine {
    const pod = this.#add(name);
    const link = this.#join(node, pod);
    for (const address of addresses) {
      const six = address.includes(":");
      const gateway = six ? "fe80::1" : "169.254.1.1";
      const bits = six ? 128 : 32;
      node.run(
        "ip",
        "addr",
        "add",
        `${gateway}/${six ? 64 : 32}`,
        "dev",
        link,
        ...(six ? ["nodad"] : []),
      );
      node.run("ip", "route", "add", `${address}/${bits}`, "dev", link);
      pod.run(
        "ip",
        "addr",
        "add",
        `${address}/${bits}`,
        "dev",
        "eth0",
        ...(six ? ["nodad"] : []),
      );
      if (!six) pod.run("ip", "route", "add", gateway, "dev", "eth0");
      pod.run(
        "ip",
        ...(six ? ["-6"] : []),
        "route",
        "add",
        "default",
        "via",
        gateway,
        "dev",
        "eth0",
      );
    }
    return pod;
  }

  /** A pod on a bridge of its node, which has the gateway's address. */
  bridgedPod(
    node: Machine,
    name: string,
    { address, gateway }: { address: string; gateway: string },
  ): Machine {
    const pod = this.#add(name);
    const link = this.#join(node, pod);
    if (!node.run("ip", "-br", "link").includes("pods0")) {
      node.run("ip", "link", "add", "pods0", "type", "bridge");
      node.run("ip", "addr", "add", `${gateway}/24`, "dev", "pods0");
      node.run("ip", "link", "set", "pods0", "up");
    }
    node.run("ip", "link", "set", link, "master", "pods0");
    pod.run("ip", "addr", "add", `${address}/24`, "dev", "eth0");
    pod.run("ip", "route", "add", "default", "via", gateway);
    return pod;
  }

  /** A machine on a link with a node; each is the other's default route. */
  neighbour(
    node: Machine,
    name: string,
    { own, nodes }: { own: string; nodes: string },
  ): Machine {
    const other = this.#add(name);
    const link = this.#join(node, other);
    node.run("ip", "addr", "add", `${nodes}/24`, "dev", link);
    other.run("ip", "addr", "add", `${own}/24`, "dev", "eth0");
    other.run("ip", "route", "add", "default", "via", nodes);
    node.run("ip", "route", "replace", "default", "via", own);
    return other;
  }

  stop(): void {
    for (const machine of this.#machines) {
      machine.stop();
      ip("netns", "del", machine.namespace);
    }
  }
}
