// Reads a document from a node's agent, as the API server: with its client certificate, at the node's preferred address.
import { errors } from "../../api/errors.ts";
import { dialError, type Dialer } from "./dialer.ts";
import { agentAddress, type TargetOptions } from "./target.ts";

/** An answer of a node with hundreds of pods has about half a kilobyte a container. */
const maxBytes = 16 * 1024 * 1024;
const timeoutMs = 10_000;

/** @throws ApiError when there is no such node, it can't be reached, or does not answer with 200 */
export async function readAgent(
  nodeName: string,
  path: string,
  dialer: Dialer,
  options: TargetOptions,
): Promise<string> {
  const target = { ...agentAddress(nodeName, options), path };
  return await new Promise((resolve, reject) => {
    const request = dialer.request(target, "GET", {}, false);
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error as Error);
      request.destroy();
    };
    const timer = setTimeout(
      () => fail(errors.timeout(`node ${nodeName} did not answer in time`)),
      timeoutMs,
    );
    request.once("error", (error) => fail(dialError(error, target)));
    request.once("response", (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes)
          fail(errors.internal(`node ${nodeName} answered more than 16 MiB`));
        else chunks.push(chunk);
      });
      answer.once("error", (error) => fail(dialError(error, target)));
      answer.once("end", () => {
        clearTimeout(timer);
        if (answer.statusCode === 200)
          resolve(Buffer.concat(chunks).toString());
        else
          fail(
            errors.internal(
              `node ${nodeName} answered ${answer.statusCode} for ${path}`,
            ),
          );
      });
    });
    request.end();
  });
}
