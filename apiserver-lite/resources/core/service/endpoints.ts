// Endpoints: addresses that can be reached (no loopback, no link-local) and numbered ports.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../../../api/names.ts";
import type {
  EndpointAddress,
  Endpoints,
} from "../../../../api/types/core-v1.ts";
import { formatAge, formatFew } from "../../../printing/age.ts";
import { strategyOf } from "../../typed.ts";
import { oneOf } from "../../field-checks.ts";
import { specialIpProblems } from "./ip-address.ts";

/** Addresses that would lead somewhere else on every machine. */
export function endpointIpProblems(field: string, ip: string): FieldError[] {
  const bad = ipProblems(ip);
  return invalidEach(field, ip, bad.length > 0 ? bad : specialIpProblems(ip));
}

function addressProblems(
  field: string,
  { ip, hostname, nodeName }: EndpointAddress,
): FieldError[] {
  const bad = ipProblems(ip ?? "");
  return [
    ...(bad.length > 0
      ? // Looked at twice by the reference, in two wordings.
        invalidEach(`${field}.ip`, ip ?? "", [
          ...bad,
          "must be a valid IP address",
        ])
      : endpointIpProblems(`${field}.ip`, ip)),
    ...(hostname
      ? invalidEach(`${field}.hostname`, hostname, dnsLabelProblems(hostname))
      : []),
    ...(nodeName === undefined
      ? []
      : invalidEach(
          `${field}.nodeName`,
          nodeName,
          dnsSubdomainProblems(nodeName),
        )),
  ];
}

export const endpointsStrategy = strategyOf<Endpoints>({
  countsGeneration: false,
  allowCreateOnUpdate: true,
  validate(object) {
    const problems: FieldError[] = [];
    for (const [index, subset] of (object.subsets ?? []).entries()) {
      const path = `subsets[${index}]`;
      const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
      if (addresses.length + notReadyAddresses.length === 0) {
        problems.push(
          fieldErrors.required(
            path,
            "must specify `addresses` or `notReadyAddresses`",
          ),
        );
      }
      for (const [at, address] of addresses.entries()) {
        problems.push(...addressProblems(`${path}.addresses[${at}]`, address));
      }
      for (const [at, address] of notReadyAddresses.entries()) {
        problems.push(
          ...addressProblems(`${path}.notReadyAddresses[${at}]`, address),
        );
      }
      for (const [at, port] of ports.entries()) {
        const field = `${path}.ports[${at}]`;
        if (ports.length > 1 && !port.name)
          problems.push(fieldErrors.required(`${field}.name`));
        else if (port.name)
          problems.push(
            ...invalidEach(
              `${field}.name`,
              port.name,
              dnsLabelProblems(port.name),
            ),
          );
        problems.push(
          ...invalidEach(
            `${field}.port`,
            port.port,
            portNumberProblems(port.port),
          ),
        );
        const { appProtocol } = port;
        problems.push(
          ...oneOf(
            `${field}.protocol`,
            port.protocol,
            ["SCTP", "TCP", "UDP"],
            true,
          ),
          ...(appProtocol === undefined
            ? []
            : invalidEach(
                `${field}.appProtocol`,
                appProtocol,
                qualifiedNameProblems(appProtocol),
              )),
        );
      }
    }
    return problems;
  },
  printRow: (object, now) => {
    const { metadata, subsets = [] } = object;
    const shown = subsets.flatMap(({ addresses = [], ports = [] }) =>
      ports.length === 0
        ? addresses.map(({ ip }) => ip)
        : ports.flatMap(({ port }) =>
            addresses.map(({ ip }) =>
              ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`,
            ),
          ),
    );
    return [
      metadata.name,
      formatFew(shown, subsets.length > 0 ? "" : "<none>"),
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
