// The reference's forms of a runtime's errors: with the code of the call, without it, and for pulls with it where it says more.
import {
  pullFailureText,
  runtimeErrorText,
  runtimeStatusText,
} from "../../../cri/runtime-error-text.ts";
import { RuntimeError } from "../../../cri/runtime.ts";

const failed = (code: RuntimeError["code"], detail: string): RuntimeError =>
  new RuntimeError(code, `Call: ${detail}`, { detail });

test.each([
  [failed("unknown", "no"), "no", "rpc error: code = Unknown desc = no", "no"],
  [
    failed("not-found", "gone"),
    "gone",
    "rpc error: code = NotFound desc = gone",
    "rpc error: code = NotFound desc = gone",
  ],
  [new Error("own"), "own", "own", "own"],
  ["text", "text", "text", "text"],
])("%s", (error, plain, status, pull) => {
  expect(runtimeErrorText(error)).toBe(plain);
  expect(runtimeStatusText(error)).toBe(status);
  expect(pullFailureText(error)).toBe(pull);
});

test("a code that is there already is not said twice", () => {
  const text = "rpc error: code = Unimplemented desc = method X";
  expect(runtimeStatusText(new RuntimeError("unsupported", text))).toBe(text);
});

test("what a registry says has an end", () => {
  const error = new RuntimeError("unknown", `PullImage: ${"x".repeat(1e6)}`, {
    detail: "x".repeat(1e6),
  });
  expect(error.message.length).toBeLessThan(5000);
  expect(pullFailureText(error)).toMatch(/^x{4096}$/);
  expect(new RuntimeError("unknown", "short").detail).toBe("short");
});
