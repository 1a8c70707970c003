// The steps between a backend's plain answer and the client: HTML pages are unpacked, their links led through the proxy,
// and packed again. Pages in encodings that are not known, and everything else, pass as they are.
import type { OutgoingHttpHeaders } from "node:http";
import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import {
  createDeflateRaw,
  createGunzip,
  createGzip,
  createInflateRaw,
} from "node:zlib";
import { LinkRewriter, proxiedLink, type ProxyPlace } from "./links.ts";

const codings: Readonly<
  Record<string, { unpack: () => Transform[]; pack: () => Transform[] }>
> = {
  "": { unpack: () => [], pack: () => [] },
  gzip: { unpack: () => [createGunzip()], pack: () => [createGzip()] },
  deflate: {
    unpack: () => [createInflateRaw()],
    pack: () => [createDeflateRaw()],
  },
};

/** Changes `headers` (those of the answer) as the steps it returns change the body. */
export function throughProxy(
  headers: OutgoingHttpHeaders,
  method: string,
  place: ProxyPlace,
): Transform[] {
  const { location } = headers;
  if (location !== undefined) {
    headers["location"] = proxiedLink(String(location), place);
    return [];
  }
  const type = String(headers["content-type"] ?? "").split(";")[0]!;
  const coding = codings[String(headers["content-encoding"] ?? "")];
  if (type.trim() !== "text/html" || !coding || method === "HEAD") return [];
  delete headers["content-length"];
  return [...coding.unpack(), pageTransform(place), ...coding.pack()];
}

function pageTransform(place: ProxyPlace): Transform {
  const decoder = new StringDecoder("utf8");
  const links = new LinkRewriter((link) => proxiedLink(link, place));
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, links.push(decoder.write(chunk)));
    },
    flush(done) {
      done(null, links.push(decoder.end()) + links.end());
    },
  });
}
