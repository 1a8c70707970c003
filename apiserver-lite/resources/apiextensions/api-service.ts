// APIServices: which server answers for a group version. The name is version.group.
import { formatTime } from "../../../api/clock.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dns1035Problems,
  dnsSubdomainProblems,
  pathSegmentProblems,
  portNumberProblems,
} from "../../../api/names.ts";
import type {
  APIService,
  APIServiceSpec,
} from "../../../api/types/apiregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { oneOf } from "../field-checks.ts";
import { strategyOf } from "../typed.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";

/** What a local one, which no server beside this one answers for, always reports. */
export const localCondition = {
  type: "Available",
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
} as const;

export const apiServiceStrategy = strategyOf<APIService>({
  allowUnconditionalUpdate: false,
  anyFinalizer: true,
  countsGeneration: false,
  validateName: pathSegmentProblems,
  prepareForCreate(object, { clock }) {
    object.status = {};
    if (object.spec.service) return;
    const lastTransitionTime = formatTime(clock.now());
    object.status.conditions = [{ ...localCondition, lastTransitionTime }];
  },
  validate: ({ metadata, spec }) => [
    ...nameProblems(metadata.name ?? "", spec),
    ...groupVersionProblems(spec),
    ...priorityProblems(spec),
    ...serverProblems(spec),
  ],
  status: {
    resetPaths: keptBesideStatus,
    prepareForUpdate: keepMetadata,
    validateUpdate: ({ status }) =>
      (status?.conditions ?? []).flatMap((condition, index) =>
        oneOf(
          `status.conditions[${index}].status`,
          condition.status,
          ["True", "False", "Unknown"],
          true,
        ),
      ),
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    const service = spec?.service
      ? `${spec.service.namespace}/${spec.service.name}`
      : "Local";
    const available = status?.conditions?.find(
      ({ type }) => type === "Available",
    );
    const text = !available
      ? "Unknown"
      : available.status === "True"
        ? "True"
        : `${available.status} (${available.reason ?? ""})`;
    return [
      metadata.name,
      service,
      text,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

function nameProblems(name: string, spec: APIServiceSpec): FieldError[] {
  const required = `${spec.version ?? ""}.${spec.group ?? ""}`;
  // A name that no path can have is reported already.
  if (name === required || pathSegmentProblems(name).length > 0) return [];
  const text = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(required)}`;
  return [fieldErrors.invalid("metadata.name", name, text)];
}

function groupVersionProblems({
  group = "",
  version = "",
}: APIServiceSpec): FieldError[] {
  return [
    ...(group === "" && version !== "v1"
      ? [
          fieldErrors.required(
            "spec.group",
            "only v1 may have an empty group and it better be legacy kube",
          ),
        ]
      : []),
    ...(group === ""
      ? []
      : invalidEach("spec.group", group, dnsSubdomainProblems(group))),
    ...invalidEach("spec.version", version, dns1035Problems(version)),
  ];
}

function priorityProblems(spec: APIServiceSpec): FieldError[] {
  const limits = {
    groupPriorityMinimum: 20000,
    versionPriority: 1000,
  } as const;
  return (["groupPriorityMinimum", "versionPriority"] as const).flatMap(
    (field) => {
      const value = spec[field] ?? 0;
      if (value > 0 && value <= limits[field]) return [];
      const text = `must be positive and less than ${limits[field]}`;
      return [fieldErrors.invalid(`spec.${field}`, value, text)];
    },
  );
}

/** Where the server is, and how it is known. */
function serverProblems({
  service,
  caBundle = "",
  insecureSkipTLSVerify = false,
}: APIServiceSpec): FieldError[] {
  const problems: FieldError[] = [];
  const skipsProblem = (text: string): void =>
    void problems.push(
      fieldErrors.invalid("spec.insecureSkipTLSVerify", true, text),
    );
  if (!service) {
    if (caBundle !== "") {
      const shown = `${Buffer.from(caBundle, "base64").length} bytes`;
      const text = "local APIServices may not have a caBundle";
      problems.push(fieldErrors.invalid("spec.caBundle", shown, text));
    }
    if (insecureSkipTLSVerify)
      skipsProblem("local APIServices may not have insecureSkipTLSVerify");
    return problems;
  }
  for (const field of ["namespace", "name"] as const)
    if (!service[field])
      problems.push(fieldErrors.required(`spec.service.${field}`));
  const port = service.port ?? 443;
  const wrong = portNumberProblems(port);
  if (wrong.length > 0)
    problems.push(
      fieldErrors.invalid(
        "spec.service.port",
        port,
        `port is not valid: ${wrong.join(", ")}`,
      ),
    );
  if (insecureSkipTLSVerify && caBundle !== "")
    skipsProblem("may not be true if caBundle is present");
  return problems;
}
