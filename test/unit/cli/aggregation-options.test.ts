// What the API server's options say about aggregated servers, as the aggregator gets it.
import { apiServerOptions } from "../../../cli/options/apiserver.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { aggregationOptions } from "../../../cli/parts/api/aggregation.ts";
import { requestHeaderOf } from "../../../cli/parts/api/security.ts";

const values = (...args: string[]) => parseOptions(apiServerOptions, args);

test.each([
  [[], true, "cluster"],
  [[], false, "no-data-path"],
  [["--enable-aggregator-routing"], true, "endpoints"],
  [["--enable-aggregator-routing"], false, "endpoints"],
] as const)("%j with service addresses: %s", (args, addresses, routing) => {
  const options = aggregationOptions(
    values(...args),
    undefined,
    undefined,
    addresses,
  );
  expect(options).toMatchObject({
    routing,
    rejectForwardingRedirect: true,
    proxyCertificate: undefined,
  });
});

test("redirects may be passed on", () => {
  const given = values("--aggregator-reject-forwarding-redirect=false");
  expect(
    aggregationOptions(given, undefined, undefined, true)
      .rejectForwardingRedirect,
  ).toBe(false);
});

test("headers of this server's own front proxies are named", () => {
  const given = values("--requestheader-username-headers=X-Own-User");
  const header = requestHeaderOf(given, "authority");
  expect(
    aggregationOptions(given, undefined, header, true).identityFields,
  ).toEqual({
    names: ["x-own-user", "x-remote-group", "x-remote-uid"],
    prefixes: ["x-remote-extra-"],
  });
});
