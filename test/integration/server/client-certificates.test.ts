// A client's certificate is looked at with each request, not only when its connection was made.
import * as https from "node:https";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import {
  createAgentServer,
  type AgentServer,
} from "../../../server/agent-server.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { createScriptedView } from "./scripted-view.ts";

const hourMs = 3_600_000;
let clock: FakeClock;
let authority: CertificatePair;
let server: AgentServer;
const agents: https.Agent[] = [];

const createAuthority = (name: string): CertificatePair =>
  createCertificateAuthority({
    subject: { commonName: name },
    nowMs: clock.now(),
  });

function issue(signer: CertificatePair, validityMs: number): CertificatePair {
  return issueCertificate(signer, {
    subject: { commonName: "admin", organizations: ["system:masters"] },
    usages: ["server auth", "client auth"],
    validityMs,
    nowMs: clock.now(),
  });
}

beforeEach(async () => {
  clock = new FakeClock(Date.now());
  authority = createAuthority("first");
  server = createAgentServer({
    view: createScriptedView(),
    logger: pino({ level: "silent" }),
    clock,
    tls: {
      ...issue(authority, 100 * hourMs),
      clientCa: authority.certificate,
    },
    address: "127.0.0.1",
    port: 0,
  });
  await server.start();
});
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  await server.stop();
});

/** Asks for the pods over one connection that is kept; `reused` says whether it was. */
function connection(
  pair: CertificatePair,
): () => Promise<{ code: number; reused: boolean }> {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return () =>
    new Promise((resolve, reject) => {
      const request = https.get(
        {
          ...{ host: "127.0.0.1", port: server.port!, path: "/pods", agent },
          ...{ cert: pair.certificate, key: pair.key },
          rejectUnauthorized: false,
        },
        (response) => {
          response.resume();
          response.once("end", () =>
            resolve({
              code: response.statusCode!,
              reused: request.reusedSocket,
            }),
          );
        },
      );
      request.once("error", reject);
    });
}

test("an expired certificate ends with its hour, not with its connection", async () => {
  const ask = connection(issue(authority, hourMs));
  expect(await ask()).toEqual({ code: 200, reused: false });
  clock.advance(hourMs - 60_000);
  expect(await ask()).toEqual({ code: 200, reused: true });
  clock.advance(120_000);
  expect(await ask()).toEqual({ code: 401, reused: true });
});

test("an authority that no longer counts takes its certificates with it", async () => {
  const ask = connection(issue(authority, hourMs));
  expect(await ask()).toEqual({ code: 200, reused: false });
  const next = createAuthority("second");
  // While both count, as during a rotation.
  const own = issue(next, hourMs);
  server.updateTls({
    ...own,
    clientCa: `${authority.certificate}\n${next.certificate}`,
  });
  expect(await ask()).toEqual({ code: 200, reused: true });
  server.updateTls({ ...own, clientCa: next.certificate });
  expect(await ask()).toEqual({ code: 401, reused: true });
  expect(await connection(issue(next, hourMs))()).toMatchObject({ code: 200 });
});
