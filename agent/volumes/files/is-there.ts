// Whether a path has anything at all, a link that leads nowhere too.
import { lstat } from "node:fs/promises";

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
