// Tables of cases: one object that is right, and what is changed in it. Each case is sent as a dry run, so that none
// disturbs another, and kept short: of an error its reason, message and causes, of an object what differs from the
// answer to the unchanged one.
import type { Answer, CallOptions, Server } from "./scenario.ts";
import type { Json } from "./normalise.ts";

/** Values by dotted path ("spec.containers.0.image"); undefined takes the field away. */
export type Changes = Readonly<Record<string, unknown>>;

export function changed(base: Json, changes: Changes): Json {
  const object = structuredClone(base) as Json;
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split(".");
    const last = steps.pop()!;
    let at = object;
    for (const step of steps) at = at[step] ??= {};
    if (value === undefined) delete at[last];
    else at[last] = value;
  }
  return object;
}

const passing = ["uid", "creationTimestamp", "resourceVersion"];

/** Each case makes its own. */
const uids =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

function leaves(
  value: Json,
  path: string,
  found: Record<string, unknown>,
): Record<string, unknown> {
  // Null and absent are the same to Orbit.
  if (value === null) return found;
  if (typeof value === "string") found[path] = value.replace(uids, "<uid>");
  else if (typeof value !== "object") found[path] = value;
  else if (Object.keys(value as object).length === 0) {
    // What was null inside is gone, and an empty list is none.
    if (!Array.isArray(value) && !path.endsWith(".metadata")) found[path] = {};
  } else
    for (const [key, each] of Object.entries(value as Json)) {
      if (
        path === ".metadata" &&
        (passing.includes(key) || key === "managedFields")
      )
        continue;
      leaves(each, `${path}.${key}`, found);
    }
  return found;
}

/** What of `body` is not in `base`, by path; null for what is gone. */
export function unlike(body: Json, base: Json): Record<string, unknown> {
  const [now, was] = [
    leaves(withoutEmpty(body), "", {}),
    leaves(withoutEmpty(base), "", {}),
  ];
  const result: Record<string, unknown> = {};
  const isTime = (value: unknown): boolean =>
    /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value));
  for (const [path, value] of Object.entries(now))
    if (isTime(value) && isTime(was[path])) continue;
    else if (
      !(path in was) ||
      JSON.stringify(was[path]) !== JSON.stringify(value)
    )
      result[path] = value;
  for (const path of Object.keys(was)) if (!(path in now)) result[path] = null;
  return result;
}

export function brief(body: Json): unknown {
  if (body?.kind !== "Status" || body.status === "Success") return body;
  const { reason, message, details } = body;
  const causes = details?.causes?.map(
    (cause: Json) =>
      `${cause.field ?? ""} ${String(cause.reason).replace("FieldValue", "")}`,
  );
  return {
    reason,
    // What regular expressions names follow is in every such text.
    message: String(message)
      .replace(/\(e\.g\. .*?regex used .*?\)'\)/g, "(…)")
      // What differs between two objects, in lines that are never twice alike.
      .replace(/\n[^\S\n]+core\.[^]*$/, "\n(…)")
      .replace(/0xc[0-9a-f]{9}/g, "0xc000000000")
      // The whole spec of a pod, in an order of its own.
      .replace(/core\.PodTemplateSpec\{.*\}: /g, "core.PodTemplateSpec{…}: ")
      .replace(uids, "<uid>"),
    ...(causes ? { causes: causes.join(", ") } : {}),
  };
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, withoutNulls(each)]),
  );
}

/** Also without empty lists, which Orbit does not tell from null. */
function withoutEmpty(value: Json): Json {
  if (Array.isArray(value))
    return value.length > 0 ? value.map(withoutEmpty) : null;
  if (value === null || typeof value !== "object") return value;
  return withoutNulls(
    Object.fromEntries(
      Object.entries(value as Record<string, Json>).map(([key, each]) => [
        key,
        withoutEmpty(each),
      ]),
    ),
  );
}

const withoutPassing = (body: Json): Json => {
  if (!body?.metadata || body.kind === "Status") return brief(body);
  const metadata = { ...body.metadata };
  delete metadata.managedFields;
  return withoutNulls({ ...body, metadata });
};

/** Keeps an object without its managedFields and nulls, an error in short. */
export const plain: CallOptions = { keep: withoutPassing, lean: true };

const dry = (path: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}dryRun=All`;

const label = (title: string, changes: Changes): string => {
  const text = JSON.stringify(changes, (_, value: unknown) =>
    value === undefined ? "<none>" : value,
  );
  if (text.length <= 160) return `${title} ${text}`;
  let sum = 0;
  for (const character of text)
    sum = (sum * 31 + character.codePointAt(0)!) % 1e6;
  return `${title} ${text.slice(0, 60)}…${text.slice(-80)} ${sum}`;
};

/** Creates `base` with each of the changes. */
export async function createEach(
  { call }: Pick<Server, "call">,
  title: string,
  collection: string,
  base: Json,
  cases: readonly Changes[],
): Promise<void> {
  const first = await call(`${title} base`, "POST", dry(collection), {
    body: base,
    ...plain,
  });
  for (const changes of cases)
    await call(label(`${title} create`, changes), "POST", dry(collection), {
      body: changed(base, changes),
      lean: true,
      keep: (body: Json) =>
        body?.kind === "Status" ? brief(body) : unlike(body, first.body),
    });
}

/**
 * Creates `base`, then puts it with each of the changes: at the object's own path, or at that of a subresource.
 * Resolves to the answer to the creation.
 */
export async function updateEach(
  { call }: Pick<Server, "call">,
  title: string,
  collection: string,
  base: Json,
  cases: readonly Changes[],
  subresource = "",
): Promise<Answer> {
  const name = String(base.metadata.name);
  await call("", "POST", collection, { body: base, silent: true });
  const path = `${collection}/${name}`;
  const was = await call("", "GET", path, { silent: true });
  const sent = structuredClone(was.body) as Json;
  if (sent?.metadata) delete sent.metadata.managedFields;
  for (const changes of cases)
    await call(
      label(`${title} update${subresource && ` ${subresource}`}`, changes),
      "PUT",
      dry(`${path}${subresource && `/${subresource}`}`),
      {
        body: changed(sent, changes),
        lean: true,
        keep: (body: Json) =>
          body?.kind === "Status" ? brief(body) : unlike(body, was.body),
      },
    );
  return was;
}

/** One change a value, of one field. */
export const each = (path: string, values: readonly unknown[]): Changes[] =>
  values.map((value) => ({ [path]: value }));

/** Names that are good for some kinds and bad for others. */
export const names: Changes[] = each("metadata.name", [
  "A_b",
  "a.b",
  "a/b",
  "a".repeat(64),
  undefined,
]);
