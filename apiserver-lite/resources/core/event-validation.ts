// Validation of events. All have to name a namespace that fits what they are about, and those with a time of their own who
// reports what; what is written through events.k8s.io is new in every respect, and only its series may change afterwards.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsSubdomainProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import type { Event } from "../../../api/types/core-v1.ts";
import { immutable } from "../field-checks.ts";

const maxReport = 128;
const maxMessage = 1024;

/** @param isCore the request is one of core/v1: its name of a field is shown */
export function validateEvent(
  event: Readonly<Event>,
  isCore: boolean,
): FieldError[] {
  const { namespace = "" } = event.metadata;
  const about = event.involvedObject?.namespace ?? "";
  // Events about objects without a namespace are in the default one.
  const fits = event.eventTime
    ? about !== "" || ["default", "kube-system"].includes(namespace)
    : about === ""
      ? ["", "default"].includes(namespace)
      : namespace === about;
  return [
    ...(fits
      ? []
      : [
          fieldErrors.invalid(
            "involvedObject.namespace",
            about,
            "does not match event.namespace",
          ),
        ]),
    ...(event.eventTime ? reportProblems(event, isCore) : []),
    ...invalidEach("namespace", namespace, dnsSubdomainProblems(namespace)),
  ];
}

function reportProblems(
  {
    reportingComponent: component = "",
    reportingInstance = "",
    action = "",
    reason = "",
    message = "",
  }: Readonly<Event>,
  isCore: boolean,
): FieldError[] {
  const field = isCore ? "reportingComponent" : "reportingController";
  const needed = (name: string, value: string): FieldError[] => [
    ...(value ? [] : [fieldErrors.required(name)]),
    ...bounded(name, value, maxReport),
  ];
  return [
    ...(component ? [] : [fieldErrors.required(field)]),
    ...invalidEach(field, component, qualifiedNameProblems(component)),
    ...needed("reportingInstance", reportingInstance),
    ...needed("action", action),
    ...needed("reason", reason),
    ...bounded("message", message, maxMessage),
  ];
}

function bounded(field: string, value: string, most: number): FieldError[] {
  return Buffer.byteLength(value) > most
    ? [fieldErrors.invalid(field, "", `can have at most ${most} characters`)]
    : [];
}

/** What is created through events.k8s.io has nothing of the older kind. */
export function validateNewEvent(event: Readonly<Event>): FieldError[] {
  const { type = "", source } = event;
  const unset = (field: string, isSet: boolean): FieldError[] =>
    isSet ? [fieldErrors.invalid(field, "", "needs to be unset")] : [];
  return [
    ...seriesProblems(event),
    ...(event.eventTime ? [] : [fieldErrors.required("eventTime")]),
    ...(["Normal", "Warning"].includes(type)
      ? []
      : [fieldErrors.invalid("type", "", `has invalid value: ${type}`)]),
    ...unset("firstTimestamp", Boolean(event.firstTimestamp)),
    ...unset("lastTimestamp", Boolean(event.lastTimestamp)),
    ...unset("count", Boolean(event.count)),
    ...unset("source", Boolean(source?.component || source?.host)),
  ];
}

function seriesProblems({ series }: Readonly<Event>): FieldError[] {
  if (!series) return [];
  return [
    ...((series.count ?? 0) < 2
      ? [fieldErrors.invalid("series.count", "", "should be at least 2")]
      : []),
    ...(series.lastObservedTime
      ? []
      : [fieldErrors.required("series.lastObservedTime")]),
  ];
}

/** Fields that are fixed, with the reference's name of the type of those that are no texts or numbers. */
const fixed: readonly (readonly [field: keyof Event, type?: string])[] = [
  ["involvedObject", "core.ObjectReference"],
  ["reason"],
  ["message"],
  ["source", "core.EventSource"],
  ["firstTimestamp"],
  ["lastTimestamp"],
  ["count"],
  ["type"],
  ["eventTime"],
  ["action"],
  ["related", "*core.ObjectReference"],
  ["reportingComponent"],
  ["reportingInstance"],
];

/** What is changed through events.k8s.io. */
export function validateEventChange(
  event: Readonly<Event>,
  old: Readonly<Event>,
): FieldError[] {
  return [
    ...(sameValue(event.series, old.series) ? [] : seriesProblems(event)),
    ...fixed.flatMap(([field, type]) =>
      immutable(
        field === "reportingComponent" ? "reportingController" : field,
        ofField(event, field),
        ofField(old, field),
        type,
      ),
    ),
  ];
}

/** Texts and numbers that are absent are the reference's empty ones. */
function ofField(event: Readonly<Event>, field: keyof Event): unknown {
  if (field === "count") return event.count ?? 0;
  if (field === "involvedObject" || field === "source")
    return event[field] ?? {};
  return event[field] ?? (field === "related" ? undefined : "");
}
