// Answers of megabytes are read as small ones are, in slices.
import { readAnswer } from "../../../../../apiserver-lite/admission/webhook/answer.ts";

const asked = { uid: "u", version: "v1", mutating: true } as const;
const filler = { request: { uid: "u", object: { text: "x".repeat(300_000) } } };

function read(
  response: object,
  more: object = {},
): ReturnType<typeof readAnswer> {
  const review = {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    ...more,
    response: { uid: "u", allowed: true, ...response },
  };
  return readAnswer(Buffer.from(JSON.stringify(review)), asked, () =>
    Promise.resolve(),
  );
}

test.each([0, 1, 2, 98_304, 98_305, 1_000_000])(
  "a patch of %d bytes",
  async (length) => {
    const text = `[${" ".repeat(length)}]`;
    const patch = Buffer.from(text).toString("base64");
    for (const more of [{}, filler]) {
      const answer = await read({ patchType: "JSONPatch", patch }, more);
      expect(answer.patch?.toString() === text).toBe(true);
    }
  },
);

test("a patch in lines, as small ones may have it", async () => {
  const text = `[${" ".repeat(200_000)}]`;
  const patch = Buffer.from(text)
    .toString("base64")
    .replace(/.{76}/g, "$&\r\n");
  const answer = await read({ patchType: "JSONPatch", patch });
  expect(answer.patch?.toString() === text).toBe(true);
});

test.each([
  ["a patch that is no base64", { patch: `*${"A".repeat(200_003)}` }],
  ["base64 that ends early", { patch: `AA==${"A".repeat(300_000)}` }],
])("%s", async (_, response) => {
  await expect(read({ patchType: "JSONPatch", ...response })).rejects.toThrow(
    "illegal base64 data at input byte",
  );
});

test("what belongs together is checked beside a large request", async () => {
  await expect(read({ patch: "W10=" }, filler)).rejects.toThrow(
    "webhook returned response.patch but not response.patchType",
  );
  await expect(read({ uid: "other" }, filler)).rejects.toThrow(
    'expected response.uid="u", got "other"',
  );
  await expect(read({ warnings: 5 }, filler)).rejects.toThrow(
    "json: cannot unmarshal number into Go",
  );
  await expect(
    read({}, { ...filler, request: "text".repeat(50_000) }),
  ).rejects.toThrow("json: cannot unmarshal string into Go");
});

const many = Array.from({ length: 30_000 }, (_, at) => `value ${at}`);
test.each([
  ["warnings", { warnings: many }],
  [
    "annotations",
    { auditAnnotations: Object.fromEntries(many.map((one) => [one, one])) },
  ],
  [
    "causes",
    { status: { details: { causes: many.map((field) => ({ field })) } } },
  ],
])("tens of thousands of %s are refused", async (_, response) => {
  await expect(read(response)).rejects.toThrow(
    "the answer has more than 20000 values",
  );
});
