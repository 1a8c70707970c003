// May the user do this? Throws ApiError 403; PlainAnswer 500 where none allows it and an authorizer gave no answer.
import type { AccessAttributes, Authorizer } from "../../../api/contracts.ts";
import { PlainAnswer } from "../../request/route.ts";
import type {
  AccessMetrics,
  Authorized,
} from "../../metrics/access-metrics.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";
import { forbidden } from "../forbidden.ts";

/** Requests for many objects. Paths of the old form read selectors for some resources only. */
const verbsWithSelectors = new Set(["list", "watch", "deletecollection"]);

type Answer = Awaited<ReturnType<Authorizer["authorize"]>>;

/** @param authorizer undefined: everybody may do everything */
export function authorizationFilter(
  authorizer: Authorizer | undefined,
  metrics: AccessMetrics,
): Filter {
  function decide(
    { trail, exchange }: HttpRequest,
    attributes: AccessAttributes,
    { decision, reason, error }: Answer,
    beganMs: number,
  ): void {
    metrics.authorized(resultOf(decision, error), beganMs);
    if (decision !== "allow" && error !== undefined) {
      trail?.annotate("authorization.k8s.io/reason", "internal error");
      throw unanswered(exchange.url, error);
    }
    if (trail) {
      const shown = decision === "allow" ? "allow" : "forbid";
      trail.annotate("authorization.k8s.io/decision", shown);
      trail.annotate("authorization.k8s.io/reason", reason);
    }
    if (decision !== "allow") throw forbidden(attributes, reason);
  }

  return {
    name: "authorization",
    skipsParts: true,
    enter(request) {
      if (!authorizer) return;
      const attributes = attributesOf(request);
      const beganMs = performance.now();
      const answer = authorizer.authorize(attributes);
      return answer instanceof Promise
        ? answer.then((one) => decide(request, attributes, one, beganMs))
        : decide(request, attributes, answer, beganMs);
    },
  };
}

function resultOf(
  decision: Answer["decision"],
  error: string | undefined,
): Authorized {
  if (decision === "allow") return "allowed";
  if (error !== undefined) return "error";
  return decision === "deny" ? "denied" : "no-opinion";
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** As the reference answers it: what is shown can't become markup. */
function unanswered(url: string, error: string): PlainAnswer {
  const text = `Internal Server Error: ${JSON.stringify(url)}: ${error}`;
  return new PlainAnswer(
    500,
    `${text.replace(/[&<>]/g, (one) => escapes[one]!)}\n`,
    { "x-content-type-options": "nosniff" },
  );
}

/** What is asked, as authorizers see it. */
export function attributesOf({
  info,
  user,
  query,
}: Pick<HttpRequest, "info" | "user" | "query">): AccessAttributes {
  const attributes: AccessAttributes = {
    user,
    verb: info.verb,
    path: info.path,
    resourceRequest: info.resourceRequest,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.objectName,
  };
  if (verbsWithSelectors.has(info.verb) && !info.watchPath) {
    const fieldSelector = query.get("fieldSelector");
    const labelSelector = query.get("labelSelector");
    if (fieldSelector) attributes.fieldSelector = fieldSelector;
    if (labelSelector) attributes.labelSelector = labelSelector;
  }
  return attributes;
}
