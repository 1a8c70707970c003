import * as fs from "node:fs";
import * as path from "node:path";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import { systemClock } from "../../../api/clock.ts";
import {
  agentServingPair,
  foundServingPair,
} from "../../../cli/parts/serving/made-pair.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const nowMs = Math.floor(Date.now() / 1000) * 1000;

function somebodysPair(): CertificatePair {
  const authority = createCertificateAuthority({
    subject: { commonName: "somebody" },
    nowMs,
  });
  return issueCertificate(authority, {
    subject: { commonName: "localhost" },
    usages: ["server auth"],
    dnsNames: ["localhost"],
    validityMs: YEAR_MS,
    nowMs,
  });
}

function put(directory: string, pair: Partial<CertificatePair>): void {
  const file = path.join(directory, "apiserver");
  if (pair.certificate) fs.writeFileSync(`${file}.crt`, pair.certificate);
  if (pair.key) fs.writeFileSync(`${file}.key`, pair.key);
}

const found = (directory: string): string | undefined =>
  foundServingPair(directory, "apiserver")?.certificate;

const made = (directory: string): string =>
  agentServingPair({
    directory,
    name: "apiserver",
    nodeName: "node",
    clock: systemClock,
  }).certificate;

test("a pair that was put into the directory serves as it is", () => {
  const directory = tempDirectory();
  expect(found(directory)).toBeUndefined();
  const pair = somebodysPair();
  put(directory, pair);
  expect(found(directory)).toBe(pair.certificate);
});

test("a pair of ours is left to its renewal, also when it is torn", () => {
  const directory = tempDirectory();
  const first = made(directory);
  expect(found(directory)).toBeUndefined();
  expect(made(directory)).toBe(first);
  fs.writeFileSync(path.join(directory, "apiserver.crt"), "torn");
  expect(found(directory)).toBeUndefined();
  fs.rmSync(path.join(directory, "apiserver.crt"));
  expect(found(directory)).toBeUndefined();
});

test("a pair that took the place of ours serves", () => {
  const directory = tempDirectory();
  made(directory);
  const pair = somebodysPair();
  put(directory, pair);
  expect(found(directory)).toBe(pair.certificate);
});

test("half a pair, and one that does not fit, are refused by their names", () => {
  const directory = tempDirectory();
  const { certificate, key } = somebodysPair();
  put(directory, { certificate });
  expect(() => found(directory)).toThrow(
    /--cert-dir: .*apiserver\.crt, .*apiserver\.key: certificate and key must be supplied as a pair/,
  );
  put(directory, { certificate: somebodysPair().certificate, key });
  expect(() => found(directory)).toThrow(/the key is not that of the/);
});
