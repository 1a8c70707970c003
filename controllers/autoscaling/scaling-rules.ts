// From what the metrics ask for to what is done: recommendations of the stabilization windows, limits of the rate by the
// behavior's policies (without a behavior: at most double, but 4 at least), and the autoscaler's own range. Each step
// says why it changed the number, as conditions of the reference.
//
// A history belongs to one autoscaler. Recommendations older than every window are dropped, and changes older than every
// period of their direction make room for newer ones: it holds no more than one entry a sync within the longest of them.
import type {
  HPAScalingRules,
  HorizontalPodAutoscalerSpec,
} from "../../api/types/autoscaling-v2.ts";

interface Stamped {
  readonly atMs: number;
  readonly replicas: number;
}

export interface ScaleHistory {
  /** undefined: none yet. */
  recommendations: readonly Stamped[] | undefined;
  /** Changes by how many, always positive. */
  ups: readonly Stamped[];
  downs: readonly Stamped[];
}

export const emptyHistory = (): ScaleHistory => ({
  recommendations: undefined,
  ups: [],
  downs: [],
});

interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface Decision {
  readonly replicas: number;
  /** Of condition AbleToScale. */
  readonly able: Reason;
  /** Of condition ScalingLimited; `limited`: its status. */
  readonly limit: Reason & { readonly limited: boolean };
}

export interface Wish {
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly currentReplicas: number;
  /** What the metrics ask for. */
  readonly desiredReplicas: number;
  readonly minReplicas: number;
  /** Monotonic, as all times of the history. */
  readonly nowMs: number;
  /** --horizontal-pod-autoscaler-downscale-stabilization */
  readonly downscaleStabilizationMs: number;
}

interface Rules {
  readonly windowMs: number;
  readonly selectPolicy: string;
  readonly policies: NonNullable<HPAScalingRules["policies"]>;
}

const upFactor = 2;
const upMinimum = 4;

const tooMany: Reason = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const tooFew: Reason = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const upLimit: Reason = {
  reason: "ScaleUpLimit",
  message:
    "the desired replica count is increasing faster than the maximum scale rate",
};
const downLimit: Reason = {
  reason: "ScaleDownLimit",
  message:
    "the desired replica count is decreasing faster than the maximum scale rate",
};
const withinRange: Reason = {
  reason: "DesiredWithinRange",
  message: "the desired count is within the acceptable range",
};
const readyForScale: Reason = {
  reason: "ReadyForNewScale",
  message: "recommended size matches current size",
};
const upStabilized: Reason = {
  reason: "ScaleUpStabilized",
  message:
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
};
const downStabilized: Reason = {
  reason: "ScaleDownStabilized",
  message:
    "recent recommendations were higher than current one, applying the highest recent recommendation",
};

/** Before the first decision: what is there counts as recommended. */
export function recordInitial(
  history: ScaleHistory,
  replicas: number,
  nowMs: number,
): void {
  history.recommendations ??= [{ atMs: nowMs, replicas }];
}

/** Records the wish as a recommendation. */
export function decide(history: ScaleHistory, wish: Wish): Decision {
  const { behavior } = wish.spec;
  return behavior
    ? decideByBehavior(
        history,
        wish,
        upRules(behavior.scaleUp),
        downRules(behavior.scaleDown, wish.downscaleStabilizationMs),
      )
    : decideByDefault(history, wish);
}

/** After the target was scaled; the numbers matter only where a behavior has periods. */
export function recordScale(
  history: ScaleHistory,
  { spec, currentReplicas, nowMs }: Wish,
  replicas: number,
): void {
  const { behavior } = spec;
  if (!behavior) return;
  const isUp = replicas > currentReplicas;
  const { policies } = isUp
    ? upRules(behavior.scaleUp)
    : downRules(behavior.scaleDown, 0);
  const longestMs =
    Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * 1000;
  // One that is too old for the periods of its direction gives up its place to the new one, and not before: it may count
  // for longer periods of the other direction.
  const kept = (events: readonly Stamped[]): Stamped[] => {
    const event = {
      atMs: nowMs,
      replicas: Math.abs(replicas - currentReplicas),
    };
    const old = events.findLastIndex(({ atMs }) => atMs < nowMs - longestMs);
    return old < 0 ? [...events, event] : events.with(old, event);
  };
  if (isUp) history.ups = kept(history.ups);
  else history.downs = kept(history.downs);
}

function upRules(rules: HPAScalingRules = {}): Rules {
  return {
    windowMs: (rules.stabilizationWindowSeconds ?? 0) * 1000,
    selectPolicy: rules.selectPolicy ?? "Max",
    policies: rules.policies ?? [
      { type: "Pods", value: 4, periodSeconds: 15 },
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  };
}

function downRules(rules: HPAScalingRules = {}, windowMs: number): Rules {
  const { stabilizationWindowSeconds } = rules;
  return {
    windowMs:
      stabilizationWindowSeconds === undefined
        ? windowMs
        : stabilizationWindowSeconds * 1000,
    selectPolicy: rules.selectPolicy ?? "Max",
    policies: rules.policies ?? [
      { type: "Percent", value: 100, periodSeconds: 15 },
    ],
  };
}

/** The highest recommendation of the window, within the range and the rate. */
function decideByDefault(history: ScaleHistory, wish: Wish): Decision {
  const { currentReplicas, desiredReplicas, minReplicas, nowMs, spec } = wish;
  const recent = (history.recommendations ?? []).filter(
    ({ atMs }) => atMs >= nowMs - wish.downscaleStabilizationMs,
  );
  const stabilized = Math.max(
    desiredReplicas,
    ...recent.map(({ replicas }) => replicas),
  );
  history.recommendations = [
    ...recent,
    { atMs: nowMs, replicas: desiredReplicas },
  ];
  const rate = Math.max(upFactor * currentReplicas, upMinimum);
  const [most, why] =
    spec.maxReplicas > rate ? [rate, upLimit] : [spec.maxReplicas, tooMany];
  return {
    able: stabilized === desiredReplicas ? readyForScale : downStabilized,
    ...bounded(stabilized, { least: minReplicas, whyLeast: tooFew }, most, why),
  };
}

/** The window of the direction, then the policies' rate, then the range. */
function decideByBehavior(
  history: ScaleHistory,
  wish: Wish,
  up: Rules,
  down: Rules,
): Decision {
  const { currentReplicas, desiredReplicas, nowMs } = wish;
  const known = history.recommendations ?? [];
  const within = (windowMs: number): number[] =>
    known
      .filter(({ atMs }) => atMs > nowMs - windowMs)
      .map(({ replicas }) => replicas);
  const lowest = Math.min(desiredReplicas, ...within(up.windowMs));
  const highest = Math.max(desiredReplicas, ...within(down.windowMs));
  const stabilized = Math.min(Math.max(currentReplicas, lowest), highest);
  const oldestMs = nowMs - Math.max(up.windowMs, down.windowMs);
  history.recommendations = [
    ...known.filter(({ atMs }) => atMs >= oldestMs),
    { atMs: nowMs, replicas: desiredReplicas },
  ];
  const able =
    stabilized === desiredReplicas
      ? readyForScale
      : desiredReplicas >= currentReplicas
        ? upStabilized
        : downStabilized;
  return { able, ...limited(history, wish, stabilized, up, down) };
}

function limited(
  history: ScaleHistory,
  { currentReplicas, minReplicas, nowMs, spec }: Wish,
  wanted: number,
  up: Rules,
  down: Rules,
): Omit<Decision, "able"> {
  if (wanted > currentReplicas) {
    const rate = Math.max(
      currentReplicas,
      rateLimit(history, currentReplicas, nowMs, up, 1),
    );
    return spec.maxReplicas > rate
      ? bounded(wanted, undefined, rate, upLimit)
      : bounded(wanted, undefined, spec.maxReplicas, tooMany);
  }
  if (wanted < currentReplicas) {
    const rate = Math.min(
      currentReplicas,
      rateLimit(history, currentReplicas, nowMs, down, -1),
    );
    return bounded(
      wanted,
      minReplicas < rate
        ? { least: rate, whyLeast: downLimit }
        : { least: minReplicas, whyLeast: tooFew },
      wanted,
      withinRange,
    );
  }
  return bounded(wanted, undefined, wanted, withinRange);
}

/** How far the policies let the number go. @param sign 1 up, -1 down */
function rateLimit(
  { ups, downs }: ScaleHistory,
  currentReplicas: number,
  nowMs: number,
  { selectPolicy, policies }: Rules,
  sign: 1 | -1,
): number {
  if (selectPolicy === "Disabled") return currentReplicas;
  const changed = (events: readonly Stamped[], periodMs: number): number =>
    events
      .filter(({ atMs }) => atMs > nowMs - periodMs)
      .reduce((sum, { replicas }) => sum + replicas, 0);
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const periodMs = periodSeconds * 1000;
    const before =
      currentReplicas - changed(ups, periodMs) + changed(downs, periodMs);
    if (type === "Pods") return before + sign * value;
    // Up to the next whole, so that a small number can grow at all; and down to the next.
    return sign === 1
      ? Math.ceil(before * (1 + value / 100))
      : Math.trunc(before * (1 - value / 100));
  });
  const takesGreatest = (selectPolicy === "Min") === (sign === -1);
  return takesGreatest ? Math.max(...limits) : Math.min(...limits);
}

function bounded(
  wanted: number,
  below: { least: number; whyLeast: Reason } | undefined,
  most: number,
  whyMost: Reason,
): Omit<Decision, "able"> {
  if (below && wanted < below.least)
    return {
      replicas: below.least,
      limit: { ...below.whyLeast, limited: true },
    };
  if (wanted > most)
    return { replicas: most, limit: { ...whyMost, limited: true } };
  return { replicas: wanted, limit: { ...withinRange, limited: false } };
}
