import { fairShare } from "../../../network/conntrack/connection-share.ts";

test.each([
  [[10, 200, 500], 300, 145],
  [[10, 20], 30, Infinity],
  [[1000], 700, 700],
  [[500, 500, 500, 500], 1000, 250],
  [[5, 5], -100, 0],
  [[], 10, Infinity],
])("of %p with room for %p each may have %p", (held, room, share) => {
  expect(fairShare(held, room)).toBe(share);
});
