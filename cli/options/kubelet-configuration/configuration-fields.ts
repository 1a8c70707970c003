// The fields of a KubeletConfiguration (kubelet.config.k8s.io/v1beta1, or the specification's kubelet.config.orbit.io) by
// their paths, with the place each was read at, and how a drop-in changes those of the files before it.
import { isMap, parseDocument } from "./configuration-document.ts";
import { kubeletFields } from "./kubelet-fields.ts";
import {
  allOptions,
  UsageError,
  type OptionSpec,
  type OptionTable,
} from "../table.ts";
import { parseOptionValue } from "../values/value.ts";

interface ConfigurationField {
  readonly value: unknown;
  /** `file:line` */
  readonly place: string;
}

/** By path: `maxPods`, `authentication.anonymous.enabled`; a list or a map that an option takes whole is one field. */
export type ConfigurationFields = ReadonlyMap<string, ConfigurationField>;

/** Options by the field that sets them. */
export function optionsByField(
  table: OptionTable,
): ReadonlyMap<string, OptionSpec> {
  return new Map(
    allOptions(table).flatMap((spec) =>
      spec.file ? [[spec.file, spec] as const] : [],
    ),
  );
}

/** Whether fields that are known lie below a path. */
export const isSection = (path: string, known: Iterable<string>): boolean =>
  path === "" || [...known].some((field) => field.startsWith(`${path}.`));

function flatten(
  value: unknown,
  known: ReadonlySet<string>,
  path: string,
  out: Map<string, unknown>,
): void {
  if (known.has(path) || !isMap(value) || !isSection(path, known)) {
    out.set(path, value);
    return;
  }
  for (const [key, each] of Object.entries(value))
    flatten(each, known, path === "" ? key : `${path}.${key}`, out);
}

/** Reads one document, YAML or JSON. @throws UsageError naming file, line and field */
export async function configurationFields(
  text: string,
  file: string,
  table: OptionTable,
): Promise<ConfigurationFields> {
  const { value: document, lineOf } = await parseDocument(text, file);
  if (!isMap(document))
    throw new UsageError(`${file}: not a KubeletConfiguration`);
  const { apiVersion, kind, ...fields } = document;
  if (kind !== "KubeletConfiguration")
    throw new UsageError(
      `${file}:${lineOf("kind")}: kind: must be KubeletConfiguration, not ${JSON.stringify(kind)}`,
    );
  if (
    apiVersion !== "kubelet.config.k8s.io/v1beta1" &&
    apiVersion !== "kubelet.config.orbit.io/v1beta1"
  ) {
    throw new UsageError(
      `${file}:${lineOf("apiVersion")}: apiVersion: must be kubelet.config.k8s.io/v1beta1, not ${JSON.stringify(apiVersion)}`,
    );
  }
  const flat = new Map<string, unknown>();
  flatten(
    fields,
    new Set([...optionsByField(table).keys(), ...Object.keys(kubeletFields)]),
    "",
    flat,
  );
  return new Map(
    [...flat].map(([path, value]) => [
      path,
      { value, place: `${file}:${lineOf(path)}` },
    ]),
  );
}

/**
 * A drop-in over the files before it, as a JSON merge patch does it at the reference: lists are replaced, maps are merged
 * by key (also with an option's default, when no file said anything), null takes back what was said.
 */
export function mergeFields(
  base: ConfigurationFields,
  dropIn: ConfigurationFields,
  table: OptionTable,
): ConfigurationFields {
  const byField = optionsByField(table);
  const merged = new Map(base);
  for (const [path, field] of dropIn) {
    if (field.value === null) {
      for (const each of merged.keys())
        if (each.startsWith(`${path}.`)) merged.delete(each);
      merged.set(path, field);
    } else if (isMap(field.value))
      merged.set(path, {
        ...field,
        value: mergeMaps(
          base.get(path)?.value ?? defaultMap(byField.get(path)),
          field.value,
        ),
      });
    else merged.set(path, field);
  }
  return merged;
}

function mergeMaps(
  base: unknown,
  over: Record<string, unknown>,
): Record<string, unknown> {
  const merged = isMap(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete merged[key];
    else merged[key] = isMap(value) ? mergeMaps(merged[key], value) : value;
  }
  return merged;
}

/** In the form of the file, where a threshold has no operator. */
function defaultMap(spec: OptionSpec | undefined): unknown {
  if (spec?.type !== "map" || spec.default === undefined) return undefined;
  const entries = Object.entries(parseOptionValue(spec, spec.default));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, String(value).replace(/^</, "")]),
  );
}
