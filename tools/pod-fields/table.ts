// What becomes of each field of a pod, for docs/POD-FIELDS.md. The types make the table whole: a field that the API has and
// the table lacks is a type error. The generator looks for each field in the room that is said to act on it.
import type {
  Container,
  ContainerPort,
  EnvVarSource,
  EphemeralContainer,
  LifecycleHandler,
  PodDNSConfig,
  PodSecurityContext,
  PodSpec,
  Probe,
  SecurityContext,
  Volume,
  VolumeMount,
} from "../../api/types/core-v1.ts";

/** Who acts on a field. */
type Room = "agent" | "scheduler" | "controllers" | "apiserver-lite";

interface Field {
  /** works, partly, refused, dropped */
  readonly state: string;
  readonly by: Room;
  readonly note?: string;
}

/** Every field of T, of those that the API server keeps. */
type Fields<T> = { readonly [K in keyof Required<T>]: Field };

const works = (note?: string, by: Room = "agent"): Field => ({
  state: "works",
  by,
  ...(note ? { note } : {}),
});
const scheduled = (note?: string): Field => works(note, "scheduler");
const ofApi = (note?: string): Field => works(note, "apiserver-lite");
const partly = (note: string): Field => ({
  state: "partly",
  by: "agent",
  note,
});
const refused = (note: string, by: Room = "apiserver-lite"): Field => ({
  state: "refused",
  by,
  note,
});
const dropped = (note: string): Field => ({
  state: "dropped",
  by: "apiserver-lite",
  note,
});

const podSpec: Fields<PodSpec> = {
  activeDeadlineSeconds: works(),
  affinity: scheduled("the agent checks node affinity once more"),
  automountServiceAccountToken: ofApi(),
  containers: works(),
  dnsConfig: works(
    "three servers, 32 domains, 2048 characters: what is more is cut with an event",
  ),
  dnsPolicy: works("without an address of the cluster's DNS: an event"),
  enableServiceLinks: works(),
  ephemeralContainers: works(),
  hostAliases: works(),
  hostIPC: works(),
  hostNetwork: works(),
  hostPID: works(),
  hostUsers: works(
    "behind UserNamespacesSupport, else dropped; where the runtime does not report that the handler of the RuntimeClass is able, the pod waits (FailedCreatePodSandBox); static pods may not have the field without the gate",
  ),
  hostname: works("cut to 63 characters"),
  imagePullSecrets: works(),
  initContainers: works("sidecars too"),
  nodeName: works(),
  nodeSelector: scheduled("the agent checks it once more"),
  os: works("of another system: refused by the agent (PodOSNotSupported)"),
  overhead: works("counted by scheduler, quota and cgroups"),
  preemptionPolicy: scheduled(),
  priority: scheduled(
    "the agent ends less important pods for critical ones, and by it when it evicts",
  ),
  priorityClassName: ofApi(),
  readinessGates: works(),
  resourceClaims: works("behind DynamicResourceAllocation, else dropped"),
  resources: works("behind PodLevelResources, else dropped: cpu and memory"),
  restartPolicy: works(),
  runtimeClassName: works(),
  schedulerName: scheduled(),
  schedulingGates: scheduled(),
  securityContext: works(),
  serviceAccount: ofApi("the older name of serviceAccountName"),
  serviceAccountName: works(),
  setHostnameAsFQDN: works(
    "more than 64 characters: the pod waits with FailedCreatePodSandBox",
  ),
  shareProcessNamespace: works(),
  subdomain: works(),
  terminationGracePeriodSeconds: works("two seconds at least"),
  tolerations: scheduled("the agent checks those of NoExecute once more"),
  topologySpreadConstraints: scheduled(),
  volumes: works("by type, see below"),
};

const container: Fields<Container> = {
  args: works(),
  command: works(),
  env: works(),
  envFrom: works("every key, as names that begin with a digit are allowed"),
  image: works(),
  imagePullPolicy: works(),
  lifecycle: works(),
  livenessProbe: works(),
  name: works(),
  ports: works(),
  readinessProbe: works(),
  resizePolicy: works("behind InPlacePodVerticalScaling, else dropped"),
  resources: works(
    "cpu, memory, huge pages, ephemeral storage; changed in place behind InPlacePodVerticalScaling",
  ),
  restartPolicy: works("of init containers, Always: sidecars"),
  securityContext: works(),
  startupProbe: works(),
  stdin: works(),
  stdinOnce: works(),
  terminationMessagePath: works(
    "4 KiB of the file; 12 KiB of all containers together",
  ),
  terminationMessagePolicy: works("of the log 80 lines, 2 KiB"),
  tty: works(),
  volumeDevices: works("by type of the volume"),
  volumeMounts: works(),
  workingDir: works(),
};

const ephemeral: Pick<Fields<EphemeralContainer>, "targetContainerName"> = {
  targetContainerName: works(
    "joins its processes; of no container: waits with CreateContainerConfigError",
  ),
};

const podSecurity: Fields<PodSecurityContext> = {
  appArmorProfile: works("refused (AppArmor) where the kernel has none"),
  fsGroup: works(),
  fsGroupChangePolicy: works(),
  runAsGroup: works(),
  runAsNonRoot: works(),
  runAsUser: works(),
  seLinuxChangePolicy: dropped("gate SELinuxChangePolicy is not built"),
  seLinuxOptions: partly("handed to the runtime; volumes are not relabelled"),
  seccompProfile: works(
    "profiles of the node lie in `seccomp/` below the agent's root directory",
  ),
  supplementalGroups: works(),
  supplementalGroupsPolicy: works(
    "behind SupplementalGroupsPolicy, else dropped; Strict is refused (SupplementalGroupsPolicyNotSupported) where the runtime does not report it",
  ),
  sysctls: works("unsafe ones refused (SysctlForbidden) unless allowed"),
  windowsOptions: refused("of a Linux pod", "apiserver-lite"),
};

const security: Fields<SecurityContext> = {
  allowPrivilegeEscalation: works(),
  appArmorProfile: works("and the older annotation"),
  capabilities: works(),
  privileged: works(),
  procMount: partly(
    "behind ProcMountType, else Default; Unmasked wants `hostUsers: false`",
  ),
  readOnlyRootFilesystem: works(),
  runAsGroup: works(),
  runAsNonRoot: works("against the image's user too"),
  runAsUser: works(),
  seLinuxOptions: partly("handed to the runtime; volumes are not relabelled"),
  seccompProfile: works("without one: `--seccomp-default`"),
  windowsOptions: refused("of a Linux pod", "apiserver-lite"),
};

const handler: Fields<LifecycleHandler> = {
  exec: works(),
  httpGet: works("any answer is good; HTTPS may be answered by HTTP"),
  sleep: works(),
  tcpSocket: {
    state: "refused",
    by: "agent",
    note: "as at the reference: the handler fails with `invalid handler`",
  },
};

const probe: Fields<Probe> = {
  exec: works(),
  failureThreshold: works(),
  grpc: works(),
  httpGet: works("no redirects to other hosts"),
  initialDelaySeconds: works(),
  periodSeconds: works(),
  successThreshold: works(),
  tcpSocket: works(),
  terminationGracePeriodSeconds: works("of liveness and startup probes"),
  timeoutSeconds: works(),
};

const dns: Fields<PodDNSConfig> = {
  nameservers: works(),
  options: works("replace those of the policy by name"),
  searches: works(),
};

const port: Fields<ContainerPort> = {
  containerPort: works(),
  hostIP: works(),
  hostPort: works("refused (NodePorts) where it is taken"),
  name: works(),
  protocol: works(),
};

const environment: Fields<EnvVarSource> = {
  configMapKeyRef: works(),
  fieldRef: works(),
  resourceFieldRef: works(),
  secretKeyRef: works(),
};

const mount: Fields<VolumeMount> = {
  mountPath: works(),
  mountPropagation: works(),
  name: works(),
  readOnly: works(),
  recursiveReadOnly: works(
    "where the runtime reports it; else Enabled is refused (CreateContainerConfigError)",
  ),
  subPath: works(),
  subPathExpr: works(),
};

const unserved = refused("by name (FailedMount)", "agent");

const volumes: Fields<Omit<Volume, "name">> = {
  awsElasticBlockStore: unserved,
  azureDisk: unserved,
  azureFile: unserved,
  cephfs: unserved,
  cinder: unserved,
  configMap: works(),
  csi: works(),
  downwardAPI: works(),
  emptyDir: works(),
  ephemeral: works(),
  fc: unserved,
  flexVolume: unserved,
  flocker: unserved,
  gcePersistentDisk: unserved,
  gitRepo: unserved,
  glusterfs: unserved,
  hostPath: works(),
  image: works(
    "behind ImageVolume, else dropped; containerd before 2.1 and Docker refuse the container by name (CreateContainerError)",
  ),
  iscsi: works("with the programs of open-iscsi on the node"),
  nfs: works(),
  persistentVolumeClaim: works(),
  photonPersistentDisk: unserved,
  portworxVolume: unserved,
  projected: works(
    "bundles of certificates behind ClusterTrustBundleProjection, else dropped",
  ),
  quobyte: unserved,
  rbd: unserved,
  scaleIO: unserved,
  secret: works(),
  storageos: unserved,
  vsphereVolume: unserved,
};

interface Section {
  readonly title: string;
  readonly fields: Readonly<Record<string, Field>>;
}

export const sections: readonly Section[] = [
  { title: "PodSpec", fields: podSpec },
  {
    title: "Container (containers, initContainers, ephemeralContainers)",
    fields: container,
  },
  {
    title: "Only of ephemeral containers",
    fields: ephemeral,
  },
  { title: "securityContext of the pod", fields: podSecurity },
  { title: "securityContext of a container", fields: security },
  { title: "lifecycle: postStart, preStop", fields: handler },
  { title: "livenessProbe, readinessProbe, startupProbe", fields: probe },
  { title: "dnsConfig", fields: dns },
  { title: "ports", fields: port },
  { title: "env: valueFrom", fields: environment },
  { title: "volumeMounts", fields: mount },
  { title: "volumes", fields: volumes },
];
