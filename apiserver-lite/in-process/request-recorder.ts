// What is recorded of the requests of this process: counts and durations in the metrics, and, where there is an audit
// policy, the events that the same requests over HTTP would leave. An unexpected error is logged with its stack and
// becomes a 500, so that callers get ApiErrors only.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { UserInfo } from "../../api/contracts.ts";
import { ApiError, errors } from "../../api/errors.ts";
import { resourcePath } from "../../client/http-paths.ts";
import type { ApiRequest } from "../../client/transport.ts";
import type { Auditor, AuditTrail } from "../audit/auditor.ts";
import { methodOf } from "../dispatch/places.ts";
import { RequestContext, type Verb } from "../dispatch/request.ts";
import type { Limiter, Place } from "../flow-control/limiter.ts";
import type { Observer } from "../request/observer.ts";
import { parseRequest, type RequestInfo } from "../request/request-info.ts";
import { PlainAnswer } from "../request/route.ts";

export interface RecorderOptions {
  readonly user: UserInfo;
  /** The requests' user agent: fields written without a manager belong to it. */
  readonly component: string;
  readonly logger: Logger;
  readonly observe: Observer | undefined;
  /** Undefined: there is no audit. */
  readonly auditor: Auditor | undefined;
  /** Priority and fairness holds for this process's requests too; most of its parts are exempt. */
  readonly limiter: Limiter;
}

export type RecordedRequest = Omit<ApiRequest, "verb" | "body" | "patch"> & {
  readonly verb: Verb;
};

interface Answered<T> {
  readonly status: number;
  readonly answer: T;
}

/** Parts of this process wait for their answers. */
const patient = {
  closed: false,
  onClose: () => undefined,
  destroy: () => undefined,
};

export class RequestRecorder {
  constructor(private readonly options: RecorderOptions) {}

  /** Rejects with an ApiError. */
  async record<T>(
    request: RecordedRequest,
    run: (context: RequestContext) => Promise<Answered<T>>,
  ): Promise<T> {
    const startedMs = performance.now();
    const { observe } = this.options;
    const context = this.#begin(request);
    const { info, trail } = context;
    let status = 500;
    let place: Place | undefined;
    try {
      if (trail) await this.#received(trail);
      place = this.#place(context);
      const entering = place?.take();
      if (entering) await entering;
      const answered = await run(context);
      const { answer } = answered;
      status = answered.status;
      if (trail?.wantsAnswer(status))
        trail.answered(status, encode(answer), json);
      else trail?.answered(status);
      return answer;
    } catch (error) {
      const known = this.#known(error, trail);
      status = known.code;
      throw known;
    } finally {
      place?.leave();
      observe?.finished(info, methodOf[request.verb], status, startedMs);
      void trail?.stage("ResponseComplete");
    }
  }

  /** Of a watch. `onEnd` is given what to call when it is over. Rejects with an ApiError. */
  async recordWatch(
    request: RecordedRequest,
    open: (context: RequestContext) => Promise<void>,
    onEnd: (callback: () => void) => void,
  ): Promise<void> {
    const startedMs = performance.now();
    const { observe } = this.options;
    const context = this.#begin(request);
    const { info, trail } = context;
    let status = 200;
    const place = this.#place(context);
    try {
      if (trail) await this.#received(trail);
      const entering = place?.take();
      if (entering) await entering;
      onEnd(() => place?.over());
      await open(context);
      trail?.answered(status);
      void trail?.stage("ResponseStarted");
      const over = observe?.began?.(info);
      onEnd(() => {
        over?.();
        void trail?.stage("ResponseComplete");
      });
    } catch (error) {
      const known = this.#known(error, trail);
      status = known.code;
      void trail?.stage("ResponseComplete");
      throw known;
    } finally {
      place?.leave();
      observe?.finished(info, "GET", status, startedMs);
    }
  }

  #begin(request: RecordedRequest): RequestContext {
    const { auditor, user, component } = this.options;
    const context = new RequestContext(component);
    const { query } = request;
    context.user = user;
    context.query = query ? new URLSearchParams(query) : noQuery;
    context.info = infoOf(request);
    if (auditor) context.trail = this.#trail(auditor, request, context);
    return context;
  }

  #place({ info, user, query }: RequestContext): Place | undefined {
    return this.options.limiter.placeOfPart({
      info,
      user,
      query,
      limitMs: 0,
      exchange: patient,
    });
  }

  #trail(
    auditor: Auditor,
    request: RecordedRequest,
    { user, query }: RequestContext,
  ): AuditTrail | undefined {
    const path = resourcePath(request);
    return auditor.begin({
      exchange: {
        headers: { "user-agent": this.options.component },
        url: query.size === 0 ? path : `${path}?${query.toString()}`,
        peer: { remoteAddress: "127.0.0.1", clientCertificate: undefined },
      },
      auditId: randomUUID(),
      info: parseRequest(methodOf[request.verb], path, query),
      user,
    });
  }

  /** Throws ApiError 500 for a request that may not go on unrecorded. */
  async #received(trail: AuditTrail): Promise<void> {
    if (await trail.stage("RequestReceived")) return;
    this.options.auditor!.counts.rejected++;
    throw errors.internal("failed to store audit event");
  }

  #known(error: unknown, trail: AuditTrail | undefined): ApiError {
    if (error instanceof PlainAnswer)
      return this.#known(
        errors.tooManyRequests(
          error.message,
          Number(error.headers["retry-after"] ?? 1),
        ),
        trail,
      );
    if (error instanceof ApiError) {
      trail?.answered(error.code, encode(error.status), json);
      return error;
    }
    this.options.logger.error(
      { err: error },
      "a request of this process failed unexpectedly",
    );
    const text = error instanceof Error ? error.message : String(error);
    trail?.panicked(text);
    return errors.internal(text);
  }
}

/** All requests can share it: no code changes the query of a request. */
const noQuery = new URLSearchParams();
const json = "application/json";

const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** What is asked for, without a path. */
function infoOf(request: RecordedRequest): RequestInfo {
  const { verb, resource, namespace = "", name = "" } = request;
  return {
    path: "",
    resourceRequest: true,
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    namespace,
    name,
    objectName: name,
    subresource: request.subresource ?? "",
    rest: "",
    alias: false,
    watchPath: false,
  };
}
