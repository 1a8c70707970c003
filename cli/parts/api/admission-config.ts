// --admission-control-config-file: an AdmissionConfiguration with a configuration by plug-in, in the file itself or in a
// file of its own, whose path is relative to the first. Also the older form without kinds, for ImagePolicyWebhook and
// PodNodeSelector. Nothing is passed over: an unknown plug-in, field or kind is a UsageError with file, line and field.
import * as path from "node:path";
import { isMap } from "../../options/kubelet-configuration/configuration-document.ts";
import type { OptionValues } from "../../options/parse.ts";
import { readOptionFile } from "../option-files.ts";
import {
  pluginReaders,
  type PluginConfigs,
} from "./admission-plugin-configs.ts";
import { ConfigurationSection } from "../configuration-section.ts";

const option = "admission-control-config-file";
const apiVersions = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];
/** Top-level fields of files without a kind. */
const legacyPlugins: Readonly<Record<string, string>> = {
  imagePolicy: "ImagePolicyWebhook",
  podNodeSelectorPluginConfig: "PodNodeSelector",
};

/** @param names of all plug-ins there are */
export async function readAdmissionConfig(
  values: OptionValues,
  names: readonly string[],
): Promise<PluginConfigs> {
  const file = values.optionalText(option);
  if (!file) return {};
  const text = readOptionFile(option, file);
  return ConfigurationSection.read(text, file, (section) => {
    const { value } = section;
    const legacy = Object.keys(legacyPlugins).filter(
      (field) => isMap(value) && value["kind"] === undefined && field in value,
    );
    return legacy.length > 0
      ? readLegacy(section, legacy)
      : readPlugins(section, file, names);
  });
}

async function readLegacy(
  section: ConfigurationSection,
  fields: readonly string[],
): Promise<PluginConfigs> {
  section.fields(Object.keys(legacyPlugins));
  let configs: PluginConfigs = {};
  for (const field of fields)
    configs = {
      ...configs,
      ...(await pluginReaders[legacyPlugins[field]!]!(section)),
    };
  return configs;
}

async function readPlugins(
  section: ConfigurationSection,
  file: string,
  names: readonly string[],
): Promise<PluginConfigs> {
  if (!section.object("AdmissionConfiguration", apiVersions, ["plugins"]))
    return {};
  let configs: PluginConfigs = {};
  const seen = new Set<string>();
  for (const plugin of section.items("plugins")) {
    plugin.fields(["name", "path", "configuration"]);
    const name = plugin.text("name");
    const nameAt = plugin.pathOf("name");
    if (!names.includes(name))
      plugin.problem(
        `there is no admission plugin ${JSON.stringify(name)}`,
        nameAt,
      );
    else if (seen.has(name))
      plugin.problem(`${name} is configured twice`, nameAt);
    else configs = { ...configs, ...(await readPlugin(plugin, name, file)) };
    seen.add(name);
  }
  return configs;
}

async function readPlugin(
  plugin: ConfigurationSection,
  name: string,
  file: string,
): Promise<PluginConfigs> {
  const inline = plugin.child("configuration");
  const given = plugin.text("path");
  const isInline = inline.value !== undefined && inline.value !== null;
  if (!isInline && given === "") return {};
  const read = pluginReaders[name];
  if (!read) {
    plugin.problem(
      `${name} takes no configuration`,
      plugin.pathOf(isInline ? "configuration" : "path"),
    );
    return {};
  }
  if (isInline) return read(inline);
  const own = path.resolve(path.dirname(file), given);
  return ConfigurationSection.read(readOptionFile(option, own), own, read);
}
