// Static pods, and objects of other kinds, from a directory (or one file): inotify through chokidar, a rescan each file-check-frequency as the safety
// net. A file that can't be used is reported and its last good version stays in force until the file goes; the others go
// on. Temporary files of editors are ignored. Of two pods of one name the one that was there first stays. A file that was
// removed and made again with the same content is gone for a moment, however fast that was.
import { readdir, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { FSWatcher } from "chokidar";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { podFullName } from "../pods/shape/pod-shape.ts";
import {
  BadManifest,
  fileStamp,
  inodeOf,
  readManifestFile,
  type Place,
} from "./manifest-reader.ts";
import { NameChanges } from "./name-changes.ts";
import type { ObjectRules } from "./field-problem.ts";
import { staticPod } from "./static-pod.ts";

interface FileSourceOptions {
  path: string;
  nodeName: string;
  checkFrequencyMs: number;
  clock: Clock;
  logger: Logger;
  /** The complete set, at first and after each change. */
  onPods: (pods: readonly Pod[]) => void;
  /** What becomes of an object of another kind. @throws FieldProblems */
  takeOther: (object: AnyObject) => AnyObject;
  /** Objects of other kinds by file, before the pods that may refer to them; files without any are left out. */
  onOthers?: (byFile: OthersByFile) => void;
  onProblem: (file: string, message: string) => void;
  rules: ObjectRules;
  podLevelResources: boolean;
}

/** An object of another kind than Pod. */
export interface OtherObject {
  readonly object: AnyObject;
  readonly place: Place;
}

export type OthersByFile = ReadonlyMap<string, readonly OtherObject[]>;

interface FileState {
  /** Of what was read last; "": it is read again at the next look. */
  stamp: string;
  pods: Pod[];
  others: OtherObject[];
  problem: string | undefined;
}

/** Why a pod that no file has can't be removed. */
export const noManifest = "it has no manifest in the directory";

/** A half-written file is given this long before it counts as bad. */
const settleMs = 250;
/** Of one file; the rest is counted. */
const maxReported = 20;

export class FileSource {
  readonly #options: FileSourceOptions;
  readonly #files = new Map<string, FileState>();
  readonly #holders = new Map<string, string>();
  readonly #clashes = new Set<string>();
  readonly #nameChanges = new NameChanges();
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  readonly #settling = new Map<string, Timer>();
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: FileSourceOptions) {
    this.#options = options;
  }

  /** Resolves when everything there was read once. Never rejects for bad files. */
  async start(): Promise<void> {
    const { path } = this.#options;
    await makeDirectory(path).catch(() => undefined);
    const { watch } = await import("chokidar");
    this.#watcher = watch(path, {
      ignoreInitial: true,
      depth: 0,
      ignored: (name) => name !== path && isTemporary(name),
    });
    this.#watcher.on("all", (_event, file) =>
      this.#enqueue(() => this.#readOne(file)),
    );
    this.#watcher.on("raw", (event, name, details) => {
      const { watchedPath } = details as { watchedPath?: string };
      if (event !== "rename" || watchedPath !== path || !name) return;
      if (isTemporary(name)) return;
      const file = join(path, name);
      this.#nameChanges.note(file);
      this.#readAgain(file);
    });
    // The watcher does not report what was written before it was ready.
    this.#watcher.on("ready", () => this.#enqueue(() => this.#rescan()));
    this.#watcher.on("error", (error) => this.#reportUnwatched(error));
    this.#enqueue(() => this.#rescan());
    await this.#work;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    for (const timer of this.#settling.values()) timer.cancel();
    await this.#watcher?.close();
    await this.#work;
  }

  /**
   * Removes the file of a pod when it has nothing but that pod; otherwise a text says why not. Its last state on the disk
   * counts: what was not read yet is not removed.
   */
  async remove(uid: string): Promise<string | undefined> {
    const found = [...this.#files].find(([, { pods }]) =>
      pods.some(({ metadata }) => metadata.uid === uid),
    );
    if (!found) return noManifest;
    const [file, { pods, others, problem, stamp }] = found;
    if (problem !== undefined) return `its manifest has a mistake: ${problem}`;
    if (pods.length + others.length > 1)
      return `${file} has ${pods.length + others.length} objects: remove it there`;
    if (fileStamp(await stat(file)) !== stamp)
      return `${file} has just been changed`;
    await unlink(file);
    this.#enqueue(() => this.#rescan());
    return undefined;
  }

  #schedule(): void {
    this.#timer = this.#options.clock.after(
      this.#options.checkFrequencyMs,
      () => {
        this.#enqueue(() => this.#rescan());
        this.#schedule();
      },
    );
  }

  /** Of one file, as a link to itself, or of the directory as a whole. */
  #reportUnwatched(error: unknown): void {
    const { message, path: file } = error as NodeJS.ErrnoException;
    const { path, logger } = this.#options;
    if (file !== undefined && file !== path)
      logger.warn(
        { file, reason: message },
        "can't watch a manifest; it is read at intervals",
      );
    else
      logger.warn(
        { path, reason: message },
        "can't watch the manifests; they are read at intervals",
      );
  }

  /** One at a time, in order. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#stopped) return;
      try {
        await work();
      } catch (error) {
        this.#options.logger.warn(
          { err: error, path: this.#options.path },
          "can't read the manifests",
        );
      }
    });
  }

  async #rescan(): Promise<void> {
    const { path } = this.#options;
    const found = await stat(path).catch(() => undefined);
    const names = found?.isDirectory()
      ? (await readdir(path))
          .filter((name) => !isTemporary(name))
          .map((name) => join(path, name))
      : found
        ? [path]
        : [];
    for (const file of names.sort()) await this.#readFile(file, false);
    const there = new Set(names);
    for (const file of [...this.#files.keys()])
      if (!there.has(file)) this.#drop(file);
    this.#publish();
  }

  async #readOne(file: string): Promise<void> {
    if (
      file === this.#options.path &&
      (await stat(file).catch(() => undefined))?.isDirectory()
    )
      return;
    this.#readAgain(file);
    if (await this.#readFile(file, true)) this.#publish();
  }

  /** The watcher drops events of a file that come within 50 ms of another: a write right after its truncation. */
  #readAgain(file: string): void {
    this.#settling.get(file)?.cancel();
    this.#settling.set(
      file,
      this.#options.clock.after(settleMs, () =>
        this.#enqueue(async () => {
          this.#settling.delete(file);
          if ((await this.#wasRemoved(file)) && this.#drop(file))
            this.#publish();
          this.#nameChanges.forget(file);
          if (await this.#readFile(file, false)) this.#publish();
        }),
      ),
    );
  }

  /** It is there again with what was read before. */
  async #wasRemoved(file: string): Promise<boolean> {
    const before = this.#files.get(file);
    const now = await stat(file).catch(() => undefined);
    if (!before || !now?.isFile()) return false;
    return this.#nameChanges.wasRemoved(file, inodeOf(before.stamp), now);
  }

  /** `fresh`: it was changed just now, so that a bad file may be one half written. */
  async #readFile(file: string, fresh: boolean): Promise<boolean> {
    const { nodeName, clock, takeOther, rules } = this.#options;
    const before = this.#files.get(file);
    let seen = "";
    try {
      const found = await stat(file);
      if (found.isDirectory()) return false;
      seen = fileStamp(found);
      if (before && before.stamp === seen) return false;
      // Writers truncate first.
      if (found.size === 0) return false;
      const pods: Pod[] = [];
      const others: OtherObject[] = [];
      const nowMs = clock.now();
      const { stamp } = await readManifestFile(file, (object, place) => {
        if (object.kind !== "Pod" || object.apiVersion !== "v1")
          return others.push({ object: takeOther(object), place });
        return pods.push(
          staticPod(object as unknown as Pod, {
            nodeName,
            source: "file",
            origin: file,
            nowMs,
            rules,
            podLevelResources: this.#options.podLevelResources,
          }),
        );
      });
      if (!before || uidsOf(before.pods) !== uidsOf(pods))
        this.#nameChanges.forget(file);
      this.#files.set(file, { stamp, pods, others, problem: undefined });
      if (before?.problem)
        this.#options.logger.info({ file }, "manifest is good again");
      return true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT" && !(await isLink(file))) return this.#drop(file);
      // It is read again in a moment.
      if (fresh) return false;
      // The same text has the same mistakes, and a long one takes long to read.
      const isContent =
        error instanceof BadManifest ||
        (error as Error).name === "ManifestError";
      this.#reportBad(file, before, error, isContent ? seen : "");
      return false;
    }
  }

  #reportBad(
    file: string,
    before: FileState | undefined,
    error: unknown,
    stamp: string,
  ): void {
    const code = (error as NodeJS.ErrnoException).code;
    const text =
      code === "ELOOP"
        ? "too many levels of symbolic links"
        : error instanceof Error
          ? error.message
          : String(error);
    const problem = text.startsWith(file) ? text : `${file}: ${text}`;
    if (before?.problem !== problem) {
      const texts = error instanceof BadManifest ? error.texts : [problem];
      for (const each of texts.slice(0, maxReported))
        this.#options.onProblem(file, each);
      if (texts.length > maxReported)
        this.#options.onProblem(
          file,
          `${file}: and ${texts.length - maxReported} more of its objects`,
        );
    }
    // The pods of the last good version stay.
    this.#files.set(file, {
      stamp,
      pods: before?.pods ?? [],
      others: before?.others ?? [],
      problem,
    });
  }

  #drop(file: string): boolean {
    this.#nameChanges.forget(file);
    return this.#files.delete(file);
  }

  #publish(): void {
    const chosen = new Map<string, { pod: Pod; file: string }>();
    const clashes = new Set<string>();
    const files = [...this.#files.keys()].sort();
    const consider = (file: string, pod: Pod, holding: boolean): void => {
      const name = podFullName(pod);
      if ((this.#holders.get(name) === file) !== holding) return;
      const holder = chosen.get(name);
      if (!holder) {
        chosen.set(name, { pod, file });
        return;
      }
      if (holder.pod === pod) return;
      const key = `${file}\0${name}`;
      clashes.add(key);
      if (!this.#clashes.has(key))
        this.#options.onProblem(
          file,
          `${file}: metadata.name: Duplicate value: "${pod.metadata.name}": already used by ${holder.file}`,
        );
    };
    for (const holding of [true, false])
      for (const file of files)
        for (const pod of this.#files.get(file)!.pods)
          consider(file, pod, holding);
    this.#holders.clear();
    for (const [name, { file }] of chosen) this.#holders.set(name, file);
    this.#clashes.clear();
    for (const key of clashes) this.#clashes.add(key);
    if (this.#options.onOthers) {
      const others = files
        .map((file) => [file, this.#files.get(file)!.others] as const)
        .filter(([, objects]) => objects.length > 0);
      this.#options.onOthers(new Map(others));
    }
    this.#options.onPods([...chosen.values()].map(({ pod }) => pod));
  }
}

function uidsOf(pods: readonly Pod[]): string {
  return pods.map(({ metadata }) => metadata.uid).join();
}

/** Hidden files and what editors leave while they write. */
function isTemporary(path: string): boolean {
  const name = basename(path);
  return (
    name.startsWith(".") ||
    name.startsWith("#") ||
    name.endsWith("~") ||
    /\.(swp|swx|swo|tmp|bak)$/.test(name) ||
    name === "4913"
  );
}

async function isLink(file: string): Promise<boolean> {
  const { lstat } = await import("node:fs/promises");
  return await lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
