// Random patches and selectors: every one ends in a result or in an ApiError of the 400s, quickly, and changes nothing
// it was not given to change. Fixed seeds; FUZZ_RUNS raises the number of runs for a longer search.
import fc from "fast-check";
import { ApiError } from "../../../../api/errors.ts";
import { applyMergePatch } from "../../../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../../../api/patch/strategic.ts";
import { canonicalQuantity, QuantityError } from "../../../../api/quantity.ts";
import { schemaFor } from "../../../../api/schema.ts";
import {
  parseFieldSelector,
  parseLabelSelector,
} from "../../../../api/selectors.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 400);
const schema = schemaFor("", "v1", "Pod")!;
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", labels: { a: "b" }, finalizers: ["x/y"] },
  spec: {
    containers: [
      {
        name: "a",
        image: "1",
        ports: [{ containerPort: 80, protocol: "TCP" }],
      },
      { name: "b", image: "1" },
    ],
  },
};

/** Malformed directives are the reference's 500, told in words. */
function refused(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect([400, 422, 500]).toContain(error.code);
  }
}

function inThe400s(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBeGreaterThanOrEqual(400);
    expect(error.code).toBeLessThan(500);
  }
}

const key = fc.constantFrom(
  "metadata",
  "spec",
  "containers",
  "ports",
  "name",
  "image",
  "containerPort",
  "labels",
  "finalizers",
  "$patch",
  "$retainKeys",
  "$setElementOrder/containers",
  "$deleteFromPrimitiveList/finalizers",
  "__proto__",
  "constructor",
);
const scalar = fc.constantFrom(
  null,
  0,
  80,
  "a",
  "b",
  "delete",
  "replace",
  "merge",
  "x/y",
  true,
);
const { patch } = fc.letrec((tie) => ({
  patch: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("patch"), { maxLength: 4 }),
    fc.dictionary(key, tie("patch"), { maxKeys: 4 }),
  ),
}));

test("strategic and merge patches", () => {
  const before = JSON.stringify(pod);
  fc.assert(
    fc.property(fc.dictionary(key, patch, { maxKeys: 4 }), (document) => {
      const text = JSON.stringify(document);
      refused(() => applyStrategicMergePatch(pod, document, schema));
      inThe400s(() => applyMergePatch(pod, document));
      expect(JSON.stringify(document)).toBe(text);
    }),
    { seed: 3, numRuns },
  );
  expect(JSON.stringify(pod)).toBe(before);
  expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
});

test("selectors and quantities", () => {
  const piece = fc.constantFrom(
    "a",
    "b/c",
    "=",
    "==",
    "!=",
    "!",
    ",",
    "(",
    ")",
    " in ",
    " notin ",
    ">",
    "<",
    "\\",
    " ",
    "é",
    "1",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      inThe400s(() => {
        const selector = parseLabelSelector(text);
        // The canonical text means the same.
        expect(parseLabelSelector(selector.toString()).toString()).toBe(
          selector.toString(),
        );
      });
      inThe400s(() => {
        const selector = parseFieldSelector(text);
        expect(parseFieldSelector(selector.toString()).toString()).toBe(
          selector.toString(),
        );
      });
    }),
    { seed: 4, numRuns },
  );
  const digits = fc.constantFrom(
    "0",
    "1",
    "9",
    "512",
    ".",
    "-",
    "+",
    "e",
    "E",
    "k",
    "M",
    "Ki",
    "Gi",
    "m",
    "n",
    "u",
  );
  fc.assert(
    fc.property(fc.array(digits, { maxLength: 8 }), (pieces) => {
      try {
        const canonical = canonicalQuantity(pieces.join(""));
        expect(canonicalQuantity(canonical)).toBe(canonical);
      } catch (error) {
        expect(error).toBeInstanceOf(QuantityError);
      }
    }),
    { seed: 5, numRuns },
  );
});
