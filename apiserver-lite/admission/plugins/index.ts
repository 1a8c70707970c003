// All built-in admission plug-ins in the reference's order.
import type { Authorizer } from "../../../api/contracts.ts";
import { alwaysAdmit, alwaysDeny } from "./always.ts";
import {
  certificateSubjectRestriction,
  createCertificateApproval,
  createCertificateSigning,
  createTrustBundleAttest,
} from "./certificates.ts";
import { createEventRateLimit, type EventLimit } from "./event-rate-limit.ts";
import { denyServiceExternalIPs } from "./external-ips.ts";
import { limitRanger } from "./limit-ranger.ts";
import {
  createNamespaceAutoProvision,
  namespaceExists,
} from "./namespace-existence.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { createNodeRestriction } from "./node-restriction.ts";
import {
  createOwnerPermissionEnforcement,
  type ResourcesOfKind,
} from "./owner-permission.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import {
  createDefaultTolerationSeconds,
  runtimeClass,
  taintNodesByCondition,
  type TolerationSeconds,
} from "./pod-defaults.ts";
import {
  createPodSecurity,
  type PodSecurityOptions,
} from "./pod-security/pod-security.ts";
import { alwaysPullImages } from "./pods/always-pull-images.ts";
import { limitPodHardAntiAffinityTopology } from "./pods/anti-affinity.ts";
import {
  createImagePolicyWebhook,
  type ImagePolicyOptions,
} from "./pods/image-policy.ts";
import { createPodNodeSelector } from "./pods/node-selector.ts";
import {
  createPodTolerationRestriction,
  extendedResourceToleration,
  type TolerationRestriction,
} from "./pods/tolerations.ts";
import { priority } from "./priority.ts";
import { createMutatingAdmissionPolicy } from "../policy/mutating/mutating-policy.ts";
import type { PolicyPluginOptions } from "../policy/plugin-options.ts";
import { createValidatingAdmissionPolicy } from "../policy/validating-policy.ts";
import type { LimitedResource } from "./quota-limits.ts";
import { createResourceQuota } from "./resource-quota.ts";
import { serviceAccount } from "./service-account.ts";
import type { ClusterState } from "../../resources/state.ts";
import type { WebhookClients } from "../../webhook-client/webhook-clients.ts";
import { MutatingWebhooks } from "../webhook/mutating.ts";
import type { WebhookSurroundings } from "../webhook/outcome.ts";
import { ValidatingWebhooks } from "../webhook/validating.ts";
import {
  defaultIngressClass,
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from "./storage-defaults.ts";

/** Plug-ins that run only when they are asked for. */
export const OFF_BY_DEFAULT: ReadonlySet<string> = new Set([
  "AlwaysAdmit",
  "AlwaysDeny",
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "EventRateLimit",
  "ExtendedResourceToleration",
  "ImagePolicyWebhook",
  "LimitPodHardAntiAffinityTopology",
  "NamespaceAutoProvision",
  "NamespaceExists",
  "NodeRestriction",
  "OwnerReferencesPermissionEnforcement",
  "PodNodeSelector",
  "PodTolerationRestriction",
]);

/** What plug-ins are configured with; each has the reference's default. */
export interface AdmissionSettings {
  readonly tolerationSeconds?: TolerationSeconds;
  readonly eventLimits?: readonly EventLimit[];
  readonly imagePolicy?: ImagePolicyOptions;
  /** By namespace, and clusterDefaultNodeSelector. */
  readonly nodeSelectors?: Readonly<Record<string, string>>;
  readonly podSecurity?: PodSecurityOptions;
  readonly quotaLimitedResources?: readonly LimitedResource[];
  readonly tolerationRestriction?: TolerationRestriction;
  /** Agents get tokens for audiences that volumes of their pods need. Default: for any. */
  readonly restrictsTokenAudiences?: boolean;
}

/** What plug-ins ask of the server they run in. */
export interface AdmissionSurroundings {
  readonly authorizer: Authorizer;
  /** Undefined: there are no configurations of webhooks. */
  readonly webhooks?: WebhookParts;
  /** Undefined: there are no admission policies. */
  readonly policies?: Omit<PolicyPluginOptions, "authorizer"> & {
    /** Are there mutating ones? Default: there are none. */
    readonly mutating?: boolean;
  };
  readonly resourcesOf: ResourcesOfKind;
  /** Creates a namespace as the server itself. */
  readonly makeNamespace: (name: string) => Promise<void>;
}

interface WebhookParts extends Omit<WebhookSurroundings, "authorizer"> {
  readonly state: ClusterState;
  /** Those of validating ones; `clients` are the mutating ones'. */
  readonly validatingClients?: WebhookClients;
}

/** Without a configuration there is no webhook to ask: pods are refused. */
const unsetImagePolicy: ImagePolicyOptions = {
  post: () => Promise.reject(new Error("no config specified")),
  ...{ allowTtlMs: 0, denyTtlMs: 0, retryBackoffMs: 0, defaultAllow: false },
};

const FIVE_MINUTES: TolerationSeconds = { notReady: 300, unreachable: 300 };

/** Every built-in plug-in; which of them run is the composition's choice. */
export function orderedAdmissionPlugins(
  {
    authorizer,
    policies,
    webhooks,
    resourcesOf,
    makeNamespace,
  }: AdmissionSurroundings,
  settings: AdmissionSettings = {},
): AdmissionPlugin[] {
  return [
    alwaysAdmit,
    createNamespaceAutoProvision(makeNamespace),
    namespaceLifecycle,
    namespaceExists,
    limitPodHardAntiAffinityTopology,
    limitRanger,
    serviceAccount,
    createNodeRestriction(settings.restrictsTokenAudiences),
    taintNodesByCondition,
    alwaysPullImages,
    createImagePolicyWebhook(settings.imagePolicy ?? unsetImagePolicy),
    createPodSecurity(settings.podSecurity),
    createPodNodeSelector(settings.nodeSelectors),
    priority,
    createDefaultTolerationSeconds(settings.tolerationSeconds ?? FIVE_MINUTES),
    createPodTolerationRestriction(settings.tolerationRestriction),
    createEventRateLimit(settings.eventLimits ?? []),
    extendedResourceToleration,
    defaultStorageClass,
    storageObjectInUseProtection,
    createOwnerPermissionEnforcement(authorizer, resourcesOf),
    persistentVolumeClaimResize,
    runtimeClass,
    createCertificateApproval(authorizer),
    createCertificateSigning(authorizer),
    createTrustBundleAttest(authorizer),
    certificateSubjectRestriction,
    defaultIngressClass,
    denyServiceExternalIPs,
    policies?.mutating
      ? createMutatingAdmissionPolicy({ ...policies, authorizer })
      : { name: "MutatingAdmissionPolicy" },
    webhooks
      ? new MutatingWebhooks(webhooks.state, { ...webhooks, authorizer })
      : { name: "MutatingAdmissionWebhook" },
    policies
      ? createValidatingAdmissionPolicy({ ...policies, authorizer })
      : { name: "ValidatingAdmissionPolicy" },
    webhooks
      ? new ValidatingWebhooks(webhooks.state, {
          ...webhooks,
          authorizer,
          clients: webhooks.validatingClients ?? webhooks.clients,
        })
      : { name: "ValidatingAdmissionWebhook" },
    createResourceQuota(settings.quotaLimitedResources),
    alwaysDeny,
  ];
}

/** The names of all of them, whatever they are configured with. */
export const builtInPlugins: readonly string[] = orderedAdmissionPlugins({
  authorizer: { authorize: () => ({ decision: "no-opinion", reason: "" }) },
  resourcesOf: () => [],
  makeNamespace: () => Promise.resolve(),
}).map(({ name }) => name);
