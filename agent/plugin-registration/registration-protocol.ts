// The service by which a plug-in introduces itself (pluginregistration v1): who it is, and whether it was taken.
import { GrpcChannel, loadGrpc, type GrpcMethod } from "../../grpc/channel.ts";
import { createBoundedWireCodec, type WireTable } from "../../grpc/wire.ts";

export const registrationMessages: WireTable = {
  InfoRequest: [],
  PluginInfo: [
    ["type", 1, "string", 0],
    ["name", 2, "string", 0],
    ["endpoint", 3, "string", 0],
    ["supported_versions", 4, "string", 1],
  ],
  RegistrationStatus: [
    ["plugin_registered", 1, "bool", 0],
    ["error", 2, "string", 0],
  ],
  RegistrationStatusResponse: [],
};

export const registrationMethods = {
  getInfo: {
    path: "/pluginregistration.Registration/GetInfo",
    request: "InfoRequest",
    response: "PluginInfo",
  },
  notify: {
    path: "/pluginregistration.Registration/NotifyRegistrationStatus",
    request: "RegistrationStatus",
    response: "RegistrationStatusResponse",
  },
} as const satisfies Record<string, GrpcMethod>;

export interface PluginInfo {
  type: string;
  name: string;
  endpoint: string;
  supported_versions: string[];
}

/** Four of its own and as many versions as are taken; more is refused before it is decoded. */
const maxFields = 1024;
const codec = createBoundedWireCodec(maxFields, registrationMessages);

/** The reference's times. */
const dialTimeoutMs = 10_000;
const infoTimeoutMs = 1000;
const notifyTimeoutMs = 5000;

/** One conversation with a plug-in: GetInfo, then the handler decides, then the plug-in is notified. */
export class RegistrationCall {
  readonly #channel: GrpcChannel;
  readonly #socketPath: string;
  readonly #signal: AbortSignal;

  private constructor(
    channel: GrpcChannel,
    socketPath: string,
    signal: AbortSignal,
  ) {
    this.#channel = channel;
    this.#socketPath = socketPath;
    this.#signal = signal;
  }

  /**
   * After the signal every step rejects at once.
   * @throws Error when no server answers at the socket.
   */
  static async open(
    socketPath: string,
    signal: AbortSignal,
  ): Promise<RegistrationCall> {
    const channel = new GrpcChannel(await loadGrpc(), {
      target: `unix://${socketPath}`,
      codec,
      settings: {},
    });
    try {
      await unlessAborted(signal, channel.waitForReady(dialTimeoutMs));
    } catch (error) {
      channel.close();
      throw new Error(
        `RegisterPlugin error -- dial failed at socket ${socketPath}, err: ${(error as Error).message}`,
        { cause: error },
      );
    }
    return new RegistrationCall(channel, socketPath, signal);
  }

  close(): void {
    this.#channel.close();
  }

  async info(): Promise<PluginInfo> {
    try {
      return await unlessAborted(
        this.#signal,
        this.#channel.unary<PluginInfo>(
          registrationMethods.getInfo,
          {},
          { timeoutMs: infoTimeoutMs },
        ),
      );
    } catch (error) {
      throw new Error(
        `RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket ${this.#socketPath}, err: ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  /** @param error empty: it is registered. */
  async notify(error: string): Promise<void> {
    await unlessAborted(
      this.#signal,
      this.#channel.unary(
        registrationMethods.notify,
        { plugin_registered: error === "", error },
        { timeoutMs: notifyTimeoutMs },
      ),
    );
  }
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("the agent is stopped"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}
