// A transport within the process whose calls are counted as the requests that they are in place of.
import { ApiError } from "../../api/errors.ts";
import { methods } from "../http-transport.ts";
import type { ApiRequest, Transport } from "../transport.ts";
import type { ClientMetrics } from "./client-metrics.ts";

/** There is no host: nothing is sent. */
const host = "in-process";

const codeOf = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.code : undefined;

export function countedTransport(
  transport: Transport,
  metrics: ClientMetrics,
): Transport {
  const counted = async <T>(
    method: string,
    ask: () => Promise<T>,
    codeOfAnswer: (answer: T) => number,
  ): Promise<T> => {
    const ended = metrics.began(method, host);
    try {
      const answer = await ask();
      ended(codeOfAnswer(answer));
      return answer;
    } catch (error) {
      ended(codeOf(error));
      throw error;
    }
  };
  return {
    request: (request: ApiRequest) =>
      counted(
        methods[request.verb],
        () => transport.request(request),
        () => (request.verb === "create" ? 201 : 200),
      ),
    watch: transport.watch.bind(transport),
    raw: (method, path, body) =>
      counted(
        method.toUpperCase(),
        () => transport.raw(method, path, body),
        ({ status }) => status,
      ),
    ...(transport.cache ? { cache: transport.cache.bind(transport) } : {}),
    close: () => transport.close(),
  };
}
