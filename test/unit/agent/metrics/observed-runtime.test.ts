// Calls of the runtime are counted and timed under the reference's names; what is not a call is left as it is.
import { RuntimeMetrics } from "../../../../agent/metrics/observed-runtime.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import type { Runtime } from "../../../../cri/runtime.ts";

class Scripted {
  readonly name = "scripted";
  #images = 2;

  async listImages() {
    return Array.from({ length: this.#images }, (_, id) => ({ id }));
  }
  async startContainer(id: string): Promise<void> {
    if (id === "bad") throw new Error("no such container");
  }
  subscribe(): () => void {
    return () => undefined;
  }
}

test("calls are counted with their errors, and answer as before", async () => {
  const metrics = new RuntimeMetrics();
  const runtime = metrics.observe(new Scripted() as unknown as Runtime);
  expect(await runtime.listImages()).toHaveLength(2);
  await runtime.startContainer("good");
  await expect(runtime.startContainer("bad")).rejects.toThrow(
    "no such container",
  );
  expect(runtime.name).toBe("scripted");
  expect(typeof runtime.subscribe(() => undefined)).toBe("function");
  const text = metricsText(metrics.families());
  expect(text).toContain(
    'kubelet_runtime_operations_total{operation_type="list_images"} 1\n',
  );
  expect(text).toContain(
    'kubelet_runtime_operations_total{operation_type="start_container"} 2\n',
  );
  expect(text).toContain(
    'kubelet_runtime_operations_errors_total{operation_type="start_container"} 1\n',
  );
  expect(text).not.toContain(
    'kubelet_runtime_operations_errors_total{operation_type="list_images"}',
  );
  expect(text).toContain(
    'kubelet_runtime_operations_duration_seconds_bucket{operation_type="list_images",le="0.005"}',
  );
});
