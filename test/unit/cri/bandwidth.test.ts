// Limits of bandwidth by a pod's annotations, as a runtime hands them to network plug-ins.
import { bandwidthCapability } from "../../../cri/cni/bandwidth.ts";

const ingress = "kubernetes.io/ingress-bandwidth";
const egress = "kubernetes.io/egress-bandwidth";

test("bits a second, with what may leave at once", () => {
  expect(bandwidthCapability({ [ingress]: "10M" })).toEqual({
    ...{ ingressRate: 10_000_000, ingressBurst: 200_000 },
    ...{ egressRate: 0, egressBurst: 0 },
  });
  // Some whole packets at least, and what the plug-in takes at most.
  expect(
    bandwidthCapability({ [ingress]: "1k", [egress]: "1P" }),
  ).toMatchObject({ ingressBurst: 131_072, egressBurst: 536_870_912 });
});

test("pods without the annotations have none", () => {
  expect(bandwidthCapability({ other: "10M" })).toBeUndefined();
});

test.each([
  ["999", "resource is unreasonably small (< 1kbit)"],
  ["1001T", "resource is unreasonably large (> 1Pbit)"],
  ["fast", "quantities must match"],
])("%s is refused by the annotation's name", (value, text) => {
  const limits = (): unknown => bandwidthCapability({ [egress]: value });
  expect(limits).toThrow(text);
  expect(limits).toThrow(egress);
});
