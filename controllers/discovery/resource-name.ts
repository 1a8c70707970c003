/** `deployments.apps`, and for core resources `pods.` as the reference writes them in namespace conditions. */
export function qualifiedName(resource: {
  group: string;
  resource: string;
}): string {
  return `${resource.resource}.${resource.group}`;
}
