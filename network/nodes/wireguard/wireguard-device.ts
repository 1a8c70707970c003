// The WireGuard device: made in the kernel, or by `wireguard-go` where the kernel has none, and kept as it is wanted. Nothing
// is written where it is so already. The private key goes to `wg` through its standard input alone.
//
// A device of wireguard-go goes with its process, and the process with its device: the machine's links report that, and the
// next look makes both again. One that an earlier run of this program left is used as it is.
import type { Clock } from "../../../api/clock.ts";
import type { RunProgram } from "../../links/ip-command.ts";
import { allLinks, type LinkAnswer } from "../node-links.ts";
import { familyOf } from "../peers.ts";
import type { WireguardPeer } from "./encrypted-plan.ts";
import type { WireguardKeys } from "./key-pair.ts";

/** Between two starts of wireguard-go: one that ends at once is not started all the time. */
const restartMs = 1000;

interface DeviceState {
  readonly keys: WireguardKeys;
  /** UDP, on all addresses. */
  readonly port: number;
  /** 0: none. */
  readonly keepaliveSeconds: number;
  readonly mtu: number;
  readonly addresses: readonly string[];
  readonly peers: readonly WireguardPeer[];
}

interface DeviceOptions {
  readonly run: RunProgram;
  readonly device: string;
  readonly clock: Clock;
}

/** The text of a configuration, without the private key where only what is to be compared is wanted. */
function configuration(
  { port, keepaliveSeconds, peers }: DeviceState,
  privateKey: string,
): string {
  return [
    "[Interface]",
    `PrivateKey = ${privateKey}`,
    `ListenPort = ${port}`,
    ...peers.flatMap(({ publicKey, endpoint, ranges }) => [
      "[Peer]",
      `PublicKey = ${publicKey}`,
      `Endpoint = ${endpoint}`,
      `AllowedIPs = ${ranges.join(", ")}`,
      `PersistentKeepalive = ${keepaliveSeconds || "off"}`,
    ]),
    "",
  ].join("\n");
}

/** What `wg show DEVICE dump` writes, as far as it is compared: an endpoint follows its peer when that moves. */
function dumpOf({
  keys,
  port,
  keepaliveSeconds,
  peers,
}: DeviceState): string[] {
  return [
    `${keys.publicKey} ${port}`,
    ...peers
      .map(
        ({ publicKey, ranges }) =>
          `${publicKey} ${ranges.toSorted().join()} ${keepaliveSeconds || "off"}`,
      )
      .toSorted(),
  ];
}

function parseDump(text: string): string[] {
  const [head = "", ...rest] = text.trim().split("\n");
  const [, publicKey, port] = head.split("\t");
  return [
    `${publicKey} ${port}`,
    ...rest
      .map((line) => {
        const [key, , , ranges = "", , , , keepalive] = line.split("\t");
        return `${key} ${ranges.split(",").toSorted().join()} ${keepalive}`;
      })
      .toSorted(),
  ];
}

export class WireguardDevice {
  readonly #options: DeviceOptions;
  /** The configuration that was written last. */
  #written = "";
  #startedAtMs = -Infinity;

  constructor(options: DeviceOptions) {
    this.#options = options;
  }

  async #find(): Promise<LinkAnswer | undefined> {
    const { run, device } = this.#options;
    return (await allLinks(run)).find(({ ifname }) => ifname === device);
  }

  /** Rejects with a program's text. */
  async apply(state: DeviceState): Promise<void> {
    const { run, device } = this.#options;
    const { link, dump } = await this.#ensure();
    const wanted = configuration(state, "");
    const up = link.flags?.includes("UP") === true;
    const has = parseDump(dump);
    if (
      has.join("\n") !== dumpOf(state).join("\n") ||
      wanted !== this.#written
    ) {
      if (!up || has[0]?.split(" ")[1] !== String(state.port))
        await this.#assertPortFree(state.port);
      this.#written = "";
      // wg opens a file: it can't open a socket, which this program's pipes are.
      await run(
        ["sh", "-c", 'cat | wg syncconf "$1" /dev/stdin', "sh", device],
        configuration(state, state.keys.privateKey),
      );
      this.#written = wanted;
    }
    const commands = [
      ...(link.mtu === state.mtu
        ? []
        : [`link set ${device} mtu ${state.mtu}`]),
      ...state.addresses
        .filter(
          (address) => !link.addr_info?.some(({ local }) => local === address),
        )
        .map(
          (address) =>
            `address replace ${address}/${familyOf(address) === 4 ? 32 : 128} dev ${device}${familyOf(address) === 6 ? " nodad" : ""}`,
        ),
      ...(up ? [] : [`link set ${device} up`]),
    ];
    if (commands.length > 0)
      await run(["ip", "-batch", "-"], `${commands.join("\n")}\n`);
  }

  /** Ends wireguard-go, with its device; one of the kernel stays, as the routes do. */
  async stop(): Promise<void> {
    const { run, device } = this.#options;
    if ((await this.#find())?.linkinfo?.info_kind === "tun")
      await run(["ip", "link", "del", device]);
  }

  /** The device is there afterwards, and answers. */
  async #ensure(): Promise<{ link: LinkAnswer; dump: string }> {
    const { run, device } = this.#options;
    const show = () => run(["wg", "show", device, "dump"]);
    const found = await this.#find();
    if (found) {
      const kind = found.linkinfo?.info_kind;
      const dump =
        kind === "wireguard" || kind === "tun"
          ? await show().catch(() => undefined)
          : undefined;
      if (dump !== undefined) return { link: found, dump };
      // A VXLAN, or what no process serves any longer.
      await run(["ip", "link", "del", device]);
    }
    this.#written = "";
    await this.#make();
    const link = await this.#find();
    if (!link) throw new Error(`${device} was made and is not there`);
    return { link, dump: await show() };
  }

  async #make(): Promise<void> {
    const { run, device, clock } = this.#options;
    try {
      await run(["ip", "link", "add", device, "type", "wireguard"]);
      return;
    } catch (error) {
      if (!/unknown device type|not supported/i.test(String(error)))
        throw error;
    }
    const waitMs = this.#startedAtMs + restartMs - clock.monotonic();
    if (waitMs > 0) throw new Error("wireguard-go ended as soon as it began");
    // It goes on in the background once the device is there.
    await run(["wireguard-go", device]);
    this.#startedAtMs = clock.monotonic();
  }

  /** The device would be there and hear nothing. */
  async #assertPortFree(port: number): Promise<void> {
    const sockets = await this.#options.run([
      "sh",
      "-c",
      "cat /proc/net/udp /proc/net/udp6 2>/dev/null || :",
    ]);
    const text = `:${port.toString(16).toUpperCase().padStart(4, "0")} `;
    if (
      sockets
        .split("\n")
        .some((line) => line.trim().split(/\s+/)[1]?.concat(" ").endsWith(text))
    )
      throw new Error(
        `UDP port ${port} is another program's: choose one with --wireguard-port on every node`,
      );
  }
}
