// A real HTTPS server on loopback with a certificate of an authority of its own, for what the program calls out to.
import * as https from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AlternativeNames } from "../../api/pki/names.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../api/pki/certificate.ts";

export interface TestHttpsServer {
  readonly port: number;
  /** https://127.0.0.1:port */
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  /** PEM in base64, as configurations have it. */
  readonly caBundle: string;
  /** TLS connections accepted so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export type Answer = (
  body: string,
  request: IncomingMessage,
  response: ServerResponse,
) => unknown;

const listenAnywhere = "0.0.0.0";

/** What `answer` returns is sent as JSON; undefined: it has answered, or will not. */
export async function startHttpsServer(
  answer: Answer,
  names: AlternativeNames = { ipAddresses: ["127.0.0.1"] },
  more: https.ServerOptions = {},
): Promise<TestHttpsServer> {
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "webhooks" },
    nowMs,
  });
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: "webhook" },
    nowMs,
    usages: ["server auth"],
    validityMs: YEAR_MS,
    ...names,
  });
  const server = https.createServer(
    { cert: certificate, key, ...more },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        void (async () => {
          const body = Buffer.concat(chunks).toString();
          const value = await answer(body, request, response);
          if (value === undefined) return;
          response.setHeader("content-type", "application/json");
          response.end(JSON.stringify(value));
        })();
      });
    },
  );
  // By default idle connections end after five seconds, under a request that is on its way to one of them.
  server.keepAliveTimeout = 0;
  let connections = 0;
  server.on("secureConnection", () => connections++);
  await new Promise<void>((resolve) =>
    server.listen(0, listenAnywhere, resolve),
  );
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    authority: authority.certificate,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    connections: () => connections,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
