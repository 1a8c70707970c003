// Plug-ins that register by putting a socket into ROOT/plugins_registry: CSI drivers, DRA drivers, device plug-ins. Each
// type has a handler that decides whether it takes the plug-in. Invariants: a handler's register() is called once for each
// socket file and followed by deregister() when that file is gone or was made again; a plug-in that is refused or does
// not answer is asked again with a doubling delay (0.5 s to 2 min 2 s, as the reference), and one that hangs holds up no
// other. The agent's plug-ins from before its restart register once more.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { Counters } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import { PluginSockets } from "./plugin-sockets.ts";
import { RegistrationCall, type PluginInfo } from "./registration-protocol.ts";

type PluginType = "CSIPlugin" | "DRAPlugin" | "DevicePlugin";

export interface RegisteredPlugin {
  /** What it calls itself: `driver.example.com`. Not checked. */
  readonly name: string;
  /** Path of the socket it serves at; its registration socket where it named none. */
  readonly endpoint: string;
  /** As it wrote them. */
  readonly versions: readonly string[];
}

export interface PluginHandler {
  /** Throws when the plug-in can't be taken; the message goes to the plug-in. */
  validate(plugin: RegisteredPlugin): void;
  /** Rejects: as validate. deregister() is called for it all the same. */
  register(plugin: RegisteredPlugin): Promise<void>;
  /** Its socket is gone, or another registers in its place. Another plug-in of that name may be registered by then. */
  deregister(plugin: RegisteredPlugin): void;
}

interface PluginRegistrationOptions {
  /** ROOT/plugins_registry */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Taken {
  readonly stamp: string;
  readonly plugin: RegisteredPlugin;
  readonly handler: PluginHandler;
}

/** More than this at once must hang before others wait. */
const concurrency = 16;
const maxNameLength = 256;
const maxVersions = 64;
/** Of a reason in the log: plug-ins write parts of it. */
const maxReasonLength = 512;

export class PluginRegistration {
  readonly #handlers = new Map<string, PluginHandler>();
  readonly #sockets: PluginSockets;
  readonly #queue: WorkQueue;
  #wanted: ReadonlyMap<string, string> = new Map();
  readonly #taken = new Map<string, Taken>();
  readonly #logger: Logger;
  readonly #stopped = new AbortController();

  constructor({ directory, clock, logger }: PluginRegistrationOptions) {
    this.#logger = logger;
    this.#queue = new WorkQueue({
      name: "plugin-registration",
      clock,
      logger,
      concurrency,
      baseBackoffMs: 500,
      maxBackoffMs: 122_000,
      process: (socketPath) => this.#reconcile(socketPath),
      // #report has said it: the cause is the plug-in's, no place in our code.
      isExpected: () => true,
      onProcessed: (socketPath, _durationMs, error) =>
        this.#report(socketPath, error),
    });
    this.#sockets = new PluginSockets({
      directory,
      clock,
      logger,
      onSockets: (sockets) => this.#onSockets(sockets),
    });
  }

  /** Before start(). */
  registerHandler(type: PluginType, handler: PluginHandler): void {
    this.#handlers.set(type, handler);
  }

  /** Resolves when the directory was read once; does not wait for the plug-ins. */
  async start(): Promise<void> {
    this.#queue.start();
    await this.#sockets.start();
  }

  /** Handlers are not called any more; their plug-ins stay registered. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#sockets.stop();
    await this.#queue.stop();
  }

  families(): Family[] {
    const total = new Counters(
      {
        name: "plugin_manager_total_plugins",
        help: "Plug-ins by socket: those that are wanted, and those that are registered.",
        labels: ["socket_path", "state"],
      },
      "gauge",
    );
    for (const path of this.#wanted.keys())
      total.count(path, "desired_state_of_world");
    for (const path of this.#taken.keys())
      total.count(path, "actual_state_of_world");
    return [total.family()];
  }

  #onSockets(sockets: ReadonlyMap<string, string>): void {
    const before = this.#wanted;
    this.#wanted = sockets;
    for (const path of new Set([...before.keys(), ...sockets.keys()])) {
      if (before.get(path) === sockets.get(path)) continue;
      this.#queue.forget(path);
      this.#queue.add(path);
    }
  }

  async #reconcile(socketPath: string): Promise<void> {
    const stamp = this.#wanted.get(socketPath);
    const taken = this.#taken.get(socketPath);
    if (taken?.stamp === stamp) return;
    this.#drop(socketPath);
    if (stamp === undefined) return;
    const { signal } = this.#stopped;
    const call = await RegistrationCall.open(socketPath, signal);
    try {
      const refusal = await this.#take(call, socketPath, stamp);
      if (refusal) this.#drop(socketPath);
      await call.notify(refusal).catch((error: unknown) => {
        if (refusal) return;
        const reason = reasonOf(error);
        this.#logger.warn(
          { socketPath, reason },
          "can't notify a plug-in of its registration",
        );
      });
      if (refusal) throw new Error(refusal);
    } finally {
      call.close();
    }
  }

  /** One line at failures 1, 2, 4, 8 …: a plug-in that hangs for days is tried each two minutes. */
  #report(socketPath: string, error: unknown): void {
    const tries = this.#queue.failures(socketPath);
    if (error === undefined || (tries & (tries - 1)) !== 0) return;
    this.#logger.warn(
      { socketPath, reason: reasonOf(error), tries },
      "a plug-in is not registered and is asked again",
    );
  }

  #drop(socketPath: string): void {
    const taken = this.#taken.get(socketPath);
    this.#taken.delete(socketPath);
    taken?.handler.deregister(taken.plugin);
  }

  /** Resolves to why it is not taken, empty when it is. */
  async #take(
    call: RegistrationCall,
    socketPath: string,
    stamp: string,
  ): Promise<string> {
    const info = await call.info();
    const handler = this.#handlers.get(info.type);
    if (!handler)
      return `RegisterPlugin error -- no handler registered for plugin type: ${info.type.slice(0, maxNameLength)} at socket ${socketPath}`;
    const plugin = {
      name: info.name,
      endpoint: info.endpoint || socketPath,
      versions: info.supported_versions,
    };
    try {
      checkBounds(info);
      handler.validate(plugin);
    } catch (error) {
      return `RegisterPlugin error -- plugin validation failed with err: ${(error as Error).message}`;
    }
    this.#taken.set(socketPath, { stamp, plugin, handler });
    try {
      await handler.register(plugin);
    } catch (error) {
      return `RegisterPlugin error -- plugin registration failed with err: ${(error as Error).message}`;
    }
    return "";
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.slice(0, maxReasonLength);
}

function checkBounds({ name, endpoint, supported_versions }: PluginInfo): void {
  if (name === "") throw new Error("plugin name is empty");
  if (name.length > maxNameLength)
    throw new Error(`plugin name is longer than ${maxNameLength} characters`);
  if (endpoint.length > 4096) throw new Error("endpoint is too long");
  if (supported_versions.length > maxVersions)
    throw new Error(`plugin supports more than ${maxVersions} versions`);
}
