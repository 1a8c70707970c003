// Audit: a trail for each request the policy wants to know of, from its receipt to the end of its answer. A request whose
// receipt can't be recorded, where the policy demands it, is refused.
import { AuditedExchange } from "../../audit/audited-exchange.ts";
import type { Auditor } from "../../audit/auditor.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

/** Records the one event of a request that is refused before it is known who asks. */
export function auditRefused(
  auditor: Auditor | undefined,
): (request: HttpRequest) => void {
  return (request) => {
    const trail = auditor?.begin({ ...begun(request), user: undefined });
    if (trail) request.exchange = new AuditedExchange(request.exchange, trail);
  };
}

/** @param auditor undefined: there is no policy */
export function auditFilter(auditor: Auditor | undefined): Filter {
  function received(request: HttpRequest, stored: boolean): void | true {
    if (stored) return;
    auditor!.counts.rejected++;
    refuseUnrecorded(request);
    return true;
  }

  return {
    name: "audit",
    skipsParts: true,
    enter(request) {
      const trail = auditor?.begin({ ...begun(request), user: request.user });
      if (!trail) return;
      request.trail = trail;
      request.exchange = new AuditedExchange(request.exchange, trail);
      const stored = trail.stage("RequestReceived");
      return stored instanceof Promise
        ? stored.then((is) => received(request, is))
        : received(request, stored);
    },
    answered({ exchange, trail, panic }) {
      if (!trail) return;
      if (panic !== undefined) {
        trail.panicked(panic);
        void trail.stage("Panic");
      } else if (trail.longRunning && exchange.started && !exchange.closed)
        exchange.onClose(() => void trail.stage("ResponseComplete"));
      else void trail.stage("ResponseComplete");
    },
  };
}

function begun({ exchange, headers, info, annotations }: HttpRequest) {
  return { exchange, auditId: String(headers["audit-id"]), info, annotations };
}

function refuseUnrecorded({ exchange, headers }: HttpRequest): void {
  exchange.respond(
    500,
    {
      ...headers,
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    },
    `Internal Server Error: ${JSON.stringify(exchange.url)}: failed to store audit event\n`,
  );
  exchange.body.resume();
}
