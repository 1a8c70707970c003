// OpenID discovery of the service account issuer: who verifies tokens without asking this server finds the keys here.
// An issuer that is no https URL has no document.
import type { PathHandler } from "../serving/path-handler.ts";
import type { PublicKeys } from "../authentication/service-account/public-keys.ts";

interface IssuerDiscoveryOptions {
  readonly issuer: string;
  readonly keys: PublicKeys;
  /** Where the document says that the keys are. */
  readonly jwksUri: () => string;
}

const document = "/.well-known/openid-configuration";
export const jwksPath = "/openid/v1/jwks";

export function issuerDiscoveryPaths({
  issuer,
  keys,
  jwksUri,
}: IssuerDiscoveryOptions): PathHandler[] {
  if (!issuer.startsWith("https://") || keys.published().length === 0)
    return [];
  const serve = (
    path: string,
    contentType: string,
    content: () => object,
  ): PathHandler => ({
    path,
    route: { methods: ["GET"], produces: [contentType] },
    handle: (request) =>
      request.respond(
        200,
        {
          "content-type": contentType,
          "cache-control": `public, max-age=${keys.maxAgeSeconds()}`,
        },
        JSON.stringify(content()),
      ),
  });
  return [
    serve(document, "application/json", () => ({
      issuer,
      jwks_uri: jwksUri(),
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [
        ...new Set(keys.published().map(({ algorithm }) => algorithm)),
      ].sort(),
    })),
    serve(jwksPath, "application/jwk-set+json", () => ({
      keys: keys.published().map(({ id, algorithm, key }) => ({
        use: "sig",
        kid: id,
        alg: algorithm,
        ...key.export({ format: "jwk" }),
      })),
    })),
  ];
}
