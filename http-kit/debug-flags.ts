// /debug/flags/v: PUT of a number sets how much the process logs from now on, as --v does at the start. Method and value
// are answered with the reference's codes and texts.
import { readBody } from "./body.ts";
import type { PortRequest, PortRoute } from "./port.ts";

/** Takes the value as it was sent. @returns what to answer @throws Error what is wrong with it */
export type FlagSetter = (value: string) => string;

const maxBytes = 64;

export function verbosityRoute(set: FlagSetter): PortRoute {
  return { pattern: "/debug/flags/v", serve: (request) => put(request, set) };
}

async function put(request: PortRequest, set: FlagSetter): Promise<void> {
  const answer = (code: number, text: string): void =>
    request.answer(code, "text/plain", `${text}\n`, {
      "x-content-type-options": "nosniff",
    });
  if (request.method !== "PUT") return answer(406, "unsupported http method");
  const { body, headers } = request.exchange;
  const bytes = await readBody(body, headers["content-length"], { maxBytes });
  let text: string;
  try {
    text = set(bytes.toString());
  } catch (error) {
    return answer(400, (error as Error).message);
  }
  answer(200, text);
}
