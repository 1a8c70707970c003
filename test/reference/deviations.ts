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
    why: "every frame of a watched table tells its columns: frames are shared by watchers that begin at different times",
  },
  {
    scenario: "deletion",
    starts: "dryRun: ",
    why: "dryRun in the query is never overlooked, though a body with options should replace all of the query",
  },
];
