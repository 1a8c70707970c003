// What is kept of the answers to reads: errors without their envelope, lists as names and what pages tell, events as type
// and name; versions that the scenario knows get its names for them.
import type { Json } from "./normalise.ts";

export interface Brief {
  /** Calls `version` by `name` from here on. */
  name(version: string, name: string): void;
  /** For `keep`. */
  keep(this: void, body: Json): unknown;
}

export function createBrief(): Brief {
  const names = new Map<string, string>();
  /** The last version the scenario made. */
  let latest = 0;

  function version(text: unknown): unknown {
    if (typeof text !== "string") return text;
    if (!/^[1-9]\d*$/.test(text)) return text;
    // Others write as well: what is later is as good as the latest.
    return (
      names.get(text) ??
      (Number(text) > latest ? names.get(String(latest)) : undefined) ??
      "other"
    );
  }

  function message(text: unknown): unknown {
    if (typeof text !== "string") return text;
    // Versions nobody has named are not the same on two servers.
    return text
      .replace(/\b\d+\b/g, (digits) => names.get(digits) ?? digits)
      .replace(/current: \S+/, "current: <version>")
      .replace(/\(\d+\)/, "(<version>)");
  }

  function token(text: unknown): unknown {
    if (typeof text !== "string" || text === "") return text;
    try {
      const { rv, start } = JSON.parse(
        Buffer.from(text, "base64url").toString(),
      ) as { rv: number; start: string };
      // The reference writes a slash first when its cache made the page.
      return `${start.replace(/^\//, "")} at ${version(String(rv)) as string}`;
    } catch {
      return "opaque";
    }
  }

  function keep(body: Json): unknown {
    if (Array.isArray(body))
      return body.map((frame: Json) =>
        frame.type ? `${frame.type} ${describe(frame.object)}` : keep(frame),
      );
    if (body?.kind === "Status") {
      const { reason, details, metadata } = body;
      return {
        status: `${body.status} ${body.code} ${reason ?? ""}: ${message(body.message) as string}`,
        ...(details && {
          details: {
            ...details,
            // Their messages are in the message.
            causes: details.causes?.map(
              (cause: Json) => `${cause.reason} ${cause.field ?? ""}`,
            ),
          },
        }),
        ...(metadata?.continue && { token: token(metadata.continue) }),
      };
    }
    if (Array.isArray(body?.items)) {
      const { resourceVersion, continue: next, ...rest } = body.metadata;
      return {
        names: body.items.map((item: Json) => item.metadata?.name).join(),
        at: version(resourceVersion),
        ...(next === undefined ? {} : { token: token(next) }),
        ...rest,
      };
    }
    if (body?.metadata)
      return `${body.kind} ${body.metadata.name ?? ""}@${version(body.metadata.resourceVersion) as string}`;
    return body;
  }

  function describe(object: Json): string {
    if (object?.kind === "Status") return JSON.stringify(keep(object));
    const { name, annotations, resourceVersion } = object?.metadata ?? {};
    const end = annotations?.["k8s.io/initial-events-end"];
    return `${object?.kind} ${name ?? ""}@${version(resourceVersion) as string}${end ? " end" : ""}`;
  }

  return {
    name(text, name) {
      names.set(text, name);
      if (name !== "future") latest = Math.max(latest, Number(text));
    },
    keep,
  };
}
