// Conversion between the served versions of one kind. Kinds whose versions have one shape only change their apiVersion;
// the two that differ are autoscaling's HorizontalPodAutoscaler (v1, v2) and Event (core, events.k8s.io).
// A conversion never changes its argument; what a version can't express goes into the reference's annotations.
import type { AnyObject } from "../../api/object.ts";
import { eventFromCore, eventToCore } from "../resources/core/convert-event.ts";
import {
  hpaFromV1,
  hpaToV1,
} from "../resources/autoscaling/convert-autoscaler.ts";

export function convertObject(
  object: AnyObject,
  apiVersion: string,
): AnyObject {
  if (object.apiVersion === apiVersion) return object;
  const converted = convertShape(object, apiVersion);
  return { ...converted, kind: object.kind, apiVersion };
}

function convertShape(object: AnyObject, apiVersion: string): AnyObject {
  switch (`${object.kind} ${object.apiVersion} ${apiVersion}`) {
    case "Event v1 events.k8s.io/v1":
      return eventFromCore(object);
    case "Event events.k8s.io/v1 v1":
      return eventToCore(object);
    case "HorizontalPodAutoscaler autoscaling/v1 autoscaling/v2":
      return hpaFromV1(object);
    case "HorizontalPodAutoscaler autoscaling/v2 autoscaling/v1":
      return hpaToV1(object);
    default:
      return object;
  }
}
