// The address of a node's DNS server: of the Service's family, and kept while there is no other of that family.
import { dnsAddress } from "../../../cli/parts/addresses.ts";

const four = "192.168.1.7";
const six = "fd89::1";

test.each<[string, string[], string | undefined, string | undefined, string]>([
  ["the Service's family", [four, six], "fd42::a", undefined, six],
  ["the only one there is", [six], "10.96.0.10", undefined, six],
  ["any for no Service", [four, six], undefined, undefined, four],
  ["the one it has", ["192.168.1.1", four, six], "10.96.0.10", four, four],
  [
    "the next one of that family",
    ["10.0.0.9", six],
    "10.96.0.10",
    four,
    "10.0.0.9",
  ],
  ["none of the other family meanwhile", [six], "10.96.0.10", four, four],
  ["that family as soon as it is there", [four, six], "10.96.0.10", six, four],
  ["none at all meanwhile", [], "10.96.0.10", four, four],
])("%s", (_what, addresses, service, current, wanted) => {
  expect(dnsAddress(addresses, service, current)).toBe(wanted);
});

test("a machine without addresses has none", () => {
  expect(dnsAddress([], "10.96.0.10")).toBeUndefined();
});
