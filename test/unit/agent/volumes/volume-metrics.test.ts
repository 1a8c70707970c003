// Volumes by plug-in: wanted from when one is to be mounted, there once it is, gone with the pod.
import { metricsText } from "../../../../api/metrics/family.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { VolumeMetrics } from "../../../../agent/volumes/volume-metrics.ts";
import type { VolumePlugin } from "../../../../agent/volumes/volume-plugin.ts";

const pod: Pod = {
  metadata: { name: "p", uid: "u" },
  spec: { containers: [] },
};

test("mounts are counted, failed ones too, until the pod is gone", async () => {
  const metrics = new VolumeMetrics();
  let fails = true;
  const plugin = (field: VolumePlugin["field"]): VolumePlugin =>
    metrics.observe({
      field,
      serves: ["pod"],
      mount: () =>
        fails
          ? Promise.reject(new Error("no"))
          : Promise.resolve({ path: "/x", readOnly: false }),
    });
  const empty = plugin("emptyDir");
  const request = { pod, name: "v", source: { emptyDir: {} } };
  await expect(empty.mount(request)).rejects.toThrow("no");
  const shown = (): string => metricsText(metrics.families());
  expect(shown()).toContain(
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 0\n',
  );
  fails = false;
  await empty.mount(request);
  const csi = { driver: "example.com/d" };
  await plugin("csi").mount({ pod, name: "w", source: { csi } });
  for (const line of [
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 1',
    'volume_manager_total_volumes{plugin_name="kubernetes.io/csi:example.com/d",state="actual_state_of_world"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_mount",status="fail-unknown",volume_plugin="kubernetes.io/empty-dir"} 1',
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_mount",status="success",volume_plugin="kubernetes.io/empty-dir"} 1',
  ])
    expect(shown()).toContain(`${line}\n`);
  metrics.forget("u");
  expect(shown()).not.toContain("volume_manager_total_volumes{");
});
