// What others' servers add to the API server, each of which can stop a part of it: APIServices, webhooks of admission and of
// conversion, and definitions that are not served.
import { X509Certificate } from "node:crypto";
import { findCondition } from "../../../api/objects/conditions.ts";
import { splitCertificates } from "../../../api/pki/pem.ts";
import type { WebhookClientConfig } from "../../../api/types/admissionregistration-v1.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";
import type { APIService } from "../../../api/types/apiregistration-v1.ts";
import type { Service } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { failed, warning, type Finding } from "../finding.ts";
import { several, short } from "./several.ts";

interface WebhookConfiguration {
  readonly kind: "validating" | "mutating";
  readonly name: string;
  readonly webhooks: readonly {
    name: string;
    clientConfig: WebhookClientConfig;
    failurePolicy?: string;
  }[];
}

/** Where the Services of webhooks lead. */
export class ServiceTargets {
  readonly #services: ReadonlyMap<string, Service>;
  readonly #served = new Set<string>();

  constructor(services: readonly Service[], slices: readonly EndpointSlice[]) {
    this.#services = new Map(
      services.map((each) => [
        `${each.metadata.namespace}/${each.metadata.name}`,
        each,
      ]),
    );
    for (const { metadata, endpoints } of slices)
      if (endpoints?.some(({ conditions }) => conditions?.ready !== false))
        this.#served.add(
          `${metadata.namespace}/${metadata.labels?.["kubernetes.io/service-name"]}`,
        );
  }

  /** Why nothing answers there; undefined: something may. */
  problem(namespace: string, name: string): string | undefined {
    const key = `${namespace}/${name}`;
    const service = this.#services.get(key);
    if (!service) return `its Service ${key} does not exist`;
    if (service.spec?.type === "ExternalName" || this.#served.has(key))
      return undefined;
    return `its Service ${key} has no pod that is ready`;
  }
}

function problemOfClient(
  { service, caBundle }: WebhookClientConfig,
  targets: ServiceTargets,
  nowMs: number,
): string | undefined {
  if (service) {
    const problem = targets.problem(service.namespace, service.name);
    if (problem) return problem;
  }
  if (!caBundle) return undefined;
  try {
    const ends = splitCertificates(
      Buffer.from(caBundle, "base64").toString("utf8"),
    ).map((pem) => Date.parse(new X509Certificate(pem).validTo));
    return ends.length > 0 && ends.every((until) => until <= nowMs)
      ? "the certificates of its caBundle are no longer valid"
      : undefined;
  } catch (error) {
    return `its caBundle can't be read: ${(error as Error).message}`;
  }
}

export function webhookFindings(
  configurations: readonly WebhookConfiguration[],
  targets: ServiceTargets,
  nowMs: number,
): Finding[] {
  const findings = configurations.flatMap(({ kind, name, webhooks }) =>
    webhooks.flatMap((webhook): Finding[] => {
      const problem = problemOfClient(webhook.clientConfig, targets, nowMs);
      if (!problem) return [];
      const refuses = webhook.failurePolicy !== "Ignore";
      return [
        (refuses ? failed : warning)(
          `webhook ${webhook.name}`,
          refuses ? `${problem}, and without it requests are refused` : problem,
          `bring its server up, or kubectl delete ${kind}webhookconfiguration ${name}`,
        ),
      ];
    }),
  );
  return several(
    "webhooks of admission",
    findings,
    String(configurations.flatMap(({ webhooks }) => webhooks).length),
    "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
  );
}

export function apiServiceFindings(services: readonly APIService[]): Finding[] {
  const findings = services.flatMap(({ metadata, status }): Finding[] => {
    const available = findCondition(status?.conditions, "Available");
    if (available?.status === "True") return [];
    const { name } = metadata;
    return [
      failed(
        `APIService ${name}`,
        short(
          available
            ? `${available.reason}: ${available.message ?? ""}`
            : "not looked at yet",
        ),
        `bring its server up, or kubectl delete apiservice ${name}`,
      ),
    ];
  });
  return several(
    "APIServices",
    findings,
    `${services.length} available`,
    "kubectl get apiservices",
  );
}

export function definitionFindings(
  definitions: readonly CustomResourceDefinition[],
  targets: ServiceTargets,
  nowMs: number,
): Finding[] {
  const findings = definitions.flatMap(
    ({ metadata, spec, status }): Finding[] => {
      const { name } = metadata;
      const remedy = `kubectl describe crd ${name}`;
      const client = spec.conversion?.webhook?.clientConfig;
      const problem = client && problemOfClient(client, targets, nowMs);
      const established = findCondition(status?.conditions, "Established");
      const refused = (status?.conditions ?? []).find(
        (condition) =>
          condition.type === "NamesAccepted" && condition.status === "False",
      );
      return [
        ...(established?.status === "True"
          ? []
          : [
              failed(
                `definition ${name}`,
                short(`not served: ${(refused ?? established)?.message ?? ""}`),
                remedy,
              ),
            ]),
        ...(problem ? [failed(`conversion of ${name}`, problem, remedy)] : []),
      ];
    },
  );
  return several(
    "custom resources",
    findings,
    `${definitions.length} definitions served`,
    "kubectl get crds",
  );
}
