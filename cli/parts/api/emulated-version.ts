// --emulated-version and --feature-gates: which release the API server behaves like, and which features are on. Of 1.31 it
// serves no APIs and knows no gates that came with 1.32. Everything that is not known, or locked, refuses the start.
import gates from "../../../api/facts/feature-gates.json";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { fixedGates, unbuiltGates } from "../../options/unbuilt-gates.ts";

export type EmulatedVersion = "1.31" | "1.32";

/** Both dialects of this program's name among the components. */
const component = /^(kube|orbit)[=:]/;

/** Throws UsageError. */
export function emulatedVersionOf(values: OptionValues): EmulatedVersion {
  const option = "emulated-version";
  const fail = (text: string, why: string): never => {
    throw new UsageError(
      `invalid argument ${JSON.stringify(text)} for "--${option}": ${why}`,
    );
  };
  let chosen: EmulatedVersion | undefined;
  for (const text of values.list(option)) {
    const version = text.replace(component, "");
    if (version.includes("="))
      fail(text, `component not registered: ${version.split("=")[0]}`);
    if (!/^\d+\.\d+$/.test(version)) fail(text, "version must be MAJOR.MINOR");
    if (chosen !== undefined)
      fail(text, "a component may have one version only");
    if (version !== "1.31" && version !== "1.32")
      // In the reference's words: it shows its own version with a patch.
      fail(text, `emulation version ${version} is not between [1.31, 1.32.0]`);
    chosen = version as EmulatedVersion;
  }
  return chosen ?? "1.32";
}

/** What came with 1.32: versions, or single resources of one. */
const newApis: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies",
  "admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings",
  "coordination.k8s.io/v1alpha2",
  "resource.k8s.io/v1beta1",
]);

/** @param apiVersion as in an object */
export function isServedBy(
  version: EmulatedVersion,
  apiVersion: string,
  resource: string,
): boolean {
  return (
    version === "1.32" ||
    !(newApis.has(apiVersion) || newApis.has(`${apiVersion}/${resource}`))
  );
}

interface Gate {
  readonly stage: string;
  readonly on: boolean;
  readonly locked: boolean;
}

type Facts = Readonly<
  Record<string, { readonly "1.32": string; readonly "1.31"?: string | null }>
>;

/** Undefined: the release does not have it. */
function gateOf(name: string, version: EmulatedVersion): Gate | undefined {
  const facts: Facts = gates;
  const known = Object.hasOwn(facts, name) ? facts[name] : undefined;
  const text = version === "1.31" ? known?.["1.31"] : undefined;
  const shown = text === undefined ? known?.["1.32"] : text;
  if (!shown) return undefined;
  const [stage = "", on, locked] = shown.split(" ");
  return { stage, on: on === "on", locked: locked !== undefined };
}

/** Whether there is anything behind the gate that knows of this setting. */
const canBe = (name: string, on: boolean, gate: Gate): boolean =>
  on === gate.on || !(on ? unbuiltGates : fixedGates).has(name);

const booleans: Readonly<Record<string, boolean>> = {
  ...{ "1": true, t: true, T: true, true: true, TRUE: true, True: true },
  ...{ "0": false, f: false, F: false, false: false, FALSE: false },
  False: false,
};

/** Gates that set all of a stage, where a gate is not set itself. */
const sets: Readonly<Record<string, string>> = {
  AllAlpha: "alpha",
  AllBeta: "beta",
};

/** Those that are set, by their names. Throws UsageError. @param warn of gates that will go */
export function featureGatesOf(
  values: OptionValues,
  version: EmulatedVersion,
  warn: (text: string) => void,
): Record<string, boolean> {
  const chosen: Record<string, boolean> = {};
  const wholeStages = new Map<string, boolean>();
  for (const [key, text] of Object.entries(values.map("feature-gates"))) {
    const name = key.replace(component, "");
    const fail = (why: string): never => {
      throw new UsageError(
        `invalid argument ${JSON.stringify(`${key}=${text}`)} for "--feature-gates": ${why}`,
      );
    };
    const on = Object.hasOwn(booleans, text) ? booleans[text]! : undefined;
    if (on === undefined)
      return fail(
        `invalid value of ${name}: ${text}, err: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
    const stage = Object.hasOwn(sets, name) ? sets[name] : undefined;
    if (stage !== undefined) {
      wholeStages.set(stage, on);
      continue;
    }
    const gate = gateOf(name, version);
    if (!gate)
      return fail(
        gateOf(name, "1.32")
          ? `cannot set feature gate ${name} to ${on}, feature is PreAlpha at emulated version ${version}`
          : `unrecognized feature gate: ${name}`,
      );
    if (gate.locked && gate.on !== on)
      fail(
        `cannot set feature gate ${name} to ${on}, feature is locked to ${gate.on}`,
      );
    if (!canBe(name, on, gate))
      fail(`cannot set feature gate ${name} to ${on}, it is not supported`);
    if (gate.stage === "ga" || gate.stage === "deprecated")
      warn(
        `Setting ${gate.stage === "ga" ? "GA" : "deprecated"} feature gate ${name}=${on}. It will be removed in a future release.`,
      );
    chosen[name] = on;
  }
  for (const name of Object.keys(gates)) {
    const gate = gateOf(name, version);
    const on = gate && wholeStages.get(gate.stage);
    if (on !== undefined)
      chosen[name] ??= canBe(name, on, gate!) ? on : gate!.on;
  }
  return chosen;
}

/** All gates of a release with their stages in capitals ("" for GA), as /metrics shows them. */
export function gateStates(
  chosen: Readonly<Record<string, boolean>>,
  version: EmulatedVersion,
): { name: string; stage: string; on: boolean }[] {
  const states = Object.entries(sets).map(([name, stage]) => ({
    name,
    stage: stage.toUpperCase(),
    on: Object.hasOwn(chosen, name) && chosen[name] === true,
  }));
  for (const name of Object.keys(gates)) {
    const gate = gateOf(name, version);
    if (!gate) continue;
    const stage = gate.stage === "ga" ? "" : gate.stage.toUpperCase();
    states.push({ name, stage, on: chosen[name] ?? gate.on });
  }
  return states;
}

/**
 * What is on or off at an older release and not at this one, where nothing else is said. What can't be turned off stays
 * on, and is shown so.
 */
function gatesOfRelease(version: EmulatedVersion): Record<string, boolean> {
  return Object.fromEntries(
    Object.keys(gates).flatMap((name): [string, boolean][] => {
      const now = gateOf(name, "1.32");
      const on = gateOf(name, version)?.on ?? false;
      if (on === (now?.on ?? false)) return [];
      const fixed = fixedGates.has(name) || now?.locked === true;
      return [[name, on || fixed]];
    }),
  );
}

/** The gates that are set, or that the emulated version has otherwise than this one. Throws UsageError. */
export function gatesOfPart(
  values: OptionValues,
  warn: (text: string) => void,
): Record<string, boolean> {
  const version = emulatedVersionOf(values);
  return {
    ...gatesOfRelease(version),
    ...featureGatesOf(values, version, warn),
  };
}
