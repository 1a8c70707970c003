// ServiceAccount: gives pods their account, its image pull secrets, and the volume with token, authority and namespace.
import { randomUUID } from "node:crypto";
import type { Clock } from "../../../api/clock.ts";
import { errors } from "../../../api/errors.ts";
import type {
  Container,
  Pod,
  ServiceAccount,
  Volume,
} from "../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { createdPod, isMirrorPod, nameOf } from "./requests.ts";
import { typed } from "../../resources/typed.ts";

const DEFAULT_ACCOUNT = "default";
const VOLUME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and a little: the TokenRequest of exactly this is extended for clients that read their token once. */
const TOKEN_SECONDS = 3607;
/** The default account is made by a controller right after its namespace: wait for it this often. */
const ATTEMPTS = 20;
const ATTEMPT_MS = 100;
/** As names are generated: no vowels, no look-alikes. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",
  writesWhole: true,

  async admit(attributes, context) {
    const pod = createdPod(attributes);
    if (!pod || isMirrorPod(pod)) return;
    const { spec } = pod;
    spec.serviceAccountName ||= DEFAULT_ACCOUNT;
    // The deprecated field says the same.
    spec.serviceAccount = spec.serviceAccountName;
    const account = await findAccount(
      attributes.namespace,
      spec.serviceAccountName,
      context,
    );
    if (!account) {
      throw errors.forbidden(
        attributes.resource,
        nameOf(attributes),
        `error looking up service account ${attributes.namespace}/${spec.serviceAccountName}: serviceaccount "${spec.serviceAccountName}" not found`,
      );
    }
    if (
      spec.automountServiceAccountToken ??
      account.automountServiceAccountToken ??
      true
    )
      mountToken(pod);
    if (
      (spec.imagePullSecrets ?? []).length === 0 &&
      account.imagePullSecrets
    ) {
      spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({
        ...secret,
      }));
    }
  },

  validate(attributes) {
    const pod = createdPod(attributes);
    if (!pod || !isMirrorPod(pod)) return;
    const refuse = (why: string): never => {
      throw errors.forbidden(attributes.resource, nameOf(attributes), why);
    };
    if (pod.spec.serviceAccountName)
      refuse("a mirror pod may not reference service accounts");
    const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
    if (
      names.some(({ env }) =>
        (env ?? []).some(({ valueFrom }) => valueFrom?.secretKeyRef),
      )
    ) {
      refuse("a mirror pod may not reference secrets");
    }
    for (const { secret, projected } of pod.spec.volumes ?? []) {
      if (secret) refuse("a mirror pod may not reference secrets");
      if (
        (projected?.sources ?? []).some((source) => source.serviceAccountToken)
      ) {
        refuse(
          "a mirror pod may not use ServiceAccountToken volume projections",
        );
      }
    }
  },
};

async function findAccount(
  namespace: string,
  name: string,
  context: StrategyContext,
): Promise<ServiceAccount | undefined> {
  for (let attempt = 1; ; attempt++) {
    const account = context.read("", "serviceaccounts", namespace, name);
    if (account) return typed<ServiceAccount>(account);
    if (name !== DEFAULT_ACCOUNT || attempt >= ATTEMPTS) return undefined;
    await delay(ATTEMPT_MS, context.clock);
  }
}

function delay(ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

function mountToken({ spec }: Pod): void {
  const known = (spec.volumes ?? []).find(({ name }) =>
    name.startsWith(VOLUME_PREFIX),
  );
  const name = known?.name ?? `${VOLUME_PREFIX}${suffix()}`;
  let mounted = false;
  for (const container of [
    ...(spec.initContainers ?? []),
    ...spec.containers,
  ]) {
    mounted = mountInto(container, name) || mounted;
  }
  if (mounted && !known)
    spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function mountInto(container: Container, name: string): boolean {
  const mounts = container.volumeMounts ?? [];
  if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) return false;
  container.volumeMounts = [
    ...mounts,
    { name, readOnly: true, mountPath: MOUNT_PATH },
  ];
  return true;
}

function tokenVolume(name: string): Volume {
  return typed<Volume>({
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        {
          serviceAccountToken: {
            expirationSeconds: TOKEN_SECONDS,
            path: "token",
          },
        },
        {
          configMap: {
            name: "kube-root-ca.crt",
            items: [{ key: "ca.crt", path: "ca.crt" }],
          },
        },
        {
          downwardAPI: {
            items: [
              {
                path: "namespace",
                fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" },
              },
            ],
          },
        },
      ],
    },
  });
}

function suffix(): string {
  // UUIDs come from a pool of random bytes; asking the system for five of them costs more than the rest of this plugin.
  let left = Number.parseInt(randomUUID().slice(0, 8), 16);
  let text = "";
  for (let at = 0; at < 5; at++) {
    text += ALPHABET[left % ALPHABET.length];
    left = Math.floor(left / ALPHABET.length);
  }
  return text;
}
