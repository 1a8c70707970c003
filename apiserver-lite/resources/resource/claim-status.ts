// What became of a claim: the devices that were allocated, who may use them, and what drivers report of each.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { cidrProblems } from "../../../api/names.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from "../../../api/types/resource-v1beta1.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import { validateNodeSelector } from "../core/pod/scheduling-validation.ts";
import { addressText, addressValue } from "../core/service/ip-address.ts";
import { conditions, immutable, joined, ofEach } from "../field-checks.ts";
import {
  atMost,
  deviceName,
  driverName,
  opaqueProblems,
  poolName,
  rawObject,
  setOf,
} from "./device-checks.ts";
import {
  maxConfigurations,
  requestNames,
  requestReference,
  requestReferences,
} from "./device-claim.ts";

type Problems = FieldError[];

const maxReservations = 256;
const maxResults = 32;
const maxConditions = 8;
const maxAddresses = 16;
const maxInterfaceBytes = 256;
const maxHardwareBytes = 128;

interface DeviceId {
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

export const deviceId = ({ driver, pool, device }: DeviceId): string =>
  `${driver}/${pool}/${device}`;

export function validateClaimStatus(
  claim: Readonly<ResourceClaim>,
  old: Readonly<ResourceClaim>,
): Problems {
  const status: ResourceClaimStatus = claim.status ?? {};
  const before: ResourceClaimStatus = old.status ?? {};
  const { allocation, devices, reservedFor } = status;
  const names = requestNames(claim.spec);
  const allocated = new Set((allocation?.devices?.results ?? []).map(deviceId));
  return joined(
    setOf(
      "status.reservedFor",
      reservedFor,
      maxReservations,
      (consumer, at) => consumerProblems(at, consumer),
      ({ uid }) => uid,
      "uid",
    ),
    setOf(
      "status.devices",
      devices,
      Infinity,
      (device, at) => deviceStatusProblems(at, device, allocated),
      deviceId,
      "deviceID",
      (id) => id,
    ),
    reservationProblems(claim, reservedFor ?? [], before.reservedFor ?? []),
    allocation && before.allocation
      ? immutable(
          "status.allocation",
          allocation,
          before.allocation,
          "resource.AllocationResult",
        )
      : allocation
        ? allocationProblems("status.allocation", allocation, names)
        : [],
  );
}

function reservationProblems(
  { metadata, status }: Readonly<ResourceClaim>,
  reserved: readonly ResourceClaimConsumerReference[],
  before: readonly ResourceClaimConsumerReference[],
): Problems {
  if (reserved.length === 0) return [];
  const field = "status.reservedFor";
  if (!status?.allocation)
    return [
      fieldErrors.forbidden(
        field,
        "may not be specified when `allocated` is not set",
      ),
    ];
  const added = (one: ResourceClaimConsumerReference): boolean =>
    !before.some((other) => sameValue(one, other));
  return metadata.deletionTimestamp && reserved.some(added)
    ? [
        fieldErrors.forbidden(
          field,
          "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
        ),
      ]
    : [];
}

function consumerProblems(
  field: string,
  { resource, name, uid }: ResourceClaimConsumerReference,
): Problems {
  return Object.entries({ resource, name, uid }).flatMap(([key, value]) =>
    value ? [] : [fieldErrors.required(`${field}.${key}`)],
  );
}

function allocationProblems(
  field: string,
  { devices, nodeSelector }: AllocationResult,
  names: ReadonlySet<string>,
): Problems {
  const results = `${field}.devices.results`;
  const config = `${field}.devices.config`;
  return joined(
    ofEach(devices?.results, ({ request, driver, pool, device }, index) => [
      ...requestReference(`${results}[${index}].request`, request, names),
      ...driverName(`${results}[${index}].driver`, driver),
      ...poolName(`${results}[${index}].pool`, pool),
      ...deviceName(`${results}[${index}].device`, device),
    ]),
    atMost(results, devices?.results, maxResults),
    ofEach(devices?.config, (one, index) =>
      configurationProblems(`${config}[${index}]`, one, names),
    ),
    // Those of the class and those of the claim.
    atMost(config, devices?.config, 2 * maxConfigurations),
    nodeSelector
      ? validateNodeSelector(`${field}.nodeSelector`, nodeSelector)
      : [],
  );
}

function configurationProblems(
  field: string,
  { source, requests, opaque }: DeviceAllocationConfiguration,
  names: ReadonlySet<string>,
): Problems {
  const sources = ["FromClaim", "FromClass"];
  return joined(
    source === ""
      ? [fieldErrors.required(`${field}.source`)]
      : sources.includes(source)
        ? []
        : [fieldErrors.notSupported(`${field}.source`, source, sources)],
    requestReferences(`${field}.requests`, requests, names),
    opaqueProblems(field, opaque, false),
  );
}

function deviceStatusProblems(
  field: string,
  status: AllocatedDeviceStatus,
  allocated: ReadonlySet<string>,
): Problems {
  const { driver, pool, device, data, networkData } = status;
  const id = deviceId(status);
  return joined(
    driverName(`${field}.driver`, driver),
    poolName(`${field}.pool`, pool),
    deviceName(`${field}.device`, device),
    allocated.has(id)
      ? []
      : [
          fieldErrors.invalidShown(
            field,
            id,
            "must be an allocated device in the claim",
          ),
        ],
    atMost(`${field}.conditions`, status.conditions, maxConditions),
    conditions(`${field}.conditions`, status.conditions),
    data === undefined ? [] : rawObject(`${field}.data`, data, false),
    networkData ? networkProblems(`${field}.networkData`, networkData) : [],
  );
}

function networkProblems(
  field: string,
  { interfaceName = "", hardwareAddress = "", ips }: NetworkDeviceData,
): Problems {
  const short = (name: string, text: string, most: number): Problems =>
    Buffer.byteLength(text) > most
      ? [fieldErrors.tooLong(`${field}.${name}`, most)]
      : [];
  return joined(
    short("interfaceName", interfaceName, maxInterfaceBytes),
    short("hardwareAddress", hardwareAddress, maxHardwareBytes),
    setOf(
      `${field}.ips`,
      ips,
      maxAddresses,
      (address, at) =>
        cidrProblems(address).map((problem) =>
          fieldErrors.invalid(at, address, problem),
        ),
      canonicalCidr,
      "",
    ),
  );
}

/** One text for all notations of an address with its range; "" where it is none. */
function canonicalCidr(cidr: string): string {
  const [address = "", length = ""] = cidr.split("/");
  const value = addressValue(address);
  if (value === undefined || cidrProblems(cidr).length > 0) return "";
  const family = address.includes(":") ? "IPv6" : "IPv4";
  return `${addressText(value, family)}/${Number(length)}`;
}
