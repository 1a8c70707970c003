// The API server's certificates come from its options' files, else from the cluster's PKI, and are renewed with either.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import {
  loadClusterPki,
  type ClusterPki,
} from "../../../apiserver-lite/index.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import {
  CertificateRenewals,
  readCertificates,
  type ApiCertificates,
} from "../../../cli/parts/api/certificates.ts";
import { givenServing } from "../../../cli/parts/serving/serving-source.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const nowMs = Date.now();
const values = (...args: string[]) => parseOptions(apiServerOptions, args);
const authority = createCertificateAuthority({
  subject: { commonName: "own" },
  nowMs,
});
const pairOf = (commonName: string): CertificatePair =>
  issueCertificate(authority, {
    subject: { commonName },
    usages: ["client auth", "server auth"],
    validityMs: 1e9,
    nowMs,
  });

const clusterPki = (): ClusterPki =>
  loadClusterPki({
    directory: directories(),
    hosts: [],
    serviceAddresses: [],
    nowMs,
  });

/** Two files of a pair, written in place of what they held. */
function filesOf(pair: CertificatePair): {
  certificate: string;
  key: string;
  write(part: "certificate" | "key", of: CertificatePair): void;
} {
  const at = directories();
  const names = {
    certificate: path.join(at, "crt"),
    key: path.join(at, "key"),
  };
  const write = (part: "certificate" | "key", of: CertificatePair): void => {
    fs.writeFileSync(`${names[part]}.new`, of[part]);
    fs.renameSync(`${names[part]}.new`, names[part]);
  };
  write("certificate", pair);
  write("key", pair);
  return { ...names, write };
}

const proxyOptions = (files: { certificate: string; key: string }) => [
  `--proxy-client-cert-file=${files.certificate}`,
  `--proxy-client-key-file=${files.key}`,
];

test("the options' files come before the cluster's PKI", () => {
  const pki = clusterPki();
  const read = (...args: string[]): ApiCertificates =>
    readCertificates({ values: values(...args), source: undefined, pki });
  expect(read()).toMatchObject({
    serving: pki.serving,
    proxy: pki.frontProxyClient,
    agents: { clientCertificate: pki.kubeletClient },
    authorities: { headerCa: pki.frontProxyCa.certificate },
  });
  const own = pairOf("own-proxy");
  const files = filesOf(own);
  expect(read(...proxyOptions(files)).proxy?.certificate).toBe(own.certificate);
  expect(() => read(proxyOptions(files)[0]!)).toThrow(
    "--proxy-client-cert-file and --proxy-client-key-file must be given together",
  );
});

function follow(
  pki: ClusterPki | undefined,
  ...args: string[]
): {
  clock: FakeClock;
  used: ApiCertificates[];
  renewals: CertificateRenewals;
  look(): Promise<void>;
} {
  const clock = new FakeClock();
  const used: ApiCertificates[] = [];
  const given = values(...args);
  const renewals = new CertificateRenewals(
    { values: given, source: givenServing(given), pki },
    {
      server: { reloadCertificate() {}, setProxyCertificate() {} },
      changed: (certificates) => used.push(certificates),
      ...{ clock, logger: pino({ level: "silent" }) },
    },
  );
  return {
    ...{ clock, used, renewals },
    async look() {
      clock.advance(10_000);
      await eventually(() => clock.pending === 1, { what: "the look to end" });
    },
  };
}

test("a pair that was renewed in its files is used, and what is no pair is not", async () => {
  const [first, second] = [pairOf("first"), pairOf("second")];
  const files = filesOf(first);
  const { renewals, look, used, clock } = follow(
    undefined,
    ...proxyOptions(files),
  );
  const proxies = (): unknown[] => used.map(({ proxy }) => proxy?.certificate);
  await renewals.start();
  await look();
  files.write("certificate", second);
  await look();
  expect(proxies()).toEqual([]);
  files.write("key", second);
  await look();
  expect(proxies()).toEqual([second.certificate]);
  fs.rmSync(files.key);
  await look();
  await look();
  expect(proxies()).toEqual([second.certificate]);
  renewals.stop();
  expect(clock.pending).toBe(0);
});

test("a PKI that was renewed is used beside the files, whose pair goes on serving", async () => {
  const own = pairOf("own");
  const files = filesOf(own);
  const { renewals, used, look } = follow(
    clusterPki(),
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
  );
  await renewals.start();
  const next = clusterPki();
  renewals.updatePki(next);
  expect(used).toEqual([
    expect.objectContaining({ serving: own, proxy: next.frontProxyClient }),
  ]);
  // Files that are broken at that moment leave all as it was; the PKI is used with them once they are whole.
  files.write("key", pairOf("other"));
  const last = clusterPki();
  renewals.updatePki(last);
  expect(used).toHaveLength(1);
  files.write("key", own);
  await look();
  expect(used.at(-1)).toMatchObject({
    serving: own,
    proxy: last.frontProxyClient,
  });
  renewals.stop();
});

test("without files and options nothing is looked at", async () => {
  const { renewals, clock } = follow(undefined);
  await renewals.start();
  expect(clock.pending).toBe(0);
});
