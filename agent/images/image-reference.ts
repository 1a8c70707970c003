// The names of images that pods may give, and how they are refused: the grammar of the reference's library, with its texts.
//   [DOMAIN[:PORT]/]PATH[:TAG][@ALGORITHM:HEX]
// The first part is a domain when it has a dot, a colon or a capital letter, or is "localhost".

const component = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const pathComponent = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tagForm = /^\w[\w.-]{0,127}$/;
const digestForm =
  /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const maxPathLength = 255;
/** Hexadecimal digits of each algorithm. */
const digestLengths: ReadonlyMap<string, number> = new Map([
  ["sha256", 64],
  ["sha384", 96],
  ["sha512", 128],
]);

/** Adds `:latest` where there is neither tag nor digest. @throws Error that says what is wrong with the name */
export function normalizeReference(reference: string): string {
  if (/^[0-9a-f]{64}$/.test(reference))
    throw new Error(
      `invalid repository name (${reference}), cannot specify 64-byte hexadecimal strings`,
    );
  const at = reference.indexOf("@");
  const digest = at < 0 ? undefined : reference.slice(at + 1);
  const named = at < 0 ? reference : reference.slice(0, at);
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  const slash = name.indexOf("/");
  const first = slash < 0 ? "" : name.slice(0, slash);
  const hasDomain = namesDomain(first);
  const path = hasDomain ? name.slice(slash + 1) : name;
  if (/[A-Z]/.test(path))
    throw new Error(
      `invalid reference format: repository name (${hasDomain || path.includes("/") ? path : `library/${path}`}) must be lowercase`,
    );
  const isNamed =
    (hasDomain && isDomain(first) && isPath(path)) || isPath(name);
  if (
    !isNamed ||
    (tag !== undefined && !tagForm.test(tag)) ||
    (digest !== undefined && !digestForm.test(digest))
  )
    throw new Error("invalid reference format");
  if (path.length > maxPathLength)
    throw new Error(
      `repository name must not be more than ${maxPathLength} characters`,
    );
  if (digest !== undefined) checkDigest(digest);
  return (tag ?? digest) ? reference : `${reference}:latest`;
}

/** Of what comes before the first slash. */
export const namesDomain = (first: string): boolean =>
  first === "localhost" || /[.:A-Z]/.test(first);

const isPath = (text: string): boolean =>
  text.split("/").every((part) => pathComponent.test(part));

function isDomain(text: string): boolean {
  const [, host = "", port] =
    /^(\[[0-9a-fA-F:]+\]|[^:[\]]*)(?::([0-9]+))?$/.exec(text) ?? [];
  if (text.endsWith(":") || (port === undefined && text !== host)) return false;
  return (
    host.startsWith("[") ||
    host.split(".").every((part) => component.test(part))
  );
}

function checkDigest(digest: string): void {
  const [algorithm = "", hex = ""] = digest.split(":");
  const length = digestLengths.get(algorithm);
  if (length === undefined) throw new Error("unsupported digest algorithm");
  if (hex.length !== length) throw new Error("invalid checksum digest length");
  if (!/^[0-9a-f]*$/.test(hex))
    throw new Error("invalid checksum digest format");
}
