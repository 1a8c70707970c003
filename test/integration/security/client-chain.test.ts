// Clients whose certificate comes from an intermediate of the trusted authority, by both protocols and in resumed sessions.
import { once } from "node:events";
import * as fs from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { connect, type TLSSocket } from "node:tls";
import { systemClock } from "../../../api/clock.ts";
import {
  ClientCertificateAuthenticator,
  ClientCertificateVerifier,
} from "../../../http-kit/authentication/client-certificate.ts";
import { selfSubjectReview } from "../../../apiserver-lite/authentication/reviews.ts";
import { startTestServer, type TestServer } from "../apiserver/support.ts";
import {
  authority,
  client,
  issueIn,
  type Pair,
} from "../../support/openssl-certificates.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

const directory = makeTempDirectory("orbit-client-chain-");
const pem = ({ file }: Pair): string => fs.readFileSync(`${file}.crt`, "utf8");
const key = ({ file }: Pair): string => fs.readFileSync(`${file}.key`, "utf8");

const issue = issueIn(directory);
const root = issue("root", authority);
const middle = issue("middle", authority, root);
const ann = issue("ann", client, middle);
const weak = issue("weak", "basicConstraints=critical,CA:FALSE", root);
const eve = issue("eve", client, weak);

let server: TestServer;
beforeAll(async () => {
  const serving = issue("server", "subjectAltName=IP:127.0.0.1", root);
  server = await startTestServer({
    tls: {
      cert: pem(serving),
      key: Buffer.from(key(serving)),
      clientCa: pem(root),
    },
    anonymous: false,
    parts: () => ({
      authenticators: [
        new ClientCertificateAuthenticator(
          new ClientCertificateVerifier(pem(root), systemClock),
        ),
      ],
      strategyFor: (_, resource) =>
        resource === "selfsubjectreviews"
          ? { virtual: selfSubjectReview }
          : undefined,
    }),
  });
});
afterAll(async () => {
  await server.stop();
  removeTempDirectory(directory);
});

const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const body = JSON.stringify({
  apiVersion: "authentication.k8s.io/v1",
  kind: "SelfSubjectReview",
});
const headers = { "content-type": "application/json" };

function credentials(leaf: Pair, chain: readonly Pair[]) {
  return {
    cert: [leaf, ...chain].map(pem).join(""),
    key: key(leaf),
    ca: pem(root),
    host: "127.0.0.1",
    port: server.server.port,
  };
}

async function whoByHttp1(leaf: Pair, chain: readonly Pair[]): Promise<string> {
  const sent = request({
    ...credentials(leaf, chain),
    path,
    method: "POST",
    headers,
    agent: false,
  });
  sent.end(body);
  const [answer] = await once(sent, "response");
  return nameIn(await text(answer));
}

async function whoByHttp2(leaf: Pair, chain: readonly Pair[]): Promise<string> {
  const session = connectHttp2(
    `https://127.0.0.1:${server.server.port}`,
    credentials(leaf, chain),
  );
  const stream = session.request({
    ":path": path,
    ":method": "POST",
    ...headers,
  });
  stream.end(body);
  const answer = await text(stream);
  session.close();
  return nameIn(answer);
}

function nameIn(answer: string): string {
  const { status, message } = JSON.parse(answer) as {
    status?: { userInfo?: { username: string } };
    message?: string;
  };
  return status?.userInfo?.username ?? message ?? "";
}

describe.each([
  ["HTTP/1.1", whoByHttp1],
  ["HTTP/2", whoByHttp2],
])("%s", (_, who) => {
  it("knows who comes with the intermediate, and nobody else", async () => {
    expect(await who(eve, [weak])).toBe("Unauthorized");
    expect(await who(ann, [middle])).toBe("ann");
  });
});

it("knows the client of a resumed session, which shows the leaf alone", async () => {
  const options = credentials(ann, [middle]);
  let session: Buffer | undefined;
  async function ask(): Promise<[string, boolean]> {
    const socket: TLSSocket = connect({
      ...options,
      ...(session ? { session } : {}),
    });
    socket.on("session", (kept: Buffer) => (session = kept));
    await once(socket, "secureConnect");
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    const answer = await text(socket);
    const at = answer.indexOf("{");
    return [nameIn(answer.slice(at)), socket.isSessionReused()];
  }
  expect((await ask())[0]).toBe("ann");
  const [again] = await ask();
  expect(again).toBe("ann");
});
