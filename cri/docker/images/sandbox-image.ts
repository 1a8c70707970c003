// Sees to it that the built-in sandbox image is in the daemon, pinned: it is loaded when it is not there.
import { Readable } from "node:stream";
import type { Logger } from "pino";
import { RuntimeError } from "../../runtime.ts";
import { buildSandboxImage } from "../../sandbox-image/image.ts";
import type { DockerConnection } from "../connection.ts";
import { pinImage } from "./image-calls.ts";
import { loadTar } from "./image-load.ts";

export class SandboxImage {
  readonly #connection: DockerConnection;
  readonly #logger: Logger;
  readonly #isImported: boolean;
  #ready: Promise<void> = Promise.resolve();
  readonly id = buildSandboxImage().id;

  /** `isImported` false: nothing is loaded. */
  constructor(
    connection: DockerConnection,
    logger: Logger,
    isImported: boolean,
  ) {
    this.#connection = connection;
    this.#logger = logger;
    this.#isImported = isImported;
  }

  /** The present import, if any, is through. Never rejects. */
  ready(): Promise<void> {
    return this.#ready;
  }

  /** Never rejects: without the image sandboxes fail, with a text that says so. */
  importAgain(): Promise<void> {
    this.#ready = this.#import();
    return this.#ready;
  }

  async #import(): Promise<void> {
    if (!this.#isImported) return;
    const { name, tar, id } = buildSandboxImage();
    try {
      try {
        await this.#connection.call("ImageStatus", (docker) =>
          docker.getImage(id).inspect(),
        );
        return;
      } catch (error) {
        if (!(error instanceof RuntimeError) || error.code !== "not-found")
          throw error;
      }
      await loadTar(this.#connection, Readable.from([tar]));
      await pinImage(this.#connection, id);
      this.#logger.info({ image: name }, "imported the built-in sandbox image");
    } catch (error) {
      this.#logger.warn(
        { err: error },
        "the built-in sandbox image could not be imported",
      );
    }
  }
}
