// Signs the ConfigMap cluster-info of kube-public with every bootstrap token that may: a joining node then knows that the
// cluster's address and authority come from where its token comes from. Follows the reference's bootstrapsigner.
import { signDetached } from "../../api/pki/detached-jws.ts";
import type { ConfigMap, Secret } from "../../api/types/core-v1.ts";
import { configMaps, secrets } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import { signingToken, tokenNamespace, tokenType } from "./token-secret.ts";

const namespace = "kube-public";
const name = "cluster-info";
const signaturePrefix = "jws-kubeconfig-";
const key = `${namespace}/${name}`;

/** The data with the signatures of these tokens and of no others. */
function signed(
  data: Readonly<Record<string, string>>,
  tokens: readonly { id: string; secret: string }[],
): Record<string, string> {
  const rest = Object.entries(data).filter(
    ([field]) => !field.startsWith(signaturePrefix),
  );
  const { kubeconfig } = data;
  const signatures =
    kubeconfig === undefined
      ? []
      : tokens.map(({ id, secret }) => [
          `${signaturePrefix}${id}`,
          signDetached(kubeconfig, id, secret),
        ]);
  return Object.fromEntries([...rest, ...signatures]) as Record<string, string>;
}

export function createBootstrapSigner(context: ControllerContext): Controller {
  const { client, clock } = context;
  const maps = client.informer(configMaps, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
  });
  const tokens = client.informer(secrets, {
    namespace: tokenNamespace,
    fieldSelector: `type=${tokenType}`,
  });
  const reconciler = new Reconciler({
    name: "bootstrap-signer-controller",
    context,
    reconcile,
  });

  async function reconcile(): Promise<void> {
    const map = maps.lister.get(name, namespace);
    if (!map) return;
    const nowMs = clock.now();
    const usable = tokens.lister
      .list()
      .flatMap((secret: Secret) => signingToken(secret, nowMs) ?? [])
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const before = map.data ?? {};
    const data = signed(before, usable);
    const same =
      Object.keys(before).length === Object.keys(data).length &&
      Object.entries(data).every(([field, text]) => before[field] === text);
    if (!same)
      await client.resource(configMaps).update({ ...map, data } as ConfigMap);
  }

  const look = (): void => reconciler.queue.add(key);
  return reconciler.watchAll(maps, look).watchAll(tokens, look);
}
