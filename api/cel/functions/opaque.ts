// What libraries with types of their own share.
import type { OverloadText } from "../checking/declarations.ts";
import type { OpaqueValue, Result, Value } from "../values/value.ts";

/** A function called on a value of the library's type. */
export function method<T extends OpaqueValue>(
  id: string,
  args: string,
  result: string,
  call: (self: T, ...rest: never[]) => Result,
): OverloadText {
  return {
    id,
    member: true,
    args,
    result,
    call: ([self, ...rest]) => call(self as T, ...(rest as never[])),
  };
}

/** A function of a text. */
export function ofText(
  id: string,
  result: string,
  call: (text: string) => Result,
): OverloadText {
  return {
    id,
    args: "string",
    result,
    call: ([text]: readonly Value[]) => call(text as string),
  };
}

/** Text in Go's quotes, as messages have it. */
export const quote = (text: string): string => JSON.stringify(text);
