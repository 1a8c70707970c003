// Distinguishes a file that was removed and made again at once from one that another file took the place of: the first is
// a pod that ends and starts again, as the reference's watch has it (kubelet/config/file_linux.go hears "removed" and then
// "created"), the second is no change when its content is the same. Reading the file does not distinguish them when the
// content is the same, but the directory's watch reports each change of a name:
//
//   rm a; echo … > a      two changes of a     removed
//   mv a b; mv b a        two                  removed (the same inode)
//   mv tmp a              one                  replaced
//   mv tmp a, twice       two                  replaced: a rename sets the time of the inode's change, not the content's
//
// Left out: a file that was removed and then replaced by a rename counts as replaced.

/** Of `stat`. */
interface Identity {
  ino: number;
  mtimeMs: number;
  ctimeMs: number;
}

export class NameChanges {
  readonly #counts = new Map<string, number>();

  /** The directory's watch has reported a change of the name. */
  note(file: string): void {
    this.#counts.set(file, (this.#counts.get(file) ?? 0) + 1);
  }

  /** What the file has is known, or that it is gone. */
  forget(file: string): void {
    this.#counts.delete(file);
  }

  /** To be asked when the watch has been quiet for a moment. `before`: the inode that was read last. */
  wasRemoved(file: string, before: number, now: Identity): boolean {
    if ((this.#counts.get(file) ?? 0) < 2) return false;
    return now.ino === before || now.ctimeMs === now.mtimeMs;
  }
}
