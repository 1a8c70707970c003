// Options that a cluster of the library takes, and those that it refuses rather than ignores.
import { startCluster } from "../../../index.ts";

const refused: readonly (readonly [option: string, reason: RegExp])[] = [
  ["--store=etcd", /state is in memory/],
  ["--store-servers=http://127.0.0.1:2379", /state is in memory/],
  ["--data-dir=/nonexistent", /state is in memory/],
  ["--encryption-provider-config=/nonexistent", /state is in memory/],
  ["--pod-manifest-path=/nonexistent", /reads no directory/],
  ["--write-kubeconfig=/nonexistent", /cluster\.kubeconfig/],
  ["--disable=scheduler", /scheduler: false/],
  ["--secure-port=6443", /option port/],
  ["--bind-address=0.0.0.0", /127\.0\.0\.1 alone/],
  ["--tls-san=example.com", /certificate/],
  ["--node-ip=192.0.2.1", /no node agent/],
  ["--agent-arg=max-pods=5", /no node agent/],
  ["--ingress-http-port=8080", /no node agent/],
  ["--cluster-cidr=10.1.0.0/16", /no network/],
];

test.each(refused)("%s is refused by name", async (option, reason) => {
  const started = startCluster({ args: [option] });
  const error = await started.then(
    async (cluster) => {
      await cluster.stop();
      return new Error("it was accepted");
    },
    (problem: unknown) => problem as Error,
  );
  expect(error.message).toMatch(reason);
});

test("options of the API server, the controllers and the scheduler have their effect", async () => {
  const cluster = await startCluster({
    args: [
      "--service-cluster-ip-range=10.55.0.0/24",
      "--controller-manager-arg=concurrent-gc-syncs=2",
      "--scheduler-arg=kube-api-qps=20",
    ],
  });
  try {
    const { body } = await cluster.client.raw(
      "GET",
      "/api/v1/namespaces/default/services/kubernetes",
    );
    expect(body).toMatchObject({ spec: { clusterIP: "10.55.0.1" } });
  } finally {
    await cluster.stop();
  }
});
