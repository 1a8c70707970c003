// The media types that operations take and give.
import type { ResourceInfo } from "../catalogue.ts";

export const PRODUCES = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
];
export const STREAMS = [
  ...PRODUCES,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/cbor-seq",
];
const PATCHES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/apply-patch+cbor",
];
export const ANY = ["*/*"];

/** Custom resources have no strategic patches. */
export const patchesOf = ({ custom }: ResourceInfo): readonly string[] =>
  custom ? PATCHES.filter((type) => !type.includes("strategic")) : PATCHES;
