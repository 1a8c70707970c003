// The configuration of each admission plug-in that takes one, read from its part of the admission configuration.
import * as path from "node:path";
import {
  type AdmissionSettings,
  levelProblem,
  levelVersion,
  validateTolerations,
  versionProblem,
} from "../../../apiserver-lite/index.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/names.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { Toleration } from "../../../api/types/core-v1.ts";
import type { ConfigurationSection } from "../configuration-section.ts";

/** What the plug-ins are configured with, and the files that a webhook plug-in names. */
export interface PluginConfigs extends Pick<
  AdmissionSettings,
  | "eventLimits"
  | "nodeSelectors"
  | "podSecurity"
  | "quotaLimitedResources"
  | "tolerationRestriction"
> {
  readonly imagePolicy?: ImagePolicyConfig;
  /** Absolute paths of kubeconfigs with the credentials of webhooks by host name. */
  readonly mutatingWebhookKubeconfig?: string;
  readonly validatingWebhookKubeconfig?: string;
}

export interface ImagePolicyConfig {
  readonly kubeConfigFile: string;
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  readonly defaultAllow: boolean;
}

type Reader = (
  section: ConfigurationSection,
) => PluginConfigs | Promise<PluginConfigs>;

export const pluginReaders: Readonly<Record<string, Reader>> = {
  EventRateLimit: readEventRateLimit,
  ImagePolicyWebhook: readImagePolicy,
  MutatingAdmissionWebhook: (section) => ({
    mutatingWebhookKubeconfig: readWebhookKubeconfig(section),
  }),
  PodNodeSelector: readNodeSelectors,
  PodSecurity: readPodSecurity,
  PodTolerationRestriction: readTolerationRestriction,
  ResourceQuota: readResourceQuota,
  ValidatingAdmissionWebhook: (section) => ({
    validatingWebhookKubeconfig: readWebhookKubeconfig(section),
  }),
};

const limitTypes = ["Namespace", "Server", "SourceAndObject", "User"] as const;
type LimitType = (typeof limitTypes)[number];

function readEventRateLimit(section: ConfigurationSection): PluginConfigs {
  const group = "eventratelimit.admission.k8s.io/v1alpha1";
  if (!section.object("Configuration", [group], ["limits"])) return {};
  const limits = section.items("limits");
  if (limits.length === 0)
    section.problem("must not be empty", section.pathOf("limits"));
  return {
    eventLimits: limits.map((limit) => {
      limit.fields(["type", "qps", "burst", "cacheSize"]);
      const type = limit.text("type") as LimitType;
      const [qps, burst, cacheSize] = ["qps", "burst", "cacheSize"].map(
        (name) => limit.integer(name),
      ) as [number, number, number];
      if (!limitTypes.includes(type))
        limit.problem(
          fieldErrors.notSupported("", type, limitTypes).detail,
          limit.pathOf("type"),
        );
      for (const [name, value] of [
        ["burst", burst],
        ["qps", qps],
      ] as const)
        if (value <= 0)
          limit.problem(
            `Invalid value: ${value}: must be positive`,
            limit.pathOf(name),
          );
      if (cacheSize < 0 && type !== "Server")
        limit.problem(
          `Invalid value: ${cacheSize}: must not be negative`,
          limit.pathOf("cacheSize"),
        );
      return { type, qps, burst, cacheSize };
    }),
  };
}

function readNodeSelectors(section: ConfigurationSection): PluginConfigs {
  const field = "podNodeSelectorPluginConfig";
  // The older form may hold another plug-in's part beside it.
  section.fields([field, "imagePolicy"]);
  const selectors = section.child(field);
  const fields = selectors.fields(Object.keys(selectors.value ?? {}));
  return {
    nodeSelectors: Object.fromEntries(
      Object.keys(fields).map((name) => [name, selectors.text(name)]),
    ),
  };
}

function readPodSecurity(section: ConfigurationSection): PluginConfigs {
  const group = "pod-security.admission.config.k8s.io";
  const versions = ["v1", "v1beta1", "v1alpha1"].map(
    (version) => `${group}/${version}`,
  );
  const parts = ["defaults", "exemptions"];
  if (!section.object("PodSecurityConfiguration", versions, parts)) return {};
  const defaults = section.child("defaults");
  const modes = ["enforce", "warn", "audit"] as const;
  defaults.fields(modes.flatMap((mode) => [mode, `${mode}-version`]));
  const policyOf = (
    mode: (typeof modes)[number],
  ): ReturnType<typeof levelVersion> => {
    const level = defaults.text(mode) || "privileged";
    const version = defaults.text(`${mode}-version`) || "latest";
    for (const [name, value, problem] of [
      [mode, level, levelProblem(level)],
      [`${mode}-version`, version, versionProblem(version)],
    ] as const)
      if (problem !== "")
        defaults.problem(
          fieldErrors.invalid("", value, problem).detail,
          defaults.pathOf(name),
        );
    return levelVersion(level, version);
  };
  const exempt = section.child("exemptions");
  exempt.fields(["usernames", "namespaces", "runtimeClasses"]);
  const names = (
    name: string,
    problemsOf: (value: string) => readonly string[],
  ): readonly string[] => {
    const seen = new Set<string>();
    for (const item of exempt.items(name)) {
      const value = String(item.value);
      const problems = problemsOf(value);
      if (problems.length > 0)
        item.problem(
          fieldErrors.invalid("", value, problems.join(", ")).detail,
        );
      else if (seen.has(value))
        item.problem(`Duplicate value: ${JSON.stringify(value)}`);
      seen.add(value);
    }
    return exempt.texts(name);
  };
  return {
    podSecurity: {
      defaults: {
        enforce: policyOf("enforce"),
        audit: policyOf("audit"),
        warn: policyOf("warn"),
      },
      exemptions: {
        namespaces: names("namespaces", dnsLabelProblems),
        runtimeClasses: names("runtimeClasses", dnsSubdomainProblems),
        usernames: names("usernames", (name) =>
          name === "" ? ["username must not be empty"] : [],
        ),
      },
    },
  };
}

function readTolerationRestriction(
  section: ConfigurationSection,
): PluginConfigs {
  const group = "podtolerationrestriction.admission.k8s.io/v1alpha1";
  const lists = ["default", "whitelist"] as const;
  if (!section.object("Configuration", [group], lists)) return {};
  const read = (name: string): Toleration[] => {
    const found = section.items(name).map((item) => {
      item.fields(["key", "operator", "value", "effect", "tolerationSeconds"]);
      const seconds = item.child("tolerationSeconds").value;
      return {
        ...Object.fromEntries(
          ["key", "operator", "value", "effect"].flatMap((field) =>
            item.text(field) === "" ? [] : [[field, item.text(field)]],
          ),
        ),
        ...(seconds === undefined || seconds === null
          ? {}
          : { tolerationSeconds: item.integer("tolerationSeconds") }),
      };
    });
    const at = section.pathOf(name);
    for (const { field, detail } of validateTolerations(at, found))
      section.problem(detail, field);
    return found;
  };
  return {
    tolerationRestriction: {
      default: read("default"),
      whitelist: read("whitelist"),
    },
  };
}

function readResourceQuota(section: ConfigurationSection): PluginConfigs {
  const kinds: readonly [string, readonly string[]][] = [
    ["ResourceQuotaConfiguration", ["apiserver.config.k8s.io/v1"]],
    [
      "Configuration",
      [
        "resourcequota.admission.k8s.io/v1beta1",
        "resourcequota.admission.k8s.io/v1alpha1",
      ],
    ],
  ];
  const isOld = section.child("kind").value === "Configuration";
  const [kind, versions] = kinds[isOld ? 1 : 0]!;
  if (!section.object(kind, versions, ["limitedResources"])) return {};
  return {
    quotaLimitedResources: section.items("limitedResources").map((limited) => {
      limited.fields(["apiGroup", "resource", "matchContains", "matchScopes"]);
      if (limited.text("resource") === "")
        limited.problem("Required value", limited.pathOf("resource"));
      return {
        group: limited.text("apiGroup"),
        resource: limited.text("resource"),
        matchContains: limited.texts("matchContains"),
        matchScopes: limited.items("matchScopes").map((scope) => {
          scope.fields(["scopeName", "operator", "values"]);
          return {
            scopeName: scope.text("scopeName"),
            operator: scope.text("operator"),
            values: scope.texts("values"),
          };
        }),
      };
    }),
  };
}

function readWebhookKubeconfig(section: ConfigurationSection): string {
  const isOld = section.child("kind").value === "WebhookAdmission";
  const fields = isOld
    ? section.object(
        "WebhookAdmission",
        ["apiserver.config.k8s.io/v1alpha1"],
        ["kubeConfigFile"],
      )
    : section.object(
        "WebhookAdmissionConfiguration",
        ["apiserver.config.k8s.io/v1"],
        ["kubeConfigFile"],
      );
  const file = fields ? section.text("kubeConfigFile") : "";
  if (fields && !path.isAbsolute(file))
    section.problem(
      fieldErrors.invalid("", file, "must be an absolute file path").detail,
      section.pathOf("kubeConfigFile"),
    );
  return file;
}

const minute = 60_000;

function readImagePolicy(section: ConfigurationSection): PluginConfigs {
  section.fields(["imagePolicy", "podNodeSelectorPluginConfig"]);
  const policy = section.child("imagePolicy");
  policy.fields([
    ...["kubeConfigFile", "allowTTL", "denyTTL", "retryBackoff"],
    "defaultAllow",
  ]);
  const duration = (
    name: string,
    unitMs: number,
    minMs: number,
    maxMs: number,
    defaultMs: number,
  ): number => {
    const value = policy.integer(name);
    if (value === -1) return 0;
    if (value === 0) return defaultMs;
    if (value * unitMs < minMs || value * unitMs > maxMs)
      policy.problem(
        `valid value is between ${minMs} and ${maxMs} ms, got ${value * unitMs}`,
        policy.pathOf(name),
      );
    return value * unitMs;
  };
  const kubeConfigFile = policy.text("kubeConfigFile");
  if (kubeConfigFile === "")
    policy.problem("Required value", policy.pathOf("kubeConfigFile"));
  return {
    imagePolicy: {
      kubeConfigFile,
      allowTtlMs: duration("allowTTL", 1000, 1000, 30 * minute, 5 * minute),
      denyTtlMs: duration("denyTTL", 1000, 1000, 30 * minute, 30_000),
      retryBackoffMs: duration("retryBackoff", 1, 1, 5 * minute, 500),
      defaultAllow: policy.flag("defaultAllow"),
    },
  };
}
