// The kernel's connection tracking as the options of the service proxy want it: how many connections it keeps and for how
// long. Source: the reference's conntrack settings. A limit is only raised, never lowered, as at the reference.
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Logger } from "pino";

interface ConntrackSettings {
  /** Connections for each core, and at least; 0 of the former: the limit is left as it is. */
  readonly maxPerCore: number;
  readonly min: number;
  /** Milliseconds; 0: left as it is. */
  readonly tcpEstablishedMs: number;
  readonly tcpCloseWaitMs: number;
  readonly udpMs: number;
  readonly udpStreamMs: number;
  readonly tcpBeLiberal: boolean;
}

/** File below netfilter/ to what is written there. */
function conntrackValues(
  settings: ConntrackSettings,
  cores: number,
): ReadonlyMap<string, number> {
  const seconds = (timeMs: number): number => Math.floor(timeMs / 1000);
  const limit =
    settings.maxPerCore > 0
      ? Math.max(settings.min, settings.maxPerCore * cores)
      : 0;
  const values: [string, number][] = [
    ["nf_conntrack_max", limit],
    [
      "nf_conntrack_tcp_timeout_established",
      seconds(settings.tcpEstablishedMs),
    ],
    ["nf_conntrack_tcp_timeout_close_wait", seconds(settings.tcpCloseWaitMs)],
    ["nf_conntrack_udp_timeout", seconds(settings.udpMs)],
    ["nf_conntrack_udp_timeout_stream", seconds(settings.udpStreamMs)],
    ["nf_conntrack_tcp_be_liberal", settings.tcpBeLiberal ? 1 : 0],
  ];
  return new Map(values.filter(([, value]) => value > 0));
}

/** Resolves to the names of those that could not be written, which are logged. */
export async function applyConntrackSettings(
  settings: ConntrackSettings,
  logger: Logger,
  directory = "/proc/sys/net/netfilter",
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const [name, value] of conntrackValues(
    settings,
    availableParallelism(),
  )) {
    const file = `${directory}/${name}`;
    try {
      const present = Number(await readFile(file, "utf8"));
      const enough =
        name === "nf_conntrack_max" ? present >= value : present === value;
      if (!enough) await writeFile(file, String(value));
    } catch (err) {
      failed.push(name);
      logger.warn(
        { err, setting: name, value },
        "a setting of connection tracking could not be written",
      );
    }
  }
  return failed;
}
