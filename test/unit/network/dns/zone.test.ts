// The names of the Kubernetes DNS specification 1.1, question by question.
import * as packet from "dns-packet";
import { encodeAnswer } from "../../../../network/dns/message.ts";
import { parseQuery } from "../../../../network/dns/query.ts";
import { serviceEntry } from "../../../../network/dns/service-entry.ts";
import { ClusterZone } from "../../../../network/dns/zone.ts";
import { question, recordLines, service, slice } from "./dns-questions.ts";

/** Of fd00:43::1. */
const reverse6 = `1${".0".repeat(23)}.3.4.0.0.0.0.d.f.ip6.arpa`;

const zone = new ClusterZone("cluster.local", ["10.43.0.10"]);
const http = { name: "http", protocol: "TCP", port: 80 };

function put(
  of: ReturnType<typeof service>,
  ...slices: ReturnType<typeof slice>[]
): void {
  zone.setService(
    of.metadata.namespace ?? "",
    of.metadata.name ?? "",
    serviceEntry(of, slices),
  );
}

beforeAll(() => {
  zone.setNamespace("shop", true);
  zone.setNamespace("empty", true);
  put(
    service("web", {
      clusterIP: "10.43.1.1",
      clusterIPs: ["10.43.1.1", "fd00:43::1"],
      ports: [http, { name: "dns", protocol: "UDP", port: 53 }, { port: 9 }],
    }),
    slice("web", [{ addresses: ["10.42.0.7"], hostname: "named" }], [http]),
  );
  put(
    service("db", { clusterIP: "None", clusterIPs: ["None"], ports: [http] }),
    slice(
      "db",
      [
        { addresses: ["10.42.0.1"], hostname: "db-0" },
        { addresses: ["10.42.0.2"], conditions: { ready: true } },
        { addresses: ["10.42.0.3"], conditions: { ready: false } },
      ],
      [{ ...http, port: 5432 }],
    ),
    slice("db", [{ addresses: ["fd00::2"] }], [], "IPv6"),
  );
  put(
    service("early", {
      clusterIP: "None",
      publishNotReadyAddresses: true,
    }),
    slice("early", [
      { addresses: ["10.42.0.4"], conditions: { ready: false } },
    ]),
  );
  put(
    service("idle", { clusterIP: "None" }),
    slice("idle", [{ addresses: ["10.42.0.5"], conditions: { ready: false } }]),
  );
  put(service("out", { type: "ExternalName", externalName: "Example.ORG." }));
});

/** Code, then the answers, then `+` and the additional ones; negative answers show the SOA as `!`. */
function ask(name: string, type: packet.RecordType): string[] {
  const query = parseQuery(question(name, type));
  if ("rcode" in query) throw new Error("no query");
  const answer = zone.answer(query.labels, query.type);
  if (!answer) return ["not ours"];
  const read = packet.decode(encodeAnswer(query, answer, 4096));
  const code = (read as { rcode?: string }).rcode ?? "";
  return [
    code,
    ...recordLines(read.answers).toSorted(),
    ...recordLines(read.authorities).map((line) => `! ${line}`),
    ...recordLines(read.additionals)
      .map((line) => `+ ${line}`)
      .toSorted(),
  ];
}

const soa = "! cluster.local SOA ns.dns.cluster.local";
const nothing = ["NOERROR", soa];
const missing = ["NXDOMAIN", soa];
const web = "web.shop.svc.cluster.local";
const db = "db.shop.svc.cluster.local";

test.each<[packet.RecordType, string, string[]]>([
  // 2.1 the version
  [
    "TXT",
    "dns-version.cluster.local",
    ["NOERROR", "dns-version.cluster.local TXT 1.1.0"],
  ],
  // the zone itself
  [
    "SOA",
    "cluster.local",
    ["NOERROR", "cluster.local SOA ns.dns.cluster.local"],
  ],
  ["NS", "cluster.local", ["NOERROR", "cluster.local NS ns.dns.cluster.local"]],
  [
    "A",
    "ns.dns.cluster.local",
    ["NOERROR", "ns.dns.cluster.local A 10.43.0.10"],
  ],
  ["A", "cluster.local", nothing],
  ["A", "svc.cluster.local", nothing],
  ["A", "shop.svc.cluster.local", nothing],
  ["A", "empty.svc.cluster.local", nothing],
  ["A", "other.svc.cluster.local", missing],
  ["A", "anything.cluster.local", missing],
  // 2.3 services with addresses
  ["A", web, ["NOERROR", `${web} A 10.43.1.1`]],
  ["AAAA", web, ["NOERROR", `${web} AAAA fd00:43::1`]],
  ["MX", web, nothing],
  ["A", "none.shop.svc.cluster.local", missing],
  ["A", "web.empty.svc.cluster.local", missing],
  [
    "A",
    "named.web.shop.svc.cluster.local",
    ["NOERROR", "named.web.shop.svc.cluster.local A 10.42.0.7"],
  ],
  [
    "SRV",
    `_http._tcp.${web}`,
    [
      "NOERROR",
      `_http._tcp.${web} SRV 0 80 ${web}`,
      `+ ${web} A 10.43.1.1`,
      `+ ${web} AAAA fd00:43::1`,
    ],
  ],
  [
    "SRV",
    `_dns._udp.${web}`,
    [
      "NOERROR",
      `_dns._udp.${web} SRV 0 53 ${web}`,
      `+ ${web} A 10.43.1.1`,
      `+ ${web} AAAA fd00:43::1`,
    ],
  ],
  ["SRV", `_dns._tcp.${web}`, missing],
  ["SRV", `_._tcp.${web}`, missing],
  ["A", `_tcp.${web}`, nothing],
  ["A", `_sctp.${web}`, missing],
  [
    "PTR",
    "1.1.43.10.in-addr.arpa",
    ["NOERROR", `1.1.43.10.in-addr.arpa PTR ${web}`],
  ],
  ["PTR", reverse6, ["NOERROR", `${reverse6} PTR ${web}`]],
  ["PTR", "9.9.9.9.in-addr.arpa", ["not ours"]],
  // 2.4 headless services
  ["A", db, ["NOERROR", `${db} A 10.42.0.1`, `${db} A 10.42.0.2`]],
  ["AAAA", db, ["NOERROR", `${db} AAAA fd00::2`]],
  ["A", `db-0.${db}`, ["NOERROR", `db-0.${db} A 10.42.0.1`]],
  ["A", `10-42-0-2.${db}`, ["NOERROR", `10-42-0-2.${db} A 10.42.0.2`]],
  ["A", `10-42-0-3.${db}`, missing],
  [
    "SRV",
    `_http._tcp.${db}`,
    [
      "NOERROR",
      `_http._tcp.${db} SRV 0 5432 10-42-0-2.${db}`,
      `_http._tcp.${db} SRV 0 5432 db-0.${db}`,
      `+ 10-42-0-2.${db} A 10.42.0.2`,
      `+ db-0.${db} A 10.42.0.1`,
    ],
  ],
  [
    "PTR",
    "1.0.42.10.in-addr.arpa",
    ["NOERROR", `1.0.42.10.in-addr.arpa PTR db-0.${db}`],
  ],
  [
    "A",
    "early.shop.svc.cluster.local",
    ["NOERROR", "early.shop.svc.cluster.local A 10.42.0.4"],
  ],
  ["A", "idle.shop.svc.cluster.local", missing],
  // 2.5 ExternalName
  [
    "CNAME",
    "out.shop.svc.cluster.local",
    ["NOERROR", "out.shop.svc.cluster.local CNAME example.org"],
  ],
  // pods
  [
    "A",
    "10-42-0-1.shop.pod.cluster.local",
    ["NOERROR", "10-42-0-1.shop.pod.cluster.local A 10.42.0.1"],
  ],
  [
    "AAAA",
    "fd00--2.shop.pod.cluster.local",
    ["NOERROR", "fd00--2.shop.pod.cluster.local AAAA fd00::2"],
  ],
  ["A", "10-42-0-999.shop.pod.cluster.local", missing],
  ["A", "10-42-0-1.other.pod.cluster.local", missing],
  // others' names
  ["A", "example.org", ["not ours"]],
  ["A", "local", ["not ours"]],
  ["A", "notcluster.local", ["not ours"]],
])("%s %s", (type, name, expected) => {
  expect(ask(name, type)).toEqual(expected);
});

test("names are compared without case", () => {
  expect(ask("WEB.Shop.SVC.cluster.LOCAL", "A")[0]).toBe("NOERROR");
});

test("a service that goes, and its addresses with it", () => {
  const gone = service("gone", { clusterIP: "10.43.9.9" });
  put(gone);
  expect(ask("9.9.43.10.in-addr.arpa", "PTR")[0]).toBe("NOERROR");
  const before = zone.generation;
  zone.setService("shop", "gone", undefined);
  expect(zone.generation).toBeGreaterThan(before);
  expect(ask("9.9.43.10.in-addr.arpa", "PTR")).toEqual(["not ours"]);
  expect(ask("gone.shop.svc.cluster.local", "A")).toEqual(missing);
});
