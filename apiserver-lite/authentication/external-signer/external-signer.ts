// Tokens that a program beside this server signs (--service-account-signing-endpoint): it gets the payload and answers with
// header and signature, which are looked at before a client gets them.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Family } from "../../../api/metrics/family.ts";
import { isJwtAlgorithm, type TokenSigner } from "../../../api/pki/jwt.ts";
import type { PublicKeys } from "../service-account/public-keys.ts";
import { KeyCache, maxKeyIdLength } from "./key-cache.ts";
import { SignerMetrics } from "./signer-metrics.ts";
import { connectSigner, type SignerService } from "./signer-service.ts";

export interface ExternalSigner extends TokenSigner {
  readonly keys: PublicKeys;
  /** Tokens live this long at most, in seconds. */
  readonly maxExpirationSeconds: number;
  families(): Family[];
  close(): void;
}

interface ExternalSignerOptions {
  /** Of the socket; one without a file begins with a zero byte. */
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The least a client may ask for. */
const minExpirationSeconds = 600;
const headerFields = new Set(["alg", "kid", "typ"]);

/** Rejects when the signer is not there within a minute, or has no keys that can be used. */
export async function connectExternalSigner({
  socketPath,
  clock,
  logger,
}: ExternalSignerOptions): Promise<ExternalSigner> {
  const metrics = new SignerMetrics();
  const service = await connectSigner(socketPath, metrics);
  const keys = new KeyCache({ service, metrics, clock, logger });
  const close = (): void => {
    keys.stop();
    service.close();
  };
  try {
    await keys.start();
    const { maxTokenExpirationSeconds: seconds } = await service.metadata();
    if (seconds < minExpirationSeconds)
      throw new Error(
        `max token life supported by external-jwt-signer (${seconds}s) is less than acceptable (min ${minExpirationSeconds}s)`,
      );
    return {
      keys,
      maxExpirationSeconds: seconds,
      async sign(claims) {
        try {
          const token = await signed(service, keys, claims);
          metrics.signed();
          return token;
        } catch (error) {
          metrics.signed(error);
          throw error;
        }
      },
      families: () => metrics.families(),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function signed(
  service: SignerService,
  keys: KeyCache,
  claims: object,
): Promise<string> {
  const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
  const { header, signature } = await service.sign(payload).catch((error) => {
    throw new Error(`while signing jwt: ${(error as Error).message}`, {
      cause: error,
    });
  });
  const problem = await headerProblem(header, keys);
  if (problem) throw new Error(`while validating header: ${problem}`);
  if (signature === "") throw new Error("empty signature returned");
  if (!/^[\w-]+$/.test(signature))
    throw new Error("the signature returned is not URL-safe base64");
  return `${header}.${payload}.${signature}`;
}

/** What is wrong with a header, in the reference's words. */
async function headerProblem(
  header: string,
  keys: KeyCache,
): Promise<string | undefined> {
  if (!/^[\w-]+$/.test(header))
    return "while unwrapping header: it is not URL-safe base64";
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<
      string,
      unknown
    >;
  } catch (error) {
    return `while parsing header JSON: ${(error as Error).message}`;
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    return "while parsing header JSON: it is no object";
  const unknown = Object.keys(fields).find((name) => !headerFields.has(name));
  if (unknown !== undefined)
    return `while parsing header JSON: json: unknown field ${JSON.stringify(unknown)}`;
  const { alg, kid, typ } = fields;
  if (typ !== "JWT") return "bad type";
  if (typeof kid !== "string" || kid === "") return "key id missing";
  if (kid.length > maxKeyIdLength) return "key id longer than 1 kb";
  if (!isJwtAlgorithm(alg))
    return `bad signing algorithm ${JSON.stringify(alg ?? "")}`;
  // One that is not known yet may be among those that are fetched for it.
  await keys.named(kid);
  return keys.isHidden(kid)
    ? `key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`
    : undefined;
}
