// Mirror pods: the API objects by which static pods are seen. Made when the node exists in the API, made again when
// one is deleted or when the static pod changed, deleted when the static pod is gone. As long as the containers of a static
// pod that was changed or removed still end, its mirror stays and shows them.
import { Backoff } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import { pods } from "../../client/resources.ts";
import {
  configHashAnnotation,
  configMirrorAnnotation,
} from "../pods/shape/labels.ts";
import { mirrors, type KnownMirrors } from "./known-mirrors.ts";
import { podFullName } from "../pods/shape/pod-shape.ts";

interface MirrorPodsOptions {
  client: Client;
  known: KnownMirrors;
  clock: Clock;
  logger: Logger;
  /** The Node as owner; undefined while it is not registered. */
  owner: () => OwnerReference | undefined;
  /** The static pod's mirror is there (again). */
  onMirror: (staticPodUid: string) => void;
  /** The mirror that was there has this status. */
  onServed: (staticPodUid: string, status: Pod["status"]) => void;
}

const retries = { baseMs: 1000, maxMs: 15_000 };

export class MirrorPods {
  readonly #options: MirrorPodsOptions;
  readonly #static = new Map<string, Pod>();
  readonly #busy = new Set<string>();
  /** Names of mirrors of a run that is over, of pods that run again. */
  readonly #over = new Set<string>();
  readonly #retries = new Map<string, { timer: Timer; backoff: Backoff }>();
  /** Until the API's pods are listed, nothing is known to be missing. */
  #synced = false;
  /** Until every static source was read, nothing is known to be too much. */
  #staticComplete = false;
  #stopped = false;
  #ends: (name: string) => boolean = () => false;

  get size(): number {
    return this.#options.known.size;
  }

  constructor(options: MirrorPodsOptions) {
    this.#options = options;
  }

  /** @param ends whether a static pod of that full name still ends; `ended` is called for it then */
  keepWhile(ends: (name: string) => boolean): void {
    this.#ends = ends;
  }

  /** A pod that was changed or removed has ended. */
  ended(pod: Pod): void {
    const name = podFullName(pod);
    // Put back meanwhile: the API lets no container that is never started again run on in the same object.
    if (
      this.#options.known.get(name) &&
      this.#static.get(name)?.metadata.uid === pod.metadata.uid &&
      (pod.spec.restartPolicy ?? "Always") !== "Always"
    )
      this.#over.add(name);
    this.#reconcile(name);
  }

  /** The static pods that there are now; `complete`: of all sources, so that any other mirror is left over. */
  setStatic(all: readonly Pod[], complete: boolean): void {
    const completed = complete && !this.#staticComplete;
    this.#staticComplete ||= complete;
    const names = new Set(all.map(podFullName));
    const gone = [...this.#static.keys()].filter((name) => !names.has(name));
    for (const name of gone) this.#static.delete(name);
    // Of two sources' pods of one name the first runs.
    for (const pod of [...all].reverse())
      this.#static.set(podFullName(pod), pod);
    if (completed) this.reconcile();
    else for (const name of [...names, ...gone]) this.#reconcile(name);
  }

  /** From the API informer. */
  onMirror(mirror: Pod): void {
    const name = podFullName(mirror);
    const before = this.#options.known.get(name);
    this.#options.known.set(name, mirror);
    const own = this.#static.get(name);
    if (own && mirrors(mirror, own)) {
      const { uid = "" } = own.metadata;
      if (before?.metadata.uid === mirror.metadata.uid)
        this.#options.onServed(uid, mirror.status);
      else this.#options.onMirror(uid);
    }
    this.#reconcile(name);
  }

  onMirrorDeleted(mirror: Pod): void {
    const name = podFullName(mirror);
    this.#options.known.delete(name, mirror.metadata.uid);
    this.#over.delete(name);
    this.#reconcile(name);
  }

  /** The API's pods are listed. */
  ready(): void {
    this.#synced = true;
    this.reconcile();
  }

  /** Something that mirrors wait for has come, e.g. the node's registration. */
  reconcile(): void {
    for (const name of new Set([
      ...this.#static.keys(),
      ...this.#options.known.names(),
    ]))
      this.#reconcile(name);
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#retries.values()) timer.cancel();
  }

  #reconcile(name: string): void {
    if (this.#stopped || !this.#synced || this.#busy.has(name)) return;
    const own = this.#static.get(name);
    const mirror = this.#options.known.get(name);
    const good =
      own &&
      mirror &&
      mirrors(mirror, own) &&
      !this.#over.has(name) &&
      !mirror.metadata.deletionTimestamp;
    if (good || (!own && !mirror)) return;
    if (own && !mirror && !this.#options.owner()) return;
    if (!own && !this.#staticComplete) return;
    if (mirror && this.#ends(name)) return;
    this.#busy.add(name);
    const work = mirror ? this.#delete(mirror) : this.#create(own!);
    work.then(
      () => {
        this.#busy.delete(name);
        this.#retries.delete(name);
        this.#reconcile(name);
      },
      (error: unknown) => {
        this.#busy.delete(name);
        if (this.#stopped) return;
        const last = this.#retries.get(name);
        const backoff = last?.backoff ?? new Backoff(retries);
        const delayMs = backoff.nextMs();
        this.#options.logger.warn(
          { err: error, pod: name, delayMs },
          "can't bring the mirror pod in line",
        );
        last?.timer.cancel();
        this.#retries.set(name, {
          backoff,
          timer: this.#options.clock.after(delayMs, () =>
            this.#reconcile(name),
          ),
        });
      },
    );
  }

  async #create(own: Pod): Promise<void> {
    const owner = this.#options.owner();
    const { name, namespace, labels, annotations } = own.metadata;
    const mirror: Pod = {
      ...own,
      metadata: {
        name,
        namespace: namespace ?? "default",
        ...(labels ? { labels } : {}),
        annotations: {
          ...annotations,
          [configMirrorAnnotation]: annotations?.[configHashAnnotation] ?? "",
        },
        ...(owner ? { ownerReferences: [{ ...owner, controller: true }] } : {}),
      },
    };
    delete (mirror as { status?: unknown }).status;
    try {
      const created = await this.#options.client.resource(pods).create(mirror);
      if (!this.#options.known.get(podFullName(own))) this.onMirror(created);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await this.#options.client
        .resource(pods)
        .get(name, namespace ?? "default");
      this.#options.known.set(podFullName(own), existing);
      if (existing.metadata.annotations?.[configMirrorAnnotation] === undefined)
        throw new Error(
          `a pod of that name that is no mirror exists in the API`,
          { cause: error },
        );
    }
  }

  async #delete(mirror: Pod): Promise<void> {
    // The agent deletes mirrors only.
    if (mirror.metadata.annotations?.[configMirrorAnnotation] === undefined)
      return;
    const { name, namespace = "default", uid } = mirror.metadata;
    await this.#options.client
      .resource(pods)
      .delete(name, namespace, {
        gracePeriodSeconds: 0,
        ...(uid ? { preconditions: { uid } } : {}),
      })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    const key = podFullName(mirror);
    this.#options.known.delete(key, uid);
    this.#over.delete(key);
  }
}
