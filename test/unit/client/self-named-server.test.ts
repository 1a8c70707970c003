// Webhooks whose certificate and whose authority have one name, as Knative makes them, or none, as some operators do:
// trusted when the bundle's key signed them and all else is right, and in no other case; no request reaches one that is not.
import { X509Certificate } from "node:crypto";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { JsonWebhook } from "../../../client/webhook/json-webhook.ts";
import { isFromBundle } from "../../../client/webhook/self-named-server.ts";
import {
  issueIn,
  type Issue,
  type Pair,
} from "../../support/openssl-certificates.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const bare = "subjectKeyIdentifier=none\nauthorityKeyIdentifier=none";
const signing = `basicConstraints=CA:TRUE\nkeyUsage=digitalSignature,keyCertSign\n${bare}`;
const leafOf = (name = "DNS:localhost", more = ""): string =>
  `subjectAltName=${name}\n${bare}${more}`;
const past = ["-days", "-1"];
/** Knative's: only the authority's has an identifier of its key. */
const knativeSigning = `basicConstraints=critical,CA:TRUE
keyUsage=critical,digitalSignature,keyCertSign
extendedKeyUsage=serverAuth,clientAuth
subjectKeyIdentifier=hash
authorityKeyIdentifier=none`;
const knativeServer = `
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth`;

const directories = useTempDirectories();
let issue: Issue;
beforeAll(() => {
  issue = issueIn(directories());
});

const pem = ({ certificate }: Pair): string => certificate.toString();

interface Shown {
  /** On connections from now on. */
  readonly show: (pair: Pair) => void;
  requests: number;
}

async function serving<T>(
  first: Pair,
  work: (port: number, shown: Shown) => Promise<T>,
): Promise<T> {
  const contextOf = (pair: Pair) => ({
    cert: pem(pair),
    key: fs.readFileSync(`${pair.file}.key`),
  });
  const server = https.createServer(contextOf(first), (_, response) => {
    shown.requests++;
    // A connection for each request.
    response.setHeader("connection", "close");
    response.end("answered");
  });
  const shown: Shown = {
    show: (pair) => {
      server.setSecureContext(contextOf(pair));
    },
    requests: 0,
  };
  server.on("tlsClientError", () => undefined);
  server.listen(0, "localhost");
  await once(server, "listening");
  try {
    return await work((server.address() as AddressInfo).port, shown);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function withWebhook<T>(
  port: number,
  ca: string,
  work: (ask: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const webhook = new JsonWebhook(
    { server: `https://localhost:${port}/`, tls: { ca } },
    { timeoutMs: 10_000 },
  );
  try {
    return await work(() =>
      webhook.post("{}").catch((error: unknown) => (error as Error).message),
    );
  } finally {
    await webhook.close();
  }
}

const asked = (
  shown: Pair,
  bundle: string,
): Promise<readonly [string, number]> =>
  serving(shown, (port, state) =>
    withWebhook(
      port,
      bundle,
      async (ask) => [await ask(), state.requests] as const,
    ),
  );

describe.each([
  ["no name", "", signing, ""],
  ["one name", "webhook.test.svc", knativeSigning, knativeServer],
])("a server and its authority have %s:", (_, name, ofAuthority, ofServer) => {
  let authority: Pair;
  let leaf: Pair;
  beforeAll(() => {
    authority = issue(name, ofAuthority);
    leaf = issue(name, leafOf("DNS:localhost", ofServer), authority);
  });

  test("a server is trusted that the bundle's key signed, over and over", async () => {
    expect(await asked(leaf, pem(authority))).toEqual(["answered", 1]);
    const other = issue(name, signing);
    const bundle = pem(other) + pem(authority);
    expect(await asked(leaf, bundle)).toEqual(["answered", 1]);
    await serving(leaf, (port, shown) =>
      withWebhook(port, pem(authority), async (ask) => {
        expect([await ask(), await ask()]).toEqual(["answered", "answered"]);
        // It renews its certificate.
        shown.show(issue(name, leafOf(), authority));
        expect([await ask(), await ask()]).toEqual(["answered", "answered"]);
        // Another server takes its place.
        shown.show(issue(name, leafOf(), other));
        expect(await ask()).toContain(
          "certificate signed by unknown authority",
        );
        expect(shown.requests).toBe(4);
      }),
    );
  });

  test("no other server is, and none gets a request", async () => {
    const other = issue(name, signing);
    const noAuthority = issue(name, `basicConstraints=CA:FALSE\n${bare}`);
    const noSigner = issue(
      name,
      `basicConstraints=CA:TRUE\nkeyUsage=digitalSignature\n${bare}`,
    );
    const old = issue(name, signing, undefined, past);
    const clients = issue(name, `${signing}\nextendedKeyUsage=clientAuth`);
    const named = issue(name, `${signing}\nnameConstraints=permitted;DNS:x.y`);
    const byAuthority = (more: string, options?: string[]): Pair =>
      issue(name, leafOf("DNS:localhost", more), authority, options);
    const cases: Record<string, readonly [Pair, Pair]> = {
      "another signer": [issue(name, leafOf(), other), authority],
      itself: [issue(name, leafOf()), authority],
      "a signer that is no authority": [
        issue(name, leafOf(), noAuthority),
        noAuthority,
      ],
      "a signer that may not sign": [issue(name, leafOf(), noSigner), noSigner],
      "a signer of the past": [issue(name, leafOf(), old), old],
      "a signer for clients": [issue(name, leafOf(), clients), clients],
      "a signer for other names": [issue(name, leafOf(), named), named],
      "of the past": [byAuthority("", past), authority],
      "a client": [byAuthority("\nextendedKeyUsage=clientAuth"), authority],
      "with what is not understood": [
        byAuthority("\n1.2.3.4=critical,DER:0500"),
        authority,
      ],
      "of another name": [
        issue(name, leafOf("DNS:other"), authority),
        authority,
      ],
      "of another address": [
        issue(name, leafOf("IP:10.1.2.3"), authority),
        authority,
      ],
    };
    for (const [what, [shown, trusted]] of Object.entries(cases)) {
      const [answer, requests] = await asked(shown, pem(trusted));
      expect([what, answer]).not.toEqual([what, "answered"]);
      expect([what, requests]).toEqual([what, 0]);
    }
  });
});

test("what can't be read in a bundle takes nothing else from it", async () => {
  const authority = issue("ca", signing);
  const leaf = issue("leaf", leafOf(), authority);
  const broken =
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const answered = ["answered", 1];
  expect(await asked(leaf, broken + pem(authority))).toEqual(answered);
  expect(await asked(leaf, pem(authority) + broken)).toEqual(answered);
  const [refused, requests] = await asked(leaf, broken);
  expect(refused).not.toBe("answered");
  expect(requests).toBe(0);
});

test("a certificate that was changed, or whose signer has another kind of key, is from no bundle", () => {
  const authority = issue("", signing);
  const { certificate } = issue("", leafOf(), authority);
  const nowMs = Date.now();
  const authorities = [authority.certificate];
  expect(isFromBundle(certificate, authorities, nowMs)).toBe(true);
  expect(isFromBundle(certificate, [], nowMs)).toBe(false);
  expect(isFromBundle(certificate, authorities, nowMs + 10 * 86_400_000)).toBe(
    false,
  );
  const name = certificate.raw.indexOf("localhost");
  for (const at of [name, certificate.raw.length - 1]) {
    const raw = Buffer.from(certificate.raw);
    raw[at]! ^= 1;
    const changed = new X509Certificate(raw);
    expect(isFromBundle(changed, authorities, nowMs)).toBe(false);
  }
  const file = path.join(directories(), "rsa");
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/"],
      ...["-keyout", `${file}.key`, "-out", `${file}.crt`],
    ],
    { stdio: "pipe" },
  );
  const rsa = new X509Certificate(fs.readFileSync(`${file}.crt`));
  expect(isFromBundle(certificate, [rsa], nowMs)).toBe(false);
  const named = issue("webhook", leafOf(), authority).certificate;
  expect(isFromBundle(named, authorities, nowMs)).toBe(false);
});
