// What the scenarios of patches share: media types, what is kept of an answer, and a Deployment to patch.
import type { CallOptions, Server } from "../scenario.ts";
import type { Json } from "../normalise.ts";

export const mediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

export type Format = keyof typeof mediaTypes;

/** Messages that show the whole patched object do it in an order of their own. */
const brief = (text: string): string =>
  text?.replace(
    /(Invalid value: )"\{(?:[^"\\]|\\.)*\}"/g,
    '$1"<the patched object>"',
  );

function refusal({ code, message, reason, details }: Json): unknown {
  return {
    code,
    message: brief(message),
    reason,
    details: details && {
      ...details,
      ...(details.causes && {
        // Conflicts of several managers are told in any order.
        causes: (details.causes as Json[])
          .map((cause) => ({ ...cause, message: brief(cause.message) }))
          .sort((a, b) =>
            a.reason === "FieldManagerConflict"
              ? JSON.stringify(a).localeCompare(JSON.stringify(b))
              : 0,
          ),
      }),
    },
  };
}

/** A refusal's message, reason and details; of an object what `part` takes from it. */
export const keeping =
  (part: (object: Json) => unknown) =>
  (body: Json): unknown =>
    body?.kind === "Status" ? refusal(body) : part(body);

/** Who owns what, by name: the order in a second is another when a second ends in between. */
export const managedFields = keeping((object) =>
  (object?.metadata?.managedFields as Json[] | undefined)
    ?.map(({ time, ...entry }) => ({ ...entry, timed: time !== undefined }))
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b))),
);

const orderOf = ({ operation, manager, subresource }: Json): string =>
  `${operation} ${manager} ${subresource}`;

/** Sends a patch; `content` is an object, or the text itself. */
export function send(
  { call }: Server,
  label: string,
  format: Format,
  path: string,
  content: unknown,
  options: CallOptions = {},
) {
  return call(label, "PATCH", path, {
    ...options,
    body: typeof content === "string" ? content : JSON.stringify(content),
    headers: { "content-type": mediaTypes[format], ...options.headers },
  });
}

export const container = (name: string, more: object = {}) => ({
  name,
  image: `${name}:1`,
  ...more,
});

/** With most kinds of lists that strategic merge and apply tell apart. */
export const deployment = (name: string) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: {
    name,
    labels: { app: "a", tier: "b" },
    finalizers: ["example.com/a", "example.com/b"],
  },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "a" } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } },
    template: {
      metadata: { labels: { app: "a" } },
      spec: {
        containers: [
          container("one", {
            args: ["x", "y"],
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
            ],
            ports: [
              { containerPort: 80, protocol: "TCP", name: "http" },
              { containerPort: 53, protocol: "UDP", name: "dns" },
            ],
            volumeMounts: [{ name: "v1", mountPath: "/one" }],
          }),
          container("two"),
        ],
        volumes: [
          { name: "v1", emptyDir: {} },
          { name: "v2", configMap: { name: "c" } },
        ],
        tolerations: [{ key: "k", operator: "Exists" }],
        hostAliases: [{ ip: "10.0.0.1", hostnames: ["h"] }],
        imagePullSecrets: [{ name: "s" }],
      },
    },
  },
});
