// What every admission attribute of a test has: objects of one version, in the first round.
import type { AdmissionAttributes } from "../../apiserver-lite/admission/plugin.ts";

export const firstRound = (): Pick<
  AdmissionAttributes,
  "versions" | "round" | "reinvoke"
> => ({
  versions: {
    equivalents: [],
    to: (object) => object,
    from: (object) => Promise.resolve(object),
    schemaOf: () => undefined,
  },
  round: 0,
  reinvoke: false,
});
