// ConfigMaps: keys that can be file names, no key in both data and binaryData, 1 MiB in all, and `immutable`.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dataKeyProblems } from "../../../api/names.ts";
import type { ConfigMap } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

export const maxDataBytes = 1024 * 1024;

/** The number of bytes that a base64 text encodes. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

export const immutableText = "field is immutable when `immutable` is set";

export function configMapProblems(object: ConfigMap): FieldError[] {
  const { data = {}, binaryData = {} } = object;
  const problems: FieldError[] = [];
  let bytes = 0;
  const hasBoth = object.data && object.binaryData;
  for (const key of Object.keys(data)) {
    const wrong = dataKeyProblems(key);
    if (wrong.length > 0)
      problems.push(...invalidEach(`data[${key}]`, key, wrong));
    if (hasBoth && Object.hasOwn(binaryData, key)) {
      problems.push(
        fieldErrors.invalid(
          `data[${key}]`,
          key,
          `duplicate of key present in binaryData`,
        ),
      );
    }
    bytes += Buffer.byteLength(data[key]!);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    problems.push(
      ...invalidEach(`binaryData[${key}]`, key, dataKeyProblems(key)),
    );
    bytes += decodedBytes(value);
  }
  // The reference names no field here.
  if (bytes > maxDataBytes)
    problems.push(fieldErrors.tooLong("[]", maxDataBytes));
  return problems;
}

export const configMapStrategy = strategyOf<ConfigMap>({
  countsGeneration: false,
  validate: (object) => configMapProblems(object),
  validateUpdate(now, was) {
    if (!was.immutable) return [];
    const problems: FieldError[] = [];
    if (!now.immutable)
      problems.push(fieldErrors.forbidden("immutable", immutableText));
    if (!sameValue(now.data, was.data))
      problems.push(fieldErrors.forbidden("data", immutableText));
    if (!sameValue(now.binaryData, was.binaryData))
      problems.push(fieldErrors.forbidden("binaryData", immutableText));
    return problems;
  },
  printRow: (object, now) => {
    const { metadata, data, binaryData } = object;
    const count =
      Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
    return [metadata.name, count, formatAge(metadata.creationTimestamp, now)];
  },
});
