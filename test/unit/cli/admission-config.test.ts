// The file of --admission-control-config-file: what it gives to which plug-in, and how a bad one is refused.
import * as fs from "node:fs";
import * as path from "node:path";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { readAdmissionConfig } from "../../../cli/parts/api/admission-config.ts";
import { pluginReaders } from "../../../cli/parts/api/admission-plugin-configs.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const newDirectory = useTempDirectories();
const names = [...Object.keys(pluginReaders), "Priority"];

async function read(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Promise<{ configs: unknown; file: string }> {
  const directory = newDirectory();
  const file = path.join(directory, "admission.yaml");
  fs.writeFileSync(file, text);
  for (const [name, other] of Object.entries(others))
    fs.writeFileSync(path.join(directory, name), other);
  const values = parseOptions(apiServerOptions, [
    `--admission-control-config-file=${file}`,
  ]);
  return { configs: await readAdmissionConfig(values, names), file };
}

const configuration = (plugins: string, group = "k8s"): string =>
  `apiVersion: apiserver.config.${group}.io/v1
kind: AdmissionConfiguration
plugins:
${plugins}`;

it.each(["k8s", "orbit"])("reads every plug-in's part (%s)", async (group) => {
  const { configs } = await read(
    configuration(
      `- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.${group}.io/v1alpha1
    kind: Configuration
    limits: [{type: User, qps: 1, burst: 2}]
- name: PodNodeSelector
  path: selectors.yaml
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.${group}.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline, warn-version: v1.20}
    exemptions: {namespaces: [kube-system], usernames: [a]}
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.${group}.io/v1alpha1
    kind: Configuration
    whitelist: [{key: a, operator: Exists}]
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.${group}.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources: [{resource: pods, matchScopes: [{scopeName: PriorityClass, operator: In, values: [high]}]}]
- name: MutatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.${group}.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: /etc/hooks
- name: ImagePolicyWebhook
  configuration:
    imagePolicy: {kubeConfigFile: /etc/images, allowTTL: 60, denyTTL: -1, defaultAllow: true}
- name: Priority
`,
      group,
    ),
    { "selectors.yaml": "podNodeSelectorPluginConfig: {ns: a=b}" },
  );
  expect(configs).toEqual({
    eventLimits: [{ type: "User", qps: 1, burst: 2, cacheSize: 0 }],
    nodeSelectors: { ns: "a=b" },
    podSecurity: {
      defaults: {
        enforce: { level: "baseline", minor: Infinity },
        audit: { level: "privileged", minor: Infinity },
        warn: { level: "privileged", minor: 20 },
      },
      exemptions: {
        namespaces: ["kube-system"],
        runtimeClasses: [],
        usernames: ["a"],
      },
    },
    tolerationRestriction: {
      default: [],
      whitelist: [{ key: "a", operator: "Exists" }],
    },
    quotaLimitedResources: [
      {
        group: "",
        resource: "pods",
        matchContains: [],
        matchScopes: [
          { scopeName: "PriorityClass", operator: "In", values: ["high"] },
        ],
      },
    ],
    mutatingWebhookKubeconfig: "/etc/hooks",
    imagePolicy: {
      kubeConfigFile: "/etc/images",
      allowTtlMs: 60_000,
      denyTtlMs: 0,
      retryBackoffMs: 500,
      defaultAllow: true,
    },
  });
});

it("reads the form without kinds", async () => {
  const { configs } = await read(
    "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: a=b\n",
  );
  expect(configs).toEqual({
    nodeSelectors: { clusterDefaultNodeSelector: "a=b" },
  });
});

const inPlugin = (name: string, text: string): string =>
  configuration(`- name: ${name}\n  configuration: ${text}`);
const eventRate = (limits: string): string =>
  inPlugin(
    "EventRateLimit",
    `{apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: ${limits}}`,
  );
const podSecurity = (rest: string): string =>
  inPlugin(
    "PodSecurity",
    `{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, ${rest}}`,
  );

it.each([
  ["", /FILE:1: kind: must be AdmissionConfiguration, not undefined/],
  ["kind: AdmissionConfiguration\nplugins: []", /FILE:1: apiVersion: must be/],
  ["{", /FILE:1: /],
  [configuration("- nme: x"), /FILE:4: plugins\[0\]\.nme: unknown field/],
  [
    configuration("- name: Nothing"),
    /FILE:4: plugins\[0\]\.name: there is no admission plugin "Nothing"/,
  ],
  [
    configuration("- name: Priority\n- name: Priority"),
    /FILE:5: plugins\[1\]\.name: Priority is configured twice/,
  ],
  [inPlugin("Priority", "{a: b}"), /FILE:5: .*Priority takes no configuration/],
  [
    configuration("- name: PodSecurity\n  path: none.yaml"),
    /--admission-control-config-file: ENOENT/,
  ],
  [eventRate("[]"), /limits: must not be empty/],
  [
    eventRate("[{type: X, qps: 0, burst: -1}]"),
    /type: Unsupported value: "X": supported values: "Namespace", "Server", "SourceAndObject", "User"\n.*burst: Invalid value: -1: must be positive\n.*qps: Invalid value: 0: must be positive/,
  ],
  [eventRate("[{type: User, qps: 1.5, burst: 1}]"), /qps: must be a whole/],
  [eventRate("{}"), /limits: must be a list/],
  [
    podSecurity("defaults: {enforce: hard, audit-version: v2}"),
    /defaults\.enforce: Invalid value: "hard": must be one of privileged, baseline, restricted\n.*defaults\.audit-version: Invalid value: "v2": must be "latest" or "v1\.x"/,
  ],
  [
    podSecurity("exemptions: {namespaces: [A, b, b], usernames: ['']}"),
    /namespaces\[0\]: Invalid value: "A": [^]*namespaces\[2\]: Duplicate value: "b"[^]*usernames\[0\]: Invalid value: "": username must not be empty/,
  ],
  [
    inPlugin(
      "PodTolerationRestriction",
      "{apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, kind: Configuration, default: [{key: a, effect: X}]}",
    ),
    /default\[0\]\.effect: Unsupported value: "X"/,
  ],
  [
    inPlugin(
      "ValidatingAdmissionWebhook",
      "{apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: a}",
    ),
    /kubeConfigFile: Invalid value: "a": must be an absolute file path/,
  ],
  [
    inPlugin("ImagePolicyWebhook", "{imagePolicy: {allowTTL: 1801}}"),
    /kubeConfigFile: Required value\n.*allowTTL: valid value is between 1000 and 1800000 ms, got 1801000/,
  ],
])("refuses %j", async (text, message) => {
  let thrown: Error | undefined;
  try {
    await read(text);
  } catch (error) {
    thrown = error as Error;
  }
  expect(thrown?.name).toBe("UsageError");
  expect(thrown?.message.replaceAll(/\/\S*\/admission\.yaml/g, "FILE")).toMatch(
    message,
  );
});
