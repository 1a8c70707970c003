// What runs in a container or connects to a sandbox: exec, attach, port-forward.
import { grpcCodes } from "../../../grpc/channel.ts";
import { RuntimeError, type Runtime } from "../../runtime.ts";
import type { CallContext } from "../call-context.ts";
import { causeCode } from "../connection.ts";
import { openAttach } from "./attach.ts";
import { openExecStream, openPortForward } from "./streaming.ts";

type StreamCalls = Pick<
  Runtime,
  "execSync" | "exec" | "attach" | "portForward"
>;

/** The runtime ends an exec at its timeout; ours comes later, so that the two are distinguished. */
const execSyncSlackMs = 15_000;

export function streamCalls({ connection }: CallContext): StreamCalls {
  return {
    async execSync(containerId, command, timeoutMs) {
      try {
        const { stdout, stderr, exit_code } = await connection.call(
          "ExecSync",
          {
            container_id: containerId,
            cmd: command,
            timeout: timeoutMs > 0 ? Math.ceil(timeoutMs / 1000) : 0,
          },
          timeoutMs > 0 ? timeoutMs + execSyncSlackMs : 0,
        );
        return { stdout, stderr, exitCode: exit_code };
      } catch (error) {
        // grpc-js's own deadline: the runtime hangs, which says nothing about the command.
        if (
          causeCode(error) === grpcCodes.deadlineExceeded &&
          /^ExecSync: Deadline exceeded/.test((error as Error).message)
        )
          throw new RuntimeError(
            "unavailable",
            "ExecSync: the runtime does not answer",
            { cause: error },
          );
        throw error;
      }
    },

    async exec(containerId, command, stream) {
      const { url } = await connection.call("Exec", {
        container_id: containerId,
        cmd: command,
        ...stream,
        stderr: stream.stderr && !stream.tty,
      });
      return openExecStream(url, stream);
    },

    attach(containerId, options) {
      return openAttach(async (stream) => {
        const { url } = await connection.call("Attach", {
          container_id: containerId,
          ...stream,
          stderr: stream.stderr && !stream.tty,
        });
        return await openExecStream(url, stream);
      }, options);
    },

    async portForward(sandboxId, port) {
      const { url } = await connection.call("PortForward", {
        pod_sandbox_id: sandboxId,
        port: [port],
      });
      return openPortForward(url, port);
    },
  };
}
