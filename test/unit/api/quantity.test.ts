import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "../../../api/quantity.ts";

describe("canonicalQuantity", () => {
  test.each([
    ["0", "0"],
    ["0.0Ki", "0"],
    ["-0", "0"],
    ["1", "1"],
    ["1000", "1k"],
    ["1000m", "1"],
    ["100m", "100m"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5"],
    ["+1.5Gi", "1536Mi"],
    ["1024Ki", "1Mi"],
    ["1024", "1024"],
    ["1048576", "1048576"],
    ["1023Mi", "1023Mi"],
    ["0.5Ki", "512"],
    ["1.1Ki", "1126400m"],
    ["1536Ki", "1536Ki"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["12e6", "12e6"],
    ["1E", "1E"],
    ["1Ei", "1Ei"],
    ["100000000000", "100G"],
    ["1500M", "1500M"],
    ["2000M", "2G"],
    ["-1500m", "-1500m"],
    ["100u", "100u"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["0.0000000001", "1n"],
    ["0001.50", "1500m"],
    ["16Ei", "9223372036854775807"],
  ])("%s → %s", (text, canonical) =>
    expect(canonicalQuantity(text)).toBe(canonical),
  );

  test.each([
    "",
    " 1",
    "1 ",
    "1GB",
    "abc",
    "1,5",
    "1.2.3",
    "0..",
    "10.0.0.1",
    "1KI",
    "0x10",
    "1".repeat(300),
  ])("refuses %j", (text) =>
    expect(() => canonicalQuantity(text)).toThrow(
      "quantities must match the regular expression",
    ),
  );
  test.each([
    "--1",
    "e",
    "i",
    "1Gii",
    "1mi",
    "1e",
    "1ee3",
    "1i",
    "1Ki3",
    "1e99999999999999",
  ])("refuses suffix of %j", (text) =>
    expect(() => canonicalQuantity(text)).toThrow(
      "unable to parse quantity's suffix",
    ),
  );
  test.each([".", "-.", "+.k", ".Ki", "+", "-", "k", "Ki", "e3"])(
    "takes %j for nothing",
    (text) => expect(canonicalQuantity(text)).toBe("0"),
  );
  test("huge exponents are capped, quickly", () => {
    expect(canonicalQuantity("1e999999999")).toBe("9223372036854775807");
    expect(canonicalQuantity("1e-999999999")).toBe("1e-9");
  });
  test("numbers of JSON", () => {
    expect(canonicalQuantity(0.1)).toBe("100m");
    expect(canonicalQuantity(2)).toBe("2");
    expect(() => canonicalQuantity(Number.NaN)).toThrow();
  });
});

test("values round away from zero", () => {
  expect(quantityValue("1500m")).toBe(2);
  expect(quantityValue("-1500m")).toBe(-2);
  expect(quantityMilliValue("0.1")).toBe(100);
  expect(quantityMilliValue("1u")).toBe(1);
  expect(quantityValue("1Gi")).toBe(1073741824);
  expect(quantityValue(parseQuantity("3"))).toBe(3);
});

test("arithmetic keeps the format", () => {
  expect(addQuantities("1Gi", "512Mi")).toBe("1536Mi");
  expect(addQuantities("0", "1Gi")).toBe("1Gi");
  expect(addQuantities("100m", "900m")).toBe("1");
  expect(compareQuantities("1000m", "1")).toBe(0);
  expect(compareQuantities("1G", "1Gi")).toBe(-1);
  expect(compareQuantities("2", "1")).toBe(1);
});
