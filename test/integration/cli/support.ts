// What the suites of the commands' ports share: things to stop after each test, files of options, certificates of clients,
// and one way of asking an HTTPS port for JSON.
import * as fs from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";

interface Stoppable {
  stop(): Promise<void>;
}

/** What a test pushes is stopped after it, the newest first. */
export function useStopped(): Stoppable[] {
  const open: Stoppable[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.stop();
  });
  return open;
}

/** Serves on a port of 127.0.0.1 that is free, until the test has ended; returns the port. */
export async function serveOnLoopback(
  server: https.Server,
  open: Stoppable[],
): Promise<number> {
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve()),
  );
  open.push({
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  return (server.address() as AddressInfo).port;
}

/** A file of its own in a new directory of `directories`. */
export const fileIn =
  (directories: () => string) =>
  (text: string): string => {
    const name = path.join(directories(), "file");
    fs.writeFileSync(name, text);
    return name;
  };

export const authorityNamed = (commonName: string): CertificatePair =>
  createCertificateAuthority({ subject: { commonName }, nowMs: Date.now() });

/** @param more names and addresses make it a server's, else it is a client's */
export const certificateOf = (
  signer: CertificatePair,
  commonName: string,
  organizations: string[] = [],
  more: { ipAddresses?: string[]; dnsNames?: string[] } = {},
): CertificatePair =>
  issueCertificate(signer, {
    subject: { commonName, organizations },
    usages: [more.ipAddresses ? "server auth" : "client auth"],
    validityMs: YEAR_MS,
    nowMs: Date.now(),
    ...more,
  });

export interface JsonAnswer {
  code: number;
  // Of whatever form the path has: the tests say what they expect of it.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Asks a port of 127.0.0.1; an answer that is not JSON comes back as its text. */
export function askPort(
  port: number,
  method: string,
  target: string,
  {
    token,
    body,
    type,
    headers = {},
  }: {
    token?: string;
    body?: object;
    type?: string;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const sent = https.request(
      {
        host: "127.0.0.1",
        port,
        method,
        path: target,
        rejectUnauthorized: false,
        agent: false,
        headers: {
          "content-type": type ?? "application/json",
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => {
          let parsed: unknown = text;
          try {
            parsed = JSON.parse(text);
          } catch {
            // Plain text.
          }
          resolve({ code: response.statusCode!, body: parsed });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** All that the store has on its disk. */
export const bytesOf = (directory: string): string =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      fs.readFileSync(path.join(entry.parentPath, entry.name), "latin1"),
    )
    .join("\n");
