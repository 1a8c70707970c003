// StorageVersions: in which version each API server of a cluster writes a resource, and whether they agree.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dns1035Problems,
  dnsSubdomainProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from "../../../api/types/apiserverinternal-v1alpha1.ts";
import { formatAge } from "../../printing/age.ts";
import { joined, ofEach } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";

type Problems = FieldError[];

/** Servers a row shows. */
const maxShown = 3;

export const storageVersionStrategy = strategyOf<StorageVersion>({
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  validateName: nameProblems,
  prepareForCreate(object) {
    object.status = {};
  },
  status: {
    resetPaths: keptBesideStatus,
    prepareForUpdate: keepMetadata,
    validateUpdate: ({ status }) => statusProblems(status ?? {}),
  },
  printRow: ({ metadata, status }, now) => [
    metadata.name,
    status?.commonEncodingVersion ?? "<unset>",
    serversShown(status?.storageVersions ?? []),
    formatAge(metadata.creationTimestamp, now),
  ],
});

function serversShown(servers: readonly ServerStorageVersion[]): string {
  const shown = servers
    .slice(0, maxShown)
    .map(
      ({ apiServerID = "", encodingVersion = "" }) =>
        `${apiServerID}=${encodingVersion}`,
    )
    .join(",");
  const more = servers.length - maxShown;
  return more > 0 ? `${shown} + ${more} more...` : shown;
}

/** GROUP.RESOURCE, where the core group is called "core". */
function nameProblems(name: string): string[] {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map(
      (problem) => `the group segment ${problem}`,
    ),
    ...dns1035Problems(name.slice(dot + 1)).map(
      (problem) => `the resource segment ${problem}`,
    ),
  ];
}

function statusProblems(status: StorageVersionStatus): Problems {
  const servers = new Set<string>();
  return joined(
    ofEach(status.storageVersions, (server, index) => {
      const field = `status.storageVersions[${index}]`;
      const { apiServerID = "" } = server;
      const twice = servers.has(apiServerID);
      servers.add(apiServerID);
      return joined(
        twice
          ? [fieldErrors.duplicate(`${field}.apiServerID`, apiServerID)]
          : [],
        serverProblems(field, server),
      );
    }),
    agreementProblems(status),
    conditionProblems(status.conditions),
  );
}

function serverProblems(
  field: string,
  {
    apiServerID = "",
    encodingVersion = "",
    decodableVersions = [],
    servedVersions = [],
  }: ServerStorageVersion,
): Problems {
  const versionProblems = (path: string, version: string): Problems => {
    const problems = apiVersionProblems(version);
    return problems.length > 0
      ? [fieldErrors.invalid(path, version, problems.join(","))]
      : [];
  };
  return joined(
    invalidEach(
      `${field}.apiServerID`,
      apiServerID,
      dnsSubdomainProblems(apiServerID),
    ),
    versionProblems(`${field}.encodingVersion`, encodingVersion),
    ofEach(decodableVersions, (version, index) =>
      versionProblems(`${field}.decodableVersions[${index}]`, version),
    ),
    decodableVersions.includes(encodingVersion)
      ? []
      : [
          fieldErrors.invalid(
            `${field}.decodableVersions`,
            decodableVersions,
            `decodableVersions must include encodingVersion ${encodingVersion}`,
          ),
        ],
    ofEach(servedVersions, (version, index) => {
      const path = `${field}.servedVersions[${index}]`;
      return [
        ...versionProblems(path, version),
        ...(decodableVersions.includes(version)
          ? []
          : [
              fieldErrors.invalid(
                path,
                version,
                `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(" ")}]`,
              ),
            ]),
      ];
    }),
  );
}

function agreementProblems({
  storageVersions = [],
  commonEncodingVersion,
}: StorageVersionStatus): Problems {
  const versions = new Set(
    storageVersions.map(({ encodingVersion = "" }) => encodingVersion),
  );
  const [actual] = versions.size === 1 ? versions : [];
  if (actual === commonEncodingVersion) return [];
  const detail =
    actual === undefined
      ? "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet"
      : commonEncodingVersion === undefined
        ? `the common encoding version is ${actual}`
        : `the actual common encoding version is ${actual}`;
  const field = "status.commonEncodingVersion";
  return [fieldErrors.invalid(field, commonEncodingVersion, detail)];
}

/** The reference leaves "conditions" out of the paths. */
function conditionProblems(
  list: readonly StorageVersionCondition[] | undefined,
): Problems {
  const seen = new Map<string, number>();
  return ofEach(list, ({ type, status, reason, message }, index) => {
    const field = `status[${index}]`;
    const first = seen.get(type);
    seen.set(type, index);
    return joined(
      first === undefined
        ? []
        : [
            fieldErrors.invalid(
              `${field}.type`,
              type,
              `the type of the condition is not unique, it also appears in conditions[${first}]`,
            ),
          ],
      invalidEach(`${field}.type`, type, qualifiedNameProblems(type)),
      invalidEach(`${field}.status`, status, qualifiedNameProblems(status)),
      reason
        ? []
        : [fieldErrors.required(`${field}.reason`, "reason cannot be empty")],
      message
        ? []
        : [fieldErrors.required(`${field}.message`, "message cannot be empty")],
    );
  });
}

function apiVersionProblems(apiVersion: string): string[] {
  const parts = apiVersion.split("/");
  if (parts.length > 2)
    return [
      "an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')",
    ];
  const version = parts.at(-1)!;
  const group = parts.length === 2 ? parts[0] : undefined;
  const of = (
    part: string,
    text: string,
    problems: (text: string) => string[],
  ): string[] =>
    (text === "" ? ["must be non-empty"] : problems(text)).map(
      (problem) => `${part} part: ${problem}`,
    );
  return [
    ...(group === undefined ? [] : of("group", group, dnsSubdomainProblems)),
    ...of("version", version, dns1035Problems),
  ];
}
