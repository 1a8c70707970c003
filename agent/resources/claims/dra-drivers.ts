// The DRA drivers of this node, by name, and the calls to them. A driver registers by a socket in the plug-ins' registry;
// of two with one name the newer one is called. What a driver answers is checked: it names exactly the claim it was asked
// about, and CDI names of a bounded number.
import {
  GrpcChannel,
  grpcCodeName,
  grpcStatusText,
  loadGrpc,
} from "../../../grpc/channel.ts";
import type {
  PluginHandler,
  RegisteredPlugin,
} from "../../plugin-registration/plugin-registration.ts";
import type { ClaimMetrics } from "./claim-metrics.ts";
import {
  draCodec,
  draMethodsFor,
  type DraClaim,
  type DraDevice,
} from "./dra-protocol.ts";

/** The reference's. */
const callTimeoutMs = 45_000;
const maxDevices = 1024;
const maxTextLength = 1024;
/** vendor/class=name */
const cdiName =
  /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*=[^\s]+$/;

interface Driver {
  readonly plugin: RegisteredPlugin;
  channel: GrpcChannel | undefined;
}

export class DraDrivers implements PluginHandler {
  readonly #drivers = new Map<string, Driver>();
  readonly #onGone: (driver: string) => void;
  readonly #metrics: ClaimMetrics;

  /** @param onGone the driver's socket is gone, and no other of its name is there */
  constructor(onGone: (driver: string) => void, metrics: ClaimMetrics) {
    this.#onGone = onGone;
    this.#metrics = metrics;
  }

  validate({ name, versions }: RegisteredPlugin): void {
    draMethodsFor(name, versions);
  }

  register(plugin: RegisteredPlugin): Promise<void> {
    this.#drivers.get(plugin.name)?.channel?.abort();
    this.#drivers.set(plugin.name, { plugin, channel: undefined });
    return Promise.resolve();
  }

  deregister(plugin: RegisteredPlugin): void {
    const known = this.#drivers.get(plugin.name);
    if (known?.plugin !== plugin) return;
    known.channel?.abort();
    this.#drivers.delete(plugin.name);
    this.#onGone(plugin.name);
  }

  /** Calls under way fail. */
  close(): void {
    for (const { channel } of this.#drivers.values()) channel?.abort();
    this.#drivers.clear();
  }

  async prepare(driver: string, claim: DraClaim): Promise<DraDevice[]> {
    const result = await this.#call<{ devices: DraDevice[] }>(
      driver,
      "NodePrepareResources",
      claim,
    );
    checkDevices(driver, result.devices);
    return result.devices;
  }

  async unprepare(driver: string, claim: DraClaim): Promise<void> {
    await this.#call(driver, "NodeUnprepareResources", claim);
  }

  async #call<T extends object>(
    driver: string,
    what: "NodePrepareResources" | "NodeUnprepareResources",
    claim: DraClaim,
  ): Promise<T> {
    const { channel, methods } = await this.#connected(driver);
    const method =
      what === "NodePrepareResources" ? methods.prepare : methods.unprepare;
    const ended = this.#metrics.called(driver, method.path);
    let claims: Record<string, T & { error: string }>;
    try {
      ({ claims } = await channel.unary<{ claims: typeof claims }>(
        method,
        { claims: [claim] },
        { timeoutMs: callTimeoutMs },
      ));
      ended("OK");
    } catch (error) {
      ended(grpcCodeName(error));
      throw new Error(`${what} failed: ${grpcStatusText(error)}`, {
        cause: error,
      });
    }
    const unknown = Object.keys(claims).find((uid) => uid !== claim.uid);
    if (unknown !== undefined)
      throw new Error(
        `${what} returned result for unknown claim UID ${unknown.slice(0, 256)}`,
      );
    const result = Object.hasOwn(claims, claim.uid)
      ? claims[claim.uid]
      : undefined;
    if (!result) throw new Error(`${what} left out 1 claims`);
    if (result.error)
      throw new Error(
        `${what} failed for claim ${claim.namespace}/${claim.name}: ${result.error.slice(0, maxTextLength)}`,
      );
    return result;
  }

  async #connected(name: string): Promise<{
    channel: GrpcChannel;
    methods: ReturnType<typeof draMethodsFor>;
  }> {
    const driver = this.#drivers.get(name);
    if (!driver)
      throw new Error(
        `failed to get gRPC client for driver ${name}: plugin name ${name} not found in the list of registered DRA plugins`,
      );
    const library = await loadGrpc();
    driver.channel ??= new GrpcChannel(library, {
      target: `unix://${driver.plugin.endpoint}`,
      codec: draCodec,
      settings: {},
    });
    const methods = draMethodsFor(name, driver.plugin.versions);
    return { channel: driver.channel, methods };
  }
}

function checkDevices(driver: string, devices: readonly DraDevice[]): void {
  const names = devices.flatMap((device) => device.cdi_device_ids);
  if (devices.length > maxDevices || names.length > maxDevices)
    throw new Error(
      `NodePrepareResources of ${driver} answered more than ${maxDevices} devices`,
    );
  const bad = names.find(
    (name) => name.length > maxTextLength || !cdiName.test(name),
  );
  if (bad !== undefined)
    throw new Error(
      `NodePrepareResources of ${driver} answered the CDI device ${JSON.stringify(bad.slice(0, 256))}, which is no such name`,
    );
}
