// One extender: a program that the scheduler asks over HTTP, by the protocol of the reference (extender/v1). A call ends
// within the extender's time limit; its answer is bounded. Whether a failure matters is for the caller to decide.
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { parseDurationMs } from "../../api/duration.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import {
  JsonWebhook,
  type WebhookConnection,
} from "../../client/webhook/json-webhook.ts";
import { WebhookStatusError } from "../../client/webhook/call-failure.ts";
import type { ExtenderConfiguration } from "../configuration/configuration-types.ts";
import type { NodeInfo } from "../node-info.ts";
import type { PodView } from "../pod-view.ts";
import {
  fieldOf,
  integerOf,
  listOf,
  mapOf,
  textOf,
} from "./extender-answers.ts";

const defaultTimeoutMs = 5_000;
/** All nodes of a large cluster come back. */
const maxAnswerBytes = 64 * 1024 * 1024;

type Tls = NonNullable<WebhookConnection["tls"]>;

/** Reads the files that it names. @throws Error that names the field or the file */
export function extenderTls({
  enableHTTPS,
  tlsConfig = {},
}: ExtenderConfiguration): Tls {
  const pem = (data?: string, file?: string): string | undefined =>
    data
      ? Buffer.from(data, "base64").toString()
      : file
        ? readFileSync(file, "utf8")
        : undefined;
  const { insecure, serverName } = tlsConfig;
  const ca = pem(tlsConfig.caData, tlsConfig.caFile);
  const cert = pem(tlsConfig.certData, tlsConfig.certFile);
  const key = pem(tlsConfig.keyData, tlsConfig.keyFile);
  if (ca && insecure)
    throw new Error(
      "specifying a root certificates file with the insecure flag is not allowed",
    );
  if (!cert !== !key)
    throw new Error(
      "a client certificate and its key have to be given together",
    );
  // An authority without a certificate would otherwise only show in every call.
  if (ca && !ca.includes("-----BEGIN CERTIFICATE-----"))
    throw new Error("the certificate authority holds no certificate");
  if (cert && key) createSecureContext({ cert, key });
  return {
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(serverName ? { serverName } : {}),
    // As in the reference, which does not verify the server where HTTPS is asked for without an authority.
    insecureSkipVerify: insecure === true || (enableHTTPS === true && !ca),
  };
}

interface ExtenderFilterResult {
  readonly feasible: readonly NodeInfo[];
  /** Node name → why. */
  readonly failed: ReadonlyMap<string, string>;
  /** The same, where ending pods would not help. */
  readonly unresolvable: ReadonlyMap<string, string>;
}

/** Pods that would have to leave a node, by the node's name. */
interface ExtenderVictims {
  readonly victims: readonly PodView[];
  readonly budgetViolations: number;
}

export class HttpExtender {
  readonly #configuration: ExtenderConfiguration;
  readonly #webhooks = new Map<string, JsonWebhook>();
  readonly #tls: Tls;
  readonly #managed: ReadonlySet<string>;

  /** @param asking ends calls that decide something; bindings come to their end */
  constructor(
    configuration: ExtenderConfiguration,
    private readonly asking: AbortSignal,
  ) {
    this.#configuration = configuration;
    this.#tls = extenderTls(configuration);
    this.#managed = new Set(
      configuration.managedResources?.map(({ name }) => name),
    );
  }

  get name(): string {
    return this.#configuration.urlPrefix;
  }
  get ignorable(): boolean {
    return this.#configuration.ignorable ?? false;
  }
  get filters(): boolean {
    return Boolean(this.#configuration.filterVerb);
  }
  get prioritizes(): boolean {
    return Boolean(this.#configuration.prioritizeVerb);
  }
  get preempts(): boolean {
    return Boolean(this.#configuration.preemptVerb);
  }
  get binds(): boolean {
    return Boolean(this.#configuration.bindVerb);
  }
  get weight(): number {
    return this.#configuration.weight ?? 0;
  }

  /** Without resources of its own it looks after all pods. */
  isInterested({ spec }: Pod): boolean {
    if (this.#managed.size === 0) return true;
    return [...spec.containers, ...(spec.initContainers ?? [])].some(
      ({ resources }) =>
        [resources?.requests, resources?.limits].some((list) =>
          Object.keys(list ?? {}).some((name) => this.#managed.has(name)),
        ),
    );
  }

  async filter(
    pod: Pod,
    nodes: readonly NodeInfo[],
  ): Promise<ExtenderFilterResult> {
    const answer = await this.#call(
      this.#configuration.filterVerb ?? "",
      this.#argumentsOf(pod, nodes),
      this.asking,
    );
    const error = textOf(answer, "Error");
    if (error !== "") throw new Error(error);
    const reasons = (field: string): Map<string, string> =>
      new Map(
        mapOf(answer, field).map(([name, why]) => [name, String(why)] as const),
      );
    return {
      feasible: this.#keptNodes(answer, nodes),
      failed: reasons("FailedNodes"),
      unresolvable: reasons("FailedAndUnresolvableNodes"),
    };
  }

  /** Points by the names of nodes, each of 0 to 10. */
  async prioritize(
    pod: Pod,
    nodes: readonly NodeInfo[],
  ): Promise<ReadonlyMap<string, number>> {
    const answer = await this.#call(
      this.#configuration.prioritizeVerb ?? "",
      this.#argumentsOf(pod, nodes),
      this.asking,
    );
    if (answer !== null && !Array.isArray(answer))
      throw new Error("the extender's answer must be a list");
    const points = new Map<string, number>();
    for (const each of (answer ?? []) as unknown[]) {
      const host = textOf(each, "Host");
      points.set(host, (points.get(host) ?? 0) + integerOf(each, "Score"));
    }
    return points;
  }

  /** @param nodes where ending the victims would make room; the result has what the extender leaves of them */
  async preempt(
    pod: Pod,
    nodes: ReadonlyMap<string, ExtenderVictims & { readonly node: NodeInfo }>,
  ): Promise<ReadonlyMap<string, ExtenderVictims>> {
    const { nodeCacheCapable, preemptVerb = "" } = this.#configuration;
    const shown = Object.fromEntries(
      [...nodes].map(([name, { victims, budgetViolations }]) => [
        name,
        {
          Pods: victims.map((victim) =>
            nodeCacheCapable
              ? { UID: victim.pod.metadata.uid ?? "" }
              : victim.pod,
          ),
          NumPDBViolations: budgetViolations,
        },
      ]),
    );
    const answer = await this.#call(
      preemptVerb,
      {
        Pod: pod,
        NodeNameToVictims: nodeCacheCapable ? null : shown,
        NodeNameToMetaVictims: nodeCacheCapable ? shown : null,
      },
      this.asking,
    );
    const kept = new Map<string, ExtenderVictims>();
    for (const [name, victims] of mapOf(answer, "NodeNameToMetaVictims")) {
      const node = nodes.get(name)?.node;
      if (!node)
        throw new Error(
          `extender ${JSON.stringify(this.name)} wants to preempt on node ${JSON.stringify(name)} which is not among the candidates`,
        );
      const onNode = new Map(
        [...node.pods.values()].map((view) => [view.pod.metadata.uid, view]),
      );
      kept.set(name, {
        victims: (listOf(victims, "Pods") ?? []).map((each) => {
          const uid = textOf(each, "UID");
          const view = onNode.get(uid);
          if (view) return view;
          throw new Error(
            `extender: ${this.name} claims to preempt pod (UID: ${uid}) on node: ${name}, but the pod is not found on that node`,
          );
        }),
        budgetViolations: integerOf(victims, "NumPDBViolations"),
      });
    }
    return kept;
  }

  async bind({ metadata }: Pod, nodeName: string): Promise<void> {
    const answer = await this.#call(this.#configuration.bindVerb ?? "", {
      PodName: metadata.name,
      PodNamespace: metadata.namespace,
      PodUID: metadata.uid,
      Node: nodeName,
    });
    const error = textOf(answer, "Error");
    if (error !== "") throw new Error(error);
  }

  async close(): Promise<void> {
    for (const webhook of this.#webhooks.values()) await webhook.close();
  }

  #argumentsOf(pod: Pod, nodes: readonly NodeInfo[]): object {
    const { nodeCacheCapable } = this.#configuration;
    return {
      Pod: pod,
      Nodes: nodeCacheCapable
        ? null
        : { metadata: {}, items: nodes.map(({ node }) => node) },
      NodeNames: nodeCacheCapable ? nodes.map(({ name }) => name) : null,
    };
  }

  #keptNodes(answer: unknown, nodes: readonly NodeInfo[]): NodeInfo[] {
    const names = this.#configuration.nodeCacheCapable
      ? listOf(answer, "NodeNames")
      : undefined;
    const items =
      names ??
      (listOf(fieldOf(answer, "Nodes"), "items") ?? []).map((node) =>
        textOf(fieldOf(node, "metadata"), "name"),
      );
    const known = new Map(nodes.map((node) => [node.name, node]));
    return items.map((name) => {
      const node = known.get(String(name));
      if (node) return node;
      throw new Error(
        `extender ${JSON.stringify(this.name)} claims a filtered node ${JSON.stringify(name)} which is not found in the input node list`,
      );
    });
  }

  async #call(
    verb: string,
    args: object,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const url = `${this.name.replace(/\/$/, "")}/${verb}`;
    let webhook = this.#webhooks.get(verb);
    if (!webhook) {
      const { httpTimeout } = this.#configuration;
      webhook = new JsonWebhook(
        { server: url, tls: this.#tls },
        {
          timeoutMs: parseDurationMs(httpTimeout || "0") || defaultTimeoutMs,
          sendsTimeout: false,
        },
      );
      this.#webhooks.set(verb, webhook);
    }
    let bytes: Buffer;
    try {
      bytes = await webhook.postForBytes(JSON.stringify(args), {
        maxAnswerBytes,
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (!(error instanceof WebhookStatusError)) throw error;
      throw new Error(
        `failed ${verb} with extender at URL ${url}, code ${error.status.code}`,
        { cause: error },
      );
    }
    return JSON.parse(bytes.toString()) as unknown;
  }
}
