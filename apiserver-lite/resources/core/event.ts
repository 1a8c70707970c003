// Events, in both groups: the same stored objects under two shapes. They expire; the registry knows after how long.
import { pathSegmentProblems } from "../../../api/names.ts";
import type {
  Event,
  EventSource,
  ObjectReference,
} from "../../../api/types/core-v1.ts";
import type { Event as NewEvent } from "../../../api/types/events-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { eventFromCore, eventToCore } from "./convert-event.ts";
import {
  validateEvent,
  validateEventChange,
  validateNewEvent,
} from "./event-validation.ts";
import { strategyOf } from "../typed.ts";

/** What both shapes say, under the old names. */
function facts(event: Readonly<Event & NewEvent>) {
  return {
    metadata: event.metadata,
    about: (event.involvedObject ?? event.regarding ?? {}) as ObjectReference,
    source: (event.source ?? event.deprecatedSource ?? {}) as EventSource,
    component: event.reportingComponent ?? event.reportingController ?? "",
    instance: event.reportingInstance ?? "",
    message: event.message ?? event.note ?? "",
    first: event.firstTimestamp ?? event.deprecatedFirstTimestamp,
    last: event.lastTimestamp ?? event.deprecatedLastTimestamp,
    count: event.count ?? event.deprecatedCount ?? 0,
    eventTime: event.eventTime as string | undefined,
    series: event.series as
      { count?: number; lastObservedTime?: string } | undefined,
    type: event.type ?? "",
    reason: event.reason ?? "",
  };
}

function sourceText({
  source,
  component,
  instance,
}: ReturnType<typeof facts>): string {
  const name = source.component || component;
  const host = source.host || instance;
  return [name, host].filter(Boolean).join(", ");
}

const newGroup = "events.k8s.io/v1";

export const eventStrategy = strategyOf<Event & NewEvent>({
  expires: true,
  conversions: {
    "v1 events.k8s.io/v1": eventFromCore,
    "events.k8s.io/v1 v1": eventToCore,
  },
  countsGeneration: false,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  // As the reference, which looks at nothing else of metadata.
  anyFinalizer: true,
  validate: (object, { apiVersion }) =>
    validateEvent(object, apiVersion !== newGroup),
  validateCreate: (object, { apiVersion }) =>
    apiVersion === newGroup ? validateNewEvent(object) : [],
  validateUpdate: (object, old, { apiVersion }) =>
    apiVersion === newGroup ? validateEventChange(object, old) : [],
  propagates: false,
  selectableFields(object) {
    const { about, source, component, reason, type } = facts(object);
    return {
      "involvedObject.kind": about.kind ?? "",
      "involvedObject.namespace": about.namespace ?? "",
      "involvedObject.name": about.name ?? "",
      "involvedObject.uid": about.uid ?? "",
      "involvedObject.apiVersion": about.apiVersion ?? "",
      "involvedObject.resourceVersion": about.resourceVersion ?? "",
      "involvedObject.fieldPath": about.fieldPath ?? "",
      reason,
      reportingComponent: component,
      source: source.component || component,
      type,
    };
  },
  printRow: (object, now) => {
    const event = facts(object);
    const first = event.first ?? event.eventTime;
    const last = event.series?.lastObservedTime ?? event.last ?? first;
    const { about } = event;
    const kind = about.kind?.toLowerCase() ?? "";
    return [
      formatAge(last, now),
      event.type,
      event.reason,
      about.name ? `${kind}/${about.name}` : kind,
      about.fieldPath ?? "",
      sourceText(event),
      event.message.trim(),
      formatAge(first, now),
      event.series?.count ?? (event.count || 1),
      event.metadata.name,
    ];
  },
});

/** What is its own in the newer group: the names that select. */
export const newEventStrategy: ResourceStrategy = {
  fieldNames: {
    ...Object.fromEntries(
      [
        "kind",
        "namespace",
        "name",
        "uid",
        "apiVersion",
        "resourceVersion",
        "fieldPath",
      ].map((field) => [`regarding.${field}`, `involvedObject.${field}`]),
    ),
    reason: "reason",
    reportingController: "reportingComponent",
    type: "type",
  },
};
