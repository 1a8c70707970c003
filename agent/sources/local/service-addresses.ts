// The addresses and node ports of the Services of a manifests directory, which no API server gives out. They follow from the
// Service's name, so that they are the same after a restart without being kept; where two would meet, the later one by
// name takes the next that is free. Given ones come first.
import { createHash } from "node:crypto";
import {
  addressNumber,
  addressText,
  familyOf,
  parseRange,
  type AddressRange,
} from "../../../api/addresses/address-range.ts";
import type {
  Service,
  ServicePort,
  ServiceSpec,
} from "../../../api/types/core-v1.ts";
import type { FieldProblem } from "../field-problem.ts";

const nodePorts = { first: 30_000n, last: 32_767n };
/** The addresses at a range's beginning are for those that are given: the DNS server's is the tenth. */
const keptFree = 16n;

/** The address of the DNS server's Service, as that of the cluster: the tenth of the first range. */
export function dnsServiceAddress(
  ranges: readonly string[],
): string | undefined {
  const range = parseRange(ranges[0] ?? "");
  return range && range.last - range.first > 9n
    ? addressText(range.first + 9n, range.family)
    : undefined;
}

type Assigned = { service: Service } | { problem: FieldProblem };

/** For each Service, in the order given, itself with all addresses and ports, or what it can't have. */
export function assignAddresses(
  services: readonly Service[],
  ranges: readonly string[],
): Assigned[] {
  const parsed = ranges.flatMap((text) => parseRange(text) ?? []);
  const taken = new Set([addressKey(dnsServiceAddress(ranges) ?? "")]);
  const result = new Map<Service, Assigned>();
  const order = [...services].sort(
    (a, b) =>
      Number(isGiven(b.spec)) - Number(isGiven(a.spec)) ||
      (nameOf(a) < nameOf(b) ? -1 : 1),
  );
  for (const service of order)
    result.set(service, assign(service, parsed, taken));
  return services.map((service) => result.get(service)!);
}

const nameOf = ({ metadata }: Service): string =>
  `${metadata.namespace}/${metadata.name}`;

const isGiven = ({ clusterIP, ports = [] }: ServiceSpec = {}): boolean =>
  Boolean(clusterIP) || ports.some(({ nodePort }) => nodePort);

function assign(
  service: Service,
  ranges: readonly AddressRange[],
  taken: Set<string>,
): Assigned {
  const { spec = {} } = service;
  const name = nameOf(service);
  try {
    const addressed =
      spec.type === "ExternalName" || spec.clusterIP === "None"
        ? spec
        : withAddresses(name, spec, ranges, taken);
    const complete =
      spec.type === "NodePort"
        ? withNodePorts(name, addressed, taken)
        : addressed;
    for (const address of addressed.clusterIPs ?? [])
      taken.add(addressKey(address));
    for (const port of complete.ports ?? [])
      if (port.nodePort) taken.add(portKey(port, port.nodePort));
    return { service: { ...service, spec: complete } };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error };
    throw error;
  }
}

class Refusal extends Error {
  constructor(
    readonly field: string,
    readonly detail: string,
  ) {
    super(detail);
  }
}

const addressKey = (address: string): string => `address ${address}`;
const portKey = ({ protocol = "TCP" }: ServicePort, number: number): string =>
  `${protocol} ${number}`;

function withAddresses(
  name: string,
  spec: ServiceSpec,
  ranges: readonly AddressRange[],
  taken: ReadonlySet<string>,
): ServiceSpec {
  const given = spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : []);
  const dual = /DualStack$/.test(spec.ipFamilyPolicy ?? "");
  const families =
    spec.ipFamilies ??
    (given.length > 0
      ? given.map((address) => familyOf(address) ?? "")
      : ranges.slice(0, dual ? 2 : 1).map(({ family }) => family));
  if (families.length === 0)
    throw new Refusal(
      "spec.clusterIP",
      "Required value: the node has no range of service addresses",
    );
  const clusterIPs = families.map((family, n) => {
    const range = ranges.find((each) => each.family === family);
    if (!range)
      throw new Refusal(
        `spec.ipFamilies[${n}]`,
        `Invalid value: "${family}": --service-cluster-ip-range has no range of it`,
      );
    const text = (number: bigint): string => addressText(number, range.family);
    const address =
      given[n] ??
      freeIn(name, range.first + spare(range), range.last, (number) =>
        taken.has(addressKey(text(number))) ? undefined : text(number),
      );
    if (address === undefined)
      throw new Refusal("spec.clusterIP", "Internal error: the range is full");
    const number = addressNumber(address);
    const refuse = (why: string): Refusal =>
      new Refusal("spec.clusterIP", `Invalid value: "${address}": ${why}`);
    if (number < range.first || number > range.last)
      throw refuse(
        `the provided IP is not in the valid range ${text(range.first)} to ${text(range.last)}`,
      );
    if (taken.has(addressKey(address)))
      throw refuse("provided IP is already allocated");
    return address;
  });
  return {
    ...spec,
    clusterIP: clusterIPs[0] ?? "",
    clusterIPs,
    ipFamilies: families,
  };
}

function withNodePorts(
  name: string,
  spec: ServiceSpec,
  taken: ReadonlySet<string>,
): ServiceSpec {
  const mine = new Set<string>();
  const isTaken = (key: string): boolean => taken.has(key) || mine.has(key);
  const ports = (spec.ports ?? []).map((port, n) => {
    const { first, last } = nodePorts;
    const nodePort =
      port.nodePort ||
      freeIn(`${name}/${n}`, first, last, (number) =>
        isTaken(portKey(port, Number(number))) ? undefined : Number(number),
      ) ||
      0;
    if (nodePort < first || nodePort > last || isTaken(portKey(port, nodePort)))
      throw new Refusal(
        `spec.ports[${n}].nodePort`,
        `Invalid value: ${nodePort}: provided port is already allocated or not in the range ${first}-${last}`,
      );
    mine.add(portKey(port, nodePort));
    return { ...port, nodePort };
  });
  return { ...spec, ports };
}

const spare = ({ first, last }: AddressRange): bigint =>
  last - first >= keptFree * 2n ? keptFree : 0n;

/** The first that `look` returns something for, from where the name's hash points to. */
function freeIn<T>(
  name: string,
  first: bigint,
  last: bigint,
  look: (number: bigint) => T | undefined,
): T | undefined {
  const size = last - first + 1n;
  const hash = createHash("sha256").update(name).digest().readBigUInt64BE(0);
  const most = size > 65_536n ? 65_536n : size;
  for (let step = 0n; step < most; step++) {
    const found = look(first + ((hash + step) % size));
    if (found !== undefined) return found;
  }
  return undefined;
}
