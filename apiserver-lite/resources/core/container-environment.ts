// Validation of what a container gets from outside: environment variables and volume mounts.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dataKeyProblems, envNameProblems } from "../../../api/names.ts";
import type {
  EnvFromSource,
  EnvVar,
  VolumeMount,
} from "../../../api/types/core-v1.ts";
import { oneOf } from "../field-checks.ts";

type Problems = FieldError[];

const downwardEnvFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

function keyReference(
  field: string,
  reference: { name?: string; key: string },
): Problems {
  const problems: Problems = [];
  if (!reference.name) problems.push(fieldErrors.required(`${field}.name`));
  if (!reference.key) problems.push(fieldErrors.required(`${field}.key`));
  else
    problems.push(
      ...invalidEach(
        `${field}.key`,
        reference.key,
        dataKeyProblems(reference.key),
      ),
    );
  return problems;
}

export function validateEnv(field: string, env: readonly EnvVar[]): Problems {
  const problems: Problems = [];
  for (const [index, { name, value, valueFrom }] of env.entries()) {
    const path = `${field}[${index}]`;
    if (!name) problems.push(fieldErrors.required(`${path}.name`));
    else
      problems.push(
        ...invalidEach(`${path}.name`, name, envNameProblems(name)),
      );
    if (!valueFrom) continue;
    const from = `${path}.valueFrom`;
    let sources = 0;
    if (valueFrom.fieldRef) {
      sources++;
      const { apiVersion, fieldPath } = valueFrom.fieldRef;
      if (!apiVersion)
        problems.push(fieldErrors.required(`${from}.fieldRef.apiVersion`));
      if (!fieldPath)
        problems.push(fieldErrors.required(`${from}.fieldRef.fieldPath`));
      else if (
        !/^metadata\.(labels|annotations)\['.*'\]$/.test(fieldPath) &&
        !downwardEnvFields.includes(fieldPath)
      ) {
        problems.push(
          fieldErrors.notSupported(
            `${from}.fieldRef.fieldPath`,
            fieldPath,
            downwardEnvFields,
          ),
        );
      }
    }
    if (valueFrom.resourceFieldRef) {
      sources++;
      if (!valueFrom.resourceFieldRef.resource)
        problems.push(
          fieldErrors.required(`${from}.resourceFieldRef.resource`),
        );
    }
    if (valueFrom.configMapKeyRef) {
      sources++;
      problems.push(
        ...keyReference(`${from}.configMapKeyRef`, valueFrom.configMapKeyRef),
      );
    }
    if (valueFrom.secretKeyRef) {
      sources++;
      problems.push(
        ...keyReference(`${from}.secretKeyRef`, valueFrom.secretKeyRef),
      );
    }
    if (sources === 0) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        ),
      );
    } else if (value) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "may not be specified when `value` is not empty",
        ),
      );
    } else if (sources > 1) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "may not have more than one field specified at a time",
        ),
      );
    }
  }
  return problems;
}

export function validateEnvFrom(
  field: string,
  sources: readonly EnvFromSource[],
): Problems {
  const problems: Problems = [];
  for (const [
    index,
    { prefix, configMapRef, secretRef },
  ] of sources.entries()) {
    const path = `${field}[${index}]`;
    if (prefix)
      problems.push(
        ...invalidEach(`${path}.prefix`, prefix, envNameProblems(prefix)),
      );
    if (configMapRef && !configMapRef.name)
      problems.push(fieldErrors.required(`${path}.configMapRef.name`));
    if (secretRef && !secretRef.name)
      problems.push(fieldErrors.required(`${path}.secretRef.name`));
    if (!configMapRef && !secretRef) {
      problems.push(
        fieldErrors.invalid(
          path,
          "",
          "must specify one of: `configMapRef` or `secretRef`",
        ),
      );
    } else if (configMapRef && secretRef) {
      problems.push(
        fieldErrors.invalid(
          path,
          "",
          "may not have more than one field specified at a time",
        ),
      );
    }
  }
  return problems;
}

export function validateRelativePath(field: string, path: string): Problems {
  const problems: Problems = [];
  if (path.startsWith("/"))
    problems.push(fieldErrors.invalid(field, path, "must be a relative path"));
  if (path.split("/").includes(".."))
    problems.push(fieldErrors.invalid(field, path, "must not contain '..'"));
  return problems;
}

export function validateMounts(
  field: string,
  mounts: readonly VolumeMount[],
  volumes: ReadonlySet<string>,
): Problems {
  const problems: Problems = [];
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const path = `${field}[${index}]`;
    if (!mount.name) problems.push(fieldErrors.required(`${path}.name`));
    else if (!volumes.has(mount.name))
      problems.push(fieldErrors.notFound(`${path}.name`, mount.name));
    if (!mount.mountPath)
      problems.push(fieldErrors.required(`${path}.mountPath`));
    else if (paths.has(mount.mountPath)) {
      problems.push(
        fieldErrors.invalid(
          `${path}.mountPath`,
          mount.mountPath,
          "must be unique",
        ),
      );
    }
    paths.add(mount.mountPath);
    if (mount.subPath)
      problems.push(...validateRelativePath(`${path}.subPath`, mount.subPath));
    if (mount.subPathExpr) {
      if (mount.subPath) {
        problems.push(
          fieldErrors.invalid(
            `${path}.subPathExpr`,
            mount.subPathExpr,
            "subPathExpr and subPath are mutually exclusive",
          ),
        );
      }
      problems.push(
        ...validateRelativePath(`${path}.subPathExpr`, mount.subPathExpr),
      );
    }
    problems.push(
      ...oneOf(`${path}.mountPropagation`, mount.mountPropagation, [
        "Bidirectional",
        "HostToContainer",
        "None",
      ]),
    );
  }
  return problems;
}
