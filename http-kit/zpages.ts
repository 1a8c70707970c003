// /flagz and /statusz (gates ComponentFlagz and ComponentStatusz): the options a component runs with, and how it is, as text
// for people. As at the reference the delimiter is drawn by lot, so that no program comes to rely on the form.
import type { Exchange } from "./exchange.ts";

export interface ZpageOptions {
  /** As the page's head names it: kube-apiserver, kubelet. */
  readonly component: string;
  /** Options by name, without secrets. Absent: /flagz is not served. */
  readonly flags?: () => Readonly<Record<string, string>>;
  /** Absent: /statusz is not served. */
  readonly status?: {
    /** MAJOR.MINOR, as the next. */
    readonly binaryVersion: string;
    readonly emulationVersion: string;
  };
}

interface Zpage {
  readonly path: string;
  serve(exchange: Exchange): void;
}

const delimiters = [":", ": ", "=", " "];
const warning =
  "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n";
const plain = "text/plain; charset=utf-8";

export function zpages({ component, flags, status }: ZpageOptions): Zpage[] {
  return [
    ...(flags
      ? [
          page("/flagz", `${component} flags`, (delimiter) => {
            const lines = Object.entries(flags()).sort(([a], [b]) =>
              a < b ? -1 : 1,
            );
            return `\n${lines.map(([name, value]) => `${name}${delimiter}${value}\n`).join("")}`;
          }),
        ]
      : []),
    ...(status
      ? [
          page("/statusz", `${component} statusz`, (delimiter) => {
            const upSeconds = Math.floor(process.uptime());
            const lines: [string, string][] = [
              [
                "Started",
                new Date(Date.now() - upSeconds * 1000).toUTCString(),
              ],
              ["Up", shownUptime(upSeconds)],
              ["Node.js version", process.version],
              ["Binary version", status.binaryVersion],
              ["Emulation version", status.emulationVersion],
            ];
            return `\n${lines.map(([name, value]) => `${name}${delimiter} ${value}\n`).join("")}`;
          }),
        ]
      : []),
  ];
}

function page(
  path: string,
  title: string,
  content: (delimiter: string) => string,
): Zpage {
  const delimiter = delimiters[Math.floor(Math.random() * delimiters.length)]!;
  return {
    path,
    serve(exchange) {
      if (!acceptsText(exchange.headers.accept ?? ""))
        exchange.respond(
          406,
          { "content-type": plain, "x-content-type-options": "nosniff" },
          "media type not acceptable, must be: text/plain\n",
        );
      else
        exchange.respond(
          200,
          { "content-type": plain },
          `\n${title}\n${warning}${content(delimiter)}`,
        );
    },
  };
}

/** One of the types is text/plain or covers it, with no parameter but a charset of UTF-8 and its weight; none is no type. */
function acceptsText(accept: string): boolean {
  return accept.split(",").some((each) => {
    const [type = "", ...parameters] = each
      .split(";")
      .map((part) => part.trim().toLowerCase());
    const others = parameters.filter((part) => !part.startsWith("q="));
    return (
      /^(text|\*)\/(plain|\*)$/.test(type) &&
      (others.length === 0 ||
        (others.length === 1 && /^charset="?utf-8"?$/.test(others[0]!)))
    );
  });
}

const padded = (value: number): string => String(value).padStart(2, "0");

function shownUptime(seconds: number): string {
  return `${Math.floor(seconds / 3600)} hr ${padded(Math.floor(seconds / 60) % 60)} min ${padded(seconds % 60)} sec`;
}
