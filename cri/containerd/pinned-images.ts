// Which images are pinned: containerd 1.6 does not report it over CRI, so its own image service is asked for the label.
// That hardly ever changes; pods that start together ask once.
import type { Clock } from "../../api/clock.ts";
import { RuntimeError } from "../runtime.ts";
import type { Connection } from "./connection.ts";
import { containerdMethods, type StoredImage } from "./services.ts";

const keptMs = 2000;

export class PinnedImages {
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** Another runtime that speaks CRI; what it pins it reports over CRI. */
  #isOther = false;
  #kept: { atMs: number; names: Promise<Set<string>> } | undefined;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  names(): Promise<Set<string>> {
    const nowMs = this.#clock.monotonic();
    if (!this.#kept || nowMs - this.#kept.atMs > keptMs) {
      const names = this.#read();
      this.#kept = { atMs: nowMs, names };
      names.catch(() => this.forget());
    }
    return this.#kept.names;
  }

  /** Something was imported. */
  forget(): void {
    this.#kept = undefined;
  }

  async #read(): Promise<Set<string>> {
    if (this.#isOther) return new Set();
    try {
      const { images } = await this.#connection.service<{
        images: StoredImage[];
      }>(containerdMethods.listImages, {
        filters: ['labels."io.cri-containerd.pinned"==pinned'],
      });
      return new Set(images.map(({ name }) => name));
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.code !== "unsupported")
        throw error;
      this.#isOther = true;
      return new Set();
    }
  }
}
