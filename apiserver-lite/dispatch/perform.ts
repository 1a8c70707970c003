// The one way to the registry's verbs for all transports: a request goes in as its transport read it, an outcome comes
// out for the transport to show. All rules of a request that are not the transport's own form are applied between the
// two (body.ts, write-options.ts, delete-options.ts, the verbs' files), so that every transport refuses, warns and
// answers alike. Before it a transport has found the endpoint and checked the place (places.ts), and authorized the user.
//
// Watches go through openWatch (watch.ts): their outcome is a stream of the transport's own.
import { errors } from "../../api/errors.ts";
import { list } from "../registry/verbs/list.ts";
import { removeCollection } from "../registry/verbs/delete-collection.ts";
import { performCreate } from "./create.ts";
import { performDelete } from "./delete.ts";
import { deleteOptionsOf } from "./delete-options.ts";
import { performGet } from "./get.ts";
import { performPatch } from "./patch.ts";
import { methodNotAllowed } from "../request/refusals.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";
import { performUpdate } from "./update.ts";

/** Throws ApiError. Synchronous, also in what it throws, for reads that have to wait for nothing. */
export function perform(request: RequestContext): Outcome | Promise<Outcome> {
  return request.endpoint.converts
    ? convert(request, performVerb(request))
    : performVerb(request);
}

/** Into the served version, where that takes its time. */
async function convert(
  { endpoint, registry }: RequestContext,
  performing: Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const outcome = await performing;
  if ("entry" in outcome)
    return { ...outcome, entry: await endpoint.shown(outcome.entry) };
  if (!("listed" in outcome)) return outcome;
  const { slices } = registry;
  const entries = await endpoint.allShown(outcome.listed.entries, () =>
    slices.over ? slices.next() : undefined,
  );
  return { ...outcome, listed: { ...outcome.listed, entries } };
}

const handlers: Readonly<Record<string, string>> = {
  ...{ get: "Get", list: "List", create: "Create", update: "Update" },
  ...{ patch: "Patch", delete: "Delete", deletecollection: "Delete" },
};

function performVerb(request: RequestContext): Outcome | Promise<Outcome> {
  const { tracer } = request.registry.options;
  if (!tracer) return performPlain(request);
  const { verb, info, userAgent } = request;
  return tracer.child(
    handlers[verb] ?? verb,
    () => ({
      ...{ "api-group": info.group, "api-version": info.version, verb },
      ...{ namespace: request.namespace, name: request.name },
      ...{ resource: info.resource, subresource: info.subresource },
      "user-agent": userAgent,
    }),
    () => performPlain(request),
  );
}

function performPlain(request: RequestContext): Outcome | Promise<Outcome> {
  if (request.name !== "" && request.endpoint.stored)
    checkPathName(request.name);
  switch (request.verb) {
    case "get":
      return performGet(request);
    case "list":
      return performList(request);
    case "create":
      return performCreate(request);
    case "update":
      return performUpdate(request);
    case "patch":
      return performPatch(request);
    case "delete":
      return performDelete(request);
    case "deletecollection":
      return performDeleteCollection(request);
    case "watch":
      throw methodNotAllowed();
  }
}

async function performList(request: RequestContext): Promise<Outcome> {
  return { status: 200, listed: await list(callOf(request)) };
}

async function performDeleteCollection(
  request: RequestContext,
): Promise<Outcome> {
  const options = await deleteOptionsOf(request);
  const dryRun = (options.dryRun?.length ?? 0) > 0;
  const listed = await removeCollection(callOf(request, { dryRun }), options);
  return { status: 200, listed };
}

/** Throws ApiError 400: no object can have this name. */
function checkPathName(name: string): void {
  const problem =
    name === "." || name === ".."
      ? `may not be '${name}'`
      : name.includes("%")
        ? "may not contain '%'"
        : undefined;
  if (problem)
    throw errors.badRequest(
      `Name parameter invalid: ${JSON.stringify(name)}: ${problem}`,
    );
}
