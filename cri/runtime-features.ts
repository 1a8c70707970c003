// What a container runtime reports of its abilities beside its health. A runtime that reports nothing has none of them.

export interface RuntimeHandler {
  /** As RuntimeClasses name it; "": the default one. */
  name: string;
  recursiveReadOnlyMounts: boolean;
  userNamespaces: boolean;
}

export interface RuntimeFeatures {
  handlers?: RuntimeHandler[];
  /** It keeps to a pod's policy for supplemental groups: Strict leaves out those of the image's user. */
  supplementalGroupsPolicy?: boolean;
}
