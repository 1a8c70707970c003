// The processors that programs are put together for here, by the names that images have for them.

export type Architecture = "amd64" | "arm64";

/** @throws Error that names any other processor. @param nodeArch as `process.arch` */
export function hostArchitecture(
  nodeArch: string = process.arch,
): Architecture {
  if (nodeArch === "x64") return "amd64";
  if (nodeArch === "arm64") return "arm64";
  throw new Error(
    `Orbit has no programs of its own for the processor architecture ${nodeArch}`,
  );
}
