// The agent's port follows the files of its certificate and of its clients' authority while it serves.
import * as fs from "node:fs";
import * as path from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { openAgentPorts } from "../../../cli/parts/agent/agent-ports.ts";
import { ServingFiles } from "../../../cli/parts/agent/serving-files.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { freePort } from "../../support/free-port.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { createScriptedView } from "../server/scripted-view.ts";
import { useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

/** What a client sees: the name in the certificate, and whether its own is believed. */
function greet(
  port: number,
  client: CertificatePair,
): Promise<{ name: string; status: string }> {
  return new Promise((resolve, reject) => {
    let peer: PeerCertificate | undefined;
    const socket = connect(
      {
        ...{ port, host: "127.0.0.1", rejectUnauthorized: false },
        ...{ cert: client.certificate, key: client.key },
      },
      () => {
        peer = socket.getPeerCertificate();
        socket.write(
          "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        );
      },
    );
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () =>
      resolve({ name: String(peer?.subject.CN), status: text.slice(9, 12) }),
    );
  });
}

test("a renewed pair and another authority are used, a damaged one is not", async () => {
  const directory = directories();
  const clock = new FakeClock(Date.now());
  const file = (name: string): string => path.join(directory, name);
  const authority = (commonName: string): CertificatePair =>
    createCertificateAuthority({ subject: { commonName }, nowMs: clock.now() });
  const [first, second] = [authority("first"), authority("second")];
  const issue = (by: CertificatePair, commonName: string): CertificatePair =>
    issueCertificate(by, {
      subject: { commonName },
      usages: ["client auth", "server auth"],
      ...{ validityMs: YEAR_MS, nowMs: clock.now() },
    });
  const write = (pair: CertificatePair, ca: CertificatePair): void => {
    fs.writeFileSync(file("s.crt"), pair.certificate);
    fs.writeFileSync(file("s.key"), pair.key);
    fs.writeFileSync(file("ca.crt"), ca.certificate);
  };
  write(issue(first, "one"), first);
  const port = await freePort();
  const options = {
    values: parseOptions(agentOptions, [
      ...[`--port=${port}`, "--read-only-port=0", "--healthz-port=0"],
      `--tls-cert-file=${file("s.crt")}`,
      `--tls-private-key-file=${file("s.key")}`,
      `--client-ca-file=${file("ca.crt")}`,
      "--anonymous-auth=false",
    ]),
    ...{ clock, certificateDirectory: directory },
    logger: pino({ level: "silent" }),
  };
  const server = (await openAgentPorts(options, createScriptedView()))!;
  open.push(server);
  const serving = new ServingFiles(options, server);
  await serving.start();
  const client = issue(first, "client");
  expect(await greet(port, client)).toEqual({ name: "one", status: "200" });

  const sees = (name: string, status: string): Promise<boolean> =>
    eventually(async () => {
      await clock.advanceAsync(10_000);
      expect(await greet(port, client)).toEqual({ name, status });
      return true;
    });
  fs.writeFileSync(file("s.crt"), "damaged");
  await sees("one", "200");
  write(issue(first, "two"), first);
  await sees("two", "200");
  write(issue(second, "three"), second);
  await sees("three", "401");
  serving.stop();
});
