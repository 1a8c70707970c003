// The proxy's metrics: a change of endpoints is measured once, by the transaction made after it that succeeded.
import { metricsText } from "../../../../api/metrics/family.ts";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import { ProxyMetrics } from "../../../../network/proxy/proxy-metrics.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const startMs = Date.parse("2026-01-01T00:00:00Z");
let clock: FakeClock;
let metrics: ProxyMetrics;

beforeEach(() => {
  clock = new FakeClock(startMs);
  metrics = new ProxyMetrics(clock);
});

function slice(
  changedMs: number | string | undefined,
  addressType = "IPv4",
): EndpointSlice {
  const time =
    typeof changedMs === "number"
      ? new Date(changedMs).toISOString()
      : changedMs;
  return {
    metadata: {
      name: "s",
      namespace: "shop",
      ...(time === undefined
        ? {}
        : {
            annotations: {
              "endpoints.kubernetes.io/last-change-trigger-time": time,
            },
          }),
    },
    addressType,
    endpoints: [],
  };
}

/** Name and labels to value, of the lines that begin so. */
function shown(start: string): string[] {
  return metricsText(metrics.families())
    .split("\n")
    .filter((line) => line.startsWith(`kubeproxy_${start}`));
}

const programmed = () =>
  shown("network_programming_duration_seconds_count").map(
    (line) => line.split(" ")[1],
  );

test("transactions, failures and changes are counted", async () => {
  metrics.serviceChanged();
  metrics.endpointsChanged(undefined, slice(undefined));
  metrics.endpointsChanged(slice(undefined));
  await clock.advanceAsync(2000);
  metrics.queued();
  metrics.began(4);
  metrics.ended(4, 3, false);
  metrics.began(6);
  metrics.ended(6, 500, true);
  expect(shown("sync_proxy_rules_service")).toEqual([
    "kubeproxy_sync_proxy_rules_service_changes_total 1",
  ]);
  expect(shown("sync_proxy_rules_endpoint")).toEqual([
    "kubeproxy_sync_proxy_rules_endpoint_changes_total 2",
  ]);
  expect(shown("sync_proxy_rules_nftables")).toEqual([
    "kubeproxy_sync_proxy_rules_nftables_sync_failures_total 1",
  ]);
  const at = startMs / 1000 + 2;
  expect(shown("sync_proxy_rules_last")).toEqual([
    `kubeproxy_sync_proxy_rules_last_timestamp_seconds ${at}`,
    `kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds ${at}`,
  ]);
  expect(shown("sync_proxy_rules_duration_seconds")).toEqual(
    expect.arrayContaining([
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.002"} 0',
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.004"} 1',
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.512"} 2',
      "kubeproxy_sync_proxy_rules_duration_seconds_sum 0.503",
    ]),
  );
});

test("a change is measured by the first transaction that has it and succeeds", async () => {
  metrics.began(4);
  metrics.endpointsChanged(undefined, slice(startMs));
  await clock.advanceAsync(700);
  metrics.ended(4, 1, false);
  // Seen, and not in the rules yet.
  metrics.began(4);
  metrics.ended(4, 1, false);
  expect(programmed()).toEqual(["0"]);
  metrics.queued();
  metrics.began(4);
  metrics.ended(4, 1, true);
  metrics.began(6);
  metrics.ended(6, 1, false);
  expect(programmed()).toEqual(["0"]);
  await clock.advanceAsync(800);
  metrics.began(4);
  metrics.ended(4, 1, false);
  metrics.began(4);
  metrics.ended(4, 1, false);
  expect(programmed()).toEqual(["1"]);
  expect(shown("network_programming_duration_seconds_sum")).toEqual([
    "kubeproxy_network_programming_duration_seconds_sum 1.5",
  ]);
});

test("times that were there before, are older than the program, or are none are not measured", () => {
  metrics.endpointsChanged(undefined, slice(startMs - 1));
  metrics.endpointsChanged(slice(startMs + 5), slice(startMs + 5));
  metrics.endpointsChanged(undefined, slice("soon"));
  metrics.endpointsChanged(undefined, slice(undefined));
  metrics.queued();
  metrics.began(4);
  metrics.ended(4, 1, false);
  expect(programmed()).toEqual(["0"]);
});
