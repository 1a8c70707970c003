// The node's iSCSI initiator (open-iscsi): logs in to targets through iscsiadm(8), and finds a logical unit's device in
// /sys. Sessions scan for nothing by themselves: only the units that volumes ask for become devices of this node.
//
//   /sys/class/iscsi_session/session3/targetname                                  iqn.2026-11.example:disks
//   /sys/class/iscsi_session/session3/device/connection3:0/iscsi_connection/…     persistent_address, persistent_port
//   /sys/class/iscsi_session/session3/device/target2:0:0/2:0:0:1/block/sdb        unit 1, through host 2
import { execFile } from "node:child_process";
import { readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Target } from "./iscsi-target.ts";

interface Session {
  /** host:port, as the volume names it. */
  readonly portal: string;
  readonly device: string;
  /** Number of the SCSI host. */
  readonly host: number;
}

interface InitiatorOptions {
  /** Replaced in tests. */
  readonly sys?: string;
  readonly program?: string;
  readonly deviceTimeoutMs?: number;
}

const callTimeoutMs = 60_000;
const defaultDeviceTimeoutMs = 30_000;
const pollMs = 100;

const entries = (directory: string): Promise<string[]> =>
  readdir(directory).catch(() => []);
const text = async (...parts: string[]): Promise<string> =>
  (await readFile(join(...parts), "utf8").catch(() => "")).trim();

export class IscsiInitiator {
  readonly #sys: string;
  readonly #program: string;
  readonly #deviceTimeoutMs: number;

  constructor(options: InitiatorOptions = {}) {
    this.#sys = options.sys ?? "/sys";
    this.#program = options.program ?? "iscsiadm";
    this.#deviceTimeoutMs = options.deviceTimeoutMs ?? defaultDeviceTimeoutMs;
  }

  /**
   * Logs in through every portal and resolves to the unit's device, the multipath device above it where there is one.
   * Idempotent. Rejects when no portal leads to it.
   */
  async attach(target: Target): Promise<string> {
    await this.#prepareInterface(target);
    const devices: string[] = [];
    const failures: string[] = [];
    for (const portal of target.portals)
      try {
        devices.push(await this.#deviceThrough(target, portal));
      } catch (error) {
        failures.push((error as Error).message);
      }
    const [first] = devices;
    if (first === undefined)
      throw new Error(
        `failed to get any path for iscsi disk: ${failures.join("; ")}`,
      );
    return (await this.#multipathAbove(first)) ?? first;
  }

  /** The unit's devices go; the sessions too when `last`: no other unit of the target is in use. */
  async detach(target: Target, last: boolean): Promise<void> {
    for (const session of await this.#sessions(target.iqn)) {
      const unit = await this.#unit(session, target.lun);
      if (unit !== undefined)
        await writeFile(join(unit, "delete"), "1").catch(() => undefined);
    }
    if (!last) return;
    const loggedIn = new Set(
      (await this.#sessions(target.iqn)).map(({ portal }) => portal),
    );
    for (const portal of target.portals) {
      const node = ["-m", "node", "-p", portal, "-T", target.iqn];
      const record = [...node, "-I", target.interface];
      if (loggedIn.has(portal)) await this.#call(...record, "--logout");
      await this.#attempt(...record, "-o", "delete");
    }
    if (target.initiatorName !== undefined)
      await this.#attempt(
        "-m",
        "iface",
        "-I",
        target.interface,
        "-o",
        "delete",
      );
  }

  async #deviceThrough(target: Target, portal: string): Promise<string> {
    let session = await this.#sessionOf(target.iqn, portal);
    if (!session) {
      await this.#logIn(target, portal);
      session = await this.#sessionOf(target.iqn, portal);
      if (!session) throw new Error(`no session with portal ${portal}`);
    }
    const scan = join(this.#sys, `class/scsi_host/host${session.host}/scan`);
    const end = performance.now() + this.#deviceTimeoutMs;
    let unit = await this.#unit(session, target.lun);
    if (unit === undefined) await writeFile(scan, `0 0 ${target.lun}`);
    for (;;) {
      unit ??= await this.#unit(session, target.lun);
      const [name] =
        unit === undefined ? [] : await entries(join(unit, "block"));
      if (name !== undefined) return `/dev/${name}`;
      if (performance.now() > end)
        throw new Error(
          `timed out waiting for the device of LUN ${target.lun} through portal ${portal}`,
        );
      await sleep(pollMs);
    }
  }

  async #logIn(target: Target, portal: string): Promise<void> {
    const { iqn, discovery, session } = target;
    const found = [
      ...["-m", "discoverydb", "-t", "sendtargets"],
      ...["-p", portal, "-I", target.interface],
    ];
    const node = [
      "-m",
      "node",
      "-p",
      portal,
      "-T",
      iqn,
      "-I",
      target.interface,
    ];
    await this.#attempt(...found, "-o", "new");
    try {
      await this.#authenticate(found, "discovery.sendtargets.auth", discovery);
      await this.#call(...found, "--discover");
    } catch (error) {
      await this.#attempt(...found, "-o", "delete");
      throw error;
    }
    try {
      await this.#authenticate(node, "node.session.auth", session);
      // Not each unit of the target, and not again when the machine starts.
      await this.#update(node, "node.session.scan", "manual");
      await this.#update(node, "node.startup", "manual");
      await this.#call(...node, "--login");
    } catch (error) {
      await this.#attempt(...node, "-o", "delete");
      throw error;
    }
  }

  async #authenticate(
    record: readonly string[],
    prefix: string,
    credentials: Target["session"],
  ): Promise<void> {
    if (!credentials) return;
    await this.#update(record, `${prefix}.authmethod`, "CHAP");
    for (const [name, value] of Object.entries(credentials))
      await this.#update(record, `${prefix}.${name}`, value);
  }

  /** One with the volume's own initiator name is made after the one that it names. */
  async #prepareInterface(target: Target): Promise<void> {
    if (target.initiatorName === undefined) return;
    const base = await this.#call(
      "-m",
      "iface",
      "-I",
      target.baseInterface,
      "-o",
      "show",
    );
    const own = ["-m", "iface", "-I", target.interface];
    await this.#attempt(...own, "-o", "new");
    for (const line of base.split("\n")) {
      const [, name, value] = /^(iface\.\S+) = (.+)$/.exec(line) ?? [];
      if (name === undefined || value === "<empty>") continue;
      if (name !== "iface.iscsi_ifacename" && name !== "iface.initiatorname")
        await this.#update(own, name, value!);
    }
    await this.#update(own, "iface.initiatorname", target.initiatorName);
  }

  #update(
    record: readonly string[],
    name: string,
    value: string,
  ): Promise<string> {
    return this.#call(...record, "-o", "update", "-n", name, "-v", value);
  }

  /** Where it may be there already, or be gone. */
  async #attempt(...args: string[]): Promise<void> {
    await this.#call(...args).catch(() => undefined);
  }

  /** Rejects without the arguments, which may be passwords. */
  async #call(...args: string[]): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(this.#program, args, {
        timeout: callTimeoutMs,
      });
      return stdout;
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      if (code === "ENOENT")
        throw new Error(
          "iscsi volumes need iscsiadm, which is not installed on this node (Debian: open-iscsi)",
        );
      const said =
        stderr?.trim() || `it ended with ${String(code ?? "a signal")}`;
      throw new Error(`iscsiadm: ${said.slice(0, 500)}`);
    }
  }

  async #sessionOf(iqn: string, portal: string): Promise<Session | undefined> {
    return (await this.#sessions(iqn)).find((each) => each.portal === portal);
  }

  /** Those with the target. */
  async #sessions(iqn: string): Promise<Session[]> {
    const all = join(this.#sys, "class/iscsi_session");
    const sessions: Session[] = [];
    for (const name of await entries(all)) {
      if ((await text(all, name, "targetname")) !== iqn) continue;
      const device = await realpath(join(all, name, "device"));
      const host = /\/host(\d+)\//.exec(device)?.[1];
      if (host === undefined) continue;
      for (const connection of await entries(device)) {
        if (!connection.startsWith("connection")) continue;
        const facts = join(device, connection, "iscsi_connection", connection);
        const address = await text(facts, "persistent_address");
        const port = await text(facts, "persistent_port");
        const shown = address.includes(":") ? `[${address}]` : address;
        sessions.push({
          portal: `${shown}:${port}`,
          device,
          host: Number(host),
        });
      }
    }
    return sessions;
  }

  /** The unit's directory in /sys. */
  async #unit({ device }: Session, lun: number): Promise<string | undefined> {
    for (const target of await entries(device)) {
      if (!target.startsWith("target")) continue;
      for (const unit of await entries(join(device, target)))
        if (/^\d+:\d+:\d+:\d+$/.test(unit) && unit.endsWith(`:${lun}`))
          return join(device, target, unit);
    }
    return undefined;
  }

  /** The device of multipathd that has this one as a path. */
  async #multipathAbove(device: string): Promise<string | undefined> {
    const block = join(this.#sys, "block", device.slice("/dev/".length));
    for (const holder of await entries(join(block, "holders")))
      if (
        (await text(this.#sys, "block", holder, "dm/uuid")).startsWith("mpath-")
      )
        return `/dev/${holder}`;
    return undefined;
  }
}
