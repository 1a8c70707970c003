// The string formats of schemas, each with what it takes and what it refuses.
import { formatCheck } from "../../../../api/structural/values/formats.ts";

const table: [string, string[], string[]][] = [
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["507f1f77", "z".repeat(24)]],
  [
    "uri",
    [
      "http://a.b/c?d#e",
      "/path",
      "mailto:x@y",
      "http://[::1]:80/",
      "http://u:p@h:1/%41",
      "*",
      "http://",
    ],
    [
      "",
      "a/b",
      ":x",
      "http://a b/",
      "/%zz",
      "http://h:x/",
      "http://[::1",
      "a\nb:",
    ],
  ],
  [
    "email",
    ["a@b", "Ann Doe <a@b.c>", '"q s"@b.c', "a@[192.0.2.1]", "a@b (c)"],
    ["", "a", "a@", "@b", "a b@c", "<a@b", "a@b@c", "a..b@c", ".a@b"],
  ],
  [
    "hostname",
    ["example.com", "a", "a-", "a-b", "localhost", "1.example.org", "ü.de"],
    ["", "-a", "foo-bar", "a_b.com", "a.1", `${"a".repeat(64)}.com`],
  ],
  [
    "ipv4",
    ["1.2.3.4", "01.002.3.4", "::ffff:1.2.3.4"],
    ["1.2.3", "::1", "1.2.3.256"],
  ],
  [
    "ipv6",
    ["::1", "2001:db8::", "::ffff:1.2.3.4"],
    ["1.2.3.4", "::1%eth0", "g::"],
  ],
  [
    "cidr",
    ["10.0.0.0/8", "010.0.0.0/8", "::/0"],
    ["10.0.0.0", "10.0.0.0/33", "x/1"],
  ],
  [
    "mac",
    ["00:00:5e:00:53:01", "00-00-5e-00-53-01", "0000.5e00.5301"],
    ["00:00:5e:00:53", "00:00:5e:00:53:0g", "00:00-5e:00:53:01"],
  ],
  [
    "uuid",
    [
      "A987FBC9-4BED-3078-CF07-9141BA07C9F3",
      "a987fbc94bed3078cf079141ba07c9f3",
    ],
    ["a987fbc9-4bed-3078-cf07-9141ba07c9f", "x"],
  ],
  [
    "uuid3",
    ["a987fbc9-4bed-3078-cf07-9141ba07c9f3"],
    ["a987fbc9-4bed-4078-8f07-9141ba07c9f3"],
  ],
  [
    "uuid4",
    ["57b73598-8764-4ad0-a76a-679bb6640eb1"],
    ["a987fbc9-4bed-3078-cf07-9141ba07c9f3"],
  ],
  [
    "uuid5",
    ["987fbc97-4bed-5078-9f07-9141ba07c9f3"],
    ["57b73598-8764-4ad0-a76a-679bb6640eb1"],
  ],
  ["isbn", ["0321751043", "978-0321751041"], ["0321751044", "978-0321751042"]],
  ["isbn10", ["3836221195", "1-61729-085-8"], ["978-0321751041"]],
  ["isbn13", ["9784873113685"], ["3836221195"]],
  [
    "creditcard",
    ["4111-1111-1111-1111", "5555555555554444"],
    ["4111111111111112", "1"],
  ],
  ["ssn", ["111-11-1111", "123 45 6789"], ["111111111", "11-111-1111"]],
  ["hexcolor", ["#fff", "FFFFFF"], ["#ff", "red"]],
  [
    "rgbcolor",
    ["rgb(0,31,255)", "rgb( 1 , 2 , 3 )"],
    ["rgb(1,2)", "rgb(1,2,256)", "rgba(1,2,3)"],
  ],
  ["byte", ["dGVzdA==", "abcd"], ["", "abc", "a=bc"]],
  ["password", ["", "anything"], []],
  ["date", ["2024-02-29"], ["2023-02-29", "2024-13-01", "2024-2-1"]],
  [
    "duration",
    ["1h", "1.5s", "2 weeks", "10 days", "0"],
    ["", "x", "5", "3 fortnights"],
  ],
  [
    "date-time",
    ["2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20+02:00"],
    [
      "2014-12-15",
      "2014-12-15T25:30:20Z",
      "2014-12-15T19:30:20",
      "2014-12-32T19:30:20Z",
    ],
  ],
];

test.each(table)("%s", (format, good, bad) => {
  const check = formatCheck(format)!;
  expect(good.filter((text) => !check(text))).toEqual([]);
  expect(bad.filter((text) => check(text))).toEqual([]);
});

test.each(["int32", "int64", "double", "", "constructor", "__proto__"])(
  "%j says nothing of texts",
  (format) => {
    expect(formatCheck(format)).toBeUndefined();
  },
);

test("formats take linear time", () => {
  const began = process.cpuUsage();
  for (const [format, good] of table)
    for (const begin of [...good, "1 ", "0.", "a.", '"', "(", "rgb("])
      for (const end of ["\n", "!", ""])
        formatCheck(format)!(begin.repeat(100_000 / (begin.length || 1)) + end);
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(5000);
});
