// FlowSchemas and PriorityLevelConfigurations: rows, and the few numbers that must be in range.
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../api/names.ts";
import type {
  FlowSchema,
  PriorityLevelConfiguration,
} from "../../../api/types/flowcontrol-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { Cell } from "../../printing/table.ts";
import type { Upgrade } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import { validateFlowRule } from "./flow-rule-validation.ts";
import { validatePriorityLevel } from "./priority-level-validation.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";

export const flowSchemaStrategy = strategyOf<FlowSchema>({
  prepareForCreate(object) {
    object.status = {};
  },
  validate(object) {
    const { metadata, spec } = object;
    const problems = [];
    const precedence = spec?.matchingPrecedence ?? 0;
    if (precedence < 1) {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "must be a positive value",
        ),
      );
    } else if (precedence > 10000) {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "must not be greater than 10000",
        ),
      );
    } else if (precedence === 1 && metadata.name !== "exempt") {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "only the schema named 'exempt' may have matchingPrecedence 1",
        ),
      );
    }
    const level = spec?.priorityLevelConfiguration?.name;
    if (!level) {
      problems.push(
        fieldErrors.required(
          "spec.priorityLevelConfiguration.name",
          "must reference a priority level",
        ),
      );
    } else
      problems.push(
        ...invalidEach(
          "spec.priorityLevelConfiguration.name",
          level,
          dnsSubdomainProblems(level),
        ),
      );
    const method = spec?.distinguisherMethod;
    if (method && method.type !== "ByNamespace" && method.type !== "ByUser")
      problems.push(
        fieldErrors.notSupported(
          "spec.distinguisherMethod.type",
          asGo("flowcontrol.FlowDistinguisherMethod", method),
          ["ByNamespace", "ByUser"],
        ),
      );
    return [
      ...problems,
      ...(spec?.rules ?? []).flatMap((rule, index) =>
        validateFlowRule(`spec.rules[${index}]`, rule),
      ),
    ];
  },
  status: {
    resetPaths: keptBesideStatus,
    prepareForUpdate: keepMetadata,
  },
  // In the order in which requests are matched.
  compareRows: (one, other) =>
    (one.spec?.matchingPrecedence ?? 0) -
      (other.spec?.matchingPrecedence ?? 0) ||
    (one.metadata.name < other.metadata.name ? -1 : 1),
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    const dangling =
      status?.conditions?.find(({ type }) => type === "Dangling")?.status ??
      "?";
    return [
      metadata.name,
      spec?.priorityLevelConfiguration?.name ?? "",
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod?.type ?? "<none>",
      formatAge(metadata.creationTimestamp, now),
      dangling,
    ];
  },
});

/** Of objects that servers of the years before wrote. */
const fromAssuredShares: Upgrade = ({ spec }) => {
  const { limited } = spec ?? {};
  if (limited?.assuredConcurrencyShares === undefined) return;
  limited.nominalConcurrencyShares = limited.assuredConcurrencyShares;
  delete limited.assuredConcurrencyShares;
};

export const priorityLevelStrategy = strategyOf<PriorityLevelConfiguration>({
  upgrades: {
    "flowcontrol.apiserver.k8s.io/v1alpha1": fromAssuredShares,
    "flowcontrol.apiserver.k8s.io/v1beta1": fromAssuredShares,
    "flowcontrol.apiserver.k8s.io/v1beta2": fromAssuredShares,
  },
  prepareForCreate(object) {
    object.status = {};
  },
  validate: (object) => validatePriorityLevel(object),
  status: {
    resetPaths: keptBesideStatus,
    prepareForUpdate: keepMetadata,
  },
  printRow: (object, now) => {
    const { metadata, spec } = object;
    const limited = spec?.limited;
    const queuing = limited?.limitResponse?.queuing;
    const shown = (value: number | undefined): Cell => value ?? "<none>";
    return [
      metadata.name,
      spec?.type ?? "",
      shown(limited?.nominalConcurrencyShares),
      shown(queuing?.queues),
      shown(queuing?.handSize),
      shown(queuing?.queueLengthLimit),
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
