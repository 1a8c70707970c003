// Answers that differ from the reference on purpose: the start of a difference's line, and why.
export const deviations: readonly {
  scenario: string;
  starts: string;
  why: string;
}[] = [
  ...["paging", "read-versions"].map((scenario) => ({
    scenario,
    starts: "500: ",
    why: "bad and future versions are the asker's mistake: 400 and 504, not a failure of the server",
  })),
  {
    scenario: "watching",
    starts: "as tables.body.",
    why: "frames after the first have an empty list of columns, where the reference writes null",
  },
  {
    scenario: "deletion",
    starts: "dryRun: ",
    why: "dryRun in the query is never overlooked, though a body with options should replace all of the query",
  },
  ...[
    "another version (Warn)",
    "another version (Strict)",
    "merge version",
  ].map((label) => ({
    scenario: "custom-objects",
    starts: `${label}.`,
    why: "the version is refused before fields are looked at that it may not have",
  })),
  {
    scenario: "custom-objects",
    starts: "put scale of another kind.",
    why: "the reference names a place in its source instead of the kinds",
  },
  {
    scenario: "custom-objects",
    starts: "apply scale.",
    why: "a Scale can be applied here, the reference fails to convert it",
  },
  {
    scenario: "storage-versions",
    starts: "all.body.apiextensions.k8s.io.customresourcedefinitions.",
    why: "definitions are written as v1, where the reference still writes v1beta1",
  },
  {
    scenario: "mutating-policies",
    starts: "apply: replicas too many.",
    why: "a number that its field can't hold is refused, the reference takes its lowest 32 bits",
  },
  {
    scenario: "admission-places",
    starts: "service proxy.",
    why: "a service without Endpoints is answered as one whose Endpoints are empty",
  },
  {
    scenario: "admission-places",
    starts: "scale put.body.seen.0.1.object.status.selector",
    why: "mutating webhooks are shown the selector of a Scale as validating ones are, whatever the body said of it",
  },
];
