// The library: a real API server inside a test or a program.
export { orbitVersion, kubernetesVersion } from "./cli/version.ts";
