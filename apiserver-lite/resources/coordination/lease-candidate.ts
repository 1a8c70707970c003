// LeaseCandidates: who may hold a Lease, and in which versions. Nothing here chooses among them, as at the reference without
// CoordinatedLeaderElection.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { dataKeyProblems, qualifiedNameProblems } from "../../../api/names.ts";
import type {
  LeaseCandidate,
  LeaseCandidateSpec,
} from "../../../api/types/coordination-v1alpha2.ts";
import { formatAge } from "../../printing/age.ts";
import { immutable } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";

const oldest = "OldestEmulationVersion";

/** The three numbers of a semantic version; undefined: it is none. What follows them does not count in comparisons. */
function numbersOf(version: string): number[] | undefined {
  const found =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.exec(
      version,
    );
  return found?.slice(1, 4).map(Number);
}

function isLower(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((number, each) => number !== b[each]);
  return index >= 0 && a[index]! < b[index]!;
}

function validateStrategy(strategy: string): FieldError[] {
  // The reference names the field twice.
  const field = "spec.strategy.strategy";
  if (strategy.includes("/"))
    return qualifiedNameProblems(strategy).map((problem) =>
      fieldErrors.invalid(field, strategy, problem),
    );
  return strategy === oldest
    ? []
    : [fieldErrors.notSupported(field, strategy, [oldest])];
}

function validate({
  leaseName,
  binaryVersion = "",
  emulationVersion = "",
  strategy = "",
}: Partial<LeaseCandidateSpec> = {}): FieldError[] {
  const problems: FieldError[] = [];
  const version = (field: string, text: string): number[] | undefined => {
    const numbers = numbersOf(text);
    if (!numbers && text !== "")
      problems.push(
        fieldErrors.invalid(field, text, "must be a valid semantic version"),
      );
    return numbers;
  };
  if (!leaseName) problems.push(fieldErrors.required("spec.leaseName"));
  const emulated = version("spec.emulationVersion", emulationVersion);
  if (binaryVersion === "")
    problems.push(fieldErrors.required("spec.binaryVersion"));
  const binary = version("spec.binaryVersion", binaryVersion);
  if (binary && emulated && isLower(binary, emulated))
    problems.push(
      fieldErrors.invalid(
        "spec.binaryVersion",
        binaryVersion,
        "must be greater than or equal to `emulationVersion`",
      ),
    );
  if (strategy === "") problems.push(fieldErrors.required("spec.strategy"));
  else {
    if (strategy === oldest && !emulated?.some((number) => number > 0))
      problems.push(
        fieldErrors.required(
          "spec.strategy.emulationVersion",
          `must be specified when \`strategy\` is '${oldest}'`,
        ),
      );
    problems.push(...validateStrategy(strategy));
  }
  return problems;
}

export const leaseCandidateStrategy = strategyOf<LeaseCandidate>({
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  anyFinalizer: true,
  validateName: dataKeyProblems,
  validate: ({ spec }) => validate(spec),
  validateUpdate: ({ spec }, old) =>
    immutable("spec.leaseName", spec.leaseName, old.spec?.leaseName),
  selectableFields: ({ spec }) => ({ "spec.leaseName": spec?.leaseName ?? "" }),
  printRow: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.leaseName ?? "",
    spec?.binaryVersion ?? "",
    spec?.emulationVersion ?? "",
    formatAge(metadata.creationTimestamp, now),
  ],
});
