// Validation of a pod's volumes: each has a name of its own and exactly one source.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dataKeyProblems, dnsLabelProblems } from "../../../api/names.ts";
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  Volume,
  VolumeProjection,
} from "../../../api/types/core-v1.ts";
import { nonNegativeQuantity, oneOf } from "../field-checks.ts";
import { validateRelativePath } from "./container-environment.ts";

type Problems = FieldError[];

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const downwardVolumeFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];

function validateMode(field: string, mode: number | undefined): Problems {
  return mode !== undefined && (mode < 0 || mode > 0o777)
    ? [
        fieldErrors.invalid(
          field,
          mode,
          "must be a number between 0 and 0777 (octal), both inclusive",
        ),
      ]
    : [];
}

function validateItems(
  field: string,
  items: readonly KeyToPath[] | undefined,
): Problems {
  return (items ?? []).flatMap((item, index) => {
    const path = `${field}[${index}]`;
    const problems: Problems = item.key
      ? invalidEach(`${path}.key`, item.key, dataKeyProblems(item.key))
      : [fieldErrors.required(`${path}.key`)];
    if (!item.path) problems.push(fieldErrors.required(`${path}.path`));
    else problems.push(...validateRelativePath(`${path}.path`, item.path));
    return [...problems, ...validateMode(`${path}.mode`, item.mode)];
  });
}

function validateDownwardItems(
  field: string,
  items: readonly DownwardAPIVolumeFile[] | undefined,
): Problems {
  return (items ?? []).flatMap((item, index) => {
    const path = `${field}[${index}]`;
    const problems: Problems = item.path
      ? validateRelativePath(`${path}.path`, item.path)
      : [fieldErrors.required(`${path}.path`)];
    if (item.fieldRef && item.resourceFieldRef) {
      problems.push(
        fieldErrors.invalid(
          path,
          "resource",
          "fieldRef and resourceFieldRef can not be specified simultaneously",
        ),
      );
    } else if (item.fieldRef) {
      const name = item.fieldRef.fieldPath;
      if (!name)
        problems.push(fieldErrors.required(`${path}.fieldRef.fieldPath`));
      else if (
        !/^metadata\.(labels|annotations)\['.*'\]$/.test(name) &&
        !downwardVolumeFields.includes(name)
      ) {
        problems.push(
          fieldErrors.notSupported(
            `${path}.fieldRef.fieldPath`,
            name,
            downwardVolumeFields,
          ),
        );
      }
    } else if (item.resourceFieldRef) {
      if (!item.resourceFieldRef.containerName) {
        problems.push(
          fieldErrors.required(`${path}.resourceFieldRef.containerName`),
        );
      }
      if (!item.resourceFieldRef.resource)
        problems.push(
          fieldErrors.required(`${path}.resourceFieldRef.resource`),
        );
    } else
      problems.push(
        fieldErrors.required(
          path,
          "one of fieldRef and resourceFieldRef is required",
        ),
      );
    return [...problems, ...validateMode(`${path}.mode`, item.mode)];
  });
}

function validateProjection(field: string, source: VolumeProjection): Problems {
  const problems: Problems = [];
  const kinds = Object.values(source).filter(
    (value) => value !== undefined && value !== null,
  ).length;
  if (kinds === 0)
    problems.push(
      fieldErrors.required(field, "must specify a projection type"),
    );
  if (kinds > 1)
    problems.push(
      fieldErrors.forbidden(field, "may not specify more than 1 volume type"),
    );
  for (const part of ["secret", "configMap"] as const) {
    const projected = source[part];
    if (!projected) continue;
    if (!projected.name)
      problems.push(fieldErrors.required(`${field}.${part}.name`));
    problems.push(...validateItems(`${field}.${part}.items`, projected.items));
  }
  if (source.downwardAPI) {
    problems.push(
      ...validateDownwardItems(
        `${field}.downwardAPI.items`,
        source.downwardAPI.items,
      ),
    );
  }
  const token = source.serviceAccountToken;
  if (token) {
    const path = `${field}.serviceAccountToken`;
    if (!token.path) problems.push(fieldErrors.required(`${path}.path`));
    else problems.push(...validateRelativePath(`${path}.path`, token.path));
    const seconds = token.expirationSeconds ?? 3600;
    if (seconds < 600) {
      problems.push(
        fieldErrors.invalid(
          `${path}.expirationSeconds`,
          seconds,
          "may not specify a duration less than 10 minutes",
        ),
      );
    } else if (seconds > 2 ** 32) {
      problems.push(
        fieldErrors.invalid(
          `${path}.expirationSeconds`,
          seconds,
          "may not specify a duration larger than 2^32 seconds",
        ),
      );
    }
  }
  return problems;
}

function validateSource(field: string, volume: Volume): Problems {
  const problems: Problems = [];
  const { name: _, ...sources } = volume;
  const kinds = Object.entries(sources).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  if (kinds.length === 0)
    return [fieldErrors.required(field, "must specify a volume type")];
  for (const [kind] of kinds.slice(1)) {
    problems.push(
      fieldErrors.forbidden(
        `${field}.${kind}`,
        "may not specify more than 1 volume type",
      ),
    );
  }
  if (volume.emptyDir?.sizeLimit !== undefined) {
    problems.push(
      ...nonNegativeQuantity(
        `${field}.emptyDir.sizeLimit`,
        volume.emptyDir.sizeLimit,
      ),
    );
  }
  if (volume.hostPath) {
    const path = `${field}.hostPath`;
    if (!volume.hostPath.path)
      problems.push(fieldErrors.required(`${path}.path`));
    else if (volume.hostPath.path.split("/").includes("..")) {
      problems.push(
        fieldErrors.invalid(
          `${path}.path`,
          volume.hostPath.path,
          "must not contain '..'",
        ),
      );
    }
    problems.push(
      ...oneOf(`${path}.type`, volume.hostPath.type, hostPathTypes),
    );
  }
  if (volume.secret) {
    if (!volume.secret.secretName)
      problems.push(fieldErrors.required(`${field}.secret.secretName`));
    problems.push(
      ...validateItems(`${field}.secret.items`, volume.secret.items),
    );
    problems.push(
      ...validateMode(`${field}.secret.defaultMode`, volume.secret.defaultMode),
    );
  }
  if (volume.configMap) {
    if (!volume.configMap.name)
      problems.push(fieldErrors.required(`${field}.configMap.name`));
    problems.push(
      ...validateItems(`${field}.configMap.items`, volume.configMap.items),
    );
    problems.push(
      ...validateMode(
        `${field}.configMap.defaultMode`,
        volume.configMap.defaultMode,
      ),
    );
  }
  if (volume.downwardAPI) {
    problems.push(
      ...validateDownwardItems(
        `${field}.downwardAPI.items`,
        volume.downwardAPI.items,
      ),
    );
    problems.push(
      ...validateMode(
        `${field}.downwardAPI.defaultMode`,
        volume.downwardAPI.defaultMode,
      ),
    );
  }
  if (volume.projected) {
    problems.push(
      ...validateMode(
        `${field}.projected.defaultMode`,
        volume.projected.defaultMode,
      ),
    );
    for (const [index, source] of (volume.projected.sources ?? []).entries()) {
      problems.push(
        ...validateProjection(`${field}.projected.sources[${index}]`, source),
      );
    }
  }
  if (volume.persistentVolumeClaim && !volume.persistentVolumeClaim.claimName) {
    problems.push(
      fieldErrors.required(`${field}.persistentVolumeClaim.claimName`),
    );
  }
  if (volume.nfs) {
    if (!volume.nfs.server)
      problems.push(fieldErrors.required(`${field}.nfs.server`));
    if (!volume.nfs.path)
      problems.push(fieldErrors.required(`${field}.nfs.path`));
    else if (!volume.nfs.path.startsWith("/")) {
      problems.push(
        fieldErrors.invalid(
          `${field}.nfs.path`,
          volume.nfs.path,
          "must be an absolute path",
        ),
      );
    }
  }
  if (volume.csi && !volume.csi.driver)
    problems.push(fieldErrors.required(`${field}.csi.driver`));
  return problems;
}

/** Problems, and the names mounts may refer to. */
export function validateVolumes(
  field: string,
  volumes: readonly Volume[] | undefined,
): { problems: Problems; names: ReadonlySet<string> } {
  const problems: Problems = [];
  const names = new Set<string>();
  for (const [index, volume] of (volumes ?? []).entries()) {
    const path = `${field}[${index}]`;
    problems.push(...validateSource(path, volume));
    if (!volume.name) problems.push(fieldErrors.required(`${path}.name`));
    else
      problems.push(
        ...invalidEach(
          `${path}.name`,
          volume.name,
          dnsLabelProblems(volume.name),
        ),
      );
    if (names.has(volume.name))
      problems.push(fieldErrors.duplicate(`${path}.name`, volume.name));
    names.add(volume.name);
  }
  return { problems, names };
}
