// --tracing-config-file: the spans of the API server's requests.
import { hostname } from "node:os";
import type { Logger } from "pino";
import { apiServerId } from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { ConfigurationSection } from "../configuration-section.ts";
import { readOptionFile } from "../option-files.ts";
import type { Egress } from "./egress/egress.ts";
import {
  readTracing,
  startTracing,
  tracingFields,
  type Tracing,
} from "../tracing/tracing.ts";

const option = "tracing-config-file";
const versions = ["v1", "v1beta1", "v1alpha1"].map(
  (version) => `apiserver.config.k8s.io/${version}`,
);

/** Undefined: nothing is traced. Rejects with a UsageError. */
export async function createTracing(
  values: OptionValues,
  gates: Readonly<Record<string, boolean>> | undefined,
  parts: { clock: Clock; logger: Logger; egress: Egress },
): Promise<Tracing | undefined> {
  const file = values.optionalText(option);
  if (!file) return undefined;
  if (gates?.["APIServerTracing"] === false)
    throw new UsageError(
      "APIServerTracing feature is not enabled, but tracing config file was provided",
    );
  const text = readOptionFile(option, file);
  const settings = await ConfigurationSection.read(text, file, (section) => {
    section.object("TracingConfiguration", versions, tracingFields);
    const settings = readTracing(section);
    // It is control plane: it must not leave another way than the selector says.
    if (parts.egress.controlPlane && !settings.target.startsWith("unix:"))
      section.problem(
        "connections to a collector by the proxy of the egress selection controlplane are not implemented",
      );
    return settings;
  });
  const resource = {
    "service.name": "apiserver",
    "service.instance.id": apiServerId(hostname()),
  };
  return startTracing(settings, resource, parts);
}
