// Events under their two shapes: the reporter that one omits and the other has as empty texts.
import type { AnyObject } from "../../../../api/object.ts";
import {
  eventFromCore,
  eventToCore,
} from "../../../../apiserver-lite/resources/core/convert-event.ts";

const core = (more: object): AnyObject =>
  ({
    metadata: { name: "e" },
    involvedObject: { kind: "Pod" },
    message: "m",
    ...more,
  }) as AnyObject;
const newer = (more: object): AnyObject =>
  ({
    metadata: { name: "e" },
    regarding: { kind: "Pod" },
    note: "m",
    ...more,
  }) as AnyObject;

test.each<[string, object, object]>([
  ["no reporter", { reportingComponent: "", reportingInstance: "" }, {}],
  [
    "a reporter",
    { reportingComponent: "a.b/c", reportingInstance: "i" },
    { reportingController: "a.b/c", reportingInstance: "i" },
  ],
  [
    "half of one",
    { reportingComponent: "a.b/c", reportingInstance: "" },
    { reportingController: "a.b/c" },
  ],
])("%s, to and fro", (_, inCore, inNewer) => {
  expect(eventFromCore(core(inCore))).toEqual(newer(inNewer));
  expect(eventToCore(newer(inNewer))).toEqual(core(inCore));
});
