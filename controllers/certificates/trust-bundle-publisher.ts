// Publishes the CA that signs the API server's certificate as a ClusterTrustBundle of the signer
// kubernetes.io/kube-apiserver-serving (gate ClusterTrustBundle), which pods can mount where nothing else of the cluster is
// theirs. The bundle's name has its hash; all other bundles of that signer are deleted. Where the API is not served, which
// is asked at the start, nothing is done.
import { createHash } from "node:crypto";
import type { Timer } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import type { ClusterTrustBundle } from "../../api/types/certificates-v1alpha1.ts";
import { clusterTrustBundles } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import { Reconciler } from "../reconciler.ts";

const controllerName =
  "kube-apiserver-serving-clustertrustbundle-publisher-controller";
const signerName = "kubernetes.io/kube-apiserver-serving";
const askAgainMs = 10_000;

export class TrustBundlePublisher implements Controller {
  readonly #context: ControllerContext;
  readonly #discovery: Pick<Discovery, "resources">;
  readonly #rootCa: string;
  #reconciler: Reconciler | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  /** @param rootCa PEM certificates */
  constructor(
    context: ControllerContext,
    discovery: Pick<Discovery, "resources">,
    rootCa: string,
  ) {
    this.#context = context;
    this.#discovery = discovery;
    this.#rootCa = rootCa;
  }

  start(): void {
    const { clock, logger } = this.#context;
    this.#isServed().then(
      (isServed) => {
        if (isServed && !this.#stopped) this.#run();
      },
      (error: unknown) => {
        logger.warn(
          { err: error },
          "can't see whether there are ClusterTrustBundles",
        );
        if (!this.#stopped)
          this.#timer = clock.after(askAgainMs, () => this.start());
      },
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#reconciler?.stop();
  }

  async #isServed(): Promise<boolean> {
    const { resources } = await this.#discovery.resources();
    const { group, resource } = clusterTrustBundles;
    return resources.some(
      (each) => each.group === group && each.resource === resource,
    );
  }

  #run(): void {
    const { client } = this.#context;
    const bundles = client.informer(clusterTrustBundles, {
      fieldSelector: `spec.signerName=${signerName}`,
    });
    this.#reconciler = new Reconciler({
      name: controllerName,
      context: this.#context,
      reconcile: () => this.#reconcile(bundles.lister.list()),
    }).watchAll(bundles, () => this.#reconciler?.queue.add(signerName));
    this.#reconciler.queue.add(signerName);
    this.#reconciler.start();
  }

  async #reconcile(bundles: readonly ClusterTrustBundle[]): Promise<void> {
    const api = this.#context.client.resource(clusterTrustBundles);
    const name = bundleName(this.#rootCa);
    const spec = { signerName, trustBundle: this.#rootCa };
    const known = bundles.find(({ metadata }) => metadata.name === name);
    if (!known) await api.create({ metadata: { name }, spec });
    else if (known.spec.trustBundle !== this.#rootCa)
      await api.update({ ...known, spec });
    for (const { metadata } of bundles)
      if (metadata.name !== name)
        await api.delete(metadata.name).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
  }
}

function bundleName(rootCa: string): string {
  const hash = createHash("sha256").update(rootCa).digest("hex").slice(0, 24);
  return `${signerName.replaceAll("/", ":")}:${hash}`;
}
