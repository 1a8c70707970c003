// Impersonate-User, -Group, -Uid and -Extra-…: each is authorized for the real user as verb "impersonate", the user
// first, so that a user without the permission costs one question only. Invariant: a request with any such header runs
// as the user it names or is refused; it never runs as its sender.
import type { IncomingHttpHeaders } from "node:http";
import type {
  AccessAttributes,
  Authorizer,
  UserInfo,
} from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import { identityText } from "../../../http-kit/authentication/identity-text.ts";
import type { Exchange } from "../../../http-kit/exchange.ts";
import type { Filter } from "../filter.ts";
import { forbidden } from "../forbidden.ts";

const userHeader = "impersonate-user";
const groupHeader = "impersonate-group";
const uidHeader = "impersonate-uid";
const extraPrefix = "impersonate-extra-";
/** Each is a question to the authorizer, which may be a remote one. */
const maxValues = 256;

export function impersonationFilter(
  authorizer: Authorizer | undefined,
): Filter {
  return {
    name: "impersonation",
    enter(request) {
      if (!asksToImpersonate(request.exchange.headers)) return;
      return impersonate(request.user, request.exchange, authorizer).then(
        (user) => {
          request.user = user;
          request.trail?.impersonated(user);
        },
      );
    },
  };
}

export function asksToImpersonate(headers: IncomingHttpHeaders): boolean {
  for (const name in headers)
    if (
      name.startsWith("impersonate-") &&
      (name === userHeader ||
        name === groupHeader ||
        name === uidHeader ||
        name.startsWith(extraPrefix))
    )
      return true;
  return false;
}

/** What is asked for, as it was sent. */
interface Wish {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, string[]>>;
}

/** Throws ApiError 400, 403. */
export async function impersonate(
  user: UserInfo,
  exchange: Pick<Exchange, "headers" | "headerValues">,
  authorizer: Authorizer | undefined,
): Promise<UserInfo> {
  const wish = wishOf(exchange);
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(wish.name);
  for (const check of checksOf(wish, account)) {
    const attributes: AccessAttributes = {
      user,
      verb: "impersonate",
      path: "",
      resourceRequest: true,
      version: "",
      ...check,
    };
    const answer = await authorizer?.authorize(attributes);
    if (answer && answer.decision !== "allow")
      throw forbidden(attributes, answer.reason);
  }
  const { name, uid, extra } = wish;
  const groups = [...wish.groups];
  if (account && groups.length === 0)
    groups.push(
      "system:serviceaccounts",
      `system:serviceaccounts:${account[1]!}`,
    );
  const implied =
    name === "system:anonymous"
      ? "system:unauthenticated"
      : "system:authenticated";
  if (!groups.includes(implied) && !groups.includes("system:unauthenticated"))
    groups.push(implied);
  return { name, groups, extra, ...(uid ? { uid } : {}) };
}

/** Throws ApiError 400. */
function wishOf(exchange: Pick<Exchange, "headers" | "headerValues">): Wish {
  const [name = ""] = textsOf(exchange, userHeader);
  const groups = textsOf(exchange, groupHeader);
  const [uid = ""] = textsOf(exchange, uidHeader);
  if (!name)
    throw errors.badRequest(
      "requested impersonation without impersonating a user",
    );
  // Keys are the sender's words: none of them is a property every object has.
  const extra = Object.create(null) as Record<string, string[]>;
  let values = groups.length;
  for (const header in exchange.headers) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = decodedKey(header.slice(extraPrefix.length));
    const given = textsOf(exchange, header);
    values += given.length;
    extra[key] = [...(extra[key] ?? []), ...given];
    if (values > maxValues) break;
  }
  if (values > maxValues)
    throw errors.badRequest(
      `more than ${maxValues} groups and extra values to impersonate`,
    );
  return { name, uid, groups, extra: { ...extra } };
}

/** Throws ApiError 400 for what is no text. */
function textsOf(
  exchange: Pick<Exchange, "headerValues">,
  header: string,
): string[] {
  return exchange.headerValues(header).map((value) => {
    const text = identityText(value);
    if (text === undefined)
      throw errors.badRequest(`the header ${header} is not valid UTF-8`);
    return text;
  });
}

/** A key that can't be decoded is used as it came. */
function decodedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

type Check = Pick<
  AccessAttributes,
  "group" | "resource" | "subresource" | "namespace" | "name"
>;

/** What the real user must be allowed, one after the other, in the reference's order. */
function* checksOf(
  { name, uid, groups, extra }: Wish,
  account: RegExpExecArray | null,
): Generator<Check> {
  const core = { group: "", subresource: "", namespace: "" };
  const review = { ...core, group: "authentication.k8s.io" };
  yield account
    ? {
        ...core,
        resource: "serviceaccounts",
        namespace: account[1]!,
        name: account[2]!,
      }
    : { ...core, resource: "users", name };
  for (const group of groups)
    yield { ...core, resource: "groups", name: group };
  for (const [key, values] of Object.entries(extra))
    for (const value of values)
      yield {
        ...review,
        resource: "userextras",
        subresource: key,
        name: value,
      };
  if (uid) yield { ...review, resource: "uids", name: uid };
}
