// The path of a probe as Go's client writes it into the request line: as it is where it is well formed, dot segments and
// doubled slashes included, and escaped as a whole where it is not. A scheme and a host in it count for nothing.

/** Unreserved, and what is legal within a path. */
const legal = /^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/;

/** @throws Error for a scheme without slashes, which names no host */
export function requestTarget(path: string): string {
  const [withoutFragment = ""] = path.split("#", 1);
  const fragment = path.slice(withoutFragment.length + 1);
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(withoutFragment)?.[0] ?? "";
  const rest = withoutFragment.slice(scheme.length);
  const question = rest.indexOf("?");
  const before = question < 0 ? rest : rest.slice(0, question);
  if (scheme !== "" && !rest.startsWith("/"))
    throw new Error(`Get "http:${rest}": http: no Host in request URL`);
  const named =
    (scheme !== "" || !before.startsWith("///")) && before.startsWith("//")
      ? (/^\/\/[^/]*(.*)$/s.exec(before)?.[1] ?? "")
      : before;
  const unescaped = unescape(named);
  if (
    // eslint-disable-next-line no-control-regex -- Go takes none in a URL
    /[\0-\x1f\x7f]/.test(withoutFragment) ||
    unescaped === undefined ||
    unescape(fragment) === undefined ||
    (!before.startsWith("/") && before.split("/", 1)[0]!.includes(":"))
  )
    return rooted(escaped(Buffer.from(path)));
  const query = question < 0 ? "" : rest.slice(question);
  return (
    rooted(legal.test(named) ? named : escaped(unescaped)) + sendable(query)
  );
}

const rooted = (path: string): string =>
  path.startsWith("/") ? path : `/${path}`;

/** Undefined where a percent sign begins no byte. */
function unescape(text: string): Buffer | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const parts = text.split(/%([0-9a-fA-F]{2})/);
  return Buffer.concat(
    parts.map((part, at) => Buffer.from(part, at % 2 === 0 ? "utf8" : "hex")),
  );
}

function escaped(bytes: Buffer): string {
  let text = "";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    text += /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text;
}

/** As it is, its UTF-8 as Node writes bytes; a blank would end the target. */
const sendable = (query: string): string =>
  Buffer.from(query).toString("latin1").replaceAll(" ", "%20");
