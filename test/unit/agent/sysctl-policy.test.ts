// Which sysctls a pod may set.
import { sysctlRefusal } from "../../../agent/node/sysctl-policy.ts";
import { testPod } from "../../support/control-plane.ts";

test.each([
  ["kernel.shm_rmid_forced", {}, undefined],
  ["kernel/shm_rmid_forced", {}, undefined],
  ["kernel.msgmax", {}, "not allowlisted"],
  ["kernel.sem", {}, undefined],
  ["net.core.somaxconn", {}, undefined],
  [
    "net.core.somaxconn",
    { hostNetwork: true },
    "not allowed with host net enabled",
  ],
  [
    "kernel.shm_rmid_forced",
    { hostIPC: true },
    "not allowed with host ipc enabled",
  ],
])("%s with %j: %s", (name, spec, why) => {
  const pod = testPod("p", {
    ...spec,
    securityContext: { sysctls: [{ name, value: "1" }] },
  });
  expect(sysctlRefusal(pod, ["kernel.sem", "net.core.*"])).toEqual(
    why && {
      reason: "SysctlForbidden",
      message: `forbidden sysctl: "${name}" ${why}`,
    },
  );
});
