// Which sysctls a pod may set.
import {
  sysctlPatternProblem,
  sysctlRefusal,
} from "../../../agent/node/sysctl-policy.ts";
import { sysctlName } from "../../../agent/pods/shape/sysctl-name.ts";
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
    "not allowed with host Net enabled",
  ],
  [
    "kernel.shm_rmid_forced",
    { hostIPC: true },
    "not allowed with host IPC enabled",
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

test.each([
  ["net.ipv4.conf.eno2/100.rp_filter", "net.ipv4.conf.eno2/100.rp_filter"],
  ["net/ipv4/conf/eno2.100/rp_filter", "net.ipv4.conf.eno2/100.rp_filter"],
  ["net/core/somaxconn", "net.core.somaxconn"],
  ["kernel", "kernel"],
])("%s is %s, as the runtime is told", (written, name) => {
  expect(sysctlName(written)).toBe(name);
  const pod = testPod("p", {
    securityContext: { sysctls: [{ name: written, value: "1" }] },
  });
  expect(sysctlRefusal(pod, [])?.message).toBe(
    `forbidden sysctl: ${JSON.stringify(name)} not allowlisted`,
  );
  for (const allowed of [written, name])
    expect(sysctlRefusal(pod, [allowed])).toBeUndefined();
});

test.each([
  ["net.core.*", undefined],
  ["net/core/*", undefined],
  ["net.core.so-*", undefined],
  ["kernel.msg*", undefined],
  ["fs.mqueue.*", undefined],
  ["net*", 'the sysctls "net" are not known to be namespaced'],
  ["kernel.*", 'the sysctls "kernel." are not known to be namespaced'],
  ["net", 'the sysctls "net" are not known to be namespaced'],
  ["*", 'the sysctls "" are not known to be namespaced'],
  ["net.*.core", "must be the name of a sysctl"],
  ["net..*", "must be the name of a sysctl"],
])("%s as a pattern of the node's owner: %s", (pattern, problem) => {
  if (problem === undefined)
    expect(sysctlPatternProblem(pattern)).toBeUndefined();
  else expect(sysctlPatternProblem(pattern)).toContain(problem);
});
