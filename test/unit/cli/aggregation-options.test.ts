// What the API server's options say about aggregated servers, as the aggregator gets it.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import { loadClusterPki } from "../../../apiserver-lite/index.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import {
  aggregationOptions,
  followProxyCertificate,
  proxyCertificate,
} from "../../../cli/parts/api/aggregation.ts";
import { requestHeaderOf } from "../../../cli/parts/api/security.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const values = (...args: string[]) => parseOptions(apiServerOptions, args);

test.each([
  [[], true, "cluster"],
  [[], false, "no-data-path"],
  [["--enable-aggregator-routing"], true, "endpoints"],
  [["--enable-aggregator-routing"], false, "endpoints"],
] as const)("%j with service addresses: %s", (args, addresses, routing) => {
  const options = aggregationOptions(
    values(...args),
    undefined,
    undefined,
    addresses,
  );
  expect(options).toMatchObject({
    routing,
    rejectForwardingRedirect: true,
    proxyCertificate: undefined,
  });
});

test("redirects may be passed on", () => {
  const given = values("--aggregator-reject-forwarding-redirect=false");
  expect(
    aggregationOptions(given, undefined, undefined, true)
      .rejectForwardingRedirect,
  ).toBe(false);
});

test("headers of this server's own front proxies are named", () => {
  const given = values("--requestheader-username-headers=X-Own-User");
  const header = requestHeaderOf(given, "authority");
  expect(
    aggregationOptions(given, undefined, header, true).identityFields,
  ).toEqual({
    names: ["x-own-user", "x-remote-group", "x-remote-uid"],
    prefixes: ["x-remote-extra-"],
  });
});

test("the certificate is the options', else the cluster's", () => {
  const nowMs = Date.now();
  const pki = loadClusterPki({
    directory: directory(),
    hosts: [],
    serviceAddresses: [],
    nowMs,
  });
  expect(proxyCertificate(values(), pki)).toEqual(pki.frontProxyClient);
  const ca = createCertificateAuthority({
    subject: { commonName: "own" },
    nowMs,
  });
  const pair = issueCertificate(ca, {
    subject: { commonName: "own-proxy" },
    usages: ["client auth"],
    validityMs: 1e9,
    nowMs,
  });
  const file = (name: string, content: string | Buffer): string => {
    const at = path.join(directory(), name);
    fs.writeFileSync(at, content);
    return at;
  };
  const certificate = `--proxy-client-cert-file=${file("p.crt", pair.certificate)}`;
  const key = `--proxy-client-key-file=${file("p.key", pair.key)}`;
  expect(proxyCertificate(values(certificate, key), pki)?.certificate).toBe(
    pair.certificate,
  );
  expect(() => proxyCertificate(values(certificate), pki)).toThrow(
    "--proxy-client-cert-file and --proxy-client-key-file must be given together",
  );
});

test("a certificate that was renewed in its files is used, and what is no pair is not", async () => {
  const at = directory();
  const [certificateFile, keyFile] = ["crt", "key"].map((name) =>
    path.join(at, name),
  ) as [string, string];
  const nowMs = Date.now();
  const subject = { commonName: "front-proxy-ca" };
  const authority = createCertificateAuthority({ subject, nowMs });
  const pairOf = (commonName: string) =>
    issueCertificate(authority, {
      subject: { commonName },
      usages: ["client auth"],
      validityMs: 1e9,
      nowMs,
    });
  const [first, second] = [pairOf("first"), pairOf("second")];
  const write = (file: string, text: string | Uint8Array): void => {
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  };
  write(certificateFile, first.certificate);
  write(keyFile, first.key);
  const clock = new FakeClock();
  const used: string[] = [];
  const followed = await followProxyCertificate(
    values(
      `--proxy-client-cert-file=${certificateFile}`,
      `--proxy-client-key-file=${keyFile}`,
    ),
    { setProxyCertificate: (pair) => used.push(pair!.certificate) },
    { clock, logger: pino({ level: "silent" }) },
  )!;
  const look = async (): Promise<void> => {
    clock.advance(10_000);
    await eventually(() => clock.pending === 1, { what: "the look to end" });
  };
  await look();
  write(certificateFile, second.certificate);
  await look();
  expect(used).toEqual([]);
  write(keyFile, second.key);
  await look();
  expect(used).toEqual([second.certificate]);
  fs.rmSync(keyFile);
  await look();
  await look();
  expect(used).toEqual([second.certificate]);
  followed!.stop();
  expect(clock.pending).toBe(0);
});

test("without the options no file is followed", async () => {
  const parts = { clock: new FakeClock(), logger: pino({ level: "silent" }) };
  const server = { setProxyCertificate: () => {} };
  expect(await followProxyCertificate(values(), server, parts)).toBeUndefined();
});
