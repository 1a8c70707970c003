// Checkpoints through CRI, with a runtime of the test at the other end of a real socket: the archive's place, the deadline
// that the runtime is given, and the texts that the reference's clients look for.
import * as fs from "node:fs";
import * as path from "node:path";
import { ContainerCheckpoints } from "../../../agent/container-checkpoint.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { CheckpointContainerRequest } from "../../../cri/containerd/cri-v1-types.ts";
import criTable from "../../../cri/containerd/cri-v1.json";
import { containerCalls } from "../../../cri/containerd/container-calls.ts";
import { createConnection } from "../../../cri/containerd/connection.ts";
import type { ContainerState } from "../../../cri/runtime.ts";
import { loadGrpc } from "../../../grpc/channel.ts";
import { GrpcError, GrpcServer } from "../../../grpc/server.ts";
import { createWireCodec, type WireTable } from "../../../grpc/wire.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const [checkpointPath, request, response] = criTable.methods
  .CheckpointContainer as [string, string, string];
const pod: Pod = {
  metadata: { name: "p", namespace: "default", uid: "u" },
  spec: { containers: [{ name: "c" }] },
};

async function runtimeThat(
  answer: (request: CheckpointContainerRequest) => object | Promise<object>,
  methodPath = checkpointPath,
) {
  const directory = directories();
  const socket = path.join(directory, "cri.sock");
  const server = new GrpcServer(await loadGrpc(), {
    codec: createWireCodec(criTable.messages as unknown as WireTable),
    handlers: [
      { method: { path: methodPath, request, response }, unary: answer },
    ],
  });
  await server.listen(socket);
  const clock = new FakeClock(Date.parse("2026-01-02T03:04:05.678Z"));
  const connection = createConnection({
    endpoint: `unix://${socket}`,
    requestTimeoutMs: 20_000,
    maxMessageBytes: 1 << 20,
  });
  await connection.open();
  const runtime = containerCalls({
    connection,
    requestTimeoutMs: 20_000,
    clock,
    whileEnding: (_id, _how, call) => call(),
  });
  let state: ContainerState = "running";
  const checkpoints = new ContainerCheckpoints({
    runtime,
    rootDirectory: directory,
    clock,
    refresh: () =>
      Promise.resolve({
        containers: [{ name: "c", id: "id-c", state }],
      } as never),
  });
  const take = (
    container: string,
    timeoutSeconds: number,
    stateOfContainer: ContainerState = "running",
  ): Promise<string> => {
    state = stateOfContainer;
    return checkpoints.take(pod, container, timeoutSeconds);
  };
  return {
    directory,
    take,
    async close() {
      connection.close();
      await server.close();
    },
  };
}

test("the runtime writes the archive where only root can read it", async () => {
  const requests: CheckpointContainerRequest[] = [];
  const runtime = await runtimeThat((request) => {
    requests.push(request);
    fs.writeFileSync(request.location, "memory");
    return {};
  });
  try {
    const directory = path.join(runtime.directory, "checkpoints");
    const location = await runtime.take("c", 0);
    expect(location).toBe(
      path.join(directory, "checkpoint-p_default-c-2026-01-02T03:04:05Z.tar"),
    );
    expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
    await runtime.take("c", 3);
    await runtime.take("c", 300);
    expect(requests.map(({ timeout }) => timeout)).toEqual([20, 20, 300]);
    expect(requests[0]).toMatchObject({ container_id: "id-c", location });
    await expect(runtime.take("other", 0)).rejects.toThrow(
      /^container other not found$/,
    );
    await expect(runtime.take("c", 0, "exited")).rejects.toThrow(
      /^container c not found$/,
    );
    await expect(runtime.take("c", -1)).rejects.toThrow(
      "CheckpointContainer requires the timeout value to be > 0",
    );
    expect(requests).toHaveLength(3);
  } finally {
    await runtime.close();
  }
});

test("a container has one checkpoint at a time", async () => {
  let finish = (): void => undefined;
  const written = new Promise<void>((resolve) => (finish = resolve));
  const requests: CheckpointContainerRequest[] = [];
  const runtime = await runtimeThat(async (request) => {
    requests.push(request);
    await written;
    return {};
  });
  try {
    const first = runtime.take("c", 0);
    await eventually(() => requests.length === 1);
    await expect(runtime.take("c", 0)).rejects.toThrow(
      /^another checkpoint of the container is under way$/,
    );
    finish();
    await first;
    await runtime.take("c", 0);
    expect(requests).toHaveLength(2);
  } finally {
    await runtime.close();
  }
});

test.each([
  [
    "a runtime without the call",
    "/runtime.v1.RuntimeService/Other",
    /^rpc error: code = Unimplemented desc = /,
  ],
  [
    "a runtime without CRIU",
    checkpointPath,
    /^rpc error: code = FailedPrecondition desc = no criu$/,
  ],
])("%s", async (_name, methodPath, text) => {
  const runtime = await runtimeThat(() => {
    throw new GrpcError(9, "no criu");
  }, methodPath);
  try {
    await expect(runtime.take("c", 0)).rejects.toThrow(text);
  } finally {
    await runtime.close();
  }
});
