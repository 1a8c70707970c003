// A KMS v2 plug-in on a unix socket, as a test wants it: well, with another key, silent, dead, or lying. What it encrypts
// is under AES-GCM with a key of its id, so that it opens what an earlier plug-in with that id made.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
} from "node:crypto";
import {
  kmsMethods,
  kmsTable,
} from "../../apiserver-lite/encryption/kms/kms-service.ts";
import { loadGrpc } from "../../grpc/channel.ts";
import { GrpcError, GrpcServer } from "../../grpc/server.ts";
import { createWireCodec } from "../../grpc/wire.ts";

interface DecryptRequest {
  ciphertext: Buffer;
  uid: string;
  keyId: string;
  annotations: Record<string, Buffer>;
}

const keyOf = (id: string): Buffer => createHash("sha256").update(id).digest();
const never = new Promise<never>(() => undefined);

export class KmsPlugin {
  keyId = "key-1";
  healthz = "ok";
  version = "v2";
  annotations: Record<string, Buffer> = {
    "plugin.example.com": Buffer.from("tested"),
  };
  /** What `Encrypt` says, where it is not `keyId`. */
  encryptKeyId: string | undefined;
  /** What `Encrypt` returns, where it is not what it encrypted. */
  ciphertext: Buffer | undefined;
  /** Calls that are never answered. */
  silent = new Set<"status" | "encrypt" | "decrypt">();
  /** What is decrypted is something else. */
  lies = false;
  /** Keys that it has no more. */
  readonly lost = new Set<string>();
  readonly calls = { status: 0, encrypt: 0, decrypt: 0 };
  readonly uids = new Set<string>();
  #server: GrpcServer | undefined;

  constructor(readonly socketPath: string) {}

  get endpoint(): string {
    return `unix://${this.socketPath}`;
  }

  async start(): Promise<this> {
    this.#server = new GrpcServer(await loadGrpc(), {
      codec: createWireCodec(kmsTable),
      handlers: [
        { method: kmsMethods.status, unary: () => this.#status() },
        {
          method: kmsMethods.encrypt,
          unary: (request: { plaintext: Buffer; uid: string }) =>
            this.#encrypt(request),
        },
        {
          method: kmsMethods.decrypt,
          unary: (request: DecryptRequest) => this.#decrypt(request),
        },
      ],
    });
    await this.#server.listen(this.socketPath);
    return this;
  }

  /** Dies; may be started again. */
  async stop(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  async #called(method: "status" | "encrypt" | "decrypt"): Promise<void> {
    this.calls[method]++;
    if (this.silent.has(method)) await never;
  }

  async #status(): Promise<object> {
    await this.#called("status");
    const { version, healthz, keyId } = this;
    return { version, healthz, keyId };
  }

  async #encrypt(request: { plaintext: Buffer; uid: string }): Promise<object> {
    await this.#called("encrypt");
    this.uids.add(request.uid);
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", keyOf(this.keyId), nonce);
    const text = [cipher.update(request.plaintext), cipher.final()];
    return {
      ciphertext:
        this.ciphertext ?? Buffer.concat([nonce, cipher.getAuthTag(), ...text]),
      keyId: this.encryptKeyId ?? this.keyId,
      annotations: this.annotations,
    };
  }

  async #decrypt({
    ciphertext,
    keyId,
    annotations,
    uid,
  }: DecryptRequest): Promise<object> {
    await this.#called("decrypt");
    this.uids.add(uid);
    if (this.lies) return { plaintext: randomBytes(32) };
    if (this.lost.has(keyId)) throw new GrpcError(5, `no key ${keyId}`);
    if (!annotations["plugin.example.com"])
      throw new GrpcError(3, "the annotation is missing");
    const decipher = createDecipheriv(
      ...(["aes-256-gcm", keyOf(keyId), ciphertext.subarray(0, 12)] as const),
    );
    decipher.setAuthTag(ciphertext.subarray(12, 28));
    return {
      plaintext: Buffer.concat([
        decipher.update(ciphertext.subarray(28)),
        decipher.final(),
      ]),
    };
  }
}
