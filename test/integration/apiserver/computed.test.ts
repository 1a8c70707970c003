// Answers that are made when they are asked for: componentstatuses and the issuer's discovery documents.
import { fixedKeys } from "../../../apiserver-lite/authentication/service-account/public-keys.ts";
import { generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from "jose";
import { createStrategies } from "../../../apiserver-lite/resources/index.ts";
import { issuerDiscoveryPaths } from "../../../apiserver-lite/discovery/issuer-discovery.ts";
import { JwtSigner, verificationKey } from "../../../api/pki/jwt.ts";
import { startTestServer, type TestServer } from "./support.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function start(
  options: Parameters<typeof startTestServer>[0],
): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}

const issuer = "https://kubernetes.default.svc.cluster.local";

function keyPair() {
  return generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
}

it("publishes keys that verify the tokens it signs", async () => {
  const { privateKey, publicKey } = keyPair();
  const { call } = await start({
    parts: () => ({
      paths: issuerDiscoveryPaths({
        issuer,
        keys: fixedKeys([verificationKey(publicKey)]),
        jwksUri: () => "https://here/openid/v1/jwks",
      }),
    }),
  });
  const document = await call("GET", "/.well-known/openid-configuration");
  expect(document.headers.get("content-type")).toBe("application/json");
  expect(document.body).toEqual({
    issuer,
    jwks_uri: "https://here/openid/v1/jwks",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
  const jwks = await call("GET", "/openid/v1/jwks");
  expect(jwks.headers.get("content-type")).toBe("application/jwk-set+json");
  expect(jwks.text).not.toContain('"d"');
  const token = new JwtSigner(privateKey).sign({ iss: issuer, sub: "me" });
  const { payload } = await jwtVerify(
    token,
    createLocalJWKSet(jwks.body as JSONWebKeySet),
  );
  expect(payload.sub).toBe("me");
  const other = new JwtSigner(keyPair().privateKey).sign({ iss: issuer });
  await expect(
    jwtVerify(other, createLocalJWKSet(jwks.body as JSONWebKeySet)),
  ).rejects.toThrow();
});

it("publishes nothing for an issuer that is no https URL", () => {
  const keys = fixedKeys([verificationKey(keyPair().publicKey)]);
  expect(
    issuerDiscoveryPaths({ issuer: "orbit", keys, jwksUri: () => "" }),
  ).toEqual([]);
});

describe("componentstatuses", () => {
  const componentChecks = [
    { name: "scheduler", check: () => Promise.reject(new Error("gone")) },
    { name: "etcd-0", check: () => Promise.resolve("ok") },
  ];

  it("tells what the checks say, when asked", async () => {
    const { call } = await start({
      parts: () => ({ strategyFor: createStrategies({ componentChecks }) }),
    });
    const listed = await call("GET", "/api/v1/componentstatuses");
    expect(listed.status).toBe(200);
    expect(listed.headers.get("warning")).toBe(
      '299 - "v1 ComponentStatus is deprecated in v1.19+"',
    );
    expect(listed.body).toMatchObject({
      kind: "ComponentStatusList",
      items: [
        {
          metadata: { name: "scheduler" },
          conditions: [{ type: "Healthy", status: "False", message: "gone" }],
        },
        {
          metadata: { name: "etcd-0" },
          conditions: [{ type: "Healthy", status: "True", message: "ok" }],
        },
      ],
    });
    const one = await call("GET", "/api/v1/componentstatuses/etcd-0");
    expect(one.body.conditions[0].message).toBe("ok");
    const table = await call("GET", "/api/v1/componentstatuses", undefined, {
      accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    });
    expect(table.body.rows[0].cells).toEqual([
      "scheduler",
      "Unhealthy",
      "gone",
      "",
    ]);
  });

  it("knows no others, and can't be written or watched", async () => {
    const { call } = await start({
      parts: () => ({ strategyFor: createStrategies({ componentChecks }) }),
    });
    const path = "/api/v1/componentstatuses";
    expect((await call("GET", `${path}/other`)).status).toBe(404);
    expect((await call("GET", `${path}?watch=1`)).status).toBe(405);
    expect((await call("POST", path, {})).status).toBe(405);
    expect((await call("DELETE", `${path}/etcd-0`)).status).toBe(405);
  });
});
