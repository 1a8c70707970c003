// HorizontalPodAutoscalers: once a sync period each one's metrics are read, and the scale of its target is set to what
// the greatest of them asks for, within the rules of scaling-rules.ts. Where a metric fails, the others may still scale
// up, never down.
//
// Reference behaviour: the first look comes a period after the autoscaler was seen, an error waits for the next period,
// and pods that two autoscalers would scale are scaled by none. Owns what it remembers of each autoscaler (history,
// selector) until that one is gone.
import { objectKey, splitKey } from "../../api/object.ts";
import type { Selector } from "../../api/selectors.ts";
import type { Scale } from "../../api/types/autoscaling-v1.ts";
import type {
  HorizontalPodAutoscaler,
  MetricStatus,
} from "../../api/types/autoscaling-v2.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { ResourceRef } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import { horizontalPodAutoscalers, pods } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";
import { Reconciler, type ReconcileResult } from "../reconciler.ts";
import {
  actionOf,
  AutoscalerMetrics,
  type ScaleAction,
} from "./autoscaler-metrics.ts";
import { AutoscalerReport } from "./autoscaler-report.ts";
import { MetricFailure, propose } from "./metric-proposals.ts";
import { MetricValues, noMatch } from "./metric-values.ts";
import {
  decide,
  emptyHistory,
  recordInitial,
  recordScale,
  type ScaleHistory,
  type Wish,
} from "./scaling-rules.ts";
import { chosenPods } from "./target-pods.ts";

export function createAutoscalerController(
  context: ControllerContext,
  discovery: Discovery,
): Controller {
  return new AutoscalerController(context, discovery).reconciler;
}

interface Remembered {
  readonly history: ScaleHistory;
  /** Of the target when it was last looked at. */
  selector: Selector | undefined;
}

interface Target {
  readonly ref: ResourceRef;
  readonly scale: Scale;
  readonly replicas: number;
}

interface Plan {
  readonly replicas: number;
  /** Why, where it changes. */
  readonly reason: string;
  readonly wish: Wish;
  /** A part of the metrics failed. */
  readonly failure?: Error | undefined;
}

class AutoscalerController {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #discovery: Discovery;
  readonly #recorder: EventWriter;
  readonly #values: MetricValues;
  readonly #autoscalers: Informer<HorizontalPodAutoscaler>;
  readonly #pods: Informer<Pod>;
  readonly #metrics: AutoscalerMetrics;
  readonly #remembered = new Map<string, Remembered>();

  constructor(context: ControllerContext, discovery: Discovery) {
    const { client, options } = context;
    this.#context = context;
    this.#discovery = discovery;
    this.#metrics = new AutoscalerMetrics(context.clock);
    context.metrics?.add("autoscaler", () => this.#metrics.families());
    this.#recorder = context.recorder("horizontal-pod-autoscaler");
    this.#values = new MetricValues(client, discovery);
    this.#autoscalers = client.informer(horizontalPodAutoscalers);
    this.#pods = client.informer(pods);
    this.reconciler = new Reconciler({
      name: "horizontal-pod-autoscaler-controller",
      context,
      concurrency: options.concurrentHorizontalPodAutoscalerSyncs,
      reconcile: (key) => this.#reconcile(key),
    });
    const later = (autoscaler: HorizontalPodAutoscaler): void =>
      this.reconciler.queue.addAfter(
        objectKey(autoscaler),
        options.horizontalPodAutoscalerSyncPeriodMs,
      );
    this.reconciler
      .watch(this.#autoscalers, {
        onAdd: later,
        onUpdate: (_, autoscaler) => later(autoscaler),
        onDelete: (autoscaler) =>
          void this.#remembered.delete(objectKey(autoscaler)),
      })
      .watch(this.#pods, {});
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { namespace, name } = splitKey(key);
    const autoscaler = this.#autoscalers.lister.get(name, namespace);
    if (!autoscaler) {
      this.#remembered.delete(key);
      return;
    }
    const ended = this.#metrics.began();
    try {
      ended(await this.#sync(key, autoscaler));
    } catch (error) {
      ended("none", true);
      this.reconciler.logger.warn(
        { key, reason: (error as Error).message },
        "an autoscaler's target was not scaled as its metrics ask",
      );
    }
    const { horizontalPodAutoscalerSyncPeriodMs } = this.#context.options;
    return { requeueAfterMs: horizontalPodAutoscalerSyncPeriodMs };
  }

  /** Rejects with what kept it from scaling by all metrics; the status and events say so too. */
  async #sync(
    key: string,
    autoscaler: HorizontalPodAutoscaler,
  ): Promise<ScaleAction> {
    const report = new AutoscalerReport(autoscaler, {
      ...this.#context,
      recorder: this.#recorder,
    });
    const target = await this.#target(autoscaler).catch(
      async (error: Error) => {
        report.warn("FailedGetScale", error.message);
        report.put("AbleToScale", false, {
          reason: "FailedGetScale",
          message: `the HPA controller was unable to get the target's current scale: ${error.message}`,
        });
        await report.writeConditions();
        throw error;
      },
    );
    report.put("AbleToScale", true, {
      reason: "SucceededGetScale",
      message: "the HPA controller was able to get the target's current scale",
    });
    const remembered = this.#rememberedOf(key);
    recordInitial(
      remembered.history,
      target.replicas,
      this.#context.clock.monotonic(),
    );
    const plan = await this.#plan(target, remembered, report);
    const rescaled = plan.replicas !== target.replicas;
    if (rescaled) {
      await this.#rescale(target, plan, report);
      recordScale(remembered.history, plan.wish, plan.replicas);
    }
    await report.write(target.replicas, plan.replicas, rescaled);
    if (plan.failure) throw plan.failure;
    return actionOf(target.replicas, plan.replicas);
  }

  async #target({ spec, metadata }: HorizontalPodAutoscaler): Promise<Target> {
    const { apiVersion = "", kind, name } = spec.scaleTargetRef;
    const ref = await this.#discovery.resourceOf(apiVersion, kind);
    if (!ref) throw new Error(noMatch(apiVersion, kind));
    const scale = await this.#context.client
      .resource(ref)
      .getSubresource<Scale>(name, metadata.namespace, "scale");
    return { ref, scale, replicas: scale.spec?.replicas ?? 0 };
  }

  /** What the target is to have. Rejects when the metrics give no number. */
  async #plan(
    target: Target,
    remembered: Remembered,
    report: AutoscalerReport,
  ): Promise<Plan> {
    const { options, clock } = this.#context;
    const { spec } = report.autoscaler;
    const current = target.replicas;
    const minReplicas = spec.minReplicas ?? 1;
    const wish: Wish = {
      spec,
      currentReplicas: current,
      desiredReplicas: current,
      minReplicas,
      nowMs: clock.monotonic(),
      downscaleStabilizationMs:
        options.horizontalPodAutoscalerDownscaleStabilizationMs,
    };
    const outside = this.#outsideRange(wish, report);
    if (outside) return { ...outside, wish };
    const wanted = await this.#wanted(target, remembered, report).catch(
      async (error: Error) => {
        await report.write(current, undefined);
        report.warn("FailedComputeMetricsReplicas", error.message);
        throw new Error(
          `failed to compute desired number of replicas based on listed metrics for ${referenceOf(report.autoscaler)}: ${error.message}`,
          { cause: error },
        );
      },
    );
    const asked = { ...wish, desiredReplicas: wanted.replicas };
    const { replicas, able, limit } = decide(remembered.history, asked);
    report.put("AbleToScale", true, able);
    report.put("ScalingLimited", limit.limited, limit);
    const reason =
      wanted.replicas > current
        ? `${wanted.metric} above target`
        : "All metrics below target";
    return { replicas, reason, wish: asked, failure: wanted.failure };
  }

  /** Undefined where the metrics decide. */
  #outsideRange(
    { spec, currentReplicas, minReplicas }: Wish,
    report: AutoscalerReport,
  ): Pick<Plan, "replicas" | "reason"> | undefined {
    if (currentReplicas === 0 && minReplicas !== 0) {
      report.put("ScalingActive", false, {
        reason: "ScalingDisabled",
        message:
          "scaling is disabled since the replica count of the target is zero",
      });
      return { replicas: 0, reason: "" };
    }
    if (currentReplicas > spec.maxReplicas)
      return {
        replicas: spec.maxReplicas,
        reason: "Current number of replicas above Spec.MaxReplicas",
      };
    if (currentReplicas < minReplicas)
      return {
        replicas: minReplicas,
        reason: "Current number of replicas below Spec.MinReplicas",
      };
    return undefined;
  }

  /** Rejects when no metric gives a number, or some fail and the others ask for less than there is. */
  async #wanted(
    { scale, replicas: specReplicas }: Target,
    remembered: Remembered,
    report: AutoscalerReport,
  ): Promise<{
    replicas: number;
    metric: string;
    failure: Error | undefined;
  }> {
    const { options, clock } = this.#context;
    const { metadata, spec } = report.autoscaler;
    const context = {
      values: this.#values,
      namespace: metadata.namespace ?? "",
      selector: scale.status?.selector ?? "",
      pods: chosenPods(
        scale.status?.selector ?? "",
        this.#pods.lister.list(metadata.namespace),
        (selector) => {
          remembered.selector = selector;
          return this.#selectorsOf(metadata.namespace);
        },
        report,
      ),
      specReplicas,
      statusReplicas: scale.status?.replicas ?? 0,
      counting: {
        tolerance: options.horizontalPodAutoscalerTolerance,
        cpuInitializationPeriodMs:
          options.horizontalPodAutoscalerCpuInitializationPeriodMs,
        initialReadinessDelayMs:
          options.horizontalPodAutoscalerInitialReadinessDelayMs,
        nowMs: clock.now(),
      },
    };
    const specs = spec.metrics ?? [];
    const failures: MetricFailure[] = [];
    const statuses: MetricStatus[] = [];
    let replicas = 0;
    let metric = "";
    for (const each of specs) {
      const ended = this.#metrics.began(each.type);
      try {
        const proposal = await propose(each, context);
        ended(actionOf(specReplicas, proposal.replicas));
        statuses.push(proposal.status);
        if (replicas === 0 || proposal.replicas > replicas)
          ({ replicas, name: metric } = proposal);
      } catch (error) {
        ended("none", true);
        if (!(error instanceof MetricFailure)) throw error;
        failures.push(error);
        statuses.push({ type: "" });
        report.warn(error.reason, error.detail);
      }
    }
    report.metrics = statuses;
    const [first] = failures;
    const failure =
      first &&
      new Error(
        `invalid metrics (${failures.length} invalid out of ${specs.length}), first error is: ${first.message}`,
      );
    if (
      failure &&
      (failures.length >= specs.length || replicas < specReplicas)
    ) {
      report.put("ScalingActive", false, {
        reason: first.reason,
        message: `the HPA was unable to compute the replica count: ${first.detail}`,
      });
      throw failure;
    }
    report.put("ScalingActive", true, {
      reason: "ValidMetricFound",
      message: `the HPA was able to successfully calculate a replica count from ${metric}`,
    });
    return { replicas, metric, failure };
  }

  /** Rejects when the scale can't be written; the status says so then. */
  async #rescale(
    { ref, scale, replicas: current }: Target,
    { replicas, reason }: Plan,
    report: AutoscalerReport,
  ): Promise<void> {
    const { autoscaler } = report;
    try {
      await this.#context.client
        .resource(ref)
        .updateSubresource(
          scale.metadata.name,
          autoscaler.metadata.namespace,
          "scale",
          { ...scale, spec: { ...scale.spec, replicas } },
        );
    } catch (error) {
      const { message } = error as Error;
      report.warn(
        "FailedRescale",
        `New size: ${replicas}; reason: ${reason}; error: ${message}`,
      );
      report.put("AbleToScale", false, {
        reason: "FailedUpdateScale",
        message: `the HPA controller was unable to update the target scale: ${message}`,
      });
      await report.write(current, undefined);
      throw new Error(
        `failed to rescale ${referenceOf(autoscaler)}: ${message}`,
        { cause: error },
      );
    }
    report.put("AbleToScale", true, {
      reason: "SucceededRescale",
      message: `the HPA controller was able to update the target scale to ${replicas}`,
    });
    this.#recorder.event(
      autoscaler,
      "Normal",
      "SuccessfulRescale",
      `New size: ${replicas}; reason: ${reason}`,
    );
  }

  /** By the autoscaler's key. */
  #selectorsOf(namespace: string | undefined): (readonly [string, Selector])[] {
    return [...this.#remembered].flatMap(([key, { selector }]) =>
      selector && splitKey(key).namespace === namespace
        ? [[key, selector] as const]
        : [],
    );
  }

  #rememberedOf(key: string): Remembered {
    let remembered = this.#remembered.get(key);
    if (!remembered)
      this.#remembered.set(
        key,
        (remembered = { history: emptyHistory(), selector: undefined }),
      );
    return remembered;
  }
}

/** For messages. */
const referenceOf = ({ spec, metadata }: HorizontalPodAutoscaler): string =>
  `${spec.scaleTargetRef.kind}/${metadata.namespace ?? ""}/${spec.scaleTargetRef.name}`;
