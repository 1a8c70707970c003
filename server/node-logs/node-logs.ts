// /logs/: the files below the node's log directory, and with ?query= what services wrote to the journal or to files of
// their name there. The directory is open to those who may get nodes/log.
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import { HttpError } from "../../http-kit/http-error.ts";
import type { PortRequest, PortRoute } from "../../http-kit/port.ts";
import { inJournal, readJournal } from "./journal.ts";
import { openLog, type FileEntry } from "./log-directory.ts";
import {
  parseLogQuery,
  type LogQuery,
  type LogQueryRefusal,
} from "./log-query.ts";

export interface NodeLogOptions {
  /** /var/log */
  readonly directory: string;
  /** false: 405 for everything (enableSystemLogHandler). */
  readonly enabled: boolean;
  /** ?query= is understood (enableSystemLogQuery and the gate NodeLogQuery). */
  readonly queries: boolean;
}

const plain = "text/plain; charset=utf-8";

export function nodeLogRoutes(options: NodeLogOptions): PortRoute[] {
  const serve = (request: PortRequest): Promise<void> => {
    if (!options.enabled)
      throw new HttpError(405, "logs endpoint is disabled.\n");
    return options.queries && request.query.has("query")
      ? serveQuery(request, options.directory)
      : serveFile(request, options.directory);
  };
  return ["/logs/?", "/logs/{path...}"].map((pattern) => ({
    methods: ["GET"],
    pattern,
    serve,
  }));
}

async function serveFile(request: PortRequest, root: string): Promise<void> {
  const entry = await openLog(root, request.parameters["path"] ?? "");
  if (!entry) throw new HttpError(404, "404 page not found\n");
  if (entry.kind === "directory") {
    const rows = entry.names.map(
      (name) =>
        `<a href="${encodeURIComponent(name).replace("%2F", "/")}">${escapeHtml(name)}</a>\n`,
    );
    request.answer(
      200,
      "text/html; charset=utf-8",
      `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${rows.join("")}</pre>\n`,
    );
    return;
  }
  await send(request, contentOf(entry));
}

/** What is appended meanwhile does not belong to the answer: a log may grow faster than it is read. */
function contentOf({ handle, size }: FileEntry): Readable {
  // A stream to before the first byte is none; the end of an empty file is found by reading.
  return handle.createReadStream({ start: 0, end: Math.max(0, size - 1) });
}

async function serveQuery(request: PortRequest, root: string): Promise<void> {
  const query = parseLogQuery(request.query);
  if ("problems" in query) throw refusal(query);
  const { file, options } = query;
  if (file !== undefined) {
    const entry = await openLog(root, file);
    if (entry?.kind !== "file") {
      const value = JSON.stringify([file]);
      throw refusal({
        code: 406,
        problems: [`query: Invalid value: ${value}: no such file`],
      });
    }
    await send(request, contentOf(entry));
    return;
  }
  const journal = await inJournal(query.services.flatMap(unitsOf));
  const services = query.services.map(
    (name) => unitsOf(name).find((unit) => journal.has(unit)) ?? name,
  );
  const elsewhere = services.filter((name) => !journal.has(name));
  if (elsewhere.length === 0) {
    await send(request, readJournal(services, options));
    return;
  }
  if (Object.keys(options).length > 0) {
    request.text(
      `\noptions present and query resolved to log files for [${elsewhere.join(" ")}]\ntry without specifying options\n`,
    );
    return;
  }
  await serveServiceFiles(request, root, elsewhere);
}

/** The node agent is in the service of this program; clients know it by the reference's name. */
function unitsOf(service: string): string[] {
  return service === "kubelet" ? ["kubelet", "orbit"] : [service];
}

function refusal({ code, problems }: LogQueryRefusal): HttpError {
  const text =
    problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`;
  return new HttpError(code, `${text}\n`);
}

/** A service without a journal: /var/log/NAME, /var/log/NAME.log, or /var/log/NAME/NAME.log. */
async function serveServiceFiles(
  request: PortRequest,
  root: string,
  services: LogQuery["services"],
): Promise<void> {
  const out = request.exchange.open(200, { "content-type": plain });
  try {
    for (const name of services) {
      let found = false;
      const places = unitsOf(name).flatMap((unit) => [
        unit,
        `${unit}.log`,
        `${unit}/${unit}.log`,
      ]);
      for (const place of places) {
        const entry = await openLog(root, place);
        if (entry?.kind !== "file") continue;
        await pipeline(contentOf(entry), out, { end: false });
        found = true;
        break;
      }
      if (!found) out.write(`\nlog not found for ${name}\n`);
    }
    out.end();
  } catch {
    request.exchange.destroy();
  }
}

async function send(request: PortRequest, lines: Readable): Promise<void> {
  const { exchange } = request;
  if (exchange.closed || exchange.upgrade) {
    lines.destroy();
    if (exchange.upgrade)
      throw new HttpError(
        400,
        "logs are not served over an upgraded connection",
      );
    return;
  }
  const out = exchange.open(200, { "content-type": plain });
  // A broken log ends the answer before its last chunk, which the client notices.
  await pipeline(lines, out).catch(() => exchange.destroy());
}

function escapeHtml(text: string): string {
  return text.replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}
