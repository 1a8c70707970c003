// Whom a request speaks for. A header may come several times, and its values may hold commas.
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import { startTestServer, type TestServer } from "./support.ts";

// A request for a certificate says who asks.
const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const body = JSON.stringify({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { generateName: "a-" },
  spec: {
    request: Buffer.from(
      createCsr(createPrivateKeyPem(), { commonName: "ann" }),
    ).toString("base64"),
    signerName: "example.com/signer",
    usages: ["client auth"],
  },
});
const headers = {
  "content-type": "application/json",
  "impersonate-user": "ann",
  "impersonate-group": ["b, c", "a", ",,,d"],
  "impersonate-extra-note": ["one, two", "three"],
};

let server: TestServer;
beforeAll(async () => {
  const validity = { nowMs: Date.now(), validityMs: 3_600_000 };
  const authority = createCertificateAuthority({
    subject: { commonName: "ca" },
    ...validity,
  });
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: "server" },
    ipAddresses: ["127.0.0.1"],
    usages: ["server auth"],
    ...validity,
  });
  server = await startTestServer({
    tls: { cert: certificate, key, clientCa: authority.certificate },
  });
});
afterAll(() => server.stop());

const clients: Readonly<Record<string, () => Promise<string>>> = {
  async "HTTP/1.1"() {
    const sent = request({
      port: server.server.port,
      path,
      method: "POST",
      headers,
      rejectUnauthorized: false,
      agent: false,
    });
    sent.end(body);
    const [answer] = await once(sent, "response");
    return text(answer);
  },
  async "HTTP/2"() {
    const session = connect(`https://127.0.0.1:${server.server.port}`, {
      rejectUnauthorized: false,
    });
    const stream = session.request({
      ":path": path,
      ":method": "POST",
      ...headers,
    } as IncomingHttpHeaders);
    stream.end(body);
    const answer = await text(stream);
    session.close();
    return answer;
  },
};

it.each(Object.keys(clients))(
  "keeps repeated headers apart: %s",
  async (by) => {
    const { spec } = JSON.parse(await clients[by]!()) as { spec: unknown };
    expect(spec).toMatchObject({
      username: "ann",
      groups: ["b, c", "a", ",,,d", "system:authenticated"],
      extra: { note: ["one, two", "three"] },
    });
  },
);
