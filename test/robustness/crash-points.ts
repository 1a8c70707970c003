// The process under test, ended at a named crash point (api/crash-point.ts). Only one process at a time is alive in this
// one: crash points that an ended one still reaches end it again.

export interface CrashPlan {
  readonly name: string;
  /** At which of its visits; 1 is the first. */
  readonly visit: number;
}

/** Those an opened store visits; a test compares them with the sources. */
export const storeCrashPoints = [
  "store.open.tailKept",
  "store.open.beforeCut",
  "store.open.cut",
  "store.rewrite.beforeRename",
  "store.rewrite.renamed",
  "store.commit.begin",
  "store.append.begin",
  "store.append.durable",
  "store.commit.durable",
  "store.compact.begin",
  "store.state.written",
  "store.compact.synced",
  "store.compact.beforeRename",
  "store.compact.renamed",
  "store.compact.durable",
  "store.close.marked",
];

/** @param onEnd ends the process: nothing it does has an effect from then on */
export function watchCrashPoints(
  plan: CrashPlan | undefined,
  ended: () => boolean,
  onEnd: () => void,
): void {
  let visits = 0;
  globalThis.orbitCrashPoint = (name) => {
    if (!ended()) {
      if (name !== plan?.name || ++visits < plan.visit) return;
      onEnd();
    }
    throw new Error(`ended at ${name}`);
  };
}

export function ignoreCrashPoints(): void {
  globalThis.orbitCrashPoint = undefined;
}
