// The format `uri`: an absolute URI or an absolute path, as the reference's language parses the URI of a request.

/** Which characters an authority's host may have as they are; others are refused unless they are outside of ASCII. */
const hostText = /^[a-zA-Z0-9\-._~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]*$/u;
const userText = /^[a-zA-Z0-9\-._~!$&'()*+,;=:%@]*$/;

export function isRequestUri(text: string): boolean {
  // Control characters, or nothing at all.
  // eslint-disable-next-line no-control-regex -- these are what is refused
  if (text === "" || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (text === "*") return true;
  const scheme = schemeOf(text);
  if (scheme === undefined) return false;
  const rest = text
    .slice(scheme === "" ? 0 : scheme.length + 1)
    .split("?", 1)[0]!;
  if (!rest.startsWith("/")) return scheme !== "";
  const hasAuthority =
    rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"));
  // Without a scheme a request's URI has no authority.
  if (!hasAuthority || scheme === "") return hasGoodEscapes(rest);
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return (
    isAuthority(authority) && (slash < 0 || hasGoodEscapes(rest.slice(slash)))
  );
}

/** "" when there is none; undefined for a colon without a name. */
function schemeOf(text: string): string | undefined {
  if (text.startsWith(":")) return undefined;
  return /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? "";
}

/** Every % has two digits. */
const hasGoodEscapes = (text: string): boolean =>
  !/%(?![0-9a-fA-F]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf("@");
  const user = at < 0 ? "" : authority.slice(0, at);
  if (!userText.test(user) || !hasGoodEscapes(user)) return false;
  return isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end < 0 || !isPort(host.slice(end + 1))) return false;
    const zone = host.slice(0, end).indexOf("%25");
    const address = zone < 0 ? host.slice(0, end + 1) : host.slice(0, zone);
    return hostText.test(address);
  }
  const colon = host.lastIndexOf(":");
  if (colon >= 0 && !isPort(host.slice(colon))) return false;
  // Only bytes outside of ASCII may be written as escapes.
  const plain = host.replace(/%[89a-fA-F][0-9a-fA-F]/g, "");
  return hostText.test(plain);
}

/** Nothing, or a colon with digits or none behind it. */
const isPort = (text: string): boolean => /^(?::[0-9]*)?$/.test(text);
