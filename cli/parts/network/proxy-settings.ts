// What the options of `orbit proxy` mean: its node, ports, rules and settings of the kernel. A problem with any of them is a
// UsageError.
import { writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import * as os from "node:os";
import type { Logger } from "pino";
import { applyConntrackSettings } from "../../../network/proxy/conntrack-settings.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { nodePortAddresses } from "./network-plan.ts";
import { portPlace, type PortPlace } from "./port-place.ts";

/** Whose traffic is pods': by ranges, which are the Node's where they are undefined, or by where it comes in. */
interface LocalTraffic {
  readonly podRanges: readonly string[] | undefined;
  /** As TableOptions'. */
  readonly podInterface?: string;
}

export interface ProxySettings {
  readonly nodeName: string;
  readonly health: PortPlace | undefined;
  readonly metrics: PortPlace | undefined;
  readonly nodePortRanges: readonly string[];
  readonly local: LocalTraffic;
}

function refuse(name: string, text: string, reason: string): never {
  throw new UsageError(`invalid argument "${text}" for "--${name}": ${reason}`);
}

function isRange(text: string): boolean {
  const [base = "", bits = "", ...rest] = text.split("/");
  const family = isIP(base);
  return (
    family !== 0 &&
    rest.length === 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (family === 4 ? 32 : 128)
  );
}

function localTraffic(values: OptionValues): LocalTraffic {
  const mode = values.text("detect-local-mode");
  const ranges = values.list("cluster-cidr");
  for (const range of ranges)
    if (!isRange(range)) refuse("cluster-cidr", range, "must be a valid CIDR");
  const byInterface = (option: string, end: string): LocalTraffic => {
    const name = values.optionalText(option);
    if (name === undefined)
      throw new UsageError(
        `--${option} must be given with --detect-local-mode=${mode}`,
      );
    return { podRanges: [], podInterface: `${name}${end}` };
  };
  if (mode === "BridgeInterface")
    return byInterface("pod-bridge-interface", "");
  if (mode === "InterfaceNamePrefix")
    return byInterface("pod-interface-name-prefix", "*");
  return {
    podRanges: mode === "NodeCIDR" || ranges.length === 0 ? undefined : ranges,
  };
}

function placeOf(
  values: OptionValues,
  name: string,
  usual: PortPlace,
): PortPlace | undefined {
  return values.isSet(name) ? portPlace(values, name, usual.port) : usual;
}

export function proxySettings(values: OptionValues): ProxySettings {
  const bindAddress = values.text("bind-address");
  const family = isIP(bindAddress);
  if (family === 0)
    refuse("bind-address", bindAddress, "must be an IP address");
  const own = /^(0\.0\.0\.0|::)$/.test(bindAddress) ? [] : [bindAddress];
  const nodeName = (
    values.optionalText("hostname-override") ?? os.hostname()
  ).trim();
  if (nodeName === "")
    refuse("hostname-override", nodeName, "must not be empty");
  return {
    nodeName: nodeName.toLowerCase(),
    health: placeOf(values, "healthz-bind-address", {
      host: family === 4 ? "0.0.0.0" : "::",
      port: 10_256,
    }),
    metrics: placeOf(values, "metrics-bind-address", {
      host: family === 4 ? "127.0.0.1" : "::1",
      port: 10_249,
    }),
    nodePortRanges: nodePortAddresses(values, own),
    local: localTraffic(values),
  };
}

/** What a proxy asks of the kernel beside its rules. */
export async function applyKernelSettings(
  values: OptionValues,
  logger: Logger,
): Promise<void> {
  const score = values.number("oom-score-adj");
  await writeFile("/proc/self/oom_score_adj", String(score)).catch(
    (err: unknown) =>
      logger.warn({ err, score }, "--oom-score-adj could not be applied"),
  );
  await applyConntrackSettings(
    {
      maxPerCore: values.number("conntrack-max-per-core"),
      min: values.number("conntrack-min"),
      tcpEstablishedMs: values.number("conntrack-tcp-timeout-established"),
      tcpCloseWaitMs: values.number("conntrack-tcp-timeout-close-wait"),
      udpMs: values.number("conntrack-udp-timeout"),
      udpStreamMs: values.number("conntrack-udp-timeout-stream"),
      tcpBeLiberal: values.flag("conntrack-tcp-be-liberal"),
    },
    logger,
  );
}
