// Options of `orbit apiserver`; `orbit server` takes them too. Defaults are the specification's.
import { accessOptions, authenticationOptions } from "./apiserver/access.ts";
import { auditOptions } from "./apiserver/audit.ts";
import { apiServingOptions } from "./apiserver/serving.ts";
import { storeOptions } from "./apiserver/store.ts";
import { usedApiServerOptions } from "./apiserver/used.ts";
import { classify } from "./build-table.ts";
import {
  gateOptions,
  loggingOptions,
  metricsOptions,
  profilingOptions,
  requestHeaderOptions,
  sharingOptions,
  snapshotOptions,
  tlsOptions,
} from "./shared.ts";
import type { OptionTable } from "./table.ts";
import { unbuiltApiServerOptions } from "./unbuilt.ts";

const table: OptionTable = [
  ...apiServingOptions,
  ...authenticationOptions,
  requestHeaderOptions("", "", ""),
  ...accessOptions,
  ...storeOptions,
  snapshotOptions(""),
  tlsOptions("/var/run/orbit"),
  auditOptions,
  sharingOptions,
  profilingOptions,
  loggingOptions,
  metricsOptions,
  gateOptions,
];

export const apiServerOptions: OptionTable = classify(
  table,
  usedApiServerOptions,
  unbuiltApiServerOptions,
);
