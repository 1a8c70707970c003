// An external signer of tokens on a unix socket, as a test wants it: well, with other keys, silent, or lying.
import {
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from "node:crypto";
import {
  signerMethods,
  signerTable,
} from "../../apiserver-lite/authentication/external-signer/signer-service.ts";
import { loadGrpc } from "../../grpc/channel.ts";
import { GrpcServer } from "../../grpc/server.ts";
import { createWireCodec } from "../../grpc/wire.ts";

interface SignerKey {
  readonly id: string;
  readonly key: KeyObject;
  hidden: boolean;
}

const never = new Promise<never>(() => undefined);

export class TokenSignerProgram {
  keys: SignerKey[] = [signerKey("first")];
  /** The answers, where they are not right. */
  header: Record<string, unknown> | string | undefined;
  signature: string | undefined;
  answer: object | undefined;
  seconds = 1_700_000_000;
  refreshHintSeconds = 600;
  maxTokenExpirationSeconds = 7200;
  silent = false;
  readonly calls = { sign: 0, fetchKeys: 0, metadata: 0 };
  #server: GrpcServer | undefined;

  constructor(readonly socketPath: string) {}

  async start(): Promise<this> {
    this.#server = new GrpcServer(await loadGrpc(), {
      codec: createWireCodec(signerTable),
      handlers: [
        {
          method: signerMethods.sign,
          unary: ({ claims }: { claims: string }) => this.#sign(claims),
        },
        { method: signerMethods.fetchKeys, unary: () => this.#fetchKeys() },
        { method: signerMethods.metadata, unary: () => this.#metadata() },
      ],
    });
    await this.#server.listen(this.socketPath);
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  async #sign(claims: string): Promise<object> {
    this.calls.sign++;
    if (this.silent) await never;
    const { id, key } = this.keys[0]!;
    const content = this.header ?? { alg: "ES256", kid: id, typ: "JWT" };
    const header =
      typeof content === "string"
        ? content
        : Buffer.from(JSON.stringify(content)).toString("base64url");
    const bytes = sign("sha256", Buffer.from(`${header}.${claims}`), {
      ...{ key, dsaEncoding: "ieee-p1363" as const },
    });
    return { header, signature: this.signature ?? bytes.toString("base64url") };
  }

  async #fetchKeys(): Promise<object> {
    this.calls.fetchKeys++;
    if (this.silent) await never;
    return {
      keys: this.keys.map(({ id, key, hidden }) => ({
        keyId: id,
        key: createPublicKey(key).export({ format: "der", type: "spki" }),
        excludeFromOidcDiscovery: hidden,
      })),
      dataTimestamp: { seconds: this.seconds, nanos: 0 },
      refreshHintSeconds: this.refreshHintSeconds,
      ...this.answer,
    };
  }

  async #metadata(): Promise<object> {
    this.calls.metadata++;
    return Promise.resolve({
      maxTokenExpirationSeconds: this.maxTokenExpirationSeconds,
    });
  }
}

export const signerKey = (id: string, hidden = false): SignerKey => ({
  ...{ id, hidden },
  key: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
});
