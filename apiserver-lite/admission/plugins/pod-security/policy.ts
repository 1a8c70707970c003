// Which policy a namespace has: from its labels, where those say nothing from the plug-in's defaults.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { SecurityLevel } from "./standards.ts";

export const labelPrefix = "pod-security.kubernetes.io/";
const levels: readonly string[] = ["privileged", "baseline", "restricted"];

export interface LevelVersion {
  readonly level: SecurityLevel;
  /** Of version 1.x; Infinity: latest. */
  readonly minor: number;
}

export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export const privilegedPolicy: Policy = {
  enforce: { level: "privileged", minor: Infinity },
  audit: { level: "privileged", minor: Infinity },
  warn: { level: "privileged", minor: Infinity },
};

type Labels = Readonly<Record<string, string>>;

/** An unknown level is enforced as the strictest; for audit and warnings it counts as the laxest. */
export function policyOf(labels: Labels, defaults: Policy): Policy {
  const enforce = modeOf(labels, "enforce", defaults.enforce, "restricted");
  const audit = modeOf(labels, "audit", defaults.audit, "privileged");
  let warn = modeOf(labels, "warn", defaults.warn, "privileged");
  const label = labels[`${labelPrefix}enforce`] ?? "";
  if (
    labels[`${labelPrefix}warn`] === undefined &&
    levels.includes(label) &&
    isStricter(enforce.level, warn.level)
  )
    warn = {
      level: enforce.level,
      minor:
        labels[`${labelPrefix}warn-version`] === undefined
          ? enforce.minor
          : warn.minor,
    };
  return { enforce, audit, warn };
}

function modeOf(
  labels: Labels,
  mode: string,
  defaults: LevelVersion,
  unreadable: SecurityLevel,
): LevelVersion {
  const level = labels[labelPrefix + mode];
  const version = labels[`${labelPrefix}${mode}-version`];
  return {
    level:
      level === undefined
        ? defaults.level
        : levels.includes(level)
          ? (level as SecurityLevel)
          : unreadable,
    minor: version === undefined ? defaults.minor : minorOf(version),
  };
}

const versionForm = /^v1\.(0|[1-9][0-9]{0,5})$/;

/** A text that is no version means the latest. */
function minorOf(version: string): number {
  const match = versionForm.exec(version);
  return match ? Number(match[1]) : Infinity;
}

export const isStricter = (one: SecurityLevel, other: SecurityLevel): boolean =>
  levels.indexOf(one) > levels.indexOf(other);

/** What is wrong with a level ("" where it is none) or with a version, as the reference says it. */
export const levelProblem = (level: string): string =>
  levels.includes(level) ? "" : `must be one of ${levels.join(", ")}`;
export const versionProblem = (version: string): string =>
  version === "latest" || versionForm.test(version)
    ? ""
    : 'must be "latest" or "v1.x"';

/** What is not readable of a namespace's labels. */
export function labelProblems(labels: Labels): FieldError[] {
  return ["enforce", "audit", "warn"].flatMap((mode) =>
    [
      [labelPrefix + mode, levelProblem],
      [`${labelPrefix}${mode}-version`, versionProblem],
    ].flatMap(([label, problemOf]) => {
      const value = labels[label as string];
      if (value === undefined) return [];
      const problem = (problemOf as typeof levelProblem)(value);
      return problem === ""
        ? []
        : [
            fieldErrors.invalid(
              `metadata.labels[${label as string}]`,
              value,
              problem,
            ),
          ];
    }),
  );
}

/** A policy of texts that are levels and versions, as a configuration has them. */
export const levelVersion = (level: string, version: string): LevelVersion => ({
  level: level as SecurityLevel,
  minor: minorOf(version),
});

/** `baseline:v1.25` */
export function shownLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? "latest" : `v1.${minor}`}`;
}
