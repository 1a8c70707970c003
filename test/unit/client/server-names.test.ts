// A certificate names its server in its extension. Node would also take the common name of its subject, as clients of
// Kubernetes do not: whoever has any certificate of an authority with such a name would be the server.
import { once } from "node:events";
import * as fs from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import { createHttpPools } from "../../../client/http-pools.ts";
import { BundleConnections } from "../../../client/webhook/bundle-connections.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import {
  authority,
  issueIn,
  type Pair,
} from "../../support/openssl-certificates.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

async function byWebhook(port: number, ca: string): Promise<string> {
  const webhook = new JsonWebhook(
    { server: `https://localhost:${port}/`, tls: { ca } },
    { timeoutMs: 10_000 },
  );
  try {
    return await webhook.post("{}");
  } finally {
    await webhook.close();
  }
}

async function byBundle(port: number, ca: string): Promise<string> {
  const connections = new BundleConnections({ bundle: ca, dial: undefined });
  try {
    const request = https.get({
      ...{ host: "localhost", port },
      agent: connections.createAgent({}),
    });
    const [response] = (await once(request, "response")) as [
      AsyncIterable<Buffer>,
    ];
    let text = "";
    for await (const chunk of response) text += chunk.toString();
    return text;
  } finally {
    connections.close();
  }
}

async function byPools(port: number, ca: string): Promise<string> {
  const pools = await createHttpPools(`https://localhost:${port}`, { ca }, 1);
  try {
    const { body } = await pools.requests.request({ path: "/", method: "GET" });
    return await body.text();
  } finally {
    await pools.requests.destroy();
    await pools.watches.destroy();
  }
}

async function serving<T>(
  { certificate, file }: Pair,
  work: (port: number) => Promise<T>,
): Promise<T> {
  const server = https.createServer(
    { cert: certificate.toString(), key: fs.readFileSync(`${file}.key`) },
    (_, response) => response.end("answered"),
  );
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test.each([
  ["a webhook", byWebhook],
  ["aggregation", byBundle],
  ["a client of the API", byPools],
])("%s goes by the names in the extension alone", async (_, ask) => {
  const issue = issueIn(directories());
  const ca = issue("ca", authority);
  const answer = (extensions: string): Promise<string> =>
    serving(issue("localhost", extensions, ca), (port) =>
      ask(port, ca.certificate.toString()).catch(
        (error: unknown) => (error as Error).message,
      ),
    );
  expect(await answer("subjectAltName=DNS:localhost")).toBe("answered");
  const refused =
    /does not contain a DNS name|legacy Common Name|not valid for any names/;
  expect(await answer("keyUsage=digitalSignature")).toMatch(refused);
  expect(await answer("subjectAltName=IP:192.0.2.1")).toMatch(refused);
  expect(await answer("subjectAltName=email:a@localhost")).toMatch(refused);
});
