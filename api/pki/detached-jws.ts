// A JSON Web Signature without its payload (RFC 7515, appendix F), by HS256: how the secret half of a bootstrap token vouches
// for the text of the cluster-info ConfigMap. The header's text is the reference's, as it compares signatures as strings.
import { createHmac, timingSafeEqual } from "node:crypto";

const base64url = (text: string): string =>
  Buffer.from(text).toString("base64url");

/** `HEADER..SIGNATURE`. @param id and secret: the halves of the token */
export function signDetached(
  payload: string,
  id: string,
  secret: string,
): string {
  const header = base64url(JSON.stringify({ alg: "HS256", kid: id }));
  const signature = createHmac("sha256", secret)
    .update(`${header}.${base64url(payload)}`)
    .digest("base64url");
  return `${header}..${signature}`;
}

export function verifyDetached(
  signature: string,
  payload: string,
  id: string,
  secret: string,
): boolean {
  const expected = Buffer.from(signDetached(payload, id, secret));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
