// configMap volumes: text and binary keys as files.
import {
  addKeys,
  defaultFileMode,
  type Files,
  type KeySelection,
  type PayloadSource,
} from "./payload.ts";
import type { PayloadType } from "./payload-plugin.ts";

export const configMapType: PayloadType = {
  field: "configMap",
  type: "configmap",
  onDisk: true,
  async files(pod, source, from) {
    const { name = "", items, optional, defaultMode } = source.configMap!;
    const files: Files = new Map();
    const mode = defaultMode ?? defaultFileMode;
    const namespace = pod.metadata.namespace ?? "default";
    await addConfigMap(files, from, namespace, name, { items, optional, mode });
    return files;
  },
};

export async function addConfigMap(
  files: Files,
  source: PayloadSource,
  namespace: string,
  name: string,
  selection: KeySelection,
): Promise<void> {
  const found = await source.configMap(namespace, name);
  if (!found && !selection.optional)
    throw new Error(`configmap "${name}" not found`);
  const data = new Map<string, Buffer>();
  for (const [key, text] of Object.entries(found?.data ?? {}))
    data.set(key, Buffer.from(text));
  for (const [key, text] of Object.entries(found?.binaryData ?? {}))
    data.set(key, Buffer.from(text, "base64"));
  addKeys(files, data, selection, "configmap");
}
