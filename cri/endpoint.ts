// Where a container runtime listens: unix sockets alone.
import { RuntimeError } from "./runtime.ts";

/**
 * The socket of `unix:///path`, `unix:/path` or `/path`.
 * @throws RuntimeError "unsupported" for another scheme
 */
export function socketPath(endpoint: string): string {
  const path = endpoint.replace(/^unix:(?:\/\/)?(?=\/)/, "");
  if (!/^\/[^/]/.test(path))
    throw new RuntimeError(
      "unsupported",
      `container runtime endpoint ${endpoint} is not a unix socket`,
    );
  return path;
}
