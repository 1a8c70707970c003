// Several machines on one for tests of clusters: network namespaces behind a router, each with its own address, and on each
// a node with its own data directory, cgroups and private containerd. Nothing of it touches the machine's own addresses,
// routes or rules. Machines of one link share a bridge; those of different links reach each other through the router.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "./busybox-image.ts";
import { removeCgroups } from "./cgroups.ts";
import { eventually } from "./eventually.ts";
import { runCommand, type CommandResult } from "./kubectl.ts";
import { endProcesses, sendSignal } from "./processes.ts";
import { orbitProgram } from "./start-orbit.ts";
import { announce } from "./run/run-state.ts";
import { makeTempDirectory, removeTempDirectory } from "./temp-directory.ts";

const ip = (...words: string[]): void => {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
};

/** A machine with one link, eth0. */
export class NodeMachine {
  readonly directory = makeTempDirectory("orbit-node-");
  readonly cgroupRoot: string;
  /** What the program on it writes when it is ready. */
  readyText = /ready in [\d.]+s/;
  #child: ChildProcess | undefined;
  #exited: Promise<number | null> = Promise.resolve(null);
  #output = "";
  #mounts: ChildProcess | undefined;

  constructor(
    readonly name: string,
    readonly namespace: string,
    readonly address: string,
    readonly gateway: string,
    /** Its link's other end, in the router. */
    readonly port: string,
  ) {
    this.cgroupRoot = `/${path.basename(this.directory)}`;
    announce("cgroup", this.cgroupRoot);
    announce("cgroup", `${this.cgroupRoot}-runtime`);
  }

  /** A program and its arguments that runs others on this machine; unlike `ip netns exec` it keeps /sys as it is. */
  get wrapper(): readonly string[] {
    const mounts = this.#mounts
      ? ["--mount", `--target=${this.#mounts.pid}`]
      : [];
    return [`nsenter`, `--net=/run/netns/${this.namespace}`, ...mounts];
  }

  /** From now on it has mounts of its own, none of them shared, and its own empty /run. */
  async takeOwnMounts(): Promise<void> {
    const script = `
      while umount -l -R /run/netns; do :; done 2>/dev/null
      for each in /run/netns/*; do umount -l "$each"; done 2>/dev/null
      mount -t tmpfs tmpfs /run && echo ready && exec sleep 9999`;
    const child = spawn(
      "unshare",
      ["--mount", "--propagation=private", "sh", "-c", script],
      { stdio: ["ignore", "pipe", "ignore"] },
    );
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", () => reject(new Error("no mounts of its own")));
      child.once("error", reject);
    });
    this.#mounts = child;
  }

  /** Throws with what the program wrote when it fails. */
  run(...words: string[]): string {
    const [program = "", ...args] = [...this.wrapper, ...words];
    return execFileSync(program, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  command(
    words: readonly string[],
    options: Parameters<typeof runCommand>[2] = {},
  ): Promise<CommandResult> {
    const [program = "", ...args] = [...this.wrapper, ...words];
    return runCommand(program, args, options);
  }

  /** Where tests let a server on it write its kubeconfig. */
  get kubeconfig(): string {
    return path.join(this.directory, "kubeconfig");
  }

  tryKubectl(args: readonly string[], stdin?: string): Promise<CommandResult> {
    return this.command(
      ["kubectl", `--kubeconfig=${this.kubeconfig}`, ...args],
      stdin === undefined ? {} : { stdin },
    );
  }

  /** Its output; rejects with its complaint when it fails. */
  async kubectl(...args: string[]): Promise<string> {
    const { stdout, stderr, code } = await this.tryKubectl(args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout.trim();
  }

  async apply(...objects: object[]): Promise<void> {
    const { stderr, code } = await this.tryKubectl(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    );
    if (code !== 0) throw new Error(stderr);
  }

  orbit(...words: string[]): Promise<CommandResult> {
    return this.command([process.execPath, orbitProgram, ...words], {
      timeoutMs: 60_000,
    });
  }

  /** Loads the busybox image into its runtime, which has to run. */
  async loadBusybox(): Promise<void> {
    const { code, stderr } = await this.orbit(
      ...["image", "load", await busyboxImageTar()],
      `--data-dir=${this.dataDirectory}`,
    );
    if (code !== 0) throw new Error(`image load: ${stderr}`);
  }

  /** All that the program on it wrote. */
  log(): string {
    return this.#output;
  }

  /** Where the runtime's files are: the data directory of the server, the root directory of an agent. */
  get dataDirectory(): string {
    return path.join(this.directory, "data");
  }

  /** Starts `orbit WORDS…` as this machine's node; as launch. */
  start(...words: string[]): Promise<void> {
    return this.launch(
      words[0]!,
      `--cgroup-root=${this.cgroupRoot}`,
      `--hostname-override=${this.name}`,
      "--container-runtime-endpoint=private",
      ...words.slice(1),
    );
  }

  /** Starts `orbit WORDS…`; resolves when it is ready, rejects with its output when it ends before. */
  async launch(...words: string[]): Promise<void> {
    const [program = "", ...args] = [
      ...this.wrapper,
      process.execPath,
      orbitProgram,
      ...words,
    ];
    this.#output = "";
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", resolve));
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
    const isReady = (): boolean => this.readyText.test(this.#output);
    let hasClosed = false;
    child.once("close", () => (hasClosed = true));
    const ended = this.#exited.then(async (code) => {
      // Its last words may come after its end, unless what it left behind holds its output open.
      await eventually(() => hasClosed || isReady(), {
        timeoutMs: 10_000,
      }).catch(() => undefined);
      throw new Error(`ended with ${code}:\n${this.#output.slice(-4000)}`);
    });
    ended.catch(() => undefined);
    await Promise.race([
      ended,
      eventually(isReady, {
        timeoutMs: 60_000,
        what: `${this.name} to be ready`,
      }),
    ]);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#child?.kill(signal);
    await this.#exited;
  }

  /** Takes the link's address, and what comes with it. */
  linkUp(address = this.address): void {
    this.run("ip", "link", "set", "eth0", "up");
    this.run("ip", "address", "replace", `${address}/24`, "dev", "eth0");
    this.run("ip", "route", "replace", "default", "via", this.gateway);
  }

  async clean(): Promise<void> {
    const timer = setTimeout(() => this.#child?.kill("SIGKILL"), 5000);
    await this.stop();
    clearTimeout(timer);
    const socket = path.join(
      this.dataDirectory,
      "containerd/run/containerd.sock",
    );
    if (fs.existsSync(socket))
      await this.orbit(
        "remove-pods",
        "--container-runtime-endpoint",
        `unix://${socket}`,
      );
    const inside = execFileSync("ip", ["netns", "pids", this.namespace], {
      encoding: "utf8",
    });
    for (const pid of inside.split("\n").filter(Boolean))
      sendSignal(Number(pid), "SIGKILL");
    const cgroups = [this.cgroupRoot, `${this.cgroupRoot}-runtime`];
    await endProcesses(`${this.directory}/`, ...cgroups);
    await removeCgroups(...cgroups);
    this.#mounts?.kill("SIGKILL");
    removeTempDirectory(this.directory);
  }
}

export class NodeMachines {
  readonly machines: NodeMachine[] = [];
  readonly #prefix = `orbit-${randomBytes(3).toString("hex")}`;
  readonly #router = `${this.#prefix}-r`;

  constructor() {
    ip("netns", "add", this.#router);
    this.router("sysctl", "-qw", "net.ipv4.ip_forward=1");
  }

  /** Runs a program on the router. */
  router(...words: string[]): string {
    return execFileSync(
      "nsenter",
      [`--net=/run/netns/${this.#router}`, ...words],
      { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    );
  }

  /** A machine on a link, `192.168.LINK.0/24`; the router is .254 there. */
  add(name: string, link: number, host: number): NodeMachine {
    const bridge = `br${link}`;
    try {
      this.router("ip", "link", "show", bridge);
    } catch {
      this.router("ip", "link", "add", bridge, "type", "bridge");
      this.router("ip", "link", "set", bridge, "up");
      this.router(
        "ip",
        "address",
        "add",
        `192.168.${link}.254/24`,
        "dev",
        bridge,
      );
    }
    const namespace = `${this.#prefix}-${name}`;
    const port = `p-${name}`;
    ip("netns", "add", namespace);
    ip(
      "link",
      "add",
      "eth0",
      "netns",
      namespace,
      "type",
      "veth",
      "peer",
      "name",
      port,
      "netns",
      this.#router,
    );
    this.router("ip", "link", "set", port, "master", bridge, "up");
    const machine = new NodeMachine(
      name,
      namespace,
      `192.168.${link}.${host}`,
      `192.168.${link}.254`,
      port,
    );
    machine.run("ip", "link", "set", "lo", "up");
    machine.linkUp();
    this.machines.push(machine);
    return machine;
  }

  async clean(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.clean()));
    for (const { namespace } of this.machines) ip("netns", "del", namespace);
    ip("netns", "del", this.#router);
  }
}
