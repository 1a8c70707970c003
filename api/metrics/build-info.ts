// kubernetes_build_info, the same on every port of every part.
import { versionInfo } from "../facts/version.ts";
import { Family } from "./family.ts";

export function buildInfo(): Family {
  const { gitCommit, gitTreeState, gitVersion, goVersion, ...version } =
    versionInfo;
  return new Family(
    "kubernetes_build_info",
    "gauge",
    "What was built, as /version says.",
  ).add(
    {
      build_date: version.buildDate,
      compiler: version.compiler,
      git_commit: gitCommit,
      git_tree_state: gitTreeState,
      git_version: gitVersion,
      go_version: goVersion,
      major: version.major,
      minor: version.minor,
      platform: version.platform,
    },
    1,
  );
}
