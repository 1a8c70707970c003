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
  /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)((?:\?[^#]*)?(?:#[^]*)?)$/i;

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
/** Markup that does not end within this ends the search: the piece passes as it is. */
const MAX_MARKUP = 64 * 1024;

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[a-z]/i.test(character);

/**
 * Rewrites the links of a page that comes in pieces. An incomplete part waits for the next piece; every character
 * is looked at once, however small the pieces are.
 */
export class LinkRewriter {
  #waiting = "";
  /** Of what waits, from its `<`: looked at already, up to the next character that decides. */
  #scanned = 0;
  /** The quotation mark the look ended within. */
  #quote = "";
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
      const next =
        this.#textOf === undefined
          ? text.indexOf("<", at)
          : this.#endTag(text, at, this.#textOf, last);
      const from = next < 0 ? text.length : next;
      done.push(text.slice(at, from));
      at = from;
      if (at === text.length) break;
      if (this.#textOf !== undefined && !this.#isEndTag(text, at)) break;
      this.#textOf = undefined;
      const end = this.#endOfMarkup(text, at);
      if (end !== undefined) {
        done.push(this.#markup(text.slice(at, end)));
        at = end;
        this.#scanned = 0;
      } else if (last || text.length - at > MAX_MARKUP) {
        done.push(text.slice(at));
        at = text.length;
        this.#scanned = 0;
        this.#quote = "";
      } else break;
    }
    this.#waiting = text.slice(at);
    return done.join("");
  }

  /** Where the end tag of a text element begins or, at the end of the piece, may begin. -1: nowhere. */
  #endTag(text: string, from: number, name: string, last: boolean): number {
    for (
      let at = text.indexOf("</", from);
      at >= 0;
      at = text.indexOf("</", at + 2)
    ) {
      const found = text.slice(at + 2, at + 2 + name.length).toLowerCase();
      if (found === name) return at;
      if (
        !last &&
        name.startsWith(found) &&
        at + 2 + found.length === text.length
      )
        return at;
    }
    return !last && text.endsWith("<") ? text.length - 1 : -1;
  }

  #isEndTag(text: string, at: number): boolean {
    return text.length >= at + 2 + this.#textOf!.length;
  }

  /** Behind the tag, comment or declaration that begins at `at`; undefined when it is not complete. */
  #endOfMarkup(text: string, at: number): number | undefined {
    if (text.length < at + 2) return undefined;
    const kind = text[at + 1]!;
    if (kind === "!" || kind === "?") {
      if ("<!--".startsWith(text.slice(at, at + 4))) {
        if (text.length < at + 4) return undefined;
        return this.#behind(text, at, "-->", 4);
      }
      return this.#behind(text, at, ">", 2);
    }
    if (kind !== "/" && !isLetter(kind)) return at + 1;
    let inside = this.#quote;
    for (let index = at + Math.max(this.#scanned, 2); index < text.length;) {
      if (inside !== "") {
        const close = text.indexOf(inside, index);
        if (close < 0) break;
        inside = "";
        index = close + 1;
        continue;
      }
      const character = text[index]!;
      index++;
      if (character === ">") {
        this.#quote = "";
        return index;
      }
      if (character === '"' || character === "'") inside = character;
    }
    this.#quote = inside;
    this.#scanned = text.length - at;
    return undefined;
  }

  /** Behind the next `mark`, at `skip` from `at` or later. */
  #behind(
    text: string,
    at: number,
    mark: string,
    skip: number,
  ): number | undefined {
    const from = at + Math.max(this.#scanned - mark.length + 1, skip);
    const found = text.indexOf(mark, from);
    if (found >= 0) return found + mark.length;
    this.#scanned = text.length - at;
    return undefined;
  }

  #markup(markup: string): string {
    if (!isLetter(markup[1])) return markup;
    const name = /^[^\s/>]*/.exec(markup.slice(1))![0].toLowerCase();
    if (TEXT_ELEMENTS.has(name) && !markup.endsWith("/>")) this.#textOf = name;
    const attributes = Object.hasOwn(linkAttributes, name)
      ? linkAttributes[name]!
      : [];
    return attributes.length === 0
      ? markup
      : withLinks(markup, name.length + 1, attributes, this.rewrite);
  }
}

const KEY_RUN = /[^\s"'<>/=]+/y;
const EQUALS = /\s*=\s*/y;
const BARE_VALUE = /[^\s"'>]+/y;

/** A start tag with the named attributes' values rewritten; the rest as it is. */
function withLinks(
  tag: string,
  from: number,
  attributes: readonly string[],
  rewrite: (link: string) => string,
): string {
  const done = [tag.slice(0, from)];
  let at = from;
  const next = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(tag)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < tag.length) {
    const key = next(KEY_RUN);
    if (key === undefined) {
      done.push(tag[at]!);
      at++;
      continue;
    }
    done.push(key);
    const is = next(EQUALS);
    if (is === undefined) continue;
    done.push(is);
    const start = at;
    const quote = tag[at] === "'" ? "'" : '"';
    let value: string | undefined;
    if (tag[at] === quote) {
      const close = tag.indexOf(quote, at + 1);
      if (close < 0) break;
      value = tag.slice(at + 1, close);
      at = close + 1;
    } else value = next(BARE_VALUE);
    if (value === undefined) continue;
    done.push(
      attributes.includes(key.toLowerCase())
        ? `${quote}${rewrite(value)}${quote}`
        : tag.slice(start, at),
    );
  }
  done.push(tag.slice(at));
  return done.join("");
}
