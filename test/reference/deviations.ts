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
];
