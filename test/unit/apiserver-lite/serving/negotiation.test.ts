import { cpuMsOf } from "../../../support/cpu-time.ts";
import {
  Negotiator,
  type Offer,
} from "../../../../apiserver-lite/serving/negotiation.ts";

const offer: Offer = {
  protobuf: true,
  cbor: false,
  table: true,
  partial: true,
};

/** Bytes that stay on the heap after `work`. */
function keptBytes(work: () => void): number {
  const { gc } = globalThis as { gc?: () => void };
  gc!();
  const before = process.memoryUsage().heapUsed;
  work();
  gc!();
  return process.memoryUsage().heapUsed - before;
}

beforeAll(async () => {
  const v8 = await import("node:v8");
  const vm = await import("node:vm");
  v8.setFlagsFromString("--expose-gc");
  (globalThis as { gc?: unknown }).gc = vm.runInNewContext("gc");
});

test("long Accept headers are answered, and leave nothing behind", () => {
  const negotiator = new Negotiator();
  const kept = keptBytes(() => {
    for (let at = 0; at < 250; at++)
      expect(
        negotiator.negotiate(
          `application/yaml,x/${String(at).padStart(200_000, "y")}`,
          offer,
        ).format,
      ).toBe("yaml");
  });
  expect(kept).toBeLessThan(2_000_000);
});

test("short ones are remembered, refused ones too", () => {
  const negotiator = new Negotiator();
  const accept = "application/vnd.kubernetes.protobuf,application/json";
  expect(negotiator.negotiate(accept, offer)).toBe(
    negotiator.negotiate(accept, offer),
  );
  for (let again = 0; again < 2; again++)
    expect(() => negotiator.negotiate("text/html", offer)).toThrow(
      /only the following media types/,
    );
});

test("clauses beyond the first 256 are not read", () => {
  const clauses = Array.from({ length: 100_000 }, () => "a/b").join();
  expect(() => new Negotiator().negotiate(`${clauses},*/*`, offer)).toThrow();
});

test("a header of a megabyte costs no more than one of a few kilobytes", () => {
  const negotiator = new Negotiator();
  const cpuMs = cpuMsOf(() => {
    for (const accept of [
      `a/b${";q=1".repeat(250_000)}`,
      `${"a/b,".repeat(250_000)}*/*`,
      `application/yaml,${";".repeat(1_000_000)}`,
    ])
      try {
        negotiator.negotiate(accept, offer);
      } catch {
        // Not acceptable.
      }
  });
  expect(cpuMs).toBeLessThan(60);
});
