// Variables from keys that every object has: they are there only when a user wrote them.
import { containerEnvironment } from "../../../agent/pods/start/environment.ts";
import type { EnvVarSource } from "../../../api/types/core-v1.ts";

const valueFrom = async (source: EnvVarSource): Promise<unknown> => {
  const { variables } = await containerEnvironment(
    {
      metadata: { name: "p" },
      spec: { containers: [], enableServiceLinks: false },
    },
    { name: "c", env: [{ name: "X", valueFrom: source }] },
    {
      configMap: () => Promise.resolve({ metadata: { name: "m" }, data: {} }),
      secret: () => Promise.resolve({ metadata: { name: "s" }, data: {} }),
      services: () => [],
      nodeResources: () => ({
        cpuMillis: 0,
        memoryBytes: 0,
        ephemeralStorageBytes: 0,
      }),
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
