// The profiles of one scheduler, by the names that pods choose them by, each with a recorder of events in its own name.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { EventRecorder } from "../client/event-recorder.ts";
import type { CompleteConfiguration } from "./configuration/configuration-types.ts";
import { DecisionWriter } from "./decision-writer.ts";
import {
  createProfile,
  type ProfileContext,
  type SchedulingProfile,
} from "./profile.ts";

const defaultSchedulerName = "default-scheduler";

export interface RunningProfile extends SchedulingProfile {
  readonly writer: DecisionWriter;
}

interface ProfileSetOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly configuration: CompleteConfiguration;
  readonly context: ProfileContext;
}

export class ProfileSet {
  readonly #profiles = new Map<string, RunningProfile>();
  readonly #recorders: EventRecorder[] = [];

  /** @throws ProfileProblem of a configuration that was not validated */
  constructor({
    configuration,
    context,
    client,
    clock,
    logger,
  }: ProfileSetOptions) {
    for (const each of configuration.profiles) {
      const profile = createProfile(configuration, each, context);
      const schedulerName = profile.name;
      const recorder = new EventRecorder({
        client,
        clock,
        logger,
        component: schedulerName,
      });
      this.#recorders.push(recorder);
      this.#profiles.set(schedulerName, {
        ...profile,
        writer: new DecisionWriter({ client, clock, recorder, schedulerName }),
      });
    }
  }

  /** undefined: the pod is another scheduler's. */
  find({ spec }: Pod): RunningProfile | undefined {
    return this.#profiles.get(spec.schedulerName ?? defaultSchedulerName);
  }

  /** Of a pod that was queued, which are those alone that a profile is there for. */
  of(pod: Pod): RunningProfile {
    const profile = this.find(pod);
    if (!profile)
      throw new Error(
        `profile not found for scheduler name ${JSON.stringify(pod.spec.schedulerName)}`,
      );
    return profile;
  }

  stop(): void {
    for (const recorder of this.#recorders) recorder.stop();
  }
}
