// What a pod is called inside.
import { podNames } from "../../../agent/pods/shape/pod-names.ts";

test.each([
  [{}, "web-0", ""],
  [{ hostname: "", subdomain: "" }, "web-0", ""],
  [{ hostname: "db", subdomain: "pg" }, "db", "pg.ns.svc.cluster.local"],
])("of %j: %s, %s", (names, hostname, domain) => {
  const pod = {
    metadata: { name: "web-0", namespace: "ns" },
    spec: { containers: [], ...names },
  };
  expect(podNames(pod, "cluster.local")).toEqual({ hostname, domain });
});
