// componentstatuses: each request computes them from checks. They are deprecated, but `kubectl get cs` still shows them.
import type { AnyObject, KubeObject } from "../../../api/object.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { strategyOf, untyped } from "../typed.ts";

export interface ComponentCheck {
  /** scheduler, controller-manager, etcd-0 */
  readonly name: string;
  /** Resolves with the component's own word ("ok"), rejects with what is wrong. */
  check(): Promise<string>;
}

interface ComponentStatus extends KubeObject {
  conditions?: {
    type: string;
    status: string;
    message?: string;
    error?: string;
  }[];
}

const timeoutMs = 5_000;
const warning = "v1 ComponentStatus is deprecated in v1.19+";

export function createComponentStatusStrategy(
  checks: readonly ComponentCheck[],
): ResourceStrategy {
  return strategyOf<ComponentStatus>({
    computed: async (context, name) => {
      context.warn(warning);
      context.annotate("k8s.io/deprecated", "true");
      return Promise.all(
        checks
          .filter((check) => name === undefined || check.name === name)
          .map(componentStatus),
      );
    },
    printRow(object) {
      const { conditions = [] } = object;
      const healthy = conditions.find(({ type }) => type === "Healthy");
      const words: Record<string, string> = {
        True: "Healthy",
        False: "Unhealthy",
      };
      return [
        object.metadata.name,
        words[healthy?.status ?? ""] ?? "Unknown",
        healthy?.message ?? "",
        healthy?.error ?? "",
      ];
    },
  });
}

async function componentStatus({
  name,
  check,
}: ComponentCheck): Promise<AnyObject> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("timed out")), timeoutMs);
  });
  const condition = await Promise.race([check(), late])
    .then(
      (message) => ({ type: "Healthy", status: "True", message }),
      (error: Error) => ({
        type: "Healthy",
        status: "False",
        message: error.message,
      }),
    )
    .finally(() => clearTimeout(timer));
  return untyped({
    kind: "ComponentStatus",
    apiVersion: "v1",
    metadata: { name },
    conditions: [condition],
  });
}
