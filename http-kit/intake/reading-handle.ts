// Whether a connection is read: of Node's own objects below its socket.
import type { Socket } from "node:net";

/** Node's own object below a socket: its bytes come from here, whatever is layered above (TLS, HTTP/2, the parser). */
export interface ReadingHandle {
  readStop(): unknown;
  readStart(): unknown;
  /** Of a TLS layer: the handle below. */
  readonly _parent?: ReadingHandle;
  /** What Node wants: it reads no more where the stream's reader is slow. */
  readonly reading?: boolean;
}

/** The lowest handle of a socket; undefined: there is none, or it is closed. */
export function readingHandleOf(socket: Socket): ReadingHandle | undefined {
  let handle = (socket as Socket & { _handle?: ReadingHandle | null })._handle;
  while (handle?._parent) handle = handle._parent;
  return handle?.readStop ? handle : undefined;
}
