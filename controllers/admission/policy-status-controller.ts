// Checks the expressions of ValidatingAdmissionPolicies against the types that their rules name, once a generation, and
// writes what it finds into their status. The language of expressions is loaded with the first policy.
import { setImmediate } from "node:timers/promises";
import type { KnownTypes } from "../../api/admission-expressions/type-check.ts";
import { builtinCatalogue } from "../../api/catalogue.ts";
import type { DeclaredType } from "../../api/cel/schemas/declared-type.ts";
import type { GroupVersionKind } from "../../api/object.ts";
import { apiVersionOf } from "../../api/object.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import {
  customResourceDefinitions,
  validatingAdmissionPolicies,
} from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";

export function createPolicyStatusController(
  context: ControllerContext,
): Controller {
  const { client, options } = context;
  const policies = client.informer(validatingAdmissionPolicies);
  const definitions = client.informer(customResourceDefinitions);
  const reconciler = new Reconciler({
    name: "validatingadmissionpolicy-status-controller",
    context,
    concurrency: options.concurrentValidatingAdmissionPolicyStatusSyncs,
    reconcile,
  });

  async function reconcile(name: string): Promise<void> {
    const policy = policies.lister.get(name);
    const generation = policy?.metadata.generation ?? 0;
    if (!policy || generation <= (policy.status?.observedGeneration ?? 0))
      return;
    const [{ checkTypes }, { builtinType }, { typeOfSchema }] =
      await Promise.all([
        import("../../api/admission-expressions/type-check.ts"),
        import("../../api/admission-expressions/builtin-types.ts"),
        import("../../api/cel/schemas/from-json-schema.ts"),
      ]);
    const custom = [...definitions.lister.list()];
    const catalogue = builtinCatalogue(() => true);
    const known: KnownTypes = {
      kindsOf(group, version, resource) {
        const own = catalogue.resource(group, version, resource)?.kind;
        if (own) return [own];
        return custom
          .filter(
            ({ spec }) =>
              spec.group === group &&
              spec.names.plural === resource &&
              spec.versions.some((each) => each.name === version),
          )
          .map(({ spec }) => spec.names.kind);
      },
      typeOf: (kind): DeclaredType | undefined => {
        const schema = schemaOf(custom, kind);
        return schema
          ? typeOfSchema(schema, kind.kind, true)
          : builtinType(apiVersionOf(kind), kind.kind);
      },
    };
    const expressionWarnings = await checkTypes(
      policy.spec ?? {},
      known,
      setImmediate,
    );
    await client.resource(validatingAdmissionPolicies).updateStatus({
      ...policy,
      status: {
        ...policy.status,
        observedGeneration: generation,
        typeChecking:
          expressionWarnings.length > 0 ? { expressionWarnings } : {},
      },
    });
  }

  return reconciler
    .watch(definitions, {})
    .watchAll(policies, ({ metadata }) => reconciler.queue.add(metadata.name));
}

/** Of a kind that a definition serves. */
function schemaOf(
  definitions: readonly CustomResourceDefinition[],
  { group, version, kind }: GroupVersionKind,
): object | undefined {
  const found = definitions.find(
    ({ spec }) => spec.group === group && spec.names.kind === kind,
  );
  return found?.spec.versions.find(({ name }) => name === version)?.schema
    ?.openAPIV3Schema;
}
