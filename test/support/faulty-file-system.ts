// A file system for the file store that records every call and can make one fail. Each call (also on an open file) has a
// name: "open", "makeDirectory", "rename", "link", "unlink", "list", "size", "read", "write", "durableWrite", "truncate",
// "datasync", "sync", "durable", "close".
import type {
  FileSystem,
  OpenFile,
  OpenMode,
} from "../../storage/file/file-system.ts";

export interface FileCall {
  readonly name: string;
  /** The name the file was opened by. */
  readonly file: string;
}

/** Called before each call; throwing makes the call fail without effect. May return a promise. */
export type Intervene = (call: FileCall) => unknown;

export function faultyFileSystem(
  real: FileSystem,
  intervene: Intervene,
): FileSystem {
  const before = async <T>(
    name: string,
    file: string,
    call: () => Promise<T>,
  ): Promise<T> => {
    await intervene({ name, file });
    return call();
  };
  const wrapped = (
    inner: OpenFile,
    file: string,
    write: "write" | "durableWrite",
  ): OpenFile => ({
    size: () => before("size", file, () => inner.size()),
    read: (buffer, position) =>
      before("read", file, () => inner.read(buffer, position)),
    write: (bytes, position) =>
      before(write, file, () => inner.write(bytes, position)),
    truncate: (bytes) => before("truncate", file, () => inner.truncate(bytes)),
    datasync: () => before("datasync", file, () => inner.datasync()),
    sync: () => before("sync", file, () => inner.sync()),
    durable: () =>
      before("durable", file, async () =>
        wrapped(await inner.durable(), file, "durableWrite"),
      ),
    // The descriptor is closed either way, as close(2) does.
    close: async () => {
      await inner.close();
      await intervene({ name: "close", file });
    },
  });
  return {
    open: (file: string, mode: OpenMode) =>
      before("open", file, async () =>
        wrapped(await real.open(file, mode), file, "write"),
      ),
    makeDirectory: (directory) =>
      before("makeDirectory", directory, () => real.makeDirectory(directory)),
    rename: (from, to) => before("rename", from, () => real.rename(from, to)),
    link: (from, to) => before("link", from, () => real.link(from, to)),
    unlink: (file) => before("unlink", file, () => real.unlink(file)),
    list: (directory) => before("list", directory, () => real.list(directory)),
  };
}

export function ioError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code });
}
