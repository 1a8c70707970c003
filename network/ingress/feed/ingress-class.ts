// The IngressClass of this controller, and which Ingresses are its own: those whose class names the controller.
import { isAlreadyExists, isNotFound } from "../../../api/errors.ts";
import type {
  Ingress,
  IngressClass,
} from "../../../api/types/networking-v1.ts";
import type { Client } from "../../../client/client.ts";
import type { Lister } from "../../../client/informer.ts";
import { ingressClasses } from "../../../client/resources.ts";

const ingressController = "orbit.io/ingress";
export const ingressClassName = "orbit";
const defaultAnnotation = "ingressclass.kubernetes.io/is-default-class";
/** Of before there were classes; clients still write it. */
const classAnnotation = "kubernetes.io/ingress.class";

function isDefaultClass({ metadata }: IngressClass): boolean {
  return metadata.annotations?.[defaultAnnotation] === "true";
}

/** Creates the class unless there is one of its name; it is the default unless another is. */
export async function ensureIngressClass(client: Client): Promise<void> {
  const classes = client.resource(ingressClasses);
  try {
    await classes.get(ingressClassName);
    return;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const { items } = await classes.list();
  await classes
    .create({
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: {
        name: ingressClassName,
        ...(items.some(isDefaultClass)
          ? {}
          : { annotations: { [defaultAnnotation]: "true" } }),
      },
      spec: { controller: ingressController },
    })
    .catch((error: unknown) => {
      // Another node of the cluster was first.
      if (!isAlreadyExists(error)) throw error;
    });
}

export function isOurs(
  { metadata, spec }: Ingress,
  classes: Lister<IngressClass>,
): boolean {
  const name = spec.ingressClassName ?? metadata.annotations?.[classAnnotation];
  return (
    name !== undefined &&
    classes.get(name)?.spec.controller === ingressController
  );
}
