// secret volumes: in memory alone.
import type { Secret } from "../../../api/types/core-v1.ts";
import {
  addKeys,
  defaultFileMode,
  type Files,
  type KeySelection,
  type PayloadSource,
} from "./payload.ts";
import type { PayloadType } from "./payload-plugin.ts";

export const secretType: PayloadType = {
  field: "secret",
  type: "secret",
  async files(pod, source, from) {
    const { secretName = "", items, optional, defaultMode } = source.secret!;
    const files: Files = new Map();
    const mode = defaultMode ?? defaultFileMode;
    const namespace = pod.metadata.namespace ?? "default";
    const selection = { items, optional, mode };
    await addSecret(files, from, namespace, secretName, selection);
    return files;
  },
};

export async function addSecret(
  files: Files,
  source: PayloadSource,
  namespace: string,
  name: string,
  selection: KeySelection,
): Promise<void> {
  const found = await source.secret(namespace, name);
  if (!found && !selection.optional)
    throw new Error(`secret "${name}" not found`);
  const data = new Map(
    Object.entries(found?.data ?? {}).map(([key, text]) => [
      key,
      Buffer.from(text, "base64"),
    ]),
  );
  addKeys(files, data, selection, "secret");
}

/** Its data as text, by key: what drivers and programs are given. */
export function secretTexts({
  data = {},
}: Pick<Secret, "data">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [
      key,
      Buffer.from(text, "base64").toString(),
    ]),
  );
}
