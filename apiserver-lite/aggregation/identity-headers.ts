// Who asks, in the header fields by which an aggregated server that trusts this one's client certificate knows it.
import type { OutgoingHttpHeaders } from "node:http";
import type { UserInfo } from "../../api/contracts.ts";

/** Characters of a token, but not "%". */
const plainKey = /^[!#$&'*+\-.^_`|~0-9A-Za-z]*$/;

/** `uid`: say the user's UID too (gate RemoteRequestHeaderUID). */
export function identityHeaders(
  { name, uid, groups, extra }: UserInfo,
  withUid: boolean,
): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {
    "x-remote-user": asBytes(name),
  };
  if (withUid && uid) headers["x-remote-uid"] = asBytes(uid);
  if (groups.length > 0) headers["x-remote-group"] = groups.map(asBytes);
  for (const [key, values] of Object.entries(extra)) {
    const field = `x-remote-extra-${escapedKey(key)}`.toLowerCase();
    const known = (headers[field] as string[] | undefined) ?? [];
    if (values.length > 0) headers[field] = [...known, ...values.map(asBytes)];
  }
  return headers;
}

/** Any text as part of a field's name: what a name can't have is percent-encoded. */
function escapedKey(key: string): string {
  if (plainKey.test(key)) return key;
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return plainKey.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** Node writes a field's value as Latin-1: so the text's UTF-8 goes out as it is. */
const asBytes = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text : Buffer.from(text).toString("latin1");
