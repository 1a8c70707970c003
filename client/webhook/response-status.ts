// What an answer that is not 2xx means: the Status in its body, or what the reference's client makes of the code.
import type { Status } from "../../api/types/meta-v1.ts";

export interface ReasonedStatus extends Partial<Status> {
  readonly code: number;
  readonly message: string;
}

const texts: Readonly<Record<number, readonly [string, string]>> = {
  400: ["BadRequest", "the server rejected our request for an unknown reason"],
  401: [
    "Unauthorized",
    "the server has asked for the client to provide credentials",
  ],
  404: ["NotFound", "the server could not find the requested resource"],
  405: [
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
  ],
  409: ["AlreadyExists", "the server reported a conflict"],
  422: [
    "Invalid",
    "the server rejected our request due to an error in our request",
  ],
  429: [
    "TooManyRequests",
    "the server has received too many requests and has asked us to try again later",
  ],
  503: [
    "ServiceUnavailable",
    "the server is currently unable to handle the request",
  ],
  504: [
    "Timeout",
    "the server was unable to return a response in the time allotted, but may still be processing the request",
  ],
};

/** Of what the server said itself, as much is kept. */
const maxTextBytes = 2048;

/** @param contentType of the answer, "" when it has none */
export function statusOf(
  code: number,
  contentType: string,
  body: Buffer,
): ReasonedStatus {
  const isText = contentType === "" || /^text\//i.test(contentType.trim());
  const said = isText
    ? body.subarray(0, maxTextBytes).toString().trim()
    : "unknown";
  return statusIn(body) ?? generic(code, said);
}

function statusIn(body: Buffer): ReasonedStatus | undefined {
  try {
    const status = JSON.parse(body.toString()) as Partial<ReasonedStatus>;
    // A body without a kind is taken for a Status too.
    if ((status.kind ?? "Status") !== "Status" || status.status !== "Failure")
      return undefined;
    return {
      ...status,
      code: Number(status.code ?? 0),
      message: String(status.message ?? ""),
    };
  } catch {
    return undefined;
  }
}

function generic(code: number, said: string): ReasonedStatus {
  const [reason, message] = reasonOf(code, said);
  return {
    status: "Failure",
    code,
    reason,
    message,
    details: {
      causes: [{ reason: "UnexpectedServerResponse", message: said }],
    },
  };
}

function reasonOf(code: number, said: string): readonly [string, string] {
  const known = texts[code];
  if (known) return known;
  if (code === 403) return ["Forbidden", said];
  if (code === 415) return ["UnsupportedMediaType", said];
  if (code === 406)
    return [
      "NotAcceptable",
      said === "" || said === "unknown"
        ? "the server was unable to respond with a content type that the client supports"
        : said,
    ];
  return code >= 500
    ? [
        "InternalError",
        `an error on the server (${JSON.stringify(said)}) has prevented the request from succeeding`,
      ]
    : [
        "",
        `the server responded with the status code ${code} but did not return more information`,
      ];
}
