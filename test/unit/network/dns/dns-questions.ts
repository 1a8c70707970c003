// Queries as bytes, and answers read back, for the tests of the DNS server.
import * as packet from "dns-packet";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import type { Service } from "../../../../api/types/core-v1.ts";

export function question(
  name: string,
  type: packet.RecordType | "HINFO" = "A",
  { id = 1, edns }: { id?: number; edns?: number } = {},
): Buffer {
  return packet.encode({
    type: "query",
    id,
    flags: packet.RECURSION_DESIRED,
    questions: [{ name, type: type as packet.RecordType, class: "IN" }],
    ...(edns === undefined
      ? {}
      : {
          additionals: [
            {
              type: "OPT",
              name: ".",
              udpPayloadSize: edns,
              extendedRcode: 0,
              ednsVersion: 0,
              flags: 0,
              flag_do: false,
              options: [],
            } as packet.OptAnswer,
          ],
        }),
  });
}

/** Records as `name type data`, for tables. */
export function recordLines(answers: readonly packet.Answer[] = []): string[] {
  return answers.map((record) => {
    const { data } = record as { data: unknown };
    const text =
      record.type === "SRV"
        ? `${record.data.priority} ${record.data.port} ${record.data.target}`
        : Array.isArray(data)
          ? data.map(String).join("")
          : record.type === "SOA"
            ? record.data.mname
            : String(data as string);
    return `${record.name} ${record.type} ${text}`;
  });
}

export function service(
  name: string,
  spec: Partial<NonNullable<Service["spec"]>>,
  namespace = "shop",
): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { type: "ClusterIP", ...spec },
  };
}

export function slice(
  of: string,
  endpoints: EndpointSlice["endpoints"],
  ports: EndpointSlice["ports"] = [],
  addressType = "IPv4",
): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${of}-1`,
      namespace: "shop",
      labels: { "kubernetes.io/service-name": of },
    },
    addressType,
    endpoints,
    ports,
  };
}
