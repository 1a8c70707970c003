// Bindings: none is stored; a create binds the pod that it names, as a create of the pod's subresource does.
import type { ResourceStrategy } from "../../strategy.ts";

export const bindingStrategy: ResourceStrategy = {
  createsThrough: {
    resource: { group: "", version: "v1", resource: "pods" },
    subresource: "binding",
  },
};
