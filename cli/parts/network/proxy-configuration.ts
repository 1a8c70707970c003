// The --config file of `orbit proxy`: a KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1, or the specification's
// kubeproxy.config.orbit.io). A field that an option names with `file` becomes that option's value; flags win. Every problem
// is reported with file, line and field. The fields that have no effect here are those of modes that are refused, of other
// systems, and of periods: nothing is synchronised by time.
import { readFileSync } from "node:fs";
import { chooseProxyMode } from "../../../network/proxy/proxy-mode.ts";
import type { ProxyMode } from "../../../network/proxy/backends.ts";
import { isMap } from "../../options/kubelet-configuration/configuration-document.ts";
import type { OptionValues } from "../../options/parse.ts";
import { parseOptions } from "../../options/parse.ts";
import { proxyOptions } from "../../options/proxy.ts";
import {
  allOptions,
  UsageError,
  type OptionSpec,
  type OptionValue,
} from "../../options/table.ts";
import { parseOptionValue } from "../../options/values/value.ts";
import { ConfigurationSection } from "../configuration-section.ts";

/** Fields without effect; a map belongs to its path as a whole. */
const harmless: readonly string[] = [
  "featureGates",
  "enableProfiling",
  "showHiddenMetricsForVersion",
  "configSyncPeriod",
  "portRange",
  "windowsRunAsService",
  "winkernel",
  "ipvs",
  "clientConnection.acceptContentTypes",
  "logging.options",
  "iptables.syncPeriod",
  "iptables.minSyncPeriod",
  "nftables.syncPeriod",
  "nftables.minSyncPeriod",
];

/** Of the section of the mode that is in use, with their options. */
const byMode: Readonly<Record<string, string>> = {
  masqueradeAll: "masquerade-all",
  masqueradeBit: "iptables-masquerade-bit",
};

/** Where zero means that the field is not set. */
const unsetByZero: ReadonlySet<string> = new Set([
  "kube-api-qps",
  "kube-api-burst",
  "log-flush-frequency",
]);

interface Read {
  readonly values: Map<string, OptionValue>;
  readonly withoutEffect: string[];
}

const isZero = (value: unknown): boolean =>
  value === 0 || (typeof value === "string" && /^0[a-z]*$/.test(value));

/** The elements in the form of the flag's. */
function listOf({ name }: OptionSpec, value: unknown): unknown {
  if (name !== "vmodule" || !Array.isArray(value)) return value;
  return value.map((each: unknown) =>
    isMap(each) &&
    typeof each["filePattern"] === "string" &&
    typeof each["verbosity"] === "number"
      ? `${each["filePattern"]}=${each["verbosity"]}`
      : undefined,
  );
}

/** Undefined: the field is not set. Problems are reported to the section. */
function optionValue(
  spec: OptionSpec,
  section: ConfigurationSection,
): OptionValue | undefined {
  const { value } = section;
  if (value === null || value === undefined || value === "") return undefined;
  if (unsetByZero.has(spec.name) && isZero(value)) return undefined;
  const list = spec.type === "strings" && spec.file !== "clusterCIDR";
  const type =
    spec.type === "bool"
      ? "boolean"
      : spec.type === "int" || spec.type === "float"
        ? "number"
        : "string";
  const given = list ? listOf(spec, value) : [value];
  if (!Array.isArray(given)) section.problem("must be a list");
  else if (given.some((each) => typeof each !== type))
    section.problem(
      `must be ${{ boolean: "true or false", number: "a number", string: list ? "a list of strings" : "a string" }[type]}`,
    );
  else
    try {
      return parseOptionValue(spec, given.map(String).join(","));
    } catch (error) {
      section.problem(
        (error as Error).message.replace(
          /^invalid argument (".*") for "--[^"]*": /s,
          "invalid value $1: ",
        ),
      );
    }
  return undefined;
}

/** Whether something is asked for that has no effect. */
const asks = (value: unknown): boolean =>
  isMap(value)
    ? Object.values(value).some(asks)
    : Array.isArray(value)
      ? value.length > 0
      : value !== null &&
        value !== undefined &&
        value !== "" &&
        value !== false &&
        !isZero(value);

function readSection(
  section: ConfigurationSection,
  known: ReadonlyMap<string, OptionSpec>,
  read: Read,
): void {
  const below = (path: string): boolean =>
    [...known.keys(), ...harmless].some((each) => each.startsWith(`${path}.`));
  const prefix = section.path === "" ? "" : `${section.path}.`;
  const names = [...known.keys(), ...harmless].flatMap((path) =>
    path.startsWith(prefix) ? [path.slice(prefix.length).split(".")[0]!] : [],
  );
  const fields =
    section.path === ""
      ? (section.object(
          "KubeProxyConfiguration",
          ["kubeproxy.config.k8s.io/v1alpha1"],
          names,
        ) ?? {})
      : section.fields(names);
  for (const name of Object.keys(fields)) {
    const child = section.child(name);
    const spec = known.get(child.path);
    if (spec) {
      const value = optionValue(spec, child);
      if (value !== undefined) read.values.set(child.path, value);
    } else if (harmless.includes(child.path)) {
      if (asks(child.value)) read.withoutEffect.push(child.path);
    } else if (below(child.path)) readSection(child, known, read);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--config: ${(error as Error).message}`);
  }
}

/** The command line over the file that it names. @throws UsageError with all problems of the file */
export async function readProxyOptions(argv: readonly string[]): Promise<{
  values: OptionValues;
  withoutEffect: readonly string[];
}> {
  const values = parseOptions(proxyOptions, argv);
  const file = values.optionalText("config");
  if (file === undefined) return { values, withoutEffect: [] };
  const specs = allOptions(proxyOptions);
  const known = new Map(
    specs.flatMap((spec) => (spec.file ? [[spec.file, spec] as const] : [])),
  );
  for (const [name, option] of Object.entries(byMode))
    known.set(
      `iptables.${name}`,
      specs.find((spec) => spec.name === option)!,
    );
  const read: Read = { values: new Map(), withoutEffect: [] };
  await ConfigurationSection.read(readText(file), file, (section) =>
    readSection(section, known, read),
  );
  const mode = await chooseProxyMode(
    (values.optionalText("proxy-mode") ?? read.values.get("mode")) as
      ProxyMode | undefined,
  );
  const other = mode === "iptables" ? "nftables." : "iptables.";
  const fromFile = [...read.values].flatMap(([path, value]) =>
    path.startsWith(other) && path.slice(other.length) in byMode
      ? []
      : [[known.get(path)!.name, value] as const],
  );
  return {
    values: values.withFile(new Map(fromFile)),
    withoutEffect: read.withoutEffect,
  };
}
