import { execFileSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import * as tls from "node:tls";
import { verifyChain } from "../../../../api/pki/chain.ts";
import {
  certifyPublicKey,
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../../api/pki/certificate.ts";
import {
  inspectCertificate,
  renewalTimeMs,
} from "../../../../api/pki/inspect.ts";
import { createPrivateKeyPem } from "../../../../api/pki/keys.ts";
import { addressBytes } from "../../../../api/pki/names.ts";
import {
  decodePem,
  encodePem,
  splitCertificates,
} from "../../../../api/pki/pem.ts";
import { createCsr, parseCsr } from "../../../../api/pki/signing-request.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const isTrusted = (
  certificate: X509Certificate,
  authorities: X509Certificate[],
  nowMs: number,
): boolean =>
  verifyChain(certificate, {
    authorities,
    nowMs,
    usage: "1.3.6.1.5.5.7.3.2",
  }) !== undefined;

const tempDirectory = useTempDirectories();
const nowMs = Math.floor(Date.now() / 1000) * 1000;
const authority = createCertificateAuthority({
  subject: { commonName: "test-ca" },
  nowMs,
});
const server = issueCertificate(authority, {
  subject: { commonName: "server" },
  usages: ["server auth"],
  dnsNames: ["localhost", "kubernetes.default.svc"],
  ipAddresses: ["127.0.0.1", "fd00::1"],
  validityMs: YEAR_MS,
  nowMs,
});
const client = issueCertificate(authority, {
  subject: {
    commonName: "alice",
    organizations: ["dev", "system:masters, or not"],
  },
  usages: ["client auth"],
  validityMs: YEAR_MS,
  nowMs,
});

it("makes certificates that say what was asked", () => {
  expect(inspectCertificate(server.certificate)).toMatchObject({
    subject: { commonName: "server", organizations: [] },
    issuer: "CN=test-ca",
    notAfterMs: nowMs + YEAR_MS,
    dnsNames: ["localhost", "kubernetes.default.svc"],
    ipAddresses: ["127.0.0.1", "FD00:0:0:0:0:0:0:1"],
    isAuthority: false,
  });
  expect(inspectCertificate(client.certificate).subject).toEqual({
    commonName: "alice",
    organizations: ["dev", "system:masters, or not"],
  });
  expect(inspectCertificate(authority.certificate).isAuthority).toBe(true);
});

it("makes certificates that openssl accepts", () => {
  const directory = tempDirectory();
  const file = (name: string, text: string): string => {
    fs.writeFileSync(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const ca = file("ca.pem", authority.certificate);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { encoding: "utf8" });
  expect(
    openssl(
      "verify",
      "-x509_strict",
      "-purpose",
      "sslserver",
      "-CAfile",
      ca,
      file("s.pem", server.certificate),
    ),
  ).toMatch(/OK/);
  expect(
    openssl(
      "verify",
      "-purpose",
      "sslclient",
      "-CAfile",
      ca,
      file("c.pem", client.certificate),
    ),
  ).toMatch(/OK/);
  const key = createPrivateKeyPem();
  const csr = file(
    "csr.pem",
    createCsr(
      key,
      { commonName: "x", organizations: ["y"] },
      { dnsNames: ["a.b"] },
    ),
  );
  expect(openssl("req", "-in", csr, "-noout", "-verify", "-text")).toMatch(
    /DNS:a\.b/,
  );
});

it("reads requests that openssl made", () => {
  const directory = tempDirectory();
  for (const keyArgs of [
    ["rsa:2048"],
    ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
    ["ed25519"],
  ]) {
    const pem = execFileSync(
      "openssl",
      [
        ...[
          "req",
          "-new",
          "-nodes",
          "-newkey",
          ...keyArgs,
          "-keyout",
          path.join(directory, "key.pem"),
        ],
        ...[
          "-subj",
          "/O=system:nodes/CN=system:node:n1",
          "-addext",
          "subjectAltName=DNS:n1,IP:10.0.0.1,IP:fd00::2",
        ],
      ],
      { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
    );
    const request = parseCsr(pem);
    expect(request).toMatchObject({
      subject: {
        commonName: "system:node:n1",
        organizations: ["system:nodes"],
      },
      dnsNames: ["n1"],
      ipAddresses: ["10.0.0.1", "fd00::2"],
    });
    const certificate = certifyPublicKey(authority, request.publicKey, {
      ...request,
      usages: ["client auth"],
      validityMs: YEAR_MS,
      nowMs,
    });
    expect(
      new X509Certificate(certificate).checkPrivateKey(
        createPrivateKey(fs.readFileSync(path.join(directory, "key.pem"))),
      ),
    ).toBe(true);
  }
});

it("refuses requests that are damaged, wherever", () => {
  const pem = createCsr(
    createPrivateKeyPem(),
    { commonName: "x" },
    { dnsNames: ["a"] },
  );
  const { der } = decodePem(pem)[0]!;
  const sound = parseCsr(pem);
  for (let at = 0; at < der.length; at++) {
    const damaged = Buffer.from(der);
    damaged[at]! ^= 0x01;
    // Bytes without meaning (unused bits of the signature) may differ; nothing signed may.
    let parsed: unknown = sound;
    try {
      parsed = parseCsr(encodePem("CERTIFICATE REQUEST", damaged));
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
    expect(parsed).toEqual(sound);
    expect(() =>
      parseCsr(encodePem("CERTIFICATE REQUEST", der.subarray(0, at))),
    ).toThrow();
  }
  expect(() => parseCsr("")).toThrow(RangeError);
  expect(() => parseCsr(authority.certificate)).toThrow(RangeError);
});

it("serves TLS with client certificates", async () => {
  const ends: (() => void)[] = [];
  const listener = tls.createServer(
    {
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
    },
    (socket) =>
      socket.end(
        `${socket.authorized} ${socket.getPeerCertificate().subject.CN}`,
      ),
  );
  await new Promise<void>((resolve) =>
    listener.listen(0, "127.0.0.1", resolve),
  );
  ends.push(() => listener.close());
  const { port } = listener.address() as { port: number };
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = tls.connect({
      port,
      host: "127.0.0.1",
      ca: authority.certificate,
      cert: client.certificate,
      key: client.key,
    });
    socket.on("data", (data) => resolve(data.toString())).on("error", reject);
  });
  expect(answer).toBe("true alice");
  for (const end of ends) end();
});

it("verifies chains and knows when to renew", () => {
  const certificate = new X509Certificate(client.certificate);
  const ca = new X509Certificate(authority.certificate);
  const other = new X509Certificate(
    createCertificateAuthority({ subject: { commonName: "test-ca" }, nowMs })
      .certificate,
  );
  expect(isTrusted(certificate, [other, ca], nowMs)).toBe(true);
  expect(isTrusted(certificate, [other], nowMs)).toBe(false);
  expect(isTrusted(certificate, [ca], nowMs + 2 * YEAR_MS)).toBe(false);
  expect(renewalTimeMs({ notBeforeMs: 0, notAfterMs: 90 })).toBe(60);
  expect(
    splitCertificates(`x\n${authority.certificate}\n${client.certificate}`),
  ).toEqual([authority.certificate, client.certificate]);
});

it.each([
  ["10.0.0.255", "0a0000ff"],
  ["::1", "00000000000000000000000000000001"],
  ["fe80::1:2", "fe800000000000000000000000010002"],
  ["::ffff:1.2.3.4", "00000000000000000000ffff01020304"],
])("writes the address %s", (address, hex) => {
  expect(addressBytes(address).toString("hex")).toBe(hex);
});

it("signs with an authority that others made: its own key identifier is named", () => {
  const directory = tempDirectory();
  const key = path.join(directory, "ca.key");
  const certificate = path.join(directory, "ca.crt");
  execFileSync(
    "openssl",
    [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes".split(
        " ",
      ),
      ...["-subj", "/CN=foreign-ca", "-days", "30"],
      ...["-addext", "keyUsage=critical,keyCertSign"],
      ...["-keyout", key, "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  const foreign = {
    certificate: fs.readFileSync(certificate, "utf8"),
    key: fs.readFileSync(key),
  };
  const leaf = issueCertificate(foreign, {
    subject: { commonName: "bob" },
    usages: ["client auth"],
    validityMs: YEAR_MS,
    nowMs: Date.now() + 60_000,
  });
  const file = path.join(directory, "leaf.crt");
  fs.writeFileSync(file, leaf.certificate);
  execFileSync("openssl", ["verify", "-CAfile", certificate, file]);
  expect(
    new X509Certificate(leaf.certificate).checkIssued(
      new X509Certificate(foreign.certificate),
    ),
  ).toBe(true);
});

it("takes a trusted certificate of version 1 for an authority", () => {
  const directory = tempDirectory();
  const at = (name: string) => path.join(directory, name);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  const request = ["-subj", "/CN=old", "-nodes", "-newkey", "ec"];
  const curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1"];
  openssl(
    "req",
    "-new",
    ...request,
    ...curve,
    "-keyout",
    at("key"),
    "-out",
    at("csr"),
  );
  openssl(
    "x509",
    "-req",
    "-in",
    at("csr"),
    "-signkey",
    at("key"),
    "-days",
    "9",
    "-out",
    at("ca"),
  );
  const old = new X509Certificate(fs.readFileSync(at("ca")));
  expect(old.ca).toBe(false);
  const issued = issueCertificate(
    { certificate: old.toString(), key: fs.readFileSync(at("key")) },
    {
      subject: { commonName: "ann" },
      usages: ["client auth"],
      validityMs: YEAR_MS,
      nowMs,
    },
  );
  const certificate = new X509Certificate(issued.certificate);
  expect(isTrusted(certificate, [old], Date.now() + 1000)).toBe(true);
  // One of version 3 that does not say it is an authority is none.
  const leaf = new X509Certificate(client.certificate);
  const below = issueCertificate(client, {
    subject: { commonName: "eve" },
    usages: ["client auth"],
    validityMs: YEAR_MS,
    nowMs,
  });
  expect(
    isTrusted(new X509Certificate(below.certificate), [leaf], Date.now()),
  ).toBe(false);
});

it("leaves out a key usage that says nothing", () => {
  const { certificate } = issueCertificate(authority, {
    subject: { commonName: "ann" },
    keyUsages: [],
    usages: ["client auth"],
    validityMs: YEAR_MS,
    nowMs,
  });
  const text = execFileSync("openssl", ["x509", "-noout", "-text"], {
    input: certificate,
    encoding: "utf8",
  });
  expect(text).toMatch(/X509v3 Extended Key Usage:/);
  expect(text).not.toMatch(/X509v3 Key Usage/);
});
