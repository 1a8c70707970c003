// Two managers and two Leases: a controller that is migrated runs in one of them, never in both.
import type { Lease } from "../../../api/types/coordination-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import { leases } from "../../../client/resources.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import type { ControllerManager } from "../../../controllers/manager.ts";
import type { ControllerOptions } from "../../../controllers/options.ts";
import { createLeaderElection } from "../../../client/leader-election/leader-election.ts";
import { systemClock } from "../../../api/clock.ts";
import { passes, silent } from "../../support/control-plane.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const timing = {
  leaderElectLeaseDurationMs: 2_000,
  leaderElectRenewDeadlineMs: 1_500,
  leaderElectRetryPeriodMs: 50,
};

function cluster() {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  stops.push(() => client.close());
  const start = async (
    leaderMigration: ControllerOptions["leaderMigration"],
  ): Promise<ControllerManager> => {
    const manager = createControllerManager({
      client,
      clock: systemClock,
      logger: silent,
      options: {
        ...timing,
        controllers: ["job-controller", "cronjob-controller"],
        leaderElect: true,
        ...(leaderMigration ? { leaderMigration } : {}),
      },
    });
    await manager.start();
    stops.push(() => manager.stop());
    return manager;
  };
  const holder = (name: string): string | undefined =>
    api.all<Lease>(leases).find(({ metadata }) => metadata.name === name)?.spec
      ?.holderIdentity;
  return { client, start, holder };
}

const migration = (component: string) => ({
  leaderName: "moving",
  controllers: [
    { name: "job-controller", component },
    { name: "serviceaccount-token-controller", component: "another" },
  ],
});

test("migrated controllers wait for the second Lease, which the first's holder takes", async () => {
  const { client, start, holder } = cluster();
  // Another manager, of clouds for instance, which has the controller as yet.
  const other = createLeaderElection({
    client,
    clock: systemClock,
    logger: silent,
    namespace: "kube-system",
    name: "moving",
    identity: "other",
  });
  await other.lead();
  const manager = await start(migration("*"));
  const second = await start(migration("*"));
  await passes(() => expect(manager.running).toEqual(["cronjob-controller"]));
  expect(holder("moving")).toBe("other");
  await other.stop();
  await passes(() =>
    expect(manager.running).toEqual(["cronjob-controller", "job-controller"]),
  );
  expect(holder("moving")).toBe(holder("kube-controller-manager"));
  // The one without the first Lease tries to get neither controller nor second Lease.
  expect(second.running).toEqual([]);
  await manager.stop();
  await passes(() =>
    expect(second.running).toEqual(["cronjob-controller", "job-controller"]),
  );
});

test("another component's controller does not run here", async () => {
  const { start, holder } = cluster();
  const manager = await start(migration("cloud-controller-manager"));
  await passes(() => expect(holder("moving")).toBeTruthy());
  await passes(() => expect(manager.running).toEqual(["cronjob-controller"]));
});

test("without a migration there is one Lease for all", async () => {
  const { start, holder } = cluster();
  const manager = await start(undefined);
  await passes(() =>
    expect(manager.running).toEqual(["job-controller", "cronjob-controller"]),
  );
  expect(holder("moving")).toBeUndefined();
});

test("losing the second Lease is losing leadership", async () => {
  const { client, start, holder } = cluster();
  const manager = await start(migration("kube-controller-manager"));
  await passes(() => expect(manager.running).toContain("job-controller"));
  expect(holder("moving")).toBe(holder("kube-controller-manager"));
  await client.resource(leases).patch("moving", "kube-system", {
    type: "merge",
    body: { spec: { holderIdentity: "thief", leaseDurationSeconds: 60 } },
  });
  await manager.lost;
});
