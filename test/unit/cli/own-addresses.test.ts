// When connections of this machine hear nothing any more because their address is gone.
import { machineAddresses } from "../../../cli/parts/addresses.ts";
import { OwnAddresses } from "../../../cli/parts/connection/own-addresses.ts";

test.each<[string, string[][], boolean[]]>([
  ["nothing changes", [["a"], ["a"]], [false]],
  ["one comes", [["a"], ["a", "b"], ["a", "b"]], [false, false]],
  ["one is exchanged", [["a"], ["b"], ["b"]], [true, false]],
  ["one of two goes", [["a", "b"], ["b"]], [true]],
  ["a link is down for a while", [["a"], [], ["a"]], [false, false]],
  ["and comes back with another", [["a"], [], ["b"]], [false, true]],
  ["the first one comes late", [[], [], ["a"]], [false, false]],
])("%s", (_what, [first = [], ...later], expected) => {
  let now = first;
  const addresses = new OwnAddresses(() => now);
  expect(
    later.map((next) => {
      now = next;
      return addresses.haveGone();
    }),
  ).toEqual(expected);
});

test("this machine's are those that connections leave by", () => {
  for (const address of machineAddresses())
    expect(address).not.toMatch(/^(127\.|::1$)/);
});
