// Validation of a container's environment variables and of what volumes it sees: as directories or as devices.
// Some problems name the list, not the item: so does the reference.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dataKeyProblems,
  dnsSubdomainProblems,
  envNameProblems,
  nameRule,
} from "../../../../api/names.ts";
import type {
  Container,
  EnvFromSource,
  EnvVar,
  Volume,
  VolumeMount,
} from "../../../../api/types/core-v1.ts";
import { joined, ofEach, oneOf } from "../../field-checks.ts";
import {
  validateFieldRef,
  validateResourceFieldRef,
} from "./downward-fields.ts";

type Problems = FieldError[];

const prefixName = nameRule(dnsSubdomainProblems);

function keyReference(
  field: string,
  { name = "", key }: { name?: string; key: string },
): Problems {
  return joined(
    invalidEach(`${field}.name`, name, dnsSubdomainProblems(name)),
    key
      ? invalidEach(`${field}.key`, key, dataKeyProblems(key))
      : [fieldErrors.required(`${field}.key`)],
  );
}

function validateSource(field: string, { value, valueFrom }: EnvVar): Problems {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } =
    valueFrom;
  const problems = [
    ...(fieldRef
      ? validateFieldRef(`${field}.fieldRef`, fieldRef, "environment")
      : []),
    ...(resourceFieldRef
      ? validateResourceFieldRef(
          `${field}.resourceFieldRef`,
          resourceFieldRef,
          "environment",
        )
      : []),
    ...(configMapKeyRef
      ? keyReference(`${field}.configMapKeyRef`, configMapKeyRef)
      : []),
    ...(secretKeyRef
      ? keyReference(`${field}.secretKeyRef`, secretKeyRef)
      : []),
  ];
  const sources = [
    fieldRef,
    resourceFieldRef,
    configMapKeyRef,
    secretKeyRef,
  ].filter(Boolean).length;
  const wrong =
    sources === 0
      ? "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
      : value
        ? "may not be specified when `value` is not empty"
        : sources > 1
          ? "may not have more than one field specified at a time"
          : undefined;
  return wrong
    ? [...problems, fieldErrors.invalid(field, "", wrong)]
    : problems;
}

export function validateEnv(field: string, env: readonly EnvVar[]): Problems {
  return ofEach(env, (variable, index) => {
    const path = `${field}[${index}]`;
    const { name } = variable;
    return joined(
      name
        ? invalidEach(`${path}.name`, name, envNameProblems(name))
        : [fieldErrors.required(`${path}.name`)],
      validateSource(`${path}.valueFrom`, variable),
    );
  });
}

export function validateEnvFrom(
  field: string,
  sources: readonly EnvFromSource[],
): Problems {
  return ofEach(sources, (source, index) => {
    const path = `${field}[${index}]`;
    const { prefix } = source;
    const problems = prefix
      ? invalidEach(`${path}.prefix`, prefix, envNameProblems(prefix))
      : [];
    for (const kind of ["configMapRef", "secretRef"] as const) {
      const reference = source[kind];
      if (!reference) continue;
      const { name } = reference;
      problems.push(
        ...(name
          ? invalidEach(`${path}.${kind}.name`, name, prefixName(name, true))
          : [fieldErrors.required(`${path}.${kind}.name`)]),
      );
    }
    const wrong =
      !source.configMapRef && !source.secretRef
        ? "must specify one of: `configMapRef` or `secretRef`"
        : source.configMapRef && source.secretRef
          ? "may not have more than one field specified at a time"
          : undefined;
    return wrong
      ? [...problems, fieldErrors.invalid(field, "", wrong)]
      : problems;
  });
}

/** Whether one of the parts of a path leads up. */
const hasBacksteps = (path: string): boolean => path.split("/").includes("..");

export function validateNoBacksteps(field: string, path: string): Problems {
  return hasBacksteps(path)
    ? [fieldErrors.invalid(field, path, "must not contain '..'")]
    : [];
}

/** A path below another: relative, and never up. */
export function validateRelativePath(field: string, path: string): Problems {
  return joined(
    path.startsWith("/")
      ? [fieldErrors.invalid(field, path, "must be a relative path")]
      : [],
    validateNoBacksteps(field, path),
  );
}

/** The same for what a node agent writes beside files of its own, whose names begin with two dots. */
export function validateFilePath(field: string, path: string): Problems {
  const reserved = path.startsWith("..") && !path.startsWith("../");
  return joined(
    validateRelativePath(field, path),
    reserved && path !== ".."
      ? [fieldErrors.invalid(field, path, "must not start with '..'")]
      : [],
  );
}

function validatePropagation(
  field: string,
  { mountPropagation }: VolumeMount,
  { securityContext }: Container,
): Problems {
  const problems = oneOf(field, mountPropagation, [
    "Bidirectional",
    "HostToContainer",
    "None",
  ]);
  if (mountPropagation === "Bidirectional" && !securityContext?.privileged)
    problems.push(
      fieldErrors.forbidden(
        field,
        "Bidirectional mount propagation is available only to privileged containers",
      ),
    );
  return problems;
}

function validateRecursion(
  field: string,
  { recursiveReadOnly, readOnly, mountPropagation }: VolumeMount,
): Problems {
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled")
    return [];
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible")
    return [
      fieldErrors.notSupported(field, recursiveReadOnly, [
        "Disabled",
        "Enabled",
        "IfPossible",
      ]),
    ];
  const only = (when: string): FieldError =>
    fieldErrors.forbidden(field, `may only be specified when ${when}`);
  return joined(
    readOnly ? [] : [only("readOnly is true")],
    (mountPropagation ?? "None") === "None"
      ? []
      : [only("mountPropagation is None or not specified")],
  );
}

/** Volumes by name. */
export type Volumes = ReadonlyMap<string, Volume>;

export function validateMounts(
  field: string,
  container: Container,
  volumes: Volumes,
): Problems {
  const devices = container.volumeDevices ?? [];
  const paths = new Set<string>();
  return ofEach(container.volumeMounts, (mount, index) => {
    const path = `${field}[${index}]`;
    const { name = "", mountPath = "", subPath, subPathExpr } = mount;
    const problems: Problems = [];
    if (!name) problems.push(fieldErrors.required(`${path}.name`));
    if (!volumes.has(name))
      problems.push(fieldErrors.notFound(`${path}.name`, name));
    if (!mountPath) problems.push(fieldErrors.required(`${path}.mountPath`));
    const refuse = (part: "name" | "mountPath", why: string): void => {
      problems.push(
        fieldErrors.invalid(
          `${path}.${part}`,
          part === "name" ? name : mountPath,
          why,
        ),
      );
    };
    if (paths.has(mountPath)) refuse("mountPath", "must be unique");
    paths.add(mountPath);
    if (devices.some((device) => device.name === name))
      refuse("name", "must not already exist in volumeDevices");
    if (devices.some(({ devicePath }) => devicePath === mountPath))
      refuse("mountPath", "must not already exist as a path in volumeDevices");
    if (volumes.get(name)?.image)
      for (const part of ["subPath", "subPathExpr"] as const)
        if (mount[part])
          problems.push(
            fieldErrors.invalid(
              `${path}.${part}`,
              mount[part],
              "not allowed in image volume sources",
            ),
          );
    if (subPath)
      problems.push(...validateRelativePath(`${field}.subPath`, subPath));
    if (subPathExpr) {
      if (subPath)
        problems.push(
          fieldErrors.invalid(
            `${path}.subPathExpr`,
            subPathExpr,
            "subPathExpr and subPath are mutually exclusive",
          ),
        );
      problems.push(
        ...validateRelativePath(`${field}.subPathExpr`, subPathExpr),
      );
    }
    return joined(
      problems,
      validatePropagation(`${field}.mountPropagation`, mount, container),
      validateRecursion(`${field}.recursiveReadOnly`, mount),
    );
  });
}

export function validateDevices(
  field: string,
  { volumeDevices, volumeMounts = [] }: Container,
  volumes: Volumes,
): Problems {
  const names = new Set<string>();
  const paths = new Set<string>();
  return ofEach(volumeDevices, ({ name = "", devicePath = "" }, index) => {
    const problems: Problems = [];
    const [nameField, pathField] = [
      `${field}[${index}].name`,
      `${field}[${index}].devicePath`,
    ];
    const refuseName = (why: string): void => {
      problems.push(fieldErrors.invalid(nameField, name, why));
    };
    const refusePath = (why: string): void => {
      problems.push(fieldErrors.invalid(pathField, devicePath, why));
    };
    const volume = volumes.get(name);
    if (!name) problems.push(fieldErrors.required(nameField));
    if (names.has(name)) refuseName("must be unique");
    if (!volume) problems.push(fieldErrors.notFound(nameField, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral)
      refuseName(
        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
      );
    if (!devicePath) problems.push(fieldErrors.required(pathField));
    if (paths.has(devicePath)) refusePath("must be unique");
    if (hasBacksteps(devicePath))
      refusePath("can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (volumeMounts.some((mount) => mount.name === name))
      refuseName("must not already exist in volumeMounts");
    if (volumeMounts.some(({ mountPath }) => mountPath === devicePath))
      refusePath("must not already exist as a path in volumeMounts");
    if (name) names.add(name);
    return problems;
  });
}
