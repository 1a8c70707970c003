// What the API server's options say about aggregated servers, as the aggregator gets it.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import { loadClusterPki } from "../../../apiserver-lite/index.ts";
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import {
  aggregationOptions,
  proxyCertificate,
} from "../../../cli/parts/api/aggregation.ts";
import { requestHeaderOf } from "../../../cli/parts/api/security.ts";
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
