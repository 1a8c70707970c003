// The status of a Gateway, of what became of its listeners.
import {
  conditionsWith,
  no,
  yes,
  type PlannedCondition,
} from "./conditions.ts";
import {
  gatewayProblem,
  type GatewayProblem,
  type PlannedListener,
} from "./listeners.ts";
import { gatewayGroup, type Gateway } from "./objects.ts";

interface StatusContext {
  /** Of the nodes that serve. */
  readonly addresses: readonly string[];
  readonly attachedRoutes: (listener: string) => number;
  /** RFC 3339. */
  readonly time: string;
}

function holds({ conditions }: PlannedListener, type: string): boolean {
  return conditions.some(
    (each) => each.type === type && each.status === "True",
  );
}

export function gatewayStatus(
  { metadata, spec, status }: Gateway,
  listeners: readonly PlannedListener[],
  { addresses, attachedRoutes, time }: StatusContext,
): NonNullable<Gateway["status"]> {
  const problem = gatewayProblem(spec, addresses);
  const { generation } = metadata;
  return {
    addresses: addresses.map((value) => ({ type: "IPAddress", value })),
    conditions: conditionsWith(
      gatewayConditions(listeners, problem, addresses.length > 0),
      status?.conditions,
      generation,
      time,
    ),
    listeners: listeners.map((listener) => {
      const { name } = listener.spec;
      return {
        name,
        supportedKinds: listener.supportsRoutes
          ? [{ group: gatewayGroup, kind: "HTTPRoute" }]
          : [],
        attachedRoutes: attachedRoutes(name),
        conditions: conditionsWith(
          listener.conditions,
          status?.listeners?.find((each) => each.name === name)?.conditions,
          generation,
          time,
        ),
      };
    }),
  };
}

function gatewayConditions(
  listeners: readonly PlannedListener[],
  problem: GatewayProblem | undefined,
  hasAddress: boolean,
): PlannedCondition[] {
  const accepted = listeners.filter((each) => holds(each, "Accepted"));
  const programmed = listeners.some((each) => holds(each, "Programmed"));
  const notValid = "not all listeners are valid";
  return [
    problem
      ? no("Accepted", ...problem)
      : accepted.length === 0
        ? no("Accepted", "ListenersNotValid", notValid)
        : accepted.length < listeners.length
          ? yes("Accepted", "ListenersNotValid", notValid)
          : yes("Accepted"),
    programmed && hasAddress
      ? yes("Programmed")
      : programmed
        ? no("Programmed", "AddressNotAssigned", "the node has no address yet")
        : no("Programmed", "Invalid", "no listener is served"),
  ];
}
