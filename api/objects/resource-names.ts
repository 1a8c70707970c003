// What the name of a resource says of it: Kubernetes' own, or a vendor's. Pure.
import { qualifiedNameProblems } from "../names.ts";

export const isNativeResource = (name: string): boolean =>
  !name.includes("/") || name.includes("kubernetes.io/");

/** A vendor's own: counted in whole pieces. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) &&
  !name.startsWith("requests.") &&
  qualifiedNameProblems(`requests.${name}`).length === 0;
