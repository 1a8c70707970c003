// Which servers the bundle of a webhook, a conversion or an APIService trusts, where it holds an authority without that
// one's own issuer: Go trusts every certificate of a bundle, and nothing beside.
import * as fs from "node:fs";
import * as https from "node:https";
import * as net from "node:net";
import { once } from "node:events";
import { ExtensionServer } from "../../../apiserver-lite/aggregation/extension-server.ts";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import {
  authority,
  issueIn,
  type Issue,
  type Pair,
} from "../../support/openssl-certificates.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const leafOf = (name: string, usage = "serverAuth"): string =>
  `basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=${usage}\nsubjectAltName=${name}`;
const right = "DNS:localhost";
const expired = ["-days", "-1"];

const directories = useTempDirectories();
let issue: Issue;
let root: Pair;
let middle: Pair;
beforeAll(() => {
  issue = issueIn(directories());
  root = issue("root", authority);
  middle = issue("middle", authority, root);
});

const pem = ({ certificate }: Pair): string => certificate.toString();

type Ask = (port: number, ca: string) => Promise<string>;

const asWebhook: Ask = async (port, ca) => {
  const webhook = new JsonWebhook(
    { server: `https://localhost:${port}/`, tls: { ca } },
    { timeoutMs: 10_000 },
  );
  try {
    return await webhook.post("{}");
  } catch (error) {
    return (error as Error).message;
  } finally {
    await webhook.close();
  }
};

const asExtension: Ask = async (port, ca) => {
  const tls = { authority: ca, insecure: false, serverName: "localhost" };
  const server = new ExtensionServer(tls, undefined);
  try {
    return await new Promise<string>((resolve) => {
      const request = server.request(
        { host: "127.0.0.1", port },
        { method: "POST", path: "/", headers: {} },
      );
      request.on("error", (error) => resolve(error.message));
      request.on("response", (response) => {
        response.setEncoding("utf8");
        response.on("data", (text: string) => resolve(text));
      });
      request.end("{}");
    });
  } finally {
    server.close();
  }
};

/** The answer, or why there is none, and the requests that arrived. */
async function asked(
  ask: Ask,
  leaf: Pair,
  bundle: readonly Pair[],
  sent: readonly Pair[] = [leaf],
): Promise<readonly [string, number]> {
  let requests = 0;
  const server = https.createServer(
    { cert: sent.map(pem).join(""), key: fs.readFileSync(`${leaf.file}.key`) },
    (_, response) => {
      requests++;
      response.end("answered");
    },
  );
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  try {
    const { port } = server.address() as net.AddressInfo;
    return [await ask(port, bundle.map(pem).join("")), requests];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe.each([
  ["a webhook", asWebhook],
  ["an APIService", asExtension],
])("the bundle of %s", (_, ask) => {
  test("trusts an authority whose own issuer is not in it", async () => {
    const leaf = issue("leaf", leafOf(right), middle);
    expect(await asked(ask, leaf, [middle])).toEqual(["answered", 1]);
    expect(await asked(ask, leaf, [root, middle])).toEqual(["answered", 1]);
    expect(await asked(ask, leaf, [root], [leaf, middle])).toEqual([
      "answered",
      1,
    ]);
    const below = issue("below", authority, middle);
    const deep = issue("deep", leafOf(right), below);
    expect(await asked(ask, deep, [middle], [deep, below])).toEqual([
      "answered",
      1,
    ]);
  });

  test("trusts nothing else, and no request is sent", async () => {
    const namesake = issue("middle", authority, root);
    const noAuthority = issue("none", leafOf(right), middle);
    const usages = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,";
    const noSigner = issue("mute", `${usages}digitalSignature`, root);
    const past = issue("past", authority, root, expired);
    const leaf = issue("leaf", leafOf(right), middle);
    const cases: Record<string, readonly [Pair, readonly Pair[]]> = {
      "another authority of that name": [leaf, [namesake]],
      "a sibling": [leaf, [noAuthority]],
      "no authority": [issue("l", leafOf(right), noAuthority), [noAuthority]],
      "may not sign": [issue("l", leafOf(right), noSigner), [noSigner]],
      "an authority of the past": [issue("l", leafOf(right), past), [past]],
      "a leaf of the past": [
        issue("l", leafOf(right), middle, expired),
        [middle],
      ],
      "another host": [issue("l", leafOf("DNS:other"), middle), [middle]],
      "a client's": [issue("l", leafOf(right, "clientAuth"), middle), [middle]],
      "its own": [issue("l", leafOf(right)), [middle]],
    };
    for (const [what, [shown, bundle]] of Object.entries(cases)) {
      const [answer, requests] = await asked(ask, shown, bundle);
      expect([what, answer]).not.toEqual([what, "answered"]);
      expect([what, requests]).toEqual([what, 0]);
    }
  });

  test("trusts servers without a name that its authority without a name signed", async () => {
    const bare = "subjectKeyIdentifier=none\nauthorityKeyIdentifier=none";
    const signing = `basicConstraints=CA:TRUE\nkeyUsage=digitalSignature,keyCertSign\n${bare}`;
    const nameless = issue("", signing);
    const other = issue("", signing);
    const names = `subjectAltName=${right}\n${bare}`;
    const leaf = issue("", names, nameless);
    expect(await asked(ask, leaf, [nameless])).toEqual(["answered", 1]);
    expect(await asked(ask, leaf, [root, nameless])).toEqual(["answered", 1]);
    const elsewhere = issue("", `subjectAltName=DNS:other\n${bare}`, nameless);
    const refused: readonly (readonly [Pair, readonly Pair[]])[] = [
      [leaf, [other]],
      [leaf, [root]],
      [issue("", names, nameless, expired), [nameless]],
      [issue("", names), [nameless]],
      [elsewhere, [nameless]],
    ];
    for (const [shown, bundle] of refused) {
      const [answer, requests] = await asked(ask, shown, bundle);
      expect([answer, requests]).not.toEqual(["answered", 1]);
      expect(requests).toBe(0);
    }
  });
});

test("a connection under way to an extension ends with its server", async () => {
  const silent = net.createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const tls = {
    authority: pem(root),
    insecure: false,
    serverName: "localhost",
  };
  const extension = new ExtensionServer(tls, undefined);
  try {
    const { port } = silent.address() as net.AddressInfo;
    const request = extension.request(
      { host: "127.0.0.1", port },
      { method: "GET", path: "/", headers: {} },
    );
    request.end();
    const failed = once(request, "error");
    const [socket] = (await once(silent, "connection")) as [net.Socket];
    socket.on("error", () => undefined).resume();
    const closed = once(socket, "close");
    extension.close();
    await failed.catch(() => undefined);
    await closed;
    expect(() =>
      extension.request(
        { host: "127.0.0.1", port },
        { method: "GET", path: "/", headers: {} },
      ),
    ).toThrow("closed");
  } finally {
    silent.close();
  }
});
