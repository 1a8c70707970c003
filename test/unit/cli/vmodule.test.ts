// --vmodule: parts and controllers get a verbosity of their own, on the command line and in the configuration file.
import { agentOptions } from "../../../cli/options/agent.ts";
import { configurationFields } from "../../../cli/options/kubelet-configuration/configuration-fields.ts";
import { settingsOf } from "../../../cli/options/kubelet-configuration/configuration-file.ts";
import { createLogger } from "../../../cli/logging.ts";
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
