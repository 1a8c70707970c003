// Which admission plug-ins an API server runs, in the reference's order: the default ones, those of
// --enable-admission-plugins, without those of --disable-admission-plugins.
import * as path from "node:path";
import type { Authorizer } from "../../../api/contracts.ts";
import type { Catalogue, ResourceInfo } from "../../../api/catalogue.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { parseApiVersion } from "../../../api/object.ts";
import {
  type AdmissionPlugin,
  type AdmissionSettings,
  type AdmissionSurroundings,
  builtInPlugins,
  createParamPermission,
  MatchConditionMetrics,
  OFF_BY_DEFAULT,
  orderedAdmissionPlugins,
  PodSecurityMetrics,
  PolicyMetrics,
  type Registry,
  registryParams,
  type WebhookClients,
} from "../../../apiserver-lite/index.ts";
import { parseKubeconfig } from "../../../client/kubeconfig.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import type { Transport } from "../../../client/transport.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readOptionFile } from "../option-files.ts";
import type {
  ImagePolicyConfig,
  PluginConfigs,
} from "./admission-plugin-configs.ts";
import { readAdmissionConfig } from "./admission-config.ts";
import { WebhookAdmission } from "./webhook-admission.ts";

type ServerTransport = Pick<Transport, "request">;

interface Served {
  readonly catalogue: Catalogue;
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

export class AdmissionPart {
  #transport: ServerTransport | undefined;
  readonly #policyMetrics: PolicyMetrics;
  readonly #podSecurityMetrics = new PodSecurityMetrics();

  private constructor(
    private readonly values: OptionValues,
    private readonly served: Served,
    private readonly secure: boolean,
    private readonly configs: PluginConfigs,
    private readonly images: JsonWebhook | undefined,
    private readonly webhooks: WebhookAdmission,
    conditions: MatchConditionMetrics,
  ) {
    this.#policyMetrics = new PolicyMetrics(conditions);
  }

  /**
   * Reads the plug-ins' configuration. Throws UsageError for what is wrong with it.
   * @param secure whether plug-ins that a secure cluster needs (NodeRestriction) are on by default
   */
  static async create(
    values: OptionValues,
    served: Served,
    secure: boolean,
    dial?: Dial,
  ): Promise<AdmissionPart> {
    const configs = await readAdmissionConfig(values, builtInPlugins);
    const enabled = values.list("enable-admission-plugins");
    const need = (name: string, config: unknown, why: string): void => {
      if (enabled.includes(name) && !config)
        throw new UsageError(
          `failed to initialize admission: couldn't init admission plugin "${name}": ${why}`,
        );
    };
    need(
      "EventRateLimit",
      configs.eventLimits,
      "limits: Invalid value: []: must not be empty",
    );
    need("ImagePolicyWebhook", configs.imagePolicy, "no config specified");
    const images =
      configs.imagePolicy && (await imageWebhook(configs.imagePolicy, dial));
    const conditions = new MatchConditionMetrics();
    const webhooks = await WebhookAdmission.create(configs, conditions);
    return new AdmissionPart(
      ...([values, served, secure] as const),
      ...([configs, images, webhooks, conditions] as const),
    );
  }

  plugins(
    authorizer: Authorizer,
    server: Parameters<WebhookAdmission["parts"]>[0] & {
      readonly state: Registry;
    },
  ): readonly AdmissionPlugin[] {
    const { values, secure } = this;
    const { catalogue, featureGates = {} } = this.served;
    const surroundings: AdmissionSurroundings = {
      authorizer,
      webhooks: this.webhooks.parts(server),
      policies: {
        state: server.state,
        params: registryParams(server.state),
        metrics: this.#policyMetrics,
        mutating:
          featureGates["MutatingAdmissionPolicy"] === true &&
          catalogue.resource(
            "admissionregistration.k8s.io",
            "v1alpha1",
            "mutatingadmissionpolicies",
          ) !== undefined,
      },
      resourcesOf: (apiVersion, kind) =>
        resourcesOf(catalogue, apiVersion, kind),
      makeNamespace: (name) => makeNamespace(this.#transport, name),
    };
    const settings = settingsOf(this.configs, this.images);
    const all = orderedAdmissionPlugins(surroundings, {
      ...settings,
      restrictsTokenAudiences:
        featureGates["ServiceAccountNodeAudienceRestriction"] === true,
      podSecurity: {
        ...settings.podSecurity,
        metrics: this.#podSecurityMetrics,
      },
      tolerationSeconds: {
        notReady: values.number("default-not-ready-toleration-seconds"),
        unreachable: values.number("default-unreachable-toleration-seconds"),
      },
    });
    const { enabled, disabled } = chosenNames(values);
    const isOn = (name: string): boolean =>
      enabled.has(name) ||
      !OFF_BY_DEFAULT.has(name) ||
      (secure && name === "NodeRestriction");
    const chosen = all.filter(
      ({ name }) =>
        !disabled.has(name) &&
        isOn(name) &&
        (name !== "ClusterTrustBundleAttest" ||
          featureGates["ClusterTrustBundle"]),
    );
    const { resourcesOf: find } = surroundings;
    return [...chosen, createParamPermission(authorizer, find)];
  }

  /** For webhooks that are no admission webhooks. */
  webhookClients(
    server: Parameters<WebhookAdmission["plainClients"]>[0],
  ): WebhookClients {
    return this.webhooks.plainClients(server);
  }

  /** The metrics of plug-ins, after others. */
  families(others?: () => readonly Family[]): readonly Family[] {
    return [
      ...(others?.() ?? []),
      ...this.webhooks.families(),
      ...this.#policyMetrics.families(),
      ...this.#podSecurityMetrics.families(),
    ];
  }

  async close(): Promise<void> {
    this.webhooks.close();
    await this.images?.close();
  }

  /** From now on plug-ins may write as the server itself. */
  connect(transport: ServerTransport): void {
    this.#transport = transport;
  }
}

const webhookTimeoutMs = 30_000;

async function imageWebhook(
  { kubeConfigFile }: ImagePolicyConfig,
  dial: Dial | undefined,
): Promise<JsonWebhook> {
  const text = readOptionFile("admission-control-config-file", kubeConfigFile);
  try {
    return new JsonWebhook(
      await parseKubeconfig(text, path.dirname(kubeConfigFile)),
      { timeoutMs: webhookTimeoutMs, dial },
    );
  } catch (error) {
    throw new UsageError(`${kubeConfigFile}: ${(error as Error).message}`);
  }
}

function settingsOf(
  { imagePolicy, ...configs }: PluginConfigs,
  images: JsonWebhook | undefined,
): AdmissionSettings {
  if (!imagePolicy || !images) return configs;
  const post = (body: string): Promise<string> => images.post(body);
  return { ...configs, imagePolicy: { ...imagePolicy, post } };
}

function chosenNames(values: OptionValues): {
  enabled: ReadonlySet<string>;
  disabled: ReadonlySet<string>;
} {
  const known = new Set(builtInPlugins);
  const enabled = new Set(values.list("enable-admission-plugins"));
  const disabled = new Set(values.list("disable-admission-plugins"));
  for (const [option, names] of [
    ["enable-admission-plugins", enabled],
    ["disable-admission-plugins", disabled],
  ] as const) {
    for (const name of names)
      if (!known.has(name))
        throw new UsageError(
          `invalid argument "${name}" for "--${option}": there is no such admission plugin`,
        );
  }
  for (const name of enabled)
    if (disabled.has(name))
      throw new UsageError(
        `admission plugin ${name} is both enabled and disabled`,
      );
  return { enabled, disabled };
}

/** As the server itself, once it has a transport of its own. */
async function makeNamespace(
  transport: ServerTransport | undefined,
  name: string,
): Promise<void> {
  if (!transport) throw new Error("not yet ready to handle request");
  await transport.request({
    verb: "create",
    resource: { group: "", version: "v1", resource: "namespaces" },
    body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  });
}

function resourcesOf(
  catalogue: Catalogue,
  apiVersion: string,
  kind: string,
): readonly ResourceInfo[] {
  const { group, version } = parseApiVersion(apiVersion);
  const found = catalogue.kind(group, version, kind);
  return found ? [found] : [];
}
