// A DRA driver of our own over real gRPC: it registers by a socket in ROOT/plugins_registry and prepares claims. What it
// answers can be replaced, to make it lie or hang.
import { join } from "node:path";
import {
  draCodec,
  draMethods,
  draService,
  type DraClaim,
  type DraDevice,
} from "../../../agent/resources/claims/dra-protocol.ts";
import { loadGrpc } from "../../../grpc/channel.ts";
import { GrpcServer } from "../../../grpc/server.ts";
import { openPluginSocket, type PluginSocket } from "./plugin-socket.ts";

interface Prepared {
  devices?: Partial<DraDevice>[];
  error?: string;
}

export interface TestDraDriver {
  /** "prepare n/claim", "unprepare n/claim" in their order. */
  readonly calls: readonly string[];
  readonly registration: PluginSocket;
  close(): Promise<void>;
}

/** @param root the agent's ROOT, whose plugins_registry is there */
export async function startDraDriver(
  root: string,
  name: string,
  answer: {
    prepare?: (
      claim: DraClaim,
    ) => Record<string, Prepared> | Promise<Record<string, Prepared>>;
    unprepare?: (claim: DraClaim) => Record<string, { error?: string }>;
    versions?: string[];
    /** Of which service; that of v1beta1 by default. */
    methods?: typeof draMethods;
  } = {},
): Promise<TestDraDriver> {
  const calls: string[] = [];
  const methods = answer.methods ?? draMethods;
  const endpoint = join(root, `${name}.sock`);
  const server = new GrpcServer(await loadGrpc(), {
    codec: draCodec,
    handlers: [
      {
        method: methods.prepare,
        unary: async ({ claims: [claim] }: { claims: DraClaim[] }) => {
          calls.push(`prepare ${claim!.namespace}/${claim!.name}`);
          const claims = (await answer.prepare?.(claim!)) ?? {
            [claim!.uid]: {},
          };
          return { claims };
        },
      },
      {
        method: methods.unprepare,
        unary: ({ claims: [claim] }: { claims: DraClaim[] }) => {
          calls.push(`unprepare ${claim!.namespace}/${claim!.name}`);
          return {
            claims: answer.unprepare?.(claim!) ?? { [claim!.uid]: {} },
          };
        },
      },
    ],
  });
  await server.listen(endpoint);
  const registration = await openPluginSocket(
    join(root, "plugins_registry", `${name}-reg.sock`),
    {
      type: "DRAPlugin",
      name,
      endpoint,
      supported_versions: answer.versions ?? [draService],
    },
  );
  return {
    calls,
    registration,
    async close() {
      await registration.close();
      await server.close();
    },
  };
}
