// EndpointSlices: at most 1,000 endpoints of one address type, which never changes.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { isIPv4, isIPv6 } from "node:net";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  rangeProblem,
} from "../../../api/names.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import { formatAge, formatFew } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, labels, oneOf } from "../field-checks.ts";
import { endpointIpProblems } from "../core/endpoints.ts";

const asSlice = (object: Readonly<AnyObject>): EndpointSlice =>
  object as unknown as EndpointSlice;
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
  const right = type === "IPv4" ? isIPv4(address) : isIPv6(address);
  if (!right)
    return [
      fieldErrors.invalid(field, address, `must be a valid ${type} address`),
    ];
  return endpointIpProblems(field, address);
}

export const endpointSliceStrategy: ResourceStrategy = {
  validate(object) {
    const { addressType, endpoints = [], ports = [] } = asSlice(object);
    const problems = oneOf(
      "addressType",
      addressType,
      ["FQDN", "IPv4", "IPv6"],
      true,
    );
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
      if (endpoint.hostname) {
        problems.push(
          ...invalidEach(
            `${path}.hostname`,
            endpoint.hostname,
            dnsLabelProblems(endpoint.hostname),
          ),
        );
      }
      if (endpoint.nodeName) {
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
        ...oneOf(
          `${path}.protocol`,
          port.protocol,
          ["SCTP", "TCP", "UDP"],
          true,
        ),
      );
      if (
        port.port !== undefined &&
        port.port !== null &&
        (port.port < 1 || port.port > 65535)
      ) {
        problems.push(
          fieldErrors.invalid(
            `${path}.port`,
            port.port,
            rangeProblem(1, 65535),
          ),
        );
      }
    }
    return problems;
  },
  validateUpdate: (object, old) =>
    immutable(
      "addressType",
      asSlice(object).addressType,
      asSlice(old).addressType,
    ),
  printRow: (object, now) => {
    const {
      metadata,
      addressType,
      endpoints = [],
      ports = [],
    } = asSlice(object);
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
};
