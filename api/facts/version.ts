// /version: the Kubernetes version whose API this is, with our own name in it.
export const versionInfo = {
  major: "1",
  minor: "32",
  gitVersion: "v1.32.0+orbit",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "node",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
} as const;
