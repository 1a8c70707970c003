// The data key that a KMS v2 provider writes by now, and how it stays in step with the plug-in's own key. The plug-in is
// asked for its state each minute, every ten seconds while it is not well, and by health checks, whose results are shared
// for a while. When the id of its key changes, a new seed is made and encrypted by it.
//
// Example: at 0:00 the plug-in is well → values are written until 3:00 at the latest; it is asked again at 1:00 → until
// 4:00; it dies at 1:30 → writes go on until 4:00 and fail then; reads by data keys that are known never fail.
// Invariants: a key is written by only until its time is over, and the plug-in named its id in its last good state; a
// change that fails in any part leaves the key before in place.
import { randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { formatTime, type Clock, type Timer } from "../../../api/clock.ts";
import type { KeyCipher } from "../key-ciphers.ts";
import { seedBytes, seededCipher } from "./data-keys.ts";
import {
  dekSourceTypes,
  keyIdProblem,
  refuseDekSource,
  type DekSource,
} from "./encrypted-object.ts";
import { hashOf, type KmsMetrics } from "./kms-metrics.ts";
import type { KmsService, KmsStatus } from "./kms-service.ts";

const wellEveryMs = 60_000;
const illEveryMs = 10_000;
const writeMs = 180_000;
/** How long the result of a check is every asker's. */
const wellSharedMs = 20_000;
const illSharedMs = 3_000;
const versions = ["v2", "v2beta1"];

interface WriteKey {
  readonly cipher: KeyCipher;
  readonly source: DekSource;
  /** Writes after this time are refused. */
  readonly expiresAtMs: number;
}

interface KmsKeysOptions {
  readonly name: string;
  readonly service: KmsService;
  readonly metrics: KmsMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class KmsKeys {
  #key: WriteKey | undefined;
  #version = "";
  #last:
    { readonly atMs: number; readonly error: Error | undefined } | undefined;
  #checking: Promise<void> | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(private readonly options: KmsKeysOptions) {}

  /** Asks the plug-in each minute from now on; `check` has been called once. */
  start(): void {
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Throws while the plug-in has never been well. */
  current(): WriteKey {
    if (!this.#key) throw new Error("got unexpected nil transformer");
    return this.#key;
  }

  /** Throws when nothing may be written. */
  writable(): WriteKey {
    const key = this.current();
    const { expiresAtMs, source } = key;
    const nowMs = this.options.clock.now();
    if (nowMs > expiresAtMs)
      throw new Error(
        `encryptedDEKSource with keyID hash ${JSON.stringify(hashOf(source.keyID))} expired at ${formatTime(expiresAtMs)} (current time is ${formatTime(nowMs)})`,
      );
    return key;
  }

  /** Rejects with what is wrong with the plug-in. Asks it unless it was asked a short while ago. */
  check(): Promise<void> {
    const last = this.#last;
    const sharedMs = last?.error ? illSharedMs : wellSharedMs;
    if (last && this.options.clock.monotonic() - last.atMs < sharedMs)
      return last.error ? Promise.reject(last.error) : Promise.resolve();
    this.#checking ??= this.#checkNow().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkNow(): Promise<void> {
    const { name, service, clock, logger } = this.options;
    let error: Error | undefined;
    try {
      await this.#keepUp(await statusOf(service, name));
    } catch (problem) {
      error = problem as Error;
      logger.warn({ err: error, provider: name }, "a KMS plug-in is not well");
    }
    this.#last = { atMs: clock.monotonic(), error };
    if (error) throw error;
  }

  #schedule(): void {
    if (this.#stopped) return;
    const waitMs = this.#last?.error ? illEveryMs : wellEveryMs;
    this.#timer = this.options.clock.after(waitMs, () => {
      void this.check()
        .catch(() => undefined)
        .then(() => this.#schedule());
    });
  }

  /** Throws for a state that is not well, or that the key can't be brought in step with. */
  async #keepUp({ version, healthz, keyId }: KmsStatus): Promise<void> {
    const { name, metrics, clock } = this.options;
    const problems = [
      ...(healthz === "ok"
        ? []
        : [`got unexpected healthz status: ${healthz}`]),
      ...this.#versionProblem(version),
    ];
    const invalid = keyIdProblem(keyId);
    if (invalid) {
      metrics.invalidKeyReported(name, invalid.error);
      problems.push(
        `got invalid KMSv2 KeyID hash ${JSON.stringify(hashOf(keyId))}: ${invalid.text}`,
      );
    } else {
      metrics.keyReported(name, keyId, clock.now());
      const failed = await this.#rotate(keyId);
      if (failed !== undefined) problems.push(failed);
    }
    if (problems.length === 0) return;
    const text = problems.length > 1 ? `[${problems.join(", ")}]` : problems[0];
    throw new Error(`kmsv2 Provider ${name} is not healthy, error: ${text}`);
  }

  #versionProblem(version: string): string[] {
    if (!versions.includes(version))
      return [`expected KMSv2 API version v2, got ${version}`];
    if (this.#version === "") this.#version = version;
    return this.#version === version
      ? []
      : [
          `KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`,
        ];
  }

  /** Keeps the key for longer when it is still the plug-in's, else makes one. Returns the problem. */
  async #rotate(statusKeyId: string): Promise<string | undefined> {
    const { service, clock } = this.options;
    const before = this.#key;
    const expiresAtMs = clock.now() + writeMs;
    if (before?.source.keyID === statusKeyId) {
      this.#key = { ...before, expiresAtMs };
      return undefined;
    }
    const uid = randomUUID();
    let source: DekSource | undefined;
    let failed = "<nil>";
    try {
      const seed = randomBytes(seedBytes);
      const cipher = seededCipher(seed);
      source = await encryptedSeed(service, seed, uid);
      if (source.keyID === statusKeyId) {
        this.#key = { cipher, source, expiresAtMs };
        return undefined;
      }
    } catch (error) {
      failed = (error as Error).message;
    }
    const state = before ? "<nil>" : "got unexpected nil transformer";
    const hashes = [
      statusKeyId,
      source?.keyID ?? "",
      before?.source.keyID ?? "",
    ]
      .map(hashOf)
      .map((hash) => JSON.stringify(hash));
    return `failed to rotate DEK uid=${JSON.stringify(uid)}, useSeed=true, errState=${state}, errGen=${failed}, statusKeyIDHash=${hashes[0]}, encryptKeyIDHash=${hashes[1]}, stateKeyIDHash=${hashes[2]}, expirationTimestamp=${before ? formatTime(before.expiresAtMs) : "0001-01-01T00:00:00Z"}`;
  }
}

async function statusOf(service: KmsService, name: string): Promise<KmsStatus> {
  try {
    return await service.status();
  } catch (error) {
    throw new Error(
      `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

async function encryptedSeed(
  service: KmsService,
  seed: Buffer,
  uid: string,
): Promise<DekSource> {
  const { ciphertext, keyId, annotations } = await service
    .encrypt(seed, uid)
    .catch((error: Error) => {
      throw new Error(`failed to encrypt DEK, error: ${error.message}`, {
        cause: error,
      });
    });
  const source: DekSource = {
    keyID: keyId,
    encryptedDEKSource: ciphertext,
    annotations,
    encryptedDEKSourceType: dekSourceTypes.hkdfSeed,
  };
  refuseDekSource(source);
  return source;
}
