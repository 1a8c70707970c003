// The requests of this process's own parts for resources that another server answers for: what controllers that look after
// all resources (garbage collection, namespaces, quota) list, watch and delete there, as the user they are.
import type { UserInfo } from "../../api/contracts.ts";
import { parseForeignJson } from "../../client/webhook/foreign-json.ts";
import { ApiError, errors } from "../../api/errors.ts";
import type { Pause } from "../../api/queueing/steps.ts";
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../../api/object.ts";
import type { WatchOptions, WatchStream } from "../../client/client.ts";
import { jsonCodec } from "../../client/content/body-codec.ts";
import { nameItems } from "../../client/content/list-items.ts";
import { statusError } from "../../client/content/status-error.ts";
import { checkRequest, resourcePath } from "../../client/http-paths.ts";
import { methods, patchTypes, withQuery } from "../../client/http-transport.ts";
import { watchQuery, watchStream } from "../../client/http-watch.ts";
import type { ApiRequest, Transport } from "../../client/transport.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import { answerTo, readDocument } from "./extension-document.ts";
import type { Place } from "./extension-server.ts";
import { identityHeaders } from "./identity-headers.ts";
import { reachError } from "./reach-error.ts";
import type { RemoteService } from "./remote-services.ts";

const timeoutMs = 60_000;
/** A list is read whole. */
const maxBytes = 64 * 1024 * 1024;
/** Of a failure's text. */
const maxStatusBytes = 64 * 1024;

interface TransportTarget {
  /** As it is at the request. */
  readonly remote: () => RemoteService | undefined;
  readonly resolve: (service: RemoteService["service"]) => Place;
  readonly slices: TimeSlices;
}

export class ExtensionTransport implements Pick<
  Transport,
  "request" | "watch"
> {
  constructor(
    private readonly target: TransportTarget,
    private readonly user: UserInfo,
  ) {}

  /** Rejects with an ApiError. */
  async request(
    request: ApiRequest,
  ): Promise<KubeObject | KubeList<KubeObject>> {
    checkRequest(request);
    const { verb, patch, query = {} } = request;
    const sent = patch ? patch.body : request.body;
    const { server, place } = this.#reach();
    const answer = await readDocument(server, place, {
      method: methods[verb],
      path: withQuery(resourcePath(request), query),
      user: this.user,
      accept: "application/json",
      timeoutMs,
      maxBytes,
      ...(sent === undefined
        ? {}
        : {
            body: {
              text: JSON.stringify(sent),
              contentType: patch ? patchTypes[patch.type] : "application/json",
            },
          }),
    }).catch((error: Error) => {
      throw errors.unavailable(error.message);
    });
    if (answer.status >= 400)
      throw statusError(
        answer.status,
        answer.body.toString("utf8", 0, maxStatusBytes),
      );
    const object = await parse(answer.body, this.target.slices.pauses());
    if (verb === "list" || verb === "deletecollection")
      nameItems(object as KubeList<KubeObject>);
    return object;
  }

  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject> {
    const path = resourcePath({ resource, ...options });
    return watchStream(async (signal) => {
      const { server, place } = this.#reach();
      const outgoing = server.request(place, {
        method: "GET",
        path: withQuery(path, watchQuery(options)),
        headers: {
          ...identityHeaders(this.user, false),
          accept: "application/json",
        },
      });
      signal.addEventListener("abort", () => outgoing.destroy(), {
        once: true,
      });
      const answer = await answerTo(outgoing).catch((error: unknown) => {
        throw errors.unavailable(reachError(error, place));
      });
      const { statusCode = 0 } = answer;
      if (statusCode === 200) return jsonCodec.events(answer, "");
      answer.destroy();
      throw statusError(statusCode, "");
    });
  }

  #reach(): { server: RemoteService["server"]; place: Place } {
    const remote = this.target.remote();
    if (!remote?.available) throw errors.unavailable("service unavailable");
    try {
      const place = this.target.resolve(remote.service);
      return { server: remote.server, place };
    } catch {
      throw errors.unavailable("service unavailable");
    }
  }
}

async function parse(
  body: Buffer,
  pause: Pause,
): Promise<KubeObject | KubeList<KubeObject>> {
  try {
    const value = await parseForeignJson(body, pause);
    if (typeof value === "object" && value !== null) return value as KubeObject;
  } catch {
    // Below.
  }
  throw new ApiError({
    code: 500,
    reason: "InternalError",
    message: "the aggregated server's answer is no object",
  });
}
