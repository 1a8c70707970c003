// All scenarios; each file in scenarios/ is one part of the interface.
import type { Scenario } from "./scenario.ts";
import { access } from "./scenarios/access.ts";
import { admissionPlaces } from "./scenarios/admission-places.ts";
import { admissionPlugins } from "./scenarios/admission-plugins.ts";
import { apiServiceKinds } from "./scenarios/api-services.ts";
import { apply } from "./scenarios/apply.ts";
import { bodies } from "./scenarios/bodies.ts";
import { configMaps } from "./scenarios/config-maps.ts";
import { coreAdmission } from "./scenarios/core-admission.ts";
import { coreKinds } from "./scenarios/core-kinds.ts";
import { coreMetadata } from "./scenarios/core-metadata.ts";
import { corePodsChanges } from "./scenarios/core-pods-changes.ts";
import { corePodsContainers } from "./scenarios/core-pods-containers.ts";
import { corePodsSpec } from "./scenarios/core-pods-spec.ts";
import { corePodsVolumes } from "./scenarios/core-pods-volumes.ts";
import { coreServices } from "./scenarios/core-services.ts";
import { coreStorage } from "./scenarios/core-storage.ts";
import { customApplies } from "./scenarios/custom-applies.ts";
import { customDefinitions } from "./scenarios/custom-definitions.ts";
import { customObjects } from "./scenarios/custom-objects.ts";
import { customOwnership } from "./scenarios/custom-ownership.ts";
import { customValues } from "./scenarios/custom-values.ts";
import { deletion } from "./scenarios/deletion.ts";
import { deviceClaims } from "./scenarios/device-claims.ts";
import { discovery } from "./scenarios/discovery.ts";
import { encodings } from "./scenarios/encodings.ts";
import { fieldValidation } from "./scenarios/field-validation.ts";
import { flowControl } from "./scenarios/flow-control.ts";
import { flowKinds } from "./scenarios/flow-kinds.ts";
import { jobs } from "./scenarios/jobs.ts";
import { jsonPatch } from "./scenarios/json-patch.ts";
import { managedFieldsOfKinds } from "./scenarios/managed-fields.ts";
import { mergePatch } from "./scenarios/merge-patch.ts";
import { mutatingPolicies } from "./scenarios/mutating-policies.ts";
import { mutatingPolicyKinds } from "./scenarios/mutating-policy-kinds.ts";
import { negotiation } from "./scenarios/negotiation.ts";
import { networkingKinds } from "./scenarios/networking-kinds.ts";
import { optionalKinds } from "./scenarios/optional-kinds.ts";
import { paging } from "./scenarios/paging.ts";
import { paths } from "./scenarios/paths.ts";
import { gatedPodFields } from "./scenarios/gated-pod-fields.ts";
import { podResize } from "./scenarios/pod-resize.ts";
import { policiesScenario } from "./scenarios/policies.ts";
import { policyPlaces } from "./scenarios/policy-places.ts";
import { quotaRefusals } from "./scenarios/quota-refusals.ts";
import { readVersions } from "./scenarios/read-versions.ts";
import { reviews } from "./scenarios/reviews.ts";
import { selectors } from "./scenarios/selectors.ts";
import { smallKinds } from "./scenarios/small-kinds.ts";
import { storageKinds } from "./scenarios/storage-kinds.ts";
import { storedExtensions } from "./scenarios/stored-extensions.ts";
import { storageVersions } from "./scenarios/storage-versions.ts";
import { strategicPatch } from "./scenarios/strategic-patch.ts";
import { tables } from "./scenarios/tables.ts";
import { templateWarnings } from "./scenarios/template-warnings.ts";
import { watching } from "./scenarios/watching.ts";
import { webhookCalls } from "./scenarios/webhook-calls.ts";
import { webhookKinds } from "./scenarios/webhook-kinds.ts";
import { workloads } from "./scenarios/workloads.ts";
import { writing } from "./scenarios/writing.ts";

export const scenarios: readonly Scenario[] = [
  apiServiceKinds,
  access,
  admissionPlaces,
  admissionPlugins,
  apply,
  bodies,
  configMaps,
  coreAdmission,
  coreKinds,
  coreMetadata,
  corePodsChanges,
  corePodsContainers,
  corePodsSpec,
  corePodsVolumes,
  coreServices,
  coreStorage,
  customApplies,
  customDefinitions,
  customObjects,
  customOwnership,
  customValues,
  deletion,
  deviceClaims,
  discovery,
  encodings,
  fieldValidation,
  flowControl,
  flowKinds,
  jobs,
  jsonPatch,
  managedFieldsOfKinds,
  mergePatch,
  mutatingPolicies,
  mutatingPolicyKinds,
  negotiation,
  networkingKinds,
  optionalKinds,
  paging,
  paths,
  gatedPodFields,
  podResize,
  policiesScenario,
  policyPlaces,
  quotaRefusals,
  readVersions,
  reviews,
  selectors,
  smallKinds,
  storageKinds,
  storageVersions,
  storedExtensions,
  strategicPatch,
  tables,
  templateWarnings,
  watching,
  webhookCalls,
  webhookKinds,
  workloads,
  writing,
];
