// --egress-selector-config-file: by which way the API server's connections leave, by what they are for. `cluster`: agents,
// pods, services, aggregated servers, webhooks at services. `controlplane`: webhooks at URLs, of tokens, permissions, images
// and audit, and issuers of tokens. A purpose that is not named leaves directly, as in the reference.
//
// Refused by name: GRPC, and a proxy between here and etcd or the collector of spans.
import * as fs from "node:fs";
import { createSecureContext } from "node:tls";
import type { Family } from "../../../../api/metrics/family.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import {
  type Dial,
  egressDialer,
  EgressMetrics,
  type EgressProxy,
} from "../../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { ConfigurationSection } from "../../configuration-section.ts";
import { readOptionFile } from "../../option-files.ts";

const option = "egress-selector-config-file";
const versions = ["v1beta1", "v1alpha1"].map(
  (version) => `apiserver.k8s.io/${version}`,
);
const names = ["cluster", "controlplane", "etcd"] as const;
type Name = (typeof names)[number];
const protocols = ["Direct", "HTTPConnect", "GRPC"];

/** Undefined: directly. */
export interface Egress {
  readonly cluster: Dial | undefined;
  readonly controlPlane: Dial | undefined;
  families(): readonly Family[];
}

/** Rejects with a UsageError. */
export async function readEgress(values: OptionValues): Promise<Egress> {
  const file = values.optionalText(option);
  const metrics = new EgressMetrics();
  const proxies = file
    ? await readSelections(readOptionFile(option, file), file)
    : new Map<Name, EgressProxy>();
  const dial = (name: Name): Dial | undefined => {
    const proxy = proxies.get(name);
    return proxy && egressDialer(proxy, metrics);
  };
  return {
    cluster: dial("cluster"),
    controlPlane: dial("controlplane"),
    families: () => (proxies.size > 0 ? metrics.families() : []),
  };
}

function readSelections(
  text: string,
  file: string,
): Promise<Map<Name, EgressProxy>> {
  return ConfigurationSection.read(text, file, (section) => {
    section.object("EgressSelectorConfiguration", versions, [
      "egressSelections",
    ]);
    const alpha = section.text("apiVersion").endsWith("/v1alpha1");
    const proxies = new Map<Name, EgressProxy>();
    const seen = new Set<string>();
    for (const selection of section.items("egressSelections")) {
      selection.fields(["name", "connection"]);
      const given = selection.text("name").toLowerCase();
      const name = alpha && given === "master" ? "controlplane" : given;
      const proxy = readConnection(selection.child("connection"), name);
      const path = selection.pathOf("name");
      const known = names.find((each) => each === name);
      if (seen.has(name))
        selection.problem(fieldErrors.duplicate(path, name).detail, path);
      else if (!known)
        selection.problem(
          fieldErrors.notSupported(path, name, names).detail,
          path,
        );
      else if (proxy) proxies.set(known, proxy);
      seen.add(name);
    }
    return proxies;
  });
}

/** Undefined: directly, or it is refused. */
function readConnection(
  section: ConfigurationSection,
  name: string,
): EgressProxy | undefined {
  section.fields(["proxyProtocol", "transport"]);
  const protocol = section.text("proxyProtocol");
  const transport = section.child("transport");
  const given = isGiven(transport);
  if (!protocols.includes(protocol)) {
    const path = section.pathOf("proxyProtocol");
    section.problem(
      fieldErrors.notSupported(path, protocol, protocols).detail,
      path,
    );
    return undefined;
  }
  if (protocol === "Direct") {
    if (given)
      invalid(
        transport,
        "direct",
        "Transport config should be absent for direct connect",
      );
    return undefined;
  }
  if (protocol === "GRPC") {
    section.problem("connections by GRPC are not implemented");
    return undefined;
  }
  if (name === "etcd")
    section.problem("connections to etcd by a proxy are not implemented");
  if (!given) {
    required(transport, "transport must be set for HTTPConnect");
    return undefined;
  }
  return readTransport(transport);
}

function readTransport(section: ConfigurationSection): EgressProxy | undefined {
  section.fields(["tcp", "uds"]);
  const tcp = section.child("tcp");
  const uds = section.child("uds");
  if (isGiven(tcp) && isGiven(uds)) {
    invalid(tcp, "tcp", "TCP and UDS cannot both be set");
    return undefined;
  }
  if (isGiven(tcp)) return readTcp(tcp);
  if (!isGiven(uds)) {
    required(tcp, "One of TCP or UDS must be set");
    return undefined;
  }
  uds.fields(["udsName"]);
  const socketPath = uds.text("udsName");
  if (socketPath !== "") return { at: { socketPath } };
  invalid(
    uds.child("udsName"),
    "nil",
    "UDSName should be present for UDS connections",
  );
  return undefined;
}

function readTcp(section: ConfigurationSection): EgressProxy | undefined {
  section.fields(["url", "tlsConfig"]);
  const text = section.text("url");
  const url = section.child("url");
  const config = section.child("tlsConfig");
  const plain = text.startsWith("http://");
  if (!plain && !text.startsWith("https://")) {
    invalid(
      url,
      text,
      "supported connection protocols are http:// and https://",
    );
    return undefined;
  }
  const place = URL.canParse(text) ? new URL(text) : undefined;
  // A usual port is left out of what was parsed.
  const port = Number(/:(\d+)\/?$/.exec(text)?.[1] ?? NaN);
  if (!place || Number.isNaN(port)) {
    invalid(url, text, "must be the proxy's host and port");
    return undefined;
  }
  const host = place.hostname.replace(/^\[|\]$/g, "");
  if (plain) {
    if (isGiven(config))
      invalid(
        config,
        "nil",
        "TLSConfig config should not be present when using HTTP",
      );
    return { at: { host, port, tls: undefined } };
  }
  if (!isGiven(config)) {
    required(config, "TLSConfig must be present when using HTTPS");
    return undefined;
  }
  config.fields(["caBundle", "clientKey", "clientCert", "tlsServerName"]);
  const ca = readPem(config, "caBundle", "TLS config ca bundle", true);
  const cert = readPem(config, "clientCert", "TLS client cert", false);
  const key = readPem(config, "clientKey", "TLS client key", false);
  if (cert === undefined || key === undefined) return undefined;
  const tls = { ...(ca === undefined ? {} : { ca }), ...{ cert, key } };
  try {
    createSecureContext(tls);
  } catch (error) {
    config.problem((error as Error).message);
    return undefined;
  }
  const serverName = config.text("tlsServerName") || undefined;
  return { at: { host, port, tls, serverName } };
}

/** Undefined: it is not given, or was reported. */
function readPem(
  section: ConfigurationSection,
  field: string,
  what: string,
  optional: boolean,
): Buffer | undefined {
  const file = section.text(field);
  const at = section.child(field);
  if (file === "") {
    if (!optional) invalid(at, "nil", `Using TLS requires ${field}`);
    return undefined;
  }
  try {
    return fs.readFileSync(file);
  } catch {
    invalid(at, file, `${what} does not exist`);
    return undefined;
  }
}

const isGiven = ({ value }: ConfigurationSection): boolean =>
  value !== undefined && value !== null;

function invalid(
  section: ConfigurationSection,
  value: unknown,
  detail: string,
): void {
  section.problem(fieldErrors.invalid(section.path, value, detail).detail);
}

function required(section: ConfigurationSection, detail: string): void {
  section.problem(fieldErrors.required(section.path, detail).detail);
}
