// The calls of an external signer of tokens (v1alpha1): a gRPC server on a unix socket of this machine. One that is not
// there is waited for until the call's time is over. What is in an answer is not looked at.
import {
  GrpcChannel,
  grpcCodeName,
  grpcStatusText,
  loadGrpc,
  type GrpcMethod,
} from "../../../grpc/channel.ts";
import { createWireCodec, type WireTable } from "../../../grpc/wire.ts";
import type { SignerMetrics } from "./signer-metrics.ts";

export const signerTable: WireTable = {
  SignJWTRequest: [["claims", 1, "string", 0]],
  SignJWTResponse: [
    ["header", 1, "string", 0],
    ["signature", 2, "string", 0],
  ],
  FetchKeysRequest: [],
  FetchKeysResponse: [
    ["keys", 1, "Key", 1],
    ["dataTimestamp", 2, "Timestamp", 0],
    ["refreshHintSeconds", 3, "int64", 0],
  ],
  Key: [
    ["keyId", 1, "string", 0],
    ["key", 2, "bytes", 0],
    ["excludeFromOidcDiscovery", 3, "bool", 0],
  ],
  Timestamp: [
    ["seconds", 1, "int64", 0],
    ["nanos", 2, "int32", 0],
  ],
  MetadataRequest: [],
  MetadataResponse: [["maxTokenExpirationSeconds", 1, "int64", 0]],
};

const methodOf = (name: string, message = name): GrpcMethod => ({
  path: `/v1alpha1.ExternalJWTSigner/${name}`,
  request: `${message}Request`,
  response: `${message}Response`,
});
export const signerMethods = {
  sign: methodOf("Sign", "SignJWT"),
  fetchKeys: methodOf("FetchKeys"),
  metadata: methodOf("Metadata"),
};

export interface FetchedKeys {
  readonly keys: readonly {
    readonly keyId: string;
    /** A public key as DER. */
    readonly key: Uint8Array;
    readonly excludeFromOidcDiscovery: boolean;
  }[];
  readonly dataTimestamp?: {
    readonly seconds: number;
    readonly nanos: number;
  };
  readonly refreshHintSeconds: number;
}

/** Every call rejects with a SignerCallError, at the latest after its time. */
export interface SignerService {
  /** @param claims the payload of the token, in base64url */
  sign(claims: string): Promise<{ header: string; signature: string }>;
  fetchKeys(timeoutMs: number): Promise<FetchedKeys>;
  metadata(): Promise<{ maxTokenExpirationSeconds: number }>;
  close(): void;
}

/** The text is as the reference writes it; `code` is the name of gRPC's. */
class SignerCallError extends Error {
  readonly code: string;

  constructor(cause: unknown) {
    super(grpcStatusText(cause), { cause });
    this.name = "SignerCallError";
    this.code = grpcCodeName(cause);
  }
}

/** A client waits for its token meanwhile. */
const signTimeoutMs = 30_000;
const metadataTimeoutMs = 10_000;
/** A signer that starts is found within this time. */
const maxReconnectMs = 3000;

/** @param socketPath of the socket; one without a file begins with a zero byte */
export async function connectSigner(
  socketPath: string,
  metrics: SignerMetrics,
): Promise<SignerService> {
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `unix:${socketPath}`,
    codec: createWireCodec(signerTable),
    settings: {
      "grpc.default_authority": "localhost",
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": maxReconnectMs,
      "grpc.use_local_subchannel_pool": 1,
    },
  });
  const call = async <T>(
    method: GrpcMethod,
    request: object,
    timeoutMs: number,
  ): Promise<T> => {
    const began = performance.now();
    let code = "OK";
    try {
      const options = { timeoutMs, waitForReady: true };
      return await channel.unary<T>(method, request, options);
    } catch (error) {
      const failure = new SignerCallError(error);
      code = failure.code;
      throw failure;
    } finally {
      metrics.called(method.path, code, performance.now() - began);
    }
  };
  return {
    sign: (claims) => call(signerMethods.sign, { claims }, signTimeoutMs),
    fetchKeys: (timeoutMs) => call(signerMethods.fetchKeys, {}, timeoutMs),
    metadata: () => call(signerMethods.metadata, {}, metadataTimeoutMs),
    close: () => channel.close(),
  };
}
