// One device plug-in's socket as the agent uses it. Every call has a deadline, a list of devices is bounded, and what the
// plug-in answers is checked before anything is made of it: a plug-in that lies or hangs is named in the error.
import type { ClientReadableStream } from "@grpc/grpc-js";
import {
  GrpcChannel,
  grpcStatusText,
  grpcText,
  loadGrpc,
} from "../../../grpc/channel.ts";
import {
  devicePluginCodec,
  devicePluginMethods,
  type ContainerAllocation,
  type DevicePluginOptions,
  type PluginDevice,
} from "./device-plugin-protocol.ts";

const dialTimeoutMs = 10_000;
const optionsTimeoutMs = 10_000;
/** The reference waits without end; here a plug-in that hangs refuses its pod and holds up the others no longer. */
const allocateTimeoutMs = 10_000;
const preferredTimeoutMs = 5000;
/** The reference's. */
const preStartTimeoutMs = 30_000;
/** A plug-in with more devices is refused; the largest known ones list some thousands (shares of a device). */
const maxDevices = 10_000;
/**
 * A plug-in that lists without a pause is kept waiting for so long after each list, and longer after a long one, which
 * takes more of the loop's time: of 10,000 devices four lists a second are read.
 */
const listPauseMs = 20;
const pausePerDeviceMs = 0.02;
const maxTextLength = 1024;
const maxItems = 1024;

export class DevicePluginClient {
  readonly resource: string;
  readonly #channel: GrpcChannel;
  #stream: ClientReadableStream<unknown> | undefined;
  options: DevicePluginOptions = {
    pre_start_required: false,
    get_preferred_allocation_available: false,
  };

  private constructor(resource: string, channel: GrpcChannel) {
    this.resource = resource;
    this.#channel = channel;
  }

  /** Connects and reads the plug-in's options. */
  static async open(
    resource: string,
    socketPath: string,
  ): Promise<DevicePluginClient> {
    const channel = new GrpcChannel(await loadGrpc(), {
      target: `unix://${socketPath}`,
      codec: devicePluginCodec,
      settings: { "grpc.default_authority": "localhost" },
    });
    const client = new DevicePluginClient(resource, channel);
    try {
      await channel.waitForReady(dialTimeoutMs);
    } catch (error) {
      client.close();
      throw new Error(
        `failed to dial device plugin: ${(error as Error).message}`,
        { cause: error },
      );
    }
    try {
      client.options = await channel.unary<DevicePluginOptions>(
        devicePluginMethods.options,
        {},
        { timeoutMs: optionsTimeoutMs },
      );
    } catch (error) {
      client.close();
      throw new Error(
        `failed to get device plugin options: ${(error as Error).message}`,
        { cause: error },
      );
    }
    return client;
  }

  close(): void {
    this.#stream?.cancel();
    this.#channel.close();
  }

  /** @param onEnd called once: the plug-in ended the stream or died, or sent what can't be used. */
  listAndWatch(
    onDevices: (devices: readonly PluginDevice[]) => void,
    onEnd: (reason: string) => void,
  ): void {
    const stream = this.#channel.serverStream(
      devicePluginMethods.listAndWatch,
      {},
    );
    this.#stream = stream;
    let ended = false;
    const end = (reason: string): void => {
      if (ended) return;
      ended = true;
      onEnd(reason);
    };
    stream.on("data", (message: { devices: PluginDevice[] }) => {
      if (ended) return;
      const problem = problemOf(message.devices);
      if (problem) {
        end(problem);
        stream.cancel();
        return;
      }
      stream.pause();
      const pauseMs = listPauseMs + message.devices.length * pausePerDeviceMs;
      setTimeout(() => stream.resume(), pauseMs).unref();
      onDevices(message.devices);
    });
    stream.on("error", (error) => end(grpcText(error)));
    stream.on("end", () => end("EOF"));
  }

  async allocate(ids: readonly string[]): Promise<ContainerAllocation> {
    let responses: ContainerAllocation[];
    try {
      ({ container_responses: responses } = await this.#channel.unary<{
        container_responses: ContainerAllocation[];
      }>(
        devicePluginMethods.allocate,
        { container_requests: [{ devices_ids: ids }] },
        { timeoutMs: allocateTimeoutMs },
      ));
    } catch (error) {
      throw new Error(grpcStatusText(error), { cause: error });
    }
    const [allocation] = responses;
    if (!allocation)
      throw new Error(
        `no containers return in allocation response of ${this.resource}`,
      );
    checkAllocation(this.resource, allocation);
    return allocation;
  }

  /** Ids the plug-in would rather give; whatever it likes to answer. */
  async preferred(
    available: readonly string[],
    mustInclude: readonly string[],
    size: number,
  ): Promise<readonly string[]> {
    try {
      const { container_responses: responses } = await this.#channel.unary<{
        container_responses: { deviceIDs: string[] }[];
      }>(
        devicePluginMethods.preferredAllocation,
        {
          container_requests: [
            {
              available_deviceIDs: available,
              must_include_deviceIDs: mustInclude,
              allocation_size: size,
            },
          ],
        },
        { timeoutMs: preferredTimeoutMs },
      );
      return responses[0]?.deviceIDs ?? [];
    } catch (error) {
      throw new Error(
        `device plugin GetPreferredAllocation rpc failed with err: ${grpcStatusText(error)}`,
        { cause: error },
      );
    }
  }

  async preStartContainer(ids: readonly string[]): Promise<void> {
    try {
      await this.#channel.unary(
        devicePluginMethods.preStartContainer,
        { devices_ids: ids },
        { timeoutMs: preStartTimeoutMs },
      );
    } catch (error) {
      throw new Error(
        `device plugin PreStartContainer rpc failed with err: ${grpcStatusText(error)}`,
        { cause: error },
      );
    }
  }
}

/** Why a list of devices can't be used. */
function problemOf(devices: readonly PluginDevice[]): string | undefined {
  if (devices.length > maxDevices)
    return `it lists ${devices.length} devices, more than ${maxDevices}`;
  const seen = new Set<string>();
  for (const { ID, topology } of devices) {
    if (ID === "" || ID.length > maxTextLength)
      return "it lists a device whose id is empty or too long";
    if (seen.has(ID)) return `it lists the device ${ID} twice`;
    if ((topology?.nodes.length ?? 0) > 64)
      return `it lists the device ${ID} on more than 64 NUMA nodes`;
    seen.add(ID);
  }
  return undefined;
}

function checkAllocation(
  resource: string,
  { envs, mounts, devices, annotations, cdi_devices }: ContainerAllocation,
): void {
  const refuse = (why: string): never => {
    throw new Error(`device plugin of ${resource} answered Allocate ${why}`);
  };
  const counts = [
    Object.keys(envs).length,
    Object.keys(annotations).length,
    mounts.length,
    devices.length,
    cdi_devices.length,
  ];
  if (counts.some((count) => count > maxItems))
    refuse(`with more than ${maxItems} items`);
  for (const { host_path, container_path } of [...mounts, ...devices])
    if (!host_path.startsWith("/") || !container_path.startsWith("/"))
      refuse(
        `with a path that is not absolute: ${JSON.stringify((host_path || container_path).slice(0, 256))}`,
      );
  for (const { permissions } of devices)
    if (!/^[rwm]{1,3}$/.test(permissions))
      refuse(
        `with the permissions ${JSON.stringify(permissions.slice(0, 32))}`,
      );
  for (const name of Object.keys(envs))
    if (name === "" || name.includes("=") || name.includes("\0"))
      refuse("with an invalid name of an environment variable");
}
