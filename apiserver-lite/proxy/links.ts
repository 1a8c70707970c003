// What a proxied backend says of its own places is made to lead through the proxy again: links of HTML pages and the
// Location of redirects. A link that is relative or names another host stays as it is.
import { posix } from "node:path";

export interface ProxyPlace {
  /** The path of the proxy itself, without a slash at its end. */
  readonly prefix: string;
  /** host:port of the backend. */
  readonly backendHost: string;
  /** As the client named this server. */
  readonly requestHost: string;
}

const LINK =
  /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)((?:\?[^#]*)?(?:#.*)?)$/i;

/** Worked example: `/style.css` → `/api/v1/namespaces/ns/pods/p/proxy/style.css`. */
export function proxiedLink(link: string, place: ProxyPlace): string {
  const [, scheme, host, path = "", rest = ""] = LINK.exec(link) ?? [];
  const { prefix, backendHost, requestHost } = place;
  if (!path.startsWith("/")) return link;
  if (host === undefined ? scheme !== undefined : host === "") return link;
  if (host !== undefined && host !== backendHost && host !== requestHost)
    return link;
  const origin =
    host !== undefined && host === requestHost
      ? `${scheme === undefined ? "" : `${scheme}:`}//${host}`
      : "";
  const inside = path.startsWith(prefix) ? path : posix.join(prefix, path);
  return `${origin}${inside}${rest}`;
}

/** Attributes that hold one URL, by element. */
const linkAttributes: Readonly<Record<string, readonly string[]>> = {
  a: ["href"],
  area: ["href"],
  audio: ["src"],
  base: ["href"],
  blockquote: ["cite"],
  body: ["background"],
  button: ["formaction"],
  command: ["icon"],
  del: ["cite"],
  embed: ["src"],
  form: ["action"],
  frame: ["longdesc", "src"],
  head: ["profile"],
  html: ["manifest"],
  iframe: ["longdesc", "src"],
  img: ["longdesc", "src", "usemap"],
  input: ["src", "usemap", "formaction"],
  ins: ["cite"],
  link: ["href"],
  object: ["classid", "codebase", "data", "usemap"],
  q: ["cite"],
  script: ["src"],
  source: ["src"],
  video: ["poster", "src"],
};

/** Elements whose content is text, whatever it looks like. */
const TEXT_ELEMENTS = new Set(["script", "style", "textarea", "title", "xmp"]);
/** A tag, comment or declaration from its `<` to its end. A name is taken whole, so that a match costs one pass. */
const MARKUP =
  /<(?:!--[^]*?-->|\/?(?=([a-z][^\s/>]*))\1(?:"[^"]*"|'[^']*'|[^'">])*>|[!?][^>]*>)/iy;
const BEGINS_MARKUP = /^<[a-z/!?]/i;
const ATTRIBUTE = /([^\s"'<>/=]+)(\s*=\s*)(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;
/** Markup that does not end within this ends the search: the piece passes as it is. */
const MAX_MARKUP = 64 * 1024;

/** Rewrites the links of a page that comes in pieces. What is not complete yet waits for the next piece. */
export class LinkRewriter {
  #waiting = "";
  /** Inside a text element: its name. */
  #textOf: string | undefined;

  constructor(private readonly rewrite: (link: string) => string) {}

  push(piece: string): string {
    this.#waiting += piece;
    return this.#take(false);
  }

  end(): string {
    return this.#take(true);
  }

  #take(last: boolean): string {
    const text = this.#waiting;
    const done: string[] = [];
    let at = 0;
    while (at < text.length) {
      if (this.#textOf !== undefined) {
        const end = text.toLowerCase().indexOf(`</${this.#textOf}`, at);
        // The end may be cut: as much as it could be waits.
        const upTo =
          end >= 0 || last ? end : text.length - this.#textOf.length - 1;
        const stop = end < 0 && last ? text.length : Math.max(at, upTo);
        done.push(text.slice(at, stop));
        at = stop;
        if (end < 0) break;
        this.#textOf = undefined;
      }
      const next = text.indexOf("<", at);
      done.push(text.slice(at, next < 0 ? text.length : next));
      at = next < 0 ? text.length : next;
      if (next < 0) break;
      MARKUP.lastIndex = at;
      const [markup, name] = MARKUP.exec(text) ?? [];
      if (markup !== undefined) {
        done.push(this.#markup(markup, name?.toLowerCase()));
        at += markup.length;
      } else if (
        at + 1 < text.length &&
        !BEGINS_MARKUP.test(text.slice(at, at + 2))
      ) {
        done.push("<");
        at++;
      } else if (last || text.length - at > MAX_MARKUP) {
        done.push(text.slice(at));
        at = text.length;
      } else break;
    }
    this.#waiting = text.slice(at);
    return done.join("");
  }

  #markup(markup: string, name: string | undefined): string {
    if (name === undefined || markup[1] === "/") return markup;
    if (TEXT_ELEMENTS.has(name) && !markup.endsWith("/>")) this.#textOf = name;
    const attributes = linkAttributes[name];
    if (!attributes) return markup;
    return markup.replace(
      ATTRIBUTE,
      (whole: string, key: string, is: string, ...values: string[]) => {
        if (!attributes.includes(key.toLowerCase())) return whole;
        const value = values[0] ?? values[1] ?? values[2] ?? "";
        const quote = values[1] === undefined ? '"' : "'";
        return `${key}${is}${quote}${this.rewrite(value)}${quote}`;
      },
    );
  }
}
