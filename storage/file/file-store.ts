// The embedded, durable engine: see file-medium.ts for how it lies on the disk.
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../api/clock.ts";
import { LocalStore } from "../local/local-store.ts";
import type { Store } from "../store.ts";
import { DirectoryLock, type AcquireLock } from "./directory-lock.ts";
import { FileMedium } from "./file-medium.ts";
import { nodeFileSystem, type FileSystem } from "./file-system.ts";

interface FileStoreOptions {
  /** Made with mode 0700 when missing. One process at a time: another's start fails with StoreError "locked". */
  directory: string;
  logger?: Logger;
  clock?: Clock;
  /** Smaller logs are never compacted. Default 32 MiB. */
  compactAboveBytes?: number;
  /** Tests hand in one that fails or records; default: the machine's. */
  fileSystem?: FileSystem;
  /** Tests whose processes share this one's life hand in their own; default: the kernel's lock. */
  lock?: AcquireLock;
}

export function createFileStore(options: FileStoreOptions): Store {
  const {
    directory,
    logger,
    clock = systemClock,
    compactAboveBytes = 32 * 1024 * 1024,
    fileSystem = nodeFileSystem,
    lock = (each) => DirectoryLock.acquire(each),
  } = options;
  return new LocalStore(
    new FileMedium({
      directory,
      fileSystem,
      lock,
      clock,
      logger,
      compactAboveBytes,
    }),
    {
      clock,
      onListenerFailure: (err) =>
        logger?.error({ err }, "a listener of the store failed and was ended"),
    },
  );
}
