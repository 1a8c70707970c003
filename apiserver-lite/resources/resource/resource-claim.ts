// ResourceClaims and ResourceClaimTemplates: what is asked for never changes; status is the scheduler's and the drivers'.
import { fieldErrors } from "../../../api/field-errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type {
  ResourceClaim,
  ResourceClaimTemplate,
} from "../../../api/types/resource-v1beta1.ts";
import { formatAge } from "../../printing/age.ts";
import { immutable, joined, labels } from "../field-checks.ts";
import { validateAnnotations } from "../object-meta.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import { deviceId, validateClaimStatus } from "./claim-status.ts";
import { prepareSelectors, validateClaimSpec } from "./device-claim.ts";
import { keepMetadata } from "../status-metadata.ts";

/** Both versions have one shape. */
const asItIs = (object: AnyObject): AnyObject => object;
export const sameShape = {
  "resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3": asItIs,
  "resource.k8s.io/v1alpha3 resource.k8s.io/v1beta1": asItIs,
};

interface ClaimGates {
  /** DRAAdminAccess. */
  readonly adminAccess: boolean;
  /** DRAResourceClaimDeviceStatus. */
  readonly deviceStatus: boolean;
}

export function createResourceClaimStrategy(
  gates: ClaimGates,
): ResourceStrategy {
  return strategyOf<ResourceClaim>({
    conversions: sameShape,
    returnsDeleted: true,
    countsGeneration: false,
    prepareForCreate(object) {
      object.status = {};
      dropDisabled(object, undefined, gates);
      return prepareSelectors(object.spec);
    },
    prepareForUpdate(object, old) {
      dropDisabled(object, old, gates);
      return prepareSelectors(object.spec);
    },
    validateCreate: ({ spec }) => validateClaimSpec("spec", spec, false),
    validateUpdate: ({ spec }, old) =>
      joined(
        immutable("spec", spec, old.spec, "resource.ResourceClaimSpec"),
        validateClaimSpec("spec", spec, true),
      ),
    status: {
      prepareForUpdate(object, old) {
        keepMetadata(object, old);
        dropDisabled(object, old, gates);
        dropReleasedDevices(object, old);
      },
      validateUpdate: (object, old) => validateClaimStatus(object, old),
    },
    printRow: (object, now) => [
      object.metadata.name,
      stateOf(object),
      formatAge(object.metadata.creationTimestamp, now),
    ],
  });
}

/** Fields behind gates, unless they were in use already. */
function dropDisabled(
  object: ResourceClaim,
  old: Readonly<ResourceClaim> | undefined,
  { adminAccess, deviceStatus }: ClaimGates,
): void {
  const asked = (claim: Readonly<ResourceClaim> | undefined) => [
    ...(claim?.spec.devices?.requests ?? []),
    ...(claim?.status?.allocation?.devices?.results ?? []),
  ];
  const hadAccess = asked(old).some((one) => one.adminAccess !== undefined);
  if (!adminAccess && !hadAccess)
    for (const one of asked(object)) delete one.adminAccess;
  if (!deviceStatus && !old?.status?.devices?.length)
    delete object.status?.devices;
}

/** What was reported of devices that are not allocated any more. */
function dropReleasedDevices(
  { status }: ResourceClaim,
  old: Readonly<ResourceClaim>,
): void {
  if (!status?.devices) return;
  const allocated = (claim: ResourceClaim["status"]): Set<string> =>
    new Set((claim?.allocation?.devices?.results ?? []).map(deviceId));
  const released = allocated(old.status);
  for (const id of allocated(status)) released.delete(id);
  status.devices = status.devices.filter((one) => !released.has(deviceId(one)));
  if (status.devices.length === 0) delete status.devices;
}

function stateOf({ metadata, status }: Readonly<ResourceClaim>): string {
  const states = metadata.deletionTimestamp ? ["deleted"] : [];
  if (status?.allocation)
    states.push(
      "allocated",
      ...(status.reservedFor?.length ? ["reserved"] : []),
    );
  else if (!metadata.deletionTimestamp) states.push("pending");
  return states.join(",");
}

export const resourceClaimTemplateStrategy = strategyOf<ResourceClaimTemplate>({
  conversions: sameShape,
  returnsDeleted: true,
  countsGeneration: false,
  prepareForCreate: ({ spec }) => prepareSelectors(spec?.spec),
  prepareForUpdate: ({ spec }) => prepareSelectors(spec?.spec),
  validateCreate: ({ spec }) => templateProblems(spec, false),
  validateUpdate: ({ spec }, old) =>
    joined(
      immutable("spec", spec, old.spec, "resource.ResourceClaimTemplateSpec"),
      templateProblems(spec, true),
    ),
  printRow: ({ metadata }, now) => [
    metadata.name,
    formatAge(metadata.creationTimestamp, now),
  ],
});

function templateProblems(
  { metadata, spec }: ResourceClaimTemplate["spec"],
  stored: boolean,
) {
  const { annotations, labels: own, ...others } = metadata ?? {};
  return joined(
    validateAnnotations(annotations, "spec.metadata.annotations"),
    labels("spec.metadata.labels", own),
    Object.keys(others).map((name) =>
      fieldErrors.forbidden(`spec.metadata.${name}`, "cannot be set"),
    ),
    validateClaimSpec("spec.spec", spec, stored),
  );
}
