// Admission webhooks of tests: a server whose paths answer reviews, configurations of them, and an API server that calls
// them.
import pino from "pino";
import { systemClock } from "../../api/clock.ts";
import { MutatingWebhooks } from "../../apiserver-lite/admission/webhook/mutating.ts";
import { WebhookMetrics } from "../../apiserver-lite/admission/webhook/metrics.ts";
import { ValidatingWebhooks } from "../../apiserver-lite/admission/webhook/validating.ts";
import type { ApiServerOptions } from "../../apiserver-lite/server-options.ts";
import { alwaysAllow } from "../../apiserver-lite/authorization/union-authorizer.ts";
import { ProxyHandler } from "../../apiserver-lite/proxy/proxy-handler.ts";
import { WebhookClients } from "../../apiserver-lite/webhook-client/webhook-clients.ts";
import {
  startHttpsServer,
  type Answer,
  type TestHttpsServer,
} from "./https-server.ts";

/** Tests look into reviews freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

/** The review's response without its uid; undefined: it has answered by itself, or never will. */
type Review = (
  request: Json,
  ...raw: Parameters<Answer>
) => object | undefined | Promise<object | undefined>;

export interface WebhookServer {
  readonly https: TestHttpsServer;
  /** Requests of reviews, with their path. */
  readonly seen: { path: string; request: Json; review: Json }[];
  /** What a path answers; default: allowed. */
  readonly on: Record<string, Review>;
  close(): Promise<void>;
}

export async function startWebhookServer(): Promise<WebhookServer> {
  const seen: WebhookServer["seen"] = [];
  const on: WebhookServer["on"] = {};
  const https = await startHttpsServer(async (body, message, response) => {
    const review = JSON.parse(body) as Json;
    const path = message.url!.split("?")[0]!;
    seen.push({ path, request: review.request, review });
    const answer = on[path]
      ? await on[path](review.request, body, message, response)
      : { allowed: true };
    return (
      answer && {
        kind: "AdmissionReview",
        apiVersion: review.apiVersion,
        response: { uid: review.request.uid, ...answer },
      }
    );
  });
  return { https, seen, on, close: () => https.close() };
}

/** A response that patches. */
export const patching = (...operations: object[]): object => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

/** A configuration of webhooks at paths of the server, for config maps unless they say otherwise. */
export function configuration(
  kind: "Mutating" | "Validating",
  name: string,
  { https }: WebhookServer,
  webhooks: Record<string, object>,
): object {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: Object.entries(webhooks).map(([path, more]) => ({
      name: `${path.slice(1)}.example.com`,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: {
        url: `${https.url}${path}`,
        caBundle: https.caBundle,
      },
      rules: [
        {
          apiGroups: [""],
          apiVersions: ["v1"],
          operations: ["*"],
          resources: ["configmaps"],
        },
      ],
      ...more,
    })),
  };
}

const group = "/apis/admissionregistration.k8s.io/v1";
export const mutating = `${group}/mutatingwebhookconfigurations`;
export const validating = `${group}/validatingwebhookconfigurations`;

/** Options of an API server with both plug-ins and no other. */
export function withWebhooks(
  more: Partial<ApiServerOptions> = {},
): Partial<ApiServerOptions> & { metrics: WebhookMetrics } {
  const metrics = new WebhookMetrics();
  const { parts } = more;
  return {
    metrics,
    moreMetrics: () => metrics.families(),
    ...more,
    parts(state, loopback) {
      const clients = new WebhookClients({
        ...{ state, clock: systemClock, loopback },
      });
      const surroundings = {
        authorizer: more.parts?.(state, loopback).authorizer ?? alwaysAllow,
        clients,
        metrics,
        clock: systemClock,
        logger: pino({ level: "silent" }),
      };
      const given = parts?.(state, loopback) ?? {};
      const proxy = new ProxyHandler({
        state,
        logger: surroundings.logger,
        clientCertificate: undefined,
        agentAuthority: undefined,
      });
      return {
        connect: proxy,
        ...given,
        admission: [
          ...(given.admission ?? []),
          new MutatingWebhooks(state, surroundings),
          new ValidatingWebhooks(state, surroundings),
        ],
        stop() {
          clients.close();
          proxy.close();
        },
      };
    },
  };
}
