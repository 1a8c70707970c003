// Several `orbit server` on one real etcd: one of them leads the controllers and the scheduler, another takes over when it
// ends or is killed, and nothing is done twice on the way.
import * as fs from "node:fs";
import * as path from "node:path";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { eventually } from "../../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../../support/start-orbit.ts";
import { makeTempDirectory } from "../../support/temp-directory.ts";

let etcd: TestEtcd;
const servers: RunningOrbit[] = [];

const leaseMs = 20_000;
const quickLease = [
  `leader-elect-lease-duration=${leaseMs}ms`,
  "leader-elect-renew-deadline=15s",
  "leader-elect-retry-period=500ms",
];

function start(directory: string): Promise<RunningOrbit> {
  return startOrbit({
    directory,
    podRange: "10.249.249.0/24",
    args: [
      "--store=etcd",
      `--store-servers=${etcd.url}`,
      "--disable=agent",
      "--service-cluster-ip-range=10.143.0.0/28",
      "--scheduler-port=0",
      ...quickLease.flatMap((each) => [
        `--controller-manager-arg=${each}`,
        `--scheduler-arg=${each}`,
      ]),
    ],
  });
}

/** The servers of a cluster share their authorities and the key of its tokens. */
function shareAuthorities(from: string, to: string): void {
  const pki = (directory: string): string => path.join(directory, "data/pki");
  fs.mkdirSync(pki(to), { recursive: true, mode: 0o700 });
  for (const name of ["ca", "front-proxy-ca", "sa"])
    for (const each of [`${name}.crt`, `${name}.key`])
      if (fs.existsSync(path.join(pki(from), each)))
        fs.copyFileSync(path.join(pki(from), each), path.join(pki(to), each));
}

beforeAll(async () => {
  etcd = await startEtcd();
  servers.push(await start(makeTempDirectory("orbit-several-")));
  const second = makeTempDirectory("orbit-several-");
  shareAuthorities(servers[0]!.directory, second);
  servers.push(await start(second));
});
afterAll(async () => {
  for (const server of servers) await server.clean();
  await etcd.stop();
});

async function kubectl(n: number, ...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await servers[n]!.kubectl(args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Both the controllers and the scheduler. */
const leads = (n: number): boolean =>
  servers[n]!.log().split("became leader").length === 3 &&
  !/lost leadership/.test(servers[n]!.log());

async function makes(
  n: number,
  name: string,
  replicas: number,
): Promise<string[]> {
  await kubectl(
    n,
    "create",
    "deployment",
    name,
    "--image=none",
    `--replicas=${replicas}`,
  );
  const selector = `--selector=app=${name}`;
  const names = async (kind: string): Promise<string[]> =>
    (await kubectl(n, "get", kind, selector, "-o", "name"))
      .split("\n")
      .filter(Boolean);
  await eventually(async () => (await names("pods")).length >= replicas, {
    what: `${name}'s pods`,
  });
  await eventually(
    async () =>
      (
        await kubectl(
          n,
          "get",
          "deployment",
          name,
          "-o",
          "jsonpath={.status.unavailableReplicas}",
        )
      ).trim() === String(replicas),
    { what: `${name}'s status` },
  );
  expect(await names("replicasets")).toHaveLength(1);
  const created = async (): Promise<string[]> => {
    const events = await kubectl(
      n,
      "get",
      "events",
      "-o",
      'jsonpath={range .items[?(@.reason=="SuccessfulCreate")]}{.involvedObject.name} {.message}{"\\n"}{end}',
    );
    return events.split("\n").filter((line) => line.includes(name));
  };
  await eventually(async () => (await created()).length >= replicas, {
    what: `${name}'s events`,
  });
  expect(await created()).toHaveLength(replicas);
  return names("pods");
}

test("one of two leads, and each thing is done once", async () => {
  await eventually(() => leads(0), { what: "the first to lead" });
  expect(leads(1)).toBe(false);
  const pods = await makes(1, "first", 3);
  expect(pods).toHaveLength(3);
});

test("addresses of Services are given once by both", async () => {
  // The range has fourteen addresses; kubernetes has one.
  const made = await Promise.allSettled(
    Array.from({ length: 16 }, (_, n) =>
      kubectl(n % 2, "create", "service", "clusterip", `s${n}`, "--tcp=80"),
    ),
  );
  const { length } = made.filter(({ status }) => status === "fulfilled");
  expect(length).toBe(13);
  const ips = await kubectl(
    0,
    "get",
    "services",
    "-o",
    "jsonpath={.items[*].spec.clusterIP}",
  );
  expect(new Set(ips.split(" ")).size).toBe(14);
});

test("a server that stops gives the leases back: the other leads at once", async () => {
  const [server] = servers;
  expect(await server!.stop()).toBe(0);
  await eventually(() => leads(1), {
    what: "the other to lead",
    // Nobody waits for a lease to end, which was renewed half a second ago.
    timeoutMs: leaseMs - 4000,
  });
  await makes(1, "second", 2);
  servers[0] = await server!.restart();
  expect(leads(0)).toBe(false);
});

test("a server that is killed is followed when its lease has ended", async () => {
  const before = Date.now();
  await servers[1]!.stop("SIGKILL");
  await eventually(() => leads(0), {
    what: "the other to lead",
    timeoutMs: 90_000,
  });
  // It waited for the lease, as it can't know that its holder is gone.
  expect(Date.now() - before).toBeGreaterThan(leaseMs / 2);
  const pods = await makes(0, "third", 2);
  expect(pods).toHaveLength(2);
  const all = await kubectl(0, "get", "pods", "-o", "name");
  expect(all.split("\n").filter(Boolean)).toHaveLength(7);
});

test("a server with another authority says so", async () => {
  const [other, same] = [/another certificate authority/, servers[0]!.log()];
  expect(same).not.toMatch(other);
  servers.push(await start(makeTempDirectory("orbit-several-")));
  expect(servers.at(-1)!.log()).toMatch(other);
});
