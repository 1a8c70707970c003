// The running cluster, as its API server has it: asked once, by an administrator's kubeconfig. What may not be read is
// said, and the rest is looked at.
import { X509Certificate } from "node:crypto";
import type { Clock } from "../../../api/clock.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import type { SelfSubjectReview } from "../../../api/types/authentication-v1.ts";
import type { Client, ResourceRef } from "../../../client/client.ts";
import {
  apiServices,
  certificateSigningRequests,
  customResourceDefinitions,
  endpointSlices,
  leases,
  mutatingWebhookConfigurations,
  namespaces,
  nodes,
  pods,
  selfSubjectReviews,
  services,
  validatingWebhookConfigurations,
} from "../../../client/resources.ts";
import { failed, ok, warning, type Finding } from "../finding.ts";
import { dnsFinding } from "./dns-check.ts";
import {
  apiServiceFindings,
  definitionFindings,
  ServiceTargets,
  webhookFindings,
} from "./extension-checks.ts";
import { clockFindings, nodeFindings } from "./node-checks.ts";
import { namespaceFindings, podFindings } from "./pod-checks.ts";
import { age, several, short } from "./several.ts";

interface ClusterOptions {
  readonly client: Client;
  /** As the kubeconfig says. */
  readonly server: string;
  readonly domain: string;
  readonly clock: Clock;
}

/** Its owner has renewed it long before. */
const soonMs = 30 * 86_400_000;
/** Requests that a controller approves take seconds. */
const unapprovedMs = 600_000;

/** @param pem the kubeconfig's, undefined: it has none */
export function credentialFinding(
  pem: string | undefined,
  file: string,
  nowMs: number,
): Finding[] {
  if (pem === undefined) return [];
  const name = `certificate in ${file}`;
  const remedy =
    "start the server, which writes a new one, or ask the cluster's administrator for one";
  try {
    const until = Date.parse(new X509Certificate(pem).validTo);
    const found = `valid until ${new Date(until).toISOString().slice(0, 10)}`;
    if (until <= nowMs) return [failed(name, found, remedy)];
    return [
      until - nowMs < soonMs ? warning(name, found, remedy) : ok(name, found),
    ];
  } catch (error) {
    return [failed(name, `unreadable: ${(error as Error).message}`, remedy)];
  }
}

function requestFindings(
  requests: readonly CertificateSigningRequest[],
  nowMs: number,
): Finding[] {
  const findings = requests.flatMap(({ metadata, spec, status }): Finding[] => {
    const oldMs = nowMs - Date.parse(metadata.creationTimestamp ?? "");
    if ((status?.conditions ?? []).length > 0 || !(oldMs > unapprovedMs))
      return [];
    return [
      warning(
        `certificate request ${metadata.name}`,
        short(
          `of ${spec.username ?? ""} for ${spec.signerName} waits since ${age(oldMs)}`,
        ),
        `kubectl certificate approve ${metadata.name}, or deny it`,
      ),
    ];
  });
  return several(
    "certificate requests",
    findings,
    "none waits",
    "kubectl get csr",
  );
}

export async function clusterFindings({
  client,
  server,
  domain,
  clock,
}: ClusterOptions): Promise<Finding[]> {
  const name = "API server";
  let ready: string;
  try {
    const { body } = await client.raw("GET", "/readyz?verbose");
    ready = String(body);
  } catch (error) {
    return [
      failed(
        name,
        short(`${server} is not ready: ${(error as Error).message}`),
        "read the server's log; kubectl get --raw '/readyz?verbose' names the checks",
      ),
    ];
  }
  const findings = [
    ok(name, `${server} is ready (${ready.split("\n[+]").length} checks)`),
  ];
  const unread: string[] = [];
  const list = async <T extends KubeObject>(
    ref: ResourceRef<T>,
    namespace?: string,
  ): Promise<readonly T[] | undefined> => {
    try {
      const { items } = await client
        .resource(ref)
        .list(namespace === undefined ? {} : { namespace });
      return items;
    } catch (error) {
      unread.push(`${ref.resource}: ${(error as Error).message}`);
      return undefined;
    }
  };
  const look = <T>(
    found: readonly T[] | undefined,
    check: (items: readonly T[]) => Finding[],
  ): void => {
    if (found) findings.push(...check(found));
  };

  look(await list(nodes), nodeFindings);
  const renewed = await list(leases, "kube-node-lease");
  const serverTime = await timeOf(client);
  look(renewed, (items) => clockFindings(items, serverTime, clock.now()));
  look(await list(pods), (items) => podFindings(items, clock.now()));
  look(await list(namespaces), (items) =>
    namespaceFindings(items, clock.now()),
  );
  look(await list(apiServices), apiServiceFindings);
  const [all, slices] = [await list(services), await list(endpointSlices)];
  if (all && slices) {
    const targets = new ServiceTargets(all, slices);
    const validating = await list(validatingWebhookConfigurations);
    const mutating = await list(mutatingWebhookConfigurations);
    const configurations = [
      ...(validating ?? []).map((each) => ({
        each,
        kind: "validating" as const,
      })),
      ...(mutating ?? []).map((each) => ({ each, kind: "mutating" as const })),
    ].map(({ each, kind }) => ({
      kind,
      name: each.metadata.name,
      webhooks: each.webhooks ?? [],
    }));
    findings.push(...webhookFindings(configurations, targets, clock.now()));
    look(await list(customResourceDefinitions), (items) =>
      definitionFindings(items, targets, clock.now()),
    );
    const addresses = (namespace: string, wanted: string): string[] =>
      all.find(
        ({ metadata }) =>
          metadata.namespace === namespace && metadata.name === wanted,
      )?.spec?.clusterIPs ?? [];
    findings.push(
      await dnsFinding(
        addresses("kube-system", "kube-dns")[0],
        domain,
        addresses("default", "kubernetes"),
      ),
    );
  }
  look(await list(certificateSigningRequests), (items) =>
    requestFindings(items, clock.now()),
  );
  return [
    ...findings,
    ...unread.map((what) =>
      warning(
        "not looked at",
        short(what),
        "give --kubeconfig of an administrator",
      ),
    ),
  ];
}

/** The API server's clock, to the second; undefined where it does not say. */
async function timeOf(client: Client): Promise<string | undefined> {
  const review: SelfSubjectReview = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
    metadata: { name: "" },
  };
  return await client
    .resource(selfSubjectReviews)
    .create(review)
    .then(
      ({ metadata }) => metadata.creationTimestamp,
      () => undefined,
    );
}
