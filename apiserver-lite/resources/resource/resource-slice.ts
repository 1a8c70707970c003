// ResourceSlices: the devices a driver offers, on one node or where a selector says. v1alpha3 writes a capacity as the
// quantity itself, v1beta1 as an object that has it.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../api/names.ts";
import type { AnyObject } from "../../../api/object.ts";
import type {
  BasicDevice,
  Device,
  DeviceAttribute,
  ResourceSlice,
  ResourceSliceSpec,
} from "../../../api/types/resource-v1beta1.ts";
import { formatAge } from "../../printing/age.ts";
import { validateNodeSelector } from "../core/pod/scheduling-validation.ts";
import { immutable, joined } from "../field-checks.ts";
import { strategyOf, typed, untyped } from "../typed.ts";
import {
  deviceName,
  driverName,
  poolName,
  qualifiedName,
  setOf,
} from "./device-checks.ts";

type Problems = FieldError[];

const maxDevices = 128;
const maxAttributesAndCapacities = 32;
const maxValueBytes = 64;
const maxKeyBytes = 63 + 1 + 32;

export const resourceSliceStrategy = strategyOf<ResourceSlice>({
  returnsDeleted: true,
  conversions: {
    "resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3": (object) =>
      withCapacities(
        object,
        (capacity) => typed<{ value: string }>(capacity as object).value,
      ),
    "resource.k8s.io/v1alpha3 resource.k8s.io/v1beta1": (object) =>
      withCapacities(object, (value) => ({ value })),
  },
  selectableFields: ({ spec }) => ({
    "spec.nodeName": spec?.nodeName ?? "",
    "spec.driver": spec?.driver ?? "",
  }),
  refuseField: (field) =>
    `field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: ${field}`,
  validate: ({ spec }) => specProblems(spec),
  validateUpdate: ({ spec }, { spec: old }) =>
    joined(
      immutable("spec.pool.name", spec.pool?.name, old.pool?.name),
      immutable("spec.driver", spec.driver, old.driver),
      immutable("spec.nodeName", spec.nodeName ?? "", old.nodeName ?? ""),
    ),
  printRow: ({ metadata, spec }, now) => [
    metadata.name,
    spec?.nodeName ?? "",
    spec?.driver ?? "",
    spec?.pool?.name ?? "",
    formatAge(metadata.creationTimestamp, now),
  ],
});

function withCapacities(
  object: AnyObject,
  convert: (capacity: unknown) => unknown,
): AnyObject {
  const { spec } = typed<ResourceSlice>(object);
  if (!spec?.devices) return object;
  const devices = spec.devices.map((device) => {
    const { basic } = device;
    if (!basic?.capacity) return device;
    const capacity = Object.fromEntries(
      Object.entries(basic.capacity).map(([name, one]) => [name, convert(one)]),
    );
    return { ...device, basic: { ...basic, capacity } };
  });
  return untyped({ ...object, spec: { ...spec, devices } });
}

function specProblems(spec: ResourceSliceSpec): Problems {
  const { driver = "", pool, nodeName, nodeSelector, devices } = spec;
  return joined(
    driverName("spec.driver", driver),
    poolName("spec.pool.name", pool?.name ?? ""),
    (pool?.resourceSliceCount ?? 0) > 0
      ? []
      : [
          fieldErrors.invalid(
            "spec.pool.resourceSliceCount",
            pool?.resourceSliceCount ?? 0,
            "must be greater than zero",
          ),
        ],
    (pool?.generation ?? 0) >= 0
      ? []
      : [
          fieldErrors.invalid(
            "spec.pool.generation",
            pool.generation,
            "must be greater than or equal to zero",
          ),
        ],
    nodeName
      ? invalidEach("spec.nodeName", nodeName, dnsSubdomainProblems(nodeName))
      : [],
    nodeSelector ? selectorProblems(nodeSelector) : [],
    placeProblems(spec),
    setOf(
      "spec.devices",
      devices,
      maxDevices,
      (device, at) => deviceProblems(at, device),
      ({ name }) => name,
      "name",
    ),
  );
}

/** One term, so that the selectors of several slices can be merged. */
function selectorProblems(
  selector: NonNullable<ResourceSliceSpec["nodeSelector"]>,
): Problems {
  const field = "spec.nodeSelector";
  return [
    ...validateNodeSelector(field, selector),
    ...(selector.nodeSelectorTerms?.length === 1
      ? []
      : [
          fieldErrors.invalid(
            `${field}.nodeSelectorTerms`,
            selector.nodeSelectorTerms ?? [],
            "must have exactly one node selector term",
          ),
        ]),
  ];
}

function placeProblems(spec: ResourceSliceSpec): Problems {
  const { nodeName, nodeSelector, allNodes } = spec;
  const places = [nodeName, nodeSelector, allNodes].filter(Boolean).length;
  const detail =
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required";
  if (places === 1) return [];
  return places === 0
    ? [fieldErrors.required("spec", detail)]
    : [fieldErrors.invalid("spec", null, detail)];
}

function deviceProblems(field: string, { name, basic }: Device): Problems {
  return joined(
    deviceName(`${field}.name`, name),
    basic
      ? basicProblems(`${field}.basic`, basic)
      : [fieldErrors.required(`${field}.basic`)],
  );
}

function basicProblems(
  field: string,
  { attributes = {}, capacity = {} }: BasicDevice,
): Problems {
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  return joined(
    Object.entries(attributes).flatMap(([name, attribute]) => {
      const path = `${field}.attributes[${shortened(name)}]`;
      return [
        ...qualifiedName(path, name),
        ...attributeProblems(path, attribute),
      ];
    }),
    Object.keys(capacity).flatMap((name) =>
      qualifiedName(`${field}.capacity[${shortened(name)}]`, name),
    ),
    count > maxAttributesAndCapacities
      ? [
          fieldErrors.invalid(
            field,
            count,
            `the total number of attributes and capacities must not exceed ${maxAttributesAndCapacities}`,
          ),
        ]
      : [],
  );
}

/** A key that is too long is shown without its middle. */
function shortened(key: string): string {
  if (key.length <= maxKeyBytes) return key;
  const shown = maxKeyBytes - 3;
  return `${key.slice(0, Math.ceil(shown / 2))}...${key.slice(key.length - Math.floor(shown / 2))}`;
}

function attributeProblems(
  field: string,
  attribute: DeviceAttribute,
): Problems {
  const { version } = attribute;
  const short = (key: "string" | "version"): Problems =>
    Buffer.byteLength(attribute[key] ?? "") > maxValueBytes
      ? [fieldErrors.tooLong(`${field}.${key}`, maxValueBytes)]
      : [];
  const values = Object.values(attribute).filter(
    (value) => value !== undefined && value !== null,
  ).length;
  const detail = "exactly one value must be specified";
  return joined(
    short("string"),
    version === undefined || isSemanticVersion(version)
      ? []
      : [
          fieldErrors.invalid(
            `${field}.version`,
            version,
            "must be a string compatible with semver.org spec 2.0.0",
          ),
        ],
    short("version"),
    values === 1
      ? []
      : values === 0
        ? [fieldErrors.required(field, detail)]
        : [
            fieldErrors.invalid(
              field,
              asGo("resource.DeviceAttribute", attribute),
              detail,
            ),
          ],
  );
}

/** `1.2.3`, with `-pre.release.1` and `+build.id` where they are given. */
function isSemanticVersion(text: string): boolean {
  const [rest = "", ...builds] = text.split("+");
  if (builds.length > 1) return false;
  const dash = rest.indexOf("-");
  const core = dash < 0 ? rest : rest.slice(0, dash);
  const every = (list: string, pattern: RegExp): boolean =>
    list.split(".").every((part) => pattern.test(part));
  return (
    core.split(".").length === 3 &&
    every(core, /^(0|[1-9]\d*)$/) &&
    (dash < 0 ||
      every(
        rest.slice(dash + 1),
        /^(0|[1-9]\d*|(?=.*[a-zA-Z-])[0-9a-zA-Z-]+)$/,
      )) &&
    builds.every((build) => every(build, /^[0-9a-zA-Z-]+$/))
  );
}
