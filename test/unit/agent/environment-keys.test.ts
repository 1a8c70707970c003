// Variables from keys that every object has: they are there only when a user wrote them.
import { containerEnvironment } from "../../../agent/pods/start/environment.ts";
import type {
  Container,
  EnvVarSource,
  Service,
} from "../../../api/types/core-v1.ts";

const nodeResources = () => ({
  cpuMillis: 0,
  memoryBytes: 0,
  ephemeralStorageBytes: 0,
});

const valueFrom = async (source: EnvVarSource): Promise<unknown> => {
  const variables = await containerEnvironment(
    {
      metadata: { name: "p" },
      spec: { containers: [], enableServiceLinks: false },
    },
    { name: "c", env: [{ name: "X", valueFrom: source }] },
    {
      configMap: () => Promise.resolve({ metadata: { name: "m" }, data: {} }),
      secret: () => Promise.resolve({ metadata: { name: "s" }, data: {} }),
      services: () => [],
      nodeResources,
    },
  );
  return variables.find(({ name }) => name === "X")?.value;
};

test("a key that nobody wrote is not found", async () => {
  const key = "constructor";
  await expect(
    valueFrom({ configMapKeyRef: { name: "m", key } }),
  ).rejects.toThrow("couldn't find key constructor in ConfigMap default/m");
  await expect(valueFrom({ secretKeyRef: { name: "s", key } })).rejects.toThrow(
    "couldn't find key constructor in Secret default/s",
  );
  expect(
    await valueFrom({ configMapKeyRef: { name: "m", key, optional: true } }),
  ).toBeUndefined();
});

const environment = async (
  container: Partial<Container>,
  data: Record<string, string>,
  services: Record<string, Service[]> = {},
): Promise<Record<string, string>> => {
  const variables = await containerEnvironment(
    { metadata: { name: "p", namespace: "ns" }, spec: { containers: [] } },
    { name: "c", ...container },
    {
      configMap: () => Promise.resolve({ metadata: { name: "m" }, data }),
      secret: () => Promise.resolve(undefined),
      services: (namespace) => services[namespace] ?? [],
      nodeResources,
    },
  );
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
};

test("all keys of a ConfigMap are variables", async () => {
  const data = { "1password": "a", "log.level": "b", plain: "c" };
  expect(
    await environment({ envFrom: [{ configMapRef: { name: "m" } }] }, data),
  ).toEqual(data);
  expect(
    await environment(
      { envFrom: [{ prefix: "9", configMapRef: { name: "m" } }] },
      { x: "y" },
    ),
  ).toEqual({ "9x": "y" });
});

test("a headless service takes no other's variables away", async () => {
  const service = (clusterIP: string): Service => ({
    metadata: { name: "kubernetes" },
    spec: { clusterIP, ports: [{ port: 443 }] },
  });
  const host = async (own: string): Promise<string | undefined> =>
    (
      await environment(
        {},
        {},
        {
          default: [service("10.0.0.1")],
          ns: [service(own)],
        },
      )
    )["KUBERNETES_SERVICE_HOST"];
  expect(await host("None")).toBe("10.0.0.1");
  expect(await host("10.0.0.9")).toBe("10.0.0.9");
});
