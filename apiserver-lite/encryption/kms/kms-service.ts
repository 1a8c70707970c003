// The calls of a KMS v2 plug-in: a gRPC server on a unix socket of this machine. A plug-in that is not there is waited for
// until the call's time is over, so each call ends within the provider's timeout. What is in an answer is not looked at.
import { randomUUID } from "node:crypto";
import {
  GrpcChannel,
  grpcCodeName,
  grpcStatusText,
  loadGrpc,
  type GrpcMethod,
} from "../../../grpc/channel.ts";
import { createWireCodec, type WireTable } from "../../../grpc/wire.ts";
import type { Annotations, DekSource } from "./encrypted-object.ts";
import type { KmsMetrics } from "./kms-metrics.ts";

export const kmsTable: WireTable = {
  StatusRequest: [],
  StatusResponse: [
    ["version", 1, "string", 0],
    ["healthz", 2, "string", 0],
    ["keyId", 3, "string", 0],
  ],
  DecryptRequest: [
    ["ciphertext", 1, "bytes", 0],
    ["uid", 2, "string", 0],
    ["keyId", 3, "string", 0],
    ["annotations", 4, "bytes", 2],
  ],
  DecryptResponse: [["plaintext", 1, "bytes", 0]],
  EncryptRequest: [
    ["plaintext", 1, "bytes", 0],
    ["uid", 2, "string", 0],
  ],
  EncryptResponse: [
    ["ciphertext", 1, "bytes", 0],
    ["keyId", 2, "string", 0],
    ["annotations", 3, "bytes", 2],
  ],
};

const methodOf = (name: string): GrpcMethod => ({
  path: `/v2.KeyManagementService/${name}`,
  request: `${name}Request`,
  response: `${name}Response`,
});
export const kmsMethods = {
  status: methodOf("Status"),
  encrypt: methodOf("Encrypt"),
  decrypt: methodOf("Decrypt"),
};

export interface KmsStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

interface KmsEncrypted {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  readonly annotations: Annotations;
}

/** Every call rejects with a KmsCallError, at the latest after the provider's timeout. */
export interface KmsService {
  status(): Promise<KmsStatus>;
  encrypt(plaintext: Uint8Array, uid: string): Promise<KmsEncrypted>;
  decrypt(source: DekSource): Promise<Uint8Array>;
  close(): void;
}

/** The text is as the reference writes it; `code` is gRPC's. */
class KmsCallError extends Error {
  readonly code: number | undefined;

  constructor(cause: unknown) {
    super(grpcStatusText(cause), { cause });
    this.name = "KmsCallError";
    this.code = (cause as { code?: number }).code;
  }
}

export interface KmsEndpoint {
  readonly name: string;
  /** Of the socket; an abstract one begins with a zero byte. */
  readonly socketPath: string;
  /** Read for each call. */
  readonly timeoutMs: number;
}

/** A plug-in that starts is found within this time. */
const maxReconnectMs = 3000;

export async function connectKms(
  endpoint: KmsEndpoint,
  metrics: KmsMetrics,
): Promise<KmsService> {
  const { name, socketPath } = endpoint;
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `unix:${socketPath}`,
    codec: createWireCodec(kmsTable),
    settings: {
      "grpc.default_authority": "localhost",
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": maxReconnectMs,
      // A plug-in of another configuration may be at the same place.
      "grpc.use_local_subchannel_pool": 1,
    },
  });
  const call = async <T>(method: GrpcMethod, request: object): Promise<T> => {
    const began = performance.now();
    let code = "OK";
    try {
      const { timeoutMs } = endpoint;
      const options = { timeoutMs, waitForReady: true };
      return await channel.unary<T>(method, request, options);
    } catch (error) {
      code = grpcCodeName(error);
      throw new KmsCallError(error);
    } finally {
      metrics.called(name, method.path, code, performance.now() - began);
    }
  };
  return {
    status: () => call<KmsStatus>(kmsMethods.status, {}),
    encrypt: (plaintext, uid) =>
      call<KmsEncrypted>(kmsMethods.encrypt, { plaintext, uid }),
    async decrypt({ encryptedDEKSource: ciphertext, keyID, annotations }) {
      const { plaintext } = await call<{ plaintext: Uint8Array }>(
        kmsMethods.decrypt,
        { ciphertext, uid: randomUUID(), keyId: keyID, annotations },
      );
      return plaintext;
    },
    close: () => channel.close(),
  };
}
