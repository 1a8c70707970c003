// Whether a device meets selectors: CEL expressions, compiled once each. The engine is loaded by open(), as only clusters
// with dynamic resource allocation need it. Devices of a slice are read into values once.
import { LRUCache } from "lru-cache";
import type { deviceVariables } from "../../api/cel/device-selectors.ts";
import type { Environment } from "../../api/cel/environment.ts";
import type { compile, Program } from "../../api/cel/program.ts";
import type {
  Device,
  DeviceSelector,
} from "../../api/types/resource-v1beta1.ts";

interface Engine {
  readonly compile: typeof compile;
  readonly variables: typeof deviceVariables;
  readonly environment: Environment;
}

/** Of one expression for one device, as at the reference. */
const costLimit = 1_000_000;
/** About a second: other pods wait meanwhile. What was evaluated is kept, so that the next attempt gets further. */
const attemptLimit = 2_000_000;
const maxExpressions = 256;

/** What selectors may still cost in one attempt. */
export interface SelectorBudget {
  left: number;
}

export const selectorBudget = (): SelectorBudget => ({ left: attemptLimit });

export class DeviceMatcher {
  readonly #engine: Engine;
  readonly #programs = new LRUCache<string, Program | Error>({
    max: maxExpressions,
  });
  readonly #variables = new WeakMap<
    Device,
    ReturnType<typeof deviceVariables>
  >();

  /** Slices are immutable: an expression is evaluated once for a device. */
  readonly #results = new WeakMap<Device, Map<string, boolean>>();

  private constructor(engine: Engine) {
    this.#engine = engine;
  }

  static async open(): Promise<DeviceMatcher> {
    const [program, selectors] = await Promise.all([
      import("../../api/cel/program.ts"),
      import("../../api/cel/device-selectors.ts"),
    ]);
    return new DeviceMatcher({
      compile: program.compile,
      variables: selectors.deviceVariables,
      environment: selectors.deviceEnvironment("stored"),
    });
  }

  /** @throws Error for an expression that can't be compiled or fails; `owner` begins its text: `class x`, `claim n/x` */
  matches(
    driver: string,
    device: Device,
    selectors: readonly DeviceSelector[] | undefined,
    owner: string,
    budget: SelectorBudget,
  ): boolean {
    if (!device.basic) return false;
    return (selectors ?? []).every(({ cel }, index) => {
      const expression = cel?.expression ?? "";
      const known = this.#results.get(device) ?? new Map<string, boolean>();
      this.#results.set(device, known);
      let result = known.get(expression);
      if (result === undefined) {
        const at = `${owner}: selector #${index}: CEL`;
        result = this.#evaluate(driver, device, expression, at, budget);
        if (known.size >= maxExpressions) known.clear();
        known.set(expression, result);
      }
      return result;
    });
  }

  #evaluate(
    driver: string,
    device: Device,
    expression: string,
    at: string,
    budget: SelectorBudget,
  ): boolean {
    const program = this.#program(expression);
    if (program instanceof Error)
      throw new Error(`${at} compile error: ${program.message}`);
    const variables = this.#variablesOf(driver, device);
    if ("message" in variables)
      throw new Error(`${at} runtime error: ${variables.message}`);
    const outcome = program.evaluate(variables, costLimit);
    budget.left -= outcome.cost;
    if (outcome.kind !== "value")
      throw new Error(`${at} runtime error: ${outcome.message}`);
    if (typeof outcome.value !== "boolean")
      throw new Error(`${at} runtime error: the result is not a bool`);
    if (budget.left < 0)
      throw new Error(
        `${at} runtime error: selectors cost more than one attempt may`,
      );
    return outcome.value;
  }

  #program(expression: string): Program | Error {
    let program = this.#programs.get(expression);
    if (!program) {
      const compiled = this.#engine.compile(
        expression,
        this.#engine.environment,
      );
      program = compiled.ok
        ? compiled.program
        : new Error(`compilation failed: ${compiled.issues.toString()}`);
      this.#programs.set(expression, program);
    }
    return program;
  }

  #variablesOf(
    driver: string,
    device: Device,
  ): ReturnType<typeof deviceVariables> {
    let variables = this.#variables.get(device);
    if (!variables) {
      variables = this.#engine.variables(driver, device.basic ?? {});
      this.#variables.set(device, variables);
    }
    return variables;
  }
}
