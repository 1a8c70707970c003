// StorageVersionMigrations: which resource is written again in its storage version, and how far that is.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { labelKeyProblems } from "../../../api/names.ts";
import type {
  MigrationCondition,
  StorageVersionMigration,
} from "../../../api/types/storagemigration-v1alpha1.ts";
import { joined, ofEach } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";

type Problems = FieldError[];
type Migration = Readonly<StorageVersionMigration>;

const statuses = ["False", "True", "Unknown"];
const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reasonProblem =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

export const storageVersionMigrationStrategy =
  strategyOf<StorageVersionMigration>({
    countsGeneration: false,
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      object.status = {};
    },
    validate: ({ spec }) => {
      const { resource, version } = spec?.resource ?? {};
      return Object.entries({ resource, version }).flatMap(([name, value]) =>
        value
          ? []
          : [
              fieldErrors.required(
                `spec.resource.${name}`,
                `${name} is required`,
              ),
            ],
      );
    },
    validateUpdate: ({ spec }, { spec: old }) =>
      (["group", "version", "resource"] as const).flatMap((name) => {
        const value = spec.resource[name] ?? "";
        return value === (old.resource[name] ?? "")
          ? []
          : [fieldErrors.invalid(name, value, "field is immutable")];
      }),
    status: {
      resetPaths: keptBesideStatus,
      prepareForUpdate: keepMetadata,
      validateUpdate: (object, old) =>
        joined(
          revisionProblems(object, old),
          conditionProblems(object),
          transitionProblems(object, old),
        ),
    },
    printRow: ({ metadata, spec }) => [
      metadata.name,
      `${spec?.resource?.resource ?? ""}.${spec?.resource?.version ?? ""}.${spec?.resource?.group ?? ""}`,
    ],
  });

function revisionProblems({ status }: Migration, old: Migration): Problems {
  const field = "status.resourceVersion";
  const revision = status?.resourceVersion ?? "";
  const before = old.status?.resourceVersion ?? "";
  const problems: Problems = [];
  if (revision !== "" && !/^[+-]?\d+$/.test(revision))
    problems.push(
      fieldErrors.invalid(
        field,
        revision,
        `failed to parse resource version ${JSON.stringify(revision)}: strconv.ParseInt: parsing ${JSON.stringify(revision)}: invalid syntax`,
      ),
    );
  else if (Number(revision) < 0)
    problems.push(
      fieldErrors.invalid(
        field,
        Number(revision),
        "must be greater than or equal to 0",
      ),
    );
  if (before !== "" && before !== revision)
    problems.push(
      fieldErrors.invalid(field, revision, "resourceVersion cannot be updated"),
    );
  return problems;
}

function conditionProblems({ status }: Migration): Problems {
  const seen = new Set<string>();
  return ofEach(status?.conditions, (condition, index) => {
    const field = `status.conditions[${index}]`;
    const { type, reason = "", message = "" } = condition;
    const twice = seen.has(type);
    seen.add(type);
    return joined(
      twice ? [fieldErrors.duplicate(`${field}.type`, type)] : [],
      invalidEach(`${field}.type`, type, labelKeyProblems(type)),
      statuses.includes(condition.status)
        ? []
        : [
            fieldErrors.notSupported(
              `${field}.status`,
              condition.status,
              statuses,
            ),
          ],
      condition.lastUpdateTime
        ? []
        : [fieldErrors.required(`${field}.lastTransitionTime`, "must be set")],
      reasonProblems(`${field}.reason`, reason),
      Buffer.byteLength(message) > maxMessageBytes
        ? [fieldErrors.tooLong(`${field}.message`, maxMessageBytes)]
        : [],
    );
  });
}

function reasonProblems(field: string, reason: string): Problems {
  if (reason === "") return [fieldErrors.required(field, "must be set")];
  const well =
    /^[A-Za-z][A-Za-z0-9_,:]*$/.test(reason) && !/[,:]$/.test(reason);
  return joined(
    well ? [] : [fieldErrors.invalid(field, reason, reasonProblem)],
    Buffer.byteLength(reason) > maxReasonBytes
      ? [fieldErrors.tooLong(field, maxReasonBytes)]
      : [],
  );
}

/** Of Running, Succeeded and Failed at most one is true, and the last two stay so. */
function transitionProblems(object: Migration, old: Migration): Problems {
  const is = ({ status }: Migration, wanted: string): boolean =>
    status?.conditions?.find(({ type }) => type === wanted)?.status === "True";
  const shown = asGo(
    "[]storagemigration.MigrationCondition",
    object.status?.conditions ?? ([] as MigrationCondition[]),
  );
  const refuse = (wrong: boolean, detail: string): Problems =>
    wrong ? [fieldErrors.invalid("status.conditions", shown, detail)] : [];
  const [succeeded, failed, running] = ["Succeeded", "Failed", "Running"].map(
    (type) => is(object, type),
  ) as [boolean, boolean, boolean];
  return joined(
    refuse(
      succeeded && failed,
      "Both success and failed conditions cannot be true at the same time",
    ),
    refuse(
      succeeded && running,
      "Running condition cannot be true when success condition is true",
    ),
    refuse(
      failed && running,
      "Running condition cannot be true when failed condition is true",
    ),
    refuse(
      is(old, "Succeeded") && !succeeded,
      "Success condition cannot be set to false once it is true",
    ),
    refuse(
      is(old, "Failed") && !failed,
      "Failed condition cannot be set to false once it is true",
    ),
  );
}
