// The pods this node is to run, merged from its sources: the API server, a directory, a URL. Each pod goes to its worker;
// static pods also go to their mirrors, and mirrors that come back from the API go there too. Knows which sources are
// complete: a source that is not configured is, any other once it was read whole. Invariant: a running pod
// is ended only when the source it came from is complete and no longer has it.
//
//   directory ─┐
//   URL ───────┼─ static pods ─┬─▶ workers
//              │               └─▶ mirrors ──▶ API server
//   API ───────┴─ bound pods ────▶ workers
//                 mirrors ───────▶ mirrors
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isGateOn } from "../config/feature-gates.ts";
import { ApiSource } from "./api-source.ts";
import { FileSource, noManifest, type OthersByFile } from "./file-source.ts";
import type { ObjectRules } from "./field-problem.ts";
import { UrlSource } from "./url-source.ts";

/** As pods name it in their config.source annotation. */
type SourceName = "api" | "file" | "http";

interface SourcedPods {
  set(pod: Pod): void;
  /** `last`: the version the source had last. */
  remove(uid: string, last?: Pod): void;
  endOrphans(isComplete: (source: string) => boolean): void;
}

interface Mirrors {
  /** All static pods there are; `complete`: every static source was read, so that any other mirror is left over. */
  setStatic(pods: readonly Pod[], complete: boolean): void;
  onMirror(mirror: Pod): void;
  onMirrorDeleted(mirror: Pod): void;
  /** The API's pods are listed. */
  ready(): void;
}

interface PodSourcesOptions {
  config: Pick<
    AgentConfig,
    | "nodeName"
    | "manifestsDirectory"
    | "fileCheckFrequencyMs"
    | "manifestUrl"
    | "manifestUrlHeaders"
    | "httpCheckFrequencyMs"
    | "featureGates"
  >;
  client: Client | undefined;
  pods: SourcedPods;
  mirrors: Mirrors | undefined;
  /** Hears what the API server says of a pod, after `pods`. */
  onServed?: (uid: string, status: Pod["status"]) => void;
  /** Objects of other kinds in the directory: the complete set after each change. */
  onOthers: (byFile: OthersByFile) => void;
  /** What becomes of an object of another kind in the directory. @throws FieldProblems */
  takeOther: (object: AnyObject) => AnyObject;
  /** A manifest that can't be used; the message names the file or URL. */
  onProblem: (origin: string, message: string) => void;
  rules: ObjectRules;
  clock: Clock;
  logger: Logger;
}

export class PodSources {
  readonly #options: PodSourcesOptions;
  readonly #api: ApiSource | undefined;
  readonly #file: FileSource | undefined;
  readonly #url: UrlSource | undefined;
  /** By static source; absent: not read yet. */
  readonly #static = new Map<SourceName, readonly Pod[]>();
  #apiSynced = false;
  #staticUids: ReadonlySet<string> = new Set();

  constructor(options: PodSourcesOptions) {
    const { config, client, pods, mirrors, onProblem, rules } = options;
    const { nodeName } = config;
    const { clock, logger } = options;
    this.#options = options;
    this.#api =
      client &&
      new ApiSource({
        client,
        nodeName,
        onPod: (pod) => {
          pods.set(pod);
          options.onServed?.(pod.metadata.uid ?? "", pod.status);
        },
        onPodGone: (last) => pods.remove(last.metadata.uid ?? "", last),
        onMirror: (mirror) => mirrors?.onMirror(mirror),
        onMirrorGone: (mirror) => mirrors?.onMirrorDeleted(mirror),
        onSynced: () => this.#synced(),
      });
    const podLevelResources = isGateOn(config, "PodLevelResources");
    const shared = {
      ...{ nodeName, clock, logger, onProblem, rules },
      podLevelResources,
    };
    if (config.manifestUrl)
      this.#url = new UrlSource({
        ...shared,
        url: config.manifestUrl,
        headers: config.manifestUrlHeaders,
        checkFrequencyMs: config.httpCheckFrequencyMs,
        onPods: (found) => this.#setStatic("http", found),
      });
    if (config.manifestsDirectory)
      this.#file = new FileSource({
        ...shared,
        path: config.manifestsDirectory,
        checkFrequencyMs: config.fileCheckFrequencyMs,
        onPods: (found) => this.#setStatic("file", found),
        takeOther: options.takeOther,
        onOthers: options.onOthers,
      });
  }

  /** Resolves when the directory was read once; does not wait for the API server or the URL. */
  async start(): Promise<void> {
    this.#api?.start();
    void this.#url?.start();
    await this.#file?.start();
    if (!this.#url && !this.#file) this.#publishStatic();
  }

  async stop(): Promise<void> {
    this.#url?.stop();
    await this.#file?.stop();
    this.#api?.stop();
  }

  isComplete(source: string): boolean {
    switch (source) {
      case "api":
        return !this.#api || this.#apiSynced;
      case "file":
        return !this.#file || this.#static.has("file");
      case "http":
        return !this.#url || this.#static.has("http");
      default:
        return false;
    }
  }

  /** Every source was read: a pod that no source has is not wanted. */
  get complete(): boolean {
    return (
      this.isComplete("api") &&
      this.isComplete("file") &&
      this.isComplete("http")
    );
  }

  /** Removes a static pod's manifest; a text says why it can't be. */
  async removeManifest({ metadata }: Pod): Promise<string | undefined> {
    const uid = metadata.uid ?? "";
    if (this.#static.get("http")?.some((pod) => pod.metadata.uid === uid))
      return `it comes from ${this.#options.config.manifestUrl}`;
    return this.#file ? await this.#file.remove(uid) : noManifest;
  }

  /** Ends what the runtime runs of the sources that are complete and no longer have it. */
  endOrphans(): void {
    this.#options.pods.endOrphans((source) => this.isComplete(source));
  }

  #synced(): void {
    this.#apiSynced = true;
    this.#options.mirrors?.ready();
    this.endOrphans();
  }

  #setStatic(source: SourceName, pods: readonly Pod[]): void {
    this.#static.set(source, pods);
    this.#publishStatic();
  }

  /** The same content has the same uid: a static pod never changes, another one takes its place. */
  #publishStatic(): void {
    const { pods, mirrors } = this.#options;
    const all = (["file", "http"] as const).flatMap(
      (source) => this.#static.get(source) ?? [],
    );
    const uids = new Set(all.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of this.#staticUids) if (!uids.has(uid)) pods.remove(uid);
    for (const pod of all)
      if (!this.#staticUids.has(pod.metadata.uid ?? "")) pods.set(pod);
    this.#staticUids = uids;
    mirrors?.setStatic(all, this.isComplete("file") && this.isComplete("http"));
    this.endOrphans();
  }
}
