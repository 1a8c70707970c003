// Whether the cluster's name server answers, asked from this machine at its Service's address.
import { Resolver } from "node:dns/promises";
import { failed, ok, warning, type Finding } from "../finding.ts";

type Lookup = (server: string, name: string) => Promise<readonly string[]>;

const timeoutMs = 2000;

const ask: Lookup = (server, name) => {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  resolver.setServers([server]);
  return server.includes(":")
    ? resolver.resolve6(name)
    : resolver.resolve4(name);
};

/**
 * @param server address of the Service kube-dns; undefined: there is none
 * @param expected addresses of the Service kubernetes, which the name means
 */
export async function dnsFinding(
  server: string | undefined,
  domain: string,
  expected: readonly string[],
  lookup: Lookup = ask,
): Promise<Finding> {
  const name = "DNS";
  if (server === undefined)
    return warning(
      name,
      "there is no Service kube-system/kube-dns: pods have no name server",
      "start the server without --disable dns, or install one",
    );
  const asked = `kubernetes.default.svc.${domain}`;
  const remedy =
    "kubectl -n kube-system get endpointslices,pods shows who answers; is this machine a node of the cluster, and --cluster-domain right?";
  try {
    const found = await lookup(server, `${asked}.`);
    return found.some((each) => expected.includes(each))
      ? ok(name, `${server} answers ${asked}`)
      : failed(
          name,
          `${server} says ${found.join(", ")} for ${asked}, which is ${expected.join(", ")}`,
          remedy,
        );
  } catch (error) {
    return failed(
      name,
      `${server} does not answer ${asked}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
      remedy,
    );
  }
}
