// --vmodule: parts and controllers get a verbosity of their own, on the command line and in the configuration file.
import { agentOptions } from "../../../cli/options/agent.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { createLogger, setVerbosity } from "../../../cli/logging.ts";
import { parseOptions } from "../../../cli/options/parse.ts";

test("a part and a controller with a fitting name get their verbosity, others that of --v", () => {
  const logger = createLogger({
    format: "json",
    verbosity: 0,
    vmodule: ["st?re=4", "deploy*=6", "*=2"],
  });
  const level = (names: object): string => logger.child(names).level;
  expect(level({ part: "store" })).toBe("debug");
  expect(level({ controller: "deployment" })).toBe("trace");
  expect(level({ part: "controllers" })).toBe("info");
  expect(logger.child({ part: "store" }).child({ key: "a" }).level).toBe(
    "debug",
  );
  expect(logger.level).toBe("info");
});

test("without settings children keep the level", () => {
  const logger = createLogger({ format: "json", verbosity: 4 });
  expect(logger.child({ part: "store" }).level).toBe("debug");
});

test("the verbosity changes for all loggers but those with one of their own", () => {
  const logger = createLogger({
    format: "json",
    verbosity: 0,
    vmodule: ["store=5"],
  });
  const part = logger.child({ part: "agent" });
  const grandchild = part.child({ pod: "a" });
  const own = logger.child({ part: "store" });
  expect(setVerbosity("6")).toBe(
    "successfully set klog.logging.verbosity to 6",
  );
  expect([logger, part, grandchild, own].map(({ level }) => level)).toEqual([
    "trace",
    "trace",
    "trace",
    "debug",
  ]);
  for (const text of ["", "x", "1.5", "4 ", "99999999999"])
    expect(() => setVerbosity(text)).toThrow(
      `failed set klog.logging.verbosity ${text}: strconv.ParseInt: parsing "${text}": `,
    );
  expect(part.level).toBe("trace");
  setVerbosity("0");
  expect([part.level, own.level]).toEqual(["info", "debug"]);
});

test("a KubeletConfiguration says it as a list of patterns", async () => {
  const fields = await configurationFields(
    "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nlogging:\n  vmodule:\n  - {filePattern: store, verbosity: 4}\n",
    "k.yaml",
    agentOptions,
  );
  expect(settingsOf(fields, agentOptions).values.get("vmodule")).toEqual([
    "store=4",
  ]);
});

test.each(["agent", "agent=", "agent=high", "=4"])("%s is refused", (text) => {
  expect(() => parseOptions(agentOptions, [`--vmodule=${text}`])).toThrow(
    /vmodule.*filename=N/,
  );
});
