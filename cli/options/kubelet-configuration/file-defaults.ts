// What the file of --config makes of its own fields before drop-ins change them, as the reference does it: paths begin at the
// file's directory, and two defaults follow another field. Drop-ins get neither.
import * as path from "node:path";
import type { ConfigurationFields } from "./configuration-fields.ts";
import { isUnset } from "./kubelet-fields.ts";

const pathFields = [
  "staticPodPath",
  "authentication.x509.clientCAFile",
  "tlsCertFile",
  "tlsPrivateKeyFile",
  "resolvConf",
  "volumePluginDir",
  "podLogsDir",
];

/** @param directory absolute; the file's */
export function completeFile(
  fields: ConfigurationFields,
  directory: string,
): ConfigurationFields {
  const complete = new Map(fields);
  for (const name of pathFields) {
    const field = complete.get(name);
    if (typeof field?.value === "string" && field.value !== "")
      complete.set(name, {
        ...field,
        value: path.isAbsolute(field.value)
          ? field.value
          : path.join(directory, field.value),
      });
  }
  const given = (name: string) => {
    const field = complete.get(name);
    return field && !isUnset(name, field.value) ? field : undefined;
  };
  const update = given("nodeStatusUpdateFrequency");
  if (update && !given("nodeStatusReportFrequency"))
    complete.set("nodeStatusReportFrequency", update);
  const pulls = given("maxParallelImagePulls");
  if (Number(pulls?.value) > 1 && !given("serializeImagePulls"))
    complete.set("serializeImagePulls", { ...pulls!, value: false });
  return complete;
}
