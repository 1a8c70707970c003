// --tls-min-version, --tls-cipher-suites, --tls-sni-cert-key and --disable-http2-serving, on the port of every program.
import * as fs from "node:fs";
import * as path from "node:path";
import * as tls from "node:tls";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  openPort,
  portPrograms,
  type OpenPort,
  type PortProgram,
} from "./part-ports.ts";

const directories = useTempDirectories();
const open: OpenPort[] = [];
afterEach(async () => {
  for (const port of open.splice(0)) await port.stop();
});

async function start(
  program: PortProgram,
  ...argv: string[]
): Promise<OpenPort> {
  const port = await openPort(program, directories(), argv);
  open.push(port);
  return port;
}

interface Handshake {
  protocol: string | null;
  cipher: string;
  commonName: string;
  alpn: string | false | null;
}

function handshake(
  port: number,
  options: tls.ConnectionOptions = {},
): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect(
      { host: "127.0.0.1", port, rejectUnauthorized: false, ...options },
      () => {
        resolve({
          protocol: socket.getProtocol(),
          cipher: socket.getCipher().name,
          commonName: String(socket.getPeerCertificate().subject.CN),
          alpn: socket.alpnProtocol,
        });
        socket.destroy();
      },
    );
    socket.once("error", reject);
  });
}
const version12 = { maxVersion: "TLSv1.2" as const };

/** A pair on disk: [certificate, key]. */
function pair(commonName: string, dnsNames: string[] = []): [string, string] {
  const directory = directories();
  const nowMs = Date.now();
  const made = issueCertificate(
    createCertificateAuthority({ subject: { commonName: "ca" }, nowMs }),
    {
      subject: { commonName },
      usages: ["server auth"],
      validityMs: YEAR_MS,
      nowMs,
      dnsNames,
    },
  );
  const files: [string, string] = [
    path.join(directory, "tls.crt"),
    path.join(directory, "tls.key"),
  ];
  fs.writeFileSync(files[0], made.certificate);
  fs.writeFileSync(files[1], made.key);
  return files;
}

describe.each(portPrograms)("orbit %s", (program) => {
  test("serves TLS 1.2 and 1.3, and with VersionTLS13 only that", async () => {
    const both = await start(program);
    expect((await handshake(both.port, version12)).protocol).toBe("TLSv1.2");
    expect((await handshake(both.port)).protocol).toBe("TLSv1.3");
    const newest = await start(program, "--tls-min-version=VersionTLS13");
    expect((await handshake(newest.port)).protocol).toBe("TLSv1.3");
    await expect(handshake(newest.port, version12)).rejects.toThrow(
      /protocol version|EPROTO|ECONNRESET/,
    );
  });

  test("never serves less than TLS 1.2", async () => {
    const { port, log } = await start(
      program,
      "--tls-min-version=VersionTLS10",
    );
    expect(log()).toContain("TLS 1.2 is the least that is served");
    await expect(
      handshake(port, {
        minVersion: "TLSv1",
        maxVersion: "TLSv1.1",
        ciphers: "DEFAULT@SECLEVEL=0",
      }),
    ).rejects.toThrow();
    expect((await handshake(port, version12)).protocol).toBe("TLSv1.2");
  });

  test("offers only the cipher suites that were named", async () => {
    const { port } = await start(
      program,
      "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
      "--tls-cipher-suites=TLS_AES_256_GCM_SHA384",
    );
    expect((await handshake(port, version12)).cipher).toMatch(
      /^ECDHE-(RSA|ECDSA)-AES256-GCM-SHA384$/,
    );
    expect((await handshake(port)).cipher).toBe("TLS_AES_256_GCM_SHA384");
    for (const ciphers of [
      "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256",
      "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
      await expect(
        handshake(port, { ...version12, ciphers }),
      ).rejects.toThrow();
    await expect(
      handshake(port, {
        minVersion: "TLSv1.3",
        ciphers: "TLS_CHACHA20_POLY1305_SHA256",
      }),
    ).rejects.toThrow();
  });

  test("suites of TLS 1.3 stay when only older ones are named", async () => {
    const { port } = await start(
      program,
      "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    );
    expect((await handshake(port)).protocol).toBe("TLSv1.3");
    expect((await handshake(port, version12)).cipher).toContain("AES128-GCM");
  });

  test("warns of an insecure suite, and refuses unknown and missing ones", async () => {
    const { log } = await start(
      program,
      "--tls-cipher-suites=TLS_RSA_WITH_AES_128_GCM_SHA256",
    );
    expect(log()).toContain(
      "Use of insecure cipher 'TLS_RSA_WITH_AES_128_GCM_SHA256' detected.",
    );
    for (const [suite, why] of [
      ["TLS_NOPE", "there is no such cipher suite"],
      ["TLS_RSA_WITH_RC4_128_SHA", "the cipher suite is not available"],
    ])
      await expect(
        start(program, `--tls-cipher-suites=${suite}`),
      ).rejects.toThrow(
        `invalid argument "${suite}" for "--tls-cipher-suites": ${why}`,
      );
  });

  test("shows the certificate of the name that is asked for", async () => {
    const given = pair("given");
    const own = pair("own", ["own.example", "*.wild.example"]);
    const { port } = await start(
      program,
      `--tls-sni-cert-key=${own.join(",")}`,
      `--tls-sni-cert-key=${given.join(",")}:given.example,*.many.example`,
    );
    const nameFor = async (servername: string): Promise<string> =>
      (await handshake(port, { servername })).commonName;
    expect(await nameFor("own.example")).toBe("own");
    expect(await nameFor("A.wild.example")).toBe("own");
    expect(await nameFor("given.example")).toBe("given");
    expect(await nameFor("a.many.example")).toBe("given");
    const main = (await handshake(port)).commonName;
    expect(main).not.toMatch(/own|given/);
    for (const other of ["many.example", "a.b.many.example", "example"])
      expect(await nameFor(other)).toBe(main);
    // The limits hold for these too.
    expect(
      (await handshake(port, { servername: "own.example" })).protocol,
    ).toBe("TLSv1.3");
  });

  test("refuses pairs that can't be used", async () => {
    const [certificate] = pair("one");
    const [, otherKey] = pair("two");
    const junk = path.join(directories(), "junk");
    fs.writeFileSync(junk, "");
    for (const text of [
      "/absent,/absent",
      `${junk},${junk}`,
      `${certificate},${otherKey}`,
      `${certificate}`,
      `${certificate},${otherKey}:a..b`,
      `${certificate},${otherKey}:*.*.b`,
    ])
      await expect(
        start(program, `--tls-sni-cert-key=${text}`),
      ).rejects.toThrow("--tls-sni-cert-key");
  });
});

test("--disable-http2-serving: HTTP/1.1 is all there is", async () => {
  const ALPNProtocols = ["h2", "http/1.1"];
  const both = await start("apiserver");
  expect((await handshake(both.port, { ALPNProtocols })).alpn).toBe("h2");
  const only = await start("apiserver", "--disable-http2-serving");
  expect((await handshake(only.port, { ALPNProtocols })).alpn).toBe("http/1.1");
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = tls.connect(
      { host: "127.0.0.1", port: only.port, rejectUnauthorized: false },
      () =>
        socket.write(
          "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        ),
    );
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.once("end", () => resolve(text));
    socket.once("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
});
