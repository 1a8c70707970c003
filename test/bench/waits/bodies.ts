// Writes of large bodies: objects just below the limit of what is stored, in the forms that clients send.
import { Connection, type Target } from "../support/connection.ts";
import type { ClientProcess, Reading } from "./client-process.ts";

interface BodyScenario {
  readonly name: string;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const times = 10;

const configMap = (name: string, data: Record<string, string>): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

/** Many keys: each is a field that somebody owns. */
const keys = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`key-${at}`, `value ${at}`]),
  );

const pod = (name: string, containers: number): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    schedulerName: "none",
    terminationGracePeriodSeconds: 0,
    containers: Array.from({ length: containers }, (_, at) => ({
      name: `container-${at}`,
      image: "registry.example.com/team/app:v1.2.3",
      env: Array.from({ length: 8 }, (__, index) => ({
        name: `NAME_${index}`,
        value: `value ${index} of ${at}`,
      })),
      resources: { requests: { cpu: "1m", memory: "1Mi" } },
    })),
  },
});

/** The same as a YAML document in block style. */
function yamlOf(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null)
    return ` ${JSON.stringify(value)}\n`;
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return `\n${value
      .map((item) => `${indent}-${yamlOf(item, inner).replace(/^\n\s+/, " ")}`)
      .join("")}`;
  return `\n${Object.entries(value)
    .map(([key, item]) => `${indent}${key}:${yamlOf(item, inner)}`)
    .join("")}`;
}

const json = "application/json";

/** In this order: what is patched was created before. */
function scenarios(namespace: string): readonly BodyScenario[] {
  const base = `/api/v1/namespaces/${namespace}`;
  const post = (
    name: string,
    resource: string,
    object: object,
    type = json,
  ): BodyScenario => ({
    name,
    method: "POST",
    path: `${base}/${resource}`,
    type,
    body: type === json ? JSON.stringify(object) : yamlOf(object).trimStart(),
  });
  const applied = configMap("applied-NUMBER", keys(12_000));
  return [
    post(
      "create configmap 1 MB",
      "configmaps",
      configMap("large-NUMBER", { payload: "x".repeat(1_000_000) }),
    ),
    post(
      "create configmap, 12,000 keys",
      "configmaps",
      configMap("keys-NUMBER", keys(12_000)),
    ),
    post("create pod, 500 containers", "pods", pod("large-NUMBER", 500)),
    post("… as YAML", "pods", pod("yaml-NUMBER", 500), "application/yaml"),
    {
      name: "strategic patch of that pod",
      method: "PATCH",
      path: `${base}/pods/large-NUMBER`,
      type: "application/strategic-merge-patch+json",
      body: JSON.stringify({ metadata: { labels: { turn: "NUMBER" } } }),
    },
    {
      name: "apply configmap, 12,000 keys",
      method: "PATCH",
      path: `${base}/configmaps/applied-NUMBER?fieldManager=bench`,
      type: "application/apply-patch+yaml",
      body: JSON.stringify(applied),
    },
  ];
}

type Measure = (
  name: string,
  work: () => Promise<readonly Reading[]>,
) => Promise<void>;

/** Each write several times, one after the other. */
export async function measureBodies(
  clients: ClientProcess,
  namespace: string,
  wanted: RegExp,
  measure: Measure,
): Promise<void> {
  for (const { name } of scenarios(namespace))
    if (wanted.test(`bodies: ${name}`))
      await measure(`bodies: ${name}`, () =>
        clients.write({ namespace, scenario: name }),
      );
}

/** In the clients' process: encoding and sealing a megabyte would make the prober wait for itself. */
export async function writeBodies(
  target: Target,
  namespace: string,
  scenario: string,
): Promise<Reading[]> {
  const found = scenarios(namespace).find(({ name }) => name === scenario);
  if (!found) throw new Error(`no such scenario: ${scenario}`);
  const { method, path, type, body } = found;
  const connection = new Connection(target);
  const readings: Reading[] = [];
  for (let turn = 0; turn < times; turn++) {
    const startMs = performance.now();
    const numbered = (text: string): string =>
      text.replaceAll("NUMBER", String(turn));
    const answer = await connection.request(
      method,
      numbered(path),
      numbered(body),
      { Accept: json, "Content-Type": type },
    );
    const good = answer.status < 300 ? 200 : answer.status;
    const ms = performance.now() - startMs;
    readings.push({ status: good, bytes: answer.bytes, ms });
  }
  connection.close();
  return readings;
}
