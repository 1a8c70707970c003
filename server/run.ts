// /run/{namespace}/{pod}/{container}?cmd=…: runs a command (words split at blanks) and answers with its output, standard
// output and error as they come. A command that fails is answered with 500 and its output.
import type { NodeAgentView } from "../api/contracts.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRequest } from "../http-kit/port.ts";

const maxOutputBytes = 16 * 1024 * 1024;

export async function serveRun(
  request: PortRequest,
  view: NodeAgentView,
): Promise<void> {
  const { parameters, query } = request;
  const { namespace, pod, container } = parameters as {
    namespace: string;
    pod: string;
    container: string;
  };
  const command = (query.get("cmd") ?? "")
    .split(" ")
    .filter((word) => word !== "");
  if (command.length === 0)
    throw new HttpError(400, 'query parameter "cmd" is required');
  const session = await view.exec(namespace, pod, {
    container,
    command,
    stdin: false,
    stdout: true,
    stderr: true,
    tty: false,
  });
  session.exit.catch(() => undefined);
  const parts: Buffer[] = [];
  let size = 0;
  const take = (part: Buffer): void => {
    if (size < maxOutputBytes)
      parts.push(part.subarray(0, maxOutputBytes - size));
    size += part.length;
  };
  const ended = [session.stdout, session.stderr].map(
    (stream) =>
      new Promise<void>((resolve) => {
        if (stream === undefined) resolve();
        else
          stream.on("data", take).once("close", resolve).once("error", resolve);
      }),
  );
  request.exchange.onClose(() => session.close());
  const code = await session.exit;
  await Promise.all(ended);
  const output = Buffer.concat(parts).toString("utf8");
  if (code === 0) request.text(output);
  else
    request.text(`command terminated with exit code ${code}\n${output}`, 500);
}
