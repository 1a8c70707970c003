// orbitctl exec and attach over WebSocket (v5.channel.k8s.io, v4 as the fallback): channels 0 stdin, 1 stdout, 2 stderr,
// 3 the final Status, 4 terminal size, 255 close. The exit code is the remote command's.
import { option } from "../options/build-table.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { chooseContainer, podOf } from "./logs.ts";
import { isNodeAgent } from "./node-agent.ts";

interface StreamPlan {
  verb: "exec" | "attach";
  command: readonly string[];
  stdin: boolean;
  tty: boolean;
}

interface FinalStatus {
  status?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

/** Exit code of a final Status; undefined when the command could not be run. */
function exitCode(status: FinalStatus): number | undefined {
  if (status.status === "Success") return 0;
  const cause = status.details?.causes?.find(
    ({ reason }) => reason === "ExitCode",
  );
  return cause?.message === undefined ? undefined : Number(cause.message);
}

async function stream(
  context: CtlContext,
  podName: string,
  plan: StreamPlan,
): Promise<number> {
  const pod = await podOf(context, podName);
  const container = chooseContainer(context, pod);
  const agent = await isNodeAgent(context);
  const http = await context.http();
  const { name, namespace = "default" } = pod.metadata;
  const query = new URLSearchParams();
  // The agent's own names of these parameters are others.
  const [input, output, error] = agent
    ? ["input", "output", "error"]
    : ["stdin", "stdout", "stderr"];
  for (const word of plan.command) query.append("command", word);
  if (!agent) query.set("container", container);
  if (plan.stdin) query.set(input, agent ? "1" : "true");
  query.set(output, agent ? "1" : "true");
  if (plan.tty) query.set("tty", agent ? "1" : "true");
  else query.set(error, agent ? "1" : "true");
  const path = agent
    ? `/${plan.verb}/${namespace}/${name}/${container}`
    : `/api/v1/namespaces/${namespace}/pods/${name}/${plan.verb}`;
  const url = `${http.base.protocol === "https:" ? "wss" : "ws"}://${http.base.host}${http.path(path)}?${query.toString()}`;
  const { WebSocket } = await import("ws");
  const { ca, cert, key, serverName, insecureSkipVerify } =
    http.connection.tls ?? {};
  const socket = new WebSocket(
    url,
    ["v5.channel.k8s.io", "v4.channel.k8s.io"],
    {
      headers: (await http.headers()) as Record<string, string>,
      perMessageDeflate: false,
      ...(ca ? { ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      ...(serverName ? { servername: serverName } : {}),
      ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
    },
  );
  const send = (channel: number, data: Buffer): void =>
    socket.send(Buffer.concat([Buffer.from([channel]), data]));
  const resize = (): void => {
    const { columns, rows } = process.stdout;
    if (columns && rows)
      send(4, Buffer.from(JSON.stringify({ Width: columns, Height: rows })));
  };
  const raw = plan.tty && plan.stdin && process.stdin.isTTY;
  return new Promise<number>((resolve, reject) => {
    let status: FinalStatus | undefined;
    const finish = (): void => {
      if (raw) process.stdin.setRawMode(false);
      process.stdin.removeAllListeners("data");
      process.stdin.pause();
      process.stdout.removeListener("resize", resize);
    };
    socket.on("unexpected-response", (_request, response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        void import("../../client/http-transport.ts").then(({ statusError }) =>
          reject(
            statusError(
              response.statusCode ?? 500,
              Buffer.concat(chunks).toString(),
            ),
          ),
        );
      });
    });
    socket.on("open", () => {
      if (plan.tty) {
        resize();
        process.stdout.on("resize", resize);
      }
      if (!plan.stdin) return;
      if (raw) process.stdin.setRawMode(true);
      process.stdin.on("data", (chunk: Buffer) => send(0, chunk));
      process.stdin.on("end", () => {
        if (
          socket.protocol === "v5.channel.k8s.io" &&
          socket.readyState === WebSocket.OPEN
        )
          socket.send(Buffer.from([255, 0]));
      });
    });
    socket.on("message", (data: Buffer) => {
      const payload = data.subarray(1);
      if (data[0] === 1) process.stdout.write(payload);
      else if (data[0] === 2) process.stderr.write(payload);
      else if (data[0] === 3 && payload.length > 0)
        status = JSON.parse(payload.toString()) as FinalStatus;
    });
    socket.on("error", (failure) => {
      finish();
      reject(failure);
    });
    socket.on("close", () => {
      finish();
      if (!status) return resolve(plan.verb === "attach" ? 0 : 1);
      const code = exitCode(status);
      if (code !== undefined) {
        if (code !== 0)
          context.warn(`command terminated with exit code ${code}`);
        return resolve(code);
      }
      context.warn(
        `error: ${status.message ?? "the command could not be run"}`,
      );
      resolve(1);
    });
  });
}

const streamOptions = [
  option("container", "string", "", "Container.", { short: "c" }),
  option("stdin", "bool", "false", "Pass standard input.", { short: "i" }),
  option("tty", "bool", "false", "Standard input is a terminal.", {
    short: "t",
  }),
];

export const execCommand: CtlCommand = {
  usage: "exec (POD | TYPE/NAME) [-c CONTAINER] [-it] -- COMMAND [ARGUMENTS…]",
  about: "Run a command in a container.",
  options: streamOptions,
  run: (context) => {
    const { args, values } = context;
    const command = values.afterDashes ?? args.slice(1);
    if (!args[0] || command.length === 0)
      throw new UsageError(
        "pod, type/name and a command after -- must be given",
      );
    return stream(context, args[0], {
      verb: "exec",
      command,
      stdin: values.flag("stdin"),
      tty: values.flag("tty"),
    });
  },
};

export const attachCommand: CtlCommand = {
  usage: "attach (POD | TYPE/NAME) [-c CONTAINER] [-it]",
  about: "Attach to a running container.",
  options: streamOptions,
  run: (context) => {
    const { args, values } = context;
    if (!args[0]) throw new UsageError("a pod or type/name must be given");
    return stream(context, args[0], {
      verb: "attach",
      command: [],
      stdin: values.flag("stdin"),
      tty: values.flag("tty"),
    });
  },
};
