// --emulated-version and --feature-gates: what is accepted, what is refused, and what is served.
import { agentOptions } from "../../../cli/options/agent.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions, type OptionValues } from "../../../cli/options/parse.ts";
import {
  emulatedVersionOf,
  featureGatesOf,
  gatesOfPart,
} from "../../../cli/parts/api/emulated-version.ts";
import {
  fixedGates,
  unbuiltGates,
} from "../../../cli/options/unbuilt-gates.ts";
import { schedulerOptions } from "../../../cli/options/scheduler.ts";
import { chosenCatalogue } from "../../../cli/parts/api/runtime-config.ts";

const parsed = (...args: string[]): OptionValues =>
  parseOptions(apiServerOptions, args);
const emulated = (...texts: string[]) =>
  emulatedVersionOf(parsed(...texts.map((one) => `--emulated-version=${one}`)));

test.each([
  ["1.31", "1.31"],
  ["kube=1.31", "1.31"],
  ["orbit=1.32", "1.32"],
])("%s is %s", (text, version) => {
  expect(emulated(text)).toBe(version);
});

test.each([
  ["1.30", "emulation version 1.30 is not between [1.31, 1.32.0]"],
  ["kube=1.33", "emulation version 1.33 is not between [1.31, 1.32.0]"],
  ["1.32.1", "version must be MAJOR.MINOR"],
  ["wardle=1.2", "component not registered: wardle"],
  ["x", "version must be MAJOR.MINOR"],
])("%s is refused: %s", (text, why) => {
  expect(() => emulated(text)).toThrow(why);
});

test("one version only, and without one it is 1.32", () => {
  expect(emulated()).toBe("1.32");
  expect(() => emulated("1.31", "kube=1.32")).toThrow("one version only");
});

const warnings: string[] = [];
const gates = (texts: string, version: "1.31" | "1.32" = "1.32") =>
  featureGatesOf(parsed(`--feature-gates=${texts}`), version, (text) =>
    warnings.push(text),
  );

test("gates are set by name, a component before it makes no difference", () => {
  expect(
    gates("CBORServingAndStorage=true,kube:APIResponseCompression=F"),
  ).toEqual({
    CBORServingAndStorage: true,
    APIResponseCompression: false,
  });
});

test.each([
  ["NoSuch=true", "unrecognized feature gate: NoSuch"],
  ["toString=true", "unrecognized feature gate: toString"],
  ["WatchList=maybe", 'parsing "maybe": invalid syntax'],
  [
    "StructuredAuthorizationConfiguration=false",
    "cannot set feature gate StructuredAuthorizationConfiguration to false, feature is locked to true",
  ],
])("%s is refused: %s", (texts, why) => {
  expect(() => gates(texts)).toThrow(why);
});

test("a gate of 1.32 is none of 1.31", () => {
  expect(gates("MutatingAdmissionPolicy=true")).toEqual({
    MutatingAdmissionPolicy: true,
  });
  expect(gates("CBORServingAndStorage=true")).toBeDefined();
  expect(() => gates("CBORServingAndStorage=true", "1.31")).toThrow(
    "cannot set feature gate CBORServingAndStorage to true, feature is PreAlpha at emulated version 1.31",
  );
});

test("gates that will go are warned about", () => {
  warnings.length = 0;
  gates("StructuredAuthorizationConfiguration=true");
  expect(warnings).toEqual([
    "Setting GA feature gate StructuredAuthorizationConfiguration=true. It will be removed in a future release.",
  ]);
});

test("AllAlpha and AllBeta leave what is set itself alone", () => {
  const all = gates("AllAlpha=true,CBORServingAndStorage=false");
  expect(all["CBORServingAndStorage"]).toBe(false);
  expect(all["StorageVersionMigrator"]).toBe(true);
  expect(all["WatchList"]).toBeUndefined();
  expect(gates("AllBeta=false")["APIResponseCompression"]).toBe(false);
});

test("a gate whose feature is not built can't be turned on, and stays off with its stage", () => {
  for (const [name, value] of Object.entries(
    gates("AllAlpha=true,AllBeta=true"),
  ))
    expect([name, value]).toEqual([name, !unbuiltGates.has(name)]);
  for (const name of unbuiltGates) {
    expect(() => gates(`${name}=true`)).toThrow(
      `cannot set feature gate ${name} to true, it is not supported`,
    );
    expect(gates(`${name}=false`)).toEqual({ [name]: false });
  }
});

test("a gate whose feature is always on can't be turned off, and stays on with its stage", () => {
  for (const [name, value] of Object.entries(gates("AllBeta=false")))
    expect([name, value]).toEqual([name, fixedGates.has(name)]);
  for (const name of fixedGates) {
    expect(() => gates(`${name}=false`)).toThrow(
      `cannot set feature gate ${name} to false, it is not supported`,
    );
    expect(gates(`${name}=true`)).toEqual({ [name]: true });
  }
});

test("the API server has what 1.31 has off, but what can't be turned off", () => {
  const at = (...args: string[]): Record<string, boolean> =>
    gatesOfPart(parsed("--emulated-version=1.31", ...args), () => undefined);
  expect(at()).toMatchObject({
    WatchList: false,
    JobManagedBy: false,
    AnonymousAuthConfigurableEndpoints: false,
    AuthorizeNodeWithSelectors: false,
    // Always on, and shown so: one of 1.32's locked gates, and one of those that are not built.
    StrictCostEnforcementForVAP: true,
    AuthorizeWithSelectors: true,
  });
  expect(at("--feature-gates=WatchList=true")["WatchList"]).toBe(true);
  for (const [name, on] of Object.entries(at()))
    if (fixedGates.has(name)) expect([name, on]).toEqual([name, true]);
});

test("1.31 serves nothing that came with 1.32, whatever is asked for", () => {
  const served = (version: "1.31" | "1.32"): string[] =>
    chosenCatalogue(parsed("--runtime-config=api/all=true"), version)
      .groupVersions()
      .map(({ group, version: name }) => `${group}/${name}`);
  const newer = served("1.32").filter((one) => !served("1.31").includes(one));
  expect(newer.sort()).toEqual([
    // Mutating policies are all that is in it.
    "admissionregistration.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "resource.k8s.io/v1beta1",
  ]);
  expect(
    chosenCatalogue(parsed(), "1.31").resource("", "v1", "pods"),
  ).toBeDefined();
});

test.each([
  ["agent", agentOptions],
  ["controller manager", controllerManagerOptions],
  ["scheduler", schedulerOptions],
])("the %s has the gates of the release it behaves like", (_name, table) => {
  const of = (...args: string[]): Record<string, boolean> =>
    gatesOfPart(parseOptions(table, args), () => undefined);
  expect(of()).toEqual({});
  // On by default at 1.32, and off before.
  expect(of("--emulated-version=1.31")).toMatchObject({
    AuthorizeNodeWithSelectors: false,
    BtreeWatchCache: false,
  });
  expect(of("--emulated-version=1.31")).not.toHaveProperty("NodeSwap");
  expect(
    of(
      "--emulated-version=kube=1.31",
      "--feature-gates=AuthorizeNodeWithSelectors=true",
    ),
  ).toMatchObject({ AuthorizeNodeWithSelectors: true });
  expect(() =>
    of("--emulated-version=1.31", "--feature-gates=ComponentFlagz=true"),
  ).toThrow(
    "cannot set feature gate ComponentFlagz to true, feature is PreAlpha at emulated version 1.31",
  );
  expect(() => of("--emulated-version=1.30")).toThrow("is not between");
});
