// EndpointSlices: at most 1,000 endpoints of one address type, which never changes.
import type { FieldError } from "../../../api/errors.ts";
import { isIP, isIPv4, isIPv6 } from "node:net";
import { withoutLeadingZeros } from "../../../api/addresses/address-range.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../api/names.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { formatAge, formatFew } from "../../printing/age.ts";
import type { Upgrade } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import { exactlyOneOf, immutable, labels, oneOf } from "../field-checks.ts";
import { endpointIpProblems } from "../core/service/endpoints.ts";

const maxEndpoints = 1000;
const maxPorts = 20000;
const maxAddresses = 100;

function addressProblems(
  field: string,
  address: string,
  type: string,
): FieldError[] {
  if (type === "FQDN")
    return invalidEach(field, address, dnsSubdomainProblems(address));
  // The reference still reads IPv4 addresses with leading zeros.
  const plain = withoutLeadingZeros(address);
  const right = type === "IPv4" ? isIPv4(plain) : isIPv6(address);
  return [
    ...(right
      ? []
      : [
          fieldErrors.invalid(
            field,
            address,
            `must be a valid ${type} address`,
          ),
        ]),
    ...(isIP(plain)
      ? endpointIpProblems(field, plain)
      : [fieldErrors.invalid(field, address, "must be a valid IP address")]),
  ];
}

function hintProblems(
  field: string,
  { hints }: EndpointSlice["endpoints"][number],
): FieldError[] {
  const seen = new Set<string>();
  return (hints?.forZones ?? []).flatMap(({ name }, index) => {
    const path = `${field}[${index}].name`;
    if (seen.has(name)) return [fieldErrors.duplicate(path, name)];
    seen.add(name);
    return invalidEach(path, name, labelValueProblems(name));
  });
}

const ZONE = "topology.kubernetes.io/zone";
/** Of objects that servers of the years before wrote. */
const fromTopology: Upgrade = ({ endpoints = [] }) => {
  for (const endpoint of endpoints) {
    if (!endpoint.topology) continue;
    const { [ZONE]: zone, ...others } = endpoint.topology;
    if (zone !== undefined) endpoint.zone = zone;
    if (Object.keys(others).length > 0) endpoint.deprecatedTopology = others;
    delete endpoint.topology;
  }
};

export const endpointSliceStrategy = strategyOf<EndpointSlice>({
  upgrades: { "discovery.k8s.io/v1beta1": fromTopology },
  countsMetadata: "labels",
  prepareForCreate(object) {
    for (const endpoint of object.endpoints ?? [])
      delete endpoint.deprecatedTopology;
  },
  warnings: (object) =>
    object.addressType === "FQDN"
      ? ["spec.addressType: FQDN endpoints are deprecated"]
      : [],
  validate(object) {
    const { addressType, endpoints = [], ports = [] } = object;
    const problems = oneOf(
      "addressType",
      addressType,
      ["FQDN", "IPv4", "IPv6"],
      true,
    );
    if (problems.length > 0) return problems;
    if (endpoints.length > maxEndpoints) {
      return [
        ...problems,
        fieldErrors.tooMany("endpoints", endpoints.length, maxEndpoints),
      ];
    }
    if (ports.length > maxPorts)
      return [
        ...problems,
        fieldErrors.tooMany("ports", ports.length, maxPorts),
      ];
    for (const [index, endpoint] of endpoints.entries()) {
      const path = `endpoints[${index}]`;
      const addresses = endpoint.addresses ?? [];
      if (addresses.length === 0) {
        problems.push(
          fieldErrors.required(
            `${path}.addresses`,
            "must contain at least 1 address",
          ),
        );
      } else if (addresses.length > maxAddresses) {
        problems.push(
          fieldErrors.tooMany(
            `${path}.addresses`,
            addresses.length,
            maxAddresses,
          ),
        );
      }
      for (const [at, address] of addresses.entries()) {
        problems.push(
          ...addressProblems(`${path}.addresses[${at}]`, address, addressType),
        );
      }
      if (endpoint.nodeName !== undefined) {
        problems.push(
          ...invalidEach(
            `${path}.nodeName`,
            endpoint.nodeName,
            dnsSubdomainProblems(endpoint.nodeName),
          ),
        );
      }
      problems.push(
        ...labels(`${path}.deprecatedTopology`, endpoint.deprecatedTopology),
      );
      if (endpoint.hostname !== undefined) {
        problems.push(
          ...invalidEach(
            `${path}.hostname`,
            endpoint.hostname,
            dnsLabelProblems(endpoint.hostname),
          ),
        );
      }
      problems.push(...hintProblems(`${path}.hints.forZones`, endpoint));
    }
    const names = new Set<string>();
    for (const [index, port] of ports.entries()) {
      const path = `ports[${index}]`;
      if (port.name)
        problems.push(
          ...invalidEach(
            `${path}.name`,
            port.name,
            dnsLabelProblems(port.name),
          ),
        );
      if (names.has(port.name ?? ""))
        problems.push(fieldErrors.duplicate(`${path}.name`, port.name ?? ""));
      names.add(port.name ?? "");
      problems.push(
        ...exactlyOneOf(`${path}.protocol`, port.protocol, [
          "SCTP",
          "TCP",
          "UDP",
        ]),
      );
      if (port.appProtocol !== undefined)
        problems.push(
          ...invalidEach(
            `${path}.appProtocol`,
            port.appProtocol,
            labelKeyProblems(port.appProtocol),
          ),
        );
    }
    return problems;
  },
  validateUpdate: (object, old) =>
    immutable("addressType", object.addressType, old.addressType),
  printRow: (object, now) => {
    const { metadata, addressType, endpoints = [], ports = [] } = object;
    return [
      metadata.name,
      addressType,
      formatFew(
        ports.map(({ port, name }) => String(port ?? name ?? "*")),
        "<unset>",
      ),
      formatFew(
        endpoints.flatMap(({ addresses }) => addresses),
        "<unset>",
      ),
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
