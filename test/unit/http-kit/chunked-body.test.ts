import { ChunkedBody } from "../../../http-kit/chunked-body.ts";

/** The body, in pieces of `size` bytes; rejects with what is wrong. */
async function read(text: string, size: number): Promise<string> {
  let complete = false;
  const body = new ChunkedBody(() => (complete = true));
  const read = body.toArray() as Promise<Buffer[]>;
  read.catch(() => undefined);
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length && !complete; at += size)
    body.write(bytes.subarray(at, at + size));
  if (!complete) body.end();
  return Buffer.concat(await read).toString("latin1");
}

const sizes = [1, 2, 3, 7, 1000];

it.each([
  ["0\r\n\r\n", ""],
  ["5\r\nhello\r\n0\r\n\r\n", "hello"],
  ["5\r\nhello\r\n1\r\n!\r\n00\r\n\r\n", "hello!"],
  ['5 ;name="v;w"\r\nhe\r\nl\r\n0;x\r\n\r\n', "he\r\nl"],
  ["A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"],
  ["1\r\na\r\n0\r\nX-A: b\r\nContent-Length: 9\r\n\r\n", "a"],
  ["1\r\na\r\n0\r\n\r\nGET /secret HTTP/1.1\r\n\r\n", "a"],
])("%j is %j", async (text, body) => {
  for (const size of sizes) expect(await read(text, size)).toBe(body);
});

it.each([
  ["no size", "\r\nhello\r\n0\r\n\r\n"],
  ["a size of no digits", "x\r\nhello\r\n0\r\n\r\n"],
  ["a size with a prefix", "0x5\r\nhello\r\n0\r\n\r\n"],
  ["a size with a sign", "+5\r\nhello\r\n0\r\n\r\n"],
  ["a blank before the size", " 5\r\nhello\r\n0\r\n\r\n"],
  ["a size beyond numbers", "10000000000000005\r\nhello\r\n0\r\n\r\n"],
  ["a bare line feed after the size", "5\nhello\r\n0\r\n\r\n"],
  ["a line feed in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n"],
  ["a control character in an extension", "5;a\x01\r\nhello\r\n0\r\n\r\n"],
  ["more than its size", "5\r\nhello!\r\n0\r\n\r\n"],
  ["a bare line feed after the data", "5\r\nhello\n0\r\n\r\n"],
  ["a bare line feed at the end", "5\r\nhello\r\n0\r\n\n"],
  ["no last chunk", "5\r\nhello\r\n"],
  ["an end within a chunk", "5\r\nhel"],
  ["an endless extension", `5;${"x".repeat(5000)}\r\nhello\r\n0\r\n\r\n`],
  ["endless trailers", `0\r\n${"a: b\r\n".repeat(5000)}\r\n`],
])("%s is refused", async (_, text) => {
  for (const size of sizes)
    await expect(read(text, size)).rejects.toThrow(Error);
});
