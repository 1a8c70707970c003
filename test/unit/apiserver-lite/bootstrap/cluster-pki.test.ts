import { X509Certificate } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { inspectCertificate } from "../../../../api/pki/inspect.ts";
import {
  loadClusterPki,
  type ClusterPki,
  type ClusterPkiOptions,
} from "../../../../apiserver-lite/bootstrap/cluster-pki.ts";
import { writeKubeconfig } from "../../../../apiserver-lite/bootstrap/kubeconfig.ts";
import { PkiKeeper } from "../../../../apiserver-lite/bootstrap/pki-keeper.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const DAY_MS = 24 * 3600 * 1000;
const nowMs = Date.UTC(2025, 0, 1);

function options(
  directory: string,
  extra: Partial<ClusterPkiOptions> = {},
): ClusterPkiOptions {
  return {
    directory,
    hosts: ["node1", "192.168.1.5"],
    serviceAddresses: ["10.96.0.1"],
    nowMs,
    ...extra,
  };
}

it("makes everything once, in private files", () => {
  const directory = path.join(tempDirectory(), "pki");
  const made = loadClusterPki(options(directory));
  expect(loadClusterPki(options(directory, { nowMs: nowMs + DAY_MS }))).toEqual(
    made,
  );
  expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of fs.readdirSync(directory)) {
    expect(fs.statSync(path.join(directory, name)).mode & 0o777).toBe(0o600);
  }
  const { dnsNames, ipAddresses } = inspectCertificate(
    made.serving.certificate,
  );
  expect(dnsNames).toEqual(
    expect.arrayContaining([
      "localhost",
      "kubernetes.default.svc.cluster.local",
      "kubernetes",
      "node1",
    ]),
  );
  expect(ipAddresses).toEqual(
    expect.arrayContaining(["127.0.0.1", "10.96.0.1", "192.168.1.5"]),
  );
  expect(inspectCertificate(made.admin.certificate).subject).toEqual({
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
  });
});

it("renews leaves at two thirds of their life and keeps authorities", () => {
  const directory = tempDirectory();
  const first = loadClusterPki(options(directory));
  const later = loadClusterPki(
    options(directory, { nowMs: first.renewalDueMs + 1 }),
  );
  expect(later.clusterCa).toEqual(first.clusterCa);
  expect(later.serviceAccountKey).toEqual(first.serviceAccountKey);
  expect(later.serving).not.toEqual(first.serving);
  expect(later.admin).not.toEqual(first.admin);
});

it("makes a new serving certificate for a new address, and only that", () => {
  const directory = tempDirectory();
  const first = loadClusterPki(options(directory));
  const moved = loadClusterPki(
    options(directory, { hosts: ["node1", "192.168.1.6"] }),
  );
  expect(moved.serving).not.toEqual(first.serving);
  expect(moved.admin).toEqual(first.admin);
});

it.each(["ca.key", "sa.key"])(
  "refuses a damaged %s instead of replacing it",
  (name) => {
    const directory = tempDirectory();
    loadClusterPki(options(directory));
    fs.writeFileSync(path.join(directory, name), "damaged");
    expect(() => loadClusterPki(options(directory))).toThrow();
    expect(fs.readFileSync(path.join(directory, name), "utf8")).toBe("damaged");
  },
);

it("renews by itself while it runs", () => {
  const clock = new FakeClock(nowMs);
  const renewed: ClusterPki[] = [];
  const keeper = new PkiKeeper({
    directory: tempDirectory(),
    hosts: () => [],
    serviceAddresses: [],
    clock,
    logger: pino({ level: "silent" }),
    onRenewed: (pki) => renewed.push(pki),
  });
  keeper.start();
  clock.advance(240 * DAY_MS);
  expect(renewed).toHaveLength(0);
  clock.advance(10 * DAY_MS);
  expect(renewed).toHaveLength(1);
  expect(renewed[0]!.renewalDueMs).toBeGreaterThan(clock.now());
  keeper.stop();
  expect(clock.pending).toBe(0);
});

it("replaces what is not valid yet when the clock is set back, and keeps the authority", () => {
  const clock = new FakeClock(nowMs);
  const renewed: ClusterPki[] = [];
  const keeper = new PkiKeeper({
    directory: tempDirectory(),
    hosts: () => [],
    serviceAddresses: [],
    clock,
    logger: pino({ level: "silent" }),
    onRenewed: (pki) => renewed.push(pki),
  });
  const before = keeper.start();
  clock.jump(-4 * 60_000);
  clock.advance(20_000);
  expect(renewed).toHaveLength(0);
  clock.jump(-300 * DAY_MS);
  clock.advance(20_000);
  expect(renewed).toHaveLength(1);
  const [after] = renewed;
  expect(after!.clusterCa).toEqual(before.clusterCa);
  expect(after!.serviceAccountKey).toEqual(before.serviceAccountKey);
  for (const { certificate } of [
    ...[after!.clusterCa, after!.frontProxyCa, after!.serving],
    ...[after!.admin, after!.kubeletClient, after!.frontProxyClient],
  ])
    expect(
      Date.parse(new X509Certificate(certificate).validFrom),
    ).toBeLessThanOrEqual(clock.now());
  clock.advance(DAY_MS);
  expect(renewed).toHaveLength(1);
  keeper.stop();
});

it("writes a kubeconfig for its owner only", () => {
  const directory = tempDirectory();
  const pki = loadClusterPki(options(path.join(directory, "pki")));
  const file = path.join(directory, "deep", "orbit.yaml");
  writeKubeconfig(file, {
    server: "https://127.0.0.1:6443",
    certificateAuthority: pki.clusterCa.certificate,
    client: pki.admin,
  });
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readFileSync(file, "utf8")).toMatch(
    /server: https:\/\/127\.0\.0\.1:6443/,
  );
});
