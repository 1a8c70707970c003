// What a container runtime reports of its abilities beside its health. A runtime that reports nothing has none of them.

export interface RuntimeHandler {
  /** As RuntimeClasses name it; "": the default one. */
  name: string;
  recursiveReadOnlyMounts: boolean;
  userNamespaces: boolean;
}

/** What a runtime says of its own configuration, whatever form its file has; what it does not say is absent. */
export interface RuntimeConfiguration {
  /** Who makes the cgroups of containers with the default handler. */
  cgroupDriver?: "cgroupfs" | "systemd";
  cdi?: boolean;
  /** Where it looks for a network configuration. */
  networkDirectory?: string;
  networkPluginDirectories?: string[];
}

export interface RuntimeFeatures {
  handlers?: RuntimeHandler[];
  /** It keeps to a pod's policy for supplemental groups: Strict leaves out those of the image's user. */
  supplementalGroupsPolicy?: boolean;
}
