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
  FollowedApiCertificates,
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
    follow(pki, ...args).followed.now;
  expect(read()).toMatchObject({
    serving: { cert: pki.serving.certificate },
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
  followed: FollowedApiCertificates;
  look(): Promise<void>;
} {
  const clock = new FakeClock();
  const used: ApiCertificates[] = [];
  const given = values(...args);
  const followed = new FollowedApiCertificates({
    ...{ values: given, source: givenServing(given), pki },
    ...{ clock, logger: pino({ level: "silent" }) },
  });
  followed.start((certificates) => used.push(certificates));
  return {
    ...{ clock, used, followed },
    async look() {
      clock.advance(10_000);
      await eventually(() => clock.pending === 1, { what: "the look to end" });
    },
  };
}

test("a pair that was renewed in its files is used, and what is no pair is not", async () => {
  const [first, second] = [pairOf("first"), pairOf("second")];
  const files = filesOf(first);
  const { followed, look, used, clock } = follow(
    undefined,
    ...proxyOptions(files),
  );
  const proxies = (): unknown[] => used.map(({ proxy }) => proxy?.certificate);
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
  followed.stop();
  expect(clock.pending).toBe(0);
});

test("files that are gone hold up no other's", async () => {
  const files = filesOf(pairOf("proxy"));
  const ca = path.join(directories(), "ca.crt");
  fs.writeFileSync(ca, authority.certificate);
  const { followed, look, used } = follow(
    undefined,
    ...proxyOptions(files),
    `--client-ca-file=${ca}`,
  );
  fs.rmSync(files.key);
  const other = createCertificateAuthority({
    subject: { commonName: "other" },
    nowMs,
  });
  fs.writeFileSync(ca, other.certificate);
  await look();
  expect(used.map(({ authorities }) => authorities.clientCa)).toEqual([
    other.certificate,
  ]);
  followed.stop();
});

test("a PKI that was renewed is used beside the files, whose pair goes on serving", async () => {
  const own = pairOf("own");
  const files = filesOf(own);
  const { followed, used, look } = follow(
    clusterPki(),
    `--tls-cert-file=${files.certificate}`,
    `--tls-private-key-file=${files.key}`,
  );
  const next = clusterPki();
  followed.updatePki(next);
  const serving = expect.objectContaining({ cert: own.certificate }) as object;
  expect(used).toEqual([
    expect.objectContaining({ serving, proxy: next.frontProxyClient }),
  ]);
  // Files that are broken at that moment hold it up no more, and are read once they are whole, though they look the same.
  const { mtime } = fs.statSync(files.key);
  fs.renameSync(files.key, `${files.key}.away`);
  const last = clusterPki();
  followed.updatePki(last);
  expect(used.at(-1)).toMatchObject({ serving, proxy: last.frontProxyClient });
  fs.renameSync(`${files.key}.away`, files.key);
  expect(fs.statSync(files.key).mtime).toEqual(mtime);
  const before = used.length;
  await look();
  expect(used.length).toBe(before + 1);
  followed.stop();
});

test("what changes while the server starts is used at the first look", async () => {
  const files = filesOf(pairOf("first"));
  const given = values(...proxyOptions(files));
  const clock = new FakeClock();
  const used: ApiCertificates[] = [];
  const followed = new FollowedApiCertificates({
    ...{ values: given, source: undefined, pki: undefined },
    ...{ clock, logger: pino({ level: "silent" }) },
  });
  const second = pairOf("second");
  files.write("certificate", second);
  files.write("key", second);
  followed.start((certificates) => used.push(certificates));
  clock.advance(10_000);
  await eventually(() => clock.pending === 1, { what: "the look to end" });
  expect(used.at(-1)?.proxy?.certificate).toBe(second.certificate);
  followed.stop();
});

test("without files and options nothing is looked at", () => {
  expect(follow(undefined).clock.pending).toBe(0);
});
