// Answers that differ from the reference on purpose: the start of a difference's line, and why.
export const deviations: readonly {
  scenario: string;
  starts: string;
  why: string;
}[] = [];
