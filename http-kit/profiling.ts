// /debug/pprof/*: what Node's inspector knows of this process, under the reference's paths. Profiles are Chrome's formats
// (.cpuprofile, .heapprofile), which its developer tools and others open: names of functions and amounts, as the
// reference's. A snapshot (.heapsnapshot) holds what is in memory, private keys and Secrets with it: only who may open
// the debug socket gets one. One recording at a time.
import type { Session } from "node:inspector";
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { errors } from "../api/errors.ts";
import type { Exchange } from "./exchange.ts";
import type { PortRoute } from "./port.ts";

const defaultSeconds = 30;
const maxSeconds = 600;

interface Page {
  readonly about: string;
  serve(exchange: Exchange, query: URLSearchParams): void | Promise<void>;
}

export class Profiling {
  #recording = false;

  readonly #pages: Readonly<Record<string, Page>> = {
    profile: {
      about: "CPU profile of ?seconds=30, as .cpuprofile",
      serve: (exchange, query) =>
        this.#recorded(exchange, query, "cpuprofile", async (session, wait) => {
          await post(session, "Profiler.enable");
          await post(session, "Profiler.start");
          await wait;
          return JSON.stringify((await post(session, "Profiler.stop")).profile);
        }),
    },
    allocs: {
      about:
        "Allocations sampled for ?seconds=30, those freed since included, as .heapprofile",
      serve: (exchange, query) => this.#sampled(exchange, query, true),
    },
    heap: {
      about:
        "What was allocated in ?seconds=30 and is still in use, by function, as .heapprofile; ?debug=1: the heap's size, as text",
      serve: (exchange, query) =>
        query.get("debug") === "1"
          ? text(exchange, heapFigures())
          : this.#sampled(exchange, query, false),
    },
    goroutine: {
      about: "What keeps the process busy: its active resources, counted",
      serve: (exchange) => text(exchange, activeResources()),
    },
    threadcreate: {
      about: "Memory and CPU time of the process",
      serve: (exchange) => text(exchange, processFigures()),
    },
    cmdline: {
      about: "The command line, parted by NUL",
      serve: (exchange) => text(exchange, process.argv.join("\0")),
    },
  };

  /** With contents: for the debug socket alone. */
  readonly #privatePages: Readonly<Record<string, Page>> = {
    ...this.#pages,
    heapsnapshot: {
      about:
        "All that is in memory, keys too, as .heapsnapshot; the process stands still meanwhile",
      serve: (exchange) => this.#snapshot(exchange),
    },
  };

  /** `isPrivate`: only the owner of the process can ask. Throws ApiError 400, 429. */
  async serve(
    exchange: Exchange,
    path: string,
    query: URLSearchParams,
    isPrivate = false,
  ): Promise<void> {
    const pages = isPrivate ? this.#privatePages : this.#pages;
    const name = path.replace(/^\/debug\/pprof\/?/, "");
    if (name === "") {
      const lines = Object.entries(pages).map(
        ([page, { about }]) => `/debug/pprof/${page}  ${about}`,
      );
      return text(exchange, `${lines.join("\n")}\n`);
    }
    const page = Object.hasOwn(pages, name) ? pages[name] : undefined;
    if (!page) {
      text(exchange, `Unknown profile\n`, 404);
      return;
    }
    await page.serve(exchange, query);
  }

  async #recorded(
    exchange: Exchange,
    query: URLSearchParams,
    extension: string,
    record: (session: Session, wait: Promise<void>) => Promise<string>,
  ): Promise<void> {
    const seconds = Number(query.get("seconds") ?? defaultSeconds);
    if (!(seconds > 0 && seconds <= maxSeconds))
      throw errors.badRequest(
        `seconds must be above 0 and at most ${maxSeconds}`,
      );
    const leave = this.#enter();
    const session = await newSession();
    let timer: NodeJS.Timeout | undefined;
    const wait = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, seconds * 1000);
      exchange.onClose(resolve);
    });
    try {
      const recorded = await record(session, wait);
      if (!exchange.closed)
        exchange.respond(
          200,
          download(`orbit.${extension}`, "application/json"),
          recorded,
        );
    } finally {
      clearTimeout(timer);
      session.disconnect();
      leave();
    }
  }

  #sampled(
    exchange: Exchange,
    query: URLSearchParams,
    collected: boolean,
  ): Promise<void> {
    const kept = {
      includeObjectsCollectedByMajorGC: collected,
      includeObjectsCollectedByMinorGC: collected,
    };
    return this.#recorded(
      exchange,
      query,
      "heapprofile",
      async (session, wait) => {
        await post(session, "HeapProfiler.startSampling", kept);
        await wait;
        const { profile } = await post(session, "HeapProfiler.stopSampling");
        return JSON.stringify(profile);
      },
    );
  }

  async #snapshot(exchange: Exchange): Promise<void> {
    const leave = this.#enter();
    const session = await newSession();
    try {
      const out = exchange.open(
        200,
        download("orbit.heapsnapshot", "application/json"),
      );
      session.on("HeapProfiler.addHeapSnapshotChunk", ({ params }) =>
        out.write(params.chunk),
      );
      await post(session, "HeapProfiler.takeHeapSnapshot");
      out.end();
    } finally {
      session.disconnect();
      leave();
    }
  }

  #enter(): () => void {
    if (this.#recording)
      throw errors.tooManyRequests("another profile is being recorded", 10);
    this.#recording = true;
    return () => {
      this.#recording = false;
    };
  }
}

/** For a port of its own, behind authorization. */
export function profilingRoutes(profiling: Profiling): PortRoute[] {
  return ["/debug/pprof/?", "/debug/pprof/{path...}"].map((pattern) => ({
    methods: ["GET"],
    pattern,
    serve: ({ exchange, path, query }) =>
      profiling.serve(exchange, path, query),
  }));
}

async function newSession(): Promise<Session> {
  const inspector = await import("node:inspector");
  const session = new inspector.Session();
  session.connect();
  return session;
}

// What the inspector answers differs by method.
function post(
  session: Session,
  method: string,
  parameters: object = {},
): Promise<{ profile?: unknown }> {
  return new Promise((resolve, reject) => {
    session.post(method, parameters, (error: Error | null, result?: object) => {
      if (error) reject(error);
      else resolve(result ?? {});
    });
  });
}

function download(name: string, contentType: string) {
  return {
    "content-type": contentType,
    "content-disposition": `attachment; filename="${name}"`,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

function text(exchange: Exchange, body: string, status = 200): void {
  exchange.respond(
    status,
    {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
    body,
  );
}

function activeResources(): string {
  const counts = new Map<string, number>();
  const names = process.getActiveResourcesInfo();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = [...counts].map(([name, count]) => `${count} ${name}`);
  return `${names.length} active resources\n${lines.join("\n")}\n`;
}

function heapFigures(): string {
  const figures: [string, number][] = [
    ...Object.entries(getHeapStatistics()),
    ...getHeapSpaceStatistics().map((space): [string, number] => [
      `${space.space_name}_used`,
      space.space_used_size,
    ]),
  ];
  return figures.map(([name, value]) => `${name} ${value}\n`).join("");
}

function processFigures(): string {
  const figures = { ...process.memoryUsage(), ...process.cpuUsage() };
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value}\n`)
    .join("");
}
