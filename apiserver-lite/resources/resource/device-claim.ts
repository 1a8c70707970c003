// What a claim asks for: requests of devices, constraints between them, configuration for drivers.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/names.ts";
import type {
  DeviceConstraint,
  DeviceRequest,
  ResourceClaimSpec,
} from "../../../api/types/resource-v1beta1.ts";
import { joined, ofEach } from "../field-checks.ts";
import {
  atMost,
  opaqueProblems,
  qualifiedName,
  setOf,
} from "./device-checks.ts";
import { loadSelectors, validateSelectors } from "./device-selector.ts";

type Problems = FieldError[];

const maxRequests = 32;
const maxConstraints = 32;
export const maxConfigurations = 32;

export function requestNames(spec: ResourceClaimSpec): ReadonlySet<string> {
  return new Set((spec.devices?.requests ?? []).map(({ name }) => name));
}

/** Before the claim is validated. */
export function prepareSelectors(
  spec: ResourceClaimSpec | undefined,
): Promise<void> | undefined {
  return spec?.devices?.requests?.some(({ selectors }) => selectors?.length)
    ? loadSelectors()
    : undefined;
}

/** @param stored the claim has been accepted before */
export function validateClaimSpec(
  field: string,
  spec: ResourceClaimSpec,
  stored: boolean,
): Problems {
  const { requests, constraints, config } = spec.devices ?? {};
  const names = requestNames(spec);
  const path = `${field}.devices`;
  return joined(
    setOf(
      `${path}.requests`,
      requests,
      maxRequests,
      (request, at) => requestProblems(at, request, stored),
      ({ name }) => name,
      "name",
    ),
    ofEach(constraints, (constraint, index) =>
      constraintProblems(`${path}.constraints[${index}]`, constraint, names),
    ),
    atMost(`${path}.constraints`, constraints, maxConstraints),
    ofEach(config, ({ requests: of, opaque }, index) => [
      ...requestReferences(`${path}.config[${index}].requests`, of, names),
      ...opaqueProblems(`${path}.config[${index}]`, opaque, stored),
    ]),
    atMost(`${path}.config`, config, maxConfigurations),
  );
}

function requestProblems(
  field: string,
  request: DeviceRequest,
  stored: boolean,
): Problems {
  const { name, deviceClassName, allocationMode = "", count = 0 } = request;
  const countField = `${field}.count`;
  const problems = joined(
    invalidEach(`${field}.name`, name, dnsLabelProblems(name)),
    deviceClassName
      ? invalidEach(
          `${field}.deviceClassName`,
          deviceClassName,
          dnsSubdomainProblems(deviceClassName),
        )
      : [fieldErrors.required(`${field}.deviceClassName`)],
    validateSelectors(`${field}.selectors`, request.selectors, stored),
  );
  if (allocationMode === "All") {
    if (count !== 0)
      problems.push(
        fieldErrors.invalid(
          countField,
          count,
          "must not be specified when allocationMode is 'All'",
        ),
      );
  } else if (allocationMode === "ExactCount") {
    if (count <= 0)
      problems.push(
        fieldErrors.invalid(countField, count, "must be greater than zero"),
      );
  } else
    problems.push(
      fieldErrors.notSupported(`${field}.allocationMode`, allocationMode, [
        "All",
        "ExactCount",
      ]),
    );
  return problems;
}

function constraintProblems(
  field: string,
  { requests, matchAttribute }: DeviceConstraint,
  names: ReadonlySet<string>,
): Problems {
  const path = `${field}.matchAttribute`;
  return joined(
    requestReferences(`${field}.requests`, requests, names),
    matchAttribute === undefined
      ? [fieldErrors.required(path)]
      : [
          ...qualifiedName(path, matchAttribute),
          ...(matchAttribute !== "" && !matchAttribute.includes("/")
            ? [
                fieldErrors.invalid(
                  path,
                  matchAttribute,
                  "must include a domain",
                ),
              ]
            : []),
        ],
  );
}

/** Names of requests of the same claim. */
export function requestReferences(
  field: string,
  references: readonly string[] | undefined,
  names: ReadonlySet<string>,
): Problems {
  return setOf(
    field,
    references,
    maxRequests,
    (name, at) => requestReference(at, name, names),
    (name) => name,
    "",
  );
}

export function requestReference(
  field: string,
  name: string,
  names: ReadonlySet<string>,
): Problems {
  return [
    ...invalidEach(field, name, dnsLabelProblems(name)),
    ...(names.has(name)
      ? []
      : [
          fieldErrors.invalid(
            field,
            name,
            "must be the name of a request in the claim",
          ),
        ]),
  ];
}
