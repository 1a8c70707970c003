// Host names of listeners and routes: a route is served for what both have in common. A wildcard is one or more
// labels (HTTPRoute.spec.hostnames, Listener.hostname).

function under(name: string, wildcard: string): boolean {
  return name.endsWith(wildcard.slice(1)) && name !== wildcard;
}

/** Undefined: nothing. "" is every host. */
function common(a: string, b: string): string | undefined {
  if (a === b || b === "") return a;
  if (a === "") return b;
  if (b.startsWith("*.") && under(a, b)) return a;
  if (a.startsWith("*.") && under(b, a)) return b;
  return undefined;
}

/** @param route none: every host. @returns none: the route has nothing for the listener */
export function commonHosts(
  listener: string | undefined,
  route: readonly string[] | undefined,
): string[] {
  const own = (listener ?? "").toLowerCase();
  const hosts = route?.length ? route : [""];
  return [
    ...new Set(hosts.flatMap((host) => common(own, host.toLowerCase()) ?? [])),
  ];
}
