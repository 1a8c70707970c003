// apiserver-lite/cache/derived-bytes.ts
var slabBytes = 256 * 1024;
var defaultMaxBytes = 64 * 1024 * 1024;
var DerivedBytes = class {
  constructor(maxBytes = defaultMaxBytes, random = Math.random) {
    this.maxBytes = maxBytes;
    this.random = random;
  }
  maxBytes;
  random;
  #slabs = [];
  #bytes = 0;
  #current;
  /** Of all slabs. */
  get bytes() {
    return this.#bytes;
  }
  /** Copies `bytes`. @param next what else the entry has */
  keep(id, bytes, next) {
    const slab = this.#room(bytes.length);
    const start = slab.used;
    slab.bytes.set(bytes, start);
    slab.used += bytes.length;
    return { id, slab, start, length: bytes.length, next };
  }
  /** A view; undefined when it has been thrown away. */
  get({ slab, start, length }) {
    slab.touched = true;
    return slab.bytes?.subarray(start, start + length);
  }
  /** Throws away what nobody used since the last call. */
  age() {
    const unused = this.#slabs.filter(({ touched }) => !touched);
    for (const slab of unused) this.#drop(slab);
    for (const slab of this.#slabs) slab.touched = false;
  }
  #room(length) {
    const current = this.#current;
    if (current?.bytes && current.used + length <= current.bytes.length) {
      current.touched = true;
      return current;
    }
    const size = Math.max(slabBytes, length);
    while (this.#slabs.length > 0 && this.#bytes + size > this.maxBytes)
      this.#drop(this.#slabs[Math.floor(this.random() * this.#slabs.length)]);
    const slab = {
      bytes: Buffer.allocUnsafeSlow(size),
      used: 0,
      touched: true
    };
    this.#slabs.push(slab);
    this.#bytes += size;
    if (length < slabBytes) this.#current = slab;
    return slab;
  }
  #drop(slab) {
    this.#bytes -= slab.bytes.length;
    slab.bytes = void 0;
    const at = this.#slabs.indexOf(slab);
    this.#slabs[at] = this.#slabs.at(-1);
    this.#slabs.pop();
    if (this.#current === slab) this.#current = void 0;
  }
};

// api/exact-number.ts
var ExactNumber = class {
  constructor(text) {
    this.text = text;
  }
  text;
  /** The nearest double. */
  valueOf() {
    return Number(this.text);
  }
  toJSON() {
    return Number(this.text);
  }
};
var maxInt64 = 2 ** 63 - 1024;

// api/patch/json-value.ts
function copyJson(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list = value.slice();
    for (let at = 0; at < list.length; at++) {
      const item = list[at];
      if (typeof item === "object" && item !== null) list[at] = copyJson(item);
    }
    return list;
  }
  if (value instanceof ExactNumber) return value;
  const copy2 = { ...value };
  for (const key2 in copy2) {
    const inner = copy2[key2];
    if (typeof inner === "object" && inner !== null)
      copy2[key2] = copyJson(inner);
    else if (inner === void 0) delete copy2[key2];
  }
  return copy2;
}

// apiserver-lite/cache/deep-freeze.ts
function deepFreeze(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value))
    return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else
    for (const key2 in value) {
      const inner = value[key2];
      if (typeof inner === "object") deepFreeze(inner);
    }
  return value;
}

// api/codec/raw-json.ts
var RawJson = class {
  constructor(bytes) {
    this.bytes = bytes;
  }
  bytes;
  /** For JSON.stringify and encoders that do not know it. */
  toJSON() {
    return JSON.parse(this.bytes.toString("utf8"));
  }
};

// apiserver-lite/cache/lean-object.ts
var key = Buffer.from('"fieldsV1":');
var quote = 34;
var backslash = 92;
var open = 123;
var close = 125;
function parseLean(json, metadataEnd) {
  const documents = [];
  let text = "";
  let from = 0;
  for (let at = json.indexOf(key); at >= 0 && at < metadataEnd; at = json.indexOf(key, from)) {
    const start = at + key.length;
    const end = json[start] === open ? endOfObject(json, start) : -1;
    if (end < 0) break;
    text += `${json.toString("utf8", from, start)}0`;
    documents.push(new RawJson(json.subarray(start, end)));
    from = end;
  }
  text += json.toString("utf8", from);
  const object = JSON.parse(text);
  let next = 0;
  for (const entry of object.metadata.managedFields ?? [])
    if (entry.fieldsV1 === 0)
      entry.fieldsV1 = documents[next++];
  return next === documents.length ? object : JSON.parse(json.toString("utf8"));
}
function endOfObject(json, start) {
  let at = start + 1;
  for (let depth = 1; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      for (at++; json[at] !== quote; at++) if (json[at] === backslash) at++;
    } else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return -1;
}

// apiserver-lite/cache/cache-entry.ts
var CacheEntry = class {
  constructor(key2, namespace, name, revision, json, labels2, fields2, object) {
    this.key = key2;
    this.namespace = namespace;
    this.name = name;
    this.revision = revision;
    this.json = json;
    this.labels = labels2;
    this.fields = fields2;
    this.#object = object;
  }
  key;
  namespace;
  name;
  revision;
  json;
  labels;
  fields;
  #object;
  /** The object once it is cool: whoever still holds it (informers) shares it, else it is parsed again. */
  #cooled;
  #frozen = false;
  #derived;
  /** See `metadataEnd`; 0: not looked for yet. */
  #metadataEnd = 0;
  /** For readers outside the registry: deep-frozen, shared. */
  get object() {
    const object = this.raw;
    if (!this.#frozen) {
      deepFreeze(object);
      this.#frozen = true;
    }
    return object;
  }
  /** The same without the cost of freezing, for code that is known not to write. */
  get raw() {
    return this.#object ??= this.#found();
  }
  #found() {
    const kept = this.#cooled?.deref();
    this.#cooled = void 0;
    if (kept) return kept;
    this.#frozen = false;
    return JSON.parse(this.json.toString("utf8"));
  }
  /** Lets go of the object it was written from, which takes several times the bytes' memory. */
  cool() {
    if (this.#object && this.#frozen) this.#cooled = new WeakRef(this.#object);
    this.#object = void 0;
  }
  /** A private copy to change. */
  copy() {
    return this.#object ? copyJson(this.#object) : JSON.parse(this.json.toString("utf8"));
  }
  field(name) {
    if (name === "metadata.name") return this.name;
    if (name === "metadata.namespace") return this.namespace;
    return this.fields[name] ?? "";
  }
  /** For one use and not to be changed: it is not kept, so that reading many objects does not fill the heap. */
  get transient() {
    return this.#object ?? this.#cooled?.deref() ?? JSON.parse(this.json.toString("utf8"));
  }
  /**
   * The same for those who only read it to encode it: the documents of its managed fields may be RawJson.
   * @param start where the metadata begin, see `metadataEnd`
   */
  lean(start) {
    return this.#object ?? this.#cooled?.deref() ?? parseLean(this.json, this.metadataEnd(start));
  }
  /** Another encoding. @param id of the representation */
  encoding(store, id, make2) {
    const known = this.#find(id);
    const kept = known && store.get(known);
    if (kept) return kept;
    const bytes = make2(this);
    const others = known ? without(this.#derived, known) : this.#derived;
    this.#derived = store.keep(id, bytes, others);
    return bytes;
  }
  /** Of an encoding made before, also when it is no longer kept. */
  encodedLength(id) {
    return this.#find(id)?.length;
  }
  #find(id) {
    let derived2 = this.#derived;
    while (derived2 && derived2.id !== id) derived2 = derived2.next;
    return derived2;
  }
  /**
   * Where the metadata end in `json`: they begin at `start` with `"metadata":{`, and stand whole before this index.
   * -1 when they are not there.
   */
  metadataEnd(start) {
    if (this.#metadataEnd === 0)
      this.#metadataEnd = endOfMember(this.json, start);
    return this.#metadataEnd;
  }
  /** History keeps the bytes only. */
  shrink() {
    this.#object = void 0;
    this.#cooled = void 0;
    this.#frozen = false;
    this.#derived = void 0;
  }
};
function without(list, one) {
  if (!list || list === one) return list?.next;
  return { ...list, next: without(list.next, one) };
}
var metadataStart = Buffer.from('"metadata":{');
function endOfMember(json, start) {
  const at = start + metadataStart.length;
  return metadataStart.compare(json, start, at) === 0 ? endOfObject(json, at - 1) : -1;
}

// api/codec/value-type-names.ts
var ROOMS = {
  "": "core",
  events: "core",
  internal: "apiserverinternal"
};
function internalTypeName(group2, kind2) {
  const room = group2.split(".", 1)[0];
  return `${ROOMS[room] ?? room}.${kind2}`;
}

// api/dialect.ts
var CANONICAL_SUFFIX = ".k8s.io";
var ALIAS_SUFFIX = ".orbit.io";
function normaliseGroup(group2) {
  return group2.endsWith(ALIAS_SUFFIX) ? group2.slice(0, -ALIAS_SUFFIX.length) + CANONICAL_SUFFIX : group2;
}
function aliasGroup(group2) {
  return group2.endsWith(CANONICAL_SUFFIX) ? group2.slice(0, -CANONICAL_SUFFIX.length) + ALIAS_SUFFIX : group2;
}
function mapVersion(apiVersion, map) {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? apiVersion : map(apiVersion.slice(0, slash)) + apiVersion.slice(slash);
}
function normaliseApiVersion(apiVersion) {
  return apiVersion.includes(ALIAS_SUFFIX) ? mapVersion(apiVersion, normaliseGroup) : apiVersion;
}
function aliasApiVersion(apiVersion) {
  return apiVersion.includes(CANONICAL_SUFFIX) ? mapVersion(apiVersion, aliasGroup) : apiVersion;
}
var VERSION_FIELDS = /* @__PURE__ */ new Set(["apiVersion", "groupVersion"]);
var GROUP_FIELDS = /* @__PURE__ */ new Set(["apiGroup"]);
var GROUP_LIST_FIELDS = /* @__PURE__ */ new Set(["apiGroups"]);
var OPAQUE_FIELDS = /* @__PURE__ */ new Set([
  "annotations",
  "binaryData",
  "data",
  "fieldsV1",
  "labels",
  "matchLabels",
  "nodeSelector",
  "stringData"
]);
function aliasDocument(document) {
  const copy2 = structuredClone(document);
  rewrite(copy2, aliasApiVersion, aliasGroup);
  return copy2;
}
function rewrite(value, version, group2) {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) rewrite(item, version, group2);
    return;
  }
  const object = value;
  for (const key2 of Object.keys(object)) {
    const inner = object[key2];
    if (typeof inner === "string") {
      if (VERSION_FIELDS.has(key2)) object[key2] = version(inner);
      else if (GROUP_FIELDS.has(key2)) object[key2] = group2(inner);
    } else if (Array.isArray(inner) && GROUP_LIST_FIELDS.has(key2)) {
      object[key2] = inner.map(
        (one) => typeof one === "string" ? group2(one) : one
      );
    } else if (!OPAQUE_FIELDS.has(key2)) {
      if (key2 === "resourceAttributes" || key2 === "resource")
        renameGroup(inner, group2);
      rewrite(inner, version, group2);
    }
  }
}
function renameGroup(attributes, group2) {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes))
    return;
  const fields2 = attributes;
  if (typeof fields2["group"] === "string")
    fields2["group"] = group2(fields2["group"]);
}

// api/errors.ts
var ApiError = class extends Error {
  status;
  /** Extra response headers, e.g. Retry-After. */
  headers;
  constructor(status, headers = {}) {
    super(status.message ?? status.reason ?? `status ${status.code}`);
    this.name = "ApiError";
    const { metadata = {}, message, reason, details, code } = status;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: status.status ?? "Failure",
      ...message !== void 0 && { message },
      ...reason !== void 0 && { reason },
      ...details !== void 0 && { details },
      code
    };
    this.headers = headers;
  }
  get code() {
    return this.status.code;
  }
  get reason() {
    return this.status.reason ?? "";
  }
};
function qualified({ group: group2, resource }) {
  return group2 === "" ? resource : `${resource}.${group2}`;
}
function named(code, reason, message, { group: group2, resource }, name, causes) {
  const details = {
    ...name ? { name } : {},
    ...group2 ? { group: group2 } : {},
    kind: resource,
    ...causes ? { causes } : {}
  };
  return new ApiError({ code, reason, message, details });
}
var errors = {
  notFound: (resource, name) => named(
    404,
    "NotFound",
    `${qualified(resource)} "${name}" not found`,
    resource,
    name
  ),
  alreadyExists: (resource, name) => named(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists`,
    resource,
    name
  ),
  conflict: (resource, name, why) => named(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`,
    resource,
    name
  ),
  /** A stale resourceVersion. */
  stale: (resource, name) => errors.conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again"
  ),
  /** All problems of an object at once; `kind` goes into details as the reference does. */
  invalid: (gk, name, problems) => {
    const texts = problems.map(
      (problem) => `${problem.field}: ${problem.detail}`
    );
    const distinct = [...new Set(texts)];
    const all = distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`;
    const qualifiedKind = gk.group === "" ? gk.kind : `${gk.kind}.${gk.group}`;
    return new ApiError({
      code: 422,
      reason: "Invalid",
      message: `${qualifiedKind} "${name}" is invalid: ${all}`,
      details: {
        ...name ? { name } : {},
        ...gk.group ? { group: gk.group } : {},
        ...gk.kind ? { kind: gk.kind } : {},
        causes: problems.map(({ type, field, detail }) => ({
          reason: type,
          message: detail,
          field
        }))
      }
    });
  },
  forbidden: (resource, name, why) => {
    const what = name === "" ? `${qualified(resource)} is forbidden` : `${qualified(resource)} "${name}" is forbidden`;
    return named(403, "Forbidden", `${what}: ${why}`, resource, name);
  },
  badRequest: (message) => new ApiError({ code: 400, reason: "BadRequest", message }),
  unauthorized: () => new ApiError({
    code: 401,
    reason: "Unauthorized",
    message: "Unauthorized"
  }),
  methodNotAllowed: (resource, verb) => new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${verb} is not supported on resources of kind "${qualified(resource)}"`,
    details: {
      ...resource.group ? { group: resource.group } : {},
      kind: resource.resource
    }
  }),
  notAcceptable: (message) => new ApiError({ code: 406, reason: "NotAcceptable", message }),
  unsupportedMediaType: (message) => new ApiError({ code: 415, reason: "UnsupportedMediaType", message }),
  tooLarge: (message) => new ApiError({ code: 413, reason: "RequestEntityTooLarge", message }),
  expired: (message) => new ApiError({ code: 410, reason: "Expired", message }),
  gone: (message) => new ApiError({ code: 410, reason: "Gone", message }),
  timeout: (message, retryAfterSeconds = 1) => new ApiError(
    { code: 504, reason: "Timeout", message, details: { retryAfterSeconds } },
    { "Retry-After": String(retryAfterSeconds) }
  ),
  tooManyRequests: (message, retryAfterSeconds = 1) => new ApiError(
    {
      code: 429,
      reason: "TooManyRequests",
      message,
      details: { retryAfterSeconds }
    },
    { "Retry-After": String(retryAfterSeconds) }
  ),
  unavailable: (message) => new ApiError({ code: 503, reason: "ServiceUnavailable", message }),
  internal: (message) => new ApiError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] }
  })
};
function hasReason(error, reason) {
  return error instanceof ApiError && error.reason === reason;
}
var isNotFound = (error) => hasReason(error, "NotFound");
var otherUidText = (key2, wanted, found) => `StorageError: invalid object, Code: 4, Key: ${key2}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ""}`;

// apiserver-lite/cache/watch-cache.ts
var noFields = Object.freeze({});
function encodeObject(object) {
  const { kind: kind2, apiVersion, metadata, ...rest } = object;
  return Buffer.from(
    `${JSON.stringify({ kind: kind2, apiVersion, metadata, ...rest })}
`
  );
}

// apiserver-lite/http/exchange.ts
var lineEnd = Buffer.from("\r\n");
function chunkOf(bytes) {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r
`),
    bytes,
    lineEnd
  ]);
}

// apiserver-lite/http/formats.ts
var comma = 44;
var chunkBytes = 64 * 1024;
var itemsPerLook = 8;
var jsonListEnd = Buffer.from("]}\n");
var frameEnd = Buffer.from("}\n");
var frameHeads = new Map(
  ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"].map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`)
  ])
);
function* jsonListParts(head, pieces) {
  const { count: count3, before: before2, behind, ready } = pieces;
  const around = 1 + before2.length + behind.length;
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let used = chunk.write(JSON.stringify({ ...head, items: [] }).slice(0, -2));
  for (let index = 0; index < count3; index++) {
    const { bytes, start, end } = pieces.piece(index);
    const length = around + end - start;
    if (used + length > chunk.length) {
      yield chunk.subarray(0, used);
      chunk = Buffer.allocUnsafe(Math.max(chunkBytes, length));
      used = 0;
    }
    if (index > 0) chunk[used++] = comma;
    used += before2.copy(chunk, used);
    used += bytes.copy(chunk, used, start, end);
    used += behind.copy(chunk, used);
    if (!ready && index % itemsPerLook === 0) yield void 0;
  }
  yield chunk.subarray(0, used);
  yield jsonListEnd;
}
function* joined(pieces) {
  let pending = [];
  let bytes = 0;
  let since = 0;
  for (const piece of pieces) {
    if (piece) {
      pending.push(piece);
      bytes += piece.byteLength;
    }
    if (bytes >= chunkBytes) {
      yield Buffer.concat(pending, bytes);
      pending = [];
      bytes = 0;
    } else if (!piece || ++since % (4 * itemsPerLook) === 0) yield void 0;
  }
  if (bytes > 0) yield Buffer.concat(pending, bytes);
}
function* prettyListParts(head, field, count3, object) {
  const empty = JSON.stringify({ ...head, [field]: [] }, null, 2);
  if (count3 === 0) return yield Buffer.from(empty);
  function* pieces() {
    yield Buffer.from(empty.slice(0, -"]\n}".length));
    for (let index = 0; index < count3; index++) {
      const text = JSON.stringify(object(index), null, 2);
      yield Buffer.from(
        `${index === 0 ? "" : ","}
    ${text.replaceAll("\n", "\n    ")}`
      );
    }
    yield Buffer.from("\n  ]\n}");
  }
  yield* joined(pieces());
}
var jsonFormat = {
  name: "json",
  streamType: (contentType) => contentType,
  encode: (object) => Buffer.from(`${JSON.stringify(object)}
`),
  list: function* (head, field, items) {
    function* pieces() {
      yield Buffer.from(
        JSON.stringify({ ...head, [field]: [] }).slice(0, -"]}".length)
      );
      for (let index = 0; index < items.count; index++)
        yield Buffer.from(
          `${index === 0 ? "" : ","}${JSON.stringify(items.object(index))}`
        );
      yield jsonListEnd;
    }
    yield* joined(pieces());
  },
  frame: (type, object) => Buffer.concat([
    frameHeads.get(type),
    object.subarray(0, object.length - 1),
    frameEnd
  ])
};

// api/object.ts
function apiVersionOf(gv) {
  return gv.group === "" ? gv.version : `${gv.group}/${gv.version}`;
}
function parseApiVersion(apiVersion) {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? { group: "", version: apiVersion } : {
    group: apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1)
  };
}

// api/trim.ts
function trimEnd(text, characters) {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1])) end--;
  return text.slice(0, end);
}

// api/duration.ts
var unitMs = {
  ns: 1e-6,
  us: 1e-3,
  \u00B5s: 1e-3,
  \u03BCs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5
};
function parseDurationMs(text) {
  const quoted3 = JSON.stringify(text);
  const match = /^([-+]?)(.*)$/s.exec(text);
  const rest = match[2];
  if (rest === "0") return 0;
  if (rest === "") throw new Error(`time: invalid duration ${quoted3}`);
  const part = /([0-9]*)(\.[0-9]*)?([^0-9.]*)/gy;
  let totalMs = 0;
  while (part.lastIndex < rest.length) {
    const [whole2, integer = "", fraction = "", unit = ""] = part.exec(rest) ?? [
      ""
    ];
    if (whole2 === "" || integer === "" && fraction.length < 2)
      throw new Error(`time: invalid duration ${quoted3}`);
    if (unit === "")
      throw new Error(`time: missing unit in duration ${quoted3}`);
    const factor = unitMs[unit];
    if (factor === void 0)
      throw new Error(
        `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted3}`
      );
    totalMs += Number(`${integer || "0"}${fraction === "." ? "" : fraction}`) * factor;
  }
  if (totalMs > 9223372036854775e-3)
    throw new Error(`time: invalid duration ${quoted3}`);
  return match[1] === "-" ? -totalMs : totalMs;
}
function humanDuration(durationMs) {
  const seconds = Math.trunc(durationMs / 1e3);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days2 = Math.floor(hours / 24);
  if (hours < 192) return pair(days2, "d", hours % 24, "h");
  if (days2 < 730) return `${days2}d`;
  const years = Math.floor(days2 / 365);
  return days2 < 2920 ? pair(years, "y", days2 % 365, "d") : `${years}y`;
}
function pair(large, largeUnit, small, smallUnit) {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

// apiserver-lite/printing/age.ts
function formatAge(timestamp, now) {
  if (!timestamp) return "<unknown>";
  const sinceMs = Date.parse(timestamp);
  return Number.isNaN(now) && !Number.isNaN(sinceMs) ? `\0${sinceMs}\0` : humanDuration(now - sinceMs);
}
var agePlaces = /\\u0000\\u0001(-?)(\d{1,16})\\u0000/g;
function formatLabels(labels2) {
  const keys = Object.keys(labels2 ?? {}).sort();
  return keys.length === 0 ? "<none>" : keys.map((key2) => `${key2}=${labels2[key2]}`).join(",");
}
function orNone(text) {
  return text ? text : "<none>";
}
function formatFew(items, none = "<none>", max = 3) {
  if (items.length === 0) return none;
  const shown2 = items.slice(0, max).join(",");
  return items.length > max ? `${shown2} + ${items.length - max} more...` : shown2;
}

// api/facts/table-columns.json
var table_columns_default = { "Pod.": [["Name", "string", "name", 0], ["Ready", "string", "", 0], ["Status", "string", "", 0], ["Restarts", "string", "", 0], ["Age", "string", "", 0], ["IP", "string", "", 1], ["Node", "string", "", 1], ["Nominated Node", "string", "", 1], ["Readiness Gates", "string", "", 1]], "PodTemplate.": [["Name", "string", "name", 0], ["Containers", "string", "", 0], ["Images", "string", "", 0], ["Pod Labels", "string", "", 0]], "PodDisruptionBudget.policy": [["Name", "string", "name", 0], ["Min Available", "string", "", 0], ["Max Unavailable", "string", "", 0], ["Allowed Disruptions", "integer", "", 0], ["Age", "string", "", 0]], "ReplicationController.": [["Name", "string", "name", 0], ["Desired", "integer", "", 0], ["Current", "integer", "", 0], ["Ready", "integer", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "ReplicaSet.apps": [["Name", "string", "name", 0], ["Desired", "integer", "", 0], ["Current", "integer", "", 0], ["Ready", "integer", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "DaemonSet.apps": [["Name", "string", "name", 0], ["Desired", "integer", "", 0], ["Current", "integer", "", 0], ["Ready", "integer", "", 0], ["Up-to-date", "integer", "", 0], ["Available", "integer", "", 0], ["Node Selector", "string", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "Job.batch": [["Name", "string", "name", 0], ["Status", "string", "", 0], ["Completions", "string", "", 0], ["Duration", "string", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "CronJob.batch": [["Name", "string", "name", 0], ["Schedule", "string", "", 0], ["Timezone", "string", "", 0], ["Suspend", "boolean", "", 0], ["Active", "integer", "", 0], ["Last Schedule", "string", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "Service.": [["Name", "string", "name", 0], ["Type", "string", "", 0], ["Cluster-IP", "string", "", 0], ["External-IP", "string", "", 0], ["Port(s)", "string", "", 0], ["Age", "string", "", 0], ["Selector", "string", "", 1]], "Ingress.networking.k8s.io": [["Name", "string", "name", 0], ["Class", "string", "", 0], ["Hosts", "string", "", 0], ["Address", "string", "", 0], ["Ports", "string", "", 0], ["Age", "string", "", 0]], "IngressClass.networking.k8s.io": [["Name", "string", "name", 0], ["Controller", "string", "", 0], ["Parameters", "string", "", 0], ["Age", "string", "", 0]], "StatefulSet.apps": [["Name", "string", "name", 0], ["Ready", "string", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1]], "Endpoints.": [["Name", "string", "name", 0], ["Endpoints", "string", "", 0], ["Age", "string", "", 0]], "Node.": [["Name", "string", "name", 0], ["Status", "string", "", 0], ["Roles", "string", "", 0], ["Age", "string", "", 0], ["Version", "string", "", 0], ["Internal-IP", "string", "", 1], ["External-IP", "string", "", 1], ["OS-Image", "string", "", 1], ["Kernel-Version", "string", "", 1], ["Container-Runtime", "string", "", 1]], "Event.": [["Last Seen", "string", "", 0], ["Type", "string", "", 0], ["Reason", "string", "", 0], ["Object", "string", "", 0], ["Subobject", "string", "", 1], ["Source", "string", "", 1], ["Message", "string", "", 0], ["First Seen", "string", "", 1], ["Count", "string", "", 1], ["Name", "string", "name", 1]], "Event.events.k8s.io": [["Last Seen", "string", "", 0], ["Type", "string", "", 0], ["Reason", "string", "", 0], ["Object", "string", "", 0], ["Subobject", "string", "", 1], ["Source", "string", "", 1], ["Message", "string", "", 0], ["First Seen", "string", "", 1], ["Count", "string", "", 1], ["Name", "string", "name", 1]], "Namespace.": [["Name", "string", "name", 0], ["Status", "string", "", 0], ["Age", "string", "", 0]], "Secret.": [["Name", "string", "name", 0], ["Type", "string", "", 0], ["Data", "string", "", 0], ["Age", "string", "", 0]], "ServiceAccount.": [["Name", "string", "name", 0], ["Secrets", "string", "", 0], ["Age", "string", "", 0]], "PersistentVolume.": [["Name", "string", "name", 0], ["Capacity", "string", "", 0], ["Access Modes", "string", "", 0], ["Reclaim Policy", "string", "", 0], ["Status", "string", "", 0], ["Claim", "string", "", 0], ["StorageClass", "string", "", 0], ["VolumeAttributesClass", "string", "", 0], ["Reason", "string", "", 0], ["Age", "string", "", 0], ["VolumeMode", "string", "", 1]], "PersistentVolumeClaim.": [["Name", "string", "name", 0], ["Status", "string", "", 0], ["Volume", "string", "", 0], ["Capacity", "string", "", 0], ["Access Modes", "string", "", 0], ["StorageClass", "string", "", 0], ["VolumeAttributesClass", "string", "", 0], ["Age", "string", "", 0], ["VolumeMode", "string", "", 1]], "ComponentStatus.": [["Name", "string", "name", 0], ["Status", "string", "", 0], ["Message", "string", "", 0], ["Error", "string", "", 0]], "Deployment.apps": [["Name", "string", "name", 0], ["Ready", "string", "", 0], ["Up-to-date", "string", "", 0], ["Available", "string", "", 0], ["Age", "string", "", 0], ["Containers", "string", "", 1], ["Images", "string", "", 1], ["Selector", "string", "", 1]], "HorizontalPodAutoscaler.autoscaling": [["Name", "string", "name", 0], ["Reference", "string", "", 0], ["Targets", "string", "", 0], ["MinPods", "string", "", 0], ["MaxPods", "string", "", 0], ["Replicas", "string", "", 0], ["Age", "string", "", 0]], "ConfigMap.": [["Name", "string", "name", 0], ["Data", "string", "", 0], ["Age", "string", "", 0]], "NetworkPolicy.networking.k8s.io": [["Name", "string", "name", 0], ["Pod-Selector", "string", "", 0], ["Age", "string", "", 0]], "RoleBinding.rbac.authorization.k8s.io": [["Name", "string", "name", 0], ["Role", "string", "", 0], ["Age", "string", "", 0], ["Users", "string", "", 1], ["Groups", "string", "", 1], ["ServiceAccounts", "string", "", 1]], "ClusterRoleBinding.rbac.authorization.k8s.io": [["Name", "string", "name", 0], ["Role", "string", "", 0], ["Age", "string", "", 0], ["Users", "string", "", 1], ["Groups", "string", "", 1], ["ServiceAccounts", "string", "", 1]], "CertificateSigningRequest.certificates.k8s.io": [["Name", "string", "name", 0], ["Age", "string", "", 0], ["SignerName", "string", "", 0], ["Requestor", "string", "", 0], ["RequestedDuration", "string", "", 0], ["Condition", "string", "", 0]], "ClusterTrustBundle.certificates.k8s.io": [["Name", "string", "name", 0], ["SignerName", "string", "", 0]], "Lease.coordination.k8s.io": [["Name", "string", "name", 0], ["Holder", "string", "", 0], ["Age", "string", "", 0]], "LeaseCandidate.coordination.k8s.io": [["Name", "string", "name", 0], ["LeaseName", "string", "", 0], ["BinaryVersion", "string", "", 0], ["EmulationVersion", "string", "", 0], ["Age", "string", "", 0]], "StorageClass.storage.k8s.io": [["Name", "string", "name", 0], ["Provisioner", "string", "", 0], ["ReclaimPolicy", "string", "", 0], ["VolumeBindingMode", "string", "", 0], ["AllowVolumeExpansion", "string", "", 0], ["Age", "string", "", 0]], "VolumeAttributesClass.storage.k8s.io": [["Name", "string", "name", 0], ["DriverName", "string", "", 0], ["Age", "string", "", 0]], "Status.meta.k8s.io": [["Status", "string", "", 0], ["Reason", "string", "", 0], ["Message", "string", "", 0]], "ControllerRevision.apps": [["Name", "string", "name", 0], ["Controller", "string", "", 0], ["Revision", "string", "", 0], ["Age", "string", "", 0]], "ResourceQuota.": [["Name", "string", "name", 0], ["Age", "string", "", 0], ["Request", "string", "", 0], ["Limit", "string", "", 0]], "PriorityClass.scheduling.k8s.io": [["Name", "string", "name", 0], ["Value", "integer", "", 0], ["Global-Default", "boolean", "", 0], ["Age", "string", "", 0], ["PreemptionPolicy", "string", "", 0]], "RuntimeClass.node.k8s.io": [["Name", "string", "name", 0], ["Handler", "string", "", 0], ["Age", "string", "", 0]], "VolumeAttachment.storage.k8s.io": [["Name", "string", "name", 0], ["Attacher", "string", "name", 0], ["PV", "string", "", 0], ["Node", "string", "", 0], ["Attached", "boolean", "", 0], ["Age", "string", "", 0]], "EndpointSlice.discovery.k8s.io": [["Name", "string", "name", 0], ["AddressType", "string", "", 0], ["Ports", "string", "", 0], ["Endpoints", "string", "", 0], ["Age", "string", "", 0]], "CSINode.storage.k8s.io": [["Name", "string", "name", 0], ["Drivers", "integer", "", 0], ["Age", "string", "", 0]], "CSIDriver.storage.k8s.io": [["Name", "string", "name", 0], ["AttachRequired", "boolean", "", 0], ["PodInfoOnMount", "boolean", "", 0], ["StorageCapacity", "boolean", "", 0], ["TokenRequests", "string", "", 0], ["RequiresRepublish", "boolean", "", 0], ["Modes", "string", "", 0], ["Age", "string", "", 0]], "CSIStorageCapacity.storage.k8s.io": null, "MutatingWebhookConfiguration.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["Webhooks", "integer", "", 0], ["Age", "string", "", 0]], "ValidatingWebhookConfiguration.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["Webhooks", "integer", "", 0], ["Age", "string", "", 0]], "ValidatingAdmissionPolicy.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["Validations", "integer", "", 0], ["ParamKind", "string", "", 0], ["Age", "string", "", 0]], "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["PolicyName", "string", "", 0], ["ParamRef", "string", "", 0], ["Age", "string", "", 0]], "MutatingAdmissionPolicy.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["Mutations", "integer", "", 0], ["ParamKind", "string", "", 0], ["Age", "string", "", 0]], "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": [["Name", "string", "name", 0], ["PolicyName", "string", "", 0], ["ParamRef", "string", "", 0], ["Age", "string", "", 0]], "FlowSchema.flowcontrol.apiserver.k8s.io": [["Name", "string", "name", 0], ["PriorityLevel", "string", "", 0], ["MatchingPrecedence", "string", "", 0], ["DistinguisherMethod", "string", "", 0], ["Age", "string", "", 0], ["MissingPL", "string", "", 0]], "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": [["Name", "string", "name", 0], ["Type", "string", "", 0], ["NominalConcurrencyShares", "string", "", 0], ["Queues", "string", "", 0], ["HandSize", "string", "", 0], ["QueueLengthLimit", "string", "", 0], ["Age", "string", "", 0]], "StorageVersion.internal.apiserver.k8s.io": [["Name", "string", "name", 0], ["CommonEncodingVersion", "string", "", 0], ["StorageVersions", "string", "", 0], ["Age", "string", "", 0]], "Scale.autoscaling": [["Name", "string", "", 0], ["Desired", "integer", "", 0], ["Available", "integer", "", 0], ["Age", "string", "", 0]], "DeviceClass.resource.k8s.io": [["Name", "string", "name", 0], ["Age", "string", "", 0]], "ResourceClaim.resource.k8s.io": [["Name", "string", "name", 0], ["State", "string", "", 0], ["Age", "string", "", 0]], "ResourceClaimTemplate.resource.k8s.io": [["Name", "string", "name", 0], ["Age", "string", "", 0]], "ResourceSlice.resource.k8s.io": [["Name", "string", "name", 0], ["Node", "string", "", 0], ["Driver", "string", "", 0], ["Pool", "string", "", 0], ["Age", "string", "", 0]], "ServiceCIDR.networking.k8s.io": [["Name", "string", "name", 0], ["CIDRs", "string", "", 0], ["Age", "string", "", 0]], "IPAddress.networking.k8s.io": [["Name", "string", "name", 0], ["ParentRef", "string", "", 0]], "StorageVersionMigration.storagemigration.k8s.io": [["Name", "string", "", 0], ["Resource", "string", "", 0]], "LimitRange.": null, "Role.rbac.authorization.k8s.io": null, "ClusterRole.rbac.authorization.k8s.io": null, "CustomResourceDefinition.apiextensions.k8s.io": null, "APIService.apiregistration.k8s.io": [["Name", "string", "name", 0], ["Service", "string", "", 0], ["Available", "string", "", 0], ["Age", "string", "", 0]] };

// apiserver-lite/printing/table.ts
var facts = table_columns_default;
var defaultColumns = [
  ["Name", "string", "name", 0],
  ["Created At", "date", "", 0]
];
function descriptionOf(name) {
  if (name === "Name") return "Identifies the object among its kind.";
  if (name === "Age") return "Time since the object was created.";
  if (name === "Handler") return "";
  if (name === "Created At") return "When the object was created.";
  return `The object's ${name.toLowerCase()}.`;
}
function columnsOf(info2, strategy) {
  const columns = strategy.printRow && facts[`${info2.kind}.${info2.group}`] || defaultColumns;
  return columns.map(([name, type, format, priority]) => ({
    name,
    type,
    format,
    description: descriptionOf(name),
    priority
  }));
}
function cellsOf(strategy, object, now) {
  return strategy.printRow?.(object, now) ?? [
    object.metadata.name,
    object.metadata.creationTimestamp ?? null
  ];
}

// apiserver-lite/printing/row-template.ts
var mark = 0;
var zero = 48;
var minus = 45;
var digits = 13;
function rowTemplate(strategy, object, behind = "") {
  const cells = JSON.stringify(cellsOf(strategy, object, Number.NaN));
  const places = cells.replace(
    agePlaces,
    (_place, sign, moment) => `\0${sign}${moment.padStart(digits, "0")}\0`
  );
  return Buffer.from(`{"cells":${places},"object":${behind}`);
}
function fillTemplate(template, now, out, at) {
  const { length } = template;
  for (let index = 0; index < length; index++) {
    const byte = template[index];
    if (byte !== mark) {
      out[at++] = byte;
      continue;
    }
    const negative = template[index + 1] === minus;
    if (negative) index++;
    let sinceMs = 0;
    for (index++; template[index] !== mark; index++)
      sinceMs = sinceMs * 10 + template[index] - zero;
    const age = humanDuration(now - (negative ? -sinceMs : sinceMs));
    for (let each = 0; each < age.length; each++)
      out[at++] = age.charCodeAt(each);
  }
  return at;
}

// apiserver-lite/printing/scale.ts
var scaleRows = {
  printRow(object, now) {
    const { spec, status } = object;
    const { name, creationTimestamp } = object.metadata;
    return [
      name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      formatAge(creationTimestamp, now)
    ];
  }
};

// apiserver-lite/http/table.ts
var nothing = Buffer.alloc(0);
var comma2 = 44;
var closingBrace = 125;
function partialMetadata(object, metaVersion) {
  return {
    kind: "PartialObjectMetadata",
    apiVersion: metaVersion,
    metadata: object.metadata
  };
}
var TableMaker = class {
  constructor(endpoint2, include, metaVersion, now, derived2) {
    this.endpoint = endpoint2;
    this.include = include;
    this.metaVersion = metaVersion;
    this.now = now;
    this.derived = derived2;
  }
  endpoint;
  include;
  metaVersion;
  now;
  derived;
  table(entries2, metadata) {
    return this.tableOf(
      entries2.map((entry) => entry.transient),
      metadata
    );
  }
  /** `objects` in the stored version. `columns`: false for the frames of a watch after the first. */
  tableOf(objects, metadata, columns = true) {
    return {
      ...this.head(metadata, columns),
      rows: objects.map((object) => this.row(object))
    };
  }
  /** @param object in the stored version */
  row(object) {
    return {
      cells: this.#cells(object),
      object: this.#shown(this.endpoint.toServed(object))
    };
  }
  /** Of an object that is not of the endpoint's kind: a subresource's. */
  valueTable(object) {
    const { kind: kind2 = "", apiVersion = "", metadata } = object;
    const { group: group2 } = parseApiVersion(apiVersion);
    const rows = kind2 === "Scale" ? scaleRows : {};
    const { resourceVersion } = metadata;
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata: resourceVersion ? { resourceVersion } : {},
      columnDefinitions: columnsOf({ group: group2, kind: kind2 }, rows),
      rows: [
        {
          cells: cellsOf(rows, object, this.now()),
          object: this.#shown(object)
        }
      ]
    };
  }
  /** The table's JSON, from kept pieces. */
  *jsonParts(entries2, head) {
    const now = this.now();
    const { strategy, native, itemSkip, apiVersion } = this.endpoint;
    const objects = this.#rowObjects();
    const { before: before2, behind } = objects;
    const id = `cells|${apiVersion}|${before2}`;
    const template = (entry) => rowTemplate(
      strategy,
      native ? entry.lean(itemSkip) : entry.transient,
      before2
    );
    let chunk = Buffer.allocUnsafe(chunkBytes);
    let used = chunk.write(JSON.stringify({ ...head, rows: [] }).slice(0, -2));
    for (let index = 0; index < entries2.length; index++) {
      const entry = entries2[index];
      const cells = entry.encoding(this.derived, id, template);
      const bytes = objects.bytes(entry);
      const start = objects.start(entry);
      const end = objects.end(entry);
      const most = 1 + cells.length + end - start + behind.length;
      if (used + most > chunk.length) {
        yield chunk.subarray(0, used);
        chunk = Buffer.allocUnsafe(Math.max(chunkBytes, most));
        used = 0;
      }
      if (index > 0) chunk[used++] = comma2;
      used = fillTemplate(cells, now, chunk, used);
      used += bytes.copy(chunk, used, start, end);
      for (let brace2 = 0; brace2 < behind.length; brace2++)
        chunk[used++] = closingBrace;
      if (index % itemsPerLook === 0) yield void 0;
    }
    yield chunk.subarray(0, used);
    yield Buffer.from("]}\n");
  }
  #rowObjects() {
    const { endpoint: endpoint2, include, metaVersion, derived: derived2 } = this;
    if (include === "None")
      return {
        before: "null",
        behind: "}",
        bytes: () => nothing,
        start: () => 0,
        end: () => 0
      };
    if (endpoint2.native && include === "Object")
      return {
        before: "",
        behind: "}",
        bytes: ({ json }) => json,
        start: () => 0,
        end: ({ json }) => json.length - 1
      };
    const { itemSkip, native } = endpoint2;
    const id = `row|${include}|${metaVersion}|${endpoint2.apiVersion}`;
    const encoded = (entry) => entry.encoding(
      derived2,
      id,
      ({ transient }) => Buffer.from(
        JSON.stringify(
          this.#shown(endpoint2.toServed(transient))
        )
      )
    );
    if (!native || include === "Object")
      return {
        before: "",
        behind: "}",
        bytes: encoded,
        start: () => 0,
        end: (entry) => encoded(entry).length
      };
    const before2 = `${JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: metaVersion }).slice(0, -1)},`;
    const cut = (entry) => entry.metadataEnd(itemSkip) > 0;
    return {
      before: before2,
      behind: "}}",
      bytes: (entry) => cut(entry) ? entry.json : encoded(entry),
      start: (entry) => cut(entry) ? itemSkip : before2.length,
      end: (entry) => cut(entry) ? entry.metadataEnd(itemSkip) : encoded(entry).length - "}".length
    };
  }
  head(metadata, columns = true) {
    return {
      kind: "Table",
      apiVersion: this.metaVersion,
      metadata,
      columnDefinitions: columns ? columnsOf(this.endpoint.info, this.endpoint.strategy) : []
    };
  }
  #cells(object) {
    return cellsOf(this.endpoint.strategy, object, this.now());
  }
  #shown(object) {
    if (this.include === "None") return null;
    if (this.include === "Object") return object;
    return partialMetadata(object, this.metaVersion);
  }
};

// apiserver-lite/http/representation.ts
var maxCounted = 2048;
var entriesPerLook = 64;
var brace = Buffer.from("{");
var closingBrace2 = Buffer.from("}");
var nothing2 = Buffer.alloc(0);
var Representation = class {
  constructor(options) {
    this.options = options;
    const { negotiated, format, endpoint: endpoint2, pretty } = options;
    this.contentType = negotiated.contentType;
    this.#format = format;
    this.#endpoint = endpoint2;
    this.#as = negotiated.as;
    this.#firstTable = this.#as === "Table";
    this.#metaVersion = `${negotiated.alias ? "meta.orbit.io" : "meta.k8s.io"}/${negotiated.asVersion}`;
    this.#pretty = pretty && format.name === "json";
    this.#alias = options.alias ?? false;
    this.#id = `${format.name}|${this.#apiVersion}|${this.#as}|${this.#metaVersion}`;
    this.#frameIds = frameIdsOf(`${this.#id}|${options.includeObject}`);
  }
  options;
  contentType;
  #format;
  #endpoint;
  #as;
  #metaVersion;
  #pretty;
  #id;
  #frameIds;
  #alias;
  #table;
  /** Of a watch: its columns have not been sent. */
  #firstTable;
  /** Does the same state always give the same bytes? A Table holds ages. */
  get cacheable() {
    return this.#as !== "Table" && !this.#pretty;
  }
  /** Does what a frame holds depend on those before it? The first table of a watch has the columns. */
  get ordered() {
    return this.#as === "Table";
  }
  get streamType() {
    return this.#format.streamType(this.contentType);
  }
  get #apiVersion() {
    const { apiVersion } = this.#endpoint;
    return this.#alias ? aliasApiVersion(apiVersion) : apiVersion;
  }
  /** One object. Throws ApiError 406 where a list was asked for. */
  entry(entry) {
    this.#checkList(false);
    if (this.#as === "Table")
      return this.#finish(
        this.#tables().table([entry], {
          resourceVersion: String(entry.revision)
        })
      );
    const bytes = this.#single(entry);
    return this.#pretty ? this.#finish(JSON.parse(bytes.toString())) : bytes;
  }
  /** Any other object: a Status, which has no other shape, or a subresource's. Throws ApiError 406. */
  value(object) {
    const shown2 = this.#alias ? aliasDocument(object) : object;
    if (this.#as === "" || shown2.kind === "Status") return this.#finish(shown2);
    this.#checkList(false);
    return this.#finish(
      this.#as === "Table" ? this.#tables().valueTable(shown2) : partialMetadata(shown2, this.#metaVersion)
    );
  }
  /** Throws ApiError 406 where one object was asked for. */
  list(listed) {
    this.#checkList(true);
    const metadata = {
      ...listed.revision > 0 ? { resourceVersion: String(listed.revision) } : {},
      ...listed.continue ? { continue: listed.continue } : {},
      ...listed.remainingItemCount === void 0 ? {} : { remainingItemCount: listed.remainingItemCount }
    };
    const { entries: entries2 } = listed;
    if (this.#as === "Table") {
      const tables = this.#tables();
      const head2 = tables.head(metadata);
      if (this.#format.name === "json" && !this.#pretty)
        return { bytes: void 0, parts: tables.jsonParts(entries2, head2) };
      const row = (index) => tables.row(entries2[index].transient);
      return {
        bytes: void 0,
        parts: this.#listParts(head2, "rows", {
          count: entries2.length,
          object: row,
          bytes: (index) => this.#format.encode(row(index)),
          length: () => void 0
        })
      };
    }
    const kind2 = this.#partial ? "PartialObjectMetadataList" : `${this.#endpoint.info.kind}List`;
    const apiVersion = this.#partial ? this.#metaVersion : this.#apiVersion;
    const head = { kind: kind2, apiVersion, metadata };
    if (this.#format.name !== "json" || this.#pretty)
      return {
        bytes: void 0,
        parts: this.#listParts(head, "items", this.#items(entries2))
      };
    const parts2 = jsonListParts(head, this.#pieces(entries2));
    return {
      bytes: this.#ready && entries2.length <= maxCounted ? this.#listBytes(head, entries2) : void 0,
      parts: parts2
    };
  }
  get #partial() {
    return this.#as !== "" && this.#as !== "Table";
  }
  /** The entry's own bytes are those of the answer. */
  get #ready() {
    return this.#as === "" && this.#format.name === "json" && this.#endpoint.native && !this.#alias;
  }
  #listBytes(head, entries2) {
    let bytes = Buffer.byteLength(JSON.stringify({ ...head, items: [] })) + 1;
    const less = this.#endpoint.itemSkip - 1;
    for (const { json } of entries2) bytes += json.length - less;
    return entries2.length === 0 ? bytes : bytes - 1;
  }
  #listParts(head, field, items) {
    return this.#pretty ? prettyListParts(head, field, items.count, items.object) : this.#format.list(head, field, items);
  }
  #items(entries2) {
    return {
      count: entries2.length,
      bytes: (index) => this.#single(entries2[index]),
      length: (index) => entries2[index].encodedLength(this.#id),
      object: (index) => {
        const shown2 = this.#shown(entries2[index].transient);
        if (this.#partial) return shown2;
        const { kind: _, apiVersion: __, ...rest } = shown2;
        return rest;
      }
    };
  }
  /** What of each entry's bytes a JSON list shows. */
  #pieces(entries2) {
    const { itemSkip, apiVersion } = this.#endpoint;
    const piece = { bytes: nothing2, start: 0, end: 0 };
    const count3 = entries2.length;
    if (!this.#partial) {
      const start = itemSkip + this.#apiVersion.length - apiVersion.length;
      return {
        count: count3,
        before: brace,
        behind: nothing2,
        ready: this.#ready,
        piece: (index) => {
          piece.bytes = this.#single(entries2[index]);
          piece.start = start;
          piece.end = piece.bytes.length - 1;
          return piece;
        }
      };
    }
    const before2 = Buffer.from(
      `${JSON.stringify({ kind: "PartialObjectMetadata", apiVersion: this.#metaVersion }).slice(0, -1)},`
    );
    const cut = this.#endpoint.native && !this.#alias;
    return {
      count: count3,
      before: before2,
      behind: closingBrace2,
      ready: false,
      piece: (index) => {
        const entry = entries2[index];
        const end = cut ? entry.metadataEnd(itemSkip) : -1;
        piece.bytes = end < 0 ? this.#single(entry) : entry.json;
        piece.start = end < 0 ? before2.length : itemSkip;
        piece.end = end < 0 ? piece.bytes.length - "}\n".length : end;
        return piece;
      }
    };
  }
  /** The same as a chunk of HTTP/1.1. */
  chunk(type, event) {
    if (this.#firstTable) return chunkOf(this.event(type, event));
    const id = this.#frameIds.chunk[type];
    const frames = event.frames ??= /* @__PURE__ */ new Map();
    let chunk = frames.get(id);
    if (!chunk) {
      chunk = chunkOf(this.event(type, event));
      frames.set(id, chunk);
    }
    return chunk;
  }
  /** The watch event; shared by all watchers of this representation. */
  event(type, event) {
    if (this.#firstTable) return this.pastFrame(type, event);
    const id = this.#frameIds.event[type];
    const frames = event.frames ??= /* @__PURE__ */ new Map();
    let frame = frames.get(id);
    if (!frame) {
      frame = this.pastFrame(type, event);
      frames.set(id, frame);
    }
    return frame;
  }
  frame(type, entry) {
    if (this.#as === "Table")
      return this.#tableFrame(
        type,
        entry.transient,
        entry.revision
      );
    return this.#format.frame(type, this.#single(entry));
  }
  /** The state a watch begins with, as ADDED events joined to chunks. */
  initialFrames(entries2, selected) {
    const frame = (entry) => this.frame("ADDED", entry);
    function* frames() {
      let looked = 0;
      for (const entry of entries2) {
        if (selected(entry)) yield frame(entry);
        else if (++looked % entriesPerLook === 0) yield void 0;
      }
    }
    return joined(frames());
  }
  /** An event for one watcher that comes later: not kept for others. */
  pastFrame(type, event) {
    return type === "DELETED" ? this.#deleted(event) : this.frame(type, event.entry);
  }
  /** The events a watch begins with, joined to chunks. */
  pastFrames(events, typeOf) {
    const frame = (type, event) => this.pastFrame(type, event);
    function* frames() {
      let looked = 0;
      for (const event of events) {
        const type = typeOf(event);
        if (type) yield frame(type, event);
        else if (++looked % entriesPerLook === 0) yield void 0;
      }
    }
    return joined(frames());
  }
  bookmark(revision, initialEnd) {
    const metadata = {
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...initialEnd ? {
        annotations: {
          "k8s.io/initial-events-end": "true",
          "kubernetes.io/initial-events-list-blueprint": this.#emptyList().toString("base64")
        }
      } : {}
    };
    let object;
    if (this.#as === "Table")
      object = {
        ...this.#tables().tableOf(
          [],
          { resourceVersion: String(revision) },
          this.#firstTable
        ),
        rows: [
          {
            cells: [],
            object: {
              kind: "PartialObjectMetadata",
              apiVersion: this.#metaVersion,
              metadata
            }
          }
        ]
      };
    else if (this.#as !== "")
      object = {
        kind: "PartialObjectMetadata",
        apiVersion: this.#metaVersion,
        metadata
      };
    else
      object = {
        kind: this.#endpoint.info.kind,
        apiVersion: this.#apiVersion,
        metadata
      };
    this.#firstTable = false;
    return this.#format.frame("BOOKMARK", this.#format.encode(object));
  }
  /** What clients that stream a list decode first, so that the list they put together has the right kind. */
  #emptyList() {
    const parts2 = [...this.list({ entries: [], revision: 0 }).parts];
    return Buffer.concat(parts2.filter((part) => part !== void 0));
  }
  error(status) {
    return this.#format.frame("ERROR", this.#format.encode(status));
  }
  #deleted(event) {
    const last = event.previous.copy();
    last.metadata.resourceVersion = String(event.revision);
    if (this.#as === "Table")
      return this.#tableFrame("DELETED", last, event.revision);
    return this.#format.frame("DELETED", this.#encodeOne(last));
  }
  /** Only the first table of a watch has columns. */
  #tableFrame(type, object, revision) {
    const columns = this.#firstTable;
    this.#firstTable = false;
    const table = this.#tables().tableOf(
      [object],
      { resourceVersion: String(revision) },
      columns
    );
    return this.#format.frame(type, this.#format.encode(table));
  }
  #single(entry) {
    if (this.#ready) return entry.json;
    return entry.encoding(
      this.options.derived,
      this.#id,
      (one) => this.#encodeOne(this.#readable(one))
    );
  }
  /** What can be left unparsed of it depends on the format; the stored form's metadata stand where the native form's do. */
  #readable(entry) {
    const lean = this.#format.name === "protobuf" && this.#endpoint.native && !this.#alias;
    return lean ? entry.lean(this.#endpoint.itemSkip) : entry.transient;
  }
  /** @param object in the stored version */
  #encodeOne(object) {
    const shown2 = this.#shown(object);
    return this.#format.name === "json" ? encodeObject(shown2) : this.#format.encode(shown2);
  }
  #shown(object) {
    const served = this.#served(object);
    return this.#as === "" ? served : partialMetadata(served, this.#metaVersion);
  }
  #served(object) {
    const served = this.#endpoint.toServed(object);
    return this.#alias ? aliasDocument(served) : served;
  }
  #checkList(list) {
    const problem = this.#as === "PartialObjectMetadata" && list ? "is a list" : this.#as === "PartialObjectMetadataList" && !list ? "is not a list" : void 0;
    const { group: group2, kind: kind2 } = this.#endpoint.info;
    if (problem)
      throw errors.notAcceptable(
        `you requested ${this.#as}, but the requested object ${problem} (*${internalTypeName(group2, kind2)}${list ? "List" : ""})`
      );
  }
  #finish(object) {
    return this.#pretty ? Buffer.from(JSON.stringify(object, null, 2)) : this.#format.encode(object);
  }
  #tables() {
    return this.#table ??= new TableMaker(
      this.#endpoint,
      this.options.includeObject,
      this.#metaVersion,
      this.options.nowMs,
      this.options.derived
    );
  }
};
function frameIdsOf(id) {
  const named2 = (prefix) => ({
    ADDED: `${prefix}ADDED|${id}`,
    MODIFIED: `${prefix}MODIFIED|${id}`,
    DELETED: `${prefix}DELETED|${id}`
  });
  return { event: named2(""), chunk: named2("chunk|") };
}

// api/facts/types.json
var types_default = { everyVersion: ["v1", "admission.k8s.io/v1", "admission.k8s.io/v1beta1", "admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1alpha1", "admissionregistration.k8s.io/v1beta1", "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", "apiregistration.k8s.io/v1", "apiregistration.k8s.io/v1beta1", "apps/v1", "apps/v1beta1", "apps/v1beta2", "authentication.k8s.io/v1", "authentication.k8s.io/v1alpha1", "authentication.k8s.io/v1beta1", "authorization.k8s.io/v1", "authorization.k8s.io/v1beta1", "autoscaling/v1", "autoscaling/v2", "autoscaling/v2beta1", "autoscaling/v2beta2", "batch/v1", "batch/v1beta1", "certificates.k8s.io/v1", "certificates.k8s.io/v1alpha1", "certificates.k8s.io/v1beta1", "coordination.k8s.io/v1", "coordination.k8s.io/v1alpha2", "coordination.k8s.io/v1beta1", "discovery.k8s.io/v1", "discovery.k8s.io/v1beta1", "events.k8s.io/v1", "events.k8s.io/v1beta1", "extensions/v1beta1", "flowcontrol.apiserver.k8s.io/v1", "flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta2", "flowcontrol.apiserver.k8s.io/v1beta3", "imagepolicy.k8s.io/v1alpha1", "internal.apiserver.k8s.io/v1alpha1", "networking.k8s.io/v1", "networking.k8s.io/v1alpha1", "networking.k8s.io/v1beta1", "node.k8s.io/v1", "node.k8s.io/v1alpha1", "node.k8s.io/v1beta1", "policy/v1", "policy/v1beta1", "rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1alpha1", "rbac.authorization.k8s.io/v1beta1", "resource.k8s.io/v1alpha3", "resource.k8s.io/v1beta1", "scheduling.k8s.io/v1", "scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1", "storage.k8s.io/v1", "storage.k8s.io/v1alpha1", "storage.k8s.io/v1beta1", "storagemigration.k8s.io/v1alpha1"], packages: [["io.k8s.api.admission.v1", "admission.k8s.io/v1", { AdmissionRequest: "- uid:1:s kind:2:62.GroupVersionKind resource:3:62.GroupVersionResource subResource:4:s:o name:5:s:o namespace:6:s:o operation:7:s userInfo:8:11.UserInfo object:9:64.RawExtension:o oldObject:10:64.RawExtension:o dryRun:11:b:po options:12:64.RawExtension:o requestKind:13:62.GroupVersionKind:po requestResource:14:62.GroupVersionResource:po requestSubResource:15:s:o", AdmissionResponse: "- uid:1:s allowed:2:b status:3:62.Status:po patch:4:y:o patchType:5:s:po auditAnnotations:6:%s:o warnings:7:*s:o", AdmissionReview: "k request:1:AdmissionRequest:po response:2:AdmissionResponse:po" }], ["io.k8s.api.admission.v1beta1", "admission.k8s.io/v1beta1", { AdmissionRequest: "- uid:1:s kind:2:62.GroupVersionKind resource:3:62.GroupVersionResource subResource:4:s:o name:5:s:o namespace:6:s:o operation:7:s userInfo:8:11.UserInfo object:9:64.RawExtension:o oldObject:10:64.RawExtension:o dryRun:11:b:po options:12:64.RawExtension:o requestKind:13:62.GroupVersionKind:po requestResource:14:62.GroupVersionResource:po requestSubResource:15:s:o", AdmissionResponse: "- uid:1:s allowed:2:b status:3:62.Status:po patch:4:y:o patchType:5:s:po auditAnnotations:6:%s:o warnings:7:*s:o", AdmissionReview: "k request:1:AdmissionRequest:po response:2:AdmissionResponse:po" }], ["io.k8s.api.admissionregistration.v1", "admissionregistration.k8s.io/v1", { AuditAnnotation: "- key:1:s:r valueExpression:2:s:r", ExpressionWarning: "- fieldRef:2:s:r warning:3:s:r", MatchCondition: "- name:1:s:r expression:2:s:r", MatchResources: "a namespaceSelector:1:62.LabelSelector:po objectSelector:2:62.LabelSelector:po resourceRules:3:*NamedRuleWithOperations:o:la excludeResourceRules:4:*NamedRuleWithOperations:o:la matchPolicy:7:s:po", MutatingWebhook: "- name:1:s:r clientConfig:2:WebhookClientConfig:r rules:3:*RuleWithOperations:o:la failurePolicy:4:s:po namespaceSelector:5:62.LabelSelector:po sideEffects:6:s:pr timeoutSeconds:7:i:po admissionReviewVersions:8:*s:r:la matchPolicy:9:s:po reinvocationPolicy:10:s:po objectSelector:11:62.LabelSelector:po matchConditions:12:*MatchCondition:o:lm=name,ps=merge,pm=name", MutatingWebhookConfiguration: "k metadata:1:62.ObjectMeta:o Webhooks:2:*MutatingWebhook:o:j=webhooks,lm=name,ps=merge,pm=name", MutatingWebhookConfigurationList: "k metadata:1:62.ListMeta:o items:2:*MutatingWebhookConfiguration:r", NamedRuleWithOperations: "a resourceNames:1:*s:o:la ruleWithOperations:2:RuleWithOperations:i", ParamKind: "a apiVersion:1:s:o kind:2:s:o", ParamRef: "a name:1:s:o namespace:2:s:o selector:3:62.LabelSelector:po parameterNotFoundAction:4:s:po", Rule: "- apiGroups:1:*s:o:la apiVersions:2:*s:o:la resources:3:*s:o:la scope:4:s:po", RuleWithOperations: "- operations:1:*s:o:la rule:2:Rule:i", ServiceReference: "- namespace:1:s:r name:2:s:r path:3:s:po port:4:i:po", TypeChecking: "- expressionWarnings:1:*ExpressionWarning:o:la", ValidatingAdmissionPolicy: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicySpec:o status:3:ValidatingAdmissionPolicyStatus:o", ValidatingAdmissionPolicyBinding: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicyBindingSpec:o", ValidatingAdmissionPolicyBindingList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicyBinding:r", ValidatingAdmissionPolicyBindingSpec: "- policyName:1:s:o paramRef:2:ParamRef:po matchResources:3:MatchResources:po validationActions:4:*s:o:ls", ValidatingAdmissionPolicyList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicy:r", ValidatingAdmissionPolicySpec: "- paramKind:1:ParamKind:po matchConstraints:2:MatchResources:po validations:3:*Validation:o:la failurePolicy:4:s:po auditAnnotations:5:*AuditAnnotation:o:la matchConditions:6:*MatchCondition:o:lm=name,ps=merge,pm=name variables:7:*Variable:o:lm=name,ps=merge,pm=name", ValidatingAdmissionPolicyStatus: "- observedGeneration:1:l:o typeChecking:2:TypeChecking:po conditions:3:*62.Condition:o:lm=type", ValidatingWebhook: "- name:1:s:r clientConfig:2:WebhookClientConfig:r rules:3:*RuleWithOperations:o:la failurePolicy:4:s:po namespaceSelector:5:62.LabelSelector:po sideEffects:6:s:pr timeoutSeconds:7:i:po admissionReviewVersions:8:*s:r:la matchPolicy:9:s:po objectSelector:10:62.LabelSelector:po matchConditions:11:*MatchCondition:o:lm=name,ps=merge,pm=name", ValidatingWebhookConfiguration: "k metadata:1:62.ObjectMeta:o Webhooks:2:*ValidatingWebhook:o:j=webhooks,lm=name,ps=merge,pm=name", ValidatingWebhookConfigurationList: "k metadata:1:62.ListMeta:o items:2:*ValidatingWebhookConfiguration:r", Validation: "- Expression:1:s:r:j=expression message:2:s:o reason:3:s:po messageExpression:4:s:o", Variable: "a Name:1:s:r:j=name Expression:2:s:r:j=expression", WebhookClientConfig: "- service:1:ServiceReference:po caBundle:2:y:o url:3:s:po" }], ["io.k8s.api.admissionregistration.v1alpha1", "admissionregistration.k8s.io/v1alpha1", { ApplyConfiguration: "- expression:1:s:o", AuditAnnotation: "- key:1:s valueExpression:2:s", ExpressionWarning: "- fieldRef:2:s warning:3:s", JSONPatch: "- expression:1:s:o", MatchCondition: "- name:1:s:r expression:2:s:r", MatchResources: "a namespaceSelector:1:62.LabelSelector:po objectSelector:2:62.LabelSelector:po resourceRules:3:*NamedRuleWithOperations:o:la excludeResourceRules:4:*NamedRuleWithOperations:o:la matchPolicy:7:s:po", MutatingAdmissionPolicy: "k metadata:1:62.ObjectMeta:o spec:2:MutatingAdmissionPolicySpec:o", MutatingAdmissionPolicyBinding: "k metadata:1:62.ObjectMeta:o spec:2:MutatingAdmissionPolicyBindingSpec:o", MutatingAdmissionPolicyBindingList: "k metadata:1:62.ListMeta:o items:2:*MutatingAdmissionPolicyBinding:r", MutatingAdmissionPolicyBindingSpec: "- policyName:1:s:o paramRef:2:ParamRef:po matchResources:3:MatchResources:po", MutatingAdmissionPolicyList: "k metadata:1:62.ListMeta:o items:2:*MutatingAdmissionPolicy:r", MutatingAdmissionPolicySpec: "- paramKind:1:ParamKind:po matchConstraints:2:MatchResources:po variables:3:*Variable:o:la mutations:4:*Mutation:o:la failurePolicy:5:s:po matchConditions:6:*MatchCondition:o:lm=name,ps=merge,pm=name reinvocationPolicy:7:s:o", Mutation: "- patchType:2:s:r applyConfiguration:3:ApplyConfiguration:po jsonPatch:4:JSONPatch:po", NamedRuleWithOperations: "a resourceNames:1:*s:o:la ruleWithOperations:2:2.RuleWithOperations:i", ParamKind: "a apiVersion:1:s:o kind:2:s:o", ParamRef: "a name:1:s:o namespace:2:s:o selector:3:62.LabelSelector:po parameterNotFoundAction:4:s:po", TypeChecking: "- expressionWarnings:1:*ExpressionWarning:o", ValidatingAdmissionPolicy: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicySpec:o status:3:ValidatingAdmissionPolicyStatus:o", ValidatingAdmissionPolicyBinding: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicyBindingSpec:o", ValidatingAdmissionPolicyBindingList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicyBinding", ValidatingAdmissionPolicyBindingSpec: "- policyName:1:s:o paramRef:2:ParamRef:po matchResources:3:MatchResources:po validationActions:4:*s:o", ValidatingAdmissionPolicyList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicy", ValidatingAdmissionPolicySpec: "- paramKind:1:ParamKind:po matchConstraints:2:MatchResources:po validations:3:*Validation:o failurePolicy:4:s:po auditAnnotations:5:*AuditAnnotation:o matchConditions:6:*MatchCondition:o variables:7:*Variable:o", ValidatingAdmissionPolicyStatus: "- observedGeneration:1:l:o typeChecking:2:TypeChecking:po conditions:3:*62.Condition:o", Validation: "- Expression:1:s::j=expression message:2:s:o reason:3:s:po messageExpression:4:s:o", Variable: "- Name:1:s:r:j=name Expression:2:s:r:j=expression" }], ["io.k8s.api.admissionregistration.v1beta1", "admissionregistration.k8s.io/v1beta1", { AuditAnnotation: "- key:1:s:r valueExpression:2:s:r", ExpressionWarning: "- fieldRef:2:s:r warning:3:s:r", MatchCondition: "- name:1:s:r expression:2:s:r", MatchResources: "a namespaceSelector:1:62.LabelSelector:po objectSelector:2:62.LabelSelector:po resourceRules:3:*NamedRuleWithOperations:o:la excludeResourceRules:4:*NamedRuleWithOperations:o:la matchPolicy:7:s:po", MutatingWebhook: "- name:1:s clientConfig:2:WebhookClientConfig rules:3:*2.RuleWithOperations:o failurePolicy:4:s:po namespaceSelector:5:62.LabelSelector:po sideEffects:6:s:po timeoutSeconds:7:i:po admissionReviewVersions:8:*s:o matchPolicy:9:s:po reinvocationPolicy:10:s:po objectSelector:11:62.LabelSelector:po matchConditions:12:*MatchCondition:o", MutatingWebhookConfiguration: "k metadata:1:62.ObjectMeta:o Webhooks:2:*MutatingWebhook:o:j=webhooks", MutatingWebhookConfigurationList: "k metadata:1:62.ListMeta:o items:2:*MutatingWebhookConfiguration", NamedRuleWithOperations: "a resourceNames:1:*s:o:la ruleWithOperations:2:2.RuleWithOperations:i", ParamKind: "a apiVersion:1:s:o kind:2:s:o", ParamRef: "a name:1:s:o namespace:2:s:o selector:3:62.LabelSelector:po parameterNotFoundAction:4:s:po", ServiceReference: "- namespace:1:s name:2:s path:3:s:po port:4:i:po", TypeChecking: "- expressionWarnings:1:*ExpressionWarning:o:la", ValidatingAdmissionPolicy: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicySpec:o status:3:ValidatingAdmissionPolicyStatus:o", ValidatingAdmissionPolicyBinding: "k metadata:1:62.ObjectMeta:o spec:2:ValidatingAdmissionPolicyBindingSpec:o", ValidatingAdmissionPolicyBindingList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicyBinding:r", ValidatingAdmissionPolicyBindingSpec: "- policyName:1:s:o paramRef:2:ParamRef:po matchResources:3:MatchResources:po validationActions:4:*s:o:ls", ValidatingAdmissionPolicyList: "k metadata:1:62.ListMeta:o items:2:*ValidatingAdmissionPolicy:r", ValidatingAdmissionPolicySpec: "- paramKind:1:ParamKind:po matchConstraints:2:MatchResources:po validations:3:*Validation:o:la failurePolicy:4:s:po auditAnnotations:5:*AuditAnnotation:o:la matchConditions:6:*MatchCondition:o:lm=name,ps=merge,pm=name variables:7:*Variable:o:lm=name,ps=merge,pm=name", ValidatingAdmissionPolicyStatus: "- observedGeneration:1:l:o typeChecking:2:TypeChecking:po conditions:3:*62.Condition:o:lm=type", ValidatingWebhook: "- name:1:s clientConfig:2:WebhookClientConfig rules:3:*2.RuleWithOperations:o failurePolicy:4:s:po namespaceSelector:5:62.LabelSelector:po sideEffects:6:s:po timeoutSeconds:7:i:po admissionReviewVersions:8:*s:o matchPolicy:9:s:po objectSelector:10:62.LabelSelector:po matchConditions:11:*MatchCondition:o", ValidatingWebhookConfiguration: "k metadata:1:62.ObjectMeta:o Webhooks:2:*ValidatingWebhook:o:j=webhooks", ValidatingWebhookConfigurationList: "k metadata:1:62.ListMeta:o items:2:*ValidatingWebhookConfiguration", Validation: "- Expression:1:s:r:j=expression message:2:s:o reason:3:s:po messageExpression:4:s:o", Variable: "a Name:1:s:r:j=name Expression:2:s:r:j=expression", WebhookClientConfig: "- service:1:ServiceReference:po caBundle:2:y:o url:3:s:po" }], ["io.k8s.api.apidiscovery.v2", "apidiscovery.k8s.io/v2", { APIGroupDiscovery: "k metadata:1:62.ObjectMeta:o versions:2:*APIVersionDiscovery:o", APIGroupDiscoveryList: "k metadata:1:62.ListMeta:o items:2:*APIGroupDiscovery", APIResourceDiscovery: "- resource:1:s responseKind:2:62.GroupVersionKind:po scope:3:s singularResource:4:s verbs:5:*s shortNames:6:*s:o categories:7:*s:o subresources:8:*APISubresourceDiscovery:o", APISubresourceDiscovery: "- subresource:1:s responseKind:2:62.GroupVersionKind:po acceptedTypes:3:*62.GroupVersionKind:o verbs:4:*s", APIVersionDiscovery: "- version:1:s resources:2:*APIResourceDiscovery:o freshness:3:s:o" }], ["io.k8s.api.apidiscovery.v2beta1", "apidiscovery.k8s.io/v2beta1", { APIGroupDiscovery: "k metadata:1:62.ObjectMeta:o versions:2:*APIVersionDiscovery:o", APIGroupDiscoveryList: "k metadata:1:62.ListMeta:o items:2:*APIGroupDiscovery", APIResourceDiscovery: "- resource:1:s responseKind:2:62.GroupVersionKind:po scope:3:s singularResource:4:s verbs:5:*s shortNames:6:*s:o categories:7:*s:o subresources:8:*APISubresourceDiscovery:o", APISubresourceDiscovery: "- subresource:1:s responseKind:2:62.GroupVersionKind:po acceptedTypes:3:*62.GroupVersionKind:o verbs:4:*s", APIVersionDiscovery: "- version:1:s resources:2:*APIResourceDiscovery:o freshness:3:s:o" }], ["io.k8s.api.apiserverinternal.v1alpha1", "internal.apiserver.k8s.io/v1alpha1", { ServerStorageVersion: "- apiServerID:1:s:o encodingVersion:2:s:o decodableVersions:3:*s:o:ls servedVersions:4:*s:o:ls", StorageVersion: "k metadata:1:62.ObjectMeta:o spec:2:StorageVersionSpec:r status:3:StorageVersionStatus:r", StorageVersionCondition: "- type:1:s:r status:2:s:r observedGeneration:3:l:o lastTransitionTime:4:62.Time:o reason:5:s:r message:6:s:or", StorageVersionList: "k metadata:1:62.ListMeta:o items:2:*StorageVersion:r", StorageVersionSpec: "-", StorageVersionStatus: "- storageVersions:1:*ServerStorageVersion:o:lm=apiServerID commonEncodingVersion:2:s:po conditions:3:*StorageVersionCondition:o:lm=type" }], ["io.k8s.api.apps.v1", "apps/v1", { ControllerRevision: "k metadata:1:62.ObjectMeta:o data:2:64.RawExtension:o revision:3:l:r", ControllerRevisionList: "k metadata:1:62.ListMeta:o items:2:*ControllerRevision:r", DaemonSet: "k metadata:1:62.ObjectMeta:o spec:2:DaemonSetSpec:o status:3:DaemonSetStatus:o", DaemonSetCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", DaemonSetList: "k metadata:1:62.ListMeta:o items:2:*DaemonSet:r", DaemonSetSpec: "- selector:1:62.LabelSelector:pr template:2:28.PodTemplateSpec:r updateStrategy:3:DaemonSetUpdateStrategy:o minReadySeconds:4:i:o revisionHistoryLimit:6:i:po", DaemonSetStatus: "- currentNumberScheduled:1:i:r numberMisscheduled:2:i:r desiredNumberScheduled:3:i:r numberReady:4:i:r observedGeneration:5:l:o updatedNumberScheduled:6:i:o numberAvailable:7:i:o numberUnavailable:8:i:o collisionCount:9:i:po conditions:10:*DaemonSetCondition:o:lm=type,ps=merge,pm=type", DaemonSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDaemonSet:po", Deployment: "k metadata:1:62.ObjectMeta:o spec:2:DeploymentSpec:o status:3:DeploymentStatus:o", DeploymentCondition: "- type:1:s:r status:2:s:r reason:4:s:o message:5:s:o lastUpdateTime:6:62.Time:o lastTransitionTime:7:62.Time:o", DeploymentList: "k metadata:1:62.ListMeta:o items:2:*Deployment:r", DeploymentSpec: "- replicas:1:i:po selector:2:62.LabelSelector:pr template:3:28.PodTemplateSpec:r strategy:4:DeploymentStrategy:o:ps=retainKeys minReadySeconds:5:i:o revisionHistoryLimit:6:i:po paused:7:b:o progressDeadlineSeconds:9:i:po", DeploymentStatus: "- observedGeneration:1:l:o replicas:2:i:o updatedReplicas:3:i:o availableReplicas:4:i:o unavailableReplicas:5:i:o conditions:6:*DeploymentCondition:o:lm=type,ps=merge,pm=type readyReplicas:7:i:o collisionCount:8:i:po", DeploymentStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDeployment:po", ReplicaSet: "k metadata:1:62.ObjectMeta:o spec:2:ReplicaSetSpec:o status:3:ReplicaSetStatus:o", ReplicaSetCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", ReplicaSetList: "k metadata:1:62.ListMeta:o items:2:*ReplicaSet:r", ReplicaSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:pr template:3:28.PodTemplateSpec:o minReadySeconds:4:i:o", ReplicaSetStatus: "- replicas:1:i:r fullyLabeledReplicas:2:i:o observedGeneration:3:l:o readyReplicas:4:i:o availableReplicas:5:i:o conditions:6:*ReplicaSetCondition:o:lm=type,ps=merge,pm=type", RollingUpdateDaemonSet: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateDeployment: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateStatefulSetStrategy: "- partition:1:i:po maxUnavailable:2:65.IntOrString:po", StatefulSet: "k metadata:1:62.ObjectMeta:o spec:2:StatefulSetSpec:o status:3:StatefulSetStatus:o", StatefulSetCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", StatefulSetList: "k metadata:1:62.ListMeta:o items:2:*StatefulSet:r", StatefulSetOrdinals: "- start:1:i", StatefulSetPersistentVolumeClaimRetentionPolicy: "- whenDeleted:1:s:o whenScaled:2:s:o", StatefulSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:pr template:3:28.PodTemplateSpec:r volumeClaimTemplates:4:*28.PersistentVolumeClaim:o:la serviceName:5:s:r podManagementPolicy:6:s:o updateStrategy:7:StatefulSetUpdateStrategy:o revisionHistoryLimit:8:i:po minReadySeconds:9:i:o persistentVolumeClaimRetentionPolicy:10:StatefulSetPersistentVolumeClaimRetentionPolicy:po ordinals:11:StatefulSetOrdinals:po", StatefulSetStatus: "- observedGeneration:1:l:o replicas:2:i:r readyReplicas:3:i:o currentReplicas:4:i:o updatedReplicas:5:i:o currentRevision:6:s:o updateRevision:7:s:o collisionCount:9:i:po conditions:10:*StatefulSetCondition:o:lm=type,ps=merge,pm=type availableReplicas:11:i", StatefulSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateStatefulSetStrategy:po" }], ["io.k8s.api.apps.v1beta1", "apps/v1beta1", { ControllerRevision: "k metadata:1:62.ObjectMeta:o data:2:64.RawExtension:o revision:3:l", ControllerRevisionList: "k metadata:1:62.ListMeta:o items:2:*ControllerRevision", Deployment: "k metadata:1:62.ObjectMeta:o spec:2:DeploymentSpec:o status:3:DeploymentStatus:o", DeploymentCondition: "- type:1:s status:2:s reason:4:s:o message:5:s:o lastUpdateTime:6:62.Time:o lastTransitionTime:7:62.Time:o", DeploymentList: "k metadata:1:62.ListMeta:o items:2:*Deployment", DeploymentRollback: "k name:1:s updatedAnnotations:2:%s:o rollbackTo:3:RollbackConfig", DeploymentSpec: "- replicas:1:i:po selector:2:62.LabelSelector:po template:3:28.PodTemplateSpec strategy:4:DeploymentStrategy:o minReadySeconds:5:i:o revisionHistoryLimit:6:i:po paused:7:b:o rollbackTo:8:RollbackConfig:po progressDeadlineSeconds:9:i:po", DeploymentStatus: "- observedGeneration:1:l:o replicas:2:i:o updatedReplicas:3:i:o availableReplicas:4:i:o unavailableReplicas:5:i:o conditions:6:*DeploymentCondition:o readyReplicas:7:i:o collisionCount:8:i:po", DeploymentStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDeployment:po", RollbackConfig: "- revision:1:l:o", RollingUpdateDeployment: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateStatefulSetStrategy: "- partition:1:i:po maxUnavailable:2:65.IntOrString:po", Scale: "k metadata:1:62.ObjectMeta:o spec:2:ScaleSpec:o status:3:ScaleStatus:o", ScaleSpec: "- replicas:1:i:o", ScaleStatus: "- replicas:1:i selector:2:%s:o targetSelector:3:s:o", StatefulSet: "k metadata:1:62.ObjectMeta:o spec:2:StatefulSetSpec:o status:3:StatefulSetStatus:o", StatefulSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", StatefulSetList: "k metadata:1:62.ListMeta:o items:2:*StatefulSet", StatefulSetOrdinals: "- start:1:i", StatefulSetPersistentVolumeClaimRetentionPolicy: "- whenDeleted:1:s:o whenScaled:2:s:o", StatefulSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:po template:3:28.PodTemplateSpec volumeClaimTemplates:4:*28.PersistentVolumeClaim:o serviceName:5:s podManagementPolicy:6:s:o updateStrategy:7:StatefulSetUpdateStrategy:o revisionHistoryLimit:8:i:po minReadySeconds:9:i:o persistentVolumeClaimRetentionPolicy:10:StatefulSetPersistentVolumeClaimRetentionPolicy:po ordinals:11:StatefulSetOrdinals:po", StatefulSetStatus: "- observedGeneration:1:l:po replicas:2:i readyReplicas:3:i:o currentReplicas:4:i:o updatedReplicas:5:i:o currentRevision:6:s:o updateRevision:7:s:o collisionCount:9:i:po conditions:10:*StatefulSetCondition:o availableReplicas:11:i", StatefulSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateStatefulSetStrategy:po" }], ["io.k8s.api.apps.v1beta2", "apps/v1beta2", { ControllerRevision: "k metadata:1:62.ObjectMeta:o data:2:64.RawExtension:o revision:3:l", ControllerRevisionList: "k metadata:1:62.ListMeta:o items:2:*ControllerRevision", DaemonSet: "k metadata:1:62.ObjectMeta:o spec:2:DaemonSetSpec:o status:3:DaemonSetStatus:o", DaemonSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", DaemonSetList: "k metadata:1:62.ListMeta:o items:2:*DaemonSet", DaemonSetSpec: "- selector:1:62.LabelSelector:p template:2:28.PodTemplateSpec updateStrategy:3:DaemonSetUpdateStrategy:o minReadySeconds:4:i:o revisionHistoryLimit:6:i:po", DaemonSetStatus: "- currentNumberScheduled:1:i numberMisscheduled:2:i desiredNumberScheduled:3:i numberReady:4:i observedGeneration:5:l:o updatedNumberScheduled:6:i:o numberAvailable:7:i:o numberUnavailable:8:i:o collisionCount:9:i:po conditions:10:*DaemonSetCondition:o", DaemonSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDaemonSet:po", Deployment: "k metadata:1:62.ObjectMeta:o spec:2:DeploymentSpec:o status:3:DeploymentStatus:o", DeploymentCondition: "- type:1:s status:2:s reason:4:s:o message:5:s:o lastUpdateTime:6:62.Time:o lastTransitionTime:7:62.Time:o", DeploymentList: "k metadata:1:62.ListMeta:o items:2:*Deployment", DeploymentSpec: "- replicas:1:i:po selector:2:62.LabelSelector:p template:3:28.PodTemplateSpec strategy:4:DeploymentStrategy:o minReadySeconds:5:i:o revisionHistoryLimit:6:i:po paused:7:b:o progressDeadlineSeconds:9:i:po", DeploymentStatus: "- observedGeneration:1:l:o replicas:2:i:o updatedReplicas:3:i:o availableReplicas:4:i:o unavailableReplicas:5:i:o conditions:6:*DeploymentCondition:o readyReplicas:7:i:o collisionCount:8:i:po", DeploymentStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDeployment:po", ReplicaSet: "k metadata:1:62.ObjectMeta:o spec:2:ReplicaSetSpec:o status:3:ReplicaSetStatus:o", ReplicaSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", ReplicaSetList: "k metadata:1:62.ListMeta:o items:2:*ReplicaSet", ReplicaSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:p template:3:28.PodTemplateSpec:o minReadySeconds:4:i:o", ReplicaSetStatus: "- replicas:1:i fullyLabeledReplicas:2:i:o observedGeneration:3:l:o readyReplicas:4:i:o availableReplicas:5:i:o conditions:6:*ReplicaSetCondition:o", RollingUpdateDaemonSet: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateDeployment: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateStatefulSetStrategy: "- partition:1:i:po maxUnavailable:2:65.IntOrString:po", Scale: "k metadata:1:62.ObjectMeta:o spec:2:ScaleSpec:o status:3:ScaleStatus:o", ScaleSpec: "- replicas:1:i:o", ScaleStatus: "- replicas:1:i selector:2:%s:o targetSelector:3:s:o", StatefulSet: "k metadata:1:62.ObjectMeta:o spec:2:StatefulSetSpec:o status:3:StatefulSetStatus:o", StatefulSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", StatefulSetList: "k metadata:1:62.ListMeta:o items:2:*StatefulSet", StatefulSetOrdinals: "- start:1:i", StatefulSetPersistentVolumeClaimRetentionPolicy: "- whenDeleted:1:s:o whenScaled:2:s:o", StatefulSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:p template:3:28.PodTemplateSpec volumeClaimTemplates:4:*28.PersistentVolumeClaim:o serviceName:5:s podManagementPolicy:6:s:o updateStrategy:7:StatefulSetUpdateStrategy:o revisionHistoryLimit:8:i:po minReadySeconds:9:i:o persistentVolumeClaimRetentionPolicy:10:StatefulSetPersistentVolumeClaimRetentionPolicy:po ordinals:11:StatefulSetOrdinals:po", StatefulSetStatus: "- observedGeneration:1:l:o replicas:2:i readyReplicas:3:i:o currentReplicas:4:i:o updatedReplicas:5:i:o currentRevision:6:s:o updateRevision:7:s:o collisionCount:9:i:po conditions:10:*StatefulSetCondition:o availableReplicas:11:i", StatefulSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateStatefulSetStrategy:po" }], ["io.k8s.api.authentication.v1", "authentication.k8s.io/v1", { BoundObjectReference: "- kind:1:s:o apiVersion:2:s:o name:3:s:o uID:4:s:o:j=uid", ExtraValue: "- items:1:*s", SelfSubjectReview: "k metadata:1:62.ObjectMeta:o status:2:SelfSubjectReviewStatus:o", SelfSubjectReviewStatus: "- userInfo:1:UserInfo:o", TokenRequest: "k metadata:1:62.ObjectMeta:o spec:2:TokenRequestSpec:r status:3:TokenRequestStatus:o", TokenRequestSpec: "- audiences:1:*s:r:la boundObjectRef:3:BoundObjectReference:p expirationSeconds:4:l:p", TokenRequestStatus: "- token:1:s:r expirationTimestamp:2:62.Time:r", TokenReview: "k metadata:1:62.ObjectMeta:o spec:2:TokenReviewSpec:r status:3:TokenReviewStatus:o", TokenReviewSpec: "- token:1:s:o audiences:2:*s:o:la", TokenReviewStatus: "- authenticated:1:b:o user:2:UserInfo:o error:3:s:o audiences:4:*s:o:la", UserInfo: "- username:1:s:o uid:2:s:o groups:3:*s:o:la extra:4:%ExtraValue:o" }], ["io.k8s.api.authentication.v1alpha1", "authentication.k8s.io/v1alpha1", { SelfSubjectReview: "k metadata:1:62.ObjectMeta:o status:2:SelfSubjectReviewStatus:o", SelfSubjectReviewStatus: "- userInfo:1:11.UserInfo:o" }], ["io.k8s.api.authentication.v1beta1", "authentication.k8s.io/v1beta1", { ExtraValue: "- items:1:*s", SelfSubjectReview: "k metadata:1:62.ObjectMeta:o status:2:SelfSubjectReviewStatus:o", SelfSubjectReviewStatus: "- userInfo:1:11.UserInfo:o", TokenReview: "k metadata:1:62.ObjectMeta:o spec:2:TokenReviewSpec status:3:TokenReviewStatus:o", TokenReviewSpec: "- token:1:s:o audiences:2:*s:o", TokenReviewStatus: "- authenticated:1:b:o user:2:UserInfo:o error:3:s:o audiences:4:*s:o", UserInfo: "- username:1:s:o uid:2:s:o groups:3:*s:o extra:4:%ExtraValue:o" }], ["io.k8s.api.authorization.v1", "authorization.k8s.io/v1", { ExtraValue: "- items:1:*s", FieldSelectorAttributes: "- rawSelector:1:s:o requirements:2:*62.FieldSelectorRequirement:o:la", LabelSelectorAttributes: "- rawSelector:1:s:o requirements:2:*62.LabelSelectorRequirement:o:la", LocalSubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SubjectAccessReviewSpec:r status:3:SubjectAccessReviewStatus:o", NonResourceAttributes: "- path:1:s:o verb:2:s:o", NonResourceRule: "- verbs:1:*s:r:la nonResourceURLs:2:*s:o:la", ResourceAttributes: "- namespace:1:s:o verb:2:s:o group:3:s:o version:4:s:o resource:5:s:o subresource:6:s:o name:7:s:o fieldSelector:8:FieldSelectorAttributes:po labelSelector:9:LabelSelectorAttributes:po", ResourceRule: "- verbs:1:*s:r:la apiGroups:2:*s:o:la resources:3:*s:o:la resourceNames:4:*s:o:la", SelfSubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SelfSubjectAccessReviewSpec:r status:3:SubjectAccessReviewStatus:o", SelfSubjectAccessReviewSpec: "- resourceAttributes:1:ResourceAttributes:po nonResourceAttributes:2:NonResourceAttributes:po", SelfSubjectRulesReview: "k metadata:1:62.ObjectMeta:o spec:2:SelfSubjectRulesReviewSpec:r status:3:SubjectRulesReviewStatus:o", SelfSubjectRulesReviewSpec: "- namespace:1:s:o", SubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SubjectAccessReviewSpec:r status:3:SubjectAccessReviewStatus:o", SubjectAccessReviewSpec: "- resourceAttributes:1:ResourceAttributes:po nonResourceAttributes:2:NonResourceAttributes:po user:3:s:o groups:4:*s:o:la extra:5:%ExtraValue:o uid:6:s:o", SubjectAccessReviewStatus: "- allowed:1:b:r reason:2:s:o evaluationError:3:s:o denied:4:b:o", SubjectRulesReviewStatus: "- resourceRules:1:*ResourceRule:r:la nonResourceRules:2:*NonResourceRule:r:la incomplete:3:b:r evaluationError:4:s:o" }], ["io.k8s.api.authorization.v1beta1", "authorization.k8s.io/v1beta1", { ExtraValue: "- items:1:*s", LocalSubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SubjectAccessReviewSpec status:3:SubjectAccessReviewStatus:o", NonResourceAttributes: "- path:1:s:o verb:2:s:o", NonResourceRule: "- verbs:1:*s nonResourceURLs:2:*s:o", ResourceAttributes: "- namespace:1:s:o verb:2:s:o group:3:s:o version:4:s:o resource:5:s:o subresource:6:s:o name:7:s:o fieldSelector:8:14.FieldSelectorAttributes:po labelSelector:9:14.LabelSelectorAttributes:po", ResourceRule: "- verbs:1:*s apiGroups:2:*s:o resources:3:*s:o resourceNames:4:*s:o", SelfSubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SelfSubjectAccessReviewSpec status:3:SubjectAccessReviewStatus:o", SelfSubjectAccessReviewSpec: "- resourceAttributes:1:ResourceAttributes:po nonResourceAttributes:2:NonResourceAttributes:po", SelfSubjectRulesReview: "k metadata:1:62.ObjectMeta:o spec:2:SelfSubjectRulesReviewSpec status:3:SubjectRulesReviewStatus:o", SelfSubjectRulesReviewSpec: "- namespace:1:s:o", SubjectAccessReview: "k metadata:1:62.ObjectMeta:o spec:2:SubjectAccessReviewSpec status:3:SubjectAccessReviewStatus:o", SubjectAccessReviewSpec: "- resourceAttributes:1:ResourceAttributes:po nonResourceAttributes:2:NonResourceAttributes:po user:3:s:o group:4:*s:o extra:5:%ExtraValue:o uid:6:s:o", SubjectAccessReviewStatus: "- allowed:1:b reason:2:s:o evaluationError:3:s:o denied:4:b:o", SubjectRulesReviewStatus: "- resourceRules:1:*ResourceRule nonResourceRules:2:*NonResourceRule incomplete:3:b evaluationError:4:s:o" }], ["io.k8s.api.autoscaling.v1", "autoscaling/v1", { ContainerResourceMetricSource: "- name:1:s targetAverageUtilization:2:i:po targetAverageValue:3:61.Quantity:po container:5:s", ContainerResourceMetricStatus: "- name:1:s currentAverageUtilization:2:i:po currentAverageValue:3:61.Quantity container:4:s", CrossVersionObjectReference: "a kind:1:s:r name:2:s:r apiVersion:3:s:o", ExternalMetricSource: "- metricName:1:s metricSelector:2:62.LabelSelector:po targetValue:3:61.Quantity:po targetAverageValue:4:61.Quantity:po", ExternalMetricStatus: "- metricName:1:s metricSelector:2:62.LabelSelector:po currentValue:3:61.Quantity currentAverageValue:4:61.Quantity:po", HorizontalPodAutoscaler: "k metadata:1:62.ObjectMeta:o spec:2:HorizontalPodAutoscalerSpec:o status:3:HorizontalPodAutoscalerStatus:o", HorizontalPodAutoscalerCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", HorizontalPodAutoscalerList: "k metadata:1:62.ListMeta:o items:2:*HorizontalPodAutoscaler:r", HorizontalPodAutoscalerSpec: "- scaleTargetRef:1:CrossVersionObjectReference:r minReplicas:2:i:po maxReplicas:3:i:r targetCPUUtilizationPercentage:4:i:po", HorizontalPodAutoscalerStatus: "- observedGeneration:1:l:po lastScaleTime:2:62.Time:po currentReplicas:3:i:r desiredReplicas:4:i:r currentCPUUtilizationPercentage:5:i:po", MetricSpec: "- type:1:s object:2:ObjectMetricSource:po pods:3:PodsMetricSource:po resource:4:ResourceMetricSource:po external:5:ExternalMetricSource:po containerResource:7:ContainerResourceMetricSource:po", MetricStatus: "- type:1:s object:2:ObjectMetricStatus:po pods:3:PodsMetricStatus:po resource:4:ResourceMetricStatus:po external:5:ExternalMetricStatus:po containerResource:7:ContainerResourceMetricStatus:po", ObjectMetricSource: "- target:1:CrossVersionObjectReference metricName:2:s targetValue:3:61.Quantity selector:4:62.LabelSelector:po averageValue:5:61.Quantity:po", ObjectMetricStatus: "- target:1:CrossVersionObjectReference metricName:2:s currentValue:3:61.Quantity selector:4:62.LabelSelector:po averageValue:5:61.Quantity:po", PodsMetricSource: "- metricName:1:s targetAverageValue:2:61.Quantity selector:3:62.LabelSelector:po", PodsMetricStatus: "- metricName:1:s currentAverageValue:2:61.Quantity selector:3:62.LabelSelector:po", ResourceMetricSource: "- name:1:s targetAverageUtilization:2:i:po targetAverageValue:3:61.Quantity:po", ResourceMetricStatus: "- name:1:s currentAverageUtilization:2:i:po currentAverageValue:3:61.Quantity", Scale: "k metadata:1:62.ObjectMeta:o spec:2:ScaleSpec:o status:3:ScaleStatus:o", ScaleSpec: "- replicas:1:i:o", ScaleStatus: "- replicas:1:i:r selector:2:s:o" }], ["io.k8s.api.autoscaling.v2", "autoscaling/v2", { ContainerResourceMetricSource: "- name:1:s:r target:2:MetricTarget:r container:3:s:r", ContainerResourceMetricStatus: "- name:1:s:r current:2:MetricValueStatus:r container:3:s:r", CrossVersionObjectReference: "- kind:1:s:r name:2:s:r apiVersion:3:s:o", ExternalMetricSource: "- metric:1:MetricIdentifier:r target:2:MetricTarget:r", ExternalMetricStatus: "- metric:1:MetricIdentifier:r current:2:MetricValueStatus:r", HPAScalingPolicy: "- type:1:s:r value:2:i:r periodSeconds:3:i:r", HPAScalingRules: "- selectPolicy:1:s:po policies:2:*HPAScalingPolicy:o:la stabilizationWindowSeconds:3:i:po", HorizontalPodAutoscaler: "k metadata:1:62.ObjectMeta:o spec:2:HorizontalPodAutoscalerSpec:o status:3:HorizontalPodAutoscalerStatus:o", HorizontalPodAutoscalerBehavior: "- scaleUp:1:HPAScalingRules:po scaleDown:2:HPAScalingRules:po", HorizontalPodAutoscalerCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", HorizontalPodAutoscalerList: "k metadata:1:62.ListMeta:o items:2:*HorizontalPodAutoscaler:r", HorizontalPodAutoscalerSpec: "- scaleTargetRef:1:CrossVersionObjectReference:r minReplicas:2:i:po maxReplicas:3:i:r metrics:4:*MetricSpec:o:la behavior:5:HorizontalPodAutoscalerBehavior:po", HorizontalPodAutoscalerStatus: "- observedGeneration:1:l:po lastScaleTime:2:62.Time:po currentReplicas:3:i:o desiredReplicas:4:i:r currentMetrics:5:*MetricStatus::la conditions:6:*HorizontalPodAutoscalerCondition:o:lm=type,ps=merge,pm=type", MetricIdentifier: "- name:1:s:r selector:2:62.LabelSelector:po", MetricSpec: "- type:1:s:r object:2:ObjectMetricSource:po pods:3:PodsMetricSource:po resource:4:ResourceMetricSource:po external:5:ExternalMetricSource:po containerResource:7:ContainerResourceMetricSource:po", MetricStatus: "- type:1:s:r object:2:ObjectMetricStatus:po pods:3:PodsMetricStatus:po resource:4:ResourceMetricStatus:po external:5:ExternalMetricStatus:po containerResource:7:ContainerResourceMetricStatus:po", MetricTarget: "- type:1:s:r value:2:61.Quantity:po averageValue:3:61.Quantity:po averageUtilization:4:i:po", MetricValueStatus: "- value:1:61.Quantity:po averageValue:2:61.Quantity:po averageUtilization:3:i:po", ObjectMetricSource: "- describedObject:1:CrossVersionObjectReference:r target:2:MetricTarget:r metric:3:MetricIdentifier:r", ObjectMetricStatus: "- metric:1:MetricIdentifier:r current:2:MetricValueStatus:r describedObject:3:CrossVersionObjectReference:r", PodsMetricSource: "- metric:1:MetricIdentifier:r target:2:MetricTarget:r", PodsMetricStatus: "- metric:1:MetricIdentifier:r current:2:MetricValueStatus:r", ResourceMetricSource: "- name:1:s:r target:2:MetricTarget:r", ResourceMetricStatus: "- name:1:s:r current:2:MetricValueStatus:r" }], ["io.k8s.api.autoscaling.v2beta1", "autoscaling/v2beta1", { ContainerResourceMetricSource: "- name:1:s targetAverageUtilization:2:i:po targetAverageValue:3:61.Quantity:po container:4:s", ContainerResourceMetricStatus: "- name:1:s currentAverageUtilization:2:i:po currentAverageValue:3:61.Quantity container:4:s", CrossVersionObjectReference: "- kind:1:s name:2:s apiVersion:3:s:o", ExternalMetricSource: "- metricName:1:s metricSelector:2:62.LabelSelector:po targetValue:3:61.Quantity:po targetAverageValue:4:61.Quantity:po", ExternalMetricStatus: "- metricName:1:s metricSelector:2:62.LabelSelector:po currentValue:3:61.Quantity currentAverageValue:4:61.Quantity:po", HorizontalPodAutoscaler: "k metadata:1:62.ObjectMeta:o spec:2:HorizontalPodAutoscalerSpec:o status:3:HorizontalPodAutoscalerStatus:o", HorizontalPodAutoscalerCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", HorizontalPodAutoscalerList: "k metadata:1:62.ListMeta:o items:2:*HorizontalPodAutoscaler", HorizontalPodAutoscalerSpec: "- scaleTargetRef:1:CrossVersionObjectReference minReplicas:2:i:po maxReplicas:3:i metrics:4:*MetricSpec:o", HorizontalPodAutoscalerStatus: "- observedGeneration:1:l:po lastScaleTime:2:62.Time:po currentReplicas:3:i desiredReplicas:4:i currentMetrics:5:*MetricStatus conditions:6:*HorizontalPodAutoscalerCondition", MetricSpec: "- type:1:s object:2:ObjectMetricSource:po pods:3:PodsMetricSource:po resource:4:ResourceMetricSource:po external:5:ExternalMetricSource:po containerResource:7:ContainerResourceMetricSource:po", MetricStatus: "- type:1:s object:2:ObjectMetricStatus:po pods:3:PodsMetricStatus:po resource:4:ResourceMetricStatus:po external:5:ExternalMetricStatus:po containerResource:7:ContainerResourceMetricStatus:po", ObjectMetricSource: "- target:1:CrossVersionObjectReference metricName:2:s targetValue:3:61.Quantity selector:4:62.LabelSelector:po averageValue:5:61.Quantity:po", ObjectMetricStatus: "- target:1:CrossVersionObjectReference metricName:2:s currentValue:3:61.Quantity selector:4:62.LabelSelector:po averageValue:5:61.Quantity:po", PodsMetricSource: "- metricName:1:s targetAverageValue:2:61.Quantity selector:3:62.LabelSelector:po", PodsMetricStatus: "- metricName:1:s currentAverageValue:2:61.Quantity selector:3:62.LabelSelector:po", ResourceMetricSource: "- name:1:s targetAverageUtilization:2:i:po targetAverageValue:3:61.Quantity:po", ResourceMetricStatus: "- name:1:s currentAverageUtilization:2:i:po currentAverageValue:3:61.Quantity" }], ["io.k8s.api.autoscaling.v2beta2", "autoscaling/v2beta2", { ContainerResourceMetricSource: "- name:1:s target:2:MetricTarget container:3:s", ContainerResourceMetricStatus: "- name:1:s current:2:MetricValueStatus container:3:s", CrossVersionObjectReference: "- kind:1:s name:2:s apiVersion:3:s:o", ExternalMetricSource: "- metric:1:MetricIdentifier target:2:MetricTarget", ExternalMetricStatus: "- metric:1:MetricIdentifier current:2:MetricValueStatus", HPAScalingPolicy: "- type:1:s value:2:i periodSeconds:3:i", HPAScalingRules: "- selectPolicy:1:s:po policies:2:*HPAScalingPolicy:o stabilizationWindowSeconds:3:i:po", HorizontalPodAutoscaler: "k metadata:1:62.ObjectMeta:o spec:2:HorizontalPodAutoscalerSpec:o status:3:HorizontalPodAutoscalerStatus:o", HorizontalPodAutoscalerBehavior: "- scaleUp:1:HPAScalingRules:po scaleDown:2:HPAScalingRules:po", HorizontalPodAutoscalerCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", HorizontalPodAutoscalerList: "k metadata:1:62.ListMeta:o items:2:*HorizontalPodAutoscaler", HorizontalPodAutoscalerSpec: "- scaleTargetRef:1:CrossVersionObjectReference minReplicas:2:i:po maxReplicas:3:i metrics:4:*MetricSpec:o behavior:5:HorizontalPodAutoscalerBehavior:po", HorizontalPodAutoscalerStatus: "- observedGeneration:1:l:po lastScaleTime:2:62.Time:po currentReplicas:3:i desiredReplicas:4:i currentMetrics:5:*MetricStatus conditions:6:*HorizontalPodAutoscalerCondition", MetricIdentifier: "- name:1:s selector:2:62.LabelSelector:po", MetricSpec: "- type:1:s object:2:ObjectMetricSource:po pods:3:PodsMetricSource:po resource:4:ResourceMetricSource:po external:5:ExternalMetricSource:po containerResource:7:ContainerResourceMetricSource:po", MetricStatus: "- type:1:s object:2:ObjectMetricStatus:po pods:3:PodsMetricStatus:po resource:4:ResourceMetricStatus:po external:5:ExternalMetricStatus:po containerResource:7:ContainerResourceMetricStatus:po", MetricTarget: "- type:1:s value:2:61.Quantity:po averageValue:3:61.Quantity:po averageUtilization:4:i:po", MetricValueStatus: "- value:1:61.Quantity:po averageValue:2:61.Quantity:po averageUtilization:3:i:po", ObjectMetricSource: "- describedObject:1:CrossVersionObjectReference target:2:MetricTarget metric:3:MetricIdentifier", ObjectMetricStatus: "- metric:1:MetricIdentifier current:2:MetricValueStatus describedObject:3:CrossVersionObjectReference", PodsMetricSource: "- metric:1:MetricIdentifier target:2:MetricTarget", PodsMetricStatus: "- metric:1:MetricIdentifier current:2:MetricValueStatus", ResourceMetricSource: "- name:1:s target:2:MetricTarget", ResourceMetricStatus: "- name:1:s current:2:MetricValueStatus" }], ["io.k8s.api.batch.v1", "batch/v1", { CronJob: "k metadata:1:62.ObjectMeta:o spec:2:CronJobSpec:o status:3:CronJobStatus:o", CronJobList: "k metadata:1:62.ListMeta:o items:2:*CronJob:r", CronJobSpec: "- schedule:1:s:r startingDeadlineSeconds:2:l:po concurrencyPolicy:3:s:o suspend:4:b:po jobTemplate:5:JobTemplateSpec:r successfulJobsHistoryLimit:6:i:po failedJobsHistoryLimit:7:i:po timeZone:8:s:po", CronJobStatus: "- active:1:*28.ObjectReference:o:la lastScheduleTime:4:62.Time:po lastSuccessfulTime:5:62.Time:po", Job: "k metadata:1:62.ObjectMeta:o spec:2:JobSpec:o status:3:JobStatus:o", JobCondition: "- type:1:s:r status:2:s:r lastProbeTime:3:62.Time:o lastTransitionTime:4:62.Time:o reason:5:s:o message:6:s:o", JobList: "k metadata:1:62.ListMeta:o items:2:*Job:r", JobSpec: "- parallelism:1:i:po completions:2:i:po activeDeadlineSeconds:3:l:po selector:4:62.LabelSelector:po manualSelector:5:b:po template:6:28.PodTemplateSpec:r backoffLimit:7:i:po ttlSecondsAfterFinished:8:i:po completionMode:9:s:po suspend:10:b:po podFailurePolicy:11:PodFailurePolicy:po backoffLimitPerIndex:12:i:po maxFailedIndexes:13:i:po podReplacementPolicy:14:s:po managedBy:15:s:po successPolicy:16:SuccessPolicy:po", JobStatus: "- conditions:1:*JobCondition:o:la,ps=merge,pm=type startTime:2:62.Time:po completionTime:3:62.Time:po active:4:i:o succeeded:5:i:o failed:6:i:o completedIndexes:7:s:o uncountedTerminatedPods:8:UncountedTerminatedPods:po ready:9:i:po failedIndexes:10:s:po terminating:11:i:po", JobTemplateSpec: "- metadata:1:62.ObjectMeta:o spec:2:JobSpec:o", PodFailurePolicy: "- rules:1:*PodFailurePolicyRule:r:la", PodFailurePolicyOnExitCodesRequirement: "- containerName:1:s:po operator:2:s:r values:3:*i:r:ls", PodFailurePolicyOnPodConditionsPattern: "- type:1:s:r status:2:s:r", PodFailurePolicyRule: "- action:1:s:r onExitCodes:2:PodFailurePolicyOnExitCodesRequirement:po onPodConditions:3:*PodFailurePolicyOnPodConditionsPattern:o:la", SuccessPolicy: "- rules:1:*SuccessPolicyRule:r:la", SuccessPolicyRule: "- succeededIndexes:1:s:po succeededCount:2:i:po", UncountedTerminatedPods: "- succeeded:1:*s:o:ls failed:2:*s:o:ls" }], ["io.k8s.api.batch.v1beta1", "batch/v1beta1", { CronJob: "k metadata:1:62.ObjectMeta:o spec:2:CronJobSpec:o status:3:CronJobStatus:o", CronJobList: "k metadata:1:62.ListMeta:o items:2:*CronJob", CronJobSpec: "- schedule:1:s startingDeadlineSeconds:2:l:po concurrencyPolicy:3:s:o suspend:4:b:po jobTemplate:5:JobTemplateSpec successfulJobsHistoryLimit:6:i:po failedJobsHistoryLimit:7:i:po timeZone:8:s:po", CronJobStatus: "- active:1:*28.ObjectReference:o lastScheduleTime:4:62.Time:po lastSuccessfulTime:5:62.Time:po", JobTemplateSpec: "- metadata:1:62.ObjectMeta:o spec:2:20.JobSpec:o" }], ["io.k8s.api.certificates.v1", "certificates.k8s.io/v1", { CertificateSigningRequest: "k metadata:1:62.ObjectMeta:o spec:2:CertificateSigningRequestSpec:r status:3:CertificateSigningRequestStatus:o", CertificateSigningRequestCondition: "- type:1:s:r reason:2:s:o message:3:s:o lastUpdateTime:4:62.Time:o lastTransitionTime:5:62.Time:o status:6:s:r", CertificateSigningRequestList: "k metadata:1:62.ListMeta:o items:2:*CertificateSigningRequest:r", CertificateSigningRequestSpec: "- request:1:y:r:la username:2:s:o uid:3:s:o groups:4:*s:o:la usages:5:*s:o:la extra:6:%ExtraValue:o signerName:7:s:r expirationSeconds:8:i:po", CertificateSigningRequestStatus: "- conditions:1:*CertificateSigningRequestCondition:o:lm=type certificate:2:y:o:la", ExtraValue: "- items:1:*s" }], ["io.k8s.api.certificates.v1alpha1", "certificates.k8s.io/v1alpha1", { ClusterTrustBundle: "k metadata:1:62.ObjectMeta:o spec:2:ClusterTrustBundleSpec:r", ClusterTrustBundleList: "k metadata:1:62.ListMeta:o items:2:*ClusterTrustBundle:r", ClusterTrustBundleSpec: "- signerName:1:s:o trustBundle:2:s:r" }], ["io.k8s.api.certificates.v1beta1", "certificates.k8s.io/v1beta1", { CertificateSigningRequest: "k metadata:1:62.ObjectMeta:o spec:2:CertificateSigningRequestSpec status:3:CertificateSigningRequestStatus:o", CertificateSigningRequestCondition: "- type:1:s reason:2:s:o message:3:s:o lastUpdateTime:4:62.Time:o lastTransitionTime:5:62.Time:o status:6:s", CertificateSigningRequestList: "k metadata:1:62.ListMeta:o items:2:*CertificateSigningRequest", CertificateSigningRequestSpec: "- request:1:y username:2:s:o uid:3:s:o groups:4:*s:o usages:5:*s:o extra:6:%ExtraValue:o signerName:7:s:po expirationSeconds:8:i:po", CertificateSigningRequestStatus: "- conditions:1:*CertificateSigningRequestCondition:o certificate:2:y:o", ExtraValue: "- items:1:*s" }], ["io.k8s.api.coordination.v1", "coordination.k8s.io/v1", { Lease: "k metadata:1:62.ObjectMeta:o spec:2:LeaseSpec:o", LeaseList: "k metadata:1:62.ListMeta:o items:2:*Lease:r", LeaseSpec: "- holderIdentity:1:s:po leaseDurationSeconds:2:i:po acquireTime:3:62.MicroTime:po renewTime:4:62.MicroTime:po leaseTransitions:5:i:po strategy:6:s:po preferredHolder:7:s:po" }], ["io.k8s.api.coordination.v1alpha2", "coordination.k8s.io/v1alpha2", { LeaseCandidate: "k metadata:1:62.ObjectMeta:o spec:2:LeaseCandidateSpec:o", LeaseCandidateList: "k metadata:1:62.ListMeta:o items:2:*LeaseCandidate:r", LeaseCandidateSpec: "- leaseName:1:s:r pingTime:2:62.MicroTime:po renewTime:3:62.MicroTime:po binaryVersion:4:s:r emulationVersion:5:s:o strategy:6:s:or" }], ["io.k8s.api.coordination.v1beta1", "coordination.k8s.io/v1beta1", { Lease: "k metadata:1:62.ObjectMeta:o spec:2:LeaseSpec:o", LeaseList: "k metadata:1:62.ListMeta:o items:2:*Lease", LeaseSpec: "- holderIdentity:1:s:po leaseDurationSeconds:2:i:po acquireTime:3:62.MicroTime:po renewTime:4:62.MicroTime:po leaseTransitions:5:i:po strategy:6:s:po preferredHolder:7:s:po" }], ["io.k8s.api.core.v1", "v1", { AWSElasticBlockStoreVolumeSource: "- volumeID:1:s:r fsType:2:s:o partition:3:i:o readOnly:4:b:o", Affinity: "- nodeAffinity:1:NodeAffinity:po podAffinity:2:PodAffinity:po podAntiAffinity:3:PodAntiAffinity:po", AppArmorProfile: "- type:1:s:r localhostProfile:2:s:po", AttachedVolume: "- name:1:s:r devicePath:2:s:r", AvoidPods: "- preferAvoidPods:1:*PreferAvoidPodsEntry:o", AzureDiskVolumeSource: "- diskName:1:s:r diskURI:2:s:r cachingMode:3:s:po:df=%22ReadWrite%22 fsType:4:s:po:df=%22ext4%22 readOnly:5:b:po:df=false kind:6:s:po:df=%22Shared%22", AzureFilePersistentVolumeSource: "- secretName:1:s:r shareName:2:s:r readOnly:3:b:o secretNamespace:4:s:p", AzureFileVolumeSource: "- secretName:1:s:r shareName:2:s:r readOnly:3:b:o", Binding: "k metadata:1:62.ObjectMeta:o target:2:ObjectReference:r", CSIPersistentVolumeSource: "- driver:1:s:r volumeHandle:2:s:r readOnly:3:b:o fsType:4:s:o volumeAttributes:5:%s:o controllerPublishSecretRef:6:SecretReference:po nodeStageSecretRef:7:SecretReference:po nodePublishSecretRef:8:SecretReference:po controllerExpandSecretRef:9:SecretReference:po nodeExpandSecretRef:10:SecretReference:po", CSIVolumeSource: "- driver:1:s:r readOnly:2:b:po fsType:3:s:po volumeAttributes:4:%s:o nodePublishSecretRef:5:LocalObjectReference:po", Capabilities: "- add:1:*s:o:la drop:2:*s:o:la", CephFSPersistentVolumeSource: "- monitors:1:*s:r:la path:2:s:o user:3:s:o secretFile:4:s:o secretRef:5:SecretReference:po readOnly:6:b:o", CephFSVolumeSource: "- monitors:1:*s:r:la path:2:s:o user:3:s:o secretFile:4:s:o secretRef:5:LocalObjectReference:po readOnly:6:b:o", CinderPersistentVolumeSource: "- volumeID:1:s:r fsType:2:s:o readOnly:3:b:o secretRef:4:SecretReference:po", CinderVolumeSource: "- volumeID:1:s:r fsType:2:s:o readOnly:3:b:o secretRef:4:LocalObjectReference:po", ClientIPConfig: "- timeoutSeconds:1:i:po", ClusterTrustBundleProjection: "- name:1:s:po signerName:2:s:po labelSelector:3:62.LabelSelector:po path:4:s:r optional:5:b:po", ComponentCondition: "- type:1:s:r status:2:s:r message:3:s:o error:4:s:o", ComponentStatus: "k metadata:1:62.ObjectMeta:o conditions:2:*ComponentCondition:o:lm=type,ps=merge,pm=type", ComponentStatusList: "k metadata:1:62.ListMeta:o items:2:*ComponentStatus:r", ConfigMap: "k metadata:1:62.ObjectMeta:o data:2:%s:o binaryData:3:%y:o immutable:4:b:po", ConfigMapEnvSource: "- localObjectReference:1:LocalObjectReference:i optional:2:b:po", ConfigMapKeySelector: "a localObjectReference:1:LocalObjectReference:i key:2:s:r optional:3:b:po", ConfigMapList: "k metadata:1:62.ListMeta:o items:2:*ConfigMap:r", ConfigMapNodeConfigSource: "- namespace:1:s:r name:2:s:r uid:3:s:o resourceVersion:4:s:o kubeletConfigKey:5:s:r", ConfigMapProjection: "- localObjectReference:1:LocalObjectReference:i items:2:*KeyToPath:o:la optional:4:b:po", ConfigMapVolumeSource: "- localObjectReference:1:LocalObjectReference:i items:2:*KeyToPath:o:la defaultMode:3:i:po optional:4:b:po", Container: "- name:1:s:r image:2:s:o command:3:*s:o:la args:4:*s:o:la workingDir:5:s:o ports:6:*ContainerPort:o:lm=containerPort+protocol,ps=merge,pm=containerPort env:7:*EnvVar:o:lm=name,ps=merge,pm=name resources:8:ResourceRequirements:o volumeMounts:9:*VolumeMount:o:lm=mountPath,ps=merge,pm=mountPath livenessProbe:10:Probe:po readinessProbe:11:Probe:po lifecycle:12:Lifecycle:po terminationMessagePath:13:s:o imagePullPolicy:14:s:o securityContext:15:SecurityContext:po stdin:16:b:o stdinOnce:17:b:o tty:18:b:o envFrom:19:*EnvFromSource:o:la terminationMessagePolicy:20:s:o volumeDevices:21:*VolumeDevice:o:lm=devicePath,ps=merge,pm=devicePath startupProbe:22:Probe:po resizePolicy:23:*ContainerResizePolicy:o:la restartPolicy:24:s:po", ContainerImage: "- names:1:*s::la sizeBytes:2:l:o", ContainerPort: "- name:1:s:o hostPort:2:i:o containerPort:3:i:r protocol:4:s:o:df=%22TCP%22 hostIP:5:s:o", ContainerResizePolicy: "- resourceName:1:s:r restartPolicy:2:s:r", ContainerState: "- waiting:1:ContainerStateWaiting:po running:2:ContainerStateRunning:po terminated:3:ContainerStateTerminated:po", ContainerStateRunning: "- startedAt:1:62.Time:o", ContainerStateTerminated: "- exitCode:1:i:r signal:2:i:o reason:3:s:o message:4:s:o startedAt:5:62.Time:o finishedAt:6:62.Time:o containerID:7:s:o", ContainerStateWaiting: "- reason:1:s:o message:2:s:o", ContainerStatus: "- name:1:s:r state:2:ContainerState:o lastState:3:ContainerState:o ready:4:b:r restartCount:5:i:r image:6:s:r imageID:7:s:r containerID:8:s:o started:9:b:po allocatedResources:10:%61.Quantity:o resources:11:ResourceRequirements:po volumeMounts:12:*VolumeMountStatus:o:lm=mountPath,ps=merge,pm=mountPath user:13:ContainerUser:po allocatedResourcesStatus:14:*ResourceStatus:o:lm=name,ps=merge,pm=name", ContainerUser: "- linux:1:LinuxContainerUser:po", DaemonEndpoint: "- Port:1:i:r", DownwardAPIProjection: "- items:1:*DownwardAPIVolumeFile:o:la", DownwardAPIVolumeFile: "- path:1:s:r fieldRef:2:ObjectFieldSelector:po resourceFieldRef:3:ResourceFieldSelector:po mode:4:i:po", DownwardAPIVolumeSource: "- items:1:*DownwardAPIVolumeFile:o:la defaultMode:2:i:po", EmptyDirVolumeSource: "- medium:1:s:o sizeLimit:2:61.Quantity:po", EndpointAddress: "a ip:1:s:r targetRef:2:ObjectReference:po hostname:3:s:o nodeName:4:s:po", EndpointPort: "a name:1:s:o port:2:i:r protocol:3:s:o appProtocol:4:s:po", EndpointSubset: "- addresses:1:*EndpointAddress:o:la notReadyAddresses:2:*EndpointAddress:o:la ports:3:*EndpointPort:o:la", Endpoints: "k metadata:1:62.ObjectMeta:o subsets:2:*EndpointSubset:o:la", EndpointsList: "k metadata:1:62.ListMeta:o items:2:*Endpoints:r", EnvFromSource: "- prefix:1:s:o configMapRef:2:ConfigMapEnvSource:po secretRef:3:SecretEnvSource:po", EnvVar: "- name:1:s:r value:2:s:o valueFrom:3:EnvVarSource:po", EnvVarSource: "- fieldRef:1:ObjectFieldSelector:po resourceFieldRef:2:ResourceFieldSelector:po configMapKeyRef:3:ConfigMapKeySelector:po secretKeyRef:4:SecretKeySelector:po", EphemeralContainer: "- ephemeralContainerCommon:1:EphemeralContainerCommon:i targetContainerName:2:s:o", EphemeralContainerCommon: "- name:1:s:r image:2:s:o command:3:*s:o:la args:4:*s:o:la workingDir:5:s:o ports:6:*ContainerPort:o:lm=containerPort+protocol,ps=merge,pm=containerPort env:7:*EnvVar:o:lm=name,ps=merge,pm=name resources:8:ResourceRequirements:o volumeMounts:9:*VolumeMount:o:lm=mountPath,ps=merge,pm=mountPath livenessProbe:10:Probe:po readinessProbe:11:Probe:po lifecycle:12:Lifecycle:po terminationMessagePath:13:s:o imagePullPolicy:14:s:o securityContext:15:SecurityContext:po stdin:16:b:o stdinOnce:17:b:o tty:18:b:o envFrom:19:*EnvFromSource:o:la terminationMessagePolicy:20:s:o volumeDevices:21:*VolumeDevice:o:lm=devicePath,ps=merge,pm=devicePath startupProbe:22:Probe:po resizePolicy:23:*ContainerResizePolicy:o:la restartPolicy:24:s:po", EphemeralVolumeSource: "- volumeClaimTemplate:1:PersistentVolumeClaimTemplate:po", Event: "k metadata:1:62.ObjectMeta:r involvedObject:2:ObjectReference:r reason:3:s:o message:4:s:o source:5:EventSource:o firstTimestamp:6:62.Time:o lastTimestamp:7:62.Time:o count:8:i:o type:9:s:o eventTime:10:62.MicroTime:o series:11:EventSeries:po action:12:s:o related:13:ObjectReference:po reportingComponent:14:s reportingInstance:15:s", EventList: "k metadata:1:62.ListMeta:o items:2:*Event:r", EventSeries: "- count:1:i:o lastObservedTime:2:62.MicroTime:o", EventSource: "- component:1:s:o host:2:s:o", ExecAction: "- command:1:*s:o:la", FCVolumeSource: "- targetWWNs:1:*s:o:la lun:2:i:po fsType:3:s:o readOnly:4:b:o wwids:5:*s:o:la", FlexPersistentVolumeSource: "- driver:1:s:r fsType:2:s:o secretRef:3:SecretReference:po readOnly:4:b:o options:5:%s:o", FlexVolumeSource: "- driver:1:s:r fsType:2:s:o secretRef:3:LocalObjectReference:po readOnly:4:b:o options:5:%s:o", FlockerVolumeSource: "- datasetName:1:s:o datasetUUID:2:s:o", GCEPersistentDiskVolumeSource: "- pdName:1:s:r fsType:2:s:o partition:3:i:o readOnly:4:b:o", GRPCAction: "- port:1:i:r service:2:s:p:df=%22%22", GitRepoVolumeSource: "- repository:1:s:r revision:2:s:o directory:3:s:o", GlusterfsPersistentVolumeSource: "- endpoints:1:s:r path:2:s:r readOnly:3:b:o endpointsNamespace:4:s:po", GlusterfsVolumeSource: "- endpoints:1:s:r path:2:s:r readOnly:3:b:o", HTTPGetAction: "- path:1:s:o port:2:65.IntOrString:r host:3:s:o scheme:4:s:o httpHeaders:5:*HTTPHeader:o:la", HTTPHeader: "- name:1:s:r value:2:s:r", HostAlias: "- ip:1:s:r hostnames:2:*s:o:la", HostIP: "- ip:1:s:r", HostPathVolumeSource: "- path:1:s:r type:2:s:po", ISCSIPersistentVolumeSource: "- targetPortal:1:s:r iqn:2:s:r lun:3:i:r iscsiInterface:4:s:o:df=%22default%22 fsType:5:s:o readOnly:6:b:o portals:7:*s:o:la chapAuthDiscovery:8:b:o secretRef:10:SecretReference:po chapAuthSession:11:b:o initiatorName:12:s:po", ISCSIVolumeSource: "- targetPortal:1:s:r iqn:2:s:r lun:3:i:r iscsiInterface:4:s:o:df=%22default%22 fsType:5:s:o readOnly:6:b:o portals:7:*s:o:la chapAuthDiscovery:8:b:o secretRef:10:LocalObjectReference:po chapAuthSession:11:b:o initiatorName:12:s:po", ImageVolumeSource: "- reference:1:s:o pullPolicy:2:s:o", KeyToPath: "- key:1:s:r path:2:s:r mode:3:i:po", Lifecycle: "- postStart:1:LifecycleHandler:po preStop:2:LifecycleHandler:po", LifecycleHandler: "- exec:1:ExecAction:po httpGet:2:HTTPGetAction:po tcpSocket:3:TCPSocketAction:po sleep:4:SleepAction:po", LimitRange: "k metadata:1:62.ObjectMeta:o spec:2:LimitRangeSpec:o", LimitRangeItem: "- type:1:s:r max:2:%61.Quantity:o min:3:%61.Quantity:o default:4:%61.Quantity:o defaultRequest:5:%61.Quantity:o maxLimitRequestRatio:6:%61.Quantity:o", LimitRangeList: "k metadata:1:62.ListMeta:o items:2:*LimitRange:r", LimitRangeSpec: "- limits:1:*LimitRangeItem:r:la", LinuxContainerUser: "- uid:1:l:r gid:2:l:r supplementalGroups:3:*l:o:la", List: "k metadata:1:62.ListMeta:o items:2:*64.RawExtension", LoadBalancerIngress: "- ip:1:s:o hostname:2:s:o ipMode:3:s:po ports:4:*PortStatus:o:la", LoadBalancerStatus: "- ingress:1:*LoadBalancerIngress:o:la", LocalObjectReference: "a name:1:s:o", LocalVolumeSource: "- path:1:s:r fsType:2:s:po", ModifyVolumeStatus: "- targetVolumeAttributesClassName:1:s:o status:2:s:r", NFSVolumeSource: "- server:1:s:r path:2:s:r readOnly:3:b:o", Namespace: "k metadata:1:62.ObjectMeta:o spec:2:NamespaceSpec:o status:3:NamespaceStatus:o", NamespaceCondition: "- type:1:s:r status:2:s:r lastTransitionTime:4:62.Time:o reason:5:s:o message:6:s:o", NamespaceList: "k metadata:1:62.ListMeta:o items:2:*Namespace:r", NamespaceSpec: "- finalizers:1:*s:o:la", NamespaceStatus: "- phase:1:s:o conditions:2:*NamespaceCondition:o:lm=type,ps=merge,pm=type", Node: "k metadata:1:62.ObjectMeta:o spec:2:NodeSpec:o status:3:NodeStatus:o", NodeAddress: "- type:1:s:r address:2:s:r", NodeAffinity: "- requiredDuringSchedulingIgnoredDuringExecution:1:NodeSelector:po preferredDuringSchedulingIgnoredDuringExecution:2:*PreferredSchedulingTerm:o:la", NodeCondition: "- type:1:s:r status:2:s:r lastHeartbeatTime:3:62.Time:o lastTransitionTime:4:62.Time:o reason:5:s:o message:6:s:o", NodeConfigSource: "- configMap:2:ConfigMapNodeConfigSource:po", NodeConfigStatus: "- assigned:1:NodeConfigSource:po active:2:NodeConfigSource:po lastKnownGood:3:NodeConfigSource:po error:4:s:o", NodeDaemonEndpoints: "- kubeletEndpoint:1:DaemonEndpoint:o", NodeFeatures: "- supplementalGroupsPolicy:1:b:po", NodeList: "k metadata:1:62.ListMeta:o items:2:*Node:r", NodeProxyOptions: "k path:1:s:o", NodeRuntimeHandler: "- name:1:s features:2:NodeRuntimeHandlerFeatures:po", NodeRuntimeHandlerFeatures: "- recursiveReadOnlyMounts:1:b:po userNamespaces:2:b:po", NodeSelector: "a nodeSelectorTerms:1:*NodeSelectorTerm:r:la", NodeSelectorRequirement: "- key:1:s:r operator:2:s:r values:3:*s:o:la", NodeSelectorTerm: "a matchExpressions:1:*NodeSelectorRequirement:o:la matchFields:2:*NodeSelectorRequirement:o:la", NodeSpec: "- podCIDR:1:s:o externalID:2:s:o providerID:3:s:o unschedulable:4:b:o taints:5:*Taint:o:la configSource:6:NodeConfigSource:po podCIDRs:7:*s:o:ls,ps=merge", NodeStatus: "- capacity:1:%61.Quantity:o allocatable:2:%61.Quantity:o phase:3:s:o conditions:4:*NodeCondition:o:lm=type,ps=merge,pm=type addresses:5:*NodeAddress:o:lm=type,ps=merge,pm=type daemonEndpoints:6:NodeDaemonEndpoints:o nodeInfo:7:NodeSystemInfo:o images:8:*ContainerImage:o:la volumesInUse:9:*s:o:la volumesAttached:10:*AttachedVolume:o:la config:11:NodeConfigStatus:po runtimeHandlers:12:*NodeRuntimeHandler:o:la features:13:NodeFeatures:po", NodeSystemInfo: "- machineID:1:s:r systemUUID:2:s:r bootID:3:s:r kernelVersion:4:s:r osImage:5:s:r containerRuntimeVersion:6:s:r kubeletVersion:7:s:r kubeProxyVersion:8:s:r operatingSystem:9:s:r architecture:10:s:r", ObjectFieldSelector: "a apiVersion:1:s:o fieldPath:2:s:r", ObjectReference: "a kind:1:s:o namespace:2:s:o name:3:s:o uid:4:s:o apiVersion:5:s:o resourceVersion:6:s:o fieldPath:7:s:o", PersistentVolume: "k metadata:1:62.ObjectMeta:o spec:2:PersistentVolumeSpec:o status:3:PersistentVolumeStatus:o", PersistentVolumeClaim: "k metadata:1:62.ObjectMeta:o spec:2:PersistentVolumeClaimSpec:o status:3:PersistentVolumeClaimStatus:o", PersistentVolumeClaimCondition: "- type:1:s:r status:2:s:r lastProbeTime:3:62.Time:o lastTransitionTime:4:62.Time:o reason:5:s:o message:6:s:o", PersistentVolumeClaimList: "k metadata:1:62.ListMeta:o items:2:*PersistentVolumeClaim:r", PersistentVolumeClaimSpec: "- accessModes:1:*s:o:la resources:2:VolumeResourceRequirements:o volumeName:3:s:o selector:4:62.LabelSelector:po storageClassName:5:s:po volumeMode:6:s:po dataSource:7:TypedLocalObjectReference:po dataSourceRef:8:TypedObjectReference:po volumeAttributesClassName:9:s:po", PersistentVolumeClaimStatus: "- phase:1:s:o accessModes:2:*s:o:la capacity:3:%61.Quantity:o conditions:4:*PersistentVolumeClaimCondition:o:lm=type,ps=merge,pm=type allocatedResources:5:%61.Quantity:o allocatedResourceStatuses:7:%s:o:mg currentVolumeAttributesClassName:8:s:po modifyVolumeStatus:9:ModifyVolumeStatus:po", PersistentVolumeClaimTemplate: "- metadata:1:62.ObjectMeta:o spec:2:PersistentVolumeClaimSpec:r", PersistentVolumeClaimVolumeSource: "- claimName:1:s:r readOnly:2:b:o", PersistentVolumeList: "k metadata:1:62.ListMeta:o items:2:*PersistentVolume:r", PersistentVolumeSource: "- gcePersistentDisk:1:GCEPersistentDiskVolumeSource:po awsElasticBlockStore:2:AWSElasticBlockStoreVolumeSource:po hostPath:3:HostPathVolumeSource:po glusterfs:4:GlusterfsPersistentVolumeSource:po nfs:5:NFSVolumeSource:po rbd:6:RBDPersistentVolumeSource:po iscsi:7:ISCSIPersistentVolumeSource:po cinder:8:CinderPersistentVolumeSource:po cephfs:9:CephFSPersistentVolumeSource:po fc:10:FCVolumeSource:po flocker:11:FlockerVolumeSource:po flexVolume:12:FlexPersistentVolumeSource:po azureFile:13:AzureFilePersistentVolumeSource:po vsphereVolume:14:VsphereVirtualDiskVolumeSource:po quobyte:15:QuobyteVolumeSource:po azureDisk:16:AzureDiskVolumeSource:po photonPersistentDisk:17:PhotonPersistentDiskVolumeSource:po portworxVolume:18:PortworxVolumeSource:po scaleIO:19:ScaleIOPersistentVolumeSource:po local:20:LocalVolumeSource:po storageos:21:StorageOSPersistentVolumeSource:po csi:22:CSIPersistentVolumeSource:po", PersistentVolumeSpec: "- capacity:1:%61.Quantity:o persistentVolumeSource:2:PersistentVolumeSource:i accessModes:3:*s:o:la claimRef:4:ObjectReference:po:mg persistentVolumeReclaimPolicy:5:s:o storageClassName:6:s:o mountOptions:7:*s:o:la volumeMode:8:s:po nodeAffinity:9:VolumeNodeAffinity:po volumeAttributesClassName:10:s:po", PersistentVolumeStatus: "- phase:1:s:o message:2:s:o reason:3:s:o lastPhaseTransitionTime:4:62.Time:po", PhotonPersistentDiskVolumeSource: "- pdID:1:s:r fsType:2:s:o", Pod: "k metadata:1:62.ObjectMeta:o spec:2:PodSpec:o status:3:PodStatus:o", PodAffinity: "- requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm:o:la preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm:o:la", PodAffinityTerm: "- labelSelector:1:62.LabelSelector:po namespaces:2:*s:o:la topologyKey:3:s:r namespaceSelector:4:62.LabelSelector:po matchLabelKeys:5:*s:o:la mismatchLabelKeys:6:*s:o:la", PodAntiAffinity: "- requiredDuringSchedulingIgnoredDuringExecution:1:*PodAffinityTerm:o:la preferredDuringSchedulingIgnoredDuringExecution:2:*WeightedPodAffinityTerm:o:la", PodAttachOptions: "k stdin:1:b:o stdout:2:b:o stderr:3:b:o tty:4:b:o container:5:s:o", PodCondition: "- type:1:s:r status:2:s:r lastProbeTime:3:62.Time:o lastTransitionTime:4:62.Time:o reason:5:s:o message:6:s:o", PodDNSConfig: "- nameservers:1:*s:o:la searches:2:*s:o:la options:3:*PodDNSConfigOption:o:la", PodDNSConfigOption: "- name:1:s:o value:2:s:po", PodExecOptions: "k stdin:1:b:o stdout:2:b:o stderr:3:b:o tty:4:b:o container:5:s:o command:6:*s", PodIP: "- ip:1:s:r", PodList: "k metadata:1:62.ListMeta:o items:2:*Pod:r", PodLogOptions: "k container:1:s:o follow:2:b:o previous:3:b:o sinceSeconds:4:l:po sinceTime:5:62.Time:po timestamps:6:b:o tailLines:7:l:po limitBytes:8:l:po insecureSkipTLSVerifyBackend:9:b:o stream:10:s:po", PodOS: "- name:1:s:r", PodPortForwardOptions: "k ports:1:*i:o", PodProxyOptions: "k path:1:s:o", PodReadinessGate: "- conditionType:1:s:r", PodResourceClaim: "- name:1:s:r resourceClaimName:3:s:po resourceClaimTemplateName:4:s:po", PodResourceClaimStatus: "- name:1:s:r resourceClaimName:2:s:po", PodSchedulingGate: "- name:1:s:r", PodSecurityContext: "- seLinuxOptions:1:SELinuxOptions:po runAsUser:2:l:po runAsNonRoot:3:b:po supplementalGroups:4:*l:o:la fsGroup:5:l:po runAsGroup:6:l:po sysctls:7:*Sysctl:o:la windowsOptions:8:WindowsSecurityContextOptions:po fsGroupChangePolicy:9:s:po seccompProfile:10:SeccompProfile:po appArmorProfile:11:AppArmorProfile:po supplementalGroupsPolicy:12:s:po seLinuxChangePolicy:13:s:po", PodSignature: "- podController:1:62.OwnerReference:po", PodSpec: "- volumes:1:*Volume:o:lm=name,ps=merge+retainKeys,pm=name containers:2:*Container:r:lm=name,ps=merge,pm=name restartPolicy:3:s:o terminationGracePeriodSeconds:4:l:po activeDeadlineSeconds:5:l:po dnsPolicy:6:s:o nodeSelector:7:%s:o:ma serviceAccountName:8:s:o serviceAccount:9:s:o nodeName:10:s:o hostNetwork:11:b:o hostPID:12:b:o hostIPC:13:b:o securityContext:14:PodSecurityContext:po imagePullSecrets:15:*LocalObjectReference:o:lm=name,ps=merge,pm=name hostname:16:s:o subdomain:17:s:o affinity:18:Affinity:po schedulerName:19:s:o initContainers:20:*Container:o:lm=name,ps=merge,pm=name automountServiceAccountToken:21:b:po tolerations:22:*Toleration:o:la hostAliases:23:*HostAlias:o:lm=ip,ps=merge,pm=ip priorityClassName:24:s:o priority:25:i:po dnsConfig:26:PodDNSConfig:po shareProcessNamespace:27:b:po readinessGates:28:*PodReadinessGate:o:la runtimeClassName:29:s:po enableServiceLinks:30:b:po preemptionPolicy:31:s:po overhead:32:%61.Quantity:o topologySpreadConstraints:33:*TopologySpreadConstraint:o:lm=topologyKey+whenUnsatisfiable,ps=merge,pm=topologyKey ephemeralContainers:34:*EphemeralContainer:o:lm=name,ps=merge,pm=name setHostnameAsFQDN:35:b:po os:36:PodOS:po hostUsers:37:b:po schedulingGates:38:*PodSchedulingGate:o:lm=name,ps=merge,pm=name resourceClaims:39:*PodResourceClaim:o:lm=name,ps=merge+retainKeys,pm=name resources:40:ResourceRequirements:po", PodStatus: "- phase:1:s:o conditions:2:*PodCondition:o:lm=type,ps=merge,pm=type message:3:s:o reason:4:s:o hostIP:5:s:o podIP:6:s:o startTime:7:62.Time:po containerStatuses:8:*ContainerStatus:o:la qosClass:9:s:o initContainerStatuses:10:*ContainerStatus:o:la nominatedNodeName:11:s:o podIPs:12:*PodIP:o:lm=ip,ps=merge,pm=ip ephemeralContainerStatuses:13:*ContainerStatus:o:la resize:14:s:o resourceClaimStatuses:15:*PodResourceClaimStatus:o:lm=name,ps=merge+retainKeys,pm=name hostIPs:16:*HostIP:o:la,ps=merge,pm=ip", PodStatusResult: "k metadata:1:62.ObjectMeta:o status:2:PodStatus:o", PodTemplate: "k metadata:1:62.ObjectMeta:o template:2:PodTemplateSpec:o", PodTemplateList: "k metadata:1:62.ListMeta:o items:2:*PodTemplate:r", PodTemplateSpec: "- metadata:1:62.ObjectMeta:o spec:2:PodSpec:o", PortStatus: "- port:1:i:r protocol:2:s:r error:3:s:po", PortworxVolumeSource: "- volumeID:1:s:r fsType:2:s:o readOnly:3:b:o", Preconditions: "- uid:1:s:po", PreferAvoidPodsEntry: "- podSignature:1:PodSignature evictionTime:2:62.Time:o reason:3:s:o message:4:s:o", PreferredSchedulingTerm: "- weight:1:i:r preference:2:NodeSelectorTerm:r", Probe: "- handler:1:ProbeHandler:i initialDelaySeconds:2:i:o timeoutSeconds:3:i:o periodSeconds:4:i:o successThreshold:5:i:o failureThreshold:6:i:o terminationGracePeriodSeconds:7:l:po", ProbeHandler: "- exec:1:ExecAction:po httpGet:2:HTTPGetAction:po tcpSocket:3:TCPSocketAction:po grpc:4:GRPCAction:po", ProjectedVolumeSource: "- sources:1:*VolumeProjection::la defaultMode:2:i:po", QuobyteVolumeSource: "- registry:1:s:r volume:2:s:r readOnly:3:b:o user:4:s:o group:5:s:o tenant:6:s:o", RBDPersistentVolumeSource: "- monitors:1:*s:r:la image:2:s:r fsType:3:s:o pool:4:s:o:df=%22rbd%22 user:5:s:o:df=%22admin%22 keyring:6:s:o:df=%22%2Fetc%2Fceph%2Fkeyring%22 secretRef:7:SecretReference:po readOnly:8:b:o", RBDVolumeSource: "- monitors:1:*s:r:la image:2:s:r fsType:3:s:o pool:4:s:o:df=%22rbd%22 user:5:s:o:df=%22admin%22 keyring:6:s:o:df=%22%2Fetc%2Fceph%2Fkeyring%22 secretRef:7:LocalObjectReference:po readOnly:8:b:o", RangeAllocation: "k metadata:1:62.ObjectMeta:o range:2:s data:3:y", ReplicationController: "k metadata:1:62.ObjectMeta:o spec:2:ReplicationControllerSpec:o status:3:ReplicationControllerStatus:o", ReplicationControllerCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", ReplicationControllerList: "k metadata:1:62.ListMeta:o items:2:*ReplicationController:r", ReplicationControllerSpec: "- replicas:1:i:po selector:2:%s:o:ma template:3:PodTemplateSpec:po minReadySeconds:4:i:o", ReplicationControllerStatus: "- replicas:1:i:r fullyLabeledReplicas:2:i:o observedGeneration:3:l:o readyReplicas:4:i:o availableReplicas:5:i:o conditions:6:*ReplicationControllerCondition:o:lm=type,ps=merge,pm=type", ResourceClaim: "- name:1:s:r request:2:s:o", ResourceFieldSelector: "a containerName:1:s:o resource:2:s:r divisor:3:61.Quantity:o", ResourceHealth: "- resourceID:1:s:r health:2:s:o", ResourceQuota: "k metadata:1:62.ObjectMeta:o spec:2:ResourceQuotaSpec:o status:3:ResourceQuotaStatus:o", ResourceQuotaList: "k metadata:1:62.ListMeta:o items:2:*ResourceQuota:r", ResourceQuotaSpec: "- hard:1:%61.Quantity:o scopes:2:*s:o:la scopeSelector:3:ScopeSelector:po", ResourceQuotaStatus: "- hard:1:%61.Quantity:o used:2:%61.Quantity:o", ResourceRequirements: "- limits:1:%61.Quantity:o requests:2:%61.Quantity:o claims:3:*ResourceClaim:o:lm=name", ResourceStatus: "- name:1:s:r resources:2:*ResourceHealth:o:lm=resourceID", SELinuxOptions: "- user:1:s:o role:2:s:o type:3:s:o level:4:s:o", ScaleIOPersistentVolumeSource: "- gateway:1:s:r system:2:s:r secretRef:3:SecretReference:pr sslEnabled:4:b:o protectionDomain:5:s:o storagePool:6:s:o storageMode:7:s:o:df=%22ThinProvisioned%22 volumeName:8:s:o fsType:9:s:o:df=%22xfs%22 readOnly:10:b:o", ScaleIOVolumeSource: "- gateway:1:s:r system:2:s:r secretRef:3:LocalObjectReference:pr sslEnabled:4:b:o protectionDomain:5:s:o storagePool:6:s:o storageMode:7:s:o:df=%22ThinProvisioned%22 volumeName:8:s:o fsType:9:s:o:df=%22xfs%22 readOnly:10:b:o", ScopeSelector: "a matchExpressions:1:*ScopedResourceSelectorRequirement:o:la", ScopedResourceSelectorRequirement: "- scopeName:1:s:r operator:2:s:r values:3:*s:o:la", SeccompProfile: "- type:1:s:r localhostProfile:2:s:po", Secret: "k metadata:1:62.ObjectMeta:o data:2:%y:o type:3:s:o stringData:4:%s:o immutable:5:b:po", SecretEnvSource: "- localObjectReference:1:LocalObjectReference:i optional:2:b:po", SecretKeySelector: "a localObjectReference:1:LocalObjectReference:i key:2:s:r optional:3:b:po", SecretList: "k metadata:1:62.ListMeta:o items:2:*Secret:r", SecretProjection: "- localObjectReference:1:LocalObjectReference:i items:2:*KeyToPath:o:la optional:4:b:po", SecretReference: "a name:1:s:o namespace:2:s:o", SecretVolumeSource: "- secretName:1:s:o items:2:*KeyToPath:o:la defaultMode:3:i:po optional:4:b:po", SecurityContext: "- capabilities:1:Capabilities:po privileged:2:b:po seLinuxOptions:3:SELinuxOptions:po runAsUser:4:l:po runAsNonRoot:5:b:po readOnlyRootFilesystem:6:b:po allowPrivilegeEscalation:7:b:po runAsGroup:8:l:po procMount:9:s:po windowsOptions:10:WindowsSecurityContextOptions:po seccompProfile:11:SeccompProfile:po appArmorProfile:12:AppArmorProfile:po", SerializedReference: "k reference:1:ObjectReference:o", Service: "k metadata:1:62.ObjectMeta:o spec:2:ServiceSpec:o status:3:ServiceStatus:o", ServiceAccount: "k metadata:1:62.ObjectMeta:o secrets:2:*ObjectReference:o:lm=name,ps=merge,pm=name imagePullSecrets:3:*LocalObjectReference:o:la automountServiceAccountToken:4:b:po", ServiceAccountList: "k metadata:1:62.ListMeta:o items:2:*ServiceAccount:r", ServiceAccountTokenProjection: "- audience:1:s:o expirationSeconds:2:l:po path:3:s:r", ServiceList: "k metadata:1:62.ListMeta:o items:2:*Service:r", ServicePort: "- name:1:s:o protocol:2:s:o:df=%22TCP%22 port:3:i:r targetPort:4:65.IntOrString:o nodePort:5:i:o appProtocol:6:s:po", ServiceProxyOptions: "k path:1:s:o", ServiceSpec: "- ports:1:*ServicePort:o:lm=port+protocol,ps=merge,pm=port selector:2:%s:o:ma clusterIP:3:s:o type:4:s:o externalIPs:5:*s:o:la sessionAffinity:7:s:o loadBalancerIP:8:s:o loadBalancerSourceRanges:9:*s:o:la externalName:10:s:o externalTrafficPolicy:11:s:o healthCheckNodePort:12:i:o publishNotReadyAddresses:13:b:o sessionAffinityConfig:14:SessionAffinityConfig:po ipFamilyPolicy:17:s:po clusterIPs:18:*s:o:la ipFamilies:19:*s:o:la allocateLoadBalancerNodePorts:20:b:po loadBalancerClass:21:s:po internalTrafficPolicy:22:s:po trafficDistribution:23:s:po", ServiceStatus: "- loadBalancer:1:LoadBalancerStatus:o conditions:2:*62.Condition:o:lm=type,ps=merge,pm=type", SessionAffinityConfig: "- clientIP:1:ClientIPConfig:po", SleepAction: "- seconds:1:l:r", StorageOSPersistentVolumeSource: "- volumeName:1:s:o volumeNamespace:2:s:o fsType:3:s:o readOnly:4:b:o secretRef:5:ObjectReference:po", StorageOSVolumeSource: "- volumeName:1:s:o volumeNamespace:2:s:o fsType:3:s:o readOnly:4:b:o secretRef:5:LocalObjectReference:po", Sysctl: "- name:1:s:r value:2:s:r", TCPSocketAction: "- port:1:65.IntOrString:r host:2:s:o", Taint: "- key:1:s:r value:2:s:o effect:3:s:r timeAdded:4:62.Time:po", Toleration: "- key:1:s:o operator:2:s:o value:3:s:o effect:4:s:o tolerationSeconds:5:l:po", TopologySelectorLabelRequirement: "- key:1:s:r values:2:*s:r:la", TopologySelectorTerm: "a matchLabelExpressions:1:*TopologySelectorLabelRequirement:o:la", TopologySpreadConstraint: "- maxSkew:1:i:r topologyKey:2:s:r whenUnsatisfiable:3:s:r labelSelector:4:62.LabelSelector:po minDomains:5:i:po nodeAffinityPolicy:6:s:po nodeTaintsPolicy:7:s:po matchLabelKeys:8:*s:o:la", TypedLocalObjectReference: "a apiGroup:1:s:p kind:2:s:r name:3:s:r", TypedObjectReference: "- apiGroup:1:s:p kind:2:s:r name:3:s:r namespace:4:s:po", Volume: "- name:1:s:r volumeSource:2:VolumeSource:i", VolumeDevice: "- name:1:s:r devicePath:2:s:r", VolumeMount: "- name:1:s:r readOnly:2:b:o mountPath:3:s:r subPath:4:s:o mountPropagation:5:s:po subPathExpr:6:s:o recursiveReadOnly:7:s:po", VolumeMountStatus: "- name:1:s:r mountPath:2:s:r readOnly:3:b:o recursiveReadOnly:4:s:po", VolumeNodeAffinity: "- required:1:NodeSelector:po", VolumeProjection: "- secret:1:SecretProjection:po downwardAPI:2:DownwardAPIProjection:po configMap:3:ConfigMapProjection:po serviceAccountToken:4:ServiceAccountTokenProjection:po clusterTrustBundle:5:ClusterTrustBundleProjection:po", VolumeResourceRequirements: "- limits:1:%61.Quantity:o requests:2:%61.Quantity:o", VolumeSource: "- hostPath:1:HostPathVolumeSource:po emptyDir:2:EmptyDirVolumeSource:po gcePersistentDisk:3:GCEPersistentDiskVolumeSource:po awsElasticBlockStore:4:AWSElasticBlockStoreVolumeSource:po gitRepo:5:GitRepoVolumeSource:po secret:6:SecretVolumeSource:po nfs:7:NFSVolumeSource:po iscsi:8:ISCSIVolumeSource:po glusterfs:9:GlusterfsVolumeSource:po persistentVolumeClaim:10:PersistentVolumeClaimVolumeSource:po rbd:11:RBDVolumeSource:po flexVolume:12:FlexVolumeSource:po cinder:13:CinderVolumeSource:po cephfs:14:CephFSVolumeSource:po flocker:15:FlockerVolumeSource:po downwardAPI:16:DownwardAPIVolumeSource:po fc:17:FCVolumeSource:po azureFile:18:AzureFileVolumeSource:po configMap:19:ConfigMapVolumeSource:po vsphereVolume:20:VsphereVirtualDiskVolumeSource:po quobyte:21:QuobyteVolumeSource:po azureDisk:22:AzureDiskVolumeSource:po photonPersistentDisk:23:PhotonPersistentDiskVolumeSource:po portworxVolume:24:PortworxVolumeSource:po scaleIO:25:ScaleIOVolumeSource:po projected:26:ProjectedVolumeSource:po storageos:27:StorageOSVolumeSource:po csi:28:CSIVolumeSource:po ephemeral:29:EphemeralVolumeSource:po image:30:ImageVolumeSource:po", VsphereVirtualDiskVolumeSource: "- volumePath:1:s:r fsType:2:s:o storagePolicyName:3:s:o storagePolicyID:4:s:o", WeightedPodAffinityTerm: "- weight:1:i:r podAffinityTerm:2:PodAffinityTerm:r", WindowsSecurityContextOptions: "- gmsaCredentialSpecName:1:s:po gmsaCredentialSpec:2:s:po runAsUserName:3:s:po hostProcess:4:b:po" }], ["io.k8s.api.discovery.v1", "discovery.k8s.io/v1", { Endpoint: "- addresses:1:*s:r:ls conditions:2:EndpointConditions:o hostname:3:s:po targetRef:4:28.ObjectReference:po deprecatedTopology:5:%s:o nodeName:6:s:po zone:7:s:po hints:8:EndpointHints:po", EndpointConditions: "- ready:1:b:po serving:2:b:po terminating:3:b:po", EndpointHints: "- forZones:1:*ForZone:o:la", EndpointPort: "a name:1:s:po protocol:2:s:po port:3:i:po appProtocol:4:s:po", EndpointSlice: "k metadata:1:62.ObjectMeta:o endpoints:2:*Endpoint:r:la ports:3:*EndpointPort::la addressType:4:s:r", EndpointSliceList: "k metadata:1:62.ListMeta:o items:2:*EndpointSlice:r", ForZone: "- name:1:s:r" }], ["io.k8s.api.discovery.v1beta1", "discovery.k8s.io/v1beta1", { Endpoint: "- addresses:1:*s conditions:2:EndpointConditions:o hostname:3:s:po targetRef:4:28.ObjectReference:po topology:5:%s:o nodeName:6:s:po hints:7:EndpointHints:po", EndpointConditions: "- ready:1:b:po serving:2:b:po terminating:3:b:po", EndpointHints: "- forZones:1:*ForZone:o", EndpointPort: "- name:1:s:po protocol:2:s:po port:3:i:po appProtocol:4:s:po", EndpointSlice: "k metadata:1:62.ObjectMeta:o endpoints:2:*Endpoint ports:3:*EndpointPort addressType:4:s", EndpointSliceList: "k metadata:1:62.ListMeta:o items:2:*EndpointSlice", ForZone: "- name:1:s" }], ["io.k8s.api.events.v1", "events.k8s.io/v1", { Event: "k metadata:1:62.ObjectMeta eventTime:2:62.MicroTime:r series:3:EventSeries:po reportingController:4:s:o reportingInstance:5:s:o action:6:s:o reason:7:s:o regarding:8:28.ObjectReference:o related:9:28.ObjectReference:po note:10:s:o type:11:s:o deprecatedSource:12:28.EventSource:o deprecatedFirstTimestamp:13:62.Time:o deprecatedLastTimestamp:14:62.Time:o deprecatedCount:15:i:o", EventList: "k metadata:1:62.ListMeta:o items:2:*Event:r", EventSeries: "- count:1:i:r lastObservedTime:2:62.MicroTime:r" }], ["io.k8s.api.events.v1beta1", "events.k8s.io/v1beta1", { Event: "k metadata:1:62.ObjectMeta eventTime:2:62.MicroTime series:3:EventSeries:po reportingController:4:s:o reportingInstance:5:s:o action:6:s:o reason:7:s:o regarding:8:28.ObjectReference:o related:9:28.ObjectReference:po note:10:s:o type:11:s:o deprecatedSource:12:28.EventSource:o deprecatedFirstTimestamp:13:62.Time:o deprecatedLastTimestamp:14:62.Time:o deprecatedCount:15:i:o", EventList: "k metadata:1:62.ListMeta:o items:2:*Event", EventSeries: "- count:1:i lastObservedTime:2:62.MicroTime" }], ["io.k8s.api.extensions.v1beta1", "extensions/v1beta1", { DaemonSet: "k metadata:1:62.ObjectMeta:o spec:2:DaemonSetSpec:o status:3:DaemonSetStatus:o", DaemonSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", DaemonSetList: "k metadata:1:62.ListMeta:o items:2:*DaemonSet", DaemonSetSpec: "- selector:1:62.LabelSelector:po template:2:28.PodTemplateSpec updateStrategy:3:DaemonSetUpdateStrategy:o minReadySeconds:4:i:o templateGeneration:5:l:o revisionHistoryLimit:6:i:po", DaemonSetStatus: "- currentNumberScheduled:1:i numberMisscheduled:2:i desiredNumberScheduled:3:i numberReady:4:i observedGeneration:5:l:o updatedNumberScheduled:6:i:o numberAvailable:7:i:o numberUnavailable:8:i:o collisionCount:9:i:po conditions:10:*DaemonSetCondition:o", DaemonSetUpdateStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDaemonSet:po", Deployment: "k metadata:1:62.ObjectMeta:o spec:2:DeploymentSpec:o status:3:DeploymentStatus:o", DeploymentCondition: "- type:1:s status:2:s reason:4:s:o message:5:s:o lastUpdateTime:6:62.Time:o lastTransitionTime:7:62.Time:o", DeploymentList: "k metadata:1:62.ListMeta:o items:2:*Deployment", DeploymentRollback: "k name:1:s updatedAnnotations:2:%s:o rollbackTo:3:RollbackConfig", DeploymentSpec: "- replicas:1:i:po selector:2:62.LabelSelector:po template:3:28.PodTemplateSpec strategy:4:DeploymentStrategy:o minReadySeconds:5:i:o revisionHistoryLimit:6:i:po paused:7:b:o rollbackTo:8:RollbackConfig:po progressDeadlineSeconds:9:i:po", DeploymentStatus: "- observedGeneration:1:l:o replicas:2:i:o updatedReplicas:3:i:o availableReplicas:4:i:o unavailableReplicas:5:i:o conditions:6:*DeploymentCondition:o readyReplicas:7:i:o collisionCount:8:i:po", DeploymentStrategy: "- type:1:s:o rollingUpdate:2:RollingUpdateDeployment:po", HTTPIngressPath: "- path:1:s:o backend:2:IngressBackend pathType:3:s:po", HTTPIngressRuleValue: "- paths:1:*HTTPIngressPath", IPBlock: "- cidr:1:s except:2:*s:o", Ingress: "k metadata:1:62.ObjectMeta:o spec:2:IngressSpec:o status:3:IngressStatus:o", IngressBackend: "- serviceName:1:s:o servicePort:2:65.IntOrString:o resource:3:28.TypedLocalObjectReference:po", IngressList: "k metadata:1:62.ListMeta:o items:2:*Ingress", IngressLoadBalancerIngress: "- ip:1:s:o hostname:2:s:o ports:4:*IngressPortStatus:o", IngressLoadBalancerStatus: "- ingress:1:*IngressLoadBalancerIngress:o", IngressPortStatus: "- port:1:i protocol:2:s error:3:s:po", IngressRule: "- host:1:s:o ingressRuleValue:2:IngressRuleValue:i", IngressRuleValue: "- http:1:HTTPIngressRuleValue:po", IngressSpec: "- backend:1:IngressBackend:po tls:2:*IngressTLS:o rules:3:*IngressRule:o ingressClassName:4:s:po", IngressStatus: "- loadBalancer:1:IngressLoadBalancerStatus:o", IngressTLS: "- hosts:1:*s:o secretName:2:s:o", NetworkPolicy: "k metadata:1:62.ObjectMeta:o spec:2:NetworkPolicySpec:o", NetworkPolicyEgressRule: "- ports:1:*NetworkPolicyPort:o to:2:*NetworkPolicyPeer:o", NetworkPolicyIngressRule: "- ports:1:*NetworkPolicyPort:o from:2:*NetworkPolicyPeer:o", NetworkPolicyList: "k metadata:1:62.ListMeta:o items:2:*NetworkPolicy", NetworkPolicyPeer: "- podSelector:1:62.LabelSelector:po namespaceSelector:2:62.LabelSelector:po ipBlock:3:IPBlock:po", NetworkPolicyPort: "- protocol:1:s:po port:2:65.IntOrString:po endPort:3:i:po", NetworkPolicySpec: "- podSelector:1:62.LabelSelector ingress:2:*NetworkPolicyIngressRule:o egress:3:*NetworkPolicyEgressRule:o policyTypes:4:*s:o", ReplicaSet: "k metadata:1:62.ObjectMeta:o spec:2:ReplicaSetSpec:o status:3:ReplicaSetStatus:o", ReplicaSetCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", ReplicaSetList: "k metadata:1:62.ListMeta:o items:2:*ReplicaSet", ReplicaSetSpec: "- replicas:1:i:po selector:2:62.LabelSelector:po template:3:28.PodTemplateSpec:o minReadySeconds:4:i:o", ReplicaSetStatus: "- replicas:1:i fullyLabeledReplicas:2:i:o observedGeneration:3:l:o readyReplicas:4:i:o availableReplicas:5:i:o conditions:6:*ReplicaSetCondition:o", RollbackConfig: "- revision:1:l:o", RollingUpdateDaemonSet: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", RollingUpdateDeployment: "- maxUnavailable:1:65.IntOrString:po maxSurge:2:65.IntOrString:po", Scale: "k metadata:1:62.ObjectMeta:o spec:2:ScaleSpec:o status:3:ScaleStatus:o", ScaleSpec: "- replicas:1:i:o", ScaleStatus: "- replicas:1:i selector:2:%s:o targetSelector:3:s:o" }], ["io.k8s.api.flowcontrol.v1", "flowcontrol.apiserver.k8s.io/v1", { ExemptPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i:po lendablePercent:2:i:po", FlowDistinguisherMethod: "- type:1:s:r", FlowSchema: "k metadata:1:62.ObjectMeta:o spec:2:FlowSchemaSpec:o status:3:FlowSchemaStatus:o", FlowSchemaCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", FlowSchemaList: "k metadata:1:62.ListMeta:o items:2:*FlowSchema:r", FlowSchemaSpec: "- priorityLevelConfiguration:1:PriorityLevelConfigurationReference:r matchingPrecedence:2:i distinguisherMethod:3:FlowDistinguisherMethod:po rules:4:*PolicyRulesWithSubjects:o:la", FlowSchemaStatus: "- conditions:1:*FlowSchemaCondition:o:lm=type,ps=merge,pm=type", GroupSubject: "- name:1:s:r", LimitResponse: "- type:1:s:r queuing:2:QueuingConfiguration:po", LimitedPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i:p limitResponse:2:LimitResponse:o lendablePercent:3:i:po borrowingLimitPercent:4:i:po", NonResourcePolicyRule: "- verbs:1:*s:r:ls nonResourceURLs:6:*s:r:ls", PolicyRulesWithSubjects: "- subjects:1:*Subject:r:la resourceRules:2:*ResourcePolicyRule:o:la nonResourceRules:3:*NonResourcePolicyRule:o:la", PriorityLevelConfiguration: "k metadata:1:62.ObjectMeta:o spec:2:PriorityLevelConfigurationSpec:o status:3:PriorityLevelConfigurationStatus:o", PriorityLevelConfigurationCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", PriorityLevelConfigurationList: "k metadata:1:62.ListMeta:o items:2:*PriorityLevelConfiguration:r", PriorityLevelConfigurationReference: "- name:1:s:r", PriorityLevelConfigurationSpec: "- type:1:s:r limited:2:LimitedPriorityLevelConfiguration:po exempt:3:ExemptPriorityLevelConfiguration:po", PriorityLevelConfigurationStatus: "- conditions:1:*PriorityLevelConfigurationCondition:o:lm=type,ps=merge,pm=type", QueuingConfiguration: "- queues:1:i handSize:2:i queueLengthLimit:3:i", ResourcePolicyRule: "- verbs:1:*s:r:ls apiGroups:2:*s:r:ls resources:3:*s:r:ls clusterScope:4:b:o namespaces:5:*s::ls", ServiceAccountSubject: "- namespace:1:s:r name:2:s:r", Subject: "- kind:1:s:r user:2:UserSubject:po group:3:GroupSubject:po serviceAccount:4:ServiceAccountSubject:po", UserSubject: "- name:1:s:r" }], ["io.k8s.api.flowcontrol.v1beta1", "flowcontrol.apiserver.k8s.io/v1beta1", { ExemptPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i:po lendablePercent:2:i:po", FlowDistinguisherMethod: "- type:1:s", FlowSchema: "k metadata:1:62.ObjectMeta:o spec:2:FlowSchemaSpec:o status:3:FlowSchemaStatus:o", FlowSchemaCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", FlowSchemaList: "k metadata:1:62.ListMeta:o items:2:*FlowSchema", FlowSchemaSpec: "- priorityLevelConfiguration:1:PriorityLevelConfigurationReference matchingPrecedence:2:i distinguisherMethod:3:FlowDistinguisherMethod:po rules:4:*PolicyRulesWithSubjects:o", FlowSchemaStatus: "- conditions:1:*FlowSchemaCondition:o", GroupSubject: "- name:1:s", LimitResponse: "- type:1:s queuing:2:QueuingConfiguration:po", LimitedPriorityLevelConfiguration: "- assuredConcurrencyShares:1:i limitResponse:2:LimitResponse:o lendablePercent:3:i:po borrowingLimitPercent:4:i:po", NonResourcePolicyRule: "- verbs:1:*s nonResourceURLs:6:*s", PolicyRulesWithSubjects: "- subjects:1:*Subject resourceRules:2:*ResourcePolicyRule:o nonResourceRules:3:*NonResourcePolicyRule:o", PriorityLevelConfiguration: "k metadata:1:62.ObjectMeta:o spec:2:PriorityLevelConfigurationSpec:o status:3:PriorityLevelConfigurationStatus:o", PriorityLevelConfigurationCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", PriorityLevelConfigurationList: "k metadata:1:62.ListMeta:o items:2:*PriorityLevelConfiguration", PriorityLevelConfigurationReference: "- name:1:s", PriorityLevelConfigurationSpec: "- type:1:s limited:2:LimitedPriorityLevelConfiguration:po exempt:3:ExemptPriorityLevelConfiguration:po", PriorityLevelConfigurationStatus: "- conditions:1:*PriorityLevelConfigurationCondition:o", QueuingConfiguration: "- queues:1:i handSize:2:i queueLengthLimit:3:i", ResourcePolicyRule: "- verbs:1:*s apiGroups:2:*s resources:3:*s clusterScope:4:b:o namespaces:5:*s", ServiceAccountSubject: "- namespace:1:s name:2:s", Subject: "- kind:1:s user:2:UserSubject:po group:3:GroupSubject:po serviceAccount:4:ServiceAccountSubject:po", UserSubject: "- name:1:s" }], ["io.k8s.api.flowcontrol.v1beta2", "flowcontrol.apiserver.k8s.io/v1beta2", { ExemptPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i:po lendablePercent:2:i:po", FlowDistinguisherMethod: "- type:1:s", FlowSchema: "k metadata:1:62.ObjectMeta:o spec:2:FlowSchemaSpec:o status:3:FlowSchemaStatus:o", FlowSchemaCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", FlowSchemaList: "k metadata:1:62.ListMeta:o items:2:*FlowSchema", FlowSchemaSpec: "- priorityLevelConfiguration:1:PriorityLevelConfigurationReference matchingPrecedence:2:i distinguisherMethod:3:FlowDistinguisherMethod:po rules:4:*PolicyRulesWithSubjects:o", FlowSchemaStatus: "- conditions:1:*FlowSchemaCondition:o", GroupSubject: "- name:1:s", LimitResponse: "- type:1:s queuing:2:QueuingConfiguration:po", LimitedPriorityLevelConfiguration: "- assuredConcurrencyShares:1:i limitResponse:2:LimitResponse:o lendablePercent:3:i:po borrowingLimitPercent:4:i:po", NonResourcePolicyRule: "- verbs:1:*s nonResourceURLs:6:*s", PolicyRulesWithSubjects: "- subjects:1:*Subject resourceRules:2:*ResourcePolicyRule:o nonResourceRules:3:*NonResourcePolicyRule:o", PriorityLevelConfiguration: "k metadata:1:62.ObjectMeta:o spec:2:PriorityLevelConfigurationSpec:o status:3:PriorityLevelConfigurationStatus:o", PriorityLevelConfigurationCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", PriorityLevelConfigurationList: "k metadata:1:62.ListMeta:o items:2:*PriorityLevelConfiguration", PriorityLevelConfigurationReference: "- name:1:s", PriorityLevelConfigurationSpec: "- type:1:s limited:2:LimitedPriorityLevelConfiguration:po exempt:3:ExemptPriorityLevelConfiguration:po", PriorityLevelConfigurationStatus: "- conditions:1:*PriorityLevelConfigurationCondition:o", QueuingConfiguration: "- queues:1:i handSize:2:i queueLengthLimit:3:i", ResourcePolicyRule: "- verbs:1:*s apiGroups:2:*s resources:3:*s clusterScope:4:b:o namespaces:5:*s", ServiceAccountSubject: "- namespace:1:s name:2:s", Subject: "- kind:1:s user:2:UserSubject:po group:3:GroupSubject:po serviceAccount:4:ServiceAccountSubject:po", UserSubject: "- name:1:s" }], ["io.k8s.api.flowcontrol.v1beta3", "flowcontrol.apiserver.k8s.io/v1beta3", { ExemptPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i:po lendablePercent:2:i:po", FlowDistinguisherMethod: "- type:1:s", FlowSchema: "k metadata:1:62.ObjectMeta:o spec:2:FlowSchemaSpec:o status:3:FlowSchemaStatus:o", FlowSchemaCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", FlowSchemaList: "k metadata:1:62.ListMeta:o items:2:*FlowSchema", FlowSchemaSpec: "- priorityLevelConfiguration:1:PriorityLevelConfigurationReference matchingPrecedence:2:i distinguisherMethod:3:FlowDistinguisherMethod:po rules:4:*PolicyRulesWithSubjects:o", FlowSchemaStatus: "- conditions:1:*FlowSchemaCondition:o", GroupSubject: "- name:1:s", LimitResponse: "- type:1:s queuing:2:QueuingConfiguration:po", LimitedPriorityLevelConfiguration: "- nominalConcurrencyShares:1:i limitResponse:2:LimitResponse:o lendablePercent:3:i:po borrowingLimitPercent:4:i:po", NonResourcePolicyRule: "- verbs:1:*s nonResourceURLs:6:*s", PolicyRulesWithSubjects: "- subjects:1:*Subject resourceRules:2:*ResourcePolicyRule:o nonResourceRules:3:*NonResourcePolicyRule:o", PriorityLevelConfiguration: "k metadata:1:62.ObjectMeta:o spec:2:PriorityLevelConfigurationSpec:o status:3:PriorityLevelConfigurationStatus:o", PriorityLevelConfigurationCondition: "- type:1:s:o status:2:s:o lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", PriorityLevelConfigurationList: "k metadata:1:62.ListMeta:o items:2:*PriorityLevelConfiguration", PriorityLevelConfigurationReference: "- name:1:s", PriorityLevelConfigurationSpec: "- type:1:s limited:2:LimitedPriorityLevelConfiguration:po exempt:3:ExemptPriorityLevelConfiguration:po", PriorityLevelConfigurationStatus: "- conditions:1:*PriorityLevelConfigurationCondition:o", QueuingConfiguration: "- queues:1:i handSize:2:i queueLengthLimit:3:i", ResourcePolicyRule: "- verbs:1:*s apiGroups:2:*s resources:3:*s clusterScope:4:b:o namespaces:5:*s", ServiceAccountSubject: "- namespace:1:s name:2:s", Subject: "- kind:1:s user:2:UserSubject:po group:3:GroupSubject:po serviceAccount:4:ServiceAccountSubject:po", UserSubject: "- name:1:s" }], ["io.k8s.api.imagepolicy.v1alpha1", "imagepolicy.k8s.io/v1alpha1", { ImageReview: "k metadata:1:62.ObjectMeta:o spec:2:ImageReviewSpec status:3:ImageReviewStatus:o", ImageReviewContainerSpec: "- image:1:s:o", ImageReviewSpec: "- containers:1:*ImageReviewContainerSpec:o annotations:2:%s:o namespace:3:s:o", ImageReviewStatus: "- allowed:1:b reason:2:s:o auditAnnotations:3:%s:o" }], ["io.k8s.api.networking.v1", "networking.k8s.io/v1", { HTTPIngressPath: "- path:1:s:o backend:2:IngressBackend:r pathType:3:s:pr", HTTPIngressRuleValue: "- paths:1:*HTTPIngressPath:r:la", IPBlock: "- cidr:1:s:r except:2:*s:o:la", Ingress: "k metadata:1:62.ObjectMeta:o spec:2:IngressSpec:o status:3:IngressStatus:o", IngressBackend: "- resource:3:28.TypedLocalObjectReference:po service:4:IngressServiceBackend:po", IngressClass: "k metadata:1:62.ObjectMeta:o spec:2:IngressClassSpec:o", IngressClassList: "k metadata:1:62.ListMeta:o items:2:*IngressClass:r", IngressClassParametersReference: "- aPIGroup:1:s:po:j=apiGroup kind:2:s:r name:3:s:r scope:4:s:p namespace:5:s:po", IngressClassSpec: "- controller:1:s:o parameters:2:IngressClassParametersReference:po", IngressList: "k metadata:1:62.ListMeta:o items:2:*Ingress:r", IngressLoadBalancerIngress: "- ip:1:s:o hostname:2:s:o ports:4:*IngressPortStatus:o:la", IngressLoadBalancerStatus: "- ingress:1:*IngressLoadBalancerIngress:o:la", IngressPortStatus: "- port:1:i:r protocol:2:s:r error:3:s:po", IngressRule: "- host:1:s:o ingressRuleValue:2:IngressRuleValue:i", IngressRuleValue: "- http:1:HTTPIngressRuleValue:po", IngressServiceBackend: "- name:1:s:r port:2:ServiceBackendPort:o", IngressSpec: "- defaultBackend:1:IngressBackend:po tls:2:*IngressTLS:o:la rules:3:*IngressRule:o:la ingressClassName:4:s:po", IngressStatus: "- loadBalancer:1:IngressLoadBalancerStatus:o", IngressTLS: "- hosts:1:*s:o:la secretName:2:s:o", NetworkPolicy: "k metadata:1:62.ObjectMeta:o spec:2:NetworkPolicySpec:o", NetworkPolicyEgressRule: "- ports:1:*NetworkPolicyPort:o:la to:2:*NetworkPolicyPeer:o:la", NetworkPolicyIngressRule: "- ports:1:*NetworkPolicyPort:o:la from:2:*NetworkPolicyPeer:o:la", NetworkPolicyList: "k metadata:1:62.ListMeta:o items:2:*NetworkPolicy:r", NetworkPolicyPeer: "- podSelector:1:62.LabelSelector:po namespaceSelector:2:62.LabelSelector:po ipBlock:3:IPBlock:po", NetworkPolicyPort: "- protocol:1:s:po port:2:65.IntOrString:po endPort:3:i:po", NetworkPolicySpec: "- podSelector:1:62.LabelSelector:r ingress:2:*NetworkPolicyIngressRule:o:la egress:3:*NetworkPolicyEgressRule:o:la policyTypes:4:*s:o:la", ServiceBackendPort: "a name:1:s:o number:2:i:o" }], ["io.k8s.api.networking.v1alpha1", "networking.k8s.io/v1alpha1", { IPAddress: "k metadata:1:62.ObjectMeta:o spec:2:IPAddressSpec:o", IPAddressList: "k metadata:1:62.ListMeta:o items:2:*IPAddress", IPAddressSpec: "- parentRef:1:ParentReference:po", ParentReference: "- group:1:s:o resource:2:s:o namespace:3:s:o name:4:s:o", ServiceCIDR: "k metadata:1:62.ObjectMeta:o spec:2:ServiceCIDRSpec:o status:3:ServiceCIDRStatus:o", ServiceCIDRList: "k metadata:1:62.ListMeta:o items:2:*ServiceCIDR", ServiceCIDRSpec: "- cidrs:1:*s:o", ServiceCIDRStatus: "- conditions:1:*62.Condition:o" }], ["io.k8s.api.networking.v1beta1", "networking.k8s.io/v1beta1", { HTTPIngressPath: "- path:1:s:o backend:2:IngressBackend pathType:3:s:po", HTTPIngressRuleValue: "- paths:1:*HTTPIngressPath", IPAddress: "k metadata:1:62.ObjectMeta:o spec:2:IPAddressSpec:o", IPAddressList: "k metadata:1:62.ListMeta:o items:2:*IPAddress:r", IPAddressSpec: "- parentRef:1:ParentReference:por", Ingress: "k metadata:1:62.ObjectMeta:o spec:2:IngressSpec:o status:3:IngressStatus:o", IngressBackend: "- serviceName:1:s:o servicePort:2:65.IntOrString:o resource:3:28.TypedLocalObjectReference:po", IngressClass: "k metadata:1:62.ObjectMeta:o spec:2:IngressClassSpec:o", IngressClassList: "k metadata:1:62.ListMeta:o items:2:*IngressClass", IngressClassParametersReference: "- aPIGroup:1:s:po:j=apiGroup kind:2:s name:3:s scope:4:s:p namespace:5:s:po", IngressClassSpec: "- controller:1:s:o parameters:2:IngressClassParametersReference:po", IngressList: "k metadata:1:62.ListMeta:o items:2:*Ingress", IngressLoadBalancerIngress: "- ip:1:s:o hostname:2:s:o ports:4:*IngressPortStatus:o", IngressLoadBalancerStatus: "- ingress:1:*IngressLoadBalancerIngress:o", IngressPortStatus: "- port:1:i protocol:2:s error:3:s:po", IngressRule: "- host:1:s:o ingressRuleValue:2:IngressRuleValue:i", IngressRuleValue: "- http:1:HTTPIngressRuleValue:po", IngressSpec: "- backend:1:IngressBackend:po tls:2:*IngressTLS:o rules:3:*IngressRule:o ingressClassName:4:s:po", IngressStatus: "- loadBalancer:1:IngressLoadBalancerStatus:o", IngressTLS: "- hosts:1:*s:o secretName:2:s:o", ParentReference: "- group:1:s:o resource:2:s:or namespace:3:s:o name:4:s:or", ServiceCIDR: "k metadata:1:62.ObjectMeta:o spec:2:ServiceCIDRSpec:o status:3:ServiceCIDRStatus:o", ServiceCIDRList: "k metadata:1:62.ListMeta:o items:2:*ServiceCIDR:r", ServiceCIDRSpec: "- cidrs:1:*s:o:la", ServiceCIDRStatus: "- conditions:1:*62.Condition:o:lm=type,ps=merge,pm=type" }], ["io.k8s.api.node.v1", "node.k8s.io/v1", { Overhead: "- podFixed:1:%61.Quantity:o", RuntimeClass: "k metadata:1:62.ObjectMeta:o handler:2:s:r overhead:3:Overhead:po scheduling:4:Scheduling:po", RuntimeClassList: "k metadata:1:62.ListMeta:o items:2:*RuntimeClass:r", Scheduling: "- nodeSelector:1:%s:o:ma tolerations:2:*28.Toleration:o:la" }], ["io.k8s.api.node.v1alpha1", "node.k8s.io/v1alpha1", { Overhead: "- podFixed:1:%61.Quantity:o", RuntimeClass: "k metadata:1:62.ObjectMeta:o spec:2:RuntimeClassSpec", RuntimeClassList: "k metadata:1:62.ListMeta:o items:2:*RuntimeClass", RuntimeClassSpec: "- runtimeHandler:1:s overhead:2:Overhead:po scheduling:3:Scheduling:po", Scheduling: "- nodeSelector:1:%s:o tolerations:2:*28.Toleration:o" }], ["io.k8s.api.node.v1beta1", "node.k8s.io/v1beta1", { Overhead: "- podFixed:1:%61.Quantity:o", RuntimeClass: "k metadata:1:62.ObjectMeta:o handler:2:s overhead:3:Overhead:po scheduling:4:Scheduling:po", RuntimeClassList: "k metadata:1:62.ListMeta:o items:2:*RuntimeClass", Scheduling: "- nodeSelector:1:%s:o tolerations:2:*28.Toleration:o" }], ["io.k8s.api.policy.v1", "policy/v1", { Eviction: "k metadata:1:62.ObjectMeta:o deleteOptions:2:62.DeleteOptions:po", PodDisruptionBudget: "k metadata:1:62.ObjectMeta:o spec:2:PodDisruptionBudgetSpec:o status:3:PodDisruptionBudgetStatus:o", PodDisruptionBudgetList: "k metadata:1:62.ListMeta:o items:2:*PodDisruptionBudget:r", PodDisruptionBudgetSpec: "- minAvailable:1:65.IntOrString:po selector:2:62.LabelSelector:po:ps=replace maxUnavailable:3:65.IntOrString:po unhealthyPodEvictionPolicy:4:s:po", PodDisruptionBudgetStatus: "- observedGeneration:1:l:o disruptedPods:2:%62.Time:o disruptionsAllowed:3:i:r currentHealthy:4:i:r desiredHealthy:5:i:r expectedPods:6:i:r conditions:7:*62.Condition:o:lm=type,ps=merge,pm=type" }], ["io.k8s.api.policy.v1beta1", "policy/v1beta1", { Eviction: "k metadata:1:62.ObjectMeta:o deleteOptions:2:62.DeleteOptions:po", PodDisruptionBudget: "k metadata:1:62.ObjectMeta:o spec:2:PodDisruptionBudgetSpec:o status:3:PodDisruptionBudgetStatus:o", PodDisruptionBudgetList: "k metadata:1:62.ListMeta:o items:2:*PodDisruptionBudget", PodDisruptionBudgetSpec: "- minAvailable:1:65.IntOrString:po selector:2:62.LabelSelector:po maxUnavailable:3:65.IntOrString:po unhealthyPodEvictionPolicy:4:s:po", PodDisruptionBudgetStatus: "- observedGeneration:1:l:o disruptedPods:2:%62.Time:o disruptionsAllowed:3:i currentHealthy:4:i desiredHealthy:5:i expectedPods:6:i conditions:7:*62.Condition:o" }], ["io.k8s.api.rbac.v1", "rbac.authorization.k8s.io/v1", { AggregationRule: "- clusterRoleSelectors:1:*62.LabelSelector:o:la", ClusterRole: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule::la aggregationRule:3:AggregationRule:po", ClusterRoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o:la roleRef:3:RoleRef:r", ClusterRoleBindingList: "k metadata:1:62.ListMeta:o items:2:*ClusterRoleBinding:r", ClusterRoleList: "k metadata:1:62.ListMeta:o items:2:*ClusterRole:r", PolicyRule: "- verbs:1:*s:r:la apiGroups:2:*s:o:la resources:3:*s:o:la resourceNames:4:*s:o:la nonResourceURLs:5:*s:o:la", Role: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule::la", RoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o:la roleRef:3:RoleRef:r", RoleBindingList: "k metadata:1:62.ListMeta:o items:2:*RoleBinding:r", RoleList: "k metadata:1:62.ListMeta:o items:2:*Role:r", RoleRef: "a apiGroup:1:s:r kind:2:s:r name:3:s:r", Subject: "a kind:1:s:r apiGroup:2:s:o name:3:s:r namespace:4:s:o" }], ["io.k8s.api.rbac.v1alpha1", "rbac.authorization.k8s.io/v1alpha1", { AggregationRule: "- clusterRoleSelectors:1:*62.LabelSelector:o", ClusterRole: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule aggregationRule:3:AggregationRule:po", ClusterRoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o roleRef:3:RoleRef", ClusterRoleBindingList: "k metadata:1:62.ListMeta:o items:2:*ClusterRoleBinding", ClusterRoleList: "k metadata:1:62.ListMeta:o items:2:*ClusterRole", PolicyRule: "- verbs:1:*s apiGroups:3:*s:o resources:4:*s:o resourceNames:5:*s:o nonResourceURLs:6:*s:o", Role: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule", RoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o roleRef:3:RoleRef", RoleBindingList: "k metadata:1:62.ListMeta:o items:2:*RoleBinding", RoleList: "k metadata:1:62.ListMeta:o items:2:*Role", RoleRef: "- apiGroup:1:s kind:2:s name:3:s", Subject: "- kind:1:s apiVersion:2:s:o name:3:s namespace:4:s:o" }], ["io.k8s.api.rbac.v1beta1", "rbac.authorization.k8s.io/v1beta1", { AggregationRule: "- clusterRoleSelectors:1:*62.LabelSelector:o", ClusterRole: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule aggregationRule:3:AggregationRule:po", ClusterRoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o roleRef:3:RoleRef", ClusterRoleBindingList: "k metadata:1:62.ListMeta:o items:2:*ClusterRoleBinding", ClusterRoleList: "k metadata:1:62.ListMeta:o items:2:*ClusterRole", PolicyRule: "- verbs:1:*s apiGroups:2:*s:o resources:3:*s:o resourceNames:4:*s:o nonResourceURLs:5:*s:o", Role: "k metadata:1:62.ObjectMeta:o rules:2:*PolicyRule", RoleBinding: "k metadata:1:62.ObjectMeta:o subjects:2:*Subject:o roleRef:3:RoleRef", RoleBindingList: "k metadata:1:62.ListMeta:o items:2:*RoleBinding", RoleList: "k metadata:1:62.ListMeta:o items:2:*Role", RoleRef: "- apiGroup:1:s kind:2:s name:3:s", Subject: "- kind:1:s apiGroup:2:s:o name:3:s namespace:4:s:o" }], ["io.k8s.api.resource.v1alpha3", "resource.k8s.io/v1alpha3", { AllocatedDeviceStatus: "- driver:1:s:r pool:2:s:r device:3:s:r conditions:4:*62.Condition::lm=type data:5:64.RawExtension:o networkData:6:NetworkDeviceData:po", AllocationResult: "- devices:1:DeviceAllocationResult:o nodeSelector:3:28.NodeSelector:po", BasicDevice: "- attributes:1:%DeviceAttribute:o capacity:2:%61.Quantity:o", CELDeviceSelector: "- expression:1:s:r", Device: "- name:1:s:r basic:2:BasicDevice:po", DeviceAllocationConfiguration: "- source:1:s:r requests:2:*s:o:la deviceConfiguration:3:DeviceConfiguration:i", DeviceAllocationResult: "- results:1:*DeviceRequestAllocationResult:o:la config:2:*DeviceAllocationConfiguration:o:la", DeviceAttribute: "- int:2:l:po bool:3:b:po string:4:s:po version:5:s:po", DeviceClaim: "- requests:1:*DeviceRequest::la constraints:2:*DeviceConstraint:o:la config:3:*DeviceClaimConfiguration:o:la", DeviceClaimConfiguration: "- requests:1:*s:o:la deviceConfiguration:2:DeviceConfiguration:i", DeviceClass: "k metadata:1:62.ObjectMeta:o spec:2:DeviceClassSpec:r", DeviceClassConfiguration: "- deviceConfiguration:1:DeviceConfiguration:i", DeviceClassList: "k metadata:1:62.ListMeta:o items:2:*DeviceClass:r", DeviceClassSpec: "- selectors:1:*DeviceSelector:o:la config:2:*DeviceClassConfiguration:o:la", DeviceConfiguration: "- opaque:1:OpaqueDeviceConfiguration:po", DeviceConstraint: "- requests:1:*s:o:la matchAttribute:2:s:po", DeviceRequest: "- name:1:s:r deviceClassName:2:s:r selectors:3:*DeviceSelector:o:la allocationMode:4:s:o count:5:l:o adminAccess:6:b:po", DeviceRequestAllocationResult: "- request:1:s:r driver:2:s:r pool:3:s:r device:4:s:r adminAccess:5:b:p", DeviceSelector: "- cel:1:CELDeviceSelector:po", NetworkDeviceData: "- interfaceName:1:s:o ips:2:*s:o:la hardwareAddress:3:s:o", OpaqueDeviceConfiguration: "- driver:1:s:r parameters:2:64.RawExtension:r", ResourceClaim: "k metadata:1:62.ObjectMeta:o spec:2:ResourceClaimSpec:r status:3:ResourceClaimStatus:o", ResourceClaimConsumerReference: "- apiGroup:1:s:o resource:3:s:r name:4:s:r uid:5:s:r", ResourceClaimList: "k metadata:1:62.ListMeta:o items:2:*ResourceClaim:r", ResourceClaimSpec: "- devices:1:DeviceClaim", ResourceClaimStatus: "- allocation:1:AllocationResult:po reservedFor:2:*ResourceClaimConsumerReference:o:lm=uid,ps=merge,pm=uid devices:4:*AllocatedDeviceStatus:o:lm=driver+device+pool", ResourceClaimTemplate: "k metadata:1:62.ObjectMeta:o spec:2:ResourceClaimTemplateSpec:r", ResourceClaimTemplateList: "k metadata:1:62.ListMeta:o items:2:*ResourceClaimTemplate:r", ResourceClaimTemplateSpec: "- metadata:1:62.ObjectMeta:o spec:2:ResourceClaimSpec:r", ResourcePool: "- name:1:s:r generation:2:l:r resourceSliceCount:3:l:r", ResourceSlice: "k metadata:1:62.ObjectMeta:o spec:2:ResourceSliceSpec:r", ResourceSliceList: "k metadata:1:62.ListMeta:o items:2:*ResourceSlice:r", ResourceSliceSpec: "- driver:1:s:r pool:2:ResourcePool:r nodeName:3:s:o nodeSelector:4:28.NodeSelector:po allNodes:5:b:o devices:6:*Device::la" }], ["io.k8s.api.resource.v1beta1", "resource.k8s.io/v1beta1", { AllocatedDeviceStatus: "- driver:1:s:r pool:2:s:r device:3:s:r conditions:4:*62.Condition::lm=type data:5:64.RawExtension:o networkData:6:NetworkDeviceData:po", AllocationResult: "- devices:1:DeviceAllocationResult:o nodeSelector:3:28.NodeSelector:po", BasicDevice: "- attributes:1:%DeviceAttribute:o capacity:2:%DeviceCapacity:o", CELDeviceSelector: "- expression:1:s:r", Device: "- name:1:s:r basic:2:BasicDevice:po", DeviceAllocationConfiguration: "- source:1:s:r requests:2:*s:o:la deviceConfiguration:3:DeviceConfiguration:i", DeviceAllocationResult: "- results:1:*DeviceRequestAllocationResult:o:la config:2:*DeviceAllocationConfiguration:o:la", DeviceAttribute: "- int:2:l:po bool:3:b:po string:4:s:po version:5:s:po", DeviceCapacity: "- value:1:61.Quantity:r", DeviceClaim: "- requests:1:*DeviceRequest::la constraints:2:*DeviceConstraint:o:la config:3:*DeviceClaimConfiguration:o:la", DeviceClaimConfiguration: "- requests:1:*s:o:la deviceConfiguration:2:DeviceConfiguration:i", DeviceClass: "k metadata:1:62.ObjectMeta:o spec:2:DeviceClassSpec:r", DeviceClassConfiguration: "- deviceConfiguration:1:DeviceConfiguration:i", DeviceClassList: "k metadata:1:62.ListMeta:o items:2:*DeviceClass:r", DeviceClassSpec: "- selectors:1:*DeviceSelector:o:la config:2:*DeviceClassConfiguration:o:la", DeviceConfiguration: "- opaque:1:OpaqueDeviceConfiguration:po", DeviceConstraint: "- requests:1:*s:o:la matchAttribute:2:s:po", DeviceRequest: "- name:1:s:r deviceClassName:2:s:r selectors:3:*DeviceSelector:o:la allocationMode:4:s:o count:5:l:o adminAccess:6:b:po", DeviceRequestAllocationResult: "- request:1:s:r driver:2:s:r pool:3:s:r device:4:s:r adminAccess:5:b:p", DeviceSelector: "- cel:1:CELDeviceSelector:po", NetworkDeviceData: "- interfaceName:1:s:o ips:2:*s:o:la hardwareAddress:3:s:o", OpaqueDeviceConfiguration: "- driver:1:s:r parameters:2:64.RawExtension:r", ResourceClaim: "k metadata:1:62.ObjectMeta:o spec:2:ResourceClaimSpec:r status:3:ResourceClaimStatus:o", ResourceClaimConsumerReference: "- apiGroup:1:s:o resource:3:s:r name:4:s:r uid:5:s:r", ResourceClaimList: "k metadata:1:62.ListMeta:o items:2:*ResourceClaim:r", ResourceClaimSpec: "- devices:1:DeviceClaim", ResourceClaimStatus: "- allocation:1:AllocationResult:po reservedFor:2:*ResourceClaimConsumerReference:o:lm=uid,ps=merge,pm=uid devices:4:*AllocatedDeviceStatus:o:lm=driver+device+pool", ResourceClaimTemplate: "k metadata:1:62.ObjectMeta:o spec:2:ResourceClaimTemplateSpec:r", ResourceClaimTemplateList: "k metadata:1:62.ListMeta:o items:2:*ResourceClaimTemplate:r", ResourceClaimTemplateSpec: "- metadata:1:62.ObjectMeta:o spec:2:ResourceClaimSpec:r", ResourcePool: "- name:1:s:r generation:2:l:r resourceSliceCount:3:l:r", ResourceSlice: "k metadata:1:62.ObjectMeta:o spec:2:ResourceSliceSpec:r", ResourceSliceList: "k metadata:1:62.ListMeta:o items:2:*ResourceSlice:r", ResourceSliceSpec: "- driver:1:s:r pool:2:ResourcePool:r nodeName:3:s:o nodeSelector:4:28.NodeSelector:po allNodes:5:b:o devices:6:*Device::la" }], ["io.k8s.api.scheduling.v1", "scheduling.k8s.io/v1", { PriorityClass: "k metadata:1:62.ObjectMeta:o value:2:i:r globalDefault:3:b:o description:4:s:o preemptionPolicy:5:s:po", PriorityClassList: "k metadata:1:62.ListMeta:o items:2:*PriorityClass:r" }], ["io.k8s.api.scheduling.v1alpha1", "scheduling.k8s.io/v1alpha1", { PriorityClass: "k metadata:1:62.ObjectMeta:o value:2:i globalDefault:3:b:o description:4:s:o preemptionPolicy:5:s:po", PriorityClassList: "k metadata:1:62.ListMeta:o items:2:*PriorityClass" }], ["io.k8s.api.scheduling.v1beta1", "scheduling.k8s.io/v1beta1", { PriorityClass: "k metadata:1:62.ObjectMeta:o value:2:i globalDefault:3:b:o description:4:s:o preemptionPolicy:5:s:po", PriorityClassList: "k metadata:1:62.ListMeta:o items:2:*PriorityClass" }], ["io.k8s.api.storage.v1", "storage.k8s.io/v1", { CSIDriver: "k metadata:1:62.ObjectMeta:o spec:2:CSIDriverSpec:r", CSIDriverList: "k metadata:1:62.ListMeta:o items:2:*CSIDriver:r", CSIDriverSpec: "- attachRequired:1:b:po podInfoOnMount:2:b:po volumeLifecycleModes:3:*s:o:ls storageCapacity:4:b:po fsGroupPolicy:5:s:po tokenRequests:6:*TokenRequest:o:la requiresRepublish:7:b:po seLinuxMount:8:b:po", CSINode: "k metadata:1:62.ObjectMeta:o spec:2:CSINodeSpec:r", CSINodeDriver: "- name:1:s:r nodeID:2:s:r topologyKeys:3:*s::la allocatable:4:VolumeNodeResources:po", CSINodeList: "k metadata:1:62.ListMeta:o items:2:*CSINode:r", CSINodeSpec: "- drivers:1:*CSINodeDriver:r:lm=name,ps=merge,pm=name", CSIStorageCapacity: "k metadata:1:62.ObjectMeta:o nodeTopology:2:62.LabelSelector:po storageClassName:3:s:r capacity:4:61.Quantity:po maximumVolumeSize:5:61.Quantity:po", CSIStorageCapacityList: "k metadata:1:62.ListMeta:o items:2:*CSIStorageCapacity:r", StorageClass: "k metadata:1:62.ObjectMeta:o provisioner:2:s:r parameters:3:%s:o reclaimPolicy:4:s:po mountOptions:5:*s:o:la allowVolumeExpansion:6:b:po volumeBindingMode:7:s:po allowedTopologies:8:*28.TopologySelectorTerm:o:la", StorageClassList: "k metadata:1:62.ListMeta:o items:2:*StorageClass:r", TokenRequest: "- audience:1:s:r expirationSeconds:2:l:po", VolumeAttachment: "k metadata:1:62.ObjectMeta:o spec:2:VolumeAttachmentSpec:r status:3:VolumeAttachmentStatus:o", VolumeAttachmentList: "k metadata:1:62.ListMeta:o items:2:*VolumeAttachment:r", VolumeAttachmentSource: "- persistentVolumeName:1:s:po inlineVolumeSpec:2:28.PersistentVolumeSpec:po", VolumeAttachmentSpec: "- attacher:1:s:r source:2:VolumeAttachmentSource:r nodeName:3:s:r", VolumeAttachmentStatus: "- attached:1:b:r attachmentMetadata:2:%s:o attachError:3:VolumeError:po detachError:4:VolumeError:po", VolumeError: "- time:1:62.Time:o message:2:s:o", VolumeNodeResources: "- count:1:i:po" }], ["io.k8s.api.storage.v1alpha1", "storage.k8s.io/v1alpha1", { CSIStorageCapacity: "k metadata:1:62.ObjectMeta:o nodeTopology:2:62.LabelSelector:po storageClassName:3:s capacity:4:61.Quantity:po maximumVolumeSize:5:61.Quantity:po", CSIStorageCapacityList: "k metadata:1:62.ListMeta:o items:2:*CSIStorageCapacity", VolumeAttachment: "k metadata:1:62.ObjectMeta:o spec:2:VolumeAttachmentSpec status:3:VolumeAttachmentStatus:o", VolumeAttachmentList: "k metadata:1:62.ListMeta:o items:2:*VolumeAttachment", VolumeAttachmentSource: "- persistentVolumeName:1:s:po inlineVolumeSpec:2:28.PersistentVolumeSpec:po", VolumeAttachmentSpec: "- attacher:1:s source:2:VolumeAttachmentSource nodeName:3:s", VolumeAttachmentStatus: "- attached:1:b attachmentMetadata:2:%s:o attachError:3:VolumeError:po detachError:4:VolumeError:po", VolumeAttributesClass: "k metadata:1:62.ObjectMeta:o driverName:2:s:r parameters:3:%s:o", VolumeAttributesClassList: "k metadata:1:62.ListMeta:o items:2:*VolumeAttributesClass:r", VolumeError: "- time:1:62.Time:o message:2:s:o" }], ["io.k8s.api.storage.v1beta1", "storage.k8s.io/v1beta1", { CSIDriver: "k metadata:1:62.ObjectMeta:o spec:2:CSIDriverSpec", CSIDriverList: "k metadata:1:62.ListMeta:o items:2:*CSIDriver", CSIDriverSpec: "- attachRequired:1:b:po podInfoOnMount:2:b:po volumeLifecycleModes:3:*s:o storageCapacity:4:b:po fsGroupPolicy:5:s:po tokenRequests:6:*TokenRequest:o requiresRepublish:7:b:po seLinuxMount:8:b:po", CSINode: "k metadata:1:62.ObjectMeta:o spec:2:CSINodeSpec", CSINodeDriver: "- name:1:s nodeID:2:s topologyKeys:3:*s allocatable:4:VolumeNodeResources:po", CSINodeList: "k metadata:1:62.ListMeta:o items:2:*CSINode", CSINodeSpec: "- drivers:1:*CSINodeDriver", CSIStorageCapacity: "k metadata:1:62.ObjectMeta:o nodeTopology:2:62.LabelSelector:po storageClassName:3:s capacity:4:61.Quantity:po maximumVolumeSize:5:61.Quantity:po", CSIStorageCapacityList: "k metadata:1:62.ListMeta:o items:2:*CSIStorageCapacity", StorageClass: "k metadata:1:62.ObjectMeta:o provisioner:2:s parameters:3:%s:o reclaimPolicy:4:s:po mountOptions:5:*s:o allowVolumeExpansion:6:b:po volumeBindingMode:7:s:po allowedTopologies:8:*28.TopologySelectorTerm:o", StorageClassList: "k metadata:1:62.ListMeta:o items:2:*StorageClass", TokenRequest: "- audience:1:s expirationSeconds:2:l:po", VolumeAttachment: "k metadata:1:62.ObjectMeta:o spec:2:VolumeAttachmentSpec status:3:VolumeAttachmentStatus:o", VolumeAttachmentList: "k metadata:1:62.ListMeta:o items:2:*VolumeAttachment", VolumeAttachmentSource: "- persistentVolumeName:1:s:po inlineVolumeSpec:2:28.PersistentVolumeSpec:po", VolumeAttachmentSpec: "- attacher:1:s source:2:VolumeAttachmentSource nodeName:3:s", VolumeAttachmentStatus: "- attached:1:b attachmentMetadata:2:%s:o attachError:3:VolumeError:po detachError:4:VolumeError:po", VolumeAttributesClass: "k metadata:1:62.ObjectMeta:o driverName:2:s:r parameters:3:%s:o", VolumeAttributesClassList: "k metadata:1:62.ListMeta:o items:2:*VolumeAttributesClass:r", VolumeError: "- time:1:62.Time:o message:2:s:o", VolumeNodeResources: "- count:1:i:po" }], ["io.k8s.api.storagemigration.v1alpha1", "storagemigration.k8s.io/v1alpha1", { GroupVersionResource: "- group:1:s:o version:2:s:o resource:3:s:o", MigrationCondition: "- type:1:s:r status:2:s:r lastUpdateTime:3:62.Time:o reason:4:s:o message:5:s:o", StorageVersionMigration: "k metadata:1:62.ObjectMeta:o spec:2:StorageVersionMigrationSpec:o status:3:StorageVersionMigrationStatus:o", StorageVersionMigrationList: "k metadata:1:62.ListMeta:o items:2:*StorageVersionMigration:r:lm=type,ps=merge,pm=type", StorageVersionMigrationSpec: "- resource:1:GroupVersionResource:r continueToken:2:s:o", StorageVersionMigrationStatus: "- conditions:1:*MigrationCondition:o:lm=type,ps=merge,pm=type resourceVersion:2:s:o" }], ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1", "apiextensions.k8s.io/v1", { ConversionRequest: "- uid:1:s desiredAPIVersion:2:s objects:3:*64.RawExtension", ConversionResponse: "- uid:1:s convertedObjects:2:*64.RawExtension result:3:62.Status", ConversionReview: "k request:1:ConversionRequest:po response:2:ConversionResponse:po", CustomResourceColumnDefinition: "- name:1:s:r type:2:s:r format:3:s:o description:4:s:o priority:5:i:o jsonPath:6:s:r", CustomResourceConversion: "- strategy:1:s:r webhook:2:WebhookConversion:po", CustomResourceDefinition: "k metadata:1:62.ObjectMeta:o spec:2:CustomResourceDefinitionSpec:r status:3:CustomResourceDefinitionStatus:o", CustomResourceDefinitionCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", CustomResourceDefinitionList: "k metadata:1:62.ListMeta:o items:2:*CustomResourceDefinition:r", CustomResourceDefinitionNames: "- plural:1:s:r singular:2:s:o shortNames:3:*s:o:la kind:4:s:r listKind:5:s:o categories:6:*s:o:la", CustomResourceDefinitionSpec: "- group:1:s:r names:3:CustomResourceDefinitionNames:r scope:4:s:r versions:7:*CustomResourceDefinitionVersion:r:la conversion:9:CustomResourceConversion:po preserveUnknownFields:10:b:o", CustomResourceDefinitionStatus: "- conditions:1:*CustomResourceDefinitionCondition::lm=type acceptedNames:2:CustomResourceDefinitionNames storedVersions:3:*s::la", CustomResourceDefinitionVersion: "- name:1:s:r served:2:b:r storage:3:b:r schema:4:CustomResourceValidation:po subresources:5:CustomResourceSubresources:po additionalPrinterColumns:6:*CustomResourceColumnDefinition:o:la deprecated:7:b:o deprecationWarning:8:s:po selectableFields:9:*SelectableField:o:la", CustomResourceSubresourceScale: "- specReplicasPath:1:s:r statusReplicasPath:2:s:r labelSelectorPath:3:s:po", CustomResourceSubresourceStatus: "-", CustomResourceSubresources: "- status:1:CustomResourceSubresourceStatus:po scale:2:CustomResourceSubresourceScale:po", CustomResourceValidation: "- openAPIV3Schema:1:JSONSchemaProps:po", ExternalDocumentation: "- description:1:s:o url:2:s:o", JSON: "- raw:1:y:-", JSONSchemaProps: "- id:1:s:o schema:2:s:o:j=$schema ref:3:s:po:j=$ref description:4:s:o type:5:s:o format:6:s:o title:7:s:o default:8:JSON:po maximum:9:d:po exclusiveMaximum:10:b:o minimum:11:d:po exclusiveMinimum:12:b:o maxLength:13:l:po minLength:14:l:po pattern:15:s:o maxItems:16:l:po minItems:17:l:po uniqueItems:18:b:o multipleOf:19:d:po enum:20:*JSON:o:la maxProperties:21:l:po minProperties:22:l:po required:23:*s:o:la items:24:JSONSchemaPropsOrArray:po allOf:25:*JSONSchemaProps:o:la oneOf:26:*JSONSchemaProps:o:la anyOf:27:*JSONSchemaProps:o:la not:28:JSONSchemaProps:po properties:29:%JSONSchemaProps:o additionalProperties:30:JSONSchemaPropsOrBool:po patternProperties:31:%JSONSchemaProps:o dependencies:32:%JSONSchemaPropsOrStringArray:o additionalItems:33:JSONSchemaPropsOrBool:po definitions:34:%JSONSchemaProps:o externalDocs:35:ExternalDocumentation:po example:36:JSON:po nullable:37:b:o xKubernetesPreserveUnknownFields:38:b:po:j=x-kubernetes-preserve-unknown-fields xKubernetesEmbeddedResource:39:b:o:j=x-kubernetes-embedded-resource xKubernetesIntOrString:40:b:o:j=x-kubernetes-int-or-string xKubernetesListMapKeys:41:*s:o:j=x-kubernetes-list-map-keys,la xKubernetesListType:42:s:po:j=x-kubernetes-list-type xKubernetesMapType:43:s:po:j=x-kubernetes-map-type xKubernetesValidations:44:*ValidationRule:o:j=x-kubernetes-validations,lm=rule,ps=merge,pm=rule", JSONSchemaPropsOrArray: "- schema:1:JSONSchemaProps:p jSONSchemas:2:*JSONSchemaProps", JSONSchemaPropsOrBool: "- allows:1:b schema:2:JSONSchemaProps:p", JSONSchemaPropsOrStringArray: "- schema:1:JSONSchemaProps:p property:2:*s", SelectableField: "- jsonPath:1:s:r", ServiceReference: "- namespace:1:s:r name:2:s:r path:3:s:po port:4:i:po", ValidationRule: "- rule:1:s:r message:2:s:o messageExpression:3:s:o reason:4:s:po fieldPath:5:s:o optionalOldSelf:6:b:po", WebhookClientConfig: "- service:1:ServiceReference:po caBundle:2:y:o url:3:s:po", WebhookConversion: "- clientConfig:2:WebhookClientConfig:po conversionReviewVersions:3:*s:r:la" }], ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1", "apiextensions.k8s.io/v1beta1", { ConversionRequest: "- uid:1:s desiredAPIVersion:2:s objects:3:*64.RawExtension", ConversionResponse: "- uid:1:s convertedObjects:2:*64.RawExtension result:3:62.Status", ConversionReview: "k request:1:ConversionRequest:po response:2:ConversionResponse:po", CustomResourceColumnDefinition: "- name:1:s type:2:s format:3:s:o description:4:s:o priority:5:i:o JSONPath:6:s", CustomResourceConversion: "- strategy:1:s webhookClientConfig:2:WebhookClientConfig:po conversionReviewVersions:3:*s:o", CustomResourceDefinition: "k metadata:1:62.ObjectMeta:o spec:2:CustomResourceDefinitionSpec status:3:CustomResourceDefinitionStatus:o", CustomResourceDefinitionCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", CustomResourceDefinitionList: "k metadata:1:62.ListMeta:o items:2:*CustomResourceDefinition", CustomResourceDefinitionNames: "- plural:1:s singular:2:s:o shortNames:3:*s:o kind:4:s listKind:5:s:o categories:6:*s:o", CustomResourceDefinitionSpec: "- group:1:s version:2:s:o names:3:CustomResourceDefinitionNames scope:4:s validation:5:CustomResourceValidation:po subresources:6:CustomResourceSubresources:po versions:7:*CustomResourceDefinitionVersion:o additionalPrinterColumns:8:*CustomResourceColumnDefinition:o conversion:9:CustomResourceConversion:po preserveUnknownFields:10:b:po selectableFields:11:*SelectableField:o", CustomResourceDefinitionStatus: "- conditions:1:*CustomResourceDefinitionCondition acceptedNames:2:CustomResourceDefinitionNames storedVersions:3:*s", CustomResourceDefinitionVersion: "- name:1:s served:2:b storage:3:b schema:4:CustomResourceValidation:po subresources:5:CustomResourceSubresources:po additionalPrinterColumns:6:*CustomResourceColumnDefinition:o deprecated:7:b:o deprecationWarning:8:s:po selectableFields:9:*SelectableField:o", CustomResourceSubresourceScale: "- specReplicasPath:1:s statusReplicasPath:2:s labelSelectorPath:3:s:po", CustomResourceSubresourceStatus: "-", CustomResourceSubresources: "- status:1:CustomResourceSubresourceStatus:po scale:2:CustomResourceSubresourceScale:po", CustomResourceValidation: "- openAPIV3Schema:1:JSONSchemaProps:po", ExternalDocumentation: "- description:1:s:o url:2:s:o", JSON: "- raw:1:y:-", JSONSchemaProps: "- id:1:s:o schema:2:s:o:j=$schema ref:3:s:po:j=$ref description:4:s:o type:5:s:o format:6:s:o title:7:s:o default:8:JSON:po maximum:9:d:po exclusiveMaximum:10:b:o minimum:11:d:po exclusiveMinimum:12:b:o maxLength:13:l:po minLength:14:l:po pattern:15:s:o maxItems:16:l:po minItems:17:l:po uniqueItems:18:b:o multipleOf:19:d:po enum:20:*JSON:o maxProperties:21:l:po minProperties:22:l:po required:23:*s:o items:24:JSONSchemaPropsOrArray:po allOf:25:*JSONSchemaProps:o oneOf:26:*JSONSchemaProps:o anyOf:27:*JSONSchemaProps:o not:28:JSONSchemaProps:po properties:29:%JSONSchemaProps:o additionalProperties:30:JSONSchemaPropsOrBool:po patternProperties:31:%JSONSchemaProps:o dependencies:32:%JSONSchemaPropsOrStringArray:o additionalItems:33:JSONSchemaPropsOrBool:po definitions:34:%JSONSchemaProps:o externalDocs:35:ExternalDocumentation:po example:36:JSON:po nullable:37:b:o xKubernetesPreserveUnknownFields:38:b:po:j=x-kubernetes-preserve-unknown-fields xKubernetesEmbeddedResource:39:b:o:j=x-kubernetes-embedded-resource xKubernetesIntOrString:40:b:o:j=x-kubernetes-int-or-string xKubernetesListMapKeys:41:*s:o:j=x-kubernetes-list-map-keys xKubernetesListType:42:s:po:j=x-kubernetes-list-type xKubernetesMapType:43:s:po:j=x-kubernetes-map-type xKubernetesValidations:44:*ValidationRule:o:j=x-kubernetes-validations", JSONSchemaPropsOrArray: "- schema:1:JSONSchemaProps:p jSONSchemas:2:*JSONSchemaProps", JSONSchemaPropsOrBool: "- allows:1:b schema:2:JSONSchemaProps:p", JSONSchemaPropsOrStringArray: "- schema:1:JSONSchemaProps:p property:2:*s", SelectableField: "- jsonPath:1:s", ServiceReference: "- namespace:1:s name:2:s path:3:s:po port:4:i:po", ValidationRule: "- rule:1:s message:2:s:o messageExpression:3:s:o reason:4:s:po fieldPath:5:s:o optionalOldSelf:6:b:po", WebhookClientConfig: "- service:1:ServiceReference:po caBundle:2:y:o url:3:s:po" }], ["io.k8s.apimachinery.pkg.api.resource", "", { Quantity: "- string:1:s", QuantityValue: "- string:1:s" }], ["io.k8s.apimachinery.pkg.apis.meta.v1", "meta.k8s.io/v1", { APIGroup: "k name:1:s:r versions:2:*GroupVersionForDiscovery:r:la preferredVersion:3:GroupVersionForDiscovery:o serverAddressByClientCIDRs:4:*ServerAddressByClientCIDR:o:la", APIGroupList: "k groups:1:*APIGroup:r:la", APIResource: "- name:1:s:r namespaced:2:b:r kind:3:s:r verbs:4:Verbs:pr shortNames:5:*s:o:la singularName:6:s:r categories:7:*s:o:la group:8:s:o version:9:s:o storageVersionHash:10:s:o", APIResourceList: "k groupVersion:1:s:r resources:2:*APIResource:r:la", APIVersions: "k versions:1:*s:r:la serverAddressByClientCIDRs:2:*ServerAddressByClientCIDR:r:la", ApplyOptions: "- dryRun:1:*s:o force:2:b fieldManager:3:s", Condition: "- type:1:s:r status:2:s:r observedGeneration:3:l:o lastTransitionTime:4:Time:r reason:5:s:r message:6:s:r", CreateOptions: "k dryRun:1:*s:o fieldManager:3:s:o fieldValidation:4:s:o", DeleteOptions: "k gracePeriodSeconds:1:l:po preconditions:2:Preconditions:po orphanDependents:3:b:po propagationPolicy:4:s:po dryRun:5:*s:o:la ignoreStoreReadErrorWithClusterBreakingPotential:6:b:po", Duration: "- duration:1:l", FieldSelectorRequirement: "- key:1:s:r operator:2:s:r values:3:*s:o:la", FieldsV1: "- Raw:1:y:-", GetOptions: "k resourceVersion:1:s:o", GroupKind: "- group:1:s kind:2:s", GroupResource: "- group:1:s resource:2:s", GroupVersion: "- group:1:s version:2:s", GroupVersionForDiscovery: "- groupVersion:1:s:r version:2:s:r", GroupVersionKind: "- group:1:s version:2:s kind:3:s", GroupVersionResource: "- group:1:s version:2:s resource:3:s", LabelSelector: "a matchLabels:1:%s:o matchExpressions:2:*LabelSelectorRequirement:o:la", LabelSelectorRequirement: "- key:1:s:r operator:2:s:r values:3:*s:o:la", List: "- metadata:1:ListMeta:o items:2:*64.RawExtension", ListMeta: "- selfLink:1:s:o resourceVersion:2:s:o continue:3:s:o remainingItemCount:4:l:po", ListOptions: "k labelSelector:1:s:o fieldSelector:2:s:o watch:3:b:o resourceVersion:4:s:o timeoutSeconds:5:l:po limit:7:l:o continue:8:s:o allowWatchBookmarks:9:b:o resourceVersionMatch:10:s:o sendInitialEvents:11:b:po", ManagedFieldsEntry: "- manager:1:s:o operation:2:s:o apiVersion:3:s:o time:4:Time:po fieldsType:6:s:o fieldsV1:7:FieldsV1:po subresource:8:s:o", MicroTime: "- seconds:1:l nanos:2:i", ObjectMeta: "- name:1:s:o generateName:2:s:o namespace:3:s:o selfLink:4:s:o uid:5:s:o resourceVersion:6:s:o generation:7:l:o creationTimestamp:8:Time:o deletionTimestamp:9:Time:po deletionGracePeriodSeconds:10:l:po labels:11:%s:o annotations:12:%s:o ownerReferences:13:*OwnerReference:o:lm=uid,ps=merge,pm=uid finalizers:14:*s:o:ls,ps=merge managedFields:17:*ManagedFieldsEntry:o:la", OwnerReference: "a kind:1:s:r name:3:s:r uid:4:s:r apiVersion:5:s:r controller:6:b:po blockOwnerDeletion:7:b:po", PartialObjectMetadata: "k metadata:1:ObjectMeta:o", PartialObjectMetadataList: "k metadata:1:ListMeta:o items:2:*PartialObjectMetadata", Patch: "-", PatchOptions: "k dryRun:1:*s:o force:2:b:po fieldManager:3:s:o fieldValidation:4:s:o", Preconditions: "- uid:1:s:po resourceVersion:2:s:po", RootPaths: "- paths:1:*s", ServerAddressByClientCIDR: "- clientCIDR:1:s:r serverAddress:2:s:r", Status: "k metadata:1:ListMeta:o status:2:s:o message:3:s:o reason:4:s:o details:5:StatusDetails:po:la code:6:i:o", StatusCause: "- reason:1:s:o message:2:s:o field:3:s:o", StatusDetails: "- name:1:s:o group:2:s:o kind:3:s:o causes:4:*StatusCause:o:la retryAfterSeconds:5:i:o uid:6:s:o", TableOptions: "k includeObject:1:s:o", Time: "- seconds:1:l nanos:2:i", Timestamp: "- seconds:1:l nanos:2:i", TypeMeta: "- kind:1:s:o apiVersion:2:s:o", UpdateOptions: "k dryRun:1:*s:o fieldManager:2:s:o fieldValidation:3:s:o", Verbs: "- items:1:*s", WatchEvent: "- type:1:s:r object:2:64.RawExtension:r" }], ["io.k8s.apimachinery.pkg.apis.meta.v1beta1", "meta.k8s.io/v1beta1", { PartialObjectMetadataList: "k items:1:*62.PartialObjectMetadata metadata:2:62.ListMeta:o" }], ["io.k8s.apimachinery.pkg.runtime", "", { RawExtension: "- raw:1:y:-", TypeMeta: "- apiVersion:1:s:o kind:2:s:o", Unknown: "- typeMeta:1:TypeMeta:i raw:2:y:- contentEncoding:3:s contentType:4:s" }], ["io.k8s.apimachinery.pkg.util.intstr", "", { IntOrString: "- type:1:l intVal:2:i strVal:3:s" }], ["io.k8s.kube-aggregator.pkg.apis.apiregistration.v1", "apiregistration.k8s.io/v1", { APIService: "k metadata:1:62.ObjectMeta:o spec:2:APIServiceSpec:o status:3:APIServiceStatus:o", APIServiceCondition: "- type:1:s:r status:2:s:r lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", APIServiceList: "k metadata:1:62.ListMeta:o items:2:*APIService:r", APIServiceSpec: "- service:1:ServiceReference:po group:2:s:o version:3:s:o insecureSkipTLSVerify:4:b:o caBundle:5:y:o:la groupPriorityMinimum:7:i:r versionPriority:8:i:r", APIServiceStatus: "- conditions:1:*APIServiceCondition:o:lm=type,ps=merge,pm=type", ServiceReference: "- namespace:1:s:o name:2:s:o port:3:i:po" }], ["io.k8s.kube-aggregator.pkg.apis.apiregistration.v1beta1", "apiregistration.k8s.io/v1beta1", { APIService: "k metadata:1:62.ObjectMeta:o spec:2:APIServiceSpec:o status:3:APIServiceStatus:o", APIServiceCondition: "- type:1:s status:2:s lastTransitionTime:3:62.Time:o reason:4:s:o message:5:s:o", APIServiceList: "k metadata:1:62.ListMeta:o items:2:*APIService", APIServiceSpec: "- service:1:ServiceReference:po group:2:s:o version:3:s:o insecureSkipTLSVerify:4:b:o caBundle:5:y:o groupPriorityMinimum:7:i versionPriority:8:i", APIServiceStatus: "- conditions:1:*APIServiceCondition:o", ServiceReference: "- namespace:1:s:o name:2:s:o port:3:i:po" }], ["io.k8s.metrics.pkg.apis.custom_metrics.v1beta1", "custom.metrics.k8s.io/v1beta1", { MetricListOptions: "k labelSelector:1:s:o metricLabelSelector:2:s:o", MetricValue: "k describedObject:1:28.ObjectReference metricName:2:s timestamp:3:62.Time window:4:l:po value:5:61.Quantity selector:6:62.LabelSelector:p", MetricValueList: "k metadata:1:62.ListMeta:o items:2:*MetricValue" }], ["io.k8s.metrics.pkg.apis.custom_metrics.v1beta2", "custom.metrics.k8s.io/v1beta2", { MetricIdentifier: "- name:1:s selector:2:62.LabelSelector:p", MetricListOptions: "k labelSelector:1:s:o metricLabelSelector:2:s:o", MetricValue: "k describedObject:1:28.ObjectReference metric:2:MetricIdentifier timestamp:3:62.Time windowSeconds:4:l:po value:5:61.Quantity", MetricValueList: "k metadata:1:62.ListMeta:o items:2:*MetricValue" }], ["io.k8s.metrics.pkg.apis.external_metrics.v1beta1", "external.metrics.k8s.io/v1beta1", { ExternalMetricValue: "k metricName:1:s metricLabels:2:%s timestamp:3:62.Time window:4:l:po value:5:61.Quantity", ExternalMetricValueList: "k metadata:1:62.ListMeta:o items:2:*ExternalMetricValue" }], ["io.k8s.metrics.pkg.apis.metrics.v1alpha1", "metrics.k8s.io/v1alpha1", { ContainerMetrics: "- name:1:s usage:2:%61.Quantity", NodeMetrics: "k metadata:1:62.ObjectMeta:o timestamp:2:62.Time window:3:62.Duration usage:4:%61.Quantity", NodeMetricsList: "k metadata:1:62.ListMeta:o items:2:*NodeMetrics", PodMetrics: "k metadata:1:62.ObjectMeta:o timestamp:2:62.Time window:3:62.Duration containers:4:*ContainerMetrics", PodMetricsList: "k metadata:1:62.ListMeta:o items:2:*PodMetrics" }], ["io.k8s.metrics.pkg.apis.metrics.v1beta1", "metrics.k8s.io/v1beta1", { ContainerMetrics: "- name:1:s usage:2:%61.Quantity", NodeMetrics: "k metadata:1:62.ObjectMeta:o timestamp:2:62.Time window:3:62.Duration usage:4:%61.Quantity", NodeMetricsList: "k metadata:1:62.ListMeta:o items:2:*NodeMetrics", PodMetrics: "k metadata:1:62.ObjectMeta:o timestamp:2:62.Time window:3:62.Duration containers:4:*ContainerMetrics", PodMetricsList: "k metadata:1:62.ListMeta:o items:2:*PodMetrics" }], ["io.k8s.apimachinery.pkg.version", "", { Info: "n buildDate:0:s:r compiler:0:s:r gitCommit:0:s:r gitTreeState:0:s:r gitVersion:0:s:r goVersion:0:s:r major:0:s:r minor:0:s:r platform:0:s:r" }]] };

// api/type-table.ts
var SCALARS = {
  s: "string",
  b: "bool",
  y: "bytes",
  i: "int32",
  l: "int64",
  d: "double"
};
var packages = types_default.packages;
var packageByName = new Map(packages.map((row) => [row[0], row]));
var messages = /* @__PURE__ */ new Map();
var META = "io.k8s.apimachinery.pkg.apis.meta.v1";
var everyVersion = types_default.everyVersion;
function parseAttributes(text) {
  const found = {};
  for (const attribute of text.split(",")) {
    const equals = attribute.indexOf("=");
    const value = attribute.slice(equals + 1);
    switch (equals < 0 ? attribute : attribute.slice(0, equals)) {
      case "j":
        found.jsonName = value;
        break;
      case "lm":
        found.listType = "map";
        found.listMapKeys = value.split("+");
        break;
      case "ls":
        found.listType = "set";
        break;
      case "la":
        found.listType = "atomic";
        break;
      case "ma":
        found.mapType = "atomic";
        break;
      case "mg":
        found.mapType = "granular";
        break;
      case "ps":
        found.patchStrategy = value.split("+");
        break;
      case "pm":
        found.patchMergeKey = value;
        break;
      case "df":
        found.default = JSON.parse(decodeURIComponent(value));
        break;
    }
  }
  return found;
}
function parseField(word, packageName) {
  const [name = "", number2 = "0", typeText = "", flags = "", ...rest] = word.split(":");
  const label = typeText[0] === "*" ? "list" : typeText[0] === "%" ? "map" : "one";
  const type = label === "one" ? typeText : typeText.slice(1);
  const dot = type.indexOf(".");
  const scalar = SCALARS[type];
  return {
    name,
    jsonName: name,
    number: Number(number2),
    label,
    ...scalar ? { scalar } : {
      message: dot < 0 ? `${packageName}.${type}` : `${packages[Number(type.slice(0, dot))][0]}${type.slice(dot)}`
    },
    nullable: flags.includes("p"),
    omitEmpty: flags.includes("o"),
    inlined: flags.includes("i"),
    required: flags.includes("r"),
    ...rest.length ? parseAttributes(rest.join(":")) : {}
  };
}
function messageNamed(fullName) {
  const known = messages.get(fullName);
  if (known) return known;
  const dot = fullName.lastIndexOf(".");
  const packageName = fullName.slice(0, dot);
  const name = fullName.slice(dot + 1);
  const types4 = packageByName.get(packageName)?.[2];
  const text = types4 && Object.hasOwn(types4, name) ? types4[name] : void 0;
  if (text === void 0) return void 0;
  const [header = "-", ...words] = text.split(" ");
  const message = {
    fullName,
    name,
    isKind: header.includes("k"),
    atomic: header.includes("a"),
    onWire: !header.includes("n"),
    fields: words.map((word) => parseField(word, packageName))
  };
  messages.set(fullName, message);
  return message;
}
var packagesByVersion = /* @__PURE__ */ new Map();
for (const [name, apiVersion] of packages) {
  if (apiVersion)
    packagesByVersion.set(apiVersion, [
      ...packagesByVersion.get(apiVersion) ?? [],
      name
    ]);
}
var everyVersionSet = new Set(everyVersion);
var COMMON_KINDS = /* @__PURE__ */ new Set([
  "WatchEvent",
  "ListOptions",
  "GetOptions",
  "DeleteOptions",
  "CreateOptions",
  "UpdateOptions",
  "PatchOptions"
]);
var CORE_META_KINDS = /* @__PURE__ */ new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "List"
]);
function messageNameOfKind(apiVersion, kind2) {
  for (const packageName of packagesByVersion.get(apiVersion) ?? []) {
    const name = `${packageName}.${kind2}`;
    if (messageNamed(name)?.isKind) return name;
  }
  if (CORE_META_KINDS.has(kind2) && apiVersion === "v1")
    return `${META}.${kind2}`;
  if (COMMON_KINDS.has(kind2) && (everyVersionSet.has(apiVersion) || apiVersion.startsWith("meta.k8s.io/")))
    return `${META}.${kind2}`;
  if (apiVersion === "meta.k8s.io/v1beta1" && messageNamed(`${META}.${kind2}`)?.isKind)
    return `${META}.${kind2}`;
  const canonical = normaliseApiVersion(apiVersion);
  return canonical === apiVersion ? void 0 : messageNameOfKind(canonical, kind2);
}
function packageOfVersion(apiVersion) {
  return packagesByVersion.get(apiVersion)?.[0];
}
function versionOfPackage(packageName) {
  return packageByName.get(packageName)?.[1] ?? "";
}

// api/schema.ts
var META2 = "io.k8s.apimachinery.pkg.apis.meta.v1";
var APIEXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions";
var JSON_TYPES = [`${APIEXTENSIONS}.v1`, `${APIEXTENSIONS}.v1beta1`];
var SPECIAL = new Map([
  [`${META2}.Time`, "time"],
  [`${META2}.MicroTime`, "micro-time"],
  [`${META2}.Duration`, "duration"],
  [`${META2}.FieldsV1`, "fields-v1"],
  ["io.k8s.apimachinery.pkg.api.resource.Quantity", "quantity"],
  ["io.k8s.apimachinery.pkg.api.resource.QuantityValue", "quantity"],
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", "int-or-string"],
  ["io.k8s.apimachinery.pkg.runtime.RawExtension", "raw-extension"],
  ...JSON_TYPES.map((name) => [`${name}.JSON`, "json"])
]);
var UNIONS = new Map(
  JSON_TYPES.flatMap((name) => [
    [`${name}.JSONSchemaPropsOrBool`, "object-or-boolean"],
    [`${name}.JSONSchemaPropsOrArray`, "object-or-list"],
    [`${name}.JSONSchemaPropsOrStringArray`, "object-or-strings"]
  ])
);
var SCALARS2 = {
  string: { type: "string" },
  bool: { type: "boolean" },
  bytes: { type: "bytes" },
  int32: { type: "int32" },
  int64: { type: "int64" },
  double: { type: "double" }
};
function isStringList(name) {
  return name.endsWith(".ExtraValue") || name === `${META2}.Verbs`;
}
var BuiltinObject = class {
  type = "object";
  name;
  shortName;
  mapType;
  isKind;
  #message;
  #fields;
  constructor(message) {
    this.name = message.fullName;
    this.shortName = message.name;
    if (message.atomic) this.mapType = "atomic";
    if (message.isKind) this.isKind = true;
    this.#message = message;
  }
  get fields() {
    return this.#fields ??= fieldsOf(this.#message);
  }
};
function fieldsOf(message) {
  const fields2 = /* @__PURE__ */ new Map();
  if (message.isKind) {
    for (const name of ["kind", "apiVersion"])
      fields2.set(name, {
        name,
        schema: SCALARS2["string"],
        required: false,
        nullable: false,
        omitEmpty: true
      });
  }
  for (const field of message.fields) {
    if (field.inlined) {
      for (const [name, inner] of fieldsOf(messageNamed(field.message)))
        fields2.set(name, inner);
    } else {
      fields2.set(field.jsonName, fieldSchema(field));
    }
  }
  return fields2;
}
function fieldSchema(field) {
  const { listType, listMapKeys, mapType, patchStrategy, patchMergeKey } = field;
  const element = field.scalar ? SCALARS2[field.scalar] : typeNamed(field.message);
  return {
    name: field.jsonName,
    schema: field.label === "list" ? { type: "list", items: element } : field.label === "map" ? { type: "map", values: element } : element,
    required: field.required,
    nullable: field.nullable,
    omitEmpty: field.omitEmpty,
    ...listType ? { listType } : {},
    ...listMapKeys ? { listMapKeys } : {},
    ...mapType ? { mapType } : {},
    ...patchStrategy ? { patchStrategy } : {},
    ...patchMergeKey ? { patchMergeKey } : {},
    ...field.default === void 0 ? {} : { default: field.default }
  };
}
var types = /* @__PURE__ */ new Map();
function typeNamed(fullName) {
  const known = types.get(fullName);
  if (known) return known;
  const made = makeType(fullName);
  if (made) types.set(fullName, made);
  return made;
}
function makeType(name) {
  const special = SPECIAL.get(name);
  if (special) return { type: special, name };
  if (isStringList(name))
    return { type: "list", items: SCALARS2["string"], name };
  const union2 = UNIONS.get(name);
  if (union2) {
    const object = typeNamed(
      `${name.slice(0, name.lastIndexOf("."))}.JSONSchemaProps`
    );
    return { type: union2, object, name };
  }
  const message = messageNamed(name);
  return message && new BuiltinObject(message);
}
function schemaFor(group2, version, kind2) {
  const name = messageNameOfKind(apiVersionOf({ group: group2, version }), kind2);
  const schema = name === void 0 ? void 0 : typeNamed(name);
  return schema?.type === "object" ? schema : void 0;
}

// api/quantity.ts
var QuantityError = class extends Error {
  constructor(message) {
    super(message);
    this.name = "QuantityError";
  }
};
var wrongFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
var wrongNumber = "unable to parse numeric part of quantity";
var wrongSuffix = "unable to parse quantity's suffix";
var giga = 1000000000n;
var maxNano = (2n ** 63n - 1n) * giga;
var maxTextLength = 256;
var decimalExponents = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18
};
var decimalSuffixes = new Map(
  Object.entries(decimalExponents).map(([suffix, exponent]) => [
    exponent,
    suffix
  ])
);
var binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
var grammar = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eEinumkKMGTP]+)([-+]?[0-9]*)|([-+][0-9]*))?$/;
var looseGrammar = /^[+-]?[0-9.]+(?:[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)?$/;
var recent = /* @__PURE__ */ new Map();
var maxRecent = 256;
function parseQuantity(text) {
  const source = typeof text === "number" ? String(text) : text;
  const known = recent.get(source);
  if (known) return known;
  const quantity2 = parsed(source);
  if (recent.size >= maxRecent) recent.clear();
  recent.set(source, quantity2);
  return quantity2;
}
function parsed(source) {
  if (source.length === 0 || source.length > maxTextLength)
    throw new QuantityError(wrongFormat);
  const match = grammar.exec(source);
  if (!match)
    throw new QuantityError(
      looseGrammar.test(source) ? wrongNumber : wrongFormat
    );
  const [, sign = "", whole2 = "", fraction = "", letters = ""] = match;
  const tail = match[5] ?? match[6] ?? "";
  if (whole2 === "" && fraction === "")
    throw new QuantityError(source.includes(".") ? wrongNumber : wrongFormat);
  const { base, exponent, format } = suffixOf(letters, tail);
  const numerator = whole2.replace(/^0+/, "") || "0";
  let magnitude;
  let capped = true;
  if (base === 2) {
    const scaled = BigInt(numerator + fraction) * giga * (1n << BigInt(exponent));
    magnitude = divideUp(scaled, 10n ** BigInt(fraction.length));
  } else {
    const digits2 = BigInt(numerator + fraction);
    const scale = exponent - fraction.length + 9;
    capped = numerator.length + fraction.length > 18 || scale < 0 || exponent > 60;
    if (digits2 === 0n) magnitude = 0n;
    else if (scale > 300) magnitude = maxNano + 1n;
    else if (scale >= 0) magnitude = digits2 * 10n ** BigInt(scale);
    else if (scale < -400) magnitude = 1n;
    else magnitude = divideUp(digits2, 10n ** BigInt(-scale));
  }
  if (capped && magnitude > maxNano) magnitude = maxNano;
  const decimal = format === "BinarySI" && magnitude !== 0n && magnitude < giga;
  return {
    nano: sign === "-" ? -magnitude : magnitude,
    format: decimal ? "DecimalSI" : format
  };
}
function suffixOf(letters, tail) {
  if (tail === "") {
    const decimal = decimalExponents[letters];
    if (decimal !== void 0)
      return { base: 10, exponent: decimal, format: "DecimalSI" };
    const binary = binarySuffixes.indexOf(letters);
    if (binary > 0)
      return { base: 2, exponent: binary * 10, format: "BinarySI" };
  } else if ((letters === "e" || letters === "E") && /[0-9]/.test(tail) && tail.length < 12) {
    return { base: 10, exponent: Number(tail), format: "DecimalExponent" };
  }
  throw new QuantityError(wrongSuffix);
}
function divideUp(value, divisor) {
  const quotient = value / divisor;
  return quotient * divisor === value ? quotient : quotient + 1n;
}
function toQuantity(value) {
  return typeof value === "object" ? value : parseQuantity(value);
}
function formatQuantity({ nano, format }) {
  if (nano === 0n) return "0";
  const sign = nano < 0n ? "-" : "";
  const magnitude = nano < 0n ? -nano : nano;
  if (format === "BinarySI" && magnitude >= 1024n * giga && magnitude % giga === 0n) {
    let value2 = magnitude / giga;
    let power = 0;
    while (power < binarySuffixes.length - 1 && value2 % 1024n === 0n) {
      value2 /= 1024n;
      power++;
    }
    return `${sign}${value2}${binarySuffixes[power]}`;
  }
  let value = magnitude;
  let exponent = -9;
  const largest = format === "DecimalExponent" ? Number.POSITIVE_INFINITY : 18;
  while (exponent < largest && value % 1000n === 0n) {
    value /= 1000n;
    exponent += 3;
  }
  if (format === "DecimalExponent")
    return `${sign}${value}${exponent === 0 ? "" : `e${exponent}`}`;
  return `${sign}${value}${decimalSuffixes.get(exponent) ?? ""}`;
}
function canonicalQuantity(text) {
  return formatQuantity(parseQuantity(text));
}
function roundedAwayFromZero(nano, unit) {
  const quotient = divideUp(nano < 0n ? -nano : nano, unit);
  return Number(nano < 0n ? -quotient : quotient);
}
function quantityValue(quantity2) {
  return roundedAwayFromZero(toQuantity(quantity2).nano, giga);
}
function quantityMilliValue(quantity2) {
  return roundedAwayFromZero(toQuantity(quantity2).nano, 1000000n);
}
function addQuantities(left, right) {
  const [a, b] = [toQuantity(left), toQuantity(right)];
  return formatQuantity({
    nano: a.nano + b.nano,
    format: a.nano === 0n ? b.format : a.format
  });
}
function compareQuantities(left, right) {
  const [a, b] = [toQuantity(left).nano, toQuantity(right).nano];
  return a < b ? -1 : a > b ? 1 : 0;
}

// api/codec/json-text.ts
var MAX_DEPTH = 1e3;
var JsonSyntaxError = class extends Error {
};
var QUOTE = 34;
var BACKSLASH = 92;
function setOwn(object, key2, value) {
  if (key2 === "__proto__")
    Object.defineProperty(object, key2, {
      value,
      writable: true,
      enumerable: true,
      configurable: true
    });
  else object[key2] = value;
}
function joinPath(path, step) {
  if (typeof step === "number") return `${path}[${step}]`;
  return path === "" ? step : `${path}.${step}`;
}
function parseJsonSlowly(text, merges = false) {
  return new SlowParser(text, merges).parse();
}
function merged(old, value) {
  const both = [old, value];
  if (both.some(
    (each) => typeof each !== "object" || each === null || Array.isArray(each) || each instanceof ExactNumber
  ))
    return value;
  const result = { ...old };
  for (const key2 of Object.keys(value))
    setOwn(
      result,
      key2,
      merged(
        Object.hasOwn(result, key2) ? result[key2] : void 0,
        value[key2]
      )
    );
  return result;
}
var quoted = (char) => {
  if (char === "'") return "'\\''";
  if (char === '"') return `'"'`;
  const code = char.codePointAt(0);
  if (char === "\n") return "'\\n'";
  if (char === "	") return "'\\t'";
  if (char === "\r") return "'\\r'";
  if (char === "\\") return "'\\\\'";
  return code < 32 ? `'\\x${code.toString(16).padStart(2, "0")}'` : `'${char}'`;
};
var SlowParser = class {
  constructor(text, merges) {
    this.merges = merges;
    this.#text = text;
  }
  merges;
  #text;
  #at = 0;
  #depth = 0;
  #duplicates = /* @__PURE__ */ new Set();
  #order = /* @__PURE__ */ new Map();
  parse() {
    const value = this.#value("");
    this.#space();
    if (this.#at < this.#text.length) this.#fail("after top-level value");
    return { value, duplicates: [...this.#duplicates], order: this.#order };
  }
  #fail(where) {
    if (this.#at >= this.#text.length)
      throw new JsonSyntaxError("unexpected end of JSON input");
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at));
    throw new JsonSyntaxError(`invalid character ${quoted(char)} ${where}`);
  }
  #space() {
    for (; ; ) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9)
        return;
      this.#at++;
    }
  }
  #value(path) {
    this.#space();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(path);
      case "[":
        return this.#array(path);
      case '"':
        return this.#string();
      case "t":
        return this.#literal("true", true);
      case "f":
        return this.#literal("false", false);
      case "n":
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }
  #deeper() {
    if (++this.#depth > MAX_DEPTH)
      throw new JsonSyntaxError("exceeded max depth");
  }
  #object(path) {
    this.#deeper();
    const object = {};
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "}") {
      this.#at++;
      this.#depth--;
      return object;
    }
    for (; ; ) {
      this.#space();
      if (this.#text[this.#at] !== '"')
        this.#fail("looking for beginning of object key string");
      const key2 = this.#string();
      const inner = joinPath(path, key2);
      const twice = Object.hasOwn(object, key2);
      if (twice) this.#duplicates.add(inner);
      if (!this.#order.has(inner)) this.#order.set(inner, this.#order.size);
      this.#space();
      if (this.#text[this.#at] !== ":") this.#fail("after object key");
      this.#at++;
      const value = this.#value(inner);
      setOwn(
        object,
        key2,
        twice && this.merges ? merged(object[key2], value) : value
      );
      this.#space();
      const next = this.#text[this.#at];
      if (next === "}") break;
      if (next !== ",") this.#fail("after object key:value pair");
      this.#at++;
    }
    this.#at++;
    this.#depth--;
    return object;
  }
  #array(path) {
    this.#deeper();
    const list = [];
    this.#at++;
    this.#space();
    if (this.#text[this.#at] === "]") {
      this.#at++;
      this.#depth--;
      return list;
    }
    for (; ; ) {
      list.push(this.#value(joinPath(path, list.length)));
      this.#space();
      const next = this.#text[this.#at];
      if (next === "]") break;
      if (next !== ",") this.#fail("after array element");
      this.#at++;
    }
    this.#at++;
    this.#depth--;
    return list;
  }
  #string() {
    const start = this.#at++;
    for (; ; ) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (Number.isNaN(code) || code < 32) this.#fail("in string literal");
      if (code === BACKSLASH) {
        const escape = this.#text[++this.#at] ?? "";
        if (escape === "u") {
          for (let digit = 0; digit < 4; digit++) {
            this.#at++;
            if (!/[0-9a-fA-F]/.test(this.#text[this.#at] ?? ""))
              this.#fail("in \\u hexadecimal character escape");
          }
        } else if (escape === "" || !'"\\/bfnrt'.includes(escape))
          this.#fail("in string escape code");
      }
      this.#at++;
    }
    this.#at++;
    const source = this.#text.slice(start, this.#at);
    const text = JSON.parse(source);
    return source.includes("\\u") ? Buffer.from(text).toString() : text;
  }
  #literal(word, value) {
    for (let index = 0; index < word.length; index++, this.#at++) {
      if (this.#text[this.#at] !== word[index])
        this.#fail(`in literal ${word} (expecting '${word[index]}')`);
    }
    return value;
  }
  #number() {
    const start = this.#at;
    const digits2 = (where) => {
      if (!/[0-9]/.test(this.#text[this.#at] ?? "")) this.#fail(where);
      while (/[0-9]/.test(this.#text[this.#at] ?? "")) this.#at++;
    };
    if (this.#text[this.#at] === "-") {
      this.#at++;
      if (!/[0-9]/.test(this.#text[this.#at] ?? ""))
        this.#fail("in numeric literal");
    } else if (!/[0-9]/.test(this.#text[this.#at] ?? ""))
      this.#fail("looking for beginning of value");
    if (this.#text[this.#at] === "0") this.#at++;
    else digits2("in numeric literal");
    if (this.#text[this.#at] === ".") {
      this.#at++;
      digits2("after decimal point in numeric literal");
    }
    if (this.#text[this.#at] === "e" || this.#text[this.#at] === "E") {
      this.#at++;
      if (this.#text[this.#at] === "+" || this.#text[this.#at] === "-")
        this.#at++;
      digits2("in exponent of numeric literal");
    }
    const text = this.#text.slice(start, this.#at);
    const value = Number(text);
    return String(value) === text ? value : new ExactNumber(text);
  }
};

// api/codec/conform.ts
var timeParts = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d\d/],
  ["-", /^-/],
  ["02", /^\d\d/],
  ["T", /^T/],
  ["15", /^\d\d?/],
  [":", /^:/],
  ["04", /^\d\d/],
  [":", /^:/],
  ["05", /^\d\d([.,]\d+)?/],
  ["Z07:00", /^(Z|[+-]\d\d:\d\d)/]
];
var microTimeParts = timeParts.flatMap(
  (part) => part[0] === "05" ? [["05", /^\d\d/], [".000000", /^\.\d{6}/]] : [part]
);

// api/codec/cbor.ts
var SELF_DESCRIBED = Buffer.from([217, 217, 247]);
var TWO_TO_32 = 2 ** 32;
var MAX_ITEM_BYTES = 64 * 1024 * 1024;

// api/codec/wire-writer.ts
var firstBytes = 2048;
var shortText = 40;
var twoTo32 = 2 ** 32;
var WireWriter = class _WireWriter {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #at = 0;
  /** Where the lengths of the messages begin that are not complete. */
  #open = [];
  static create() {
    return new _WireWriter();
  }
  /** The low 32 bits. */
  uint32(value) {
    this.#room(5);
    this.#varint(value >>> 0);
    return this;
  }
  /** Negative ones are written as 64 bits. */
  int32(value) {
    const whole2 = value | 0;
    return whole2 >= 0 ? this.uint32(whole2) : this.int64(whole2);
  }
  /** To the precision of a double. */
  int64(value) {
    let whole2 = Math.trunc(Number(value));
    if (!Number.isFinite(whole2)) whole2 = 0;
    this.#room(10);
    if (whole2 >= 0) this.#varint(whole2);
    else this.#negative(whole2);
    return this;
  }
  bool(value) {
    this.#room(1);
    this.#bytes[this.#at++] = value ? 1 : 0;
    return this;
  }
  double(value) {
    this.#room(8);
    this.#at = this.#bytes.writeDoubleLE(Number(value), this.#at);
    return this;
  }
  bytes(value) {
    this.#room(5 + value.length);
    this.#varint(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
    return this;
  }
  string(value) {
    const { length } = value;
    this.#room(5 + 3 * length);
    const start = this.#at;
    const bytes = this.#bytes;
    if (length < shortText) {
      let at = start + 1;
      for (let index = 0; index < length; index++) {
        const code = value.charCodeAt(index);
        if (code >= 128) return this.#encode(value);
        bytes[at++] = code;
      }
      bytes[start] = length;
      this.#at = at;
      return this;
    }
    return this.#encode(value);
  }
  /** Begins a message, which `ldelim` completes. */
  fork() {
    this.#room(1);
    this.#open.push(this.#at++);
    return this;
  }
  ldelim() {
    this.#close(this.#open.pop());
    return this;
  }
  /** A copy of what was written. */
  finish() {
    return Buffer.from(this.#bytes.subarray(0, this.#at));
  }
  #encode(value) {
    const start = this.#at++;
    this.#at += this.#bytes.write(value, this.#at, "utf8");
    this.#close(start);
    return this;
  }
  /** Writes the length of what stands behind `start`, where one byte is free for it. */
  #close(start) {
    const length = this.#at - start - 1;
    if (length < 128) {
      this.#bytes[start] = length;
      return;
    }
    const more = length < 16384 ? 1 : length < 2097152 ? 2 : 3 + +(length >= 268435456);
    this.#room(more);
    this.#bytes.copyWithin(start + 1 + more, start + 1, this.#at);
    const end = this.#at + more;
    this.#at = start;
    this.#varint(length);
    this.#at = end;
  }
  #varint(value) {
    const bytes = this.#bytes;
    let at = this.#at;
    while (value >= twoTo32) {
      bytes[at++] = value % 128 | 128;
      value = Math.floor(value / 128);
    }
    while (value >= 128) {
      bytes[at++] = value & 127 | 128;
      value >>>= 7;
    }
    bytes[at++] = value;
    this.#at = at;
  }
  #negative(value) {
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest >= 0x80n) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#at++] = Number(rest);
  }
  #room(bytes) {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
};

// api/codec/wire-reader.ts
var TWO_TO_322 = 2 ** 32;

// api/codec/protobuf-decode.ts
var MAGIC = Buffer.from([107, 56, 115, 0]);

// api/codec/protobuf-encode.ts
var META3 = "io.k8s.apimachinery.pkg.apis.meta.v1";
var encoders = /* @__PURE__ */ new Map();
function encoderOf(messageName) {
  let encoder = encoders.get(messageName);
  if (!encoder) {
    const message = messageNamed(messageName);
    if (!message) throw new Error(`protobuf: no message ${messageName}`);
    encoder = specialEncoder(message) ?? messageEncoder(message);
    encoders.set(messageName, encoder);
  }
  return encoder;
}
var SCALAR_WIRE = {
  string: 2,
  bytes: 2,
  bool: 0,
  int32: 0,
  int64: 0,
  double: 1
};
var SCALARS3 = {
  string: (writer, value) => void writer.string(
    value === void 0 || value === null ? "" : String(value)
  ),
  bool: (writer, value) => void writer.bool(value === true),
  int32: (writer, value) => void writer.int32(value ?? 0),
  int64: (writer, value) => void writer.int64(value ?? 0),
  double: (writer, value) => void writer.double(value ?? 0),
  bytes: (writer, value) => void writer.bytes(
    Buffer.from(value ?? "", "base64")
  )
};
function messageEncoder(message) {
  const fields2 = message.fields.filter(({ number: number2 }) => number2 > 0).map(fieldEncoder);
  return (writer, value) => {
    const object = value ?? {};
    for (const field of fields2) field(writer, object);
  };
}
function fieldEncoder(field) {
  const name = field.jsonName;
  const wire = field.scalar ? SCALAR_WIRE[field.scalar] : 2;
  const tag = (field.number << 3 | wire) >>> 0;
  const write = valueWriter(field);
  if (field.inlined)
    return (writer, object) => write(writer.uint32(tag), object);
  switch (field.label) {
    case "list":
      return (writer, object) => {
        const list = object[name];
        if (Array.isArray(list))
          for (const item of list) write(writer.uint32(tag), item);
      };
    case "map":
      return (writer, object) => {
        const map = object[name];
        if (typeof map !== "object" || map === null) return;
        for (const key2 of sortedKeys(map)) {
          writer.uint32(tag).fork().uint32(10).string(key2).uint32(16 | wire);
          write(writer, map[key2]);
          writer.ldelim();
        }
      };
    default:
      if (field.nullable || field.scalar === "bytes")
        return (writer, object) => {
          const value = object[name];
          if (value !== void 0 && value !== null)
            write(writer.uint32(tag), value);
        };
      return (writer, object) => write(writer.uint32(tag), object[name]);
  }
}
function valueWriter(field) {
  if (field.scalar) return SCALARS3[field.scalar];
  const name = field.message;
  let encode;
  return (writer, value) => {
    encode ??= encoderOf(name);
    writer.fork();
    encode(writer, value);
    writer.ldelim();
  };
}
function sortedKeys(map) {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  keys.sort();
  if (keys.some((key2) => /[\ud800-\udfff]/.test(key2)))
    keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return keys;
}
function isSet(value) {
  return value !== void 0 && value !== null && value !== "";
}
function specialEncoder({ fullName, name }) {
  switch (fullName) {
    case `${META3}.Time`:
      return (writer, value) => {
        if (isSet(value))
          writer.uint32(8).int64(Math.floor(Date.parse(value) / 1e3)).uint32(16).int32(0);
      };
    case `${META3}.MicroTime`:
      return (writer, value) => {
        if (!isSet(value)) return;
        const text = value;
        const micros = Number(
          (/\.(\d+)/.exec(text)?.[1] ?? "").slice(0, 6).padEnd(6, "0")
        );
        const seconds = Math.floor(
          Date.parse(text.replace(/\.\d+/, "")) / 1e3
        );
        writer.uint32(8).int64(seconds).uint32(16).int32(micros * 1e3);
      };
    case `${META3}.Duration`:
      return (writer, value) => void writer.uint32(8).int64(
        isSet(value) ? Math.round(parseDurationMs(value) * 1e6) : 0
      );
    case "io.k8s.apimachinery.pkg.api.resource.Quantity":
    case "io.k8s.apimachinery.pkg.api.resource.QuantityValue":
      return (writer, value) => void writer.uint32(10).string(isSet(value) ? String(value) : "0");
    case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
      return (writer, value) => {
        const isText = typeof value === "string";
        writer.uint32(8).int64(isText ? 1 : 0);
        writer.uint32(16).int32(isText ? 0 : value ?? 0);
        writer.uint32(26).string(isText ? value : "");
      };
    case "io.k8s.apimachinery.pkg.runtime.RawExtension":
    case `${META3}.FieldsV1`:
      return rawJson;
  }
  if (name === "ExtraValue" || fullName === `${META3}.Verbs`)
    return (writer, value) => {
      for (const text of value ?? [])
        writer.uint32(10).string(text);
    };
  if (!fullName.includes(".apiextensions.v1")) return void 0;
  const props = `${fullName.slice(0, fullName.lastIndexOf("."))}.JSONSchemaProps`;
  switch (name) {
    case "JSON":
      return (writer, value) => {
        if (value !== void 0)
          writer.uint32(10).bytes(Buffer.from(JSON.stringify(value)));
      };
    case "JSONSchemaPropsOrBool":
      return (writer, value) => {
        writer.uint32(8).bool(value !== false);
        if (typeof value === "object" && value !== null)
          nested(writer, 18, props, value);
      };
    case "JSONSchemaPropsOrArray":
      return (writer, value) => {
        if (Array.isArray(value))
          for (const one of value) nested(writer, 18, props, one);
        else if (value) nested(writer, 10, props, value);
      };
    case "JSONSchemaPropsOrStringArray":
      return (writer, value) => {
        if (Array.isArray(value))
          for (const one of value) writer.uint32(18).string(one);
        else if (value) nested(writer, 10, props, value);
      };
  }
  return void 0;
}
function rawJson(writer, value) {
  if (value === void 0 || value === null) return;
  writer.uint32(10).bytes(
    value instanceof RawJson ? value.bytes : Buffer.from(JSON.stringify(value))
  );
}
function nested(writer, tag, messageName, value) {
  writer.uint32(tag).fork();
  encoderOf(messageName)(writer, value);
  writer.ldelim();
}

// api/codec/protobuf.ts
var META4 = "io.k8s.apimachinery.pkg.apis.meta.v1";
function messageOf(apiVersion, kind2) {
  const name = typeof kind2 === "string" ? messageNameOfKind(apiVersion ?? "v1", kind2) : void 0;
  if (name === void 0)
    throw errors.notAcceptable(
      `object ${String(apiVersion)}, Kind=${String(kind2)} has no protobuf encoding`
    );
  return name;
}
function encodeMessage(object) {
  const { apiVersion, kind: kind2 } = object;
  const writer = WireWriter.create();
  encoderOf(messageOf(apiVersion, kind2))(writer, object);
  return Buffer.from(writer.finish());
}
function encodeProtobuf(object) {
  const { apiVersion = "", kind: kind2 } = object;
  const message = encodeMessage(object);
  return Buffer.concat([
    ...envelopeHead(apiVersion, kind2, message.length),
    message,
    envelopeEnd
  ]);
}
function envelopeHead(apiVersion, kind2, size) {
  const head = WireWriter.create();
  head.uint32(10).fork().uint32(10).string(apiVersion).uint32(18).string(kind2).ldelim();
  head.uint32(18).uint32(size);
  return [MAGIC, head.finish()];
}
var envelopeEnd = Buffer.from([26, 0, 34, 0]);
function withLength(length) {
  let bytes = length + 1;
  for (let rest = length; rest >= 128; rest >>>= 7) bytes++;
  return bytes;
}
function* protobufListParts(apiVersion, listKind, metadata, itemBytes, items) {
  const head = WireWriter.create().uint32(10).fork();
  encoderOf(`${META4}.ListMeta`)(head, metadata);
  const listHead = head.ldelim().finish();
  yield* envelopeHead(apiVersion, listKind, listHead.length + itemBytes);
  yield listHead;
  for (const item of items) {
    if (!item) yield void 0;
    else {
      yield WireWriter.create().uint32(18).uint32(item.length).finish();
      yield item;
    }
  }
  yield envelopeEnd;
}
function rawMessage(envelope) {
  let at = MAGIC.length + 1;
  let length = 0;
  const varint = () => {
    length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = envelope[at++];
      length |= (byte & 127) << shift;
      if (byte < 128) return;
    }
  };
  varint();
  at += length + 1;
  varint();
  return Buffer.from(envelope.buffer, envelope.byteOffset + at, length);
}
function encodeWatchFrame(type, object) {
  const event = WireWriter.create().uint32(10).string(type);
  event.uint32(18).fork().uint32(10).bytes(object).ldelim();
  const body = event.finish();
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32BE(body.length, 0);
  frame.set(body, 4);
  return frame;
}
var MAX_FRAME_BYTES = 64 * 1024 * 1024;

// api/codec/yaml-scalar.ts
var WORDS = /* @__PURE__ */ new Map();
for (const word of ["", "~", "null", "Null", "NULL"]) WORDS.set(word, null);
for (const word of [
  "y",
  "Y",
  "yes",
  "Yes",
  "YES",
  "true",
  "True",
  "TRUE",
  "on",
  "On",
  "ON"
])
  WORDS.set(word, true);
for (const word of [
  "n",
  "N",
  "no",
  "No",
  "NO",
  "false",
  "False",
  "FALSE",
  "off",
  "Off",
  "OFF"
])
  WORDS.set(word, false);
var INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
var NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;
var FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
var INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/;
function resolvePlain(text) {
  const word = WORDS.get(text);
  if (word !== void 0) return word;
  const first = text.charCodeAt(0);
  if (first > 57 || first < 43 || first === 44 || first === 47)
    return text;
  if (INFINITE.test(text)) return text[0] === "-" ? -Infinity : Infinity;
  if (NOT_A_NUMBER.test(text)) return NaN;
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  if (INTEGER.test(plain)) return parseInteger(plain);
  return FLOAT.test(plain) ? Number(plain) : text;
}
function parseInteger(text) {
  const negative = text[0] === "-";
  const digits2 = text.replace(/^[-+]/, "");
  const octal = /^0[oO]?([0-7]+)$/.exec(digits2);
  const value = octal ? parseInt(octal[1], 8) : Number(digits2);
  return negative && value !== 0 ? -value : value;
}
function isBase60(text) {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text);
}
function isTimestamp(text) {
  return /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|\s+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?(?:\s*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$/.test(
    text
  );
}

// api/codec/yaml-emit.ts
var WIDTH = 80;
function emitYaml(value) {
  const emitter = new Emitter();
  emitter.node(value, 0, "");
  return emitter.text;
}
var Emitter = class {
  text = "";
  #column = 0;
  /** Text that may end in a newline, but has none before. */
  #write(text) {
    this.text += text;
    this.#column = text.endsWith("\n") ? 0 : this.#column + text.length;
  }
  /** A line break and the indentation of the next line. */
  #break(indent) {
    this.text += `
${" ".repeat(indent)}`;
    this.#column = indent;
  }
  /** Writes a value after `lead`: "" at the start of a line, " " after a key's colon. */
  node(value, indent, lead) {
    if (Array.isArray(value)) return this.#list(value, indent, lead);
    if (typeof value === "object" && value !== null)
      return this.#map(value, indent, lead);
    this.#write(lead);
    if (typeof value === "string") this.#string(value, indent, false);
    else
      this.#write(
        value === null || value === void 0 ? "null" : number(value)
      );
    this.#write("\n");
  }
  #list(list, indent, lead) {
    if (list.length === 0) return this.#write(`${lead}[]
`);
    if (lead !== "") this.#write("\n");
    for (const item of list) {
      this.#write(" ".repeat(indent));
      this.#write("-");
      this.#item(item, indent + 2);
    }
  }
  /** What stands behind a dash starts on its line. */
  #item(value, indent) {
    if (Array.isArray(value) && value.length > 0) {
      value.forEach((inner, index) => {
        this.#write(index === 0 ? " -" : `${" ".repeat(indent)}-`);
        this.#item(inner, indent + 2);
      });
    } else if (typeof value === "object" && value !== null && !Array.isArray(value) && keysOf(value).length > 0) {
      this.#entries(value, indent, " ");
    } else {
      this.node(value, indent - 2, " ");
    }
  }
  #map(map, indent, lead) {
    if (keysOf(map).length === 0) return this.#write(`${lead}{}
`);
    if (lead !== "") this.#write("\n");
    this.#entries(map, indent, " ".repeat(indent));
  }
  #entries(map, indent, firstLead) {
    let lead = firstLead;
    for (const key2 of keysOf(map).sort(naturalOrder)) {
      this.#write(lead);
      lead = " ".repeat(indent);
      this.#string(key2, indent, true);
      this.#write(":");
      const value = map[key2];
      const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
      this.node(value, isMap ? indent + 2 : indent, " ");
    }
  }
  #string(text, indent, isKey) {
    switch (styleOf(text, isKey)) {
      case "plain":
        return this.#folded(text, indent, isKey, (char) => char);
      case "single":
        this.#write("'");
        this.#folded(text, indent, isKey, (char) => char.replaceAll("'", "''"));
        return this.#write("'");
      case "double":
        return this.#double(text, indent, isKey);
      case "literal":
        return this.#literal(text, indent);
    }
  }
  /** A single blank between words beyond the width becomes a line break. */
  #folded(text, indent, isKey, escape) {
    if (isKey || this.#column + text.length <= WIDTH || !text.includes(" "))
      return this.#write(escape(text));
    let spaces = false;
    const chars = [...text];
    for (let at = 0; at < chars.length; at++) {
      const char = chars[at];
      if (char === " ") {
        const fold = !isKey && !spaces && this.#column > WIDTH && at > 0 && at < chars.length - 1 && chars[at + 1] !== " ";
        if (fold) this.#break(indent + 2);
        else this.#write(" ");
        spaces = true;
      } else {
        this.#write(escape(char));
        spaces = false;
      }
    }
  }
  #double(text, indent, isKey) {
    this.#write('"');
    let spaces = false;
    const chars = [...text];
    for (let at = 0; at < chars.length; at++) {
      const char = chars[at];
      if (char === " " && !spaces && !isKey && this.#column > WIDTH && at > 0 && at < chars.length - 1) {
        this.#break(indent + 2);
        if (chars[at + 1] === " ") this.#write("\\");
        spaces = true;
      } else {
        this.#write(doubleEscape(char));
        spaces = char === " ";
      }
    }
    this.#write('"');
  }
  #literal(text, indent) {
    const first = text[0];
    const hint = first === " " || first === "\n" ? "2" : "";
    const chomp = !text.endsWith("\n") ? "-" : text.length === 1 || text.endsWith("\n\n") ? "+" : "";
    this.#write(`|${hint}${chomp}`);
    const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
    for (const line of lines)
      if (line === "") this.#write("\n");
      else {
        this.#break(indent + 2);
        this.#write(line);
      }
  }
};
function keysOf(map) {
  return Object.keys(map).filter(
    (key2) => map[key2] !== void 0
  );
}
function naturalOrder(left, right) {
  if (/^[A-Za-z]*$/.test(left) && /^[A-Za-z]*$/.test(right))
    return left < right ? -1 : left > right ? 1 : 0;
  const a = [...left];
  const b = [...right];
  const isDigit = (char) => char !== void 0 && /^\p{Nd}$/u.test(char);
  const isLetter = (char) => /^\p{L}$/u.test(char);
  let digits2 = false;
  for (let at = 0; at < a.length && at < b.length; at++) {
    const x = a[at];
    const y = b[at];
    if (x === y) {
      digits2 = isDigit(x);
      continue;
    }
    const xLetter = isLetter(x);
    const yLetter = isLetter(y);
    if (xLetter && yLetter) return x.codePointAt(0) - y.codePointAt(0);
    if (xLetter || yLetter) return digits2 === xLetter ? -1 : 1;
    return compareNumbers(a, b, at) || x.codePointAt(0) - y.codePointAt(0);
  }
  return a.length - b.length;
}
function compareNumbers(a, b, at) {
  const isDigit = (char) => char !== void 0 && char >= "0" && char <= "9";
  let from = at;
  if (a[at] === "0" || b[at] === "0") {
    for (let back = at - 1; back >= 0 && isDigit(a[back]); back--) {
      if (a[back] !== "0") {
        from = back + 1;
        break;
      }
    }
  }
  let endA = from;
  let endB = from;
  while (isDigit(a[endA])) endA++;
  while (isDigit(b[endB])) endB++;
  const x = BigInt(a.slice(from, endA).join("") || "0");
  const y = BigInt(b.slice(from, endB).join("") || "0");
  if (x !== y) return x < y ? -1 : 1;
  return endA - endB;
}
function number(value) {
  if (typeof value === "boolean" || Number.isInteger(value))
    return String(value);
  return String(value).replace(/e([-+])(\d)$/, "e$10$2");
}
function styleOf(text, isKey) {
  const special = hasSpecial(text);
  if (text.includes("\n")) {
    if (!isKey && !special && !/ \n| $/.test(text)) return "literal";
    return "double";
  }
  if (resolvePlain(text) !== text || isBase60(text) || isTimestamp(text))
    return "double";
  if (special) return "double";
  if (isKey && text === "<<") return "double";
  if (/^[ ]|[ ]$/.test(text) || text === "") return "single";
  const plain = !/^[#,[\]{}&*!|>'"%@`]/.test(text) && !/^[-?:](?=\s|$)/.test(text) && !/^(?:---|\.\.\.)/.test(text) && !/:(?=\s|$)/.test(text) && !/\s#/.test(text) && !text.startsWith("	");
  return plain ? "plain" : "single";
}
function hasSpecial(text) {
  for (const char of text) {
    const code = char.codePointAt(0);
    if (code === 10) continue;
    if (code < 32 || code === 127 || code >= 128 && code < 160 && code !== 133 || code === 65279)
      return true;
    if (code === 133 || code === 8232 || code === 8233) return true;
    if (code >= 55296 && code < 57344 || code === 65534 || code === 65535 || code > 65535)
      return true;
  }
  return false;
}
var ESCAPES = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "	": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1B": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\x85": "\\N",
  "\xA0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P"
};
function doubleEscape(char) {
  const known = ESCAPES[char];
  if (known !== void 0 && char !== "\xA0") return known;
  if (!hasSpecial(char)) return char;
  const code = char.codePointAt(0);
  if (code <= 255)
    return `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
  if (code <= 65535)
    return `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `\\U${code.toString(16).toUpperCase().padStart(8, "0")}`;
}

// api/codec/yaml-text.ts
import {
  EVENT_ID,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException
} from "js-yaml";
var MAX_ALIASED_NODES = 1e5;
var MAX_ALIASED_BYTES = 3 * 1024 * 1024;
var MAX_DEPTH2 = 200;
var YamlSyntaxError = class extends Error {
  /** From 1. */
  line;
  /** The reason without position. */
  reason;
  /** @param told the line the message names, where it is another; 0: none */
  constructor(reason, line, told = line) {
    super(told > 0 ? `yaml: line ${told}: ${reason}` : `yaml: ${reason}`);
    this.reason = reason;
    this.line = line;
  }
};
var reasons = {
  "tab characters must not be used in indentation": {
    text: "found character that cannot start any token"
  },
  "deficient indentation": { text: "found unexpected end of stream" },
  "unexpected end of the stream within a double quoted scalar": {
    text: "found unexpected end of stream"
  },
  "unexpected end of the stream within a single quoted scalar": {
    text: "found unexpected end of stream"
  },
  "bad indentation of a mapping entry": {
    text: "did not find expected key",
    before: 1
  }
};
function parseYaml(text, { withLines = false } = {}) {
  let events;
  try {
    events = parseEvents(text, { maxDepth: MAX_DEPTH2 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = (error.mark?.line ?? 0) + 1;
    const { text: reason, before: before2 = 0 } = reasons[error.reason] ?? {
      text: error.reason
    };
    throw new YamlSyntaxError(reason, line, line - before2);
  }
  return new Composer(text, events, withLines).documents();
}
var Composer = class {
  #text;
  #events;
  #withLines;
  #newlines = [];
  #at = 0;
  #nodes = 0;
  #bytes = 0;
  #aliased = { nodes: 0, bytes: 0 };
  #anchors = /* @__PURE__ */ new Map();
  #duplicates = [];
  #lines = /* @__PURE__ */ new Map();
  constructor(text, events, withLines) {
    this.#text = text;
    this.#events = events;
    this.#withLines = withLines;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1))
      this.#newlines.push(at);
  }
  documents() {
    const documents = [];
    while (this.#at < this.#events.length) {
      this.#at++;
      this.#anchors = /* @__PURE__ */ new Map();
      this.#duplicates = [];
      this.#lines = /* @__PURE__ */ new Map();
      this.#aliased = { nodes: 0, bytes: 0 };
      const first = this.#events[this.#at];
      const line = this.#lineAt(startOf(first));
      const value = first.type === EVENT_ID.POP ? null : this.#node("");
      this.#at++;
      documents.push({
        value,
        line,
        duplicates: this.#duplicates,
        lines: this.#lines
      });
    }
    return documents;
  }
  #lineAt(offset) {
    let low = 0;
    let high = this.#newlines.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.#newlines[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
  #fail(reason, event) {
    throw new YamlSyntaxError(reason, this.#lineAt(startOf(event)));
  }
  #node(path) {
    const event = this.#events[this.#at++];
    const bytesBefore = this.#bytes;
    const before2 = this.#nodes++;
    let value;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        value = this.#scalar(event);
        break;
      case EVENT_ID.SEQUENCE: {
        const list = [];
        while (this.#events[this.#at].type !== EVENT_ID.POP) {
          const inner = this.#withLines ? joinPath(path, list.length) : "";
          if (this.#withLines)
            this.#lines.set(
              inner,
              this.#lineAt(startOf(this.#events[this.#at]))
            );
          list.push(this.#node(inner));
        }
        this.#at++;
        value = list;
        break;
      }
      case EVENT_ID.MAPPING:
        value = this.#mapping(path);
        break;
      case EVENT_ID.ALIAS:
        return this.#alias(event);
      default:
        this.#fail("unexpected document structure", event);
    }
    if (event.anchorStart >= 0) {
      const name = this.#text.slice(event.anchorStart, event.anchorEnd);
      this.#anchors.set(name, {
        value,
        nodes: this.#nodes - before2,
        bytes: this.#bytes - bytesBefore
      });
    }
    return value;
  }
  #alias(event) {
    const name = this.#text.slice(event.anchorStart, event.anchorEnd);
    const anchored = this.#anchors.get(name);
    if (!anchored)
      throw new YamlSyntaxError(
        `unknown anchor '${name}' referenced`,
        this.#lineAt(startOf(event)),
        0
      );
    this.#nodes += anchored.nodes;
    this.#bytes += anchored.bytes;
    const aliased = this.#aliased;
    aliased.nodes += anchored.nodes;
    aliased.bytes += anchored.bytes;
    if (aliased.nodes > MAX_ALIASED_NODES || aliased.bytes > MAX_ALIASED_BYTES)
      this.#fail("document contains excessive aliasing", event);
    return copyTree(anchored.value);
  }
  #mapping(path) {
    const map = {};
    const merges = [];
    while (this.#events[this.#at].type !== EVENT_ID.POP) {
      const keyEvent = this.#events[this.#at];
      const isMerge = keyEvent.type === EVENT_ID.SCALAR && keyEvent.style === SCALAR_STYLE.PLAIN && keyEvent.valueEnd - keyEvent.valueStart === 2 && this.#text.startsWith("<<", keyEvent.valueStart);
      if (isMerge) {
        this.#at++;
        const merged2 = this.#node(path);
        for (const source of Array.isArray(merged2) ? merged2 : [merged2]) {
          if (typeof source !== "object" || source === null || Array.isArray(source))
            this.#fail(
              "map merge requires map or sequence of maps as the value",
              keyEvent
            );
          merges.push(source);
        }
        continue;
      }
      const key2 = this.#key(this.#node(""), keyEvent);
      const inner = joinPath(path, key2);
      const twice = Object.hasOwn(map, key2);
      if (twice || this.#withLines) {
        const line = this.#lineAt(startOf(keyEvent));
        if (twice) this.#duplicates.push({ path: inner, key: key2, line });
        if (this.#withLines) this.#lines.set(inner, line);
      }
      setOwn(map, key2, this.#node(inner));
    }
    this.#at++;
    for (const source of merges)
      for (const key2 of Object.keys(source))
        if (!Object.hasOwn(map, key2)) setOwn(map, key2, source[key2]);
    return map;
  }
  #key(key2, event) {
    if (typeof key2 === "string") return key2;
    if (typeof key2 === "number" || typeof key2 === "boolean") return String(key2);
    return this.#fail(
      `unsupported map key of type ${key2 === null ? "null" : typeof key2}`,
      event
    );
  }
  #scalar(event) {
    const text = event.valueStart < 0 && event.style === SCALAR_STYLE.PLAIN ? "" : getScalarValue(this.#text, event);
    this.#bytes += Buffer.byteLength(text);
    const tag = event.tagStart < 0 ? "" : this.#text.slice(event.tagStart, event.tagEnd);
    if (tag === "" && event.style !== SCALAR_STYLE.PLAIN) return text;
    const value = this.#tagged(tag, text, event);
    if (typeof value === "number" && !Number.isFinite(value))
      this.#fail(`json: unsupported value: ${text}`, event);
    return value;
  }
  #tagged(tag, text, event) {
    if (tag === "") return resolvePlain(text);
    switch (tag.replace(/^!<tag:yaml\.org,2002:(.*)>$/, "!!$1")) {
      case "!!null":
        return null;
      case "!!bool":
      case "!!int":
      case "!!float": {
        const value = resolvePlain(text);
        const wanted = tag.endsWith("bool") ? "boolean" : "number";
        if (typeof value !== wanted)
          this.#fail(`cannot decode !!str \`${text}\` as a ${tag}`, event);
        return value;
      }
      case "!!binary":
        return Buffer.from(text, "base64").toString("utf8");
      default:
        return text;
    }
  }
};
function startOf(event) {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      return Math.max(event.valueStart, event.tagStart, event.anchorStart, 0);
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart;
    default:
      return 0;
  }
}
function copyTree(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyTree);
  const copy2 = {};
  for (const key2 of Object.keys(value))
    setOwn(copy2, key2, copyTree(value[key2]));
  return copy2;
}

// api/codec/yaml.ts
function parseYamlBody(bytes) {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    bytes.byteLength
  ).toString("utf8");
  try {
    const [document] = parseYaml(text);
    const { value = null, duplicates = [] } = document ?? {};
    return {
      value,
      problems: duplicates.length === 0 ? [] : [duplicateText(duplicates)]
    };
  } catch (error) {
    if (!(error instanceof YamlSyntaxError)) throw error;
    throw errors.badRequest(
      `error decoding YAML: error converting YAML to JSON: ${error.message}`
    );
  }
}
function encodeYaml(object) {
  return Buffer.from(emitYaml(object));
}
function duplicateText(duplicates) {
  const lines = duplicates.map(
    ({ key: key2, line }) => `  line ${line}: key ${JSON.stringify(key2)} already set in map`
  );
  return `yaml: unmarshal errors:
${lines.join("\n")}`;
}

// apiserver-lite/http/other-formats.ts
var documentEnd = Buffer.from("---\n");
var yamlFormat = {
  name: "yaml",
  streamType: (contentType) => contentType,
  encode: (object) => encodeYaml(object),
  list: function* (head, field, items) {
    if (items.count === 0) return yield encodeYaml({ ...head, [field]: [] });
    const fields2 = Object.entries(head);
    const part = (wanted) => encodeYaml(Object.fromEntries(fields2.filter(([key2]) => wanted(key2))));
    const before2 = part((key2) => key2 < field);
    const behind = fields2.some(([key2]) => key2 > field) ? part((key2) => key2 > field) : Buffer.alloc(0);
    function* pieces() {
      yield before2;
      yield Buffer.from(`${field}:
`);
      for (let index = 0; index < items.count; index++) {
        yield encodeYaml([items.object(index)]);
        yield void 0;
      }
      yield behind;
    }
    yield* joined(pieces());
  },
  frame: (type, object) => Buffer.concat([
    documentEnd,
    encodeYaml({ type, object: parseYamlBody(object).value })
  ])
};
var protobufFormat = {
  name: "protobuf",
  streamType: (contentType) => `${contentType};stream=watch`,
  encode: (object) => encodeProtobuf(object),
  list: function* ({ kind: kind2, apiVersion, metadata }, _field, items) {
    let headBytes;
    let bytes = 0;
    for (let index = 0; index < items.count; index++) {
      const known = headBytes === void 0 ? void 0 : items.length(index);
      if (known !== void 0) bytes += 1 + known - headBytes;
      else {
        const item = items.bytes(index);
        const length = withLength(rawMessage(item).length);
        headBytes ??= item.length - length;
        bytes += 1 + length;
      }
      if (index % itemsPerLook === 0) yield void 0;
    }
    function* raws() {
      for (let index = 0; index < items.count; index++) {
        yield rawMessage(items.bytes(index));
        if (index % itemsPerLook === 0) yield void 0;
      }
    }
    yield* joined(protobufListParts(apiVersion, kind2, metadata, bytes, raws()));
  },
  frame: (type, object) => encodeWatchFrame(type, object)
};
var otherFormats = {
  yaml: yamlFormat,
  protobuf: protobufFormat
};

// api/facts/defaults.json
var defaults_default = { mirrors: [{ kind: "Pod and every pod template", path: "spec.serviceAccount", sameAs: "spec.serviceAccountName", rule: "serviceAccountName wins when both given; both are written back" }, { kind: "Pod", path: "status.podIP", sameAs: "status.podIPs[0].ip", rule: "podIP wins when they differ" }, { kind: "Secret", path: "stringData", mergedInto: "data", rule: "stringData keys overwrite data keys, values base64-encoded; stringData is never returned" }], types: { "admissionregistration.k8s.io/v1.MatchResources": [{ path: "matchPolicy", value: "Equivalent" }, { path: "namespaceSelector", value: {} }, { path: "objectSelector", value: {} }], "admissionregistration.k8s.io/v1.MutatingWebhook": [{ path: "failurePolicy", value: "Fail" }, { path: "matchPolicy", value: "Equivalent" }, { path: "namespaceSelector", value: {} }, { path: "objectSelector", value: {} }, { path: "timeoutSeconds", value: 10 }, { path: "reinvocationPolicy", value: "Never" }], "admissionregistration.k8s.io/v1.Rule": [{ path: "scope", value: "*" }], "admissionregistration.k8s.io/v1.ServiceReference": [{ path: "port", value: 443 }], "admissionregistration.k8s.io/v1.ValidatingAdmissionPolicySpec": [{ path: "failurePolicy", value: "Fail" }], "admissionregistration.k8s.io/v1.ValidatingWebhook": [{ path: "failurePolicy", value: "Fail" }, { path: "matchPolicy", value: "Equivalent" }, { path: "namespaceSelector", value: {} }, { path: "objectSelector", value: {} }, { path: "timeoutSeconds", value: 10 }], "admissionregistration.k8s.io/v1alpha1.MatchResources": [{ path: "matchPolicy", value: "Equivalent" }, { path: "namespaceSelector", value: {} }, { path: "objectSelector", value: {} }], "admissionregistration.k8s.io/v1alpha1.MutatingAdmissionPolicySpec": [{ path: "failurePolicy", value: "Fail" }], "admissionregistration.k8s.io/v1alpha1.ParamRef": [{ path: "parameterNotFoundAction", value: "Deny" }], "admissionregistration.k8s.io/v1beta1.MatchResources": [{ path: "matchPolicy", value: "Equivalent" }, { path: "namespaceSelector", value: {} }, { path: "objectSelector", value: {} }], "admissionregistration.k8s.io/v1beta1.ValidatingAdmissionPolicySpec": [{ path: "failurePolicy", value: "Fail" }], "apiextensions.k8s.io/v1.CustomResourceDefinition": [{ path: "status.storedVersions", from: "name of the spec.versions[] entry with storage true", when: "empty" }], "apiextensions.k8s.io/v1.CustomResourceDefinitionSpec": [{ path: "names.singular", from: "lower-case names.kind" }, { path: "names.listKind", from: "names.kind + List", when: "empty and names.kind non-empty" }, { path: "conversion", value: { strategy: "None" } }], "apiextensions.k8s.io/v1.ServiceReference": [{ path: "port", value: 443 }], "apiregistration.k8s.io/v1.ServiceReference": [{ path: "port", value: 443 }], "apps/v1.DaemonSet": [{ path: "spec.updateStrategy.type", value: "RollingUpdate" }, { path: "spec.updateStrategy.rollingUpdate.maxUnavailable", value: 1, when: "spec.updateStrategy.type == RollingUpdate and unset" }, { path: "spec.updateStrategy.rollingUpdate.maxSurge", value: 0, when: "spec.updateStrategy.type == RollingUpdate and unset" }, { path: "spec.revisionHistoryLimit", value: 10 }], "apps/v1.Deployment": [{ path: "spec.replicas", value: 1 }, { path: "spec.strategy.type", value: "RollingUpdate" }, { path: "spec.strategy.rollingUpdate.maxUnavailable", value: "25%", when: "spec.strategy.type == RollingUpdate and unset" }, { path: "spec.strategy.rollingUpdate.maxSurge", value: "25%", when: "spec.strategy.type == RollingUpdate and unset" }, { path: "spec.revisionHistoryLimit", value: 10 }, { path: "spec.progressDeadlineSeconds", value: 600 }], "apps/v1.ReplicaSet": [{ path: "spec.replicas", value: 1 }], "apps/v1.StatefulSet": [{ path: "spec.podManagementPolicy", value: "OrderedReady" }, { path: "spec.updateStrategy.type", value: "RollingUpdate" }, { path: "spec.updateStrategy.rollingUpdate", value: {}, when: "unset and spec.updateStrategy.type was empty" }, { path: "spec.updateStrategy.rollingUpdate.partition", value: 0, when: "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and partition unset" }, { path: "spec.updateStrategy.rollingUpdate.maxUnavailable", value: 1, when: "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and maxUnavailable unset", gate: "MaxUnavailableStatefulSet", gateOn: false }, { path: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", value: "Retain", when: "unset (parent created when missing)", gate: "StatefulSetAutoDeletePVC", gateOn: true }, { path: "spec.persistentVolumeClaimRetentionPolicy.whenScaled", value: "Retain", when: "unset (parent created when missing)", gate: "StatefulSetAutoDeletePVC", gateOn: true }, { path: "spec.replicas", value: 1 }, { path: "spec.revisionHistoryLimit", value: 10 }], "authentication.k8s.io/v1.TokenRequestSpec": [{ path: "expirationSeconds", value: 3600 }], "autoscaling/v1.HorizontalPodAutoscaler": [{ path: "spec.minReplicas", value: 1 }], "autoscaling/v2.HorizontalPodAutoscaler": [{ path: "spec.minReplicas", value: 1 }, { path: "spec.metrics", value: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }], when: "empty" }, { path: "spec.behavior.scaleUp.stabilizationWindowSeconds", value: 0, when: "spec.behavior set and unset" }, { path: "spec.behavior.scaleUp.selectPolicy", value: "Max", when: "spec.behavior set and unset" }, { path: "spec.behavior.scaleUp.policies", value: [{ type: "Pods", value: 4, periodSeconds: 15 }, { type: "Percent", value: 100, periodSeconds: 15 }], when: "spec.behavior set and unset" }, { path: "spec.behavior.scaleDown.selectPolicy", value: "Max", when: "spec.behavior set and unset" }, { path: "spec.behavior.scaleDown.policies", value: [{ type: "Percent", value: 100, periodSeconds: 15 }], when: "spec.behavior set and unset" }], "batch/v1.CronJob": [{ path: "spec.concurrencyPolicy", value: "Allow" }, { path: "spec.suspend", value: false }, { path: "spec.successfulJobsHistoryLimit", value: 3 }, { path: "spec.failedJobsHistoryLimit", value: 1 }], "batch/v1.Job": [{ path: "spec.completions", value: 1, when: "completions and parallelism both unset" }, { path: "spec.parallelism", value: 1 }, { path: "spec.backoffLimit", value: 2147483647, when: "unset and spec.backoffLimitPerIndex set" }, { path: "spec.backoffLimit", value: 6, when: "unset and spec.backoffLimitPerIndex unset" }, { path: "metadata.labels", from: "spec.template.metadata.labels", when: "metadata.labels empty and template labels set" }, { path: "spec.completionMode", value: "NonIndexed" }, { path: "spec.suspend", value: false }, { path: "spec.podFailurePolicy.rules[].onPodConditions[].status", value: "True" }, { path: "spec.podReplacementPolicy", value: "Failed", when: "unset and spec.podFailurePolicy set", gate: "JobPodReplacementPolicy", gateOn: true }, { path: "spec.podReplacementPolicy", value: "TerminatingOrFailed", when: "unset and spec.podFailurePolicy unset", gate: "JobPodReplacementPolicy", gateOn: true }, { path: "spec.manualSelector", value: false }], "discovery.k8s.io/v1.EndpointPort": [{ path: "name", value: "" }, { path: "protocol", value: "TCP" }], "flowcontrol.apiserver.k8s.io/v1.ExemptPriorityLevelConfiguration": [{ path: "nominalConcurrencyShares", value: 0 }, { path: "lendablePercent", value: 0 }], "flowcontrol.apiserver.k8s.io/v1.FlowSchemaSpec": [{ path: "matchingPrecedence", value: 1e3 }], "flowcontrol.apiserver.k8s.io/v1.LimitedPriorityLevelConfiguration": [{ path: "nominalConcurrencyShares", value: 30 }, { path: "lendablePercent", value: 0 }], "flowcontrol.apiserver.k8s.io/v1.QueuingConfiguration": [{ path: "handSize", value: 8 }, { path: "queues", value: 64 }, { path: "queueLengthLimit", value: 50 }], "networking.k8s.io/v1.IngressClass": [{ path: "spec.parameters.scope", value: "Cluster" }], "networking.k8s.io/v1.NetworkPolicy": [{ path: "spec.policyTypes", value: ["Ingress"], when: "empty and spec.egress empty" }, { path: "spec.policyTypes", value: ["Ingress", "Egress"], when: "empty and spec.egress non-empty" }], "networking.k8s.io/v1.NetworkPolicyPort": [{ path: "protocol", value: "TCP" }], "rbac.authorization.k8s.io/v1.ClusterRoleBinding": [{ path: "roleRef.apiGroup", value: "rbac.authorization.k8s.io" }], "rbac.authorization.k8s.io/v1.RoleBinding": [{ path: "roleRef.apiGroup", value: "rbac.authorization.k8s.io" }], "rbac.authorization.k8s.io/v1.Subject": [{ path: "apiGroup", value: "rbac.authorization.k8s.io", when: "empty and kind in User,Group" }], "resource.k8s.io/v1alpha3.DeviceRequest": [{ path: "allocationMode", value: "ExactCount" }, { path: "count", value: 1, when: "allocationMode == ExactCount and count == 0" }], "resource.k8s.io/v1beta1.DeviceRequest": [{ path: "allocationMode", value: "ExactCount" }, { path: "count", value: 1, when: "allocationMode == ExactCount and count == 0" }], "scheduling.k8s.io/v1.PriorityClass": [{ path: "preemptionPolicy", value: "PreemptLowerPriority" }], "storage.k8s.io/v1.CSIDriver": [{ path: "spec.attachRequired", value: true }, { path: "spec.podInfoOnMount", value: false }, { path: "spec.storageCapacity", value: false }, { path: "spec.fsGroupPolicy", value: "ReadWriteOnceWithFSType" }, { path: "spec.volumeLifecycleModes", value: ["Persistent"], when: "empty" }, { path: "spec.requiresRepublish", value: false }, { path: "spec.seLinuxMount", value: false, gate: "SELinuxMountReadWriteOncePod", gateOn: true }], "storage.k8s.io/v1.StorageClass": [{ path: "reclaimPolicy", value: "Delete" }, { path: "volumeBindingMode", value: "Immediate" }], "v1.ConfigMap": [{ path: "data", value: {}, when: "unset (in memory only: an empty map is left out of JSON)" }], "v1.ConfigMapVolumeSource": [{ path: "defaultMode", value: 420 }], "v1.Container": [{ path: "imagePullPolicy", value: "Always", when: "empty and image tag is latest, or image has neither tag nor digest" }, { path: "imagePullPolicy", value: "IfNotPresent", when: "empty and any other image" }, { path: "terminationMessagePath", value: "/dev/termination-log" }, { path: "terminationMessagePolicy", value: "File" }], "v1.DownwardAPIVolumeSource": [{ path: "defaultMode", value: 420 }], "v1.Endpoints": [{ path: "subsets[].ports[].protocol", value: "TCP" }], "v1.EphemeralContainer": [{ path: "imagePullPolicy", value: "Always", when: "empty and image tag is latest, or image has neither tag nor digest" }, { path: "imagePullPolicy", value: "IfNotPresent", when: "empty and any other image" }, { path: "terminationMessagePath", value: "/dev/termination-log" }, { path: "terminationMessagePolicy", value: "File" }], "v1.HTTPGetAction": [{ path: "path", value: "/" }, { path: "scheme", value: "HTTP" }], "v1.HostPathVolumeSource": [{ path: "type", value: "" }], "v1.LimitRangeItem": [{ path: "default{}", op: "add each missing key", from: "max{}", when: "type == Container" }, { path: "defaultRequest{}", op: "add each missing key", from: "default{}", when: "type == Container" }, { path: "defaultRequest{}", op: "add each missing key", from: "min{}", when: "type == Container" }], "v1.Namespace": [{ path: "metadata.labels[kubernetes.io/metadata.name]", op: "always set", from: "metadata.name", when: "metadata.name non-empty" }], "v1.NamespaceStatus": [{ path: "phase", value: "Active" }], "v1.NodeStatus": [{ path: "allocatable", from: "capacity", when: "allocatable unset and capacity set" }], "v1.ObjectFieldSelector": [{ path: "apiVersion", value: "v1" }], "v1.PersistentVolume": [{ path: "status.phase", value: "Pending" }, { path: "spec.persistentVolumeReclaimPolicy", value: "Retain" }, { path: "spec.volumeMode", value: "Filesystem" }], "v1.PersistentVolumeClaim": [{ path: "status.phase", value: "Pending" }], "v1.PersistentVolumeClaimSpec": [{ path: "volumeMode", value: "Filesystem" }], "v1.Pod": [{ path: "spec.containers[].resources.requests{}", op: "add each missing key", from: "spec.containers[].resources.limits{}", when: "limits set" }, { path: "spec.containers[].resizePolicy[]", op: "append", value: { resourceName: "cpu", restartPolicy: "NotRequired" }, when: "requests has cpu and no entry for cpu", gate: "InPlacePodVerticalScaling", gateOn: false }, { path: "spec.containers[].resizePolicy[]", op: "append", value: { resourceName: "memory", restartPolicy: "NotRequired" }, when: "requests has memory and no entry for memory", gate: "InPlacePodVerticalScaling", gateOn: false }, { path: "spec.initContainers[].resources.requests{}", op: "add each missing key", from: "spec.initContainers[].resources.limits{}", when: "limits set" }, { path: "spec.resources.requests{}", op: "add each missing key (cpu, memory, hugepages only)", from: "sum of container requests, then spec.resources.limits{}", when: "spec.resources.limits non-empty", gate: "PodLevelResources", gateOn: false }, { path: "spec.enableServiceLinks", value: true }, { path: "spec.containers[].ports[].hostPort", from: "spec.containers[].ports[].containerPort", when: "spec.hostNetwork and hostPort == 0" }, { path: "spec.initContainers[].ports[].hostPort", from: "spec.initContainers[].ports[].containerPort", when: "spec.hostNetwork and hostPort == 0" }], "v1.PodSpec": [{ path: "dnsPolicy", value: "ClusterFirst" }, { path: "restartPolicy", value: "Always" }, { path: "securityContext", value: {} }, { path: "terminationGracePeriodSeconds", value: 30 }, { path: "schedulerName", value: "default-scheduler" }], "v1.Probe": [{ path: "timeoutSeconds", value: 1 }, { path: "periodSeconds", value: 10 }, { path: "successThreshold", value: 1 }, { path: "failureThreshold", value: 3 }], "v1.ProjectedVolumeSource": [{ path: "defaultMode", value: 420 }], "v1.ReplicationController": [{ path: "spec.selector", from: "spec.template.metadata.labels", when: "spec.selector empty and template labels set" }, { path: "metadata.labels", from: "spec.template.metadata.labels", when: "metadata.labels empty and template labels set" }, { path: "spec.replicas", value: 1 }], "v1.ResourceList": [{ path: "{}", op: "round each quantity up to 1/1000 units" }], "v1.Secret": [{ path: "type", value: "Opaque" }], "v1.SecretVolumeSource": [{ path: "defaultMode", value: 420 }], "v1.Service": [{ path: "spec.sessionAffinity", value: "None" }, { path: "spec.sessionAffinityConfig", op: "clear", when: "spec.sessionAffinity == None" }, { path: "spec.sessionAffinityConfig.clientIP.timeoutSeconds", value: 10800, when: "spec.sessionAffinity == ClientIP and timeoutSeconds unset" }, { path: "spec.type", value: "ClusterIP" }, { path: "spec.ports[].protocol", value: "TCP" }, { path: "spec.ports[].targetPort", from: "spec.ports[].port", when: "targetPort unset, 0 or empty string" }, { path: "spec.externalTrafficPolicy", value: "Cluster", when: "empty and (spec.type in NodePort,LoadBalancer or (spec.type == ClusterIP and spec.externalIPs non-empty))" }, { path: "spec.internalTrafficPolicy", value: "Cluster", when: "unset and spec.type in ClusterIP,NodePort,LoadBalancer" }, { path: "spec.allocateLoadBalancerNodePorts", value: true, when: "unset and spec.type == LoadBalancer" }, { path: "status.loadBalancer.ingress[].ipMode", value: "VIP", when: "spec.type == LoadBalancer and ip non-empty and ipMode unset", gate: "LoadBalancerIPMode", gateOn: true }], "v1.ServiceAccountTokenProjection": [{ path: "expirationSeconds", value: 3600 }], "v1.Volume": [{ path: "emptyDir", value: {}, when: "no volume source field set" }, { path: "image.pullPolicy", value: "Always", when: "image set, pullPolicy empty, reference tag is latest or absent without digest", gate: "ImageVolume", gateOn: false }, { path: "image.pullPolicy", value: "IfNotPresent", when: "image set, pullPolicy empty, any other reference", gate: "ImageVolume", gateOn: false }] } };

// api/default-conditions.ts
var isEmptyValue = (value) => value === void 0 || value === null || value === "" || value === 0 || typeof value === "object" && Object.keys(value).length === 0;
var isUnset = (value) => value === void 0 || value === null;
function read(object, path) {
  let value = object;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null) return void 0;
    value = value[step];
  }
  return value;
}
function isLatestImage(image) {
  if (isEmptyValue(image)) return false;
  const text = typeof image === "string" ? image : "";
  const digest = text.indexOf("@");
  const name = digest < 0 ? text : text.slice(0, digest);
  const colon = name.indexOf(":", name.lastIndexOf("/") + 1);
  const tag = colon < 0 ? "" : name.slice(colon + 1);
  return tag === "latest" || tag === "" && digest < 0;
}
var isRolling = (root, strategy) => read(root, `spec.${strategy}.type`) === "RollingUpdate";
var templateLabels = (root) => read(root, "spec.template.metadata.labels");
var hasResizeEntry = (base, resource) => (base["resizePolicy"] ?? []).some(
  (entry) => entry["resourceName"] === resource
);
var requestOf = (base, resource) => read(base, `resources.requests.${resource}`);
var conditions = {
  empty: (_root, _base, value) => isEmptyValue(value),
  "empty and names.kind non-empty": (root, _base, value) => isEmptyValue(value) && !isEmptyValue(read(root, "names.kind")),
  "spec.updateStrategy.type == RollingUpdate and unset": (root, _base, value) => isUnset(value) && isRolling(root, "updateStrategy"),
  "spec.strategy.type == RollingUpdate and unset": (root, _base, value) => isUnset(value) && isRolling(root, "strategy"),
  // "was empty" is only known before the type is set: the compiler runs this rule ahead of the one that sets it.
  "unset and spec.updateStrategy.type was empty": (root, _base, value) => isUnset(value) && isEmptyValue(read(root, "spec.updateStrategy.type")),
  "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and partition unset": (root, _base, value) => isUnset(value) && isRolling(root, "updateStrategy") && !isUnset(read(root, "spec.updateStrategy.rollingUpdate")),
  "spec.updateStrategy.type == RollingUpdate and rollingUpdate set and maxUnavailable unset": (root, _base, value) => isUnset(value) && isRolling(root, "updateStrategy") && !isUnset(read(root, "spec.updateStrategy.rollingUpdate")),
  "unset (parent created when missing)": (_root, _base, value) => isUnset(value),
  "spec.behavior set and unset": (root, _base, value) => isUnset(value) && !isUnset(read(root, "spec.behavior")),
  "completions and parallelism both unset": (root) => isUnset(read(root, "spec.completions")) && isUnset(read(root, "spec.parallelism")),
  "unset and spec.backoffLimitPerIndex set": (root, _base, value) => isUnset(value) && !isUnset(read(root, "spec.backoffLimitPerIndex")),
  "unset and spec.backoffLimitPerIndex unset": (root, _base, value) => isUnset(value) && isUnset(read(root, "spec.backoffLimitPerIndex")),
  "metadata.labels empty and template labels set": (root, _base, value) => isEmptyValue(value) && !isEmptyValue(templateLabels(root)),
  "unset and spec.podFailurePolicy set": (root, _base, value) => isUnset(value) && !isUnset(read(root, "spec.podFailurePolicy")),
  "unset and spec.podFailurePolicy unset": (root, _base, value) => isUnset(value) && isUnset(read(root, "spec.podFailurePolicy")),
  "empty and spec.egress empty": (root, _base, value) => isEmptyValue(value) && isEmptyValue(read(root, "spec.egress")),
  "empty and spec.egress non-empty": (root, _base, value) => isEmptyValue(value) && !isEmptyValue(read(root, "spec.egress")),
  "empty and kind in User,Group": (_root, base, value) => isEmptyValue(value) && (base["kind"] === "User" || base["kind"] === "Group"),
  "allocationMode == ExactCount and count == 0": (_root, base, value) => isEmptyValue(value) && base["allocationMode"] === "ExactCount",
  // An empty map is never written, so there is nothing to set.
  "unset (in memory only: an empty map is left out of JSON)": () => false,
  "empty and image tag is latest, or image has neither tag nor digest": (_root, base, value) => isEmptyValue(value) && isLatestImage(base["image"]),
  "empty and any other image": (_root, base, value) => isEmptyValue(value) && !isLatestImage(base["image"]),
  "type == Container": (_root, base) => base["type"] === "Container",
  "metadata.name non-empty": (root) => !isEmptyValue(read(root, "metadata.name")),
  "allocatable unset and capacity set": (_root, base, value) => isUnset(value) && !isUnset(base["capacity"]),
  "limits set": (_root, base) => !isUnset(base["limits"]),
  "requests has cpu and no entry for cpu": (_root, base) => !isUnset(requestOf(base, "cpu")) && !hasResizeEntry(base, "cpu"),
  "requests has memory and no entry for memory": (_root, base) => !isUnset(requestOf(base, "memory")) && !hasResizeEntry(base, "memory"),
  "spec.resources.limits non-empty": (root) => !isEmptyValue(read(root, "spec.resources.limits")),
  "spec.hostNetwork and hostPort == 0": (root, _base, value) => isEmptyValue(value) && read(root, "spec.hostNetwork") === true,
  "spec.selector empty and template labels set": (root, _base, value) => isEmptyValue(value) && !isEmptyValue(templateLabels(root)),
  "spec.sessionAffinity == None": (root) => read(root, "spec.sessionAffinity") === "None",
  "spec.sessionAffinity == ClientIP and timeoutSeconds unset": (root, _base, value) => isUnset(value) && read(root, "spec.sessionAffinity") === "ClientIP",
  "targetPort unset, 0 or empty string": (_root, _base, value) => isEmptyValue(value),
  "empty and (spec.type in NodePort,LoadBalancer or (spec.type == ClusterIP and spec.externalIPs non-empty))": (root, _base, value) => {
    const type = read(root, "spec.type");
    return isEmptyValue(value) && (type === "NodePort" || type === "LoadBalancer" || type === "ClusterIP" && !isEmptyValue(read(root, "spec.externalIPs")));
  },
  "unset and spec.type in ClusterIP,NodePort,LoadBalancer": (root, _base, value) => isUnset(value) && ["ClusterIP", "NodePort", "LoadBalancer"].includes(
    String(read(root, "spec.type"))
  ),
  "unset and spec.type == LoadBalancer": (root, _base, value) => isUnset(value) && read(root, "spec.type") === "LoadBalancer",
  "spec.type == LoadBalancer and ip non-empty and ipMode unset": (root, base, value) => isUnset(value) && read(root, "spec.type") === "LoadBalancer" && !isEmptyValue(base["ip"]),
  "no volume source field set": (_root, base) => Object.keys(base).every(
    (field) => field === "name" || isUnset(base[field])
  ),
  "image set, pullPolicy empty, reference tag is latest or absent without digest": (_root, base, value) => isEmptyValue(value) && isLatestImage(base["reference"]),
  "image set, pullPolicy empty, any other reference": (_root, base, value) => isEmptyValue(value) && !isLatestImage(base["reference"])
};
function sumOfContainerRequests(root) {
  const sum = {};
  for (const container of read(root, "spec.containers") ?? []) {
    for (const [name, amount] of Object.entries(
      read(container, "resources.requests") ?? {}
    ))
      sum[name] = sum[name] === void 0 ? amount : addQuantities(sum[name], amount);
  }
  return sum;
}
var sources = {
  "name of the spec.versions[] entry with storage true": (root) => {
    const stored = (read(root, "spec.versions") ?? []).find((version) => version["storage"]);
    return stored ? [stored["name"]] : void 0;
  },
  "lower-case names.kind": (root) => String(read(root, "names.kind") ?? "").toLowerCase() || void 0,
  "names.kind + List": (root) => `${String(read(root, "names.kind"))}List`,
  "sum of container requests, then spec.resources.limits{}": (root) => {
    const kept = Object.entries({
      ...read(root, "spec.resources.limits"),
      ...sumOfContainerRequests(root)
    }).filter(
      ([name]) => name === "cpu" || name === "memory" || name.startsWith("hugepages-")
    );
    return Object.fromEntries(kept);
  }
};

// api/defaults.ts
var rulesByType = defaults_default.types;
var CREATED_PARENTS = {
  "v1.Service": [
    "spec.sessionAffinityConfig",
    "spec.sessionAffinityConfig.clientIP"
  ],
  "apps/v1.Deployment": ["spec.strategy.rollingUpdate"],
  "apps/v1.DaemonSet": ["spec.updateStrategy.rollingUpdate"],
  "apps/v1.StatefulSet": ["spec.persistentVolumeClaimRetentionPolicy"],
  "autoscaling/v2.HorizontalPodAutoscaler": [
    "spec.behavior.scaleUp",
    "spec.behavior.scaleDown"
  ]
};
function createDefaulter(gates = {}) {
  const byKind = /* @__PURE__ */ new Map();
  const compiler = new Compiler(gates);
  return (object, { group: group2, version, kind: kind2 }) => {
    const key2 = `${group2}/${version}/${kind2}`;
    let apply = byKind.get(key2);
    if (apply === void 0 && !byKind.has(key2)) {
      const schema = schemaFor(group2, version, kind2);
      apply = schema && compiler.type(schema);
      byKind.set(key2, apply);
    }
    apply?.(object);
  };
}
function* typesOf(fullName) {
  const message = messageNamed(fullName);
  if (!message) return;
  const version = versionOfPackage(
    fullName.slice(0, fullName.lastIndexOf("."))
  );
  yield `${version}.${message.name}`;
  for (const field of message.fields)
    if (field.inlined) yield* typesOf(field.message);
}
var Compiler = class {
  #gates;
  #done = /* @__PURE__ */ new Map();
  constructor(gates) {
    this.#gates = gates;
  }
  /** undefined: nothing in that type ever needs a default. */
  type(schema) {
    if (this.#done.has(schema)) return this.#done.get(schema);
    this.#done.set(schema, void 0);
    const steps = [];
    for (const type of typesOf(schema.name)) {
      for (const rule of rulesByType[type] ?? []) {
        if (rule.gate && !(this.#gates[rule.gate] ?? rule.gateOn)) continue;
        const step = compileRule(rule, schema, CREATED_PARENTS[type] ?? []);
        if (rule.when?.includes("was empty")) steps.unshift(step);
        else steps.push(step);
      }
    }
    steps.push(...mirrorsOf(schema.name));
    for (const field of schema.fields.values()) {
      if (field.default !== void 0) steps.push(declaredDefault(field));
      const inner = this.#inside(field, schema);
      if (inner) steps.push(inner);
    }
    const apply = steps.length === 0 ? void 0 : (object) => {
      for (const step of steps) step(object);
    };
    this.#done.set(schema, apply);
    return apply;
  }
  #inside(field, owner) {
    const { name, schema } = field;
    if (isResourceList(field, owner)) {
      return (object) => {
        const amounts = object[name];
        if (amounts) roundAll(amounts);
      };
    }
    const element = schema.type === "list" ? schema.items : schema.type === "map" ? schema.values : schema;
    const apply = element.type === "object" ? this.type(element) : void 0;
    if (!apply) return void 0;
    switch (schema.type) {
      case "list":
        return (object) => {
          const list = object[name];
          if (Array.isArray(list)) {
            for (const item of list) if (item) apply(item);
          }
        };
      case "map":
        return (object) => {
          const map = object[name];
          if (map) for (const item of Object.values(map)) apply(item);
        };
      default:
        if (field.nullable) {
          return (object) => {
            const inner = object[name];
            if (typeof inner === "object" && inner !== null)
              apply(inner);
          };
        }
        return (object) => apply(objectAt(object, name));
    }
  }
};
function objectAt(object, name) {
  const inner = object[name];
  if (typeof inner === "object" && inner !== null) return inner;
  const made = {};
  object[name] = made;
  return made;
}
function isResourceList({ schema }, owner) {
  return schema.type === "map" && schema.values.type === "quantity" && owner.name.startsWith("io.k8s.api.core.v1.");
}
function roundAll(amounts) {
  for (const name in amounts) {
    const text = amounts[name];
    if (typeof text === "string" && /[nue]/.test(text))
      amounts[name] = roundUpToMilli(text);
  }
}
function roundUpToMilli(text) {
  const quantity2 = parseQuantity(text);
  const rounded = canonicalQuantity(`${quantityMilliValue(quantity2)}m`);
  return compareQuantities(rounded, quantity2) === 0 ? text : rounded;
}
function copy(value) {
  return typeof value === "object" && value !== null ? copyJson(value) : value;
}
function declaredDefault({
  name,
  default: value,
  nullable
}) {
  return (object) => {
    const present = object[name];
    if (present === void 0 || present === null || !nullable && isEmptyValue(present))
      object[name] = copy(value);
  };
}
function compileRule(rule, schema, created) {
  const condition = conditionOf(rule);
  const steps = rule.path.split(/\.(?![^[]*\])/);
  const last = steps.pop();
  const field = last.replace(/\[.*\]|\{\}/, "");
  const set = setterOf(
    rule,
    last,
    field,
    condition,
    isNullable(rule.path, schema)
  );
  return compileHolders(steps, schema, created, condition, set);
}
function conditionOf({ when }) {
  if (when === void 0) return void 0;
  const found = conditions[when];
  if (!found) throw new Error(`defaults: unknown condition "${when}"`);
  return found;
}
function compileHolders(steps, schema, created, condition, set) {
  let node = schema;
  const plan = [];
  const path = [];
  for (const step of steps) {
    const name = step.replace("[]", "");
    path.push(name);
    const field = node?.type === "object" ? node.fields.get(name) : void 0;
    const list = step.endsWith("[]");
    const named2 = created.includes(path.join("."));
    plan.push({
      name,
      list,
      create: named2 || field !== void 0 && !list && !field.nullable,
      ask: named2
    });
    const inner = field?.schema;
    node = inner?.type === "list" ? inner.items : inner;
  }
  const descend = (root, object, at) => {
    const step = plan[at];
    if (!step) return set(root, object);
    let inner = object[step.name];
    if (inner === void 0 || inner === null) {
      if (!step.create) return;
      if (step.ask && condition && !condition(root, {}, void 0)) return;
      inner = objectAt(object, step.name);
    }
    if (!step.list) return descend(root, inner, at + 1);
    if (Array.isArray(inner)) {
      for (const item of inner) if (item) descend(root, item, at + 1);
    }
  };
  return (root) => descend(root, root, 0);
}
function isNullable(path, schema) {
  let node = schema;
  let field;
  for (const step of path.split(".")) {
    field = node?.type === "object" ? node.fields.get(step.replace(/\[\]|\{\}/, "")) : void 0;
    node = field?.schema.type === "list" ? field.schema.items : field?.schema;
  }
  return field?.nullable ?? false;
}
function setterOf(rule, last, field, condition, nullable) {
  const holds = (root, holder) => {
    const value = holder[field];
    if (condition) return condition(root, holder, value);
    return value === void 0 || value === null || !nullable && (value === "" || value === 0);
  };
  const source = sourceOf(rule);
  switch (rule.op) {
    case void 0:
      return (root, holder) => {
        if (!holds(root, holder)) return;
        const value = source(root, holder);
        if (value !== void 0 && value !== null) holder[field] = copy(value);
      };
    case "always set": {
      const key2 = /\[(.+)\]/.exec(last)[1];
      return (root, holder) => {
        if (!condition || condition(root, holder, holder[field]))
          objectAt(holder, field)[key2] = source(root, holder);
      };
    }
    case "clear":
      return (root, holder) => {
        if (holder[field] !== void 0 && holds(root, holder))
          delete holder[field];
      };
    case "append":
      return (root, holder) => {
        if (holds(root, holder))
          holder[field] = [
            ...holder[field] ?? [],
            copy(rule.value)
          ];
      };
    case "add each missing key":
    case "add each missing key (cpu, memory, hugepages only)":
      return (root, holder) => {
        if (condition && !condition(root, holder, holder[field])) return;
        const from = source(root, holder);
        if (isEmptyValue(from)) return;
        const target = objectAt(holder, field);
        for (const key2 in from)
          if (target[key2] === void 0) target[key2] = from[key2];
      };
    case "round each quantity up to 1/1000 units":
      return () => void 0;
    default:
      throw new Error(`defaults: unknown operation "${rule.op}"`);
  }
}
function sourceOf(rule) {
  const { from, value } = rule;
  if (from === void 0) return () => value;
  const special = sources[from];
  if (special) return special;
  if (!/^[\w.[\]{}]+$/.test(from))
    throw new Error(`defaults: unknown source "${from}"`);
  const plain = from.replace("{}", "");
  const shared = plain.lastIndexOf("[].");
  if (shared >= 0) {
    const fieldPath = plain.slice(shared + 3).split(".");
    const name = fieldPath.at(-1);
    return (_root, holder) => holder[name];
  }
  if (!plain.includes(".")) return (_root, holder) => holder[plain];
  return (root) => read(root, plain);
}
function mirrorsOf(typeName) {
  switch (typeName) {
    case "io.k8s.api.core.v1.PodSpec":
      return [
        (spec) => {
          const account = spec["serviceAccountName"] || spec["serviceAccount"];
          if (account)
            spec["serviceAccountName"] = spec["serviceAccount"] = account;
        }
      ];
    case "io.k8s.api.core.v1.PodStatus":
      return [
        (status) => {
          const ips = status["podIPs"];
          const first = ips?.[0]?.ip;
          if (status["podIP"] && status["podIP"] !== first)
            status["podIPs"] = [{ ip: status["podIP"] }];
          else if (!status["podIP"] && first) status["podIP"] = first;
        }
      ];
    case "io.k8s.api.core.v1.Secret":
      return [
        (secret) => {
          const texts = secret["stringData"];
          if (!texts) return;
          const data = objectAt(secret, "data");
          for (const [key2, text] of Object.entries(texts))
            Object.defineProperty(data, key2, {
              value: Buffer.from(String(text)).toString("base64"),
              writable: true,
              enumerable: true,
              configurable: true
            });
          delete secret["stringData"];
        }
      ];
    default:
      return [];
  }
}
var applyDefaults = createDefaulter();

// apiserver-lite/registry/legacy-versions.ts
var MAX_INT32 = 2147483647;
var fromTemplate = ({ metadata, spec }) => {
  const labels2 = spec?.template?.metadata?.labels;
  if (!labels2) return;
  if (Object.keys(metadata.labels ?? {}).length === 0)
    metadata.labels = { ...labels2 };
  spec.selector ??= { matchLabels: { ...labels2 } };
};
var annotate = (field, name, textOf) => ({ metadata, spec }) => {
  if (spec?.[field] === void 0) return;
  (metadata.annotations ??= {})[name] = textOf(spec[field]);
  delete spec[field];
};
var rollbackTo = annotate(
  "rollbackTo",
  "deprecated.deployment.rollback.to",
  ({ revision }) => String(revision ?? 0)
);
var templateGeneration = annotate(
  "templateGeneration",
  "deprecated.daemonset.template.generation",
  String
);
var oldDeployment = ({ spec }) => {
  if (!spec) return;
  spec.revisionHistoryLimit ??= MAX_INT32;
  spec.progressDeadlineSeconds ??= MAX_INT32;
  spec.strategy ??= {};
  if ((spec.strategy.type ??= "RollingUpdate") !== "RollingUpdate") return;
  const rolling = spec.strategy.rollingUpdate ??= {};
  rolling.maxSurge ??= 1;
  rolling.maxUnavailable ??= 1;
};
var betaDeployment = ({ spec }) => {
  if (spec) spec.revisionHistoryLimit ??= 2;
};
var onDelete = ({ spec }) => {
  if (spec) (spec.updateStrategy ??= {}).type ??= "OnDelete";
};
function backend(old) {
  const { serviceName, servicePort, ...rest } = old;
  if (serviceName === void 0 && servicePort === void 0) return rest;
  const numeric = typeof servicePort === "number" || /^\d+$/.test(servicePort);
  const port = numeric ? { number: Number(servicePort) } : { name: String(servicePort) };
  return { ...rest, service: { name: serviceName ?? "", port } };
}
var ingress = ({ spec }) => {
  if (!spec) return;
  if (spec.backend) spec.defaultBackend = backend(spec.backend);
  delete spec.backend;
  for (const { http } of spec.rules ?? [])
    for (const path of http?.paths ?? []) {
      path.pathType ??= "ImplementationSpecific";
      path.backend = backend(path.backend ?? {});
    }
};
var ZONE = "topology.kubernetes.io/zone";
var endpointSlice = ({ endpoints = [] }) => {
  for (const endpoint2 of endpoints) {
    if (!endpoint2.topology) continue;
    const { [ZONE]: zone, ...others } = endpoint2.topology;
    if (zone !== void 0) endpoint2.zone = zone;
    if (Object.keys(others).length > 0) endpoint2.deprecatedTopology = others;
    delete endpoint2.topology;
  }
};
var priorityLevel = ({ spec }) => {
  const { limited } = spec ?? {};
  if (limited?.assuredConcurrencyShares === void 0) return;
  limited.nominalConcurrencyShares = limited.assuredConcurrencyShares;
  delete limited.assuredConcurrencyShares;
};
var signingRequest = ({ spec }) => {
  if (!spec) return;
  spec.signerName ??= "kubernetes.io/legacy-unknown";
  spec.usages ??= ["digital signature", "key encipherment"];
};
var webhooks = (configuration) => {
  for (const webhook of configuration.webhooks ?? []) {
    webhook.admissionReviewVersions ??= ["v1beta1"];
    webhook.failurePolicy ??= "Ignore";
    webhook.matchPolicy ??= "Exact";
    webhook.sideEffects ??= "Unknown";
    webhook.timeoutSeconds ??= 30;
  }
};
var upgrades = {
  "extensions/v1beta1 Deployment": [fromTemplate, rollbackTo, oldDeployment],
  "apps/v1beta1 Deployment": [fromTemplate, rollbackTo, betaDeployment],
  "apps/v1beta1 StatefulSet": [fromTemplate, onDelete],
  "extensions/v1beta1 DaemonSet": [fromTemplate, templateGeneration, onDelete],
  "extensions/v1beta1 ReplicaSet": [fromTemplate],
  "extensions/v1beta1 Ingress": [ingress],
  "networking.k8s.io/v1beta1 Ingress": [ingress],
  "discovery.k8s.io/v1beta1 EndpointSlice": [endpointSlice],
  "flowcontrol.apiserver.k8s.io/v1alpha1 PriorityLevelConfiguration": [
    priorityLevel
  ],
  "flowcontrol.apiserver.k8s.io/v1beta1 PriorityLevelConfiguration": [
    priorityLevel
  ],
  "flowcontrol.apiserver.k8s.io/v1beta2 PriorityLevelConfiguration": [
    priorityLevel
  ],
  "certificates.k8s.io/v1beta1 CertificateSigningRequest": [signingRequest],
  "admissionregistration.k8s.io/v1beta1 ValidatingWebhookConfiguration": [
    webhooks
  ],
  "admissionregistration.k8s.io/v1beta1 MutatingWebhookConfiguration": [
    webhooks
  ]
};
function upgradeLegacy(object) {
  for (const upgrade of upgrades[`${object.apiVersion} ${object.kind}`] ?? [])
    upgrade(object);
}

// apiserver-lite/registry/convert-event.ts
var renamed = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"]
];
function rename(object, from) {
  const names = new Map(
    renamed.map((pair2) => [pair2[from], pair2[1 - from]])
  );
  const result = { metadata: object.metadata };
  for (const [key2, value] of Object.entries(object))
    result[names.get(key2) ?? key2] = value;
  return result;
}
var eventFromCore = (object) => rename(object, 0);
var eventToCore = (object) => rename(object, 1);

// apiserver-lite/registry/autoscaler-metrics.ts
var flat = {
  resource: {
    target: {
      averageUtilization: "targetAverageUtilization",
      averageValue: "targetAverageValue"
    },
    current: {
      averageUtilization: "currentAverageUtilization",
      averageValue: "currentAverageValue"
    }
  },
  pods: {
    target: { averageValue: "targetAverageValue" },
    current: { averageValue: "currentAverageValue" }
  },
  object: {
    target: { value: "targetValue", averageValue: "averageValue" },
    current: { value: "currentValue", averageValue: "averageValue" }
  },
  external: {
    target: { value: "targetValue", averageValue: "targetAverageValue" },
    current: { value: "currentValue", averageValue: "currentAverageValue" }
  }
};
var namesOf = (source, side) => Object.entries(
  (flat[source] ?? flat["resource"])[side]
);
var sourceOf2 = ({ type }) => type.charAt(0).toLowerCase() + type.slice(1);
function metricsToV1(metrics, side) {
  return metrics.map((metric) => {
    const source = sourceOf2(metric);
    const given = metric[source];
    if (!given) return metric;
    const {
      metric: identified,
      describedObject,
      [side]: value,
      name,
      ...rest
    } = given;
    const { selector } = identified ?? {};
    const external = source === "external";
    const shown2 = {
      ...describedObject ? { target: describedObject } : {},
      ...name ? { name } : {},
      ...identified?.name ? { metricName: identified.name } : {},
      ...selector && external ? { metricSelector: selector } : {}
    };
    for (const [field, flatName] of namesOf(source, side)) {
      const found = value?.[field];
      if (found !== void 0) shown2[flatName] = found;
    }
    if (selector && !external) shown2["selector"] = selector;
    Object.assign(shown2, rest);
    return { type: metric.type, [source]: shown2 };
  });
}
function metricsFromV1(metrics, side) {
  return metrics.map((metric) => {
    const source = sourceOf2(metric);
    const given = metric[source];
    if (!given || source !== "object" && given[side]) return metric;
    const rest = { ...given };
    const take = (name) => {
      const value2 = rest[name];
      delete rest[name];
      return value2;
    };
    const value = {};
    for (const [name, flatName] of namesOf(source, side)) {
      const found = take(flatName);
      if (found !== void 0) value[name] = found;
    }
    if (side === "target") value["type"] = targetType(value);
    const metricName2 = take("metricName");
    const selector = take(
      source === "external" ? "metricSelector" : "selector"
    );
    const described = source === "object" ? take("target") : void 0;
    return {
      type: metric.type,
      [source]: {
        ...described ? { describedObject: described } : {},
        ...rest,
        ...metricName2 ? { metric: { name: metricName2, ...selector ? { selector } : {} } } : {},
        [side]: value
      }
    };
  });
}
function behaviorToV1(behavior) {
  return inOrder(
    renamed2(behavior, (name) => name[0].toUpperCase() + name.slice(1))
  );
}
function behaviorFromV1(behavior) {
  return renamed2(behavior, (name) => name[0].toLowerCase() + name.slice(1));
}
function renamed2(value, rename2) {
  if (Array.isArray(value)) return value.map((each) => renamed2(each, rename2));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => name !== "").map(([name, field]) => [rename2(name), renamed2(field, rename2)])
  );
}
var behaviorOrder = [
  "ScaleUp",
  "ScaleDown",
  "StabilizationWindowSeconds",
  "SelectPolicy",
  "Policies",
  "Type",
  "Value",
  "PeriodSeconds"
];
function inOrder(value) {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const place = ([name]) => behaviorOrder.indexOf(name);
  return Object.fromEntries(
    Object.entries(value).sort((a, b) => place(a) - place(b)).map(([name, field]) => [name, inOrder(field)])
  );
}
function targetType(target) {
  if (target["averageUtilization"] !== void 0) return "Utilization";
  return target["averageValue"] === void 0 ? "Value" : "AverageValue";
}

// apiserver-lite/registry/convert-autoscaler.ts
var metricsKey = "autoscaling.alpha.kubernetes.io/metrics";
var currentKey = "autoscaling.alpha.kubernetes.io/current-metrics";
var conditionsKey = "autoscaling.alpha.kubernetes.io/conditions";
var behaviorKey = "autoscaling.alpha.kubernetes.io/behavior";
function parse(text) {
  if (text === void 0) return void 0;
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
}
function isCpu(metric) {
  return metric.type === "Resource" && metric.resource?.name === "cpu";
}
function hpaFromV1(object) {
  const { targetCPUUtilizationPercentage, ...spec } = object["spec"] ?? {};
  const { currentCPUUtilizationPercentage, ...status } = object["status"] ?? {};
  const annotations = { ...object.metadata.annotations };
  const listed = (key2) => {
    const value = parse(annotations[key2]);
    return Array.isArray(value) ? value : [];
  };
  const metrics = metricsFromV1(listed(metricsKey), "target");
  const current = metricsFromV1(listed(currentKey), "current");
  const conditions3 = parse(annotations[conditionsKey]);
  const behavior = behaviorFromV1(parse(annotations[behaviorKey]));
  for (const key2 of [metricsKey, currentKey, conditionsKey, behaviorKey])
    delete annotations[key2];
  if (typeof targetCPUUtilizationPercentage === "number") {
    const averageUtilization = targetCPUUtilizationPercentage;
    metrics.push({
      type: "Resource",
      resource: {
        name: "cpu",
        target: { type: "Utilization", averageUtilization }
      }
    });
  }
  if (typeof currentCPUUtilizationPercentage === "number" && !current.some(isCpu)) {
    current.push({
      type: "Resource",
      resource: {
        name: "cpu",
        current: { averageUtilization: currentCPUUtilizationPercentage }
      }
    });
  }
  return {
    ...object,
    metadata: withAnnotations(object, annotations),
    spec: {
      ...spec,
      ...metrics.length > 0 ? { metrics } : {},
      ...behavior ? { behavior } : {}
    },
    status: {
      ...status,
      ...current.length > 0 ? { currentMetrics: current } : {},
      ...conditions3 ? { conditions: conditions3 } : {}
    }
  };
}
function hpaToV1(object) {
  const {
    metrics = [],
    behavior,
    ...spec
  } = object["spec"] ?? {};
  const {
    currentMetrics = [],
    conditions: conditions3,
    ...status
  } = object["status"] ?? {};
  const annotations = { ...object.metadata.annotations };
  const cpu = metrics.find(
    (metric) => isCpu(metric) && metric.resource?.target?.averageUtilization !== void 0
  );
  const currentCpu = currentMetrics?.find(
    (metric) => isCpu(metric) && metric.resource?.current?.averageUtilization
  );
  const others = metrics.filter((metric) => metric !== cpu);
  if (others.length > 0)
    annotations[metricsKey] = JSON.stringify(metricsToV1(others, "target"));
  if (currentMetrics.length > 0)
    annotations[currentKey] = JSON.stringify(
      metricsToV1(currentMetrics, "current")
    );
  if (Array.isArray(conditions3) && conditions3.length > 0)
    annotations[conditionsKey] = JSON.stringify(conditions3);
  if (behavior)
    annotations[behaviorKey] = JSON.stringify(behaviorToV1(behavior));
  const target = cpu?.resource?.target?.averageUtilization;
  const current = currentCpu?.resource?.current?.averageUtilization;
  return {
    ...object,
    metadata: withAnnotations(object, annotations),
    spec: {
      ...spec,
      ...target === void 0 ? {} : { targetCPUUtilizationPercentage: target }
    },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...current === void 0 ? {} : { currentCPUUtilizationPercentage: current }
    }
  };
}
function withAnnotations(object, annotations) {
  const { annotations: _, ...metadata } = object.metadata;
  return Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata;
}

// apiserver-lite/registry/conversion.ts
function convertObject(object, apiVersion) {
  if (object.apiVersion === apiVersion) return object;
  const converted = convertShape(object, apiVersion);
  return { ...converted, kind: object.kind, apiVersion };
}
function convertShape(object, apiVersion) {
  switch (`${object.kind} ${object.apiVersion} ${apiVersion}`) {
    case "Event v1 events.k8s.io/v1":
      return eventFromCore(object);
    case "Event events.k8s.io/v1 v1":
      return eventToCore(object);
    case "HorizontalPodAutoscaler autoscaling/v1 autoscaling/v2":
      return hpaFromV1(object);
    case "HorizontalPodAutoscaler autoscaling/v2 autoscaling/v1":
      return hpaToV1(object);
    default:
      return object;
  }
}

// apiserver-lite/registry/endpoint.ts
var StoredKind = class {
  constructor(prefix, namespaced, group2, resource, kind2, apiVersion, strategy, codec) {
    this.prefix = prefix;
    this.namespaced = namespaced;
    this.group = group2;
    this.resource = resource;
    this.kind = kind2;
    this.apiVersion = apiVersion;
    this.strategy = strategy;
    this.codec = codec;
  }
  prefix;
  namespaced;
  group;
  resource;
  kind;
  apiVersion;
  strategy;
  codec;
  /** Set when the watch cache has loaded it. */
  cache;
  get version() {
    return parseApiVersion(this.apiVersion).version;
  }
  /** What other servers wrote may be older than a default. */
  decode(value) {
    let object = this.codec.decode(value);
    const { foreign } = this.codec;
    if (foreign) this.#checkKind(object);
    object.kind = this.kind;
    if (foreign) {
      upgradeLegacy(object);
      this.#setDefaults(object);
    }
    if (object.apiVersion !== this.apiVersion) {
      object = convertObject(object, this.apiVersion);
      if (foreign) this.#setDefaults(object);
    }
    if (foreign) this.strategy.setDefaults?.(object);
    return object;
  }
  /** What lies under the wrong key is not taken for an object of this kind. */
  #checkKind({ kind: kind2 = "", apiVersion = "" }) {
    const { group: group2, version } = parseApiVersion(apiVersion);
    if (!schemaFor(group2, version, kind2) && this.#isTyped())
      throw new TypeError(
        `no kind ${JSON.stringify(kind2)} is registered for version ${JSON.stringify(apiVersion)}`
      );
    if (kind2 !== this.kind)
      throw new TypeError(
        `converting (${version}.${kind2}) to (${this.kind}): unknown conversion`
      );
  }
  /** Not a custom resource. */
  #isTyped() {
    const { group: group2, version } = parseApiVersion(this.apiVersion);
    return schemaFor(group2, version, this.kind) !== void 0;
  }
  #setDefaults(object) {
    const { kind: kind2 } = this;
    applyDefaults(object, { ...parseApiVersion(object.apiVersion), kind: kind2 });
  }
  encode(object, json) {
    return this.codec.encode(object, json);
  }
  fieldsOf(object) {
    return this.strategy.selectableFields?.(object) ?? noFields2;
  }
  keyOf(namespace, name) {
    return this.namespaced ? `${namespace}/${name}` : name;
  }
  storeKey(key2) {
    return `${this.prefix}/${key2}`;
  }
};
var noRules = Object.freeze({});
var noFields2 = Object.freeze({});
var Endpoint = class {
  constructor(info2, stored, strategy, schema) {
    this.info = info2;
    this.stored = stored;
    this.strategy = strategy;
    this.schema = schema;
    this.apiVersion = apiVersionOf(info2);
    this.hasStatus = info2.subresources.some(({ name }) => name === "status");
    this.itemSkip = Buffer.byteLength(
      `${JSON.stringify({ kind: info2.kind, apiVersion: this.apiVersion }).slice(0, -1)},`
    );
  }
  info;
  stored;
  strategy;
  schema;
  apiVersion;
  hasStatus;
  /** The constant beginning of its JSON that list items leave out: `{"kind":…,"apiVersion":…,`. */
  itemSkip;
  /** The rules of a subresource that writes a part of the object itself. */
  part(subresource) {
    const { status, parts: parts2 } = this.strategy;
    return subresource === "status" ? status ?? noRules : parts2?.[subresource];
  }
  /** Is it the object itself that is read and written under this subresource ("": its own path)? */
  isObject(subresource) {
    return subresource === "" || this.part(subresource) !== void 0;
  }
  /** Is the served version the stored one? Then bytes are shared as they are. */
  get native() {
    return this.stored?.apiVersion === this.apiVersion;
  }
  /** From the stored form into the served one. May give back the same object. */
  toServed(object) {
    return this.native ? object : convertObject(object, this.apiVersion);
  }
  toStored(object) {
    if (!this.stored || this.native) return object;
    return convertObject(object, this.stored.apiVersion);
  }
};

// api/go-syntax.ts
var GoValue = class {
  constructor(type, value) {
    this.type = type;
    this.value = value;
  }
  type;
  value;
  /** As in an error: what the value points at, "null" for a pointer to nothing. */
  toString() {
    const missing = this.value === void 0 || this.value === null;
    if (!this.type.startsWith("*")) return goSyntax(this.type, this.value);
    return missing ? '"null"' : goSyntax(this.type.slice(1), this.value);
  }
};
var asGo = (type, value) => new GoValue(type, value);
var META5 = "io.k8s.apimachinery.pkg.apis.meta.v1";
var ADDRESS = "0xc000000000";
var versions = {
  admissionregistration: "admissionregistration.k8s.io/v1",
  apps: "apps/v1",
  authorization: "authorization.k8s.io/v1",
  autoscaling: "autoscaling/v2",
  batch: "batch/v1",
  certificates: "certificates.k8s.io/v1",
  coordination: "coordination.k8s.io/v1",
  core: "v1",
  discovery: "discovery.k8s.io/v1",
  flowcontrol: "flowcontrol.apiserver.k8s.io/v1",
  networking: "networking.k8s.io/v1",
  node: "node.k8s.io/v1",
  policy: "policy/v1",
  rbac: "rbac.authorization.k8s.io/v1",
  scheduling: "scheduling.k8s.io/v1",
  storage: "storage.k8s.io/v1"
};
var packageNames = new Map(
  Object.entries(versions).map(([name, version]) => [
    packageOfVersion(version),
    name
  ])
);
var scalarTypes = {
  string: "string",
  bool: "bool",
  bytes: "[]uint8",
  int32: "int32",
  int64: "int64",
  double: "float64"
};
var namedTypes = {
  accessModes: "[]core.PersistentVolumeAccessMode",
  limits: "core.ResourceList",
  requests: "core.ResourceList",
  policyTypes: "[]networking.PolicyType",
  usages: "[]certificates.KeyUsage",
  volumeLifecycleModes: "[]storage.VolumeLifecycleMode",
  protocol: "core.Protocol",
  unhealthyPodEvictionPolicy: "policy.UnhealthyPodEvictionPolicyType"
};
var initialisms = {
  apiVersion: "APIVersion",
  apiGroup: "APIGroup",
  apiGroups: "APIGroups",
  uid: "UID",
  nonResourceURLs: "NonResourceURLs",
  dnsPolicy: "DNSPolicy",
  dnsConfig: "DNSConfig",
  ip: "IP",
  cidr: "CIDR",
  host: "Host",
  url: "URL",
  caBundle: "CABundle",
  tls: "TLS"
};
var leadingFields = {
  "v1.OwnerReference": "apiVersion"
};
var valueFields = /* @__PURE__ */ new Set([
  "apps.RollingUpdateStatefulSetStrategy.partition"
]);
var fieldName = (name) => initialisms[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
function messageType(fullName) {
  const dot = fullName.lastIndexOf(".");
  const [inside, name] = [fullName.slice(0, dot), fullName.slice(dot + 1)];
  if (inside === META5) return `v1.${name}`;
  return `${packageNames.get(inside) ?? inside.slice(inside.lastIndexOf(".") + 1)}.${name}`;
}
function messageOf2(type) {
  const [inside = "", name = ""] = type.split(".");
  return messageNamed(
    `${inside === "v1" ? META5 : packageOfVersion(versions[inside] ?? "")}.${name}`
  );
}
function elementType({ scalar, message }) {
  return scalar ? scalarTypes[scalar] : messageType(message);
}
function typeOfField(field) {
  const element = elementType(field);
  const named2 = namedTypes[field.jsonName];
  if (named2 && (field.label !== "one" || field.nullable))
    return field.nullable && field.label === "one" ? `*${named2}` : named2;
  if (field.label === "list") return `[]${element}`;
  if (field.label === "map") return `map[string]${element}`;
  return field.nullable ? `*${element}` : element;
}
var elementOfNamed = {
  "core.ResourceList": "resource.Quantity"
};
function goSyntax(type, value) {
  if (type === "[]byte") return bytesOf(type, value);
  const missing = value === void 0 || value === null;
  if (type.startsWith("*"))
    return missing ? `(${type})(nil)` : `(${type})(${ADDRESS})`;
  if (type.startsWith("[]")) {
    if (missing) return `${type}(nil)`;
    const element = type.slice(2);
    return `${type}{${value.map((each) => goSyntax(element, each)).join(", ")}}`;
  }
  const inMap = type.startsWith("map[string]") ? type.slice("map[string]".length) : elementOfNamed[type];
  if (inMap !== void 0) {
    if (missing) return `${type}(nil)`;
    const entries2 = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key2, each]) => `${JSON.stringify(key2)}:${goSyntax(inMap, each)}`);
    return `${type}{${entries2.join(", ")}}`;
  }
  switch (type) {
    case "bool":
      return String(value ?? false);
    case "int32":
    case "int64":
    case "float64":
      return String(value ?? 0);
    case "intstr.IntOrString":
      return typeof value === "string" ? `intstr.IntOrString{Type:1, IntVal:0, StrVal:${JSON.stringify(value)}}` : `intstr.IntOrString{Type:0, IntVal:${Number(value ?? 0)}, StrVal:""}`;
    // What says itself how it is shown.
    case "Stringer":
      return timeText(String(value));
    case "resource.Quantity":
      return quantitySyntax(value ?? "0");
    case "runtime.RawExtension":
      return `runtime.RawExtension{Raw:${bytesSyntax(value)}, Object:runtime.Object(nil)}`;
    case "v1.Time":
    case "v1.MicroTime":
      return timeSyntax(value);
  }
  const message = messageOf2(type);
  if (!message) return JSON.stringify(value ?? "");
  const object = value ?? {};
  const typeOf = (field) => valueFields.has(`${type}.${field.jsonName}`) ? typeOfField(field).slice(1) : typeOfField(field);
  const leads = (field) => field.jsonName === leadingFields[type];
  const fields2 = [
    ...message.fields.filter(leads),
    ...message.fields.filter((field) => !leads(field))
  ].map(
    (field) => `${fieldName(field.jsonName)}:${goSyntax(typeOf(field), object[field.jsonName])}`
  );
  return `${type}{${fields2.join(", ")}}`;
}
var timeText = (time) => `${time.slice(0, 10)} ${time.slice(11, 19)} +0000 UTC`;
function quantitySyntax(text) {
  const [, number2 = "0", suffix = ""] = /^(-?[0-9.]+)([^]*)$/.exec(text) ?? [];
  const power = "num kMGTPE".indexOf(suffix);
  const binary = suffix.endsWith("i");
  const scale = binary || suffix === "" ? 0 : (power - 3) * 3;
  const value = binary ? BigInt(number2) << BigInt("KMGTPE".indexOf(suffix[0]) * 10 + 10) : number2;
  return `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:"${binary ? "BinarySI" : "DecimalSI"}"}`;
}
function bytesOf(type, bytes) {
  if (!bytes) return `${type}(nil)`;
  const shown2 = [...bytes].map((byte) => `0x${byte.toString(16)}`);
  return `${type}{${shown2.join(", ")}}`;
}
function bytesSyntax(value) {
  const missing = value === void 0 || value === null;
  return bytesOf(
    "[]uint8",
    missing ? void 0 : Buffer.from(JSON.stringify(value))
  );
}
var months = "January February March April May June July August September October November December".split(
  " "
);
function timeSyntax(text) {
  const date = new Date(text ?? "0001-01-01T00:00:00Z");
  const parts2 = [
    date.getUTCFullYear(),
    `time.${months[date.getUTCMonth()]}`,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    date.getUTCMilliseconds() * 1e6,
    text === void 0 ? "time.UTC" : "time.Local"
  ];
  return `time.Date(${parts2.join(", ")})`;
}

// api/field-errors.ts
function shownValue(value) {
  if (value instanceof GoValue) return value.toString();
  if (value === void 0 || value === null) return '"null"';
  if (typeof value === "string") return goQuoted(value);
  if (typeof value === "number" || typeof value === "boolean")
    return String(value);
  const allStrings = (values) => values.every((each) => typeof each === "string");
  if (Array.isArray(value) && allStrings(value))
    return goSyntax("[]string", value);
  if (typeof value === "object" && allStrings(Object.values(value)))
    return goSyntax("map[string]string", value);
  return JSON.stringify(value);
}
var shortEscapes = {
  "\x07": "\\a",
  "\v": "\\v"
};
function goQuoted(text) {
  if (/^[\x20-\x7e]*$/.test(text)) return JSON.stringify(text);
  return JSON.stringify(text).replace(/\\u00(07|0b|[01][0-9a-f])/g, (_, code) => {
    const character = String.fromCharCode(parseInt(code, 16));
    return shortEscapes[character] ?? `\\x${code}`;
  }).replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    const code = character.codePointAt(0);
    const digits2 = code.toString(16);
    if (code < 128) return `\\x${digits2.padStart(2, "0")}`;
    return code > 65535 ? `\\U${digits2.padStart(8, "0")}` : `\\u${digits2.padStart(4, "0")}`;
  });
}
var withDetail = (text, detail) => detail === "" ? text : `${text}: ${detail}`;
var fieldErrors = {
  required: (field, detail = "") => ({
    type: "FieldValueRequired",
    field,
    detail: withDetail("Required value", detail)
  }),
  invalid: (field, value, detail) => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail(`Invalid value: ${shownValue(value)}`, detail)
  }),
  /** The value is shown as it is given here: names of resources have no quotes, for one. */
  invalidShown: (field, shown2, detail) => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail(`Invalid value: ${shown2}`, detail)
  }),
  /** What is wrong is not one value. */
  invalidWithoutValue: (field, detail) => ({
    type: "FieldValueInvalid",
    field,
    detail: withDetail("Invalid value", detail)
  }),
  typeInvalid: (field, detail) => ({
    type: "FieldValueTypeInvalid",
    field,
    detail: withDetail("Invalid value", detail)
  }),
  notSupported: (field, value, supported) => ({
    type: "FieldValueNotSupported",
    field,
    detail: withDetail(
      `Unsupported value: ${shownValue(value)}`,
      supported.length === 0 ? "" : `supported values: ${supported.map((one) => JSON.stringify(one)).join(", ")}`
    )
  }),
  forbidden: (field, detail) => ({
    type: "FieldValueForbidden",
    field,
    detail: withDetail("Forbidden", detail)
  }),
  duplicate: (field, value) => ({
    type: "FieldValueDuplicate",
    field,
    detail: `Duplicate value: ${shownValue(value)}`
  }),
  notFound: (field, value) => ({
    type: "FieldValueNotFound",
    field,
    detail: `Not found: ${shownValue(value)}`
  }),
  tooLong: (field, maxBytes) => ({
    type: "FieldValueTooLong",
    field,
    detail: `Too long: may not be more than ${maxBytes} bytes`
  }),
  tooMany: (field, actual, max) => ({
    type: "FieldValueTooMany",
    field,
    detail: `Too many: ${actual}: must have at most ${max} items`
  }),
  internal: (field, detail) => ({
    type: "InternalError",
    field,
    detail: withDetail("Internal error", detail)
  })
};
function invalidEach(field, value, problems) {
  return problems.map((problem) => fieldErrors.invalid(field, value, problem));
}

// api/names.ts
import { isIPv4, isIPv6 } from "node:net";
var labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
var subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
var label1035Format = "[a-z]([-a-z0-9]*[a-z0-9])?";
var wildcardFormat = `\\*\\.${subdomainFormat}`;
var qualifiedFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
var labelValueFormat = `(${qualifiedFormat})?`;
var dataKeyFormat = "[-._a-zA-Z0-9]+";
var percentFormat = "[0-9]+%";
var headerFormat = "[-A-Za-z0-9]+";
var cIdentifierFormat = "[A-Za-z_][A-Za-z0-9_]*";
var whole = (format) => new RegExp(`^(?:${format})$`);
var labelPattern = whole(labelFormat);
var subdomainPattern = whole(subdomainFormat);
var label1035Pattern = whole(label1035Format);
var wildcardPattern = whole(wildcardFormat);
var qualifiedPattern = whole(qualifiedFormat);
var labelValuePattern = whole(labelValueFormat);
var dataKeyPattern = whole(dataKeyFormat);
var percentPattern = whole(percentFormat);
var headerPattern = whole(headerFormat);
var cIdentifierPattern = whole(cIdentifierFormat);
function regexProblem(message, format, ...examples) {
  const shown2 = examples.map((example) => `'${example}', `).join(" or ");
  return `${message} (${shown2 === "" ? "" : `e.g. ${shown2}`}regex used for validation is '${format}')`;
}
var tooLongProblem = (max) => `must be no more than ${max} characters`;
var rangeProblem = (low, high) => `must be between ${low} and ${high}, inclusive`;
var byteLength = (text) => Buffer.byteLength(text);
function check(text, max, pattern, problem) {
  const problems = byteLength(text) > max ? [tooLongProblem(max)] : [];
  if (text.length > 4096 || !pattern.test(text)) problems.push(problem);
  return problems;
}
var labelProblem = regexProblem(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelFormat,
  "my-name",
  "123-abc"
);
function dnsLabelProblems(text) {
  if (text.includes(".") && isDnsSubdomain(text))
    return [
      ...byteLength(text) > 63 ? [tooLongProblem(63)] : [],
      "must not contain dots"
    ];
  return check(text, 63, labelPattern, labelProblem);
}
var isDnsLabel = (text) => dnsLabelProblems(text).length === 0;
var subdomainProblem = regexProblem(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainFormat,
  "example.com"
);
function dnsSubdomainProblems(text) {
  return check(text, 253, subdomainPattern, subdomainProblem);
}
var isDnsSubdomain = (text) => dnsSubdomainProblems(text).length === 0;
var label1035Problem = regexProblem(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Format,
  "my-name",
  "abc-123"
);
function dns1035Problems(text) {
  return check(text, 63, label1035Pattern, label1035Problem);
}
var wildcardProblem = regexProblem(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  wildcardFormat,
  "*.example.com"
);
function wildcardSubdomainProblems(text) {
  return check(text, 253, wildcardPattern, wildcardProblem);
}
var qualifiedText = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
var qualifiedProblem = regexProblem(
  qualifiedText,
  qualifiedFormat,
  "MyName",
  "my.name",
  "123-abc"
);
function qualifiedNameProblems(text) {
  const problems = [];
  const parts2 = text.split("/");
  if (parts2.length > 2) {
    return [
      `a qualified name ${qualifiedProblem} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    ];
  }
  const name = parts2.at(-1);
  if (parts2.length === 2) {
    const prefix = parts2[0];
    if (prefix === "") problems.push("prefix part must be non-empty");
    else
      problems.push(
        ...dnsSubdomainProblems(prefix).map(
          (problem) => `prefix part ${problem}`
        )
      );
  }
  if (name === "") problems.push("name part must be non-empty");
  else if (byteLength(name) > 63)
    problems.push(`name part ${tooLongProblem(63)}`);
  if (name.length > 4096 || !qualifiedPattern.test(name))
    problems.push(`name part ${qualifiedProblem}`);
  return problems;
}
var labelKeyProblems = qualifiedNameProblems;
var labelValueProblem = regexProblem(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValueFormat,
  "MyValue",
  "my_value",
  "12345"
);
function labelValueProblems(text) {
  return check(text, 63, labelValuePattern, labelValueProblem);
}
function portNameProblems(text) {
  const problems = [];
  if (byteLength(text) > 15) problems.push(tooLongProblem(15));
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push(
      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    );
  if (!/[a-z]/.test(text))
    problems.push("must contain at least one letter (a-z)");
  if (text.includes("--"))
    problems.push("must not contain consecutive hyphens");
  if (text.startsWith("-") || text.endsWith("-"))
    problems.push("must not begin or end with a hyphen");
  return problems;
}
function portNumberProblems(port) {
  return Number.isInteger(port) && port >= 1 && port <= 65535 ? [] : [rangeProblem(1, 65535)];
}
function envNameProblems(text) {
  const problems = [];
  if (text === "") problems.push("environment variable name must be non-empty");
  if (!/^[ -<>-~]*$/.test(text)) {
    problems.push(
      "a valid environment variable name must consist only of printable ASCII characters other than '='"
    );
  }
  return problems;
}
var dataKeyProblem = regexProblem(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  dataKeyFormat,
  "key.name",
  "KEY_NAME",
  "key-name"
);
function dataKeyProblems(text) {
  const problems = check(text, 253, dataKeyPattern, dataKeyProblem);
  if (text === ".") problems.push("must not be '.'");
  else if (text === "..") problems.push("must not be '..'");
  else if (text.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}
function httpHeaderProblems(text) {
  if (headerPattern.test(text)) return [];
  return [
    regexProblem(
      "a valid HTTP header must consist of alphanumeric characters or '-'",
      headerFormat,
      "X-Header-Name"
    )
  ];
}
function percentProblems(text) {
  if (percentPattern.test(text)) return [];
  return [
    regexProblem(
      "a valid percent string must be a numeric string followed by an ending '%'",
      percentFormat,
      "1%",
      "93%"
    )
  ];
}
function pathSegmentProblems(text, prefix = false) {
  const problems = [];
  if (!prefix && text === ".") return ["may not be '.'"];
  if (!prefix && text === "..") return ["may not be '..'"];
  if (text.includes("/")) problems.push("may not contain '/'");
  if (text.includes("%")) problems.push("may not contain '%'");
  return problems;
}
function domainPathProblems(rest) {
  return [
    .../^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest) ? [] : [
      `Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`
    ]
  ];
}
function ipProblems(text) {
  return isIPv4(text) || isIPv6(text) && !text.includes("%") ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}
function cidrProblems(text) {
  const [address2 = "", bits = "", ...rest] = text.split("/");
  const max = isIPv4(address2) ? 32 : isIPv6(address2) && !address2.includes("%") ? 128 : -1;
  return rest.length === 0 && /^(0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= max ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
}
function maskTrailingDash(name) {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}
function nameRule(problems) {
  return (name, prefix) => problems(prefix ? maskTrailingDash(name) : name);
}

// apiserver-lite/resources/field-checks.ts
function nonNegative(field, value) {
  return (value ?? 0) < 0 ? [fieldErrors.invalid(field, value, "must be greater than or equal to 0")] : [];
}
function positive(field, value) {
  return value !== void 0 && value !== null && value <= 0 ? [fieldErrors.invalid(field, value, "must be greater than 0")] : [];
}
function isEmpty(value) {
  if (value === void 0 || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}
function sameValue(left, right) {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null || Array.isArray(left) !== Array.isArray(right))
    return isEmpty(left) && isEmpty(right);
  if (Array.isArray(left)) {
    const other = right;
    if (left.length !== other.length) return false;
    for (let at = 0; at < left.length; at++)
      if (!sameValue(left[at], other[at])) return false;
    return true;
  }
  const [x, y] = [
    left,
    right
  ];
  for (const key2 in x) if (!sameValue(x[key2], y[key2])) return false;
  for (const key2 in y)
    if (x[key2] === void 0 && !isEmpty(y[key2])) return false;
  return true;
}
function immutable(field, value, old, type) {
  if (sameValue(value, old)) return [];
  const shown2 = type === void 0 ? value ?? null : asGo(type, value);
  return [fieldErrors.invalid(field, shown2, "field is immutable")];
}
function oneOf(field, value, supported, required3 = false) {
  if (!value) return required3 ? [fieldErrors.required(field)] : [];
  return supported.includes(value) ? [] : [fieldErrors.notSupported(field, value, supported)];
}
function labels(field, map) {
  const problems = [];
  for (const [key2, value] of Object.entries(map ?? {})) {
    problems.push(
      ...invalidEach(field, key2, labelKeyProblems(key2)),
      ...invalidEach(field, value, labelValueProblems(value))
    );
  }
  return problems;
}
function labelSelector(field, selector) {
  if (!selector) return [];
  const problems = labels(`${field}.matchLabels`, selector.matchLabels);
  for (const [index, { key: key2, operator, values }] of (selector.matchExpressions ?? []).entries()) {
    const path = `${field}.matchExpressions[${index}]`;
    const count3 = values?.length ?? 0;
    if (operator === "In" || operator === "NotIn") {
      if (count3 === 0) {
        problems.push(
          fieldErrors.required(
            `${path}.values`,
            "must be specified when `operator` is 'In' or 'NotIn'"
          )
        );
      }
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (count3 > 0) {
        problems.push(
          fieldErrors.forbidden(
            `${path}.values`,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
          )
        );
      }
    } else
      problems.push(
        fieldErrors.invalid(
          `${path}.operator`,
          operator,
          "not a valid selector operator"
        )
      );
    problems.push(...invalidEach(`${path}.key`, key2, labelKeyProblems(key2)));
    for (const [at, value] of (values ?? []).entries()) {
      problems.push(
        ...invalidEach(
          `${path}.values[${at}]`,
          value,
          labelValueProblems(value)
        )
      );
    }
  }
  return problems;
}
function domainPrefixedPath(field, text) {
  const slash = text.indexOf("/");
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash <= 0 || rest === "")
    return [
      fieldErrors.invalid(
        field,
        text,
        'must be a domain-prefixed path (such as "acme.io/foo")'
      )
    ];
  return [
    ...invalidEach(field, domain, dnsSubdomainProblems(domain)),
    ...invalidEach(field, rest, domainPathProblems(rest))
  ];
}
function objectReference(field, { apiGroup, kind: kind2, name }) {
  const segment = (part, value) => value ? invalidEach(`${field}.${part}`, value, pathSegmentProblems(value)) : [fieldErrors.required(`${field}.${part}`, `${part} is required`)];
  return [
    ...apiGroup ? invalidEach(
      `${field}.apiGroup`,
      apiGroup,
      dnsSubdomainProblems(apiGroup)
    ) : [],
    ...segment("kind", kind2),
    ...segment("name", name)
  ];
}
function exactlyOneOf(field, value, supported) {
  return supported.includes(value ?? "") ? [] : [fieldErrors.notSupported(field, value ?? "", supported)];
}
function conditions2(field, list) {
  const seen = /* @__PURE__ */ new Set();
  return (list ?? []).flatMap((condition, index) => {
    const path = `${field}[${index}]`;
    const { type, status, observedGeneration = 0, reason } = condition;
    const problems = type ? invalidEach(`${path}.type`, type, labelKeyProblems(type)) : [fieldErrors.required(`${path}.type`, "must be set")];
    if (seen.has(type))
      problems.push(fieldErrors.duplicate(`${path}.type`, type));
    seen.add(type);
    if (!["False", "True", "Unknown"].includes(status))
      problems.push(
        fieldErrors.notSupported(`${path}.status`, status, [
          "False",
          "True",
          "Unknown"
        ])
      );
    if (observedGeneration < 0)
      problems.push(
        fieldErrors.invalid(
          `${path}.observedGeneration`,
          observedGeneration,
          "must be greater than or equal to zero"
        )
      );
    if (!condition.lastTransitionTime)
      problems.push(
        fieldErrors.required(`${path}.lastTransitionTime`, "must be set")
      );
    if (!reason)
      problems.push(fieldErrors.required(`${path}.reason`, "must be set"));
    return problems;
  });
}
function quantity(field, value) {
  try {
    return parseQuantity(value);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return fieldErrors.invalid(field, value, error.message);
  }
}
function nonNegativeQuantity(field, value) {
  const parsed2 = quantity(field, value);
  if (!("nano" in parsed2)) return [parsed2];
  return parsed2.nano < 0n ? [
    fieldErrors.invalid(
      field,
      String(value),
      "must be greater than or equal to 0"
    )
  ] : [];
}
function intOrPercent(field, value) {
  if (value === void 0 || value === null) return [];
  return typeof value === "number" ? nonNegative(field, value) : invalidEach(
    field,
    asGo("intstr.IntOrString", value),
    percentProblems(value)
  );
}
function percentOf(value) {
  return typeof value === "string" && /^[0-9]+%$/.test(value) ? Number(value.slice(0, -1)) : void 0;
}
function agreeBut(left, right, paths) {
  const [a, b] = [copyJson(left), copyJson(right)];
  for (const path of paths)
    for (const object of [a, b]) removePath(object, path.split("."));
  return sameValue(a, b);
}
function removePath(object, [first, ...rest]) {
  if (typeof object !== "object" || object === null || first === void 0)
    return;
  if (rest.length === 0) delete object[first];
  else if (first === "*")
    for (const item of Object.values(object)) removePath(item, rest);
  else removePath(object[first], rest);
}

// apiserver-lite/resources/admissionregistration/webhook-validation.ts
var operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
var reviewVersions = ["v1", "v1beta1"];
var urlForm = "; desired format: https://host[/path]";
function validateWebhook(field, webhook) {
  const { name, failurePolicy, matchPolicy, timeoutSeconds } = webhook;
  const optional = (part, value, supported) => value === void 0 ? [] : exactlyOneOf(`${field}.${part}`, value, supported);
  return [
    ...nameProblems(`${field}.name`, name),
    ...(webhook.rules ?? []).flatMap(
      (rule, index) => ruleProblems(`${field}.rules[${index}]`, rule)
    ),
    ...optional("failurePolicy", failurePolicy, ["Fail", "Ignore"]),
    ...optional("matchPolicy", matchPolicy, ["Equivalent", "Exact"]),
    ...webhook.sideEffects ? exactlyOneOf(`${field}.sideEffects`, webhook.sideEffects, [
      "None",
      "NoneOnDryRun"
    ]) : [
      fieldErrors.required(
        `${field}.sideEffects`,
        "must specify one of None, NoneOnDryRun"
      )
    ],
    ...timeoutSeconds !== void 0 && (timeoutSeconds < 1 || timeoutSeconds > 30) ? [
      fieldErrors.invalid(
        `${field}.timeoutSeconds`,
        timeoutSeconds,
        "the timeout value must be between 1 and 30 seconds"
      )
    ] : [],
    ...labelSelector(`${field}.namespaceSelector`, webhook.namespaceSelector),
    ...labelSelector(`${field}.objectSelector`, webhook.objectSelector),
    ...clientProblems(`${field}.clientConfig`, webhook.clientConfig),
    ...(webhook.matchConditions ?? []).flatMap((condition, index) => {
      const path = `${field}.matchConditions[${index}]`;
      return [
        ...condition.expression ? [] : [fieldErrors.required(`${path}.expression`)],
        ...condition.name ? invalidEach(
          `${path}.name`,
          condition.name,
          qualifiedNameProblems(condition.name)
        ) : [fieldErrors.required(`${path}.name`)]
      ];
    }),
    ...optional("reinvocationPolicy", webhook.reinvocationPolicy, [
      "IfNeeded",
      "Never"
    ]),
    ...versionProblems(
      `${field}.admissionReviewVersions`,
      webhook.admissionReviewVersions ?? []
    )
  ];
}
function nameProblems(field, name) {
  if (!name) return [fieldErrors.required(field)];
  const wrong = dnsSubdomainProblems(name);
  if (wrong.length > 0) return invalidEach(field, name, wrong);
  return name.split(".").length < 3 ? [
    fieldErrors.invalid(
      field,
      name,
      "should be a domain with at least three segments separated by dots"
    )
  ] : [];
}
function versionProblems(field, versions2) {
  const known = reviewVersions.join(", ");
  if (versions2.length === 0)
    return [fieldErrors.required(field, `must specify one of ${known}`)];
  const problems = versions2.flatMap(
    (version, index) => versions2.indexOf(version) < index ? [
      fieldErrors.invalid(
        `${field}[${index}]`,
        version,
        "duplicate version"
      )
    ] : invalidEach(`${field}[${index}]`, version, dns1035Problems(version))
  );
  if (!versions2.some((version) => reviewVersions.includes(version)))
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("[]string", versions2),
        `must include at least one of ${known}`
      )
    );
  return problems;
}
function ruleProblems(field, rule) {
  const asked = rule.operations ?? [];
  return [
    ...listProblems(
      `${field}.operations`,
      asked,
      "operations",
      "[]admissionregistration.OperationType"
    ),
    ...asked.flatMap(
      (operation, index) => exactlyOneOf(`${field}.operations[${index}]`, operation, operations)
    ),
    ...listProblems(`${field}.apiGroups`, rule.apiGroups ?? [], "API groups"),
    ...listProblems(
      `${field}.apiVersions`,
      rule.apiVersions ?? [],
      "API versions"
    ),
    ...emptyItems(`${field}.apiVersions`, rule.apiVersions ?? []),
    ...resourceProblems(`${field}.resources`, rule.resources ?? []),
    ...rule.scope === void 0 ? [] : exactlyOneOf(`${field}.scope`, rule.scope, [
      "*",
      "Cluster",
      "Namespaced"
    ])
  ];
}
function listProblems(field, values, others, type = "[]string") {
  if (values.length === 0) return [fieldErrors.required(field)];
  return values.includes("*") && values.length > 1 ? [
    fieldErrors.invalid(
      field,
      asGo(type, values),
      `if '*' is present, must not specify other ${others}`
    )
  ] : [];
}
var emptyItems = (field, values) => values.flatMap(
  (value, index) => value === "" ? [fieldErrors.required(`${field}[${index}]`)] : []
);
function resourceProblems(field, resources2) {
  if (resources2.length === 0) return [fieldErrors.required(field)];
  const problems = [];
  const whole2 = /* @__PURE__ */ new Set();
  const parts2 = /* @__PURE__ */ new Set();
  for (const [index, name] of resources2.entries()) {
    const path = `${field}[${index}]`;
    if (name === "") {
      problems.push(fieldErrors.required(path));
      continue;
    }
    const [resource = "", part] = name.split("/");
    const covers = (pattern) => problems.push(
      fieldErrors.invalid(
        path,
        name,
        `if '${pattern}' is present, must not specify ${name}`
      )
    );
    if (part === void 0) continue;
    if (whole2.has(resource)) covers(`${resource}/*`);
    if (parts2.has(part)) covers(`*/${part}`);
    if (part === "*") whole2.add(resource);
    if (resource === "*") parts2.add(part);
  }
  const plain = resources2.filter((name) => !name.includes("/"));
  const alone = (text) => problems.push(
    fieldErrors.invalid(field, asGo("[]string", resources2), text)
  );
  if (resources2.includes("*/*") && resources2.length > 1)
    alone("if '*/*' is present, must not specify other resources");
  if (resources2.includes("*") && plain.length > 1)
    alone(
      "if '*' is present, must not specify other resources without subresources"
    );
  return problems;
}
function clientProblems(field, config) {
  const { url, service } = config ?? {};
  if (url === void 0 === (service === void 0))
    return [
      fieldErrors.required(field, "exactly one of url or service is required")
    ];
  return service ? serviceProblems(`${field}.service`, service) : urlProblems(`${field}.url`, url);
}
function urlProblems(field, url) {
  const parts2 = /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#([^]*))?$/.exec(
    url
  );
  if (!parts2)
    return [
      fieldErrors.required(
        field,
        `url must be a valid URL: parse ${JSON.stringify(url)}: missing protocol scheme${urlForm}`
      )
    ];
  const [, scheme = "", user, host = "", query, fragment] = parts2;
  const checks2 = [
    [
      scheme !== "https",
      scheme,
      `'https' is the only allowed URL scheme${urlForm}`
    ],
    [host === "", host, `host must be specified${urlForm}`],
    [
      user !== void 0,
      user ?? "",
      "user information is not permitted in the URL"
    ],
    [
      Boolean(fragment),
      fragment ?? "",
      "fragments are not permitted in the URL"
    ],
    [
      Boolean(query),
      query ?? "",
      "query parameters are not permitted in the URL"
    ]
  ];
  return checks2.filter(([wrong]) => wrong).map(([, value, text]) => fieldErrors.invalid(field, value, text));
}
function serviceProblems(field, { name, namespace, path, port }) {
  const required3 = (part, value) => value ? [] : [
    fieldErrors.required(
      `${field}.${part}`,
      `service ${part} is required`
    )
  ];
  return [
    ...required3("name", name),
    ...required3("namespace", namespace),
    ...port !== void 0 && (port < 1 || port > 65535) ? [
      fieldErrors.invalid(
        `${field}.port`,
        port,
        `port is not valid: ${rangeProblem(1, 65535)}`
      )
    ] : [],
    ...path === void 0 || path === "" || path === "/" ? [] : pathProblems(`${field}.path`, path)
  ];
}
function pathProblems(field, path) {
  const segments = path.slice(1).split("/");
  const problems = segments.flatMap((segment, index) => {
    if (segment === "")
      return index > 0 && index === segments.length - 1 ? [] : [`segment[${index}] may not be empty`];
    return dnsSubdomainProblems(segment).map(
      (problem) => `segment[${index}]: ${problem}`
    );
  });
  return invalidEach(field, path, [
    ...path.startsWith("/") ? [] : ["must start with a '/'"],
    ...problems
  ]);
}

// apiserver-lite/resources/admissionregistration/webhook-configuration.ts
var asConfiguration = (object) => object;
var webhookConfigurationStrategy = {
  allowUnconditionalUpdate: false,
  validate(object) {
    const seen = /* @__PURE__ */ new Set();
    return (asConfiguration(object).webhooks ?? []).flatMap(
      (webhook, index) => {
        const field = `webhooks[${index}]`;
        const problems = validateWebhook(field, webhook);
        if (webhook.name && seen.has(webhook.name))
          problems.push(fieldErrors.duplicate(`${field}.name`, webhook.name));
        seen.add(webhook.name);
        return problems;
      }
    );
  },
  printRow: (object, now) => {
    const { metadata, webhooks: webhooks2 } = asConfiguration(object);
    return [
      metadata.name,
      webhooks2?.length ?? 0,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var admissionPolicyStrategy = {
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object;
    const kind2 = spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : "<unset>";
    return [
      metadata.name,
      spec?.validations?.length ?? 0,
      kind2,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var admissionPolicyBindingStrategy = {
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object;
    const reference = spec?.paramRef;
    const name = reference ? reference.namespace ? `${reference.namespace}/${reference.name}` : `*/${reference.name}` : "<unset>";
    return [
      metadata.name,
      spec?.policyName ?? "",
      name,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/apiextensions/api-service.ts
var asService = (object) => object;
var apiServiceStrategy = {
  allowUnconditionalUpdate: false,
  validateName: pathSegmentProblems,
  validate(object) {
    const { metadata, spec } = asService(object);
    const problems = [];
    const required3 = `${spec?.version ?? ""}.${spec?.group ?? ""}`;
    if (metadata.name !== required3) {
      problems.push(
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          `must be \`spec.version+"."+spec.group\`: "${required3}"`
        )
      );
    }
    if ((spec?.groupPriorityMinimum ?? 0) <= 0 || (spec?.groupPriorityMinimum ?? 0) > 2e4) {
      problems.push(
        fieldErrors.invalid(
          "spec.groupPriorityMinimum",
          spec?.groupPriorityMinimum ?? 0,
          "must be positive and less than 20000"
        )
      );
    }
    if ((spec?.versionPriority ?? 0) <= 0 || (spec?.versionPriority ?? 0) > 1e3) {
      problems.push(
        fieldErrors.invalid(
          "spec.versionPriority",
          spec?.versionPriority ?? 0,
          "must be positive and less than 1000"
        )
      );
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asService(object).spec = asService(old).spec;
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asService(object);
    const service = spec?.service ? `${spec.service.namespace}/${spec.service.name}` : "Local";
    const available = status?.conditions?.find(
      ({ type }) => type === "Available"
    );
    const text = !available ? "Unknown" : available.status === "True" ? "True" : `${available.status} (${available.reason ?? ""})`;
    return [
      metadata.name,
      service,
      text,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/apiextensions/custom-resource-definition.ts
var asDefinition = (object) => object;
var customResourceDefinitionStrategy = {
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    const definition = asDefinition(object);
    const stored = definition.spec.versions?.find(
      ({ storage }) => storage
    )?.name;
    definition.status = {
      conditions: [],
      acceptedNames: { kind: "", plural: "" },
      storedVersions: stored ? [stored] : []
    };
  },
  prepareForUpdate(object, old) {
    const [definition, was] = [asDefinition(object), asDefinition(old)];
    const stored = definition.spec.versions?.find(
      ({ storage }) => storage
    )?.name;
    const versions2 = was.status?.storedVersions ?? [];
    definition.status = {
      ...was.status,
      storedVersions: stored && !versions2.includes(stored) ? [...versions2, stored] : versions2
    };
  },
  validate(object) {
    const { metadata, spec } = asDefinition(object);
    const problems = [];
    const required3 = `${spec.names?.plural}.${spec.group}`;
    if (metadata.name !== required3) {
      problems.push(
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          `must be spec.names.plural+"."+spec.group`
        )
      );
    }
    if (!spec.group) problems.push(fieldErrors.required("spec.group"));
    else {
      problems.push(
        ...invalidEach(
          "spec.group",
          spec.group,
          dnsSubdomainProblems(spec.group)
        )
      );
      if (!spec.group.includes(".")) {
        problems.push(
          fieldErrors.invalid(
            "spec.group",
            spec.group,
            "should be a domain with at least one dot"
          )
        );
      }
    }
    problems.push(
      ...oneOf("spec.scope", spec.scope, ["Cluster", "Namespaced"], true)
    );
    for (const name of ["plural", "singular", "kind", "listKind"]) {
      const value = spec.names?.[name];
      if (!value) {
        if (name === "plural" || name === "kind")
          problems.push(fieldErrors.required(`spec.names.${name}`));
      } else {
        problems.push(
          ...invalidEach(
            `spec.names.${name}`,
            value,
            dns1035Problems(value.toLowerCase())
          )
        );
      }
    }
    const versions2 = spec.versions ?? [];
    const seen = /* @__PURE__ */ new Set();
    for (const [index, version] of versions2.entries()) {
      const path = `spec.versions[${index}]`;
      problems.push(
        ...invalidEach(
          `${path}.name`,
          version.name,
          dns1035Problems(version.name)
        )
      );
      if (seen.has(version.name))
        problems.push(fieldErrors.duplicate(`${path}.name`, version.name));
      seen.add(version.name);
      if (!version.schema?.openAPIV3Schema) {
        problems.push(
          fieldErrors.required(
            `${path}.schema.openAPIV3Schema`,
            "schemas are required"
          )
        );
      }
    }
    if (versions2.filter(({ storage }) => storage).length !== 1) {
      problems.push(
        fieldErrors.invalid(
          "spec.versions",
          versions2.map(({ name }) => name),
          "must have exactly one version marked as storage version"
        )
      );
    }
    return problems;
  },
  validateUpdate(object, old) {
    const [now, was] = [asDefinition(object).spec, asDefinition(old).spec];
    return [
      ...immutable("spec.group", now.group, was.group),
      ...immutable("spec.scope", now.scope, was.scope),
      ...immutable("spec.names.kind", now.names.kind, was.names.kind),
      ...immutable("spec.names.plural", now.names.plural, was.names.plural)
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asDefinition(object).spec = asDefinition(old).spec;
    }
  }
};

// apiserver-lite/resources/apps/controller-revision.ts
var asRevision = (object) => object;
function controllerText({ metadata }) {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  if (!owner) return "<none>";
  const slash = owner.apiVersion.indexOf("/");
  const group2 = slash < 0 ? "" : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group2}/${owner.name}`;
}
var controllerRevisionStrategy = {
  countsGeneration: false,
  validate(object) {
    return nonNegative("revision", asRevision(object).revision);
  },
  validateCreate(object) {
    const { data } = asRevision(object);
    if (data === void 0 || data === null)
      return [fieldErrors.required("data", "data is mandatory")];
    return typeof data === "object" && !Array.isArray(data) ? [] : [fieldErrors.required("data", "data must be a valid JSON object")];
  },
  validateUpdate: (object, old) => immutable(
    "data",
    asRevision(object).data,
    asRevision(old).data,
    "runtime.RawExtension"
  ),
  printRow: (object, now) => {
    const revision = asRevision(object);
    return [
      revision.metadata.name,
      orNone(controllerText(revision)),
      revision.revision,
      formatAge(revision.metadata.creationTimestamp, now)
    ];
  }
};

// api/clock.ts
function formatTime(epochMs) {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

// api/patch/field-set.ts
var noChildren = /* @__PURE__ */ new Map();
var FieldSetBuilder = class {
  #root = { member: false, children: noChildren };
  insert(path) {
    this.#nodeAt(path).member = true;
  }
  /** Inserts the path with what is below it; nothing below it may have been inserted before. */
  graft(path, below) {
    const node = this.#nodeAt(path);
    node.member = true;
    node.children = below.children;
  }
  build() {
    return this.#root;
  }
  #nodeAt(path) {
    let node = this.#root;
    for (const part of path) {
      let next = node.children.get(part);
      if (!next) {
        if (node.children === noChildren) node.children = /* @__PURE__ */ new Map();
        next = { member: false, children: noChildren };
        node.children.set(part, next);
      }
      node = next;
    }
    return node;
  }
};

// api/patch/managed-fields.ts
var unowned = (() => {
  const set = new FieldSetBuilder();
  set.insert(["f:apiVersion"]);
  set.insert(["f:kind"]);
  set.insert(["f:metadata"]);
  const names = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion"
  ];
  for (const name of names) set.insert(["f:metadata", `f:${name}`]);
  return set.build();
})();

// apiserver-lite/resources/object-meta.ts
var maxAnnotationBytes = 256 * 1024;
function validateAnnotations(annotations, field = "metadata.annotations") {
  const problems = [];
  let bytes = 0;
  for (const [key2, value] of Object.entries(annotations ?? {})) {
    problems.push(
      ...invalidEach(field, key2, qualifiedNameProblems(key2.toLowerCase()))
    );
    bytes += Buffer.byteLength(key2) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes)
    problems.push(fieldErrors.tooLong(field, maxAnnotationBytes));
  return problems;
}
var checksOfKinds = Object.fromEntries([
  ...[
    "CronJob",
    "CSIDriver",
    "Deployment",
    "EndpointSlice",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "Lease",
    "LimitRange",
    "MutatingWebhookConfiguration",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceQuota",
    "StatefulSet",
    "ValidatingWebhookConfiguration"
  ].map((kind2) => [kind2, { whole: 1, change: 2 }]),
  ...["Event", "PodDisruptionBudget"].map(
    (kind2) => [kind2, { whole: 1, change: 1 }]
  ),
  ...[
    "ClusterRole",
    "ClusterRoleBinding",
    "PersistentVolumeClaim",
    "Role",
    "RoleBinding"
  ].map((kind2) => [kind2, { whole: 3, change: 2 }])
]);

// apiserver-lite/resources/core/downward-fields.ts
var metadataFields = ["metadata.name", "metadata.namespace", "metadata.uid"];
var environmentFields = [
  ...metadataFields,
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs"
];
var fileFields = [
  "metadata.annotations",
  "metadata.labels",
  ...metadataFields
];
var knownFields = /* @__PURE__ */ new Set([
  ...environmentFields,
  ...fileFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase"
]);
var resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory"
];
var byteUnits = [
  "1",
  ...["k", "M", "G", "T", "P", "E"].map((unit) => `1${unit}`),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => `1${unit}`)
];
function validateFieldRef(field, { apiVersion, fieldPath }, place) {
  if (!apiVersion) return [fieldErrors.required(`${field}.apiVersion`)];
  const path = `${field}.fieldPath`;
  if (!fieldPath) return [fieldErrors.required(path)];
  const unconvertible = (why) => [
    fieldErrors.invalid(path, fieldPath, `error converting fieldPath: ${why}`)
  ];
  if (apiVersion !== "v1")
    return unconvertible(`unsupported pod version: ${apiVersion}`);
  const { map, key: key2 } = subscriptOf(fieldPath) ?? {};
  if (map !== void 0 && key2 !== void 0) {
    if (map === "metadata.annotations")
      return invalidEach(
        field,
        key2.toLowerCase(),
        qualifiedNameProblems(key2.toLowerCase())
      );
    if (map === "metadata.labels")
      return invalidEach(field, key2, qualifiedNameProblems(key2));
    return unconvertible(
      `field label does not support subscript: ${fieldPath}`
    );
  }
  if (!knownFields.has(fieldPath))
    return unconvertible(`field label not supported: ${fieldPath}`);
  const allowed = place === "file" ? fileFields : environmentFields;
  return allowed.includes(fieldPath) ? [] : [fieldErrors.notSupported(path, fieldPath, allowed)];
}
function subscriptOf(path) {
  const at = path.indexOf("['");
  if (at <= 0 || path.length < at + 4 || !path.endsWith("']")) return void 0;
  return { map: path.slice(0, at), key: path.slice(at + 2, -2) };
}
var isHugePages = (resource) => /^(limits|requests)\.hugepages-/.test(resource);
function unitsOf(resource) {
  if (resource.endsWith(".cpu")) return [["1m", "1"], "cpu"];
  if (resource.endsWith(".memory")) return [byteUnits, "memory"];
  if (resource.endsWith(".ephemeral-storage"))
    return [byteUnits, "local ephemeral storage"];
  return isHugePages(resource) ? [byteUnits, "hugepages"] : void 0;
}
function validateResourceFieldRef(field, { containerName, resource, divisor }, place) {
  const problems = [];
  if (place === "file" && !containerName)
    problems.push(fieldErrors.required(`${field}.containerName`));
  else if (!resource) problems.push(fieldErrors.required(`${field}.resource`));
  else if (!resources.includes(resource) && !isHugePages(resource))
    problems.push(
      fieldErrors.notSupported(`${field}.resource`, resource, resources)
    );
  const units = unitsOf(resource ?? "");
  if (units && divisor !== void 0 && parseQuantity(divisor).nano !== 0n && !units[0].includes(canonicalQuantity(divisor))) {
    const shown2 = units[1] === "cpu" ? units[0].join(" and ") : units[0].join(", ");
    problems.push(
      fieldErrors.invalid(
        `${field}.divisor`,
        resource,
        `only divisor's values ${shown2} are supported with the ${units[1]} resource`
      )
    );
  }
  return problems;
}

// apiserver-lite/resources/core/container-environment.ts
var prefixName = nameRule(dnsSubdomainProblems);
function keyReference(field, { name = "", key: key2 }) {
  return [
    ...invalidEach(`${field}.name`, name, dnsSubdomainProblems(name)),
    ...key2 ? invalidEach(`${field}.key`, key2, dataKeyProblems(key2)) : [fieldErrors.required(`${field}.key`)]
  ];
}
function validateSource(field, { value, valueFrom }) {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const problems = [
    ...fieldRef ? validateFieldRef(`${field}.fieldRef`, fieldRef, "environment") : [],
    ...resourceFieldRef ? validateResourceFieldRef(
      `${field}.resourceFieldRef`,
      resourceFieldRef,
      "environment"
    ) : [],
    ...configMapKeyRef ? keyReference(`${field}.configMapKeyRef`, configMapKeyRef) : [],
    ...secretKeyRef ? keyReference(`${field}.secretKeyRef`, secretKeyRef) : []
  ];
  const sources3 = [
    fieldRef,
    resourceFieldRef,
    configMapKeyRef,
    secretKeyRef
  ].filter(Boolean).length;
  const wrong = sources3 === 0 ? "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`" : value ? "may not be specified when `value` is not empty" : sources3 > 1 ? "may not have more than one field specified at a time" : void 0;
  return wrong ? [...problems, fieldErrors.invalid(field, "", wrong)] : problems;
}
function validateEnv(field, env) {
  return env.flatMap((variable, index) => {
    const path = `${field}[${index}]`;
    const { name } = variable;
    return [
      ...name ? invalidEach(`${path}.name`, name, envNameProblems(name)) : [fieldErrors.required(`${path}.name`)],
      ...validateSource(`${path}.valueFrom`, variable)
    ];
  });
}
function validateEnvFrom(field, sources3) {
  return sources3.flatMap((source, index) => {
    const path = `${field}[${index}]`;
    const { prefix } = source;
    const problems = prefix ? invalidEach(`${path}.prefix`, prefix, envNameProblems(prefix)) : [];
    for (const kind2 of ["configMapRef", "secretRef"]) {
      const reference = source[kind2];
      if (!reference) continue;
      const { name } = reference;
      problems.push(
        ...name ? invalidEach(`${path}.${kind2}.name`, name, prefixName(name, true)) : [fieldErrors.required(`${path}.${kind2}.name`)]
      );
    }
    const wrong = !source.configMapRef && !source.secretRef ? "must specify one of: `configMapRef` or `secretRef`" : source.configMapRef && source.secretRef ? "may not have more than one field specified at a time" : void 0;
    return wrong ? [...problems, fieldErrors.invalid(field, "", wrong)] : problems;
  });
}
var hasBacksteps = (path) => path.split("/").includes("..");
function validateNoBacksteps(field, path) {
  return hasBacksteps(path) ? [fieldErrors.invalid(field, path, "must not contain '..'")] : [];
}
function validateRelativePath(field, path) {
  return [
    ...path.startsWith("/") ? [fieldErrors.invalid(field, path, "must be a relative path")] : [],
    ...validateNoBacksteps(field, path)
  ];
}
function validateFilePath(field, path) {
  const reserved = path.startsWith("..") && !path.startsWith("../");
  return [
    ...validateRelativePath(field, path),
    ...reserved && path !== ".." ? [fieldErrors.invalid(field, path, "must not start with '..'")] : []
  ];
}
function validatePropagation(field, { mountPropagation }, { securityContext }) {
  const problems = oneOf(field, mountPropagation, [
    "Bidirectional",
    "HostToContainer",
    "None"
  ]);
  if (mountPropagation === "Bidirectional" && !securityContext?.privileged)
    problems.push(
      fieldErrors.forbidden(
        field,
        "Bidirectional mount propagation is available only to privileged containers"
      )
    );
  return problems;
}
function validateRecursion(field, { recursiveReadOnly, readOnly, mountPropagation }) {
  if (recursiveReadOnly === void 0 || recursiveReadOnly === "Disabled")
    return [];
  if (recursiveReadOnly !== "Enabled" && recursiveReadOnly !== "IfPossible")
    return [
      fieldErrors.notSupported(field, recursiveReadOnly, [
        "Disabled",
        "Enabled",
        "IfPossible"
      ])
    ];
  const only = (when) => fieldErrors.forbidden(field, `may only be specified when ${when}`);
  return [
    ...readOnly ? [] : [only("readOnly is true")],
    ...(mountPropagation ?? "None") === "None" ? [] : [only("mountPropagation is None or not specified")]
  ];
}
function validateMounts(field, container, volumes) {
  const devices = container.volumeDevices ?? [];
  const paths = /* @__PURE__ */ new Set();
  return (container.volumeMounts ?? []).flatMap((mount, index) => {
    const path = `${field}[${index}]`;
    const { name = "", mountPath = "", subPath, subPathExpr } = mount;
    const problems = [];
    if (!name) problems.push(fieldErrors.required(`${path}.name`));
    if (!volumes.has(name))
      problems.push(fieldErrors.notFound(`${path}.name`, name));
    if (!mountPath) problems.push(fieldErrors.required(`${path}.mountPath`));
    const refuse2 = (part, why) => {
      problems.push(
        fieldErrors.invalid(
          `${path}.${part}`,
          part === "name" ? name : mountPath,
          why
        )
      );
    };
    if (paths.has(mountPath)) refuse2("mountPath", "must be unique");
    paths.add(mountPath);
    if (devices.some((device) => device.name === name))
      refuse2("name", "must not already exist in volumeDevices");
    if (devices.some(({ devicePath }) => devicePath === mountPath))
      refuse2("mountPath", "must not already exist as a path in volumeDevices");
    if (subPath)
      problems.push(...validateRelativePath(`${field}.subPath`, subPath));
    if (subPathExpr) {
      if (subPath)
        problems.push(
          fieldErrors.invalid(
            `${path}.subPathExpr`,
            subPathExpr,
            "subPathExpr and subPath are mutually exclusive"
          )
        );
      problems.push(
        ...validateRelativePath(`${field}.subPathExpr`, subPathExpr)
      );
    }
    return [
      ...problems,
      ...validatePropagation(`${field}.mountPropagation`, mount, container),
      ...validateRecursion(`${field}.recursiveReadOnly`, mount)
    ];
  });
}
function validateDevices(field, { volumeDevices, volumeMounts = [] }, volumes) {
  const names = /* @__PURE__ */ new Set();
  const paths = /* @__PURE__ */ new Set();
  return (volumeDevices ?? []).flatMap(
    ({ name = "", devicePath = "" }, index) => {
      const problems = [];
      const [nameField, pathField] = [
        `${field}[${index}].name`,
        `${field}[${index}].devicePath`
      ];
      const refuseName = (why) => {
        problems.push(fieldErrors.invalid(nameField, name, why));
      };
      const refusePath = (why) => {
        problems.push(fieldErrors.invalid(pathField, devicePath, why));
      };
      const volume = volumes.get(name);
      if (!name) problems.push(fieldErrors.required(nameField));
      if (names.has(name)) refuseName("must be unique");
      if (!volume) problems.push(fieldErrors.notFound(nameField, name));
      else if (!volume.persistentVolumeClaim && !volume.ephemeral)
        refuseName(
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        );
      if (!devicePath) problems.push(fieldErrors.required(pathField));
      if (paths.has(devicePath)) refusePath("must be unique");
      if (hasBacksteps(devicePath))
        refusePath("can not contain backsteps ('..')");
      else paths.add(devicePath);
      if (volumeMounts.some((mount) => mount.name === name))
        refuseName("must not already exist in volumeMounts");
      if (volumeMounts.some(({ mountPath }) => mountPath === devicePath))
        refusePath("must not already exist as a path in volumeMounts");
      if (name) names.add(name);
      return problems;
    }
  );
}

// apiserver-lite/resources/core/container-security.ts
var maxId = 2 ** 31 - 1;
var profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
var maxAppArmorPath = 4095;
function idInRange(field, id) {
  return id === void 0 || id >= 0 && id <= maxId ? [] : [
    fieldErrors.invalid(
      field,
      id,
      `must be between 0 and ${maxId}, inclusive`
    )
  ];
}
function profileType(field, name, type) {
  return type ? oneOf(`${field}.type`, type, profileTypes) : [
    fieldErrors.required(
      `${field}.type`,
      `type is required when ${name} is set`
    )
  ];
}
function validateSeccomp(field, profile) {
  if (!profile) return [];
  const { type, localhostProfile } = profile;
  const path = `${field}.localhostProfile`;
  const problems = profileType(field, "seccompProfile", type);
  if (type !== "Localhost") {
    if (localhostProfile !== void 0)
      problems.push(
        fieldErrors.invalid(
          path,
          asGo("core.SeccompProfile", profile),
          "can only be set when seccomp type is Localhost"
        )
      );
  } else if (localhostProfile === void 0)
    problems.push(
      fieldErrors.required(path, "must be set when seccomp type is Localhost")
    );
  else problems.push(...validateRelativePath(path, localhostProfile));
  return problems;
}
function validateAppArmor(field, profile) {
  if (!profile) return [];
  const { type, localhostProfile: file } = profile;
  const path = `${field}.localhostProfile`;
  const problems = profileType(field, "appArmorProfile", type);
  if (type === "Localhost") {
    if (!file?.trim())
      problems.push(
        fieldErrors.required(
          path,
          "must be set when AppArmor type is Localhost"
        )
      );
    else {
      if (file.trim() !== file)
        problems.push(
          fieldErrors.invalid(path, file, "must not be padded with whitespace")
        );
      if (file.length > maxAppArmorPath)
        problems.push(fieldErrors.tooLong(path, maxAppArmorPath));
    }
  } else if (file !== void 0 && profileTypes.includes(type))
    problems.push(
      fieldErrors.invalid(
        path,
        file,
        "can only be set when AppArmor type is Localhost"
      )
    );
  return problems;
}
var netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
var dnsLabel = "[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?";
var dnsDomain = new RegExp(`^${dnsLabel}(\\.${dnsLabel})*$`);
var maxDomain = 256;
var maxUser = 104;
var maxCredentialKib = 64;
function accountProblems(account) {
  if (account === "") return ["cannot be an empty string"];
  if (/\p{Cc}/u.test(account)) return ["cannot contain control characters"];
  const parts2 = account.split("\\");
  if (parts2.length > 2) return ["cannot contain more than one backslash"];
  const domain = parts2.length === 2 ? parts2[0] : void 0;
  const user = parts2.at(-1);
  const wrong = [
    [
      (domain?.length ?? 0) >= maxDomain,
      `'s Domain length must be under ${maxDomain} characters`
    ],
    [
      domain !== void 0 && !netBiosName.test(domain) && !dnsDomain.test(domain),
      "'s Domain doesn't match the NetBios nor the DNS format"
    ],
    [user === "", "'s User cannot be empty"],
    [
      user.length > maxUser,
      `'s User length must not be longer than ${maxUser} characters`
    ],
    [/^[. ]+$/.test(user), "'s User cannot contain only periods or spaces"],
    [
      /["/\\:;|=,+*?<>@[\]]/.test(user),
      `'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`
    ]
  ];
  return wrong.filter(([is]) => is).map(([, text]) => text);
}
function validateWindows(field, options) {
  if (!options) return [];
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  const problems = [];
  if (gmsaCredentialSpecName !== void 0)
    problems.push(
      ...invalidEach(
        `${field}.gmsaCredentialSpecName`,
        gmsaCredentialSpecName,
        dnsSubdomainProblems(gmsaCredentialSpecName)
      )
    );
  if (gmsaCredentialSpec !== void 0) {
    const bytes = Buffer.byteLength(gmsaCredentialSpec);
    const wrong = bytes === 0 ? "cannot be an empty string" : bytes > maxCredentialKib * 1024 ? `size must be under ${maxCredentialKib} KiB` : void 0;
    if (wrong)
      problems.push(
        fieldErrors.invalid(
          `${field}.gmsaCredentialSpec`,
          gmsaCredentialSpec,
          `gmsaCredentialSpec ${wrong}`
        )
      );
  }
  if (runAsUserName !== void 0)
    problems.push(
      ...invalidEach(
        `${field}.runAsUserName`,
        runAsUserName,
        accountProblems(runAsUserName).map(
          (text) => text.startsWith("'") ? `runAsUserName${text}` : `runAsUserName ${text}`
        )
      )
    );
  return problems;
}
function validateEscalation(field, context) {
  if (context.allowPrivilegeEscalation !== false) return [];
  const beside = [
    ...context.privileged ? ["`privileged` to true"] : [],
    ...(context.capabilities?.add ?? []).filter((capability) => capability === "CAP_SYS_ADMIN").map(() => "`capabilities.Add` CAP_SYS_ADMIN")
  ];
  return beside.map(
    (what) => fieldErrors.invalid(
      field,
      asGo("core.SecurityContext", context),
      `cannot set \`allowPrivilegeEscalation\` to false and ${what}`
    )
  );
}
function validateSecurityContext(field, context) {
  if (!context) return [];
  return [
    ...idInRange(`${field}.runAsUser`, context.runAsUser),
    ...idInRange(`${field}.runAsGroup`, context.runAsGroup),
    ...validateSeccomp(`${field}.seccompProfile`, context.seccompProfile),
    ...validateEscalation(field, context),
    ...validateWindows(`${field}.windowsOptions`, context.windowsOptions),
    ...validateAppArmor(`${field}.appArmorProfile`, context.appArmorProfile)
  ];
}

// apiserver-lite/resources/core/pod-security-validation.ts
var maxSysctlLength = 253;
var sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
var sysctlName = `(${sysctlSegment}[\\./])*${sysctlSegment}`;
var sysctlPattern = new RegExp(`^${sysctlName}$`);
var sysctlsOfNamespaces = [
  [/^net\./, "hostNetwork"],
  [/^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/, "hostIPC"]
];
function validateSysctls(field, spec) {
  const seen = /* @__PURE__ */ new Set();
  return (spec.securityContext?.sysctls ?? []).flatMap(({ name }, index) => {
    const path = `${field}[${index}].name`;
    if (!name) return [fieldErrors.required(path)];
    if (name.length > maxSysctlLength || !sysctlPattern.test(name))
      return [
        fieldErrors.invalid(
          path,
          name,
          `must have at most ${maxSysctlLength} characters and match regex ^${sysctlName}$`
        )
      ];
    if (seen.has(name)) return [fieldErrors.duplicate(path, name)];
    seen.add(name);
    const canonical = name.replaceAll("/", ".");
    return sysctlsOfNamespaces.filter(([pattern, shared]) => pattern.test(canonical) && spec[shared]).map(
      ([, shared]) => fieldErrors.invalid(
        path,
        name,
        `may not be specified when '${shared}' is true`
      )
    );
  });
}
function validatePodSecurity(field, spec) {
  const context = spec.securityContext ?? {};
  const path = `${field}.securityContext`;
  return [
    ...idInRange(`${path}.fsGroup`, context.fsGroup),
    ...idInRange(`${path}.runAsUser`, context.runAsUser),
    ...idInRange(`${path}.runAsGroup`, context.runAsGroup),
    ...(context.supplementalGroups ?? []).flatMap(
      (group2, index) => idInRange(`${path}.supplementalGroups[${index}]`, group2)
    ),
    ...spec.shareProcessNamespace && spec.hostPID ? [
      fieldErrors.invalid(
        `${path}.shareProcessNamespace`,
        true,
        "ShareProcessNamespace and HostPID cannot both be enabled"
      )
    ] : [],
    ...validateSysctls(`${path}.sysctls`, spec),
    ...context.fsGroupChangePolicy === void 0 ? [] : oneOf(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
      "Always",
      "OnRootMismatch"
    ]),
    ...validateSeccomp(`${path}.seccompProfile`, context.seccompProfile),
    ...validateWindows(`${path}.windowsOptions`, context.windowsOptions),
    ...validateAppArmor(`${path}.appArmorProfile`, context.appArmorProfile)
  ];
}
var containerLists = [
  "initContainers",
  "containers",
  "ephemeralContainers"
];
function containersOf(field, spec) {
  const all = [];
  for (const list of containerLists)
    for (const [index, container] of (spec[list] ?? []).entries())
      all.push([`${field}.${list}[${index}]`, container]);
  return all;
}
function validateHostProcesses(field, spec) {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = containersOf(field, spec);
  const problems = [];
  let count3 = 0;
  for (const [path, { securityContext }] of containers) {
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== void 0 && own !== void 0 && own !== ofPod)
      problems.push(
        fieldErrors.invalid(
          `${path}.securityContext.windowsOptions.hostProcess`,
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`
        )
      );
    if (own ?? ofPod) count3++;
  }
  if (count3 === 0) return problems;
  if (count3 !== containers.length)
    problems.push(
      fieldErrors.invalid(
        field,
        "",
        "If pod contains any hostProcess containers then all containers must be HostProcess containers"
      )
    );
  if (!spec.hostNetwork)
    problems.push(
      fieldErrors.invalid(
        `${field}.hostNetwork`,
        false,
        "hostNetwork must be true if pod contains any hostProcess containers"
      )
    );
  return problems;
}
var linuxOnlyOfPod = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy"
];
var linuxOnlyOfContainer = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup"
];
var systems = ["linux", "windows"];
var valueAt = (object, path) => path.split(".").reduce(
  (value, name) => value?.[name],
  object
);
function validateOs(field, spec) {
  const { os, securityContext } = spec;
  if (!os) return [];
  if (!os.name)
    return [fieldErrors.required(`${field}.os.name`, "cannot be empty")];
  if (!systems.includes(os.name))
    return [fieldErrors.notSupported(`${field}.os`, os.name, systems)];
  const containers = containersOf(field, spec);
  if (os.name === "linux")
    return [
      ...securityContext?.windowsOptions ? [`${field}.securityContext`] : [],
      ...containers.filter(([, container]) => container.securityContext?.windowsOptions).map(([path]) => `${path}.securityContext`)
    ].map(
      (path) => fieldErrors.forbidden(
        `${path}.windowsOptions`,
        "windows options cannot be set for a linux pod"
      )
    );
  const refuse2 = (path) => fieldErrors.forbidden(path, "cannot be set for a windows pod");
  return [
    ...linuxOnlyOfPod.filter((path) => {
      const value = valueAt(spec, path);
      return path === "hostPID" || path === "hostIPC" ? value : value !== void 0;
    }).map((path) => refuse2(`${field}.${path}`)),
    ...containers.flatMap(
      ([path, container]) => linuxOnlyOfContainer.filter(
        (name) => valueAt(container.securityContext, name) !== void 0
      ).map((name) => refuse2(`${path}.securityContext.${name}`))
    )
  ];
}

// apiserver-lite/resources/core/pod-annotations.ts
var mirrorAnnotation = "kubernetes.io/config.mirror";
var deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";
var appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";
var tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations";
var appArmorProfile = /^(|runtime\/default|unconfined|localhost\/.*)$/;
var isInt32 = (text) => /^(0|-?[1-9][0-9]*)$/.test(text) && Math.abs(Number(text)) <= 2 ** 31 - 1;
function validatePodAnnotations(field, annotations, spec) {
  const problems = [];
  const of = (name) => `${field}[${name}]`;
  const mirror = annotations?.[mirrorAnnotation];
  if (mirror !== void 0 && !spec?.nodeName)
    problems.push(
      fieldErrors.invalid(
        of(mirrorAnnotation),
        mirror,
        "must set spec.nodeName if mirror pod annotation is set"
      )
    );
  const tolerations = annotations?.[tolerationsAnnotation];
  if (tolerations) {
    try {
      JSON.parse(tolerations);
    } catch {
      problems.push(
        fieldErrors.invalid(
          field,
          tolerationsAnnotation,
          `invalid character '${tolerations[0]}' looking for beginning of value`
        )
      );
    }
  }
  const names = new Set(
    spec ? containersOf("", spec).map(([, { name }]) => name) : []
  );
  for (const [key2, value] of Object.entries(annotations ?? {}).sort()) {
    if (!key2.startsWith(appArmorPrefix)) continue;
    const name = key2.slice(appArmorPrefix.length);
    if (!names.has(name))
      problems.push(fieldErrors.invalid(of(key2), name, "container not found"));
    if (!appArmorProfile.test(value))
      problems.push(
        fieldErrors.invalid(
          of(key2),
          value,
          `invalid AppArmor profile name: ${JSON.stringify(value)}`
        )
      );
  }
  const cost = annotations?.[deletionCostAnnotation];
  if (cost !== void 0 && !isInt32(cost))
    problems.push(
      fieldErrors.invalid(
        of(deletionCostAnnotation),
        cost,
        "must be a 32bit integer"
      )
    );
  return problems;
}
function appArmorProfileOf(value) {
  if (value === "runtime/default") return { type: "RuntimeDefault" };
  if (value === "unconfined") return { type: "Unconfined" };
  return value.startsWith("localhost/") ? { type: "Localhost", localhostProfile: value.slice("localhost/".length) } : void 0;
}
function appArmorAnnotation({
  type,
  localhostProfile = ""
}) {
  if (type === "RuntimeDefault") return "runtime/default";
  if (type === "Unconfined") return "unconfined";
  return type === "Localhost" && localhostProfile ? `localhost/${localhostProfile}` : void 0;
}

// apiserver-lite/resources/core/probe-validation.ts
function validatePort(field, port) {
  if (typeof port === "string")
    return invalidEach(field, port, portNameProblems(port));
  return invalidEach(field, port ?? 0, portNumberProblems(port ?? 0));
}
function validateHttp(field, http) {
  return [
    ...http.path ? [] : [fieldErrors.required(`${field}.path`)],
    ...validatePort(`${field}.port`, http.port),
    ...oneOf(`${field}.scheme`, http.scheme, ["HTTP", "HTTPS"]),
    ...(http.httpHeaders ?? []).flatMap(
      ({ name }) => invalidEach(`${field}.httpHeaders`, name, httpHeaderProblems(name))
    )
  ];
}
function validateSleep(field, seconds, graceSeconds2) {
  return seconds > 0 && seconds <= graceSeconds2 ? [] : [
    fieldErrors.invalid(
      field,
      seconds,
      `must be greater than 0 and less than terminationGracePeriodSeconds (${graceSeconds2}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`
    )
  ];
}
function validateHandler(field, handler, graceSeconds2) {
  const checks2 = {
    exec: ({ command }) => command?.length ? [] : [fieldErrors.required(`${field}.exec.command`)],
    httpGet: (http) => validateHttp(`${field}.httpGet`, http),
    tcpSocket: ({ port }) => validatePort(`${field}.tcpSocket.port`, port),
    grpc: ({ port }) => validatePort(`${field}.grpc.port`, port),
    sleep: ({ seconds }) => validateSleep(`${field}.sleep`, seconds, graceSeconds2)
  };
  const kinds2 = Object.keys(checks2).filter(
    (kind2) => handler[kind2]
  );
  if (kinds2.length === 0)
    return [fieldErrors.required(field, "must specify a handler type")];
  return kinds2.flatMap(
    (kind2, index) => index > 0 ? [
      fieldErrors.forbidden(
        `${field}.${kind2}`,
        "may not specify more than 1 handler type"
      )
    ] : checks2[kind2](handler[kind2])
  );
}
function validateLifecycle(field, lifecycle, graceSeconds2) {
  return ["postStart", "preStop"].flatMap((hook) => {
    const handler = lifecycle?.[hook];
    return handler ? validateHandler(`${field}.${hook}`, handler, graceSeconds2) : [];
  });
}
function validateProbe(field, kind2, probe, graceSeconds2) {
  if (!probe) return [];
  const path = `${field}.${kind2}`;
  const problems = validateHandler(path, probe, graceSeconds2);
  for (const name of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold"
  ])
    problems.push(...nonNegative(`${path}.${name}`, probe[name]));
  const ownGrace = probe.terminationGracePeriodSeconds;
  const graceField = `${path}.terminationGracePeriodSeconds`;
  problems.push(...positive(graceField, ownGrace));
  if (kind2 === "readinessProbe") {
    if (ownGrace !== void 0)
      problems.push(
        fieldErrors.invalid(
          graceField,
          ownGrace,
          "must not be set for readinessProbes"
        )
      );
  } else if (probe.successThreshold !== 1)
    problems.push(
      fieldErrors.invalid(
        `${path}.successThreshold`,
        probe.successThreshold ?? 0,
        "must be 1"
      )
    );
  return problems;
}

// apiserver-lite/resources/core/resource-validation.ts
var containerResources = /* @__PURE__ */ new Set(["cpu", "memory", "ephemeral-storage"]);
var quotaResources = /* @__PURE__ */ new Set([
  ...containerResources,
  "configmaps",
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "persistentvolumeclaims",
  "pods",
  "replicationcontrollers",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
  "requests.storage",
  "resourcequotas",
  "secrets",
  "services",
  "services.loadbalancers",
  "services.nodeports",
  "storage"
]);
var hugePages = "hugepages-";
var nanoInOne = 1000000000n;
var isHugePages2 = (name) => name.startsWith(hugePages);
var isNativeResource = (name) => !name.includes("/") || name.includes("kubernetes.io/");
var isExtendedResource = (name) => !isNativeResource(name) && !name.startsWith("requests.") && qualifiedNameProblems(`requests.${name}`).length === 0;
function validateQuotaResourceName(field, name) {
  const problems = validateResourceName(field, name);
  if (!name.includes("/") && !quotaResources.has(name) && !isHugePages2(name))
    problems.push(
      invalidResource(field, name, "must be a standard resource for quota")
    );
  return problems;
}
var isQuotaResource = (name) => quotaResources.has(name);
var mayOvercommit = (name) => isNativeResource(name) && !isHugePages2(name);
function goQuantity(value, told = false) {
  const canonical = canonicalQuantity(value);
  const binary = /[KMGTPE]i$/.test(canonical);
  let [digits2, scale] = [parseQuantity(value).nano, -9];
  while (scale < 0 && digits2 % 10n === 0n)
    [digits2, scale] = [digits2 / 10n, scale + 1];
  const text = told || scale === 0 ? canonical : "";
  return `resource.Quantity{i:resource.int64Amount{value:${digits2}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:${binary ? '"BinarySI"' : '"DecimalSI"'}}`;
}
var invalidResource = (field, name, why) => fieldErrors.invalidShown(field, name, why);
function validateResourceName(field, name) {
  const bad = qualifiedNameProblems(name);
  if (bad.length > 0)
    return bad.map((text) => invalidResource(field, name, text));
  return name.includes("/") || quotaResources.has(name) || isHugePages2(name) ? [] : [
    invalidResource(
      field,
      name,
      "must be a standard resource type or fully qualified"
    )
  ];
}
function validateContainerResourceName(field, name) {
  const problems = validateResourceName(field, name);
  if (!name.includes("/")) {
    if (!containerResources.has(name) && !isHugePages2(name))
      problems.push(
        invalidResource(
          field,
          name,
          "must be a standard resource for containers"
        )
      );
  } else if (!isNativeResource(name) && !isExtendedResource(name))
    problems.push(
      invalidResource(
        field,
        name,
        "doesn't follow extended resource name standard"
      )
    );
  return problems;
}
var isCounted = (name) => isExtendedResource(name) || quotaResources.has(name) && !/(^|\.)(cpu|memory|storage|ephemeral-storage)$/.test(name);
function validateResourceQuantity(field, name, value) {
  const parsed2 = quantity(field, value);
  if (!("nano" in parsed2)) return [parsed2];
  const problems = [];
  if (parsed2.nano < 0n)
    problems.push(
      fieldErrors.invalid(
        field,
        canonicalQuantity(String(value)),
        "must be greater than or equal to 0"
      )
    );
  if (isCounted(name) && parsed2.nano % nanoInOne !== 0n)
    problems.push(
      fieldErrors.invalidShown(
        field,
        goQuantity(String(value)),
        "must be an integer"
      )
    );
  return problems;
}
function pageBytes(name) {
  try {
    return parseQuantity(name.slice(hugePages.length)).nano;
  } catch (error) {
    if (error instanceof QuantityError) return 0n;
    throw error;
  }
}
function validatePages(field, name, value) {
  if (!isHugePages2(name)) return [];
  const page = pageBytes(name);
  if (page > 0n && parseQuantity(value).nano % page === 0n) return [];
  const shown2 = canonicalQuantity(value);
  return [
    fieldErrors.invalid(
      field,
      shown2,
      `${shown2} is not positive integer multiple of ${name}`
    )
  ];
}
function validateAgainstLimit(field, name, request, limit) {
  if (limit === void 0)
    return mayOvercommit(name) ? [] : [
      fieldErrors.required(
        `${field}.limits`,
        "Limit must be set for non overcommitable resources"
      )
    ];
  const order2 = compareQuantities(request, limit);
  const relation2 = order2 !== 0 && !mayOvercommit(name) ? "equal to" : order2 > 0 ? "less than or equal to" : void 0;
  return relation2 ? [
    fieldErrors.invalid(
      `${field}.requests`,
      canonicalQuantity(request),
      `must be ${relation2} ${name} limit of ${canonicalQuantity(limit)}`
    )
  ] : [];
}
var sorted = (list) => Object.entries(list ?? {}).map(([name, value]) => [name, String(value)]).sort(([a], [b]) => a < b ? -1 : 1);
function validateResources(field, resources2) {
  const { limits = {}, requests = {} } = resources2 ?? {};
  const problems = [];
  for (const part of ["limits", "requests"]) {
    for (const [name, value] of sorted(resources2?.[part])) {
      const path = `${field}.${part}[${name}]`;
      problems.push(
        ...validateContainerResourceName(path, name),
        ...validateResourceQuantity(path, name, value)
      );
      if (part === "requests")
        problems.push(
          ...validateAgainstLimit(
            field,
            name,
            value,
            limits[name] === void 0 ? void 0 : String(limits[name])
          )
        );
      problems.push(...validatePages(path, name, value));
    }
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages2) && !names.some((name) => name === "cpu" || name === "memory"))
    problems.push(
      fieldErrors.forbidden(field, "HugePages require cpu or memory")
    );
  return problems;
}

// apiserver-lite/resources/core/container-validation.ts
var protocols = ["SCTP", "TCP", "UDP"];
var messagePolicies = ["File", "FallbackToLogsOnError"];
var probes = ["livenessProbe", "readinessProbe", "startupProbe"];
function validatePorts(field, ports) {
  const names = /* @__PURE__ */ new Set();
  return ports.flatMap((port, index) => {
    const path = `${field}[${index}]`;
    const { name, containerPort, hostPort } = port;
    const problems = [];
    if (name) {
      const bad = portNameProblems(name);
      problems.push(...invalidEach(`${path}.name`, name, bad));
      if (bad.length === 0 && names.has(name))
        problems.push(fieldErrors.duplicate(`${path}.name`, name));
      if (bad.length === 0) names.add(name);
    }
    return [
      ...problems,
      ...containerPort ? invalidEach(
        `${path}.containerPort`,
        containerPort,
        portNumberProblems(containerPort)
      ) : [fieldErrors.required(`${path}.containerPort`)],
      ...hostPort ? invalidEach(
        `${path}.hostPort`,
        hostPort,
        portNumberProblems(hostPort)
      ) : [],
      ...oneOf(`${path}.protocol`, port.protocol, protocols, true)
    ];
  });
}
function validateCommon(field, container, volumes) {
  const { name, image } = container;
  return [
    ...name ? invalidEach(`${field}.name`, name, dnsLabelProblems(name)) : [fieldErrors.required(`${field}.name`)],
    ...image ? [] : [fieldErrors.required(`${field}.image`)],
    ...oneOf(
      `${field}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      messagePolicies,
      true
    ),
    ...validatePorts(`${field}.ports`, container.ports ?? []),
    ...validateEnv(`${field}.env`, container.env ?? []),
    ...validateEnvFrom(`${field}.envFrom`, container.envFrom ?? []),
    ...validateMounts(`${field}.volumeMounts`, container, volumes),
    ...validateDevices(`${field}.volumeDevices`, container, volumes),
    ...oneOf(
      `${field}.imagePullPolicy`,
      container.imagePullPolicy,
      ["Always", "IfNotPresent", "Never"],
      true
    ),
    ...validateResources(`${field}.resources`, container.resources),
    ...validateSecurityContext(
      `${field}.securityContext`,
      container.securityContext
    )
  ];
}
function validateLife(field, container, graceSeconds2) {
  return [
    ...validateLifecycle(
      `${field}.lifecycle`,
      container.lifecycle,
      graceSeconds2
    ),
    ...probes.flatMap(
      (kind2) => validateProbe(field, kind2, container[kind2], graceSeconds2)
    )
  ];
}
function duplicateHostPorts(containers, fieldOf) {
  const seen = /* @__PURE__ */ new Set();
  return containers.flatMap(
    (container, at) => (container.ports ?? []).flatMap((port, index) => {
      if (!port.hostPort) return [];
      const identity = `${port.protocol ?? "TCP"}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (seen.has(identity))
        return [
          fieldErrors.duplicate(
            `${fieldOf(at)}.ports[${index}].hostPort`,
            identity
          )
        ];
      seen.add(identity);
      return [];
    })
  );
}
function validateApps(field, { containers }, volumes, graceSeconds2) {
  if (!containers?.length) return [fieldErrors.required(field)];
  const names = /* @__PURE__ */ new Set();
  const problems = containers.flatMap((container, index) => {
    const path = `${field}[${index}]`;
    const { name } = container;
    const taken = names.has(name);
    names.add(name);
    return [
      ...validateCommon(path, container, volumes),
      ...taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      ...validateLife(path, container, graceSeconds2),
      ...container.restartPolicy === void 0 ? [] : [
        fieldErrors.forbidden(
          `${path}.restartPolicy`,
          "may not be set for non-init containers"
        )
      ]
    ];
  });
  return [
    ...problems,
    ...duplicateHostPorts(containers, (index) => `${field}[${index}]`)
  ];
}
function validateInits(field, { containers, initContainers }, volumes, graceSeconds2) {
  const names = new Set((containers ?? []).map(({ name }) => name));
  return (initContainers ?? []).flatMap((container, index) => {
    const path = `${field}[${index}]`;
    const { name, restartPolicy } = container;
    const taken = names.has(name);
    if (name) names.add(name);
    return [
      ...validateCommon(path, container, volumes),
      ...restartPolicy === void 0 || restartPolicy === "Always" ? [] : [
        fieldErrors.notSupported(`${path}.restartPolicy`, restartPolicy, [
          "Always"
        ])
      ],
      ...taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      ...duplicateHostPorts([container], () => `${field}[0]`),
      ...restartPolicy === "Always" ? validateLife(path, container, graceSeconds2) : ["lifecycle", ...probes].filter((part) => container[part]).map(
        (part) => fieldErrors.forbidden(
          `${path}.${part}`,
          "may not be set for init containers without restartPolicy=Always"
        )
      )
    ];
  });
}
var notForEphemeral = "cannot be set for an Ephemeral Container";
var refusedFields = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  ...probes,
  "lifecycle"
];
var isSet2 = (container, part) => {
  const value = container[part];
  if (value === void 0 || value === null) return false;
  return part === "resources" || Array.isArray(value) ? Object.keys(value).length > 0 : true;
};
function validateEphemeral(field, { containers, initContainers, ephemeralContainers: ephemeralContainers2 }, volumes) {
  const targets = new Set(
    [...containers ?? [], ...initContainers ?? []].map(({ name }) => name)
  );
  const names = new Set(targets);
  return (ephemeralContainers2 ?? []).flatMap((ephemeral, index) => {
    const path = `${field}[${index}]`;
    const container = ephemeral;
    const { name, targetContainerName: target } = ephemeral;
    const taken = names.has(name);
    names.add(name);
    return [
      ...validateCommon(path, container, volumes),
      ...validateImagePadding(path, container),
      ...taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      ...target && !targets.has(target) ? [fieldErrors.notFound(`${path}.targetContainerName`, target)] : [],
      ...refusedFields.filter((part) => isSet2(container, part)).map(
        (part) => fieldErrors.forbidden(`${path}.${part}`, notForEphemeral)
      ),
      ...(container.volumeMounts ?? []).flatMap(
        (mount, at) => ["subPath", "subPathExpr"].filter((part) => mount[part]).map(
          (part) => fieldErrors.forbidden(
            `${path}.volumeMounts[${at}].${part}`,
            notForEphemeral
          )
        )
      )
    ];
  });
}
function validateImagePadding(field, { image = "" }) {
  return image.trim() === image ? [] : [
    fieldErrors.invalid(
      `${field}.image`,
      image,
      "must not have leading or trailing whitespace"
    )
  ];
}
function validateContainers(field, spec, volumes) {
  const graceSeconds2 = spec.terminationGracePeriodSeconds ?? 0;
  return [
    ...validateApps(`${field}.containers`, spec, volumes, graceSeconds2),
    ...validateInits(`${field}.initContainers`, spec, volumes, graceSeconds2),
    ...validateEphemeral(`${field}.ephemeralContainers`, spec, volumes)
  ];
}

// apiserver-lite/resources/core/scheduling-validation.ts
var taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
function validateTolerationValue(field, { operator, value = "" }) {
  if (operator && operator !== "Equal" && operator !== "Exists")
    return [fieldErrors.notSupported(field, operator, ["Equal", "Exists"])];
  const problems = operator === "Exists" ? value ? ["value must be empty when `operator` is 'Exists'"] : [] : labelValueProblems(value);
  return problems.length > 0 ? [fieldErrors.invalid(field, value, problems.join(";"))] : [];
}
function validateTolerations(field, tolerations) {
  return tolerations.flatMap((toleration, index) => {
    const path = `${field}[${index}]`;
    const { key: key2, operator, effect, tolerationSeconds } = toleration;
    const problems = [];
    if (key2)
      problems.push(...invalidEach(`${path}.key`, key2, labelKeyProblems(key2)));
    else if (operator !== "Exists")
      problems.push(
        fieldErrors.invalid(
          `${path}.operator`,
          operator ?? "",
          'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        )
      );
    if (tolerationSeconds !== void 0 && effect !== "NoExecute")
      problems.push(
        fieldErrors.invalid(
          `${path}.effect`,
          effect ?? "",
          "effect must be 'NoExecute' when `tolerationSeconds` is set"
        )
      );
    return [
      ...problems,
      ...validateTolerationValue(`${path}.operator`, toleration),
      ...oneOf(`${path}.effect`, effect, taintEffects)
    ];
  });
}
function validateLabelRequirement(field, { key: key2, operator, values }) {
  const count3 = values?.length ?? 0;
  const path = `${field}.values`;
  const problems = [];
  switch (operator) {
    case "In":
    case "NotIn":
      if (count3 === 0)
        problems.push(
          fieldErrors.required(
            path,
            "must be specified when `operator` is 'In' or 'NotIn'"
          )
        );
      break;
    case "Exists":
    case "DoesNotExist":
      if (count3 > 0)
        problems.push(
          fieldErrors.forbidden(
            path,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
          )
        );
      break;
    case "Gt":
    case "Lt":
      if (count3 !== 1)
        problems.push(
          fieldErrors.required(
            path,
            "must be specified single value when `operator` is 'Lt' or 'Gt'"
          )
        );
      break;
    default:
      problems.push(
        fieldErrors.invalid(
          `${field}.operator`,
          operator ?? "",
          "not a valid selector operator"
        )
      );
  }
  return [
    ...problems,
    ...invalidEach(`${field}.key`, key2 ?? "", labelKeyProblems(key2 ?? ""))
  ];
}
function validateFieldRequirement(field, { key: key2 = "", operator = "", values = [] }) {
  const problems = [];
  if (operator !== "In" && operator !== "NotIn")
    problems.push(
      fieldErrors.invalid(
        `${field}.operator`,
        operator,
        "not a valid selector operator"
      )
    );
  else if (values.length !== 1)
    problems.push(
      fieldErrors.required(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
      )
    );
  if (key2 !== "metadata.name")
    return [
      ...problems,
      fieldErrors.invalid(
        `${field}.key`,
        key2,
        "not a valid field selector key"
      )
    ];
  return [
    ...problems,
    ...values.flatMap(
      (value, index) => invalidEach(
        `${field}.values[${index}]`,
        value,
        dnsSubdomainProblems(value)
      )
    )
  ];
}
function validateNodeSelectorTerm(field, { matchExpressions, matchFields }) {
  return [
    ...(matchExpressions ?? []).flatMap(
      (requirement2, index) => validateLabelRequirement(
        `${field}.matchExpressions[${index}]`,
        requirement2
      )
    ),
    ...(matchFields ?? []).flatMap(
      (requirement2, index) => validateFieldRequirement(`${field}.matchFields[${index}]`, requirement2)
    )
  ];
}
function validateNodeSelector(field, { nodeSelectorTerms: terms }) {
  const path = `${field}.nodeSelectorTerms`;
  return terms?.length ? terms.flatMap(
    (term, index) => validateNodeSelectorTerm(`${path}[${index}]`, term)
  ) : [fieldErrors.required(path, "must have at least one node selector term")];
}
function selectorKeys(selector) {
  return /* @__PURE__ */ new Set([
    ...Object.keys(selector?.matchLabels ?? {}),
    ...(selector?.matchExpressions ?? []).map(({ key: key2 }) => key2)
  ]);
}
var withoutSelector = "must not be specified when labelSelector is not set";
function validateLabelKeys(field, keys, selector) {
  if (!keys?.length) return [];
  return [
    ...selector ? [] : [fieldErrors.forbidden(field, withoutSelector)],
    ...keys.flatMap(
      (key2, index) => invalidEach(`${field}[${index}]`, key2, labelKeyProblems(key2))
    )
  ];
}
function validateAffinityTerm(field, term) {
  const { matchLabelKeys, mismatchLabelKeys, topologyKey = "" } = term;
  return [
    ...labelSelector(`${field}.labelSelector`, term.labelSelector),
    ...labelSelector(`${field}.namespaceSelector`, term.namespaceSelector),
    ...(term.namespaces ?? []).flatMap(
      (namespace) => invalidEach(`${field}.namespace`, namespace, dnsLabelProblems(namespace))
    ),
    ...validateLabelKeys(
      `${field}.matchLabelKeys`,
      matchLabelKeys,
      term.labelSelector
    ),
    ...validateLabelKeys(
      `${field}.mismatchLabelKeys`,
      mismatchLabelKeys,
      term.labelSelector
    ),
    ...(matchLabelKeys ?? []).flatMap(
      (key2, index) => mismatchLabelKeys?.includes(key2) ? [
        fieldErrors.invalid(
          `${field}.matchLabelKeys[${index}]`,
          key2,
          "exists in both matchLabelKeys and mismatchLabelKeys"
        )
      ] : []
    ),
    ...topologyKey ? [] : [fieldErrors.required(`${field}.topologyKey`, "can not be empty")],
    ...invalidEach(
      `${field}.topologyKey`,
      topologyKey,
      labelKeyProblems(topologyKey)
    )
  ];
}
function validateWeight(field, weight) {
  return weight < 1 || weight > 100 ? [fieldErrors.invalid(field, weight, "must be in the range 1-100")] : [];
}
var required = "requiredDuringSchedulingIgnoredDuringExecution";
var preferred = "preferredDuringSchedulingIgnoredDuringExecution";
function validateAffinity(field, affinity) {
  const { nodeAffinity } = affinity;
  const nodes = `${field}.nodeAffinity`;
  return [
    ...nodeAffinity?.[required] ? validateNodeSelector(`${nodes}.${required}`, nodeAffinity[required]) : [],
    ...(nodeAffinity?.[preferred] ?? []).flatMap((term, index) => {
      const path = `${nodes}.${preferred}[${index}]`;
      return [
        ...validateWeight(`${path}.weight`, term.weight),
        ...validateNodeSelectorTerm(`${path}.preference`, term.preference)
      ];
    }),
    ...["podAffinity", "podAntiAffinity"].flatMap((kind2) => [
      ...(affinity[kind2]?.[required] ?? []).flatMap(
        (term, index) => validateAffinityTerm(`${field}.${kind2}.${required}[${index}]`, term)
      ),
      ...(affinity[kind2]?.[preferred] ?? []).flatMap((term, index) => {
        const path = `${field}.${kind2}.${preferred}[${index}]`;
        return [
          ...validateWeight(`${path}.weight`, term.weight),
          ...validateAffinityTerm(
            `${path}.podAffinityTerm`,
            term.podAffinityTerm
          )
        ];
      })
    ])
  ];
}
var unsatisfiable = ["DoNotSchedule", "ScheduleAnyway"];
var inclusion = ["Honor", "Ignore"];
function validateMinDomains(field, { minDomains, whenUnsatisfiable }) {
  if (minDomains === void 0) return [];
  return [
    ...minDomains <= 0 ? [fieldErrors.invalid(field, minDomains, "must be greater than zero")] : [],
    ...whenUnsatisfiable === "DoNotSchedule" ? [] : [
      fieldErrors.invalid(
        field,
        minDomains,
        `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
      )
    ]
  ];
}
function validateSpreadKeys(field, { matchLabelKeys, labelSelector: selector }) {
  if (!matchLabelKeys?.length) return [];
  const selected = selectorKeys(selector);
  return [
    ...selector ? [] : [fieldErrors.forbidden(field, withoutSelector)],
    ...matchLabelKeys.flatMap((key2, index) => [
      ...invalidEach(`${field}[${index}]`, key2, labelKeyProblems(key2)),
      ...selected.has(key2) ? [
        fieldErrors.invalid(
          `${field}[${index}]`,
          key2,
          "exists in both matchLabelKeys and labelSelector"
        )
      ] : []
    ])
  ];
}
function validateSpread(field, spec) {
  const constraints = spec.topologySpreadConstraints ?? [];
  return constraints.flatMap((constraint, index) => {
    const path = `${field}.topologySpreadConstraints[${index}]`;
    const { maxSkew = 0, topologyKey, whenUnsatisfiable = "" } = constraint;
    const again = constraints.slice(index + 1).some(
      (other) => other.topologyKey === topologyKey && (other.whenUnsatisfiable ?? "") === whenUnsatisfiable
    );
    return [
      ...maxSkew > 0 ? [] : [
        fieldErrors.invalid(
          `${path}.maxSkew`,
          maxSkew,
          "must be greater than zero"
        )
      ],
      ...topologyKey ? [] : [fieldErrors.required(`${path}.topologyKey`, "can not be empty")],
      ...unsatisfiable.includes(whenUnsatisfiable) ? [] : [
        fieldErrors.notSupported(
          `${path}.whenUnsatisfiable`,
          whenUnsatisfiable,
          unsatisfiable
        )
      ],
      ...again ? [
        fieldErrors.duplicate(
          `${path}.{topologyKey, whenUnsatisfiable}`,
          `{${topologyKey}, ${whenUnsatisfiable}}`
        )
      ] : [],
      ...validateMinDomains(`${path}.minDomains`, constraint),
      ...oneOf(
        `${path}.nodeAffinityPolicy`,
        constraint.nodeAffinityPolicy,
        inclusion
      ),
      ...oneOf(
        `${path}.nodeTaintsPolicy`,
        constraint.nodeTaintsPolicy,
        inclusion
      ),
      ...validateSpreadKeys(`${path}.matchLabelKeys`, constraint),
      ...labelSelector(`${path}.labelSelector`, constraint.labelSelector)
    ];
  });
}

// apiserver-lite/resources/core/pod-update-validation.ts
import { isIPv6 as isIPv62 } from "node:net";
var maxInt32 = 2 ** 31 - 1;
var allowedChanges = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
function goDifference(type, now, was) {
  const [a, b] = [
    now,
    was
  ];
  const names = [.../* @__PURE__ */ new Set([...Object.keys(b), ...Object.keys(a)])].filter(
    (name) => !sameValue(a[name], b[name])
  );
  const title = (name) => name[0].toUpperCase() + name.slice(1);
  const lines = names.flatMap((name) => [
    `- 	${title(name)}: ${JSON.stringify(b[name] ?? null)},`,
    `+ 	${title(name)}: ${JSON.stringify(a[name] ?? null)},`
  ]);
  return `  ${type}{
${lines.join("\n")}
  }
`;
}
function validatePodUpdate(pod, old) {
  const problems = [
    ...validateMirror(pod, old),
    ...validatePodAnnotations(
      "metadata.annotations",
      pod.metadata.annotations,
      pod.spec
    )
  ];
  for (const part of ["containers", "initContainers"]) {
    const [now, was] = [pod.spec[part] ?? [], old.spec[part] ?? []];
    if (now.length !== was.length) {
      problems.push(
        fieldErrors.forbidden(
          `spec.${part}`,
          "pod updates may not add or remove containers"
        )
      );
      return problems;
    }
    for (const [index, container] of now.entries()) {
      const path = `spec.${part}[${index}]`;
      problems.push(
        ...container.image ? validateImagePadding(path, container) : [fieldErrors.required(`${path}.image`)]
      );
    }
  }
  const [deadline, wasDeadline] = [
    pod.spec.activeDeadlineSeconds,
    old.spec.activeDeadlineSeconds
  ];
  if (deadline !== void 0 && (deadline < 0 || deadline > maxInt32))
    problems.push(
      fieldErrors.invalid(
        "spec.activeDeadlineSeconds",
        deadline,
        `must be between 0 and ${maxInt32}, inclusive`
      )
    );
  else if (wasDeadline !== void 0) {
    if (deadline === void 0) {
      problems.push(
        fieldErrors.invalid(
          "spec.activeDeadlineSeconds",
          null,
          "must not update from a positive integer to nil value"
        )
      );
    } else if (deadline > wasDeadline) {
      problems.push(
        fieldErrors.invalid(
          "spec.activeDeadlineSeconds",
          deadline,
          "must be less than or equal to previous value"
        )
      );
    }
  }
  const tolerations = pod.spec.tolerations ?? [];
  const bare = (toleration) => ({
    ...toleration,
    tolerationSeconds: void 0
  });
  for (const toleration of old.spec.tolerations ?? []) {
    if (!tolerations.some((one) => sameValue(bare(one), bare(toleration)))) {
      problems.push(
        fieldErrors.forbidden(
          "spec.tolerations",
          "existing toleration can not be modified except its tolerationSeconds"
        )
      );
      break;
    }
  }
  const gates = new Set(
    (old.spec.schedulingGates ?? []).map(({ name }) => name)
  );
  for (const [index, { name }] of (pod.spec.schedulingGates ?? []).entries()) {
    if (!gates.has(name)) {
      problems.push(
        fieldErrors.forbidden(
          `spec.schedulingGates[${index}].name`,
          `only deletion is allowed, but found new scheduling gate '${name}'`
        )
      );
    }
  }
  if (problems.length > 0) return problems;
  if (old.spec.schedulingGates?.length)
    problems.push(...validateNarrowing(pod.spec, old.spec));
  if (problems.length > 0) return problems;
  const masked = maskAllowed(pod.spec, old.spec);
  if (!sameValue(masked, old.spec)) {
    problems.push(
      fieldErrors.forbidden(
        "spec",
        `${allowedChanges}
${goDifference("core.PodSpec", masked, old.spec)}`
      )
    );
  }
  return problems;
}
var mirrorField = `metadata.annotations[${mirrorAnnotation}]`;
function validateMirror(pod, old) {
  const [now, was] = [
    pod.metadata.annotations?.[mirrorAnnotation],
    old.metadata.annotations?.[mirrorAnnotation]
  ];
  if (now === was) return [];
  const verb = was === void 0 ? "add" : now === void 0 ? "remove" : "update";
  return [
    fieldErrors.forbidden(mirrorField, `may not ${verb} mirror pod annotation`)
  ];
}
function validateNarrowing(spec, was) {
  const problems = [];
  const [selector, before2] = [spec.nodeSelector, was.nodeSelector ?? {}];
  if (Object.entries(before2).some(([key2, value]) => selector?.[key2] !== value))
    problems.push(
      fieldErrors.invalid(
        "spec.nodeSelector",
        asGo("map[string]string", selector),
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
      )
    );
  const [terms, old] = [termsOf(spec), termsOf(was)];
  if (!old?.length) return problems;
  if (terms?.length !== old.length)
    return [
      ...problems,
      fieldErrors.invalid(
        termsField,
        asGo("[]core.NodeSelectorTerm", terms),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
      )
    ];
  const kept = (now = [], earlier = []) => earlier.every((each, index) => sameValue(now[index], each));
  return [
    ...problems,
    ...terms.flatMap(
      (term, index) => kept(term.matchExpressions, old[index].matchExpressions) && kept(term.matchFields, old[index].matchFields) ? [] : [
        fieldErrors.invalid(
          `${termsField}[${index}]`,
          asGo("core.NodeSelectorTerm", term),
          "only additions are allowed (no mutations or deletions)"
        )
      ]
    )
  ];
}
var termsField = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
var termsOf = ({ affinity }) => affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
function maskAllowed(spec, was) {
  const masked = { ...spec };
  for (const part of ["containers", "initContainers"]) {
    const list = spec[part];
    if (list)
      masked[part] = list.map(
        (container, index) => ({ ...container, image: was[part]?.[index]?.image })
      );
  }
  const take = (name) => {
    if (was[name] === void 0) delete masked[name];
    else masked[name] = was[name];
  };
  take("activeDeadlineSeconds");
  take("tolerations");
  if ((was.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    take("terminationGracePeriodSeconds");
  }
  if (was.schedulingGates?.length) {
    take("schedulingGates");
    take("nodeSelector");
    masked.affinity = {
      ...spec.affinity,
      nodeAffinity: was.affinity?.nodeAffinity
    };
  }
  return masked;
}
function validateAddresses(name, addresses) {
  const field = `status.${name}`;
  const type = name === "podIPs" ? "core.PodIP" : "core.HostIP";
  const as = (ip) => asGo(type, { ip });
  const bad = addresses.flatMap(
    ({ ip }, index) => invalidEach(`${field}[${index}]`, ip, ipProblems(ip))
  );
  if (bad.length > 0 || addresses.length < 2) return bad;
  const families = new Set(addresses.map(({ ip }) => isIPv62(ip)));
  return [
    ...addresses.length > 2 || families.size < 2 ? [
      fieldErrors.invalid(
        field,
        asGo(`[]${type}`, addresses),
        "may specify no more than one IP for each IP family"
      )
    ] : [],
    ...addresses.flatMap(
      ({ ip }, index) => addresses.findIndex((other) => other.ip === ip) < index ? [fieldErrors.duplicate(`${field}[${index}]`, as(ip))] : []
    )
  ];
}
function validatePodStatus(pod, old) {
  const { status = {} } = pod;
  const problems = (status.conditions ?? []).flatMap(
    ({ type }, index) => (
      // The reference says metadata.
      invalidEach(
        `metadata.conditions[${index}].Type`,
        type,
        qualifiedNameProblems(type)
      )
    )
  );
  const nominated = status.nominatedNodeName;
  if (nominated)
    problems.push(
      ...invalidEach(
        "status.nominatedNodeName",
        nominated,
        dnsSubdomainProblems(nominated)
      )
    );
  if (pod.spec.nodeName !== old.spec.nodeName) {
    problems.push(
      fieldErrors.forbidden("status.nodeName", "may not be changed directly")
    );
  }
  if (old.status?.qosClass && pod.status?.qosClass !== old.status.qosClass) {
    problems.push(
      fieldErrors.invalid(
        "status.qosClass",
        pod.status?.qosClass ?? "",
        "field is immutable"
      )
    );
  }
  const groups = ["containerStatuses", "initContainerStatuses"];
  for (const group2 of old.spec.restartPolicy === "Always" ? [] : groups) {
    for (const [index, status2] of (old.status?.[group2] ?? []).entries()) {
      if (!status2.state?.terminated) continue;
      if (old.spec.restartPolicy === "OnFailure" && status2.state.terminated.exitCode !== 0)
        continue;
      const spec = old.spec.initContainers?.find(
        ({ name }) => name === status2.name
      );
      if (group2 === "initContainerStatuses" && spec?.restartPolicy === "Always")
        continue;
      const now = pod.status?.[group2]?.find(({ name }) => name === status2.name);
      if (now && !now.state?.terminated) {
        problems.push(
          fieldErrors.forbidden(
            `status.${group2}[${index}].state`,
            "may not be transitioned to non-terminated state"
          )
        );
      }
    }
  }
  problems.push(...validateAddresses("podIPs", status.podIPs ?? []));
  const hostIPs = status.hostIPs ?? [];
  if (hostIPs[0] && hostIPs[0].ip !== (status.hostIP ?? ""))
    problems.push(
      fieldErrors.invalid(
        "status.hostIPs[0].ip",
        hostIPs[0].ip,
        "must be equal to `hostIP`"
      )
    );
  return [...problems, ...validateAddresses("hostIPs", hostIPs)];
}

// apiserver-lite/resources/core/volume-sources.ts
var notSources = [
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode"
];
var requiredFields = {
  awsElasticBlockStore: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  azureFile: ["secretName", "shareName"],
  cephfs: ["monitors"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  gcePersistentDisk: ["pdName"],
  gitRepo: ["repository"],
  glusterfs: ["endpoints", "path"],
  hostPath: ["path"],
  iscsi: ["targetPortal", "iqn"],
  local: ["path"],
  nfs: ["server", "path"],
  persistentVolumeClaim: ["claimName"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  rbd: ["monitors", "image"],
  scaleIO: ["gateway", "system", "volumeName"],
  storageos: ["volumeName"],
  vsphereVolume: ["volumePath"]
};
var hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket"
];
var hostAndPort = /^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;
var quobyteRegistry = "must be a host:port pair or multiple pairs separated by commas";
var initiatorForms = {
  iqn: /^iqn\.\d{4}-\d{2}\.([a-z0-9.-]+)(:([^,;*&$|\s]+))?$/i,
  eui: /^eui\.[0-9a-f]{16}$/i,
  naa: /^naa\.[0-9a-f]{32}$/i
};
var diskUris = {
  Managed: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
  others: "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
};
function inRange(field, value, text) {
  return value !== void 0 && (value < 0 || value > 255) ? [fieldErrors.invalid(field, value, text)] : [];
}
var lunRange = "must be between 0 and 255, inclusive";
var partitionRange = "must be between 1 and 255, inclusive";
function initiator(field, name) {
  const form = initiatorForms[name.slice(0, 3)];
  if (!form)
    return [
      fieldErrors.invalid(
        field,
        name,
        "must be valid format starting with iqn, eui, or naa"
      )
    ];
  return form.test(name) ? [] : [fieldErrors.invalid(field, name, "must be valid format")];
}
function secretReference(field, reference, persistent) {
  if (!reference) return [];
  const parts2 = persistent ? ["name", "namespace"] : ["name"];
  return parts2.filter((part) => !reference[part]).map((part) => fieldErrors.required(`${field}.${part}`));
}
function validateDriverName(field, driver) {
  return [
    ...driver ? [] : [fieldErrors.required(field)],
    ...driver.length > 63 ? [fieldErrors.tooLong(field, 63)] : [],
    ...invalidEach(field, driver, dnsSubdomainProblems(driver.toLowerCase()))
  ];
}
function validateCsi(field, csi, persistent) {
  const problems = validateDriverName(`${field}.driver`, csi.driver ?? "");
  if (!persistent) {
    const { name } = csi.nodePublishSecretRef ?? {};
    if (csi.nodePublishSecretRef && !name)
      problems.push(fieldErrors.required(`${field}.nodePublishSecretRef.name`));
    return name ? [
      ...problems,
      ...invalidEach(`${field}.name`, name, dnsSubdomainProblems(name))
    ] : problems;
  }
  if (!csi.volumeHandle)
    problems.push(fieldErrors.required(`${field}.volumeHandle`));
  for (const part of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef"
  ]) {
    const reference = csi[part];
    if (!reference) continue;
    const { name, namespace } = reference;
    const path = `${field}.${part}`;
    problems.push(
      ...name ? invalidEach(`${path}.name`, name, dnsSubdomainProblems(name)) : [fieldErrors.required(`${path}.name`)],
      ...namespace ? invalidEach(
        `${path}.namespace`,
        namespace,
        dnsLabelProblems(namespace)
      ) : [fieldErrors.required(`${path}.namespace`)]
    );
  }
  return problems;
}
var checks = {
  awsElasticBlockStore: (field, { partition }) => inRange(`${field}.partition`, partition, partitionRange),
  azureDisk(field, { kind: kind2, cachingMode, diskURI = "" }) {
    const uri = `${field}.diskURI`;
    const managed = kind2 === "Managed";
    const wanted = managed ? diskUris.Managed : diskUris.others;
    const fits2 = diskURI.startsWith(managed ? "/subscriptions/" : "https://");
    return [
      ...oneOf(`${field}.cachingMode`, cachingMode, [
        "None",
        "ReadOnly",
        "ReadWrite"
      ]),
      ...oneOf(`${field}.kind`, kind2, ["Dedicated", "Managed", "Shared"]),
      ...fits2 ? [] : [fieldErrors.notSupported(uri, diskURI, [wanted])]
    ];
  },
  azureFile: (field, source) => source.secretNamespace === "" ? [fieldErrors.required(`${field}.secretNamespace`)] : [],
  cinder: (field, { secretRef }, persistent) => secretReference(`${field}.secretRef`, secretRef, persistent),
  csi: validateCsi,
  fc(field, { targetWWNs = [], wwids = [], lun }) {
    const names = `${field}.targetWWNs`;
    if (targetWWNs.length === 0)
      return wwids.length > 0 ? [] : [
        fieldErrors.required(
          names,
          "must specify either targetWWNs or wwids, but not both"
        )
      ];
    return [
      ...wwids.length > 0 ? [
        fieldErrors.invalid(
          names,
          targetWWNs,
          "targetWWNs and wwids can not be specified simultaneously"
        )
      ] : [],
      ...lun === void 0 ? [
        fieldErrors.required(
          `${field}.lun`,
          "lun is required if targetWWNs is specified"
        )
      ] : inRange(`${field}.lun`, lun, lunRange)
    ];
  },
  flexVolume: (field, { options }) => Object.keys(options ?? {}).filter(
    (key2) => /\.(kubernetes|k8s)\.io$/.test(
      `.${key2.includes("/") ? key2.slice(0, key2.indexOf("/")) : key2}`.toLowerCase()
    )
  ).map(
    (key2) => fieldErrors.invalid(
      `${field}.options[${key2}]`,
      key2,
      "kubernetes.io and k8s.io namespaces are reserved"
    )
  ),
  flocker(field, { datasetName, datasetUUID }) {
    if (!datasetName && !datasetUUID)
      return [
        fieldErrors.required(
          field,
          "one of datasetName and datasetUUID is required"
        )
      ];
    return [
      ...datasetName && datasetUUID ? [
        fieldErrors.invalid(
          field,
          "resource",
          "datasetName and datasetUUID can not be specified simultaneously"
        )
      ] : [],
      ...datasetName?.includes("/") ? [
        fieldErrors.invalid(
          `${field}.datasetName`,
          datasetName,
          "must not contain '/'"
        )
      ] : []
    ];
  },
  gcePersistentDisk: (field, { partition }) => inRange(`${field}.partition`, partition, partitionRange),
  gitRepo: (field, { directory = "" }) => validateRelativePath(`${field}.directory`, directory),
  glusterfs: (field, source) => source.endpointsNamespace === "" ? [
    fieldErrors.invalid(
      `${field}.endpointsNamespace`,
      "",
      "if the endpointnamespace is set, it must be a valid namespace name"
    )
  ] : [],
  hostPath: (field, { path, type }) => path ? [
    ...validateNoBacksteps(`${field}.path`, path),
    ...oneOf(`${field}.type`, type, hostPathTypes)
  ] : [],
  iscsi(field, source) {
    const { iqn, lun, initiatorName } = source;
    const secured = source.chapAuthDiscovery || source.chapAuthSession;
    return [
      ...iqn ? initiator(`${field}.iqn`, iqn) : [],
      ...inRange(`${field}.lun`, lun, lunRange),
      ...secured && !source.secretRef ? [fieldErrors.required(`${field}.secretRef`)] : [],
      ...initiatorName === void 0 ? [] : initiator(`${field}.initiatorname`, initiatorName)
    ];
  },
  local: (field, { path }) => path ? validateNoBacksteps(`${field}.path`, path) : [],
  nfs: (field, { path = "" }) => path.startsWith("/") ? [] : [
    fieldErrors.invalid(
      `${field}.path`,
      path,
      "must be an absolute path"
    )
  ],
  quobyte(field, { registry, tenant, volume }) {
    const problems = [];
    if (!registry)
      problems.push(fieldErrors.required(`${field}.registry`, quobyteRegistry));
    else if ((tenant?.length ?? 0) > 64)
      problems.push(
        fieldErrors.required(
          `${field}.tenant`,
          "must be a UUID and may not exceed a length of 64 characters"
        )
      );
    else
      for (const pair2 of registry.split(","))
        if (!hostAndPort.test(pair2))
          problems.push(
            fieldErrors.invalid(`${field}.registry`, registry, quobyteRegistry)
          );
    return volume ? problems : [...problems, fieldErrors.required(`${field}.volume`)];
  },
  storageos: (field, source, persistent) => {
    const { volumeName, volumeNamespace } = source;
    return [
      ...volumeName ? invalidEach(
        `${field}.volumeName`,
        volumeName,
        dnsLabelProblems(volumeName)
      ) : [],
      ...volumeNamespace ? invalidEach(
        `${field}.volumeNamespace`,
        volumeNamespace,
        dnsLabelProblems(volumeNamespace)
      ) : [],
      ...secretReference(`${field}.secretRef`, source.secretRef, persistent)
    ];
  }
};
var isEmpty2 = (value) => !value || Array.isArray(value) && value.length === 0;
function validateSource2(field, kind2, source, persistent) {
  const values = source;
  const check2 = checks[kind2];
  return [
    ...(requiredFields[kind2] ?? []).filter((name) => isEmpty2(values[name])).map((name) => fieldErrors.required(`${field}.${name}`)),
    ...check2?.(field, source, persistent) ?? []
  ];
}

// apiserver-lite/resources/core/persistent-volume.ts
var asVolume = (object) => object;
var accessModes = [
  "ReadOnlyMany",
  "ReadWriteMany",
  "ReadWriteOnce",
  "ReadWriteOncePod"
];
var volumeModes = ["Block", "Filesystem"];
function accessModeProblems(field, modes) {
  const problems = modes.flatMap(
    (mode) => accessModes.includes(mode) ? [] : [fieldErrors.notSupported(field, mode, accessModes)]
  );
  const shared = modes.some(
    (mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode)
  );
  if (modes.includes("ReadWriteOncePod") && shared)
    problems.push(
      fieldErrors.forbidden(
        field,
        "may not use ReadWriteOncePod with other access modes"
      )
    );
  return problems;
}
var shortModes = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP"
};
function accessModesText(modes) {
  const order2 = [
    "ReadWriteOnce",
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOncePod"
  ];
  return order2.filter((mode) => modes?.includes(mode)).map((mode) => shortModes[mode]).join(",");
}
function sourceOf3(volume) {
  return Object.entries(volume.spec ?? {}).filter(
    ([name, value]) => !notSources.includes(name) && value !== void 0
  );
}
var sourceOrder = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi"
];
function validateCapacity(field, capacity) {
  const names = Object.keys(capacity ?? {});
  const problems = [];
  if (names.length === 0) problems.push(fieldErrors.required(field));
  if (names.length !== 1 || names[0] !== "storage")
    problems.push(
      fieldErrors.notSupported(field, asGo("core.ResourceList", capacity), [
        "storage"
      ])
    );
  for (const [name, value] of Object.entries(capacity ?? {})) {
    const path = `${field}[${name}]`;
    problems.push(...validateAmount(path, value));
    if (parseQuantity(value).nano <= 0n)
      problems.push(
        fieldErrors.invalid(
          path,
          canonicalQuantity(value),
          "must be greater than zero"
        )
      );
  }
  return problems;
}
function validateAmount(field, value) {
  return parseQuantity(value).nano < 0n ? [
    fieldErrors.invalid(
      field,
      quantityValue(value),
      "must be a valid resource quantity"
    )
  ] : [];
}
function validateSources(spec) {
  const [first, ...surplus] = sourceOrder.filter((kind2) => spec[kind2]);
  if (!first)
    return [fieldErrors.required("spec", "must specify a volume type")];
  const reported = first === "gcePersistentDisk" ? "persistentDisk" : first;
  return [
    ...validateSource2(`spec.${reported}`, first, spec[first], true),
    ...first === "local" && !spec.nodeAffinity ? [
      fieldErrors.required(
        "spec.nodeAffinity",
        "Local volume requires node affinity"
      )
    ] : [],
    ...surplus.map(
      (kind2) => fieldErrors.forbidden(
        `spec.${kind2}`,
        "may not specify more than 1 volume type"
      )
    )
  ];
}
function validateVolume(spec) {
  const { nodeAffinity, hostPath, storageClassName: className } = spec;
  const policy = spec.persistentVolumeReclaimPolicy;
  const policyField = "spec.persistentVolumeReclaimPolicy";
  const modes = spec.accessModes ?? [];
  return [
    ...modes.length > 0 ? [] : [fieldErrors.required("spec.accessModes")],
    ...accessModeProblems("spec.accessModes", modes),
    ...validateCapacity("spec.capacity", spec.capacity),
    ...oneOf(policyField, policy, ["Delete", "Recycle", "Retain"]),
    ...!nodeAffinity ? [] : nodeAffinity.required ? validateNodeSelector(
      "spec.nodeAffinity.required",
      nodeAffinity.required
    ) : [
      fieldErrors.required(
        "spec.nodeAffinity.required",
        "must specify required node constraints"
      )
    ],
    ...validateSources(spec),
    ...policy === "Recycle" && hostPath && /^\/+$/.test(hostPath.path) ? [
      fieldErrors.forbidden(
        policyField,
        "may not be 'recycle' for a hostPath mount of '/'"
      )
    ] : [],
    ...className ? invalidEach(
      "spec.storageClassName",
      className,
      dnsSubdomainProblems(className)
    ) : [],
    ...oneOf("spec.volumeMode", spec.volumeMode, volumeModes)
  ];
}
var deprecatedSources = [
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"]
];
var classAnnotation = "volume.beta.kubernetes.io/storage-class";
var classAnnotationWarning = `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`;
function* volumeWarnings({
  metadata,
  spec = {}
}) {
  if (classAnnotation in (metadata.annotations ?? {}))
    yield classAnnotationWarning;
  if (spec.persistentVolumeReclaimPolicy === "Recycle")
    yield "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  for (const [kind2, since, name = kind2] of deprecatedSources)
    if (spec[kind2]) yield `spec.${name}: ${since}`;
}
var persistentVolumeStrategy = {
  countsGeneration: false,
  prepareForCreate(object, context) {
    const volume = asVolume(object);
    delete volume.spec?.volumeAttributesClassName;
    volume.status = {
      phase: "Pending",
      lastPhaseTransitionTime: formatTime(context.clock.now())
    };
  },
  prepareForUpdate(object, old) {
    const [volume, was] = [asVolume(object), asVolume(old)];
    volume.status = { ...was.status };
    if (was.spec?.volumeAttributesClassName === void 0)
      delete volume.spec?.volumeAttributesClassName;
  },
  validate: (object) => validateVolume(asVolume(object).spec ?? {}),
  warnings: (object) => volumeWarnings(asVolume(object)),
  validateUpdate(object, old) {
    const [volume, was] = [asVolume(object), asVolume(old)];
    const [sources3, before2] = [sourceOf3(volume), sourceOf3(was)].map(
      (list) => Object.fromEntries(list)
    );
    const [now, earlier] = [volume.spec?.nodeAffinity, was.spec?.nodeAffinity];
    return [
      ...sameValue(sources3, before2) ? [] : [
        fieldErrors.forbidden(
          "spec.persistentvolumesource",
          `spec.persistentvolumesource is immutable after creation
${goDifference("core.PersistentVolumeSource", sources3, before2)}`
        )
      ],
      ...immutable("volumeMode", volume.spec?.volumeMode, was.spec?.volumeMode),
      ...earlier && !sameValue(now, earlier) ? [
        fieldErrors.invalid(
          "nodeAffinity",
          asGo("*core.VolumeNodeAffinity", now),
          "field is immutable, except for updating from beta label to GA"
        )
      ] : []
    ];
  },
  status: {
    prepareForUpdate(object, old, context) {
      const [volume, was] = [asVolume(object), asVolume(old)];
      volume.spec = { ...was.spec };
      const { status } = volume;
      if (!status) return;
      if (status.phase !== was.status?.phase)
        status.lastPhaseTransitionTime = formatTime(context.clock.now());
      else if (was.status?.lastPhaseTransitionTime)
        status.lastPhaseTransitionTime ??= was.status.lastPhaseTransitionTime;
    }
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = asVolume(object);
    const phase = metadata.deletionTimestamp ? "Terminating" : status?.phase ?? "";
    const claim = spec.claimRef ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}` : "";
    return [
      metadata.name,
      spec.capacity?.["storage"] ?? "",
      accessModesText(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? "",
      phase,
      claim,
      metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec.storageClassName ?? "",
      spec.volumeAttributesClassName || "<unset>",
      status?.reason ?? "",
      formatAge(metadata.creationTimestamp, now),
      spec.volumeMode ?? "<unset>"
    ];
  }
};

// apiserver-lite/resources/core/persistent-volume-claim.ts
var asClaim = (object) => object;
var storageOf = (claim) => claim.spec?.resources?.requests?.["storage"];
function validateClaimSpec(field, spec) {
  const modes = spec.accessModes ?? [];
  const modesField = `${field}.accessModes`;
  const problems = [
    ...modes.length > 0 ? [] : [
      fieldErrors.required(
        modesField,
        "at least 1 access mode is required"
      )
    ],
    ...labelSelector(`${field}.selector`, spec.selector),
    ...accessModeProblems(modesField, modes)
  ];
  const storageField = `${field}.resources[storage]`;
  const storage = spec.resources?.requests?.["storage"];
  if (storage === void 0) problems.push(fieldErrors.required(storageField));
  else if (parseQuantity(storage).nano <= 0n)
    problems.push(
      fieldErrors.invalid(
        storageField,
        canonicalQuantity(storage),
        "must be greater than zero"
      )
    );
  const className = spec.storageClassName;
  return [
    ...problems,
    ...className ? invalidEach(
      `${field}.storageClassName`,
      className,
      dnsSubdomainProblems(className)
    ) : [],
    ...oneOf(`${field}.volumeMode`, spec.volumeMode, volumeModes),
    ...validateDataSources(field, spec)
  ];
}
function validateDataSources(field, spec) {
  const { dataSource, dataSourceRef } = spec;
  const problems = ["dataSource", "dataSourceRef"].flatMap(
    (part) => {
      const source = spec[part];
      if (!source) return [];
      const { name, kind: kind2 = "", apiGroup = "" } = source;
      const path = `${field}.${part}`;
      return [
        ...name ? [] : [fieldErrors.required(`${path}.name`)],
        ...kind2 ? [] : [fieldErrors.required(`${path}.kind`)],
        ...!apiGroup && kind2 !== "PersistentVolumeClaim" ? [
          fieldErrors.invalid(
            path,
            kind2,
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
          )
        ] : [],
        ...apiGroup ? invalidEach(
          `${path}.apiGroup`,
          apiGroup,
          dnsSubdomainProblems(apiGroup)
        ) : []
      ];
    }
  );
  if (dataSource && dataSourceRef && !sameValue(dataSource, dataSourceRef))
    problems.push(
      fieldErrors.invalidShown(
        field,
        // The reference shows the path itself.
        'field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}',
        "must match dataSourceRef"
      )
    );
  return problems;
}
function joinDataSources(spec) {
  const { dataSource: source, dataSourceRef: reference } = spec;
  const possible = source && (source.apiGroup ? source.apiGroup === "snapshot.storage.k8s.io" && source.kind === "VolumeSnapshot" : source.kind === "PersistentVolumeClaim");
  if (source && !possible) delete spec.dataSource;
  if (reference?.namespace) delete spec.dataSourceRef;
  if (spec.dataSource && !spec.dataSourceRef && !reference)
    spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !source) {
    const { apiGroup, kind: kind2, name } = spec.dataSourceRef;
    spec.dataSource = { ...apiGroup ? { apiGroup } : {}, kind: kind2, name };
  }
}
var resizeStates = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending"
];
function validateClaimStatus({
  spec,
  status
}) {
  const onlyStorage = (field, name) => name === "storage" || name.includes("/") ? [] : [fieldErrors.notSupported(field, name, ["storage"])];
  const states = "status.allocatedResourceStatus";
  return [
    ...spec?.accessModes?.length ? [] : [fieldErrors.required("Spec.accessModes")],
    ...Object.entries(status?.capacity ?? {}).flatMap(
      ([name, value]) => validateAmount(`status.capacity[${name}]`, value)
    ),
    ...Object.entries(status?.allocatedResourceStatuses ?? {}).flatMap(
      ([name, state]) => [
        ...onlyStorage(states, name),
        ...resizeStates.includes(state) ? [] : [
          {
            ...fieldErrors.notSupported(states, 0, resizeStates),
            detail: `Unsupported value: ${name}: supported values: ${resizeStates.map((one) => JSON.stringify(one)).join(", ")}`
          }
        ]
      ]
    ),
    ...Object.entries(status?.allocatedResources ?? {}).flatMap(
      ([name, value]) => {
        const other = onlyStorage("status.allocatedResources", name);
        return other.length > 0 ? other : validateAmount(`status.allocatedResources[${name}]`, value);
      }
    )
  ];
}
function* claimWarnings({
  metadata,
  spec
}) {
  if (classAnnotation in (metadata.annotations ?? {}))
    yield classAnnotationWarning;
  for (const part of ["requests", "limits"]) {
    const value = spec?.resources?.[part]?.["storage"];
    if (value !== void 0 && parseQuantity(value).nano % 1000000000n !== 0n)
      yield `spec.resources.${part}[storage]: fractional byte value ${JSON.stringify(canonicalQuantity(value))} is invalid, must be an integer`;
  }
}
var persistentVolumeClaimStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    const claim = asClaim(object);
    claim.status = { phase: "Pending" };
    claim.spec ??= {};
    delete claim.spec.volumeAttributesClassName;
    joinDataSources(claim.spec);
  },
  prepareForUpdate(object, old) {
    const [claim, was] = [asClaim(object), asClaim(old)];
    claim.status = { ...was.status };
    claim.spec ??= {};
    if (was.spec?.volumeAttributesClassName === void 0)
      delete claim.spec.volumeAttributesClassName;
    joinDataSources(claim.spec);
  },
  validate: (object) => validateClaimSpec("spec", asClaim(object).spec ?? {}),
  warnings: (object) => claimWarnings(asClaim(object)),
  validateUpdate(object, old) {
    const [claim, was] = [asClaim(object), asClaim(old)];
    const [spec, before2] = [claim.spec ?? {}, was.spec ?? {}];
    const [now, earlier] = [storageOf(claim), storageOf(was)];
    const known = was.metadata.annotations?.[classAnnotation];
    const problems = immutable(
      `metadata.annotations[${classAnnotation}]`,
      claim.metadata.annotations?.[classAnnotation] ?? "",
      known ?? ""
    );
    const free = [
      ...before2.volumeName ? [] : ["volumeName"],
      ...before2.storageClassName === void 0 && spec.storageClassName !== void 0 && (known === void 0 || known === spec.storageClassName) ? ["storageClassName"] : [],
      ...was.status?.phase === "Bound" ? ["resources.requests.storage"] : []
    ];
    if (!agreeBut(spec, before2, free))
      problems.push(
        fieldErrors.forbidden(
          "spec",
          `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims
${goDifference("core.PersistentVolumeClaimSpec", spec, before2)}`
        )
      );
    if (now !== void 0 && earlier !== void 0 && compareQuantities(now, earlier) < 0) {
      const allocated = was.status?.capacity?.["storage"] ?? "0";
      if (compareQuantities(now, allocated) <= 0)
        problems.push(
          fieldErrors.forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity"
          )
        );
    }
    return [
      ...problems,
      ...immutable("volumeMode", spec.volumeMode, before2.volumeMode)
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asClaim(object).spec = { ...asClaim(old).spec };
    },
    validateUpdate: (object) => validateClaimStatus(asClaim(object))
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = asClaim(object);
    const bound = Boolean(spec.volumeName);
    return [
      metadata.name,
      metadata.deletionTimestamp ? "Terminating" : status?.phase ?? "",
      spec.volumeName ?? "",
      bound ? status?.capacity?.["storage"] ?? "" : "",
      bound ? accessModesText(status?.accessModes) : "",
      metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec.storageClassName ?? "",
      spec.volumeAttributesClassName || "<unset>",
      formatAge(metadata.creationTimestamp, now),
      spec.volumeMode ?? "<unset>"
    ];
  }
};

// apiserver-lite/resources/core/volume-validation.ts
var kinds = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image"
];
var reportedAs = {
  gcePersistentDisk: "persistentDisk"
};
var surplusReportedAs = {
  cephfs: "cephFS",
  downwardAPI: "downwarAPI"
};
function validateMode(field, mode) {
  return mode !== void 0 && (mode < 0 || mode > 511) ? [
    fieldErrors.invalid(
      field,
      mode,
      "must be a number between 0 and 0777 (octal), both inclusive"
    )
  ] : [];
}
function validateItem(field, item) {
  return [
    ...item.key ? [] : [fieldErrors.required(`${field}.key`)],
    ...item.path ? [] : [fieldErrors.required(`${field}.path`)],
    ...validateFilePath(`${field}.path`, item.path ?? ""),
    ...validateMode(`${field}.mode`, item.mode)
  ];
}
var validateItems = (field, items) => (items ?? []).flatMap(
  (item, index) => validateItem(`${field}[${index}]`, item)
);
function validateDownwardFile(field, file) {
  const { path = "", fieldRef, resourceFieldRef } = file;
  const problems = [
    ...path ? [] : [fieldErrors.required(`${field}.path`)],
    ...validateFilePath(`${field}.path`, path)
  ];
  if (fieldRef) {
    problems.push(...validateFieldRef(`${field}.fieldRef`, fieldRef, "file"));
    if (resourceFieldRef)
      problems.push(
        fieldErrors.invalid(
          field,
          "resource",
          "fieldRef and resourceFieldRef can not be specified simultaneously"
        )
      );
  } else if (resourceFieldRef)
    problems.push(
      ...validateResourceFieldRef(
        `${field}.resourceFieldRef`,
        resourceFieldRef,
        "file"
      )
    );
  else
    problems.push(
      fieldErrors.required(
        field,
        "one of fieldRef and resourceFieldRef is required"
      )
    );
  return [...problems, ...validateMode(`${field}.mode`, file.mode)];
}
function validateToken(field, volumeField, { expirationSeconds = 3600, path }) {
  const duration = (why) => fieldErrors.invalid(
    `${field}.expirationSeconds`,
    expirationSeconds,
    `may not specify a duration ${why}`
  );
  return [
    ...expirationSeconds < 600 ? [duration("less than 10 minutes")] : [],
    ...expirationSeconds > 2 ** 32 ? [duration("larger than 2^32 seconds")] : [],
    ...path ? validateFilePath(`${volumeField}.path`, path) : [fieldErrors.required(`${volumeField}.path`)]
  ];
}
function validateProjected(field, { defaultMode, sources: sources3 }) {
  const problems = validateMode(`${field}.defaultMode`, defaultMode);
  const taken = /* @__PURE__ */ new Set();
  const take = (path, shown2) => {
    if (!path) return;
    if (taken.has(path))
      problems.push(
        fieldErrors.invalid(field, shown2, "conflicting duplicate paths")
      );
    taken.add(path);
  };
  for (const [index, source] of (sources3 ?? []).entries()) {
    const path = `${field}.sources[${index}]`;
    for (const kind2 of ["secret", "configMap"]) {
      const from = source[kind2];
      if (!from) continue;
      const { name = "", items } = from;
      if (!name) problems.push(fieldErrors.required(`${path}.${kind2}.name`));
      for (const [at, item] of (items ?? []).entries()) {
        problems.push(...validateItem(`${path}.${kind2}.items[${at}]`, item));
        take(item.path, name);
      }
    }
    for (const file of source.downwardAPI?.items ?? []) {
      problems.push(...validateDownwardFile(`${path}.downwardAPI`, file));
      take(file.path, file.path);
    }
    if (source.serviceAccountToken)
      problems.push(
        ...validateToken(
          `${path}.serviceAccountToken`,
          field,
          source.serviceAccountToken
        )
      );
    if (Object.values(source).filter(Boolean).length > 1)
      problems.push(
        fieldErrors.forbidden(
          path,
          "may not specify more than 1 volume type per source"
        )
      );
  }
  return problems;
}
function validateClaimTemplate(field, { metadata, spec }) {
  const { annotations, labels: own, ...rest } = metadata ?? {};
  return [
    ...validateAnnotations(annotations, `${field}.metadata.annotations`),
    ...labels(`${field}.metadata.labels`, own),
    ...["name", "generateName", "namespace", "ownerReferences", "finalizers"].filter((name) => name in rest).map(
      (name) => fieldErrors.forbidden(`${field}.metadata.${name}`, "cannot be set")
    ),
    ...validateClaimSpec(`${field}.spec`, spec ?? {})
  ];
}
var fileSources = {
  emptyDir: (field, { sizeLimit }) => sizeLimit !== void 0 && parseQuantity(sizeLimit).nano < 0n ? [
    fieldErrors.forbidden(
      `${field}.sizeLimit`,
      "SizeLimit field must be a valid resource quantity"
    )
  ] : [],
  secret: (field, { secretName, defaultMode, items }) => [
    ...secretName ? [] : [fieldErrors.required(`${field}.secretName`)],
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...validateItems(`${field}.items`, items)
  ],
  configMap: (field, { name, defaultMode, items }) => [
    ...name ? [] : [fieldErrors.required(`${field}.name`)],
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...validateItems(`${field}.items`, items)
  ],
  downwardAPI: (field, { defaultMode, items }) => [
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...(items ?? []).flatMap((file) => validateDownwardFile(field, file))
  ],
  projected: validateProjected,
  ephemeral: (field, { volumeClaimTemplate: template }) => template ? validateClaimTemplate(`${field}.volumeClaimTemplate`, template) : [fieldErrors.required(`${field}.volumeClaimTemplate`)]
};
function validateOne(field, volume, podName) {
  const found = kinds.filter((kind2) => volume[kind2]);
  const [first, ...surplus] = found;
  if (!first)
    return [fieldErrors.required(field, "must specify a volume type")];
  const path = `${field}.${reportedAs[first] ?? first}`;
  const problems = first in fileSources ? fileSources[first](path, volume[first]) : validateSource2(path, first, volume[first], false);
  const { iscsi } = volume;
  if (first === "iscsi" && iscsi?.initiatorName !== void 0 && `${volume.name}:${iscsi.targetPortal}`.length > 64)
    problems.push(
      fieldErrors.invalid(
        `${field}.name`,
        volume.name,
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
      )
    );
  if (first === "ephemeral" && podName && volume.name) {
    const claim = `${podName}-${volume.name}`;
    problems.push(
      ...invalidEach(
        `${field}.name`,
        volume.name,
        dnsSubdomainProblems(claim).map(
          (text) => `PVC name ${JSON.stringify(claim)}: ${text}`
        )
      )
    );
  }
  return [
    ...problems,
    ...surplus.map(
      (kind2) => fieldErrors.forbidden(
        `${field}.${surplusReportedAs[kind2] ?? kind2}`,
        "may not specify more than 1 volume type"
      )
    )
  ];
}
function validateVolumes(field, volumes, podName) {
  const problems = [];
  const byName = /* @__PURE__ */ new Map();
  const ephemeralClaims = new Set(
    (volumes ?? []).filter(({ ephemeral }) => ephemeral && podName).map(({ name }) => `${podName}-${name}`)
  );
  for (const [index, volume] of (volumes ?? []).entries()) {
    const path = `${field}[${index}]`;
    const name = volume.name ?? "";
    const own = validateOne(path, volume, podName);
    own.push(
      ...name ? invalidEach(`${path}.name`, name, dnsLabelProblems(name)) : [fieldErrors.required(`${path}.name`)]
    );
    if (byName.has(name)) own.push(fieldErrors.duplicate(`${path}.name`, name));
    if (own.length === 0) byName.set(name, volume);
    problems.push(...own);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim && ephemeralClaims.has(claim))
      problems.push(
        fieldErrors.invalid(
          `${path}.persistentVolumeClaim.claimName`,
          claim,
          "must not reference a PVC that gets created for an ephemeral volume"
        )
      );
  }
  return { problems, byName };
}

// apiserver-lite/resources/core/pod-spec-validation.ts
var restartPolicies = ["Always", "OnFailure", "Never"];
var dnsPolicies = [
  "ClusterFirstWithHostNet",
  "ClusterFirst",
  "Default",
  "None"
];
var maxNameservers = 3;
var maxSearches = 32;
var maxSearchCharacters = 2048;
var maxInt322 = 2 ** 31 - 1;
function validateDnsConfig(field, spec) {
  const { dnsConfig, dnsPolicy } = spec;
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None") {
    if (!dnsConfig)
      return [
        fieldErrors.required(
          field,
          "must provide `dnsConfig` when `dnsPolicy` is None"
        )
      ];
    if (nameservers.length === 0)
      return [
        fieldErrors.required(
          `${field}.nameservers`,
          "must provide at least one DNS nameserver when `dnsPolicy` is None"
        )
      ];
  }
  const atMost = (part, list, fits2, what) => fits2 ? [] : [
    fieldErrors.invalid(
      `${field}.${part}`,
      list,
      `must not have more than ${what}`
    )
  ];
  return [
    ...atMost(
      "nameservers",
      nameservers,
      nameservers.length <= maxNameservers,
      `${maxNameservers} nameservers`
    ),
    ...nameservers.flatMap(
      (server, index) => invalidEach(`${field}.nameservers[${index}]`, server, ipProblems(server))
    ),
    ...atMost(
      "searches",
      searches,
      searches.length <= maxSearches,
      `${maxSearches} search paths`
    ),
    ...atMost(
      "searches",
      searches,
      searches.join(" ").length <= maxSearchCharacters,
      `${maxSearchCharacters} characters (including spaces) in the search list`
    ),
    ...searches.flatMap((search, index) => {
      const bare = search.replace(/\.$/, "");
      return invalidEach(
        `${field}.searches[${index}]`,
        bare,
        dnsSubdomainProblems(bare)
      );
    }),
    ...options.flatMap(
      ({ name }, index) => name ? [] : [
        fieldErrors.required(
          `${field}.options[${index}]`,
          "must not be empty"
        )
      ]
    )
  ];
}
function validateHostNetworkPorts(field, spec, isPod) {
  if (!spec.hostNetwork) return [];
  return (spec.containers ?? []).flatMap(
    ({ ports }, at) => (ports ?? []).flatMap(
      ({ containerPort, hostPort = 0 }, index) => hostPort === containerPort || !isPod && hostPort === 0 ? [] : [
        fieldErrors.invalid(
          `${field}.containers[${at}].ports[${index}].hostPort`,
          hostPort,
          "must match `containerPort` when `hostNetwork` is true"
        )
      ]
    )
  );
}
function validateGates(field, spec) {
  const seen = /* @__PURE__ */ new Set();
  return [
    ...(spec.readinessGates ?? []).flatMap(
      ({ conditionType = "" }, index) => invalidEach(
        `${field}.readinessGates[${index}].conditionType`,
        conditionType,
        qualifiedNameProblems(conditionType)
      )
    ),
    ...(spec.schedulingGates ?? []).flatMap(({ name = "" }, index) => {
      const path = `${field}.schedulingGates[${index}]`;
      const again = seen.has(name);
      seen.add(name);
      return [
        ...invalidEach(path, name, qualifiedNameProblems(name)),
        ...again ? [fieldErrors.duplicate(path, name)] : []
      ];
    })
  ];
}
function validateHostAliases(field, spec) {
  return (spec.hostAliases ?? []).flatMap(({ ip = "", hostnames }, index) => [
    ...invalidEach(`${field}[${index}].ip`, ip, ipProblems(ip)),
    ...(hostnames ?? []).flatMap(
      (host, at) => invalidEach(
        `${field}[${index}].hostnames[${at}]`,
        host,
        dnsSubdomainProblems(host)
      )
    )
  ]);
}
function validateName(field, spec, name, problemsOf = dnsSubdomainProblems) {
  const value = spec[name];
  return value ? invalidEach(`${field}.${name}`, value, problemsOf(value)) : [];
}
function validatePodSpec(field, spec, { podName } = {}) {
  const { problems, byName } = validateVolumes(
    `${field}.volumes`,
    spec.volumes,
    podName ?? ""
  );
  const deadline = spec.activeDeadlineSeconds;
  return [
    ...problems,
    ...validateContainers(field, spec, byName),
    ...validateHostNetworkPorts(field, spec, podName !== void 0),
    ...oneOf(
      `${field}.restartPolicy`,
      spec.restartPolicy,
      restartPolicies,
      true
    ),
    ...oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, dnsPolicies, true),
    ...labels(`${field}.nodeSelector`, spec.nodeSelector),
    ...validatePodSecurity(field, spec),
    ...spec.affinity ? validateAffinity(`${field}.affinity`, spec.affinity) : [],
    ...validateDnsConfig(`${field}.dnsConfig`, spec),
    ...validateGates(field, spec),
    ...validateSpread(field, spec),
    ...validateHostProcesses(field, spec),
    ...validateName(field, spec, "serviceAccountName"),
    ...validateName(field, spec, "nodeName"),
    ...deadline !== void 0 && (deadline < 1 || deadline > maxInt322) ? [
      fieldErrors.invalid(
        `${field}.activeDeadlineSeconds`,
        deadline,
        `must be between 1 and ${maxInt322}, inclusive`
      )
    ] : [],
    ...validateName(field, spec, "hostname", dnsLabelProblems),
    ...validateName(field, spec, "subdomain", dnsLabelProblems),
    ...validateTolerations(`${field}.tolerations`, spec.tolerations ?? []),
    ...validateHostAliases(`${field}.hostAliases`, spec),
    ...validateName(field, spec, "priorityClassName"),
    ...validateName(field, spec, "runtimeClassName"),
    ...oneOf(`${field}.preemptionPolicy`, spec.preemptionPolicy, [
      "PreemptLowerPriority",
      "Never"
    ]),
    ...Object.entries(spec.overhead ?? {}).flatMap(([name, value]) => {
      const path = `${field}.overhead[${name}]`;
      return [
        ...validateContainerResourceName(path, name),
        ...validateResourceQuantity(path, name, value)
      ];
    }),
    ...validateOs(field, spec)
  ];
}
function validatePodTemplate(field, template) {
  const { metadata, spec } = template;
  const annotations = `${field}.annotations`;
  const problems = [
    ...labels(`${field}.labels`, metadata?.labels),
    ...validateAnnotations(metadata?.annotations, annotations),
    ...validatePodAnnotations(annotations, metadata?.annotations, spec),
    ...validatePodSpec(`${field}.spec`, spec ?? {})
  ];
  if (spec?.ephemeralContainers?.length)
    problems.push(
      fieldErrors.forbidden(
        `${field}.spec.ephemeralContainers`,
        "ephemeral containers not allowed in pod template"
      )
    );
  return problems;
}

// apiserver-lite/resources/apps/workload-status.ts
var count = (status, name) => status[name] ?? 0;
function validateCounters(given, counters2, within) {
  const status = given ?? {};
  return [
    ...counters2.flatMap(
      (name) => nonNegative(`status.${name}`, count(status, name))
    ),
    ...within.filter(([name, limit]) => count(status, name) > count(status, limit)).map(
      ([name, , words]) => fieldErrors.invalid(
        `status.${name}`,
        count(status, name),
        `cannot be greater than ${words}`
      )
    )
  ];
}
var withinReplicas = (...names) => names.map((name) => [name, "replicas", "status.replicas"]);
var validateReplicaStatus = (status) => validateCounters(
  status,
  [
    "replicas",
    "fullyLabeledReplicas",
    "readyReplicas",
    "availableReplicas",
    "observedGeneration"
  ],
  [
    ...withinReplicas(
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas"
    ),
    ["availableReplicas", "readyReplicas", "readyReplicas"]
  ]
);
function validateCollisions(now, was) {
  if (was === void 0 || now !== void 0 && now >= was) return [];
  return [
    fieldErrors.invalid("status.collisionCount", now, "cannot be decremented")
  ];
}

// api/selectors.ts
function int64(text) {
  if (!/^[-+]?[0-9]+$/.test(text)) return void 0;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : void 0;
}
var noLabels = Object.freeze({});
function meets(labels2, { key: key2, operator, values }) {
  const present = Object.hasOwn(labels2, key2);
  switch (operator) {
    case "exists":
      return present;
    case "!":
      return !present;
    case "in":
    case "=":
    case "==":
      return present && values.includes(labels2[key2]);
    case "notin":
    case "!=":
      return !present || !values.includes(labels2[key2]);
    case "gt":
    case "lt": {
      const value = present ? int64(labels2[key2]) : void 0;
      const bound = int64(values[0]);
      if (value === void 0 || bound === void 0) return false;
      return operator === "gt" ? value > bound : value < bound;
    }
  }
}
function requirementText({ key: key2, operator, values }) {
  switch (operator) {
    case "exists":
      return key2;
    case "!":
      return `!${key2}`;
    case "in":
    case "notin":
      return `${key2} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key2}>${values[0]}`;
    case "lt":
      return `${key2}<${values[0]}`;
    default:
      return `${key2}${operator}${values[0]}`;
  }
}
function selectorOf(requirements) {
  const sorted2 = [...requirements].sort(
    (a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : 0
  );
  return {
    requirements: sorted2,
    empty: sorted2.length === 0,
    matches: (labels2 = noLabels) => sorted2.every((requirement2) => meets(labels2, requirement2)),
    toString: () => sorted2.map(requirementText).join(",")
  };
}
var everything = selectorOf([]);
var nothing3 = {
  requirements: [],
  empty: false,
  matches: () => false,
  toString: () => ""
};
function requirement(key2, operator, values) {
  const problems = [];
  const keyProblems = labelKeyProblems(key2);
  if (keyProblems.length > 0)
    problems.push(
      `<nil>: Invalid value: ${shownValue(key2)}: ${keyProblems.join("; ")}`
    );
  const shown2 = `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  if ((operator === "in" || operator === "notin") && values.length === 0) {
    problems.push(
      `values: Invalid value: ${shown2}: for 'in', 'notin' operators, values set can't be empty`
    );
  }
  if (operator === "gt" || operator === "lt") {
    for (const [index, value] of values.entries()) {
      if (int64(value) !== void 0) continue;
      problems.push(
        `values[${index}]: Invalid value: ${shownValue(value)}: for 'Gt', 'Lt' operators, the value must be an integer`
      );
    }
  }
  for (const [index, value] of values.entries()) {
    for (const text of labelValueProblems(value)) {
      problems.push(
        `values[${index}][${key2}]: Invalid value: ${shownValue(value)}: ${text}`
      );
    }
  }
  if (problems.length > 0)
    throw errors.badRequest(
      problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`
    );
  return { key: key2, operator, values };
}
function selectorFromObject(selector) {
  if (selector === void 0 || selector === null) return nothing3;
  const requirements = Object.entries(selector.matchLabels ?? {}).map(
    ([key2, value]) => requirement(key2, "=", [value])
  );
  for (const { key: key2, operator, values } of selector.matchExpressions ?? []) {
    const name = {
      In: "in",
      NotIn: "notin",
      Exists: "exists",
      DoesNotExist: "!"
    }[operator];
    if (!name)
      throw errors.badRequest(
        `${JSON.stringify(operator)} is not a valid label selector operator`
      );
    requirements.push(
      requirement(key2, name, [...new Set(values ?? [])].sort())
    );
  }
  return requirements.length === 0 ? everything : selectorOf(requirements);
}
function selectorFromMap(labels2) {
  return selectorFromObject({ matchLabels: labels2 ?? {} });
}

// apiserver-lite/resources/apps/workload-validation.ts
function validateSelectorAndTemplate(selector, template, emptyText) {
  return [
    ...selector ? validateSelector(selector, emptyText) : [fieldErrors.required("spec.selector")],
    ...validateMatch(selector, template, "invalid label selector"),
    ...validatePodTemplate("spec.template", template ?? {})
  ];
}
function validateSelector(selector, emptyText) {
  if (!selector) return [];
  const problems = labelSelector("spec.selector", selector);
  if (isEmpty3(selector))
    problems.push(
      fieldErrors.invalid(
        "spec.selector",
        asGo("v1.LabelSelector", selector),
        emptyText
      )
    );
  return problems;
}
var isEmpty3 = (selector) => Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions?.length ?? 0) === 0;
function validateMatch(selector, template, badText) {
  const given = template?.metadata?.labels;
  try {
    if (selectorFromObject(selector).matches(given)) return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return badText === void 0 ? [] : [
      fieldErrors.invalid(
        "spec.selector",
        asGo("v1.LabelSelector", selector),
        badText
      )
    ];
  }
  return [
    fieldErrors.invalid(
      "spec.template.metadata.labels",
      asGo("map[string]string", given),
      "`selector` does not match template `labels`"
    )
  ];
}
function alwaysRestarts(template, kind2) {
  const spec = template?.spec;
  if (!spec) return [];
  const problems = [];
  if (spec.restartPolicy !== "Always") {
    problems.push(
      fieldErrors.notSupported(
        "spec.template.spec.restartPolicy",
        spec.restartPolicy ?? "",
        ["Always"]
      )
    );
  }
  if (spec.activeDeadlineSeconds !== void 0) {
    problems.push(
      fieldErrors.forbidden(
        "spec.template.spec.activeDeadlineSeconds",
        `activeDeadlineSeconds in ${kind2} is not Supported`
      )
    );
  }
  return problems;
}
var isZero = (value) => value === 0 || percentOf(value) === 0;
function validateRollingUpdate(field, update) {
  if (!update) return [];
  const problems = [
    ...intOrPercent(`${field}.maxUnavailable`, update.maxUnavailable),
    ...intOrPercent(`${field}.maxSurge`, update.maxSurge)
  ];
  if (isZero(update.maxUnavailable) && isZero(update.maxSurge)) {
    problems.push(
      fieldErrors.invalid(
        `${field}.maxUnavailable`,
        asGo("intstr.IntOrString", update.maxUnavailable),
        "may not be 0 when `maxSurge` is 0"
      )
    );
  }
  return [
    ...problems,
    ...notAboveAll(`${field}.maxUnavailable`, update.maxUnavailable)
  ];
}
function notAboveAll(field, value) {
  return (percentOf(value) ?? 0) > 100 ? [
    fieldErrors.invalid(
      field,
      asGo("intstr.IntOrString", value),
      "must not be greater than 100%"
    )
  ] : [];
}
function containerColumns(template) {
  const containers = template?.spec?.containers ?? [];
  return [
    containers.map(({ name }) => name).join(","),
    containers.map(({ image }) => image ?? "").join(",")
  ];
}
function selectorColumn(selector) {
  if (!selector) return "<none>";
  try {
    return selectorFromObject(selector).toString() || "<none>";
  } catch {
    return "<error>";
  }
}
function podNameWarnings({ metadata }, old) {
  const problems = old ? [] : dnsLabelProblems(metadata.name ?? "");
  return problems.length > 0 ? [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`
  ] : [];
}

// apiserver-lite/resources/apps/daemon-set.ts
var asSet = (object) => object;
var emptyStatus = () => ({
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0
});
var generationAnnotation = "deprecated.daemonset.template.generation";
function templateGeneration2({ metadata }) {
  const text = metadata.annotations?.[generationAnnotation];
  if (text === void 0) return 0;
  if (/^[-+]?[0-9]+$/.test(text)) return Number(text);
  throw errors.badRequest(
    `DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`
  );
}
function setTemplateGeneration({ metadata }, generation) {
  metadata.annotations = {
    ...metadata.annotations,
    [generationAnnotation]: String(generation)
  };
}
function validateRollingSet(field, { maxUnavailable, maxSurge }) {
  const problems = [];
  const [down, up] = [maxUnavailable, maxSurge].map(
    (value) => (typeof value === "number" ? value : percentOf(value) ?? 0) !== 0
  );
  if (down && up) {
    problems.push(
      fieldErrors.invalid(
        `${field}.maxSurge`,
        asGo("intstr.IntOrString", maxSurge),
        "may not be set when maxUnavailable is non-zero"
      )
    );
  } else if (!down && !up) {
    problems.push(
      fieldErrors.required(
        `${field}.maxUnavailable`,
        "cannot be 0 when maxSurge is 0"
      )
    );
  }
  return [
    ...intOrPercent(`${field}.maxUnavailable`, maxUnavailable),
    ...notAboveAll(`${field}.maxUnavailable`, maxUnavailable),
    ...intOrPercent(`${field}.maxSurge`, maxSurge),
    ...notAboveAll(`${field}.maxSurge`, maxSurge),
    ...problems
  ];
}
function validateSet({ spec }) {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = [
    ...validateSelector(
      spec.selector,
      "empty selector is invalid for daemonset"
    ),
    ...validateMatch(spec.selector, spec.template, void 0),
    ...validatePodTemplate("spec.template", spec.template ?? {})
  ];
  problems.push(
    ...alwaysRestarts(spec.template, "DaemonSet"),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds)
  );
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "RollingUpdate") {
    const field = "spec.updateStrategy.rollingUpdate";
    if (rollingUpdate)
      problems.push(...validateRollingSet(field, rollingUpdate));
    else problems.push(fieldErrors.required(field));
  } else if (type !== "OnDelete") {
    problems.push(
      fieldErrors.notSupported(
        "spec.updateStrategy",
        asGo("apps.DaemonSetUpdateStrategy", spec.updateStrategy),
        ["RollingUpdate", "OnDelete"]
      )
    );
  }
  problems.push(
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit)
  );
  return problems;
}
var daemonSetStrategy = {
  setDefaults(object) {
    if (object.metadata.annotations?.[generationAnnotation] === void 0)
      setTemplateGeneration(object, 0);
    const { rollingUpdate } = asSet(object).spec?.updateStrategy ?? {};
    if (!rollingUpdate) return;
    rollingUpdate.maxUnavailable ??= 0;
    rollingUpdate.maxSurge ??= 0;
  },
  prepareForCreate(object) {
    asSet(object).status = emptyStatus();
    setTemplateGeneration(object, templateGeneration2(object) || 1);
  },
  prepareForUpdate(object, old) {
    templateGeneration2(object);
    const same = sameValue(
      asSet(object).spec?.template,
      asSet(old).spec?.template
    );
    setTemplateGeneration(object, templateGeneration2(old) + (same ? 0 : 1));
    asSet(object).status = {
      ...asSet(old).status ?? emptyStatus()
    };
  },
  validate: (object) => validateSet(asSet(object)),
  // The reference checks the spec once more.
  validateUpdate: (object, old) => [
    ...validateSet(asSet(object)),
    ...immutable(
      "spec.selector",
      asSet(object).spec?.selector,
      asSet(old).spec?.selector,
      "*v1.LabelSelector"
    )
  ],
  status: {
    prepareForUpdate(object, old) {
      asSet(object).spec = asSet(old).spec;
      setTemplateGeneration(object, templateGeneration2(old));
    },
    validateUpdate(object, old) {
      const [now, was] = [asSet(object).status, asSet(old).status];
      return [
        ...validateCounters(
          now,
          [
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount"
          ],
          []
        ),
        ...validateCollisions(now?.collisionCount, was?.collisionCount)
      ];
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asSet(object);
    return [
      metadata.name,
      status?.desiredNumberScheduled ?? 0,
      status?.currentNumberScheduled ?? 0,
      status?.numberReady ?? 0,
      status?.updatedNumberScheduled ?? 0,
      status?.numberAvailable ?? 0,
      formatLabels(spec?.template?.spec?.nodeSelector),
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector)
    ];
  }
};

// apiserver-lite/resources/apps/scale.ts
function selectorText(selector) {
  if (!selector) return "";
  const structured = "matchLabels" in selector || "matchExpressions" in selector;
  return structured ? selectorFromObject(selector).toString() : selectorFromMap(selector).toString();
}
function scaleOf(object) {
  const { metadata, spec, status } = object;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const selector = selectorText(spec?.selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp
    },
    spec: spec?.replicas ? { replicas: spec.replicas } : {},
    status: {
      replicas: status?.replicas ?? 0,
      ...selector ? { selector } : {}
    }
  };
}
function checkPlace({ metadata }, { name, namespace }) {
  if (metadata?.namespace && metadata.namespace !== namespace)
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request"
    );
  if (metadata?.name && metadata.name !== name)
    throw errors.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`
    );
}
function scaleSubresource(resource) {
  async function parentOf(parent) {
    try {
      return await parent();
    } catch (error) {
      if (!isNotFound(error) || resource.resource === "statefulsets")
        throw error;
      const { name = "" } = error.status.details ?? {};
      throw errors.notFound(
        { ...resource, resource: `${resource.resource}/scale` },
        name
      );
    }
  }
  return {
    async handle(request, context) {
      if (request.verb === "get")
        return scaleOf(await parentOf(context.parent));
      const scale = request.body;
      checkPlace(scale, request);
      const replicas = scale.spec?.replicas ?? 0;
      if (replicas < 0) {
        throw errors.invalid(
          { group: "autoscaling", kind: "Scale" },
          request.name,
          [
            fieldErrors.invalid(
              "spec.replicas",
              replicas,
              "must be greater than or equal to 0"
            )
          ]
        );
      }
      const changed = await context.mutate((object) => {
        const version = scale.metadata?.resourceVersion;
        const uid = scale.metadata?.uid;
        if (version && version !== object.metadata.resourceVersion)
          throw errors.stale(resource, request.name);
        if (uid && uid !== object.metadata.uid) {
          throw errors.conflict(
            { ...resource, resource: `${resource.resource}/scale` },
            request.name,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid ?? ""}`
          );
        }
        const workload = object;
        workload.spec = { ...workload.spec, replicas };
      });
      return scaleOf(changed);
    }
  };
}

// apiserver-lite/resources/apps/deployment.ts
var asDeployment = (object) => object;
function validateDeployment({ spec }) {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = nonNegative("spec.replicas", spec.replicas);
  problems.push(
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for deployment"
    ),
    ...alwaysRestarts(spec.template, "ReplicaSet")
  );
  const { type, rollingUpdate } = spec.strategy ?? {};
  if (type === "Recreate" && rollingUpdate) {
    problems.push(
      fieldErrors.forbidden(
        "spec.strategy.rollingUpdate",
        "may not be specified when strategy `type` is 'Recreate'"
      )
    );
  } else if (type === "RollingUpdate") {
    problems.push(
      ...validateRollingUpdate("spec.strategy.rollingUpdate", rollingUpdate)
    );
  } else if (type !== "Recreate") {
    problems.push(
      fieldErrors.notSupported(
        "spec.strategy",
        asGo("apps.DeploymentStrategy", spec.strategy),
        ["Recreate", "RollingUpdate"]
      )
    );
  }
  problems.push(...nonNegative("spec.minReadySeconds", spec.minReadySeconds));
  problems.push(
    ...nonNegative("spec.revisionHistoryLimit", spec.revisionHistoryLimit)
  );
  if (spec.progressDeadlineSeconds !== void 0) {
    problems.push(
      ...nonNegative(
        "spec.progressDeadlineSeconds",
        spec.progressDeadlineSeconds
      )
    );
    if (spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
      problems.push(
        fieldErrors.invalid(
          "spec.progressDeadlineSeconds",
          spec.progressDeadlineSeconds,
          "must be greater than minReadySeconds"
        )
      );
    }
  }
  return problems;
}
var validateStatus = (status) => validateCounters(
  status,
  [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "collisionCount"
  ],
  [
    ...withinReplicas(
      "updatedReplicas",
      "readyReplicas",
      "availableReplicas"
    ),
    ["availableReplicas", "readyReplicas", "readyReplicas"]
  ]
);
var deploymentStrategy = {
  countsMetadata: "annotations",
  warnings: podNameWarnings,
  prepareForCreate(object) {
    asDeployment(object).status = {};
  },
  prepareForUpdate(object, old) {
    asDeployment(object).status = { ...asDeployment(old).status };
  },
  validate: (object) => validateDeployment(asDeployment(object)),
  validateUpdate: (object, old) => immutable(
    "spec.selector",
    asDeployment(object).spec?.selector,
    asDeployment(old).spec?.selector,
    "*v1.LabelSelector"
  ),
  status: {
    resetPaths: [["spec"], ["metadata", "labels"]],
    prepareForUpdate(object, old) {
      asDeployment(object).spec = asDeployment(old).spec;
      if (old.metadata.labels)
        object.metadata.labels = { ...old.metadata.labels };
      else delete object.metadata.labels;
    },
    validateUpdate(object, old) {
      const [now, was] = [
        asDeployment(object).status,
        asDeployment(old).status
      ];
      return [
        ...validateStatus(now),
        ...validateCollisions(now?.collisionCount, was?.collisionCount)
      ];
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asDeployment(object);
    return [
      metadata.name,
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      status?.updatedReplicas ?? 0,
      status?.availableReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector)
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "deployments" })
  }
};

// apiserver-lite/resources/apps/replica-set.ts
var asReplicaSet = (object) => object;
function validateSet2({ spec }) {
  if (!spec) return [fieldErrors.required("spec")];
  return [
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...validateSelectorAndTemplate(
      spec.selector,
      spec.template,
      "empty selector is invalid for deployment"
    ),
    ...alwaysRestarts(spec.template, "ReplicaSet")
  ];
}
var replicaSetStrategy = {
  warnings: podNameWarnings,
  prepareForCreate(object) {
    asReplicaSet(object).status = { replicas: 0 };
  },
  prepareForUpdate(object, old) {
    asReplicaSet(object).status = {
      ...asReplicaSet(old).status ?? { replicas: 0 }
    };
  },
  validate: (object) => validateSet2(asReplicaSet(object)),
  // The reference checks the spec once more.
  validateUpdate: (object, old) => [
    ...validateSet2(asReplicaSet(object)),
    ...immutable(
      "spec.selector",
      asReplicaSet(object).spec?.selector,
      asReplicaSet(old).spec?.selector,
      "*v1.LabelSelector"
    )
  ],
  status: {
    prepareForUpdate(object, old) {
      asReplicaSet(object).spec = asReplicaSet(old).spec;
    },
    validateUpdate: (object) => validateReplicaStatus(asReplicaSet(object).status)
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asReplicaSet(object);
    return [
      metadata.name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      selectorColumn(spec?.selector)
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "replicasets" })
  }
};

// apiserver-lite/resources/apps/stateful-set.ts
var asSet2 = (object) => object;
var changeable = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds"
];
function validateSet3({ spec }) {
  if (!spec) return [fieldErrors.required("spec")];
  const problems = [];
  const policy = spec.podManagementPolicy;
  if (!policy) problems.push(fieldErrors.required("spec.podManagementPolicy"));
  else if (policy !== "OrderedReady" && policy !== "Parallel") {
    problems.push(
      fieldErrors.invalid(
        "spec.podManagementPolicy",
        policy,
        "must be 'OrderedReady' or 'Parallel'"
      )
    );
  }
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (!type) problems.push(fieldErrors.required("spec.updateStrategy"));
  else if (type === "OnDelete") {
    if (rollingUpdate) {
      problems.push(
        fieldErrors.invalid(
          "spec.updateStrategy.rollingUpdate",
          asGo("apps.RollingUpdateStatefulSetStrategy", rollingUpdate),
          "only allowed for updateStrategy 'RollingUpdate'"
        )
      );
    }
  } else if (type === "RollingUpdate") {
    problems.push(
      ...nonNegative(
        "spec.updateStrategy.rollingUpdate.partition",
        rollingUpdate?.partition
      )
    );
  } else {
    problems.push(
      fieldErrors.invalid(
        "spec.updateStrategy",
        asGo("apps.StatefulSetUpdateStrategy", spec.updateStrategy),
        "must be 'RollingUpdate' or 'OnDelete'"
      )
    );
  }
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  for (const name of ["whenDeleted", "whenScaled"]) {
    problems.push(
      ...oneOf(
        `spec.persistentVolumeClaimRetentionPolicy.${name}`,
        retention?.[name],
        ["Retain", "Delete"]
      )
    );
  }
  return [
    ...problems,
    ...nonNegative("spec.replicas", spec.replicas),
    ...nonNegative("spec.minReadySeconds", spec.minReadySeconds),
    ...nonNegative("spec.ordinals.start", spec.ordinals?.start),
    ...spec.selector ? [] : [fieldErrors.required("spec.selector")],
    ...validateSelector(
      spec.selector,
      "empty selector is invalid for statefulset"
    ),
    ...validateMatch(spec.selector, spec.template, ""),
    // The reference leaves the pods' spec to the creation of the pods.
    ...labels("spec.template.labels", spec.template?.metadata?.labels),
    ...validateAnnotations(
      spec.template?.metadata?.annotations,
      "spec.template.annotations"
    ),
    ...alwaysRestarts(spec.template, "StatefulSet")
  ];
}
var emptyStatus2 = () => ({
  replicas: 0,
  availableReplicas: 0
});
function dropGated(object) {
  delete asSet2(object).spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
}
var statefulSetStrategy = {
  validateName: nameRule(dnsLabelProblems),
  setDefaults(object) {
    for (const claim of asSet2(object).spec?.volumeClaimTemplates ?? [])
      Object.assign(claim, { kind: "PersistentVolumeClaim", apiVersion: "v1" });
  },
  prepareForCreate(object) {
    asSet2(object).status = emptyStatus2();
    dropGated(object);
  },
  prepareForUpdate(object, old) {
    asSet2(object).status = { ...asSet2(old).status ?? emptyStatus2() };
    if (asSet2(old).spec?.updateStrategy?.rollingUpdate?.maxUnavailable === void 0)
      dropGated(object);
  },
  validate: (object) => validateSet3(asSet2(object)),
  validateUpdate(object, old) {
    const [now, was] = [asSet2(object).spec, asSet2(old).spec];
    if (!now || !was || agreeBut(now, was, changeable)) return [];
    return [
      fieldErrors.forbidden(
        "spec",
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
      )
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asSet2(object).spec = asSet2(old).spec;
    },
    validateUpdate(object, old) {
      const [now, was] = [asSet2(object).status, asSet2(old).status];
      return [
        ...validateCounters(
          now,
          [
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount"
          ],
          [
            ...withinReplicas(
              "readyReplicas",
              "currentReplicas",
              "updatedReplicas",
              "availableReplicas"
            ),
            ["availableReplicas", "readyReplicas", "status.readyReplicas"]
          ]
        ),
        ...validateCollisions(now?.collisionCount, was?.collisionCount)
      ];
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asSet2(object);
    return [
      metadata.name,
      `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template)
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "apps", resource: "statefulsets" })
  }
};

// apiserver-lite/resources/autoscaling/scaler-validation.ts
var maxStabilizationSeconds = 3600;
var maxPeriodSeconds = 1800;
var sources2 = {
  ContainerResource: "containerResource",
  External: "external",
  Object: "object",
  Pods: "pods",
  Resource: "resource"
};
var targetTypes = ["Utilization", "Value", "AverageValue"];
function validateScalerSpec(spec) {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics, behavior } = spec;
  const problems = [];
  const invalid = (field, value, text) => problems.push(fieldErrors.invalid(`spec.${field}`, value, text));
  if (minReplicas !== void 0 && minReplicas < 1)
    invalid("minReplicas", minReplicas, "must be greater than or equal to 1");
  if (maxReplicas < 1)
    invalid("maxReplicas", maxReplicas, "must be greater than 0");
  if (minReplicas !== void 0 && maxReplicas < minReplicas)
    invalid(
      "maxReplicas",
      maxReplicas,
      "must be greater than or equal to `minReplicas`"
    );
  return [
    ...problems,
    ...validateReference("spec.scaleTargetRef", scaleTargetRef),
    ...validateMetrics("spec.metrics", metrics ?? [], minReplicas),
    ...validateRules("spec.behavior.scaleUp", behavior?.scaleUp),
    ...validateRules("spec.behavior.scaleDown", behavior?.scaleDown)
  ];
}
function validateReference(field, reference) {
  return ["kind", "name"].flatMap((name) => {
    const value = reference?.[name];
    return value ? invalidEach(`${field}.${name}`, value, pathSegmentProblems(value)) : [fieldErrors.required(`${field}.${name}`)];
  });
}
function validateMetrics(field, metrics, minReplicas) {
  const problems = metrics.flatMap(
    (metric, index) => validateMetric(`${field}[${index}]`, metric)
  );
  const wakes = metrics.some(
    ({ type }) => type === "Object" || type === "External"
  );
  if (minReplicas === 0 && !wakes)
    problems.push(
      fieldErrors.forbidden(
        field,
        "must specify at least one Object or External metric to support scaling to zero replicas"
      )
    );
  return problems;
}
function validateMetric(field, metric) {
  const problems = metric.type ? [] : [
    fieldErrors.required(
      `${field}.type`,
      "must specify a metric source type"
    )
  ];
  const types4 = Object.keys(sources2);
  if (!types4.includes(metric.type)) {
    const unknown = fieldErrors.notSupported(
      `${field}.type`,
      metric.type,
      types4
    );
    problems.push(unknown, unknown);
  }
  for (const [type, name] of Object.entries(sources2)) {
    const source = metric[name];
    if (source) problems.push(...sourceRules[name](`${field}.${name}`, source));
    if (type === metric.type && !source)
      problems.push(
        fieldErrors.required(
          `${field}.${name}`,
          "must populate information for the given metric source"
        )
      );
  }
  const given = Object.values(sources2).filter((name) => metric[name]);
  if (given.length > 1) {
    for (const name of given)
      if (sources2[metric.type] !== name)
        problems.push(
          fieldErrors.forbidden(
            `${field}.${name}`,
            "must populate the given metric source only"
          )
        );
  }
  return problems;
}
var metricName = (field, { metric }) => metric?.name ? invalidEach(
  `${field}.metric.name`,
  metric.name,
  pathSegmentProblems(metric.name)
) : [
  fieldErrors.required(
    `${field}.metric.name`,
    "must specify a metric name"
  )
];
var resourceName = (field, { name }) => name ? [] : [fieldErrors.required(`${field}.name`, "must specify a resource name")];
var utilizationOrValue = (field, { target }) => {
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === void 0 && averageValue === void 0)
    return [
      fieldErrors.required(
        `${field}.target.averageUtilization`,
        "must set either a target raw value or a target utilization"
      )
    ];
  return averageUtilization !== void 0 && averageValue !== void 0 ? [
    fieldErrors.forbidden(
      `${field}.target.averageValue`,
      "may not set both a target raw value and a target utilization"
    )
  ] : [];
};
var valueOrAverage = (text, bothText) => (field, { target: { value, averageValue } }) => {
  if (value === void 0 && averageValue === void 0)
    return [fieldErrors.required(`${field}.target.averageValue`, text)];
  return bothText && value !== void 0 && averageValue !== void 0 ? [fieldErrors.forbidden(`${field}.target.value`, bothText)] : [];
};
var sourceRules = {
  object: (field, source) => [
    ...validateReference(`${field}.describedObject`, source.describedObject),
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...valueOrAverage("must set either a target value or averageValue")(
      field,
      source
    )
  ],
  external: (field, source) => [
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...valueOrAverage(
      "must set either a target value for metric or a per-pod target",
      "may not set both a target value for metric and a per-pod target"
    )(field, source)
  ],
  pods: (field, source) => [
    ...metricName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...isPositive(source.target.averageValue) ? [] : [
      fieldErrors.required(
        `${field}.target.averageValue`,
        "must specify a positive target averageValue"
      )
    ]
  ],
  containerResource: (field, source) => [
    ...resourceName(field, source),
    ...source.container ? [] : [
      fieldErrors.required(
        `${field}.container`,
        "must specify a container"
      )
    ],
    ...validateTarget(`${field}.target`, source.target),
    ...utilizationOrValue(field, source)
  ],
  resource: (field, source) => [
    ...resourceName(field, source),
    ...validateTarget(`${field}.target`, source.target),
    ...utilizationOrValue(field, source)
  ]
};
var isPositive = (quantity2) => quantity2 !== void 0 && compareQuantities(quantity2, "0") > 0;
function validateTarget(field, target) {
  const problems = target.type ? [] : [
    fieldErrors.required(
      `${field}.type`,
      "must specify a metric target type"
    )
  ];
  if (!targetTypes.includes(target.type))
    problems.push(
      fieldErrors.invalid(
        `${field}.type`,
        target.type,
        "must be either Utilization, Value, or AverageValue"
      )
    );
  for (const name of ["value", "averageValue"])
    if (target[name] !== void 0 && !isPositive(target[name]))
      problems.push(
        fieldErrors.invalid(
          `${field}.${name}`,
          asGo("resource.Quantity", target[name]),
          "must be positive"
        )
      );
  if (target.averageUtilization !== void 0 && target.averageUtilization < 1)
    problems.push(
      fieldErrors.invalid(
        `${field}.averageUtilization`,
        target.averageUtilization,
        "must be greater than 0"
      )
    );
  return problems;
}
function validateRules(field, rules2) {
  if (!rules2) return [];
  const { stabilizationWindowSeconds: window, policies = [] } = rules2;
  const problems = [];
  const invalid = (at, value, text) => problems.push(fieldErrors.invalid(`${field}.${at}`, value, text));
  if (window !== void 0 && window < 0)
    invalid(
      "stabilizationWindowSeconds",
      window,
      "must be greater than or equal to zero"
    );
  if (window !== void 0 && window > maxStabilizationSeconds)
    invalid(
      "stabilizationWindowSeconds",
      window,
      `must be less than or equal to ${maxStabilizationSeconds}`
    );
  problems.push(
    ...oneOf(`${field}.selectPolicy`, rules2.selectPolicy, [
      "Disabled",
      "Max",
      "Min"
    ])
  );
  if (policies.length === 0)
    problems.push(
      fieldErrors.required(
        `${field}.policies`,
        "must specify at least one Policy"
      )
    );
  for (const [index, policy] of policies.entries()) {
    const at = `policies[${index}]`;
    if (policy.type !== "Percent" && policy.type !== "Pods")
      problems.push(
        fieldErrors.notSupported(`${field}.${at}.type`, policy.type, [
          "Percent",
          "Pods"
        ])
      );
    if (policy.value <= 0)
      invalid(`${at}.value`, policy.value, "must be greater than zero");
    if (policy.periodSeconds <= 0)
      invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        "must be greater than zero"
      );
    if (policy.periodSeconds > maxPeriodSeconds)
      invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        `must be less than or equal to ${maxPeriodSeconds}`
      );
  }
  return problems;
}

// apiserver-lite/resources/autoscaling/horizontal-pod-autoscaler.ts
var asScaler = (object) => object;
function partOf(metric) {
  const parts2 = {
    Resource: metric.resource,
    ContainerResource: metric.containerResource,
    Pods: metric.pods,
    Object: metric.object,
    External: metric.external
  };
  return parts2[metric.type] ?? {};
}
function metricsText(specs, statuses) {
  if (specs.length === 0) return "<none>";
  const texts = specs.map((spec, index) => {
    const status = statuses[index];
    const { target = {}, name } = partOf(spec);
    const { current } = status ? partOf(status) : { current: void 0 };
    const isResource = spec.type === "Resource" || spec.type === "ContainerResource";
    const prefix = isResource ? `${name ?? ""}: ` : "";
    if (isResource && target.averageUtilization !== void 0) {
      const now2 = current?.averageUtilization === void 0 ? "<unknown>" : `${current.averageUtilization}%`;
      return `${prefix}${now2}/${target.averageUtilization}%`;
    }
    const average = target.averageValue !== void 0;
    const now = (average ? current?.averageValue : current?.value) ?? "<unknown>";
    return `${prefix}${now}/${target.averageValue ?? target.value ?? "<auto>"}${average && !isResource && spec.type !== "Pods" ? " (avg)" : ""}`;
  });
  const shown2 = texts.slice(0, 2).join(", ");
  return texts.length > 2 ? `${shown2} + ${texts.length - 2} more...` : shown2;
}
var emptyStatus3 = () => ({
  desiredReplicas: 0
});
var horizontalPodAutoscalerStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    asScaler(object).status = emptyStatus3();
  },
  prepareForUpdate(object, old) {
    asScaler(object).status = asScaler(old).status ?? emptyStatus3();
  },
  validate(object) {
    const { spec } = asScaler(object);
    return spec ? validateScalerSpec(spec) : [fieldErrors.required("spec")];
  },
  status: {
    prepareForUpdate(object, old) {
      asScaler(object).spec = asScaler(old).spec;
      asScaler(object).status ??= emptyStatus3();
    },
    validateUpdate(object) {
      const { status } = asScaler(object);
      return ["currentReplicas", "desiredReplicas"].flatMap(
        (name) => nonNegative(`status.${name}`, status?.[name])
      );
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asScaler(object);
    return [
      metadata.name,
      `${spec?.scaleTargetRef?.kind ?? ""}/${spec?.scaleTargetRef?.name ?? ""}`,
      metricsText(spec?.metrics ?? [], status?.currentMetrics ?? []),
      spec?.minReplicas === void 0 ? "<unset>" : String(spec.minReplicas),
      spec?.maxReplicas ?? 0,
      status?.currentReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/batch/cron-schedule.ts
var descriptors = /* @__PURE__ */ new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly"
]);
var months2 = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec"
];
var days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
var fields = [
  { low: 0, high: 59, names: [], first: 0 },
  { low: 0, high: 23, names: [], first: 0 },
  { low: 1, high: 31, names: [], first: 0 },
  { low: 1, high: 12, names: months2, first: 1 },
  { low: 0, high: 6, names: days, first: 0 }
];
function scheduleProblem(schedule) {
  const text = schedule.trim();
  if (text === "") return "empty spec string";
  if (text.startsWith("@")) {
    if (descriptors.has(text)) return void 0;
    if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
    try {
      parseDurationMs(text.slice("@every ".length));
      return void 0;
    } catch (error) {
      return `failed to parse duration ${text}: ${error.message}`;
    }
  }
  const parts2 = text.split(/\s+/);
  if (parts2.length !== fields.length) {
    return `expected exactly 5 fields, found ${parts2.length}: [${parts2.join(" ")}]`;
  }
  for (const [index, part] of parts2.entries()) {
    for (const range of part.split(",")) {
      const problem = rangeProblemOf(range, fields[index]);
      if (problem) return problem;
    }
  }
  return void 0;
}
var notANumber = (text) => `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
function rangeProblemOf(text, field) {
  const [range = "", step, ...more] = text.split("/");
  if (more.length > 0) return `too many slashes: ${text}`;
  if (step !== void 0 && !/^[0-9]+$/.test(step)) return notANumber(step);
  if (step !== void 0 && Number(step) === 0)
    return `step of range should be a positive number: ${text}`;
  if (range === "*" || range === "?") return void 0;
  const ends = range.split("-");
  if (ends.length > 2) return `too many hyphens: ${text}`;
  const numbers = ends.map((end) => {
    const named2 = field.names.indexOf(end.toLowerCase());
    return named2 >= 0 ? named2 + field.first : /^[0-9]+$/.test(end) ? Number(end) : Number.NaN;
  });
  if (numbers.some(Number.isNaN))
    return notANumber(ends[numbers.findIndex(Number.isNaN)]);
  const low = numbers[0];
  const high = numbers[1] ?? (step === void 0 ? low : field.high);
  if (low < field.low)
    return `beginning of range (${low}) below minimum (${field.low}): ${text}`;
  if (high > field.high)
    return `end of range (${high}) above maximum (${field.high}): ${text}`;
  if (low > high)
    return `beginning of range (${low}) beyond end of range (${high}): ${text}`;
  return void 0;
}

// apiserver-lite/resources/batch/job-indexes.ts
var IndexError = class extends Error {
};
function parseIndexes(text, completions) {
  if (text === "") return [];
  let previous = -1;
  return text.split(",").map((part) => {
    const ends = part.split("-");
    if (ends.length > 2)
      throw new IndexError(
        `the fragment ${JSON.stringify(part)} violates the requirement that an index interval can have at most two parts separated by '-'`
      );
    const [first, last] = ends.map((end) => {
      if (!/^[-+]?[0-9]+$/.test(end))
        throw new IndexError(
          `cannot convert string to integer for index: ${JSON.stringify(end)}`
        );
      if (Number(end) >= completions)
        throw new IndexError(`too large index: ${JSON.stringify(end)}`);
      return Number(end);
    });
    if (previous >= first)
      throw new IndexError(
        `non-increasing order, previous: ${previous}, current: ${first}`
      );
    previous = last ?? first;
    if (last !== void 0 && first >= last)
      throw new IndexError(
        `non-increasing order, previous: ${first}, current: ${last}`
      );
    return [first, previous];
  });
}
var countIndexes = (intervals) => intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
function sharedIndex(left, right) {
  for (const [first, last] of left)
    for (const [from, to] of right)
      if (first <= to && from <= last) return Math.max(first, from);
  return void 0;
}
function indexesProblem(text, completions) {
  try {
    parseIndexes(text, completions);
    return void 0;
  } catch (error) {
    if (error instanceof IndexError) return error.message;
    throw error;
  }
}

// apiserver-lite/resources/batch/job-validation.ts
var maxManagedByBytes = 63;
var maxParallelism = 1e5;
var manyCompletions = 1e5;
var maxOfMany = 1e4;
var counts = [
  "parallelism",
  "completions",
  "activeDeadlineSeconds",
  "backoffLimit",
  "ttlSecondsAfterFinished",
  "backoffLimitPerIndex",
  "maxFailedIndexes"
];
function validateJobSpec(field, spec) {
  const problems = counts.flatMap(
    (name) => nonNegative(`${field}.${name}`, spec[name])
  );
  if (spec.maxFailedIndexes !== void 0 && spec.backoffLimitPerIndex === void 0)
    problems.push(
      fieldErrors.required(
        `${field}.backoffLimitPerIndex`,
        "when maxFailedIndexes is specified"
      )
    );
  if (spec.managedBy !== void 0)
    problems.push(...validateManagedBy(`${field}.managedBy`, spec.managedBy));
  problems.push(
    ...oneOf(`${field}.completionMode`, spec.completionMode, [
      "NonIndexed",
      "Indexed"
    ]),
    ...spec.completionMode === "Indexed" ? validateIndexed(field, spec) : validateNonIndexed(field, spec),
    ...validateFailurePolicy(field, spec),
    ...validateSuccessPolicy(`${field}.successPolicy`, spec),
    ...oneOf(
      `${field}.podReplacementPolicy`,
      spec.podReplacementPolicy,
      spec.podFailurePolicy ? ["Failed"] : ["Failed", "TerminatingOrFailed"]
    ),
    ...validatePodTemplate(`${field}.template`, spec.template ?? {}),
    ...validateRestarts(`${field}.template.spec.restartPolicy`, spec)
  );
  return problems;
}
function validateManagedBy(field, name) {
  return [
    ...domainPrefixedPath(field, name),
    ...Buffer.byteLength(name) > maxManagedByBytes ? [fieldErrors.tooLong(field, maxManagedByBytes)] : []
  ];
}
function validateIndexed(field, spec) {
  const problems = [];
  const { completions, parallelism, maxFailedIndexes } = spec;
  const tooBig = (name, text) => problems.push(fieldErrors.invalid(`${field}.${name}`, spec[name], text));
  if (completions === void 0)
    problems.push(
      fieldErrors.required(
        `${field}.completions`,
        "when completion mode is Indexed"
      )
    );
  if ((parallelism ?? 0) > maxParallelism)
    tooBig(
      "parallelism",
      `must be less than or equal to ${maxParallelism} when completion mode is Indexed`
    );
  if (completions !== void 0 && maxFailedIndexes !== void 0 && maxFailedIndexes > completions)
    tooBig("maxFailedIndexes", "must be less than or equal to completions");
  if ((maxFailedIndexes ?? 0) > maxParallelism)
    tooBig(
      "maxFailedIndexes",
      `must be less than or equal to ${maxParallelism}`
    );
  if ((completions ?? 0) > manyCompletions && spec.backoffLimitPerIndex !== void 0) {
    const text = `must be less than or equal to ${maxOfMany} when completions are above ${manyCompletions} and used with backoff limit per index`;
    if (maxFailedIndexes === void 0)
      problems.push(
        fieldErrors.required(
          `${field}.maxFailedIndexes`,
          `must be specified when completions is above ${manyCompletions}`
        )
      );
    if ((parallelism ?? 0) > maxOfMany) tooBig("parallelism", text);
    if ((maxFailedIndexes ?? 0) > maxOfMany) tooBig("maxFailedIndexes", text);
  }
  return problems;
}
var validateNonIndexed = (field, spec) => ["backoffLimitPerIndex", "maxFailedIndexes"].filter((name) => spec[name] !== void 0).map(
  (name) => fieldErrors.invalid(
    `${field}.${name}`,
    spec[name],
    "requires indexed completion mode"
  )
);
function validateRestarts(field, spec) {
  const policy = spec.template?.spec?.restartPolicy;
  const problems = policy === "Always" || !policy ? [fieldErrors.required(field, 'valid values: "OnFailure", "Never"')] : oneOf(field, policy, ["OnFailure", "Never"]);
  if (spec.podFailurePolicy && policy !== "Never")
    problems.push(
      fieldErrors.invalid(
        field,
        policy ?? "",
        'only "Never" is supported when podFailurePolicy is specified'
      )
    );
  return problems;
}
function validateFailurePolicy(field, spec) {
  const rules2 = spec.podFailurePolicy?.rules ?? [];
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const names = [...containers, ...initContainers].map(({ name }) => name);
  return rules2.flatMap(
    (rule, index) => validateFailureRule(
      `${field}.podFailurePolicy.rules[${index}]`,
      rule,
      spec,
      names
    )
  );
}
function validateFailureRule(field, { action, onExitCodes, onPodConditions }, spec, containers) {
  const problems = choice(`${field}.action`, action, [
    "Count",
    "FailIndex",
    "FailJob",
    "Ignore"
  ]);
  if (action === "FailIndex" && spec.backoffLimitPerIndex === void 0)
    problems.push(
      fieldErrors.invalid(
        `${field}.action`,
        action,
        "requires the backoffLimitPerIndex to be set"
      )
    );
  if (onExitCodes)
    problems.push(
      ...validateExitCodes(`${field}.onExitCodes`, onExitCodes, containers)
    );
  for (const [index, { type, status }] of (onPodConditions ?? []).entries()) {
    const path = `${field}.onPodConditions[${index}]`;
    problems.push(
      ...invalidEach(`${path}.type`, type, qualifiedNameProblems(type)),
      ...choice(`${path}.status`, status, ["False", "True", "Unknown"])
    );
  }
  const conditions3 = (onPodConditions?.length ?? 0) > 0;
  if (onExitCodes && conditions3)
    problems.push(
      fieldErrors.invalidWithoutValue(
        field,
        "specifying both OnExitCodes and OnPodConditions is not supported"
      )
    );
  if (!onExitCodes && !conditions3)
    problems.push(
      fieldErrors.invalidWithoutValue(
        field,
        "specifying one of OnExitCodes and OnPodConditions is required"
      )
    );
  return problems;
}
function choice(field, value, supported) {
  const listed = supported.map((one) => JSON.stringify(one)).join(" ");
  return value ? oneOf(field, value, supported) : [fieldErrors.required(field, `valid values: [${listed}]`)];
}
function validateExitCodes(field, {
  containerName,
  operator,
  values
}, containers) {
  const problems = choice(`${field}.operator`, operator, ["In", "NotIn"]);
  const invalidValues = (value, text, at = "") => problems.push(fieldErrors.invalid(`${field}.values${at}`, value, text));
  if (containerName !== void 0 && !containers.includes(containerName))
    problems.push(
      fieldErrors.invalid(
        `${field}.containerName`,
        containerName,
        "must be one of the container or initContainer names in the pod template"
      )
    );
  const given = values ?? [];
  if (given.length === 0)
    invalidValues(asGo("[]int32", given), "at least one value is required");
  else if (given.length > 255)
    problems.push(fieldErrors.tooMany(`${field}.values`, given.length, 255));
  const seen = /* @__PURE__ */ new Set();
  for (const [index, value] of given.entries()) {
    if (operator === "In" && value === 0)
      invalidValues(value, "must not be 0 for the In operator", `[${index}]`);
    if (seen.has(value))
      problems.push(fieldErrors.duplicate(`${field}.values[${index}]`, value));
    seen.add(value);
  }
  if (given.some((value, index) => index > 0 && value < given[index - 1]))
    invalidValues(asGo("[]int32", given), "must be ordered");
  return problems;
}
function validateSuccessPolicy(field, { successPolicy, completionMode, completions = 0 }) {
  if (!successPolicy) return [];
  if (completionMode !== "Indexed")
    return [
      fieldErrors.invalid(
        field,
        asGo("batch.SuccessPolicy", successPolicy),
        "requires indexed completion mode"
      )
    ];
  const rules2 = successPolicy.rules ?? [];
  if (rules2.length === 0)
    return [
      fieldErrors.required(
        `${field}.rules`,
        "at least one rules must be specified when the successPolicy is specified"
      )
    ];
  return rules2.flatMap(
    (rule, index) => validateSuccessRule(`${field}.rules[${index}]`, rule, completions)
  );
}
function validateSuccessRule(field, rule, completions) {
  const { succeededCount: count3, succeededIndexes: indexes } = rule;
  if (count3 === void 0 && indexes === void 0)
    return [
      fieldErrors.required(
        field,
        "at least one of succeededCount or succeededIndexes must be specified"
      )
    ];
  const problems = [];
  let total;
  try {
    if (indexes !== void 0)
      total = countIndexes(parseIndexes(indexes, completions));
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
    problems.push(
      fieldErrors.invalid(
        `${field}.succeededIndexes`,
        indexes,
        `error parsing succeededIndexes: ${error.message}`
      )
    );
  }
  if (count3 !== void 0) {
    const path = `${field}.succeededCount`;
    problems.push(...nonNegative(path, count3));
    if (count3 > completions)
      problems.push(
        fieldErrors.invalid(
          path,
          count3,
          `must be less than or equal to ${completions} (the number of specified completions)`
        )
      );
    if (total !== void 0 && count3 > total)
      problems.push(
        fieldErrors.invalid(
          path,
          count3,
          `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`
        )
      );
  }
  return problems;
}

// apiserver-lite/resources/batch/cron-job.ts
var asCronJob = (object) => object;
var maxNameLength = 52;
function zoneProblems(zone) {
  if (zone === void 0 || zone === null) return [];
  const invalid = (text) => fieldErrors.invalid("spec.timeZone", zone, text);
  if (zone === "") return [invalid("timeZone must be nil or non-empty string")];
  const problems = [];
  if (zone.toLowerCase() === "local")
    problems.push(
      invalid(
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
      )
    );
  if (zone !== "Local" && !isZone(zone))
    problems.push(invalid(`unknown time zone ${zone}`));
  return problems;
}
function isZone(zone) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return /^[A-Z]/.test(zone);
  } catch {
    return false;
  }
}
function scheduleProblems(schedule, oldSchedule = "") {
  if (!schedule) return [fieldErrors.required("spec.schedule")];
  if (schedule.includes("TZ")) {
    if (oldSchedule.includes("TZ")) return [];
    return [
      fieldErrors.invalid(
        "spec.schedule",
        schedule,
        "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
      )
    ];
  }
  const problem = scheduleProblem(schedule);
  return problem ? [fieldErrors.invalid("spec.schedule", schedule, problem)] : [];
}
function validateTemplate(spec) {
  const field = "spec.jobTemplate.spec";
  const problems = validateJobSpec(field, spec ?? {});
  if (spec?.manualSelector)
    problems.push(
      fieldErrors.notSupported(`${field}.manualSelector`, true, [
        "nil",
        "false"
      ])
    );
  if (spec?.selector)
    problems.push(
      fieldErrors.invalid(
        `${field}.selector`,
        asGo("v1.LabelSelector", spec.selector),
        "`selector` will be auto-generated"
      )
    );
  return problems;
}
function validateSpec({ spec }, old) {
  if (!spec) return [fieldErrors.required("spec")];
  return [
    ...scheduleProblems(spec.schedule, old?.spec?.schedule),
    ...nonNegative(
      "spec.startingDeadlineSeconds",
      spec.startingDeadlineSeconds
    ),
    ...old && old.spec?.timeZone === spec.timeZone ? [] : zoneProblems(spec.timeZone),
    ...oneOf(
      "spec.concurrencyPolicy",
      spec.concurrencyPolicy,
      ["Allow", "Forbid", "Replace"],
      true
    ),
    ...validateTemplate(spec.jobTemplate?.spec),
    ...nonNegative(
      "spec.successfulJobsHistoryLimit",
      spec.successfulJobsHistoryLimit
    ),
    ...nonNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit)
  ];
}
var cronJobStrategy = {
  warnings: podNameWarnings,
  prepareForCreate(object) {
    asCronJob(object).status = {};
  },
  prepareForUpdate(object, old) {
    asCronJob(object).status = { ...asCronJob(old).status };
  },
  validateCreate(object) {
    const { metadata } = asCronJob(object);
    return [
      ...validateSpec(asCronJob(object)),
      ...metadata.name.length > maxNameLength ? [
        fieldErrors.invalid(
          "metadata.name",
          metadata.name,
          tooLongProblem(maxNameLength)
        )
      ] : []
    ];
  },
  validateUpdate: (object, old) => validateSpec(asCronJob(object), asCronJob(old)),
  status: {
    prepareForUpdate(object, old) {
      asCronJob(object).spec = asCronJob(old).spec;
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asCronJob(object);
    return [
      metadata.name,
      spec?.schedule ?? "",
      orNone(spec?.timeZone),
      spec?.suspend === void 0 ? "<unset>" : spec.suspend ? "True" : "False",
      status?.active?.length ?? 0,
      status?.lastScheduleTime ? formatAge(status.lastScheduleTime, now) : "<none>",
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.jobTemplate?.spec?.template),
      selectorColumn(spec?.jobTemplate?.spec?.selector)
    ];
  }
};

// apiserver-lite/resources/batch/job-status-validation.ts
function viewOf(job) {
  const status = job.status ?? {};
  const is = (condition, value = "True") => status.conditions?.some(
    (one) => one.type === condition && one.status === value
  ) ?? false;
  return {
    spec: job.spec,
    status,
    is,
    finished: is("Complete") || is("Failed")
  };
}
var aspectOf = (view, aspect) => {
  switch (aspect) {
    case "finished":
      return view.finished;
    case "complete":
      return view.is("Complete");
    case "failed":
      return view.is("Failed");
    case "failureTarget":
      return view.is("FailureTarget");
    case "successCriteriaMet":
      return view.is("SuccessCriteriaMet");
    default:
      return view.status[aspect];
  }
};
var before = (left, right) => left !== void 0 && right !== void 0 && Date.parse(left) < Date.parse(right);
var timeText2 = (time) => time === void 0 ? void 0 : asGo("Stringer", time);
var indexed = ({ spec }) => spec.completionMode === "Indexed";
function together(first, second, of) {
  const shown2 = (type) => `${type}=${type === "Complete" ? "True" : "true"}`;
  return {
    of,
    field: "conditions",
    broken: (now) => now.is(first) && now.is(second),
    text: `cannot set ${shown2(first)} and ${shown2(second)} conditions`
  };
}
function overlap({ spec, status }) {
  if (spec.completions === void 0 || status.failedIndexes === void 0)
    return void 0;
  try {
    return sharedIndex(
      parseIndexes(status.completedIndexes ?? "", spec.completions),
      parseIndexes(status.failedIndexes, spec.completions)
    );
  } catch (error) {
    if (error instanceof IndexError) return void 0;
    throw error;
  }
}
var rules = [
  together("Complete", "Failed", ["complete", "failed"]),
  together("Complete", "FailureTarget", ["complete", "failureTarget"]),
  {
    of: ["complete", "completionTime"],
    field: "completionTime",
    broken: (now) => now.status.completionTime !== void 0 && !now.is("Complete"),
    text: "cannot set completionTime when there is no Complete=True condition",
    value: ({ status }) => timeText2(status.completionTime)
  },
  {
    of: ["complete", "completionTime"],
    field: "completionTime",
    broken: (now) => now.status.completionTime === void 0 && now.is("Complete"),
    text: "completionTime is required for Complete jobs",
    required: true
  },
  {
    of: ["startTime", "completionTime"],
    field: "completionTime",
    broken: ({ status }) => before(status.completionTime, status.startTime),
    text: "completionTime cannot be set before startTime",
    value: ({ status }) => timeText2(status.completionTime)
  },
  {
    of: ["failed", "failedIndexes"],
    field: "conditions",
    broken: (now) => now.is("Failed") && !now.is("FailureTarget"),
    text: "cannot set Failed=True condition without the FailureTarget=true condition"
  },
  {
    of: ["complete", "successCriteriaMet"],
    field: "conditions",
    broken: (now) => now.is("Complete") && !now.is("SuccessCriteriaMet"),
    text: "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
  },
  {
    of: ["finished", "active"],
    field: "active",
    broken: (now) => now.finished && (now.status.active ?? 0) > 0,
    text: "active>0 is invalid for finished job",
    value: ({ status }) => status.active
  },
  {
    of: ["finished", "startTime"],
    field: "startTime",
    broken: ({ finished, spec, status }) => finished && status.startTime === void 0 && !(spec.suspend === true && spec.completions === 0),
    text: "startTime is required for finished job",
    required: true
  },
  {
    of: ["finished", "uncountedTerminatedPods"],
    field: "uncountedTerminatedPods",
    broken: ({ finished, status: { uncountedTerminatedPods: pods } }) => finished && (pods?.failed?.length ?? 0) + (pods?.succeeded?.length ?? 0) > 0,
    text: "uncountedTerminatedPods needs to be empty for finished job",
    value: ({ status }) => asGo("*batch.UncountedTerminatedPods", status.uncountedTerminatedPods)
  },
  ...["completedIndexes", "failedIndexes"].map((field) => ({
    of: [field],
    field,
    broken: (now) => indexesText(now, field) !== void 0,
    text: (now) => `error parsing ${field}: ${indexesText(now, field)}`,
    value: ({ status }) => status[field]
  })),
  {
    of: ["completedIndexes"],
    field: "completedIndexes",
    broken: (now) => Boolean(now.status.completedIndexes) && !indexed(now),
    text: "cannot set non-empty completedIndexes when non-indexed completion mode",
    value: ({ status }) => status.completedIndexes
  },
  {
    of: ["failedIndexes"],
    field: "failedIndexes",
    broken: ({ spec, status }) => spec.backoffLimitPerIndex === void 0 && status.failedIndexes !== void 0,
    text: "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
    value: ({ status }) => status.failedIndexes
  },
  {
    of: ["failedIndexes", "completedIndexes"],
    field: "failedIndexes",
    broken: (now) => overlap(now) !== void 0,
    text: (now) => `failedIndexes and completedIndexes overlap at index: ${overlap(now)}`,
    value: ({ status }) => status.failedIndexes
  },
  {
    of: ["finished", "terminating"],
    field: "terminating",
    broken: (now) => now.finished && (now.status.terminating ?? 0) > 0,
    text: "terminating>0 is invalid for finished job",
    value: ({ status }) => status.terminating
  },
  {
    of: ["ready", "active"],
    field: "ready",
    broken: ({ status }) => status.ready !== void 0 && status.ready > (status.active ?? 0),
    text: "cannot set more ready pods than active",
    value: ({ status }) => status.ready
  },
  {
    field: "conditions",
    broken: (now) => now.is("SuccessCriteriaMet") && now.is("Failed"),
    text: "cannot set SuccessCriteriaMet=True and Failed=true conditions"
  },
  {
    field: "conditions",
    broken: (now) => now.is("SuccessCriteriaMet") && now.is("FailureTarget"),
    text: "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"
  },
  {
    field: "conditions",
    broken: (now) => now.spec.successPolicy !== void 0 && !now.is("SuccessCriteriaMet") && now.is("Complete"),
    text: "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
  },
  ...["Failed", "Complete", "FailureTarget"].map((type) => ({
    field: "conditions",
    broken: (now, was) => was.is(type) && !now.is(type),
    text: `cannot disable the terminal ${type}=True condition`
  })),
  {
    field: "failed",
    broken: (now, was) => (now.status.failed ?? 0) < (was.status.failed ?? 0),
    text: "cannot decrease the failed counter",
    value: ({ status }) => status.failed ?? 0
  },
  {
    field: "succeeded",
    // An indexed job that is resized may lose some.
    broken: (now, was) => (now.status.succeeded ?? 0) < (was.status.succeeded ?? 0) && !(indexed(now) && now.spec.completions === now.spec.parallelism),
    text: "cannot decrease the succeeded counter",
    value: ({ status }) => status.succeeded ?? 0
  },
  {
    field: "completionTime",
    broken: (now, was) => now.status.completionTime !== void 0 && was.status.completionTime !== void 0 && now.status.completionTime !== was.status.completionTime,
    text: "completionTime cannot be mutated",
    value: ({ status }) => timeText2(status.completionTime)
  },
  {
    field: "startTime",
    broken: (now, was) => was.status.startTime !== void 0 && was.status.startTime !== now.status.startTime && now.spec.suspend !== true && !resuming(now, was),
    text: "startTime cannot be removed for unsuspended job",
    required: true
  },
  {
    field: "conditions",
    broken: (now, was) => was.is("SuccessCriteriaMet") && !now.is("SuccessCriteriaMet"),
    text: "cannot disable the SuccessCriteriaMet=True condition"
  },
  {
    field: "conditions",
    broken: (now, was) => was.is("Complete") && !was.is("SuccessCriteriaMet") && now.is("SuccessCriteriaMet"),
    text: "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
  }
];
var resuming = (now, was) => was.is("Suspended") && (now.status.conditions?.some(
  ({ type, status }) => type === "Suspended" && status === "False"
) ?? false);
function indexesText({ spec, status }, field) {
  const text = status[field];
  if (spec.completions === void 0 || text === void 0) return void 0;
  if (field === "failedIndexes" && spec.backoffLimitPerIndex === void 0)
    return void 0;
  return indexesProblem(text, spec.completions);
}
function uncountedProblems({ uncountedTerminatedPods }) {
  const problems = [];
  const seen = /* @__PURE__ */ new Set();
  for (const part of ["succeeded", "failed"])
    for (const [index, uid] of (uncountedTerminatedPods?.[part] ?? []).entries()) {
      const field = `status.uncountedTerminatedPods.${part}[${index}]`;
      if (uid === "")
        problems.push(fieldErrors.invalid(field, uid, "must not be empty"));
      else if (seen.has(uid)) problems.push(fieldErrors.duplicate(field, uid));
      seen.add(uid);
    }
  return problems;
}
var counters = [
  "active",
  "succeeded",
  "failed",
  "ready",
  "terminating"
];
function validateJobStatus(job, old) {
  const [now, was] = [viewOf(job), viewOf(old)];
  const changed = (aspect) => !sameValue(aspectOf(now, aspect), aspectOf(was, aspect));
  return [
    ...counters.flatMap(
      (name) => nonNegative(`status.${name}`, now.status[name])
    ),
    ...uncountedProblems(now.status),
    ...rules.filter((rule) => rule.of?.some(changed) ?? true).filter((rule) => rule.broken(now, was)).map((rule) => {
      const field = `status.${rule.field}`;
      const text = typeof rule.text === "string" ? rule.text : rule.text(now);
      if (rule.required) return fieldErrors.required(field, text);
      return rule.value ? fieldErrors.invalid(field, rule.value(now), text) : fieldErrors.invalidWithoutValue(field, text);
    })
  ];
}

// apiserver-lite/resources/batch/job.ts
var asJob = (object) => object;
var uidLabel = "batch.kubernetes.io/controller-uid";
var generatedLabels = (job) => ({
  "controller-uid": job.metadata.uid ?? "",
  "job-name": job.metadata.name,
  [uidLabel]: job.metadata.uid ?? "",
  "batch.kubernetes.io/job-name": job.metadata.name
});
function generateSelector(job) {
  const { template, selector } = job.spec;
  template.metadata = {
    ...template.metadata,
    labels: { ...generatedLabels(job), ...template.metadata?.labels }
  };
  job.spec.selector = {
    ...selector,
    matchLabels: {
      ...selector?.matchLabels,
      [uidLabel]: job.metadata.uid ?? ""
    }
  };
}
function validateGenerated(job) {
  const { selector, template, manualSelector } = job.spec;
  if (manualSelector || !selector) return [];
  const problems = [];
  const labels2 = template?.metadata?.labels ?? {};
  for (const [name, value] of Object.entries(generatedLabels(job)))
    if (labels2[name] !== value)
      problems.push(
        fieldErrors.invalid(
          `spec.template.metadata.labels[${name}]`,
          labels2,
          `must be '${value}'`
        )
      );
  const expected = { matchLabels: { [uidLabel]: job.metadata.uid ?? "" } };
  if (!sameValue(selector, expected))
    problems.push(
      fieldErrors.invalid(
        "spec.selector",
        asGo("v1.LabelSelector", selector),
        "`selector` not auto-generated"
      )
    );
  return problems;
}
function validateOwnSpec({ spec }) {
  return [
    ...spec.selector ? labelSelector("spec.selector", spec.selector) : [fieldErrors.required("spec.selector")],
    ...validateJobSpec("spec", spec),
    ...validateMatch(spec.selector, spec.template, void 0)
  ];
}
function validateHostNames({ metadata, spec }) {
  if (spec?.completionMode !== "Indexed" || !((spec.completions ?? 0) > 0))
    return [];
  const last = `${metadata.name}-${spec.completions - 1}`;
  return isDnsLabel(last) ? [] : [
    fieldErrors.invalid(
      "metadata.name",
      metadata.name,
      `will not able to create pod with invalid DNS label: ${last}`
    )
  ];
}
function validateJob(job) {
  if (!job.spec) return [fieldErrors.required("spec")];
  return [
    ...validateGenerated(job),
    ...validateOwnSpec(job),
    ...validateHostNames(job)
  ];
}
var tooManyToTrack = "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";
function statusText({ status, metadata }) {
  const is = (type) => status?.conditions?.some(
    (condition) => condition.type === type && condition.status === "True"
  ) ?? false;
  if (is("Complete")) return "Complete";
  if (is("Failed")) return "Failed";
  if (metadata.deletionTimestamp) return "Terminating";
  if (is("Suspended")) return "Suspended";
  if (is("FailureTarget")) return "FailureTarget";
  return is("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}
function completionsText({ spec, status }) {
  const done = status?.succeeded ?? 0;
  if (spec?.completions !== void 0 && spec.completions !== null)
    return `${done}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}
function durationText({ status }, now) {
  if (!status?.startTime) return "";
  return status.completionTime ? humanDuration(
    Date.parse(status.completionTime) - Date.parse(status.startTime)
  ) : formatAge(status.startTime, now);
}
var settled = [
  ["completionMode", void 0],
  ["podFailurePolicy", "*batch.PodFailurePolicy"],
  ["backoffLimitPerIndex", void 0],
  ["managedBy", void 0],
  ["successPolicy", "*batch.SuccessPolicy"]
];
function validateCompletions(spec, old) {
  if (spec.completionMode !== "Indexed")
    return immutable("spec.completions", spec.completions, old.completions);
  const { completions, parallelism } = spec;
  if (completions === void 0 || completions === old.completions || completions === parallelism)
    return [];
  return [
    fieldErrors.invalid(
      "spec.completions",
      completions,
      "can only be modified in tandem with spec.parallelism"
    )
  ];
}
function validateTemplateUpdate(job, old) {
  const waiting = old.spec.suspend === true && !old.status?.startTime;
  const free = waiting ? [
    "metadata.labels",
    "metadata.annotations",
    "spec.nodeSelector",
    "spec.affinity",
    "spec.tolerations",
    "spec.schedulingGates"
  ] : [];
  const { template } = job.spec;
  if (agreeBut(template, old.spec.template, free)) return [];
  return [
    fieldErrors.invalid(
      "spec.template",
      asGo("core.PodTemplateSpec", template),
      "field is immutable"
    )
  ];
}
var jobStrategy = {
  defaultPropagation: "Orphan",
  warnings(object, old) {
    const {
      completions = 0,
      parallelism = 0,
      completionMode
    } = asJob(object).spec ?? {};
    const many = completionMode === "Indexed" && completions > 1e5 && parallelism > 1e4;
    return [...podNameWarnings(object, old), ...many ? [tooManyToTrack] : []];
  },
  orphanWarning: "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  prepareForCreate(object) {
    const job = asJob(object);
    job.status = {};
    if (job.spec?.template && !job.spec.manualSelector) generateSelector(job);
  },
  prepareForUpdate(object, old) {
    asJob(object).status = { ...asJob(old).status };
  },
  validate: (object) => validateJob(asJob(object)),
  validateUpdate(object, old) {
    const [job, was] = [asJob(object), asJob(old)];
    const [spec, oldSpec] = [job.spec, was.spec];
    return [
      // The reference checks the spec once more.
      ...validateOwnSpec(job),
      ...validateCompletions(spec, oldSpec),
      ...immutable(
        "spec.selector",
        spec.selector,
        oldSpec.selector,
        "*v1.LabelSelector"
      ),
      ...validateTemplateUpdate(job, was),
      ...settled.flatMap(
        ([name, type]) => immutable(`spec.${name}`, spec[name], oldSpec[name], type)
      )
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asJob(object).spec = asJob(old).spec;
    },
    validateUpdate: (object, old) => validateJobStatus(asJob(object), asJob(old))
  },
  selectableFields: (object) => ({
    "status.successful": String(asJob(object).status?.succeeded ?? 0)
  }),
  printRow: (object, now) => {
    const job = asJob(object);
    return [
      job.metadata.name,
      statusText(job),
      completionsText(job),
      durationText(job, now),
      formatAge(job.metadata.creationTimestamp, now),
      ...containerColumns(job.spec?.template),
      selectorColumn(job.spec?.selector)
    ];
  }
};

// apiserver-lite/resources/certificates/request-validation.ts
var minSeconds = 600;
var decisions = ["Approved", "Denied"];
var usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping"
];
function validateRequestSpec(spec) {
  const problems = [];
  const pem = Buffer.from(spec?.request ?? "", "base64");
  if (!/-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(pem.toString("latin1")))
    problems.push(
      fieldErrors.invalid(
        "spec.request",
        asGo("[]byte", spec?.request && pem),
        "PEM block type must be CERTIFICATE REQUEST"
      )
    );
  const asked = spec?.usages ?? [];
  if (asked.length === 0) problems.push(fieldErrors.required("spec.usages"));
  for (const [index, usage2] of asked.entries())
    if (!usages.includes(usage2))
      problems.push(
        fieldErrors.notSupported(`spec.usages[${index}]`, usage2, usages)
      );
  for (const [index, usage2] of asked.entries())
    if (asked.indexOf(usage2) < index)
      problems.push(fieldErrors.duplicate(`spec.usages[${index}]`, usage2));
  if (spec?.signerName === "kubernetes.io/legacy-unknown")
    problems.push(
      fieldErrors.invalid(
        "spec.signerName",
        spec.signerName,
        "the legacy signerName is not allowed via this API version"
      )
    );
  else problems.push(...signerProblems(spec?.signerName ?? ""));
  if (spec?.expirationSeconds !== void 0 && spec.expirationSeconds < minSeconds)
    problems.push(
      fieldErrors.invalid(
        "spec.expirationSeconds",
        spec.expirationSeconds,
        "may not specify a duration less than 600 seconds (10 minutes)"
      )
    );
  return problems;
}
function signerProblems(name) {
  const field = "spec.signerName";
  if (name === "") return [fieldErrors.required(field)];
  const [domain = "", path, ...more] = name.split("/");
  if (path === void 0 || more.length > 0)
    return [
      fieldErrors.invalid(
        field,
        name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'"
      )
    ];
  const each = (part, check2) => part.split(".").flatMap(
    (label) => check2(label).map(
      (problem) => fieldErrors.invalid(
        field,
        part,
        `validating label ${JSON.stringify(label)}: ${problem}`
      )
    )
  );
  return [
    ...each(domain, dnsLabelProblems),
    ...domain.split(".").length < 2 ? [
      fieldErrors.invalid(
        field,
        domain,
        "should be a domain with at least two segments separated by dots"
      )
    ] : [],
    ...each(path, dnsSubdomainProblems)
  ];
}
function validateConditions(conditions3 = []) {
  const problems = [];
  const seen = /* @__PURE__ */ new Set();
  for (const [index, { type, status }] of conditions3.entries()) {
    const field = `status.conditions[${index}]`;
    if (!type) problems.push(fieldErrors.required(`${field}.type`));
    const decided = decisions.includes(type) || type === "Failed";
    const supported = decided ? ["True"] : ["False", "True", "Unknown"];
    if (!status) problems.push(fieldErrors.required(`${field}.status`));
    else if (!supported.includes(status))
      problems.push(
        fieldErrors.notSupported(`${field}.status`, status, supported)
      );
    if (seen.has(type)) {
      problems.push(fieldErrors.duplicate(`${field}.type`, type));
      continue;
    }
    if (decisions.includes(type) && decisions.some((other) => other !== type && seen.has(other)))
      problems.push(
        fieldErrors.invalid(
          `${field}.type`,
          type,
          "Approved and Denied conditions are mutually exclusive"
        )
      );
    seen.add(type);
  }
  return problems;
}
function validateIssued(now, was) {
  const problems = [];
  const has = (status, type) => status?.conditions?.some((condition) => condition.type === type) ?? false;
  for (const type of decisions)
    if (has(now, type) && !has(was, type))
      problems.push(
        fieldErrors.forbidden(
          "status.conditions",
          `updates may not add a condition of type ${JSON.stringify(type)}`
        )
      );
  if (was?.certificate && now?.certificate !== was.certificate)
    problems.push(
      fieldErrors.forbidden(
        "status.certificate",
        "updates may not modify a set certificate"
      )
    );
  else if (now?.certificate && now.certificate !== was?.certificate) {
    const pem = Buffer.from(now.certificate, "base64").toString("latin1");
    if (!pem.includes("-----BEGIN CERTIFICATE-----"))
      problems.push(
        fieldErrors.invalid(
          "status.certificate",
          "<certificate data>",
          "must contain at least one CERTIFICATE PEM block"
        )
      );
  }
  return problems;
}

// apiserver-lite/resources/certificates/certificate-signing-request.ts
var asRequest = (object) => object;
function conditionText({ status }) {
  const types4 = new Set((status?.conditions ?? []).map(({ type }) => type));
  const words = types4.has("Denied") ? ["Denied"] : types4.has("Approved") ? ["Approved"] : ["Pending"];
  if (types4.has("Failed")) words.push("Failed");
  if (status?.certificate) words.push("Issued");
  return words.join(",");
}
var certificateSigningRequestStrategy = {
  countsGeneration: false,
  // The reference looks at what is asked for only.
  validateName: () => [],
  prepareForCreate(object, { user }) {
    const request = asRequest(object);
    request.spec = {
      ...request.spec,
      username: user.name,
      ...user.uid ? { uid: user.uid } : {},
      groups: [...user.groups],
      ...Object.keys(user.extra).length > 0 ? {
        extra: Object.fromEntries(
          Object.entries(user.extra).map(([key2, values]) => [
            key2,
            [...values]
          ])
        )
      } : {}
    };
    if (!user.uid) delete request.spec.uid;
    request.status = {};
  },
  prepareForUpdate(object, old) {
    asRequest(object).spec = asRequest(old).spec;
    asRequest(object).status = { ...asRequest(old).status };
  },
  validate: (object) => [
    ...validateRequestSpec(asRequest(object).spec),
    ...validateConditions(asRequest(object).status?.conditions)
  ],
  status: {
    resetPaths: [["spec"], ["status", "conditions"]],
    prepareForUpdate(object, old, context) {
      const [request, was] = [asRequest(object), asRequest(old)];
      request.spec = was.spec;
      request.status = { ...request.status };
      stamp(request, formatTime(context.clock.now()), was);
      if (request.status.conditions?.length === 0)
        delete request.status.conditions;
    },
    validateUpdate: (object, old) => [
      ...validateConditions(asRequest(object).status?.conditions),
      ...validateIssued(asRequest(object).status, asRequest(old).status)
    ]
  },
  selectableFields: (object) => ({
    "spec.signerName": asRequest(object).spec?.signerName ?? ""
  }),
  printRow: (object, now) => {
    const request = asRequest(object);
    const { metadata, spec } = request;
    return [
      metadata.name,
      formatAge(metadata.creationTimestamp, now),
      spec.signerName || "<none>",
      spec.username ?? "",
      spec.expirationSeconds === void 0 ? "<none>" : humanDuration(spec.expirationSeconds * 1e3),
      conditionText(request)
    ];
  },
  parts: {
    approval: {
      resetPaths: [["spec"], ["status", "certificate"]],
      prepareForUpdate(object, old, context) {
        const [request, was] = [asRequest(object), asRequest(old)];
        request.spec = was.spec;
        request.status = {
          ...was.status,
          conditions: request.status?.conditions ?? []
        };
        stamp(request, formatTime(context.clock.now()), was);
        if (request.status.conditions?.length === 0)
          delete request.status.conditions;
      },
      validateUpdate: (object) => validateConditions(asRequest(object).status?.conditions)
    }
  }
};
function stamp(request, now, old) {
  request.status.conditions = (request.status.conditions ?? []).map(
    (condition) => {
      const before2 = old?.status?.conditions?.find(
        ({ type }) => type === condition.type
      );
      const same = before2 && sameValue(before2.status, condition.status);
      return {
        ...condition,
        lastUpdateTime: condition.lastUpdateTime ?? now,
        lastTransitionTime: condition.lastTransitionTime ?? (same ? before2.lastTransitionTime : void 0) ?? now
      };
    }
  );
}

// apiserver-lite/resources/coordination/lease.ts
var asLease = (object) => object;
function dropGated2(object) {
  const { spec } = asLease(object);
  delete spec?.strategy;
  delete spec?.preferredHolder;
}
var leaseStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: dropGated2,
  prepareForUpdate: dropGated2,
  validate(object) {
    const { spec } = asLease(object);
    return [
      ...positive("spec.leaseDurationSeconds", spec?.leaseDurationSeconds),
      ...nonNegative("spec.leaseTransitions", spec?.leaseTransitions)
    ];
  },
  printRow: (object, now) => {
    const { metadata, spec } = asLease(object);
    return [
      metadata.name,
      spec?.holderIdentity ?? "",
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/core/config-map.ts
var maxDataBytes = 1024 * 1024;
var asConfigMap = (object) => object;
function decodedBytes(base64) {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor(base64.length * 3 / 4) - padding);
}
var immutableText = "field is immutable when `immutable` is set";
var configMapStrategy = {
  countsGeneration: false,
  validate(object) {
    const { data = {}, binaryData = {} } = asConfigMap(object);
    const problems = [];
    let bytes = 0;
    for (const [key2, value] of Object.entries(data)) {
      const field = `data[${key2}]`;
      problems.push(...invalidEach(field, key2, dataKeyProblems(key2)));
      if (Object.hasOwn(binaryData, key2)) {
        problems.push(
          fieldErrors.invalid(
            field,
            key2,
            `duplicate of key present in binaryData`
          )
        );
      }
      bytes += Buffer.byteLength(value);
    }
    for (const [key2, value] of Object.entries(binaryData)) {
      problems.push(
        ...invalidEach(`binaryData[${key2}]`, key2, dataKeyProblems(key2))
      );
      bytes += decodedBytes(value);
    }
    if (bytes > maxDataBytes)
      problems.push(fieldErrors.tooLong("[]", maxDataBytes));
    return problems;
  },
  validateUpdate(object, old) {
    const [now, was] = [asConfigMap(object), asConfigMap(old)];
    if (!was.immutable) return [];
    const problems = [];
    if (!now.immutable)
      problems.push(fieldErrors.forbidden("immutable", immutableText));
    if (!sameValue(now.data, was.data))
      problems.push(fieldErrors.forbidden("data", immutableText));
    if (!sameValue(now.binaryData, was.binaryData))
      problems.push(fieldErrors.forbidden("binaryData", immutableText));
    return problems;
  },
  printRow: (object, now) => {
    const { metadata, data, binaryData } = asConfigMap(object);
    const count3 = Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length;
    return [metadata.name, count3, formatAge(metadata.creationTimestamp, now)];
  }
};

// api/address-kind.ts
import { BlockList, isIP } from "node:net";
var ranges = [
  ["unspecified", "0.0.0.0/32", "::/128"],
  ["loopback", "127.0.0.0/8", "::1/128"],
  ["link-local", "169.254.0.0/16", "fe80::/10"],
  [
    "link-local multicast",
    "224.0.0.0/24",
    // ff02::/16 with any of the flags.
    ...Array.from(
      { length: 16 },
      (_, flags) => `ff${flags.toString(16)}2::/16`
    )
  ],
  ["multicast", "224.0.0.0/4", "ff00::/8"],
  ["broadcast", "255.255.255.255/32"]
];
var lists = ranges.map(([kind2, ...nets]) => {
  const list = new BlockList();
  for (const net of nets) {
    const [base = "", prefix] = net.split("/");
    list.addSubnet(base, Number(prefix), base.includes(":") ? "ipv6" : "ipv4");
  }
  return { kind: kind2, list };
});
function addressKind(text) {
  const family = isIP(text);
  if (family === 0 || text.includes("%")) return void 0;
  const found = lists.find(
    ({ list }) => list.check(text, family === 6 ? "ipv6" : "ipv4")
  );
  return found?.kind ?? "outside";
}

// apiserver-lite/resources/core/ip-address.ts
var specialKinds = {
  unspecified: (ip) => `may not be unspecified (${ip})`,
  loopback: () => "may not be in the loopback range (127.0.0.0/8, ::1/128)",
  "link-local": () => "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
  "link-local multicast": () => "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
};
function specialIpProblems(ip) {
  const text = specialKinds[addressKind(ip) ?? "outside"];
  return text ? [text(ip)] : [];
}

// apiserver-lite/resources/core/endpoints.ts
var asEndpoints = (object) => object;
function endpointIpProblems(field, ip) {
  const bad = ipProblems(ip);
  return invalidEach(field, ip, bad.length > 0 ? bad : specialIpProblems(ip));
}
function addressProblems(field, { ip, hostname, nodeName }) {
  const bad = ipProblems(ip ?? "");
  return [
    ...bad.length > 0 ? (
      // Looked at twice by the reference, in two wordings.
      invalidEach(`${field}.ip`, ip ?? "", [
        ...bad,
        "must be a valid IP address"
      ])
    ) : endpointIpProblems(`${field}.ip`, ip),
    ...hostname ? invalidEach(`${field}.hostname`, hostname, dnsLabelProblems(hostname)) : [],
    ...nodeName === void 0 ? [] : invalidEach(
      `${field}.nodeName`,
      nodeName,
      dnsSubdomainProblems(nodeName)
    )
  ];
}
var endpointsStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  validate(object) {
    const problems = [];
    for (const [index, subset] of (asEndpoints(object).subsets ?? []).entries()) {
      const path = `subsets[${index}]`;
      const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
      if (addresses.length + notReadyAddresses.length === 0) {
        problems.push(
          fieldErrors.required(
            path,
            "must specify `addresses` or `notReadyAddresses`"
          )
        );
      }
      for (const [at, address2] of addresses.entries()) {
        problems.push(...addressProblems(`${path}.addresses[${at}]`, address2));
      }
      for (const [at, address2] of notReadyAddresses.entries()) {
        problems.push(
          ...addressProblems(`${path}.notReadyAddresses[${at}]`, address2)
        );
      }
      for (const [at, port] of ports.entries()) {
        const field = `${path}.ports[${at}]`;
        if (ports.length > 1 && !port.name)
          problems.push(fieldErrors.required(`${field}.name`));
        else if (port.name)
          problems.push(
            ...invalidEach(
              `${field}.name`,
              port.name,
              dnsLabelProblems(port.name)
            )
          );
        problems.push(
          ...invalidEach(
            `${field}.port`,
            port.port,
            portNumberProblems(port.port)
          )
        );
        const { appProtocol } = port;
        problems.push(
          ...oneOf(
            `${field}.protocol`,
            port.protocol,
            ["SCTP", "TCP", "UDP"],
            true
          ),
          ...appProtocol === void 0 ? [] : invalidEach(
            `${field}.appProtocol`,
            appProtocol,
            qualifiedNameProblems(appProtocol)
          )
        );
      }
    }
    return problems;
  },
  printRow: (object, now) => {
    const { metadata, subsets = [] } = asEndpoints(object);
    const shown2 = subsets.flatMap(
      ({ addresses = [], ports = [] }) => ports.length === 0 ? addresses.map(({ ip }) => ip) : ports.flatMap(
        ({ port }) => addresses.map(
          ({ ip }) => ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`
        )
      )
    );
    return [
      metadata.name,
      formatFew(shown2, subsets.length > 0 ? "" : "<none>"),
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/core/event.ts
function facts2(object) {
  const event = object;
  return {
    metadata: event.metadata,
    about: event.involvedObject ?? event.regarding ?? {},
    source: event.source ?? event.deprecatedSource ?? {},
    component: event.reportingComponent ?? event.reportingController ?? "",
    instance: event.reportingInstance ?? "",
    message: event.message ?? event.note ?? "",
    first: event.firstTimestamp ?? event.deprecatedFirstTimestamp,
    last: event.lastTimestamp ?? event.deprecatedLastTimestamp,
    count: event.count ?? event.deprecatedCount ?? 0,
    eventTime: event.eventTime,
    series: event.series,
    type: event.type ?? "",
    reason: event.reason ?? ""
  };
}
function sourceText({
  source,
  component,
  instance
}) {
  const name = source.component || component;
  const host = source.host || instance;
  return [name, host].filter(Boolean).join(", ");
}
function reportProblems(object) {
  const { component, instance, reason } = facts2(object);
  const { action = "" } = object;
  const bounded = (field, value) => [
    ...value ? [] : [fieldErrors.required(field)],
    ...value.length > maxReport ? [
      fieldErrors.invalid(
        field,
        "",
        `can have at most ${maxReport} characters`
      )
    ] : []
  ];
  return [
    ...component ? [] : [fieldErrors.required("reportingComponent")],
    ...invalidEach(
      "reportingComponent",
      component,
      qualifiedNameProblems(component)
    ),
    ...bounded("reportingInstance", instance),
    ...bounded("action", action),
    ...bounded("reason", reason)
  ];
}
var maxReport = 128;
var eventStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  validateName: pathSegmentProblems,
  validate(object) {
    const { metadata, about } = facts2(object);
    const problems = [];
    const namespace = about.namespace ?? "";
    const good = namespace === "" ? ["default", "kube-system", ""].includes(metadata.namespace ?? "") : metadata.namespace === namespace;
    if (!good) {
      problems.push(
        fieldErrors.invalid(
          "involvedObject.namespace",
          namespace,
          "does not match event.namespace"
        )
      );
    }
    const isOld = "involvedObject" in object;
    if (isOld && facts2(object).eventTime)
      problems.push(...reportProblems(object));
    return problems;
  },
  propagates: false,
  selectableFields(object) {
    const { about, source, component, reason, type } = facts2(object);
    return {
      "involvedObject.kind": about.kind ?? "",
      "involvedObject.namespace": about.namespace ?? "",
      "involvedObject.name": about.name ?? "",
      "involvedObject.uid": about.uid ?? "",
      "involvedObject.apiVersion": about.apiVersion ?? "",
      "involvedObject.resourceVersion": about.resourceVersion ?? "",
      "involvedObject.fieldPath": about.fieldPath ?? "",
      reason,
      reportingComponent: component,
      source: source.component || component,
      type
    };
  },
  printRow: (object, now) => {
    const event = facts2(object);
    const first = event.first ?? event.eventTime;
    const last = event.series?.lastObservedTime ?? event.last ?? first;
    const { about } = event;
    const kind2 = about.kind?.toLowerCase() ?? "";
    return [
      formatAge(last, now),
      event.type,
      event.reason,
      about.name ? `${kind2}/${about.name}` : kind2,
      about.fieldPath ?? "",
      sourceText(event),
      event.message.trim(),
      formatAge(first, now),
      String(event.series?.count ?? (event.count || 1)),
      event.metadata.name
    ];
  }
};
var newEventStrategy = {
  fieldNames: {
    ...Object.fromEntries(
      [
        "kind",
        "namespace",
        "name",
        "uid",
        "apiVersion",
        "resourceVersion",
        "fieldPath"
      ].map((field) => [`regarding.${field}`, `involvedObject.${field}`])
    ),
    reason: "reason",
    reportingController: "reportingComponent",
    type: "type"
  }
};

// apiserver-lite/resources/core/limit-range.ts
import { randomUUID } from "node:crypto";
var parts = [
  "max",
  "min",
  "default",
  "defaultRequest",
  "maxLimitRequestRatio"
];
var types2 = ["Pod", "Container", "PersistentVolumeClaim"];
var order = [
  { low: "min", high: "max", at: "min", shown: "min", names: ["min", "max"] },
  {
    low: "min",
    high: "defaultRequest",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["min", "default request"]
  },
  {
    low: "defaultRequest",
    high: "max",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["default request", "max"]
  },
  {
    low: "defaultRequest",
    high: "default",
    at: "defaultRequest",
    shown: "defaultRequest",
    names: ["default request", "default limit"]
  },
  {
    low: "min",
    high: "default",
    at: "default",
    shown: "min",
    names: ["min", "default"]
  },
  {
    low: "default",
    high: "max",
    at: "default",
    shown: "max",
    names: ["default", "max"]
  }
];
function typeProblems(field, type) {
  const bad = qualifiedNameProblems(type);
  if (bad.length > 0) return invalidEach(field, type, bad);
  return type.includes("/") || types2.includes(type) ? [] : [
    fieldErrors.invalid(
      field,
      type,
      "must be a standard limit type or fully qualified"
    )
  ];
}
function ratioProblems(field, { maxLimitRequestRatio, min, max }, name) {
  const ratio = maxLimitRequestRatio?.[name];
  if (ratio === void 0) return [];
  const text = canonicalQuantity(ratio);
  const problems = compareQuantities(ratio, "1") < 0 ? [`ratio ${text} is less than 1`] : [];
  const [low, high] = [min?.[name], max?.[name]];
  if (low !== void 0 && high !== void 0) {
    const limit = quantityMilliValue(high) / quantityMilliValue(low);
    if (quantityMilliValue(ratio) / 1e3 > limit)
      problems.push(
        `ratio ${text} is greater than max/min = ${limit.toFixed(6)}`
      );
  }
  return problems.map(
    (problem) => fieldErrors.invalidShown(field, goQuantity(ratio, true), problem)
  );
}
function boundProblems(field, limit, name) {
  const problems = order.flatMap(({ low, high, at, shown: shown2, names }) => {
    const [lower, upper] = [limit[low]?.[name], limit[high]?.[name]];
    if (lower === void 0 || upper === void 0 || compareQuantities(lower, upper) <= 0)
      return [];
    return [
      fieldErrors.invalidShown(
        `${field}.${at}[${name}]`,
        goQuantity(limit[shown2][name], true),
        `${names[0]} value ${canonicalQuantity(lower)} is greater than ${names[1]} value ${canonicalQuantity(upper)}`
      )
    ];
  });
  return [
    ...problems,
    ...ratioProblems(`${field}.maxLimitRequestRatio[${name}]`, limit, name)
  ];
}
function validateItem2(field, limit) {
  const { type = "" } = limit;
  const nameProblems2 = type === "Pod" || type === "Container" ? validateContainerResourceName : validateResourceName;
  const names = /* @__PURE__ */ new Set();
  const problems = parts.flatMap((part) => {
    const found = Object.keys(limit[part] ?? {}).sort();
    if (type === "Pod" && (part === "default" || part === "defaultRequest"))
      return found.length > 0 ? [
        fieldErrors.forbidden(
          `${field}.${part}`,
          "may not be specified when `type` is 'Pod'"
        )
      ] : [];
    return found.flatMap((name) => {
      names.add(name);
      return nameProblems2(`${field}.${part}[${name}]`, name);
    });
  });
  const storage = limit.min?.["storage"] ?? limit.max?.["storage"];
  if (type === "PersistentVolumeClaim" && storage === void 0)
    problems.push(
      fieldErrors.required(
        `${field}.limits`,
        "either minimum or maximum storage value is required, but neither was provided"
      )
    );
  return [
    ...problems,
    ...[...names].flatMap((name) => boundProblems(field, limit, name))
  ];
}
var limitRangeStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  prepareForCreate({ metadata }) {
    metadata.name ||= randomUUID();
  },
  validate(object) {
    const limits = object.spec?.limits ?? [];
    const seen = /* @__PURE__ */ new Set();
    return limits.flatMap((limit, index) => {
      const field = `spec.limits[${index}]`;
      const { type = "" } = limit;
      const again = seen.has(type);
      seen.add(type);
      return [
        ...typeProblems(`${field}.type`, type),
        ...again ? [fieldErrors.duplicate(`${field}.type`, type)] : [],
        ...validateItem2(field, limit)
      ];
    });
  }
};

// apiserver-lite/resources/core/namespace.ts
var nameLabel = "kubernetes.io/metadata.name";
var securityPrefix = "pod-security.kubernetes.io/";
var levels = ["privileged", "baseline", "restricted"];
function podSecurityLabels(labels2) {
  return ["enforce", "audit", "warn"].flatMap((mode) => {
    const rules2 = [
      [
        `${securityPrefix}${mode}`,
        (value) => levels.includes(value),
        `must be one of ${levels.join(", ")}`
      ],
      [
        `${securityPrefix}${mode}-version`,
        (value) => /^(latest|v1\.(0|[1-9][0-9]*))$/.test(value),
        'must be "latest" or "v1.x"'
      ]
    ];
    return rules2.flatMap(([key2, good, text]) => {
      const value = labels2?.[key2];
      return value === void 0 || good(value) ? [] : [fieldErrors.invalid(`metadata.labels[${key2}]`, value, text)];
    });
  });
}
var asNamespace = (object) => object;
function validateFinalizers(object, fieldOf) {
  const { finalizers = [] } = asNamespace(object).spec ?? {};
  return finalizers.flatMap((finalizer, index) => {
    const field = fieldOf(index);
    const problems = invalidEach(
      field,
      finalizer,
      qualifiedNameProblems(finalizer)
    );
    if (!finalizer.includes("/") && finalizer !== "kubernetes" && finalizer !== "orphan" && finalizer !== "foregroundDeletion") {
      problems.push(
        fieldErrors.invalid(
          field,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified"
        )
      );
    }
    return problems;
  });
}
var namespaceStrategy = {
  countsGeneration: false,
  validateName: nameRule(dnsLabelProblems),
  setDefaults(object) {
    const namespace = asNamespace(object);
    if (namespace.metadata.name && namespace.metadata.labels?.[nameLabel] !== namespace.metadata.name) {
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        [nameLabel]: namespace.metadata.name
      };
    }
    namespace.status = {
      ...namespace.status,
      phase: namespace.status?.phase || "Active"
    };
  },
  prepareForCreate(object) {
    const namespace = asNamespace(object);
    namespace.status = { phase: "Active" };
    namespace.spec ??= {};
    if (!namespace.spec.finalizers?.includes("kubernetes")) {
      namespace.spec.finalizers = [
        ...namespace.spec.finalizers ?? [],
        "kubernetes"
      ];
    }
  },
  prepareForUpdate(object, old) {
    asNamespace(object).spec = { ...asNamespace(old).spec };
    asNamespace(object).status = { ...asNamespace(old).status };
  },
  validate: (object) => [
    ...validateFinalizers(object, () => "spec.finalizers"),
    ...podSecurityLabels(object.metadata.labels)
  ],
  status: {
    prepareForUpdate(object, old) {
      asNamespace(object).spec = { ...asNamespace(old).spec };
    },
    validateUpdate(object) {
      const { metadata, status } = asNamespace(object);
      if (!metadata.deletionTimestamp && status?.phase !== "Active") {
        return [
          fieldErrors.invalid(
            "status.Phase",
            status?.phase ?? "",
            "may only be 'Active' if `deletionTimestamp` is empty"
          )
        ];
      }
      if (metadata.deletionTimestamp && status?.phase !== "Terminating") {
        return [
          fieldErrors.invalid(
            "status.Phase",
            status?.phase ?? "",
            "may only be 'Terminating' if `deletionTimestamp` is not empty"
          )
        ];
      }
      return [];
    }
  },
  withoutOrphans: "Foreground",
  selectableFields: (object) => {
    const phase = asNamespace(object).status?.phase ?? "";
    return { "status.phase": phase };
  },
  printRow: (object, now) => {
    const { metadata, status } = asNamespace(object);
    return [
      metadata.name,
      status?.phase ?? "",
      formatAge(metadata.creationTimestamp, now)
    ];
  },
  parts: {
    finalize: {
      // It is for the finalizers of the spec only.
      prepareForUpdate(object, old) {
        asNamespace(object).status = { ...asNamespace(old).status };
        const { finalizers } = asNamespace(object).spec ?? {};
        asNamespace(object).spec = finalizers?.length ? { finalizers } : {};
      },
      validateUpdate: (object) => validateFinalizers(object, (index) => `spec.finalizers[${index}]`)
    }
  }
};

// apiserver-lite/resources/core/node.ts
var asNode = (object) => object;
var effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
function taintProblems(taints) {
  const problems = [];
  const seen = /* @__PURE__ */ new Set();
  for (const [index, taint] of taints.entries()) {
    const field = `metadata.taints[${index}]`;
    problems.push(
      ...invalidEach(
        `${field}.key`,
        taint.key,
        qualifiedNameProblems(taint.key)
      )
    );
    const wrong = labelValueProblems(taint.value ?? "");
    if (wrong.length > 0)
      problems.push(
        fieldErrors.invalid(
          `${field}.value`,
          taint.value ?? "",
          wrong.join(";")
        )
      );
    if (!taint.effect) problems.push(fieldErrors.required(`${field}.effect`));
    else if (!effects.includes(taint.effect)) {
      problems.push(
        fieldErrors.notSupported(`${field}.effect`, taint.effect, effects)
      );
    }
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) {
      const quoted3 = JSON.stringify;
      problems.push({
        ...fieldErrors.duplicate(field, ""),
        detail: `Duplicate value: core.Taint{Key:${quoted3(taint.key)}, Value:${quoted3(taint.value ?? "")}, Effect:${quoted3(taint.effect)}, TimeAdded:<nil>}: taints must be unique by key and effect pair`
      });
    }
    seen.add(identity);
  }
  return problems;
}
function validateNode(node) {
  const problems = taintProblems(node.spec?.taints ?? []);
  const cidrs = node.spec?.podCIDRs ?? (node.spec?.podCIDR ? [node.spec.podCIDR] : []);
  for (const [index, cidr] of cidrs.entries()) {
    problems.push(
      ...invalidEach(`spec.podCIDRs[${index}]`, cidr, cidrProblems(cidr))
    );
  }
  const families = new Set(cidrs.map((cidr) => cidr.includes(":")));
  if (cidrs.length > 2 || cidrs.length === 2 && families.size < 2 && problems.length === 0) {
    problems.push(
      fieldErrors.invalid(
        "spec.podCIDRs",
        cidrs,
        "may specify no more than one CIDR for each IP family"
      )
    );
  }
  for (const part of ["capacity", "allocatable"]) {
    for (const [name, value] of Object.entries(node.status?.[part] ?? {})) {
      problems.push(
        ...validateResourceQuantity(`status.${part}.${name}`, name, value)
      );
    }
  }
  return problems;
}
function* nodeWarnings({ spec }) {
  if (spec?.externalID)
    yield "spec.externalID: this field is deprecated, and is unused by Kubernetes";
}
function nodeRoles(node) {
  const roles = /* @__PURE__ */ new Set();
  for (const [key2, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key2.startsWith("node-role.kubernetes.io/")) {
      const role = key2.slice("node-role.kubernetes.io/".length);
      if (role) roles.add(role);
    } else if (key2 === "kubernetes.io/role" && value) roles.add(value);
  }
  return orNone([...roles].sort().join(","));
}
function nodeStatus(node) {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  const words = [
    ready ? ready.status === "True" ? "Ready" : "NotReady" : "Unknown"
  ];
  if (node.spec?.unschedulable) words.push("SchedulingDisabled");
  return words.join(",");
}
var address = (node, kind2) => orNone(node.status?.addresses?.find(({ type }) => type === kind2)?.address);
var nodeStrategy = {
  countsGeneration: false,
  setDefaults(object) {
    const node = asNode(object);
    if (node.status?.capacity && !node.status.allocatable)
      node.status.allocatable = { ...node.status.capacity };
    if (node.spec?.podCIDR && node.spec.podCIDRs?.[0] !== node.spec.podCIDR)
      node.spec.podCIDRs = [node.spec.podCIDR];
    if (!node.spec?.podCIDR && node.spec?.podCIDRs?.length)
      node.spec.podCIDR = node.spec.podCIDRs[0];
  },
  prepareForCreate(object) {
    delete asNode(object).spec?.configSource;
  },
  warnings: (object) => nodeWarnings(asNode(object)),
  validate: (object) => validateNode(asNode(object)),
  validateUpdate(object, old) {
    const [spec, was] = [asNode(object).spec ?? {}, asNode(old).spec ?? {}];
    const problems = taintProblems(spec.taints ?? []);
    if (was.podCIDRs?.length && !sameValue(spec.podCIDRs, was.podCIDRs)) {
      problems.push(
        fieldErrors.forbidden(
          "spec.podCIDRs",
          'node updates may not change podCIDR except from "" to valid'
        )
      );
    }
    if (was.providerID && spec.providerID !== was.providerID) {
      problems.push(
        fieldErrors.forbidden(
          "spec.providerID",
          'node updates may not change providerID except from "" to valid'
        )
      );
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asNode(object).spec = { ...asNode(old).spec };
    },
    validateUpdate: (object) => validateNode(asNode(object))
  },
  selectableFields: (object) => ({
    "spec.unschedulable": asNode(object).spec?.unschedulable ? "true" : "false"
  }),
  printRow: (object, now) => {
    const node = asNode(object);
    const info2 = node.status?.nodeInfo;
    return [
      node.metadata.name,
      nodeStatus(node),
      nodeRoles(node),
      formatAge(node.metadata.creationTimestamp, now),
      info2?.kubeletVersion ?? "",
      address(node, "InternalIP"),
      address(node, "ExternalIP"),
      info2?.osImage || "<unknown>",
      info2?.kernelVersion || "<unknown>",
      info2?.containerRuntimeVersion || "<unknown>"
    ];
  }
};

// apiserver-lite/resources/core/privileged-policy.ts
var specPaths = {
  "/pods": "spec",
  "/podtemplates": "template.spec",
  "/replicationcontrollers": "spec.template.spec",
  "apps/daemonsets": "spec.template.spec",
  "apps/deployments": "spec.template.spec",
  "apps/replicasets": "spec.template.spec",
  "apps/statefulsets": "spec.template.spec",
  "batch/jobs": "spec.template.spec",
  "batch/cronjobs": "spec.jobTemplate.spec.template.spec"
};
function privilegedContainers(object, path) {
  let spec = object;
  for (const part of path.split("."))
    spec = spec?.[part];
  if (!spec) return [];
  return ["containers", "initContainers", "ephemeralContainers"].flatMap(
    (list) => (spec[list] ?? []).flatMap(
      ({ securityContext }, index) => securityContext?.privileged ? [
        fieldErrors.forbidden(
          `${path}.${list}[${index}].securityContext.privileged`,
          "disallowed by cluster policy"
        )
      ] : []
    )
  );
}
function refusing(handler) {
  return {
    ...handler,
    handle(request, context) {
      const problems = request.verb !== "get" && request.body ? privilegedContainers(request.body, "spec") : [];
      if (problems.length > 0)
        throw errors.invalid(
          { group: "", kind: "Pod" },
          request.name,
          problems
        );
      return handler.handle(request, context);
    }
  };
}
function withoutPrivileged(group2, resource, strategy) {
  const path = specPaths[`${group2}/${resource}`];
  if (!path) return strategy;
  const ephemeral = strategy.subresources?.["ephemeralcontainers"];
  return {
    ...strategy,
    validate: (object, context) => [
      ...privilegedContainers(object, path),
      ...strategy.validate?.(object, context) ?? []
    ],
    ...ephemeral ? {
      subresources: {
        ...strategy.subresources,
        ephemeralcontainers: refusing(ephemeral)
      }
    } : {}
  };
}

// apiserver-lite/resources/core/pod-template.ts
var podTemplateStrategy = {
  validate(object) {
    const { template } = object;
    return validatePodTemplate("template", template ?? {});
  },
  printRow: (object) => {
    const { metadata, template } = object;
    return [
      metadata.name,
      ...containerColumns(template),
      formatLabels(template?.metadata?.labels)
    ];
  }
};

// apiserver-lite/resources/core/pod-disabled-fields.ts
var ofSpec = ["hostUsers", "resourceClaims", "resources"];
var ofPodSecurity = ["supplementalGroupsPolicy", "seLinuxChangePolicy"];
function drop(object, old, names) {
  const [now, was] = [
    object,
    old
  ];
  for (const name of names)
    if (now && name in now && was?.[name] === void 0) delete now[name];
}
function dropOfContainer(container) {
  drop(container, void 0, ["resizePolicy"]);
  drop(container.resources, void 0, ["claims"]);
  const security = container.securityContext;
  if (security?.procMount) security.procMount = "Default";
}
function dropImageVolumes(spec) {
  const names = new Set(
    (spec.volumes ?? []).filter((volume) => "image" in volume).map(({ name }) => name)
  );
  if (names.size === 0) return;
  spec.volumes = spec.volumes.filter((volume) => !("image" in volume));
  for (const [, container] of containersOf("", spec))
    if (container.volumeMounts)
      container.volumeMounts = container.volumeMounts.filter(
        ({ name }) => !names.has(name)
      );
}
function dropDisabledFields(spec, old) {
  if (!spec) return;
  drop(spec, old, ofSpec);
  drop(spec.securityContext, old?.securityContext, ofPodSecurity);
  for (const [, container] of containersOf("", spec))
    dropOfContainer(container);
  dropImageVolumes(spec);
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? [])
      drop(source, void 0, ["clusterTrustBundle"]);
  }
}

// apiserver-lite/resources/core/pod-validation.ts
function validatePod({ metadata, spec }) {
  const containers = [
    ["containers", spec.containers],
    ["initContainers", spec.initContainers]
  ];
  const tokens = spec.serviceAccountName ? [] : (spec.volumes ?? []).flatMap(
    ({ projected }, volume) => (projected?.sources ?? []).flatMap(
      ({ serviceAccountToken: serviceAccountToken2 }, source) => serviceAccountToken2 ? [
        fieldErrors.forbidden(
          `spec.volumes[${volume}].projected.sources[${source}].serviceAccountToken`,
          "must not be specified when serviceAccountName is not set"
        )
      ] : []
    )
  );
  return [
    ...validatePodAnnotations(
      "metadata.annotations",
      metadata.annotations,
      spec
    ),
    ...validatePodSpec("spec", spec, { podName: metadata.name ?? "" }),
    ...tokens,
    ...containers.flatMap(
      ([part, list]) => (list ?? []).flatMap(
        (container, index) => validateImagePadding(`spec.${part}[${index}]`, container)
      )
    )
  ];
}

// apiserver-lite/resources/core/pod-status-text.ts
function count2(tally, status) {
  tally.restarts += status.restartCount;
  const finished = status.lastState?.terminated?.finishedAt;
  if (finished && finished > tally.lastRestart) tally.lastRestart = finished;
}
function conditionIsTrue(pod, type) {
  return pod.status?.conditions?.some(
    (condition) => condition.type === type && condition.status === "True"
  ) ?? false;
}
function initText(pod, all, sidecars) {
  const total = pod.spec.initContainers?.length ?? 0;
  const restartable = /* @__PURE__ */ new Set();
  for (const { name, restartPolicy } of pod.spec.initContainers ?? []) {
    if (restartPolicy === "Always") restartable.add(name);
  }
  for (const [index, status] of (pod.status?.initContainerStatuses ?? []).entries()) {
    count2(all, status);
    const { terminated, waiting } = status.state ?? {};
    if (restartable.has(status.name)) count2(sidecars, status);
    if (terminated?.exitCode === 0) continue;
    if (restartable.has(status.name) && status.started) {
      if (status.ready) all.ready++;
      continue;
    }
    if (terminated) {
      if (terminated.reason) return `Init:${terminated.reason}`;
      return terminated.signal ? `Init:Signal:${terminated.signal}` : `Init:ExitCode:${terminated.exitCode}`;
    }
    if (waiting?.reason && waiting.reason !== "PodInitializing")
      return `Init:${waiting.reason}`;
    return `Init:${index}/${total}`;
  }
  return void 0;
}
function podStatusText(pod) {
  const { spec, status, metadata } = pod;
  let text = status?.reason || status?.phase || "";
  if (status?.conditions?.some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated"
  )) {
    text = "SchedulingGated";
  }
  const all = { ready: 0, restarts: 0, lastRestart: "" };
  const sidecars = { ready: 0, restarts: 0, lastRestart: "" };
  const initializing = initText(pod, all, sidecars);
  let restarts = all;
  if (initializing !== void 0) text = initializing;
  if (initializing === void 0 || conditionIsTrue(pod, "Initialized")) {
    restarts = sidecars;
    let running = false;
    const statuses = status?.containerStatuses ?? [];
    for (let index = statuses.length - 1; index >= 0; index--) {
      const container = statuses[index];
      count2(restarts, container);
      const { waiting, terminated, running: alive } = container.state ?? {};
      if (waiting?.reason) text = waiting.reason;
      else if (terminated?.reason) text = terminated.reason;
      else if (terminated) {
        text = terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode}`;
      } else if (container.ready && alive) {
        running = true;
        all.ready++;
      }
    }
    if (text === "Completed" && running)
      text = conditionIsTrue(pod, "Ready") ? "Running" : "NotReady";
  }
  if (metadata.deletionTimestamp) {
    if (status?.reason === "NodeLost") text = "Unknown";
    else if (status?.phase !== "Succeeded" && status?.phase !== "Failed")
      text = "Terminating";
  }
  const sidecarCount = spec.initContainers?.filter(
    ({ restartPolicy }) => restartPolicy === "Always"
  ).length ?? 0;
  return {
    text,
    ready: all.ready,
    total: spec.containers.length + sidecarCount,
    restarts
  };
}
function podRow(pod, now) {
  const { text, ready, total, restarts } = podStatusText(pod);
  const { metadata, spec, status } = pod;
  const gates = spec.readinessGates ?? [];
  const open2 = gates.filter(
    ({ conditionType }) => conditionIsTrue(pod, conditionType)
  ).length;
  const since = restarts.restarts > 0 && restarts.lastRestart ? ` (${formatAge(restarts.lastRestart, now)} ago)` : "";
  return [
    metadata.name,
    `${ready}/${total}`,
    text,
    `${restarts.restarts}${since}`,
    formatAge(metadata.creationTimestamp, now),
    orNone(status?.podIPs?.[0]?.ip ?? status?.podIP),
    orNone(spec.nodeName),
    orNone(status?.nominatedNodeName),
    gates.length === 0 ? "<none>" : `${open2}/${gates.length}`
  ];
}

// apiserver-lite/resources/core/pod-warnings.ts
var quoted2 = JSON.stringify;
var nanoInOne2 = 1000000000n;
var required2 = "requiredDuringSchedulingIgnoredDuringExecution";
var preferred2 = "preferredDuringSchedulingIgnoredDuringExecution";
var topology = (part) => `deprecated since v1.17; use "topology.kubernetes.io/${part}" instead`;
var deprecatedLabels = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": topology("region"),
  "failure-domain.beta.kubernetes.io/zone": topology("zone"),
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
};
var deprecatedAnnotations = {
  "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
  "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
  "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead'
};
var podSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
var containerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
var seccompGone = 'non-functional in v1.27+; use the "seccompProfile" field instead';
var deprecatedVolumes = [
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "deprecated in v1.11"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["quobyte", "deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"]
];
function appArmorWarning(field, container) {
  return `${field}metadata.annotations[${appArmorPrefix}${container}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
}
function* ofTerm(field, term) {
  for (const [index, { key: key2 }] of (term.matchExpressions ?? []).entries()) {
    const since = deprecatedLabels[key2];
    if (since)
      yield `${field}.matchExpressions[${index}].key: ${key2} is ${since}`;
  }
}
var matchesNothing = (field) => `${field}.labelSelector: a null labelSelector results in matching no pod`;
function* ofNodeLabels(field, spec) {
  for (const key2 of Object.keys(spec.nodeSelector ?? {}).sort())
    if (deprecatedLabels[key2])
      yield `${field}.nodeSelector[${key2}]: ${deprecatedLabels[key2]}`;
  const nodes = spec.affinity?.nodeAffinity;
  const path = `${field}.affinity.nodeAffinity`;
  for (const [index, term] of (nodes?.[required2]?.nodeSelectorTerms ?? []).entries())
    yield* ofTerm(`${path}.${required2}.nodeSelectorTerms[${index}]`, term);
  for (const [index, { preference }] of (nodes?.[preferred2] ?? []).entries())
    yield* ofTerm(`${path}.${preferred2}[${index}].preference`, preference);
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const { topologyKey, labelSelector: labelSelector2 } = constraint;
    const at = `${field}.topologySpreadConstraints[${index}]`;
    const since = deprecatedLabels[topologyKey];
    if (since) yield `${at}.topologyKey: ${topologyKey} is ${since}`;
    if (!labelSelector2) yield matchesNothing(at);
  }
}
var pathsOf = (items, source = "") => (items ?? []).map(({ path }) => ({
  path: trimEnd(path, "/"),
  shown: source ? `${quoted2(path)} (${source})` : quoted2(path),
  source
}));
function projectedPaths({ projected }) {
  return (projected?.sources ?? []).flatMap((source) => [
    ...pathsOf(
      source.configMap?.items,
      source.configMap && `ConfigMap ${quoted2(source.configMap.name ?? "")}`
    ),
    ...pathsOf(
      source.secret?.items,
      source.secret && `Secret ${quoted2(source.secret.name ?? "")}`
    ),
    ...pathsOf(source.downwardAPI?.items, "DownwardAPI"),
    ...source.serviceAccountToken ? pathsOf([source.serviceAccountToken], "ServiceAccountToken") : []
  ]);
}
var maxPaths = 500;
function* overlaps(paths) {
  if (paths.length > maxPaths) return;
  for (const [index, one] of paths.entries())
    for (let before2 = 0; before2 < index; before2++) {
      const other = paths[before2];
      if (one.path === other.path || one.path.startsWith(`${other.path}/`) || other.path.startsWith(`${one.path}/`))
        yield `${one.shown} with ${other.shown}`;
    }
}
function* ofVolumes(field, volumes) {
  for (const [index, volume] of volumes.entries())
    for (const [kind2, since, name = kind2] of deprecatedVolumes)
      if (volume[kind2]) yield `${field}[${index}].${name}: ${since}`;
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI, projected } = volume;
    const told = [];
    if (configMap?.items)
      told.push([
        `ConfigMap ${quoted2(configMap.name ?? "")}`,
        pathsOf(configMap.items)
      ]);
    if (secret?.items)
      told.push([
        `Secret ${quoted2(secret.secretName ?? "")}`,
        pathsOf(secret.items)
      ]);
    if (downwardAPI?.items)
      told.push(["DownwardAPI", pathsOf(downwardAPI.items)]);
    if (projected) told.push(["Projected", projectedPaths(volume)]);
    for (const [what, paths] of told)
      for (const overlap2 of overlaps(paths))
        yield `volume ${quoted2(volume.name)} (${what}): overlapping paths: ${overlap2}`;
    for (const source of projected?.sources ?? [])
      if (Object.values(source).filter(Boolean).length === 0)
        yield `volume ${quoted2(volume.name)} (Projected) has no sources provided`;
  }
}
function* ofNamedLists(field, spec) {
  const seen = /* @__PURE__ */ new Set();
  for (const [index, { ip }] of (spec.hostAliases ?? []).entries()) {
    if (seen.has(ip))
      yield `${field}.hostAliases[${index}].ip: duplicate ip ${quoted2(ip)}`;
    seen.add(ip);
  }
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  const known = /* @__PURE__ */ new Set();
  for (const [index, name] of secrets.entries()) {
    if (known.has(name))
      yield `${field}.imagePullSecrets[${index}].name: duplicate name ${quoted2(name)}`;
    known.add(name);
  }
  for (const [index, name] of secrets.entries())
    if (!name)
      yield `${field}.imagePullSecrets[${index}].name: invalid empty name ""`;
}
var byteResources = ["memory", "ephemeral-storage"];
function* ofBytes(field, name, list) {
  const value = list?.[name];
  if (value !== void 0 && parseQuantity(value).nano % nanoInOne2 !== 0n)
    yield `${field}[${name}]: fractional byte value ${quoted2(canonicalQuantity(value))} is invalid, must be an integer`;
}
function* ofContainer(field, container) {
  const { resources: resources2, env = [] } = container;
  for (const name of byteResources) {
    yield* ofBytes(`${field}.resources.limits`, name, resources2?.limits);
    yield* ofBytes(`${field}.resources.requests`, name, resources2?.requests);
  }
  const names = /* @__PURE__ */ new Set();
  for (const [index, { name, value = "", valueFrom }] of env.entries()) {
    const before2 = `$(${name})`;
    const extends_ = !valueFrom && value !== before2 && value.includes(before2);
    if (names.has(name) && !extends_)
      yield `${field}.env[${index}]: hides previous definition of ${quoted2(name)}, which may be dropped when using apply`;
    names.add(name);
  }
}
function relation(one, other) {
  const [a, b] = [one.hostPort ?? 0, other.hostPort ?? 0];
  const [x, y] = [one.hostIP ?? "", other.hostIP ?? ""];
  if (a === b && x === y) return "duplicate";
  if (a === 0 || b === 0) return "overlapping";
  return a === b && x === "" !== (y === "") ? "dangerously ambiguous" : "";
}
var maxSamePorts = 500;
function* ofPorts(field, spec) {
  const seen = /* @__PURE__ */ new Map();
  for (const [path, { ports }] of containersOf(field, spec))
    for (const [index, port] of (ports ?? []).entries()) {
      const at = `${path}.ports[${index}]`;
      const id = `${port.containerPort}/${port.protocol}`;
      const same = seen.get(id);
      for (const [where, other] of same ?? []) {
        const how = relation(port, other);
        if (how) yield `${at}: ${how} port definition with ${where}`;
      }
      if (!same) seen.set(id, [[at, port]]);
      else if (same.length < maxSamePorts) same.push([at, port]);
    }
}
function* ofPodTerms(field, spec) {
  for (const kind2 of ["podAffinity", "podAntiAffinity"]) {
    const affinity = spec.affinity?.[kind2];
    const path = `${field}.affinity.${kind2}`;
    const terms = [
      ...(affinity?.[required2] ?? []).map(
        (term, index) => [
          `${path}.${required2}[${index}]`,
          term
        ]
      ),
      ...(affinity?.[preferred2] ?? []).map(
        ({ podAffinityTerm }, index) => [
          `${path}.${preferred2}[${index}].podAffinityTerm`,
          podAffinityTerm
        ]
      )
    ];
    for (const [at, { labelSelector: labelSelector2 }] of terms)
      if (!labelSelector2) yield matchesNothing(at);
  }
}
function* podWarnings(field, spec, meta) {
  const path = `${field}spec`;
  const annotations = meta?.annotations ?? {};
  const annotated = `${field}metadata.annotations`;
  yield* ofNodeLabels(path, spec);
  for (const [key2, why] of Object.entries(deprecatedAnnotations))
    if (key2 in annotations) yield `${annotated}[${key2}]: ${why}`;
  yield* ofVolumes(`${path}.volumes`, spec.volumes ?? []);
  yield* ofNamedLists(path, spec);
  for (const name of byteResources)
    yield* ofBytes(`${path}.overhead`, name, spec.overhead);
  const context = spec.securityContext;
  if (podSeccomp in annotations && !context?.seccompProfile)
    yield `${annotated}[${podSeccomp}]: ${seccompGone}`;
  for (const [at, container] of containersOf(path, spec)) {
    const { name, securityContext } = container;
    const key2 = `${containerSeccomp}${name}`;
    if (key2 in annotations && !securityContext?.seccompProfile)
      yield `${annotated}[${key2}]: ${seccompGone}`;
    if (field && `${appArmorPrefix}${name}` in annotations && !context?.appArmorProfile && !securityContext?.appArmorProfile)
      yield appArmorWarning(field, name);
    yield* ofContainer(at, container);
  }
  yield* ofPorts(path, spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    yield `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
  yield* ofPodTerms(path, spec);
}

// apiserver-lite/resources/core/eviction.ts
function createdStatus() {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    code: 201
  };
}
var budgetText = "Cannot evict pod as it would violate the pod's disruption budget.";
async function spendBudget(pod, budgets, context, dryRun) {
  const [budget, ...more] = budgets.filter(
    ({ spec }) => selectorFromObject(spec?.selector).matches(pod.metadata.labels)
  );
  if (!budget) return;
  if (more.length > 0) {
    throw errors.internal(
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    );
  }
  if (countsForNothing(pod, budget)) return;
  if (dryRun) {
    const refusal = refusalOf(budget);
    if (refusal) throw refusal;
    return;
  }
  const { name } = budget.metadata;
  const { namespace = "" } = pod.metadata;
  await context.mutateStatusOf(
    { group: "policy", version: "v1", resource: "poddisruptionbudgets" },
    namespace,
    name,
    (object) => {
      const live = object;
      const refusal = refusalOf(live);
      if (refusal) throw refusal;
      const status = live.status;
      live.status = {
        ...status,
        disruptionsAllowed: status.disruptionsAllowed - 1,
        disruptedPods: {
          ...status.disruptedPods,
          [pod.metadata.name]: formatTime(context.clock.now())
        }
      };
    }
  );
}
function countsForNothing(pod, { spec, status }) {
  const ready = pod.status?.conditions?.some(
    ({ type, status: state }) => type === "Ready" && state === "True"
  );
  if (ready) return false;
  const healthy = status?.currentHealthy ?? 0;
  const desired = status?.desiredHealthy ?? 0;
  return spec?.unhealthyPodEvictionPolicy === "AlwaysAllow" || healthy >= desired && desired > 0;
}
function refusalOf({
  metadata,
  status
}) {
  const observed = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  if (observed && (status?.disruptionsAllowed ?? 0) > 0) return void 0;
  const message = observed ? `The disruption budget ${metadata.name} needs ${status?.desiredHealthy ?? 0} healthy pods and has ${status?.currentHealthy ?? 0} currently` : `The disruption budget ${metadata.name} is still being processed by the server.`;
  return new ApiError(
    {
      code: 429,
      reason: "TooManyRequests",
      message: budgetText,
      details: {
        causes: [{ reason: "DisruptionBudget", message }],
        ...observed ? {} : { retryAfterSeconds: 10 }
      }
    },
    observed ? {} : { "Retry-After": "10" }
  );
}
function noteDisruption(pod, context) {
  const others = (pod.status?.conditions ?? []).filter(
    ({ type }) => type !== "DisruptionTarget"
  );
  pod.status = {
    ...pod.status,
    conditions: [
      ...others,
      {
        type: "DisruptionTarget",
        status: "True",
        reason: "EvictionByEvictionAPI",
        message: "Eviction API: evicting",
        lastTransitionTime: formatTime(context.clock.now())
      }
    ]
  };
}
var eviction = {
  async handle(request, context) {
    const body = request.body;
    if (body?.metadata?.name !== request.name) {
      throw errors.badRequest(
        "name in URL does not match name in Eviction object"
      );
    }
    const pod = await context.parent();
    const options = body?.deleteOptions ?? {};
    const dryRun = context.dryRun || (options.dryRun?.length ?? 0) > 0;
    const phase = pod.status?.phase;
    const unguarded = phase === "Succeeded" || phase === "Failed" || phase === "Pending" || Boolean(pod.metadata.deletionTimestamp);
    if (!unguarded) {
      const budgets = context.list(
        "policy",
        "poddisruptionbudgets",
        request.namespace
      );
      await spendBudget(
        pod,
        budgets,
        context,
        dryRun
      );
    }
    if (!dryRun && phase !== "Succeeded" && phase !== "Failed")
      await context.mutate(
        (object) => noteDisruption(object, context)
      );
    await context.remove(dryRun ? { ...options, dryRun: ["All"] } : options);
    return createdStatus();
  }
};

// apiserver-lite/resources/core/pod-subresources.ts
function validateBinding(binding2) {
  const problems = [];
  const { target } = binding2;
  if (target?.kind && target.kind !== "Node") {
    problems.push(
      fieldErrors.notSupported("target.kind", target.kind, ["Node", "<empty>"])
    );
  }
  if (!target?.name) problems.push(fieldErrors.required("target.name"));
  const texts = problems.map(({ field, detail }) => `${field}: ${detail}`);
  if (texts.length > 0)
    throw errors.badRequest(
      texts.length > 1 ? `[${texts.join(", ")}]` : texts[0]
    );
}
function bind(pod, binding2, now) {
  const refuse2 = (why, resource = "pods/binding") => {
    throw errors.conflict({ group: "", resource }, pod.metadata.name, why);
  };
  const { name } = pod.metadata;
  if (binding2.metadata.uid && binding2.metadata.uid !== pod.metadata.uid) {
    const { uid } = binding2.metadata;
    const key2 = `/registry/pods/${pod.metadata.namespace ?? ""}/${name}`;
    refuse2(otherUidText(key2, uid, pod.metadata.uid), "pods");
  }
  if (pod.metadata.deletionTimestamp)
    refuse2(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName)
    refuse2(`pod ${name} is already assigned to node "${pod.spec.nodeName}"`);
  if (pod.spec.schedulingGates?.length)
    refuse2(`pod ${name} has non-empty .spec.schedulingGates`);
  pod.spec = { ...pod.spec, nodeName: binding2.target.name };
  if (binding2.metadata.annotations) {
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      ...binding2.metadata.annotations
    };
  }
  const others = (pod.status?.conditions ?? []).filter(
    ({ type }) => type !== "PodScheduled"
  );
  pod.status = {
    ...pod.status,
    conditions: [
      ...others,
      { type: "PodScheduled", status: "True", lastTransitionTime: now }
    ]
  };
}
var binding = {
  async handle(request, context) {
    const body = request.body;
    if ((body?.metadata?.name ?? "") !== request.name)
      throw errors.badRequest(
        "name in URL does not match name in Binding object"
      );
    validateBinding(body);
    const now = formatTime(context.clock.now());
    await context.mutate((object) => bind(object, body, now));
    return createdStatus();
  }
};
var ephemeralContainers = {
  async handle(request, context) {
    if (request.verb === "get") return await context.parent();
    const wanted = request.body?.spec?.ephemeralContainers ?? [];
    return context.mutate((object) => {
      const pod = object;
      const existing = pod.spec.ephemeralContainers ?? [];
      for (const container of existing) {
        const now = wanted.find(({ name }) => name === container.name);
        if (now && sameValue(now, container)) continue;
        throw errors.invalid({ group: "", kind: "Pod" }, pod.metadata.name, [
          fieldErrors.forbidden(
            "spec.ephemeralContainers",
            now ? `existing ephemeral containers "${container.name}" may not be changed
${goDifference("core.EphemeralContainer", now, container)}` : `existing ephemeral containers "${container.name}" may not be removed
`
          )
        ]);
      }
      pod.spec = {
        ...pod.spec,
        ephemeralContainers: wanted.map((container) => ({ ...container }))
      };
      applyDefaults(pod, { group: "", version: "v1", kind: "Pod" });
      const problems = validatePod(pod);
      if (problems.length > 0)
        throw errors.invalid(
          { group: "", kind: "Pod" },
          pod.metadata.name,
          problems
        );
    });
  }
};
var podSubresources = {
  binding,
  eviction,
  ephemeralcontainers: ephemeralContainers
};

// apiserver-lite/resources/core/pod.ts
var asPod = (object) => object;
function positive2(text) {
  try {
    return text !== void 0 && quantityMilliValue(text) > 0;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}
function guaranteed({
  limits = {},
  requests = {}
}) {
  return ["cpu", "memory"].every((name) => {
    if (!positive2(limits[name])) return false;
    const request = requests[name] ?? limits[name];
    return positive2(request) && quantityMilliValue(request) === quantityMilliValue(limits[name]);
  });
}
function qosClassOf(spec) {
  const containers = [
    ...spec.containers,
    ...spec.initContainers ?? []
  ];
  const resources2 = containers.map((container) => container.resources ?? {});
  const asks = resources2.some(
    ({ limits, requests }) => ["cpu", "memory"].some(
      (name) => positive2(limits?.[name]) || positive2(requests?.[name])
    )
  );
  if (!asks) return "BestEffort";
  return resources2.every(guaranteed) ? "Guaranteed" : "Burstable";
}
function joinAppArmor(pod, warn) {
  for (const [, container] of containersOf("spec", pod.spec)) {
    const key2 = `${appArmorPrefix}${container.name}`;
    const value = pod.metadata.annotations?.[key2];
    const context = container.securityContext;
    const own = context?.appArmorProfile;
    if (value !== void 0) {
      if (own) continue;
      warn(appArmorWarning("", container.name));
      const profile2 = appArmorProfileOf(value);
      if (profile2)
        container.securityContext = { ...context, appArmorProfile: profile2 };
      continue;
    }
    const profile = own ?? pod.spec.securityContext?.appArmorProfile;
    const shown2 = profile && appArmorAnnotation(profile);
    if (shown2)
      pod.metadata.annotations = { ...pod.metadata.annotations, [key2]: shown2 };
  }
}
function selectByOwnLabels(pod) {
  const own = pod.metadata.labels ?? {};
  const terms = ["podAffinity", "podAntiAffinity"].flatMap(
    (kind2) => {
      const affinity = pod.spec.affinity?.[kind2];
      return [
        ...affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
        ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm)
      ];
    }
  );
  for (const term of terms) {
    const selector = term?.labelSelector;
    if (!selector) continue;
    const keys = [
      ["In", term.matchLabelKeys],
      ["NotIn", term.mismatchLabelKeys]
    ];
    for (const [operator, list] of keys)
      for (const key2 of list ?? [])
        if (own[key2] !== void 0)
          (selector.matchExpressions ??= []).push({
            key: key2,
            operator,
            values: [own[key2]]
          });
  }
}
var noProbe = { lastProbeTime: null };
var isTerminal = (pod) => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
function graceSeconds(object, options) {
  const pod = asPod(object);
  const asked = options.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  if (!pod.spec.nodeName || isTerminal(pod)) return 0;
  const seconds = asked < 0 ? 1 : asked;
  const set = pod.metadata.deletionTimestamp ? pod.metadata.deletionGracePeriodSeconds : void 0;
  return set === void 0 || set === null ? seconds : Math.min(seconds, set);
}
var podStrategy = {
  // Pods of this version have no generation.
  countsGeneration: false,
  setDefaults(object) {
    const pod = asPod(object);
    pod.spec ??= { containers: [] };
    pod.spec.containers ??= [];
    const account = pod.spec.serviceAccountName || pod.spec.serviceAccount;
    if (account)
      pod.spec.serviceAccountName = pod.spec.serviceAccount = account;
    if (!pod.status) return;
    if (pod.status.podIP && pod.status.podIPs?.[0]?.ip !== pod.status.podIP) {
      pod.status.podIPs = [{ ip: pod.status.podIP }];
    } else if (!pod.status.podIP && pod.status.podIPs?.[0])
      pod.status.podIP = pod.status.podIPs[0].ip;
  },
  prepareForCreate(object, context) {
    const pod = asPod(object);
    dropDisabledFields(pod.spec);
    if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0)
      pod.spec.terminationGracePeriodSeconds = 1;
    joinAppArmor(pod, (text) => context.warn(text));
    selectByOwnLabels(pod);
    pod.status = { phase: "Pending", qosClass: qosClassOf(pod.spec) };
    if (pod.spec.schedulingGates?.length) {
      pod.status.conditions = [
        {
          type: "PodScheduled",
          status: "False",
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
          ...noProbe,
          lastTransitionTime: formatTime(context.clock.now())
        }
      ];
    }
  },
  prepareForUpdate(object, old) {
    asPod(object).status = { ...asPod(old).status };
    dropDisabledFields(asPod(object).spec, asPod(old).spec);
  },
  validate: (object) => validatePod(asPod(object)),
  warnings: (object) => podWarnings("", asPod(object).spec, object.metadata),
  validateCreate(object) {
    const { spec } = asPod(object);
    return [
      ...spec.ephemeralContainers?.length ? [
        fieldErrors.forbidden(
          "spec.ephemeralContainers",
          "cannot be set on create"
        )
      ] : [],
      ...spec.schedulingGates?.length && spec.nodeName ? [
        fieldErrors.forbidden(
          "spec.nodeName",
          "cannot be set until all schedulingGates have been cleared"
        )
      ] : []
    ];
  },
  validateUpdate: (object, old) => validatePodUpdate(asPod(object), asPod(old)),
  status: {
    prepareForUpdate(object, old) {
      const [pod, was] = [asPod(object), asPod(old)];
      pod.spec = { ...was.spec };
      if (was.metadata.ownerReferences)
        pod.metadata.ownerReferences = [...was.metadata.ownerReferences];
      else delete pod.metadata.ownerReferences;
      pod.status = { ...pod.status };
      pod.status.qosClass ??= was.status?.qosClass;
    },
    validateUpdate: (object, old) => validatePodStatus(asPod(object), asPod(old))
  },
  graceSeconds,
  selectableFields(object) {
    const { spec, status } = asPod(object);
    return {
      "spec.nodeName": spec.nodeName ?? "",
      "spec.restartPolicy": spec.restartPolicy ?? "",
      "spec.schedulerName": spec.schedulerName ?? "",
      "spec.serviceAccountName": spec.serviceAccountName ?? "",
      "spec.hostNetwork": spec.hostNetwork ? "true" : "false",
      "status.phase": status?.phase ?? "",
      "status.podIP": status?.podIP ?? "",
      "status.podIPs": (status?.podIPs ?? []).map(({ ip }) => ip).join(","),
      "status.nominatedNodeName": status?.nominatedNodeName ?? ""
    };
  },
  printRow: (object, now) => podRow(asPod(object), now),
  subresources: podSubresources
};

// apiserver-lite/resources/core/replication-controller.ts
var asController = (object) => object;
function validateController({ spec }) {
  const { selector, template } = spec ?? {};
  const given = template?.metadata?.labels;
  const problems = nonNegative("spec.minReadySeconds", spec?.minReadySeconds);
  if (Object.keys(selector ?? {}).length === 0)
    problems.push(fieldErrors.required("spec.selector"));
  problems.push(...nonNegative("spec.replicas", spec?.replicas));
  if (!template) return [...problems, fieldErrors.required("spec.template")];
  if (Object.entries(selector ?? {}).some(
    ([key2, value]) => given?.[key2] !== value
  ))
    problems.push(
      fieldErrors.invalid(
        "spec.template.metadata.labels",
        asGo("map[string]string", given),
        "`selector` does not match template `labels`"
      )
    );
  return [
    ...problems,
    ...validatePodTemplate("spec.template", template),
    ...alwaysRestarts(template, "ReplicationController")
  ];
}
function* controllerWarnings({ metadata, spec }, created) {
  const problems = created ? dnsLabelProblems(metadata.name) : [];
  if (problems.length > 0)
    yield `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${problems.join(" ")}]`;
  if (spec?.template?.spec)
    yield* podWarnings(
      "spec.template.",
      spec.template.spec,
      spec.template.metadata
    );
}
var replicationControllerStrategy = {
  // Older than garbage collection: clients that say nothing expect the pods to stay.
  defaultPropagation: "Orphan",
  prepareForCreate(object) {
    asController(object).status = { replicas: 0 };
    dropDisabledFields(asController(object).spec?.template?.spec);
  },
  prepareForUpdate(object, old) {
    asController(object).status = {
      ...asController(old).status ?? { replicas: 0 }
    };
  },
  validate: (object) => validateController(asController(object)),
  // Asked again of what is changed, as in the reference: causes are told twice.
  validateUpdate: (object) => validateController(asController(object)),
  warnings: (object, old) => controllerWarnings(asController(object), old === void 0),
  status: {
    prepareForUpdate(object, old) {
      asController(object).spec = { ...asController(old).spec };
    },
    validateUpdate: (object) => validateReplicaStatus(asController(object).status)
  },
  selectableFields: (object) => ({
    "status.replicas": String(asController(object).status?.replicas ?? 0)
  }),
  printRow: (object, now) => {
    const { metadata, spec, status } = asController(object);
    return [
      metadata.name,
      spec?.replicas ?? 0,
      status?.replicas ?? 0,
      status?.readyReplicas ?? 0,
      formatAge(metadata.creationTimestamp, now),
      ...containerColumns(spec?.template),
      formatLabels(spec?.selector)
    ];
  },
  subresources: {
    scale: scaleSubresource({ group: "", resource: "replicationcontrollers" })
  }
};

// apiserver-lite/resources/core/resource-quota.ts
var asQuota = (object) => object;
var scopes = [
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating"
];
function usage(quota) {
  const requests = [];
  const limits = [];
  const hard = quota.status?.hard ?? {};
  for (const name of Object.keys(hard).sort()) {
    const text = `${name}: ${quota.status?.used?.[name] ?? "0"}/${hard[name]}`;
    (name.startsWith("limits.") ? limits : requests).push(text);
  }
  return [requests.join(", "), limits.join(", ")];
}
var aboutScopes = (list, why) => fieldErrors.invalid(
  "spec.scopes",
  asGo("[]core.ResourceQuotaScope", list),
  why
);
function validateAmounts(field, amounts) {
  return Object.entries(amounts ?? {}).flatMap(([name, value]) => [
    ...validateQuotaResourceName(`${field}[${name}]`, name),
    ...validateResourceQuantity(`${field}[${name}]`, name, value)
  ]);
}
var podAmounts = /^((limits|requests)\.)?(cpu|memory|ephemeral-storage)$/;
function fits(scope, resource) {
  if (resource === "pods" || !scopes.includes(scope)) return true;
  return scope !== "BestEffort" && podAmounts.test(resource);
}
var conflicting = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"]
];
function validateScopes({ spec }) {
  const list = spec?.scopes ?? [];
  const counted = Object.keys(spec?.hard ?? {}).filter(isQuotaResource).sort();
  return [
    ...list.flatMap((scope) => [
      ...scopes.includes(scope) ? [] : [aboutScopes(list, "unsupported scope")],
      ...counted.filter((name) => !fits(scope, name)).map(() => aboutScopes(list, "unsupported scope applied to resource"))
    ]),
    ...conflicting.filter((pair2) => pair2.every((scope) => list.includes(scope))).map(() => aboutScopes(list, "conflicting scopes"))
  ];
}
var plainScopes = scopes.filter((scope) => scope !== "PriorityClass");
function validateSelector2({ spec }) {
  const field = "spec.scopeSelector.matchExpressions";
  return (spec?.scopeSelector?.matchExpressions ?? []).flatMap(
    ({ scopeName, operator, values = [] }) => {
      const problems = [];
      if (!scopes.includes(scopeName))
        problems.push(
          fieldErrors.invalid(
            `${field}.scopeName`,
            scopeName,
            "unsupported scope"
          )
        );
      if (plainScopes.includes(scopeName) && operator !== "Exists")
        problems.push(
          fieldErrors.invalid(
            `${field}.operator`,
            operator,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
          )
        );
      if (operator === "In" || operator === "NotIn") {
        if (values.length === 0)
          problems.push(
            fieldErrors.required(
              `${field}.values`,
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
          );
      } else if (operator === "Exists" || operator === "DoesNotExist") {
        if (values.length > 0)
          problems.push(
            fieldErrors.invalid(
              `${field}.values`,
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            )
          );
      } else
        problems.push(
          fieldErrors.invalid(
            `${field}.operator`,
            operator,
            "not a valid selector operator"
          )
        );
      return problems;
    }
  );
}
var validateQuota = (quota) => [
  ...validateAmounts("spec.hard", quota.spec?.hard),
  ...validateScopes(quota),
  ...validateSelector2(quota)
];
var resourceQuotaStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    asQuota(object).status = {};
  },
  prepareForUpdate(object, old) {
    asQuota(object).status = { ...asQuota(old).status };
  },
  validate: (object) => validateQuota(asQuota(object)),
  validateUpdate: (object, old) => sameValue(
    [...asQuota(object).spec?.scopes ?? []].sort(),
    [...asQuota(old).spec?.scopes ?? []].sort()
  ) ? [] : [
    aboutScopes(
      [...asQuota(object).spec?.scopes ?? []].sort(),
      "field is immutable"
    )
  ],
  status: {
    prepareForUpdate(object, old) {
      asQuota(object).spec = { ...asQuota(old).spec };
    },
    validateUpdate(object) {
      const { status } = asQuota(object);
      return ["hard", "used"].flatMap(
        (part) => validateAmounts(`status.${part}`, status?.[part])
      );
    }
  },
  printRow: (object, now) => {
    const quota = asQuota(object);
    return [
      quota.metadata.name,
      formatAge(quota.metadata.creationTimestamp, now),
      ...usage(quota)
    ];
  }
};

// apiserver-lite/resources/core/secret.ts
var asSecret = (object) => object;
var serviceAccountToken = "kubernetes.io/service-account-token";
var serviceAccountName = "kubernetes.io/service-account.name";
var requiredKeys = {
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"]
};
function jsonKeyProblems(secret, key2) {
  const value = secret.data?.[key2];
  const field = `data[${key2}]`;
  if (value === void 0) return [fieldErrors.required(field)];
  try {
    parseJsonSlowly(Buffer.from(value, "base64").toString());
    return [];
  } catch (error) {
    return [
      fieldErrors.invalid(
        field,
        "<secret contents redacted>",
        error instanceof Error ? error.message : ""
      )
    ];
  }
}
function typeProblems2(secret) {
  const data = secret.data ?? {};
  switch (secret.type) {
    case serviceAccountToken:
      return secret.metadata.annotations?.[serviceAccountName] ? [] : [fieldErrors.required(`metadata.annotations[${serviceAccountName}]`)];
    case "kubernetes.io/dockercfg":
      return jsonKeyProblems(secret, ".dockercfg");
    case "kubernetes.io/dockerconfigjson":
      return jsonKeyProblems(secret, ".dockerconfigjson");
    case "kubernetes.io/basic-auth":
      return "username" in data || "password" in data ? [] : [
        fieldErrors.required("data[username]"),
        fieldErrors.required("data[password]")
      ];
    default:
      return (requiredKeys[secret.type ?? ""] ?? []).filter((key2) => !(key2 in data)).map((key2) => fieldErrors.required(`data[${key2}]`));
  }
}
var secretStrategy = {
  countsGeneration: false,
  setDefaults(object) {
    const secret = asSecret(object);
    secret.type ||= "Opaque";
    if (!secret.stringData) return;
    secret.data = { ...secret.data };
    for (const [key2, value] of Object.entries(secret.stringData)) {
      secret.data[key2] = Buffer.from(value).toString("base64");
    }
    delete secret.stringData;
  },
  prepareForUpdate(object, old) {
    asSecret(object).type ||= asSecret(old).type;
  },
  validate(object) {
    const secret = asSecret(object);
    const problems = [];
    let bytes = 0;
    for (const [key2, value] of Object.entries(secret.data ?? {})) {
      problems.push(...invalidEach(`data[${key2}]`, key2, dataKeyProblems(key2)));
      bytes += decodedBytes(value);
    }
    if (bytes > maxDataBytes)
      problems.push(fieldErrors.tooLong("data", maxDataBytes));
    return [...problems, ...typeProblems2(secret)];
  },
  validateUpdate(object, old) {
    const [now, was] = [asSecret(object), asSecret(old)];
    const problems = immutable("type", now.type, was.type);
    if (!was.immutable) return problems;
    if (!now.immutable)
      problems.push(fieldErrors.forbidden("immutable", immutableText));
    if (!sameValue(now.data, was.data))
      problems.push(fieldErrors.forbidden("data", immutableText));
    return problems;
  },
  *warnings(object) {
    const { type, data = {} } = asSecret(object);
    if (type !== "kubernetes.io/tls") return;
    for (const [key2, what] of [
      ["tls.crt", "certificate"],
      ["tls.key", "key"]
    ]) {
      const text = Buffer.from(data[key2] ?? "", "base64").toString("latin1");
      if (/-----BEGIN [^-]+-----/.test(text)) continue;
      yield `tls: failed to find any PEM data in ${what} input`;
      return;
    }
  },
  selectableFields: (object) => ({ type: asSecret(object).type ?? "" }),
  printRow: (object, now) => {
    const { metadata, type, data } = asSecret(object);
    return [
      metadata.name,
      type ?? "",
      Object.keys(data ?? {}).length,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/core/service-account.ts
var serviceAccountStrategy = {
  countsGeneration: false,
  printRow: (object, now) => {
    const { metadata, secrets } = object;
    return [
      metadata.name,
      secrets?.length ?? 0,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// storage/store.ts
var StoreError = class extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.code = code;
    this.name = "StoreError";
  }
  code;
};

// apiserver-lite/registry/store-failure.ts
function storeFailure(error) {
  if (!(error instanceof StoreError)) return error;
  switch (error.code) {
    case "timeout":
      return new ApiError({
        code: 504,
        reason: "Timeout",
        message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
        details: {}
      });
    case "full":
      return errors.internal(`store: ${error.message}`);
    default:
      return errors.unavailable(`store: ${error.message}`);
  }
}

// apiserver-lite/resources/core/service-assignment.ts
import { isIPv6 as isIPv64 } from "node:net";

// apiserver-lite/resources/core/service-address-validation.ts
import { isIPv6 as isIPv63 } from "node:net";
var familyPolicies = [
  "PreferDualStack",
  "RequireDualStack",
  "SingleStack"
];
var isHeadless = ({ clusterIPs }) => clusterIPs?.length === 1 && clusterIPs[0] === "None";
function validateFamilies(spec) {
  const families = spec.ipFamilies ?? [];
  return [
    ...families.flatMap((family, index) => {
      const field = `spec.ipFamilies[${index}]`;
      return [
        ...oneOf(field, family, ["IPv4", "IPv6"]),
        ...families.indexOf(family) < index ? [fieldErrors.duplicate(field, family)] : []
      ];
    }),
    ...oneOf("spec.ipFamilyPolicy", spec.ipFamilyPolicy, familyPolicies)
  ];
}
function validateMatch2(ips, spec) {
  return (spec.ipFamilies ?? []).slice(0, ips.length).flatMap((family, index) => {
    const found = isIPv63(ips[index]) ? "IPv6" : "IPv4";
    return found === family || family !== "IPv4" && family !== "IPv6" ? [] : [
      fieldErrors.invalid(
        `spec.clusterIPs[${index}]`,
        ips[index],
        `expected an ${family} value as indicated by \`ipFamilies[${index}]\``
      )
    ];
  });
}
function validateClusterIps(spec) {
  if (spec.type === "ExternalName") return [];
  const field = "spec.clusterIPs";
  const ips = spec.clusterIPs ?? [];
  const about = (why) => fieldErrors.invalid(field, ips, why);
  const problems = [];
  if (!spec.clusterIP && ips.length > 0)
    problems.push(about("must be empty when `clusterIP` is not specified"));
  else if (spec.clusterIP && ips.length === 0)
    problems.push(fieldErrors.required(field));
  else if (spec.clusterIP && ips[0] !== spec.clusterIP)
    problems.push(about("first value must match `clusterIP`"));
  problems.push(...validateFamilies(spec));
  const bad = ips.flatMap((ip, index) => {
    if (index > 0 || ip !== "None")
      return invalidEach(`${field}[${index}]`, ip, ipProblems(ip));
    return ips.length > 1 ? [about("'None' must be the first and only value")] : [];
  });
  problems.push(...bad);
  if (ips.length > 2) problems.push(about("may only hold up to 2 values"));
  if (bad.length > 0) return problems;
  if (ips.length > 1 && new Set(ips.map(isIPv63)).size < 2)
    problems.push(about("may specify no more than one IP for each IP family"));
  return isHeadless(spec) ? problems : [...problems, ...validateMatch2(ips, spec)];
}
function validateKept(name, spec, was, unset, releasing) {
  const [now, old] = [spec[name] ?? [], was[name] ?? []];
  const about = (index, why) => fieldErrors.invalid(`spec.${name}[${index}]`, now, why);
  const changed = old.map((value, index) => index).filter((index) => index < now.length && now[index] !== old[index]).filter((index) => index === 0 || now.length === old.length).map(
    (index) => about(name === "clusterIPs" ? index : 0, "may not change once set")
  );
  if (old.length <= now.length) return changed;
  return [
    ...now.length === 0 ? [about(0, unset)] : [],
    ...changed,
    ...now.length === 1 && spec.ipFamilyPolicy !== "SingleStack" ? [
      fieldErrors.invalid(
        "spec.ipFamilyPolicy",
        spec.ipFamilyPolicy,
        `must be set to 'SingleStack' when releasing the secondary ${releasing}`
      )
    ] : []
  ];
}
function validateAddressUpdate(service, old) {
  const [spec, was] = [service.spec ?? {}, old.spec ?? {}];
  if (spec.type === "ExternalName" || was.type === "ExternalName") return [];
  const [headless, wasHeadless] = [isHeadless(spec), isHeadless(was)];
  return [
    ...headless && wasHeadless ? [] : validateKept(
      "clusterIPs",
      spec,
      was,
      "primary clusterIP can not be unset",
      "clusterIP"
    ),
    ...headless || wasHeadless ? [] : validateKept(
      "ipFamilies",
      spec,
      was,
      "primary ipFamily can not be unset",
      "ipFamily"
    )
  ];
}

// apiserver-lite/resources/core/service-ip-allocator.ts
function serviceOwner(service) {
  return `${service.metadata.namespace ?? ""}/${service.metadata.name}`;
}
function clusterIpsOf({ spec }) {
  const ips = spec?.clusterIPs?.length ? spec.clusterIPs : spec?.clusterIP ? [spec.clusterIP] : [];
  return ips.filter((ip) => ip && ip !== "None");
}
function nodePortsOf({ spec }) {
  const ports = (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
  if (spec?.healthCheckNodePort) ports.push(spec.healthCheckNodePort);
  return [...new Set(ports.filter((port) => port > 0))];
}
function releaseService(allocators, service, keep) {
  const owner = serviceOwner(service);
  const keptIps = new Set(keep ? clusterIpsOf(keep) : []);
  const keptPorts = new Set(keep ? nodePortsOf(keep) : []);
  for (const ip of clusterIpsOf(service)) {
    if (!keptIps.has(ip))
      for (const allocator of allocators.ips) allocator.release(ip, owner);
  }
  for (const port of nodePortsOf(service))
    if (!keptPorts.has(port)) allocators.ports.release(port, owner);
}

// apiserver-lite/resources/core/service-assignment.ts
var needsIp = ({ type }) => type !== "ExternalName";
var needsNodePorts = (spec) => spec.type === "NodePort" || spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false;
var needsHealthPort = (spec) => spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
function joinClusterIps(spec) {
  if (!spec.clusterIPs?.length && spec.clusterIP)
    spec.clusterIPs = [spec.clusterIP];
}
function assignFamilies(spec, families, was) {
  const bare = spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= was?.ipFamilyPolicy ?? (bare ? "RequireDualStack" : "SingleStack");
  const wrong = validateClusterIps(spec);
  if (wrong.length > 0) return wrong;
  const problems = judgePolicy(spec, was);
  const given = (spec.clusterIPs ?? []).filter((ip) => ip !== "None");
  for (const [index, ip] of given.entries()) {
    if (index < (spec.ipFamilies?.length ?? 0)) continue;
    const family = isIPv64(ip) ? "IPv6" : "IPv4";
    if (families.includes(family))
      spec.ipFamilies = [...spec.ipFamilies ?? [], family];
    else
      problems.push(
        fieldErrors.invalid(
          `spec.clusterIPs[${index}]`,
          spec.clusterIPs,
          `${family} is not configured on this cluster`
        )
      );
  }
  if (problems.length > 0) return problems;
  const dual = families.length > 1;
  if (!bare) {
    if (spec.ipFamilyPolicy === "RequireDualStack" && !dual)
      problems.push(
        fieldErrors.invalid(
          "spec.ipFamilyPolicy",
          "RequireDualStack",
          "this cluster is not configured for dual-stack services"
        )
      );
    for (const [index, family] of (spec.ipFamilies ?? []).entries())
      if (!families.includes(family))
        problems.push(
          fieldErrors.invalid(
            `spec.ipFamilies[${index}]`,
            family,
            "not configured on this cluster"
          )
        );
    if (problems.length > 0) return problems;
  }
  if (!spec.ipFamilies?.length) spec.ipFamilies = [families[0] ?? "IPv4"];
  if (spec.ipFamilyPolicy !== "SingleStack" && spec.ipFamilies.length === 1 && (dual || bare))
    spec.ipFamilies = [
      ...spec.ipFamilies,
      spec.ipFamilies[0] === "IPv6" ? "IPv4" : "IPv6"
    ];
  return [];
}
function judgePolicy(spec, was) {
  const lists2 = [
    ["clusterIPs", "cluster IP", "cluster IPs"],
    ["ipFamilies", "IP family", "IP families"]
  ];
  const single = spec.ipFamilyPolicy === "SingleStack";
  return lists2.flatMap(([name, one, many]) => {
    const [now, before2] = [spec[name] ?? [], was?.[name] ?? []];
    if (single && was && now.length > 1 && sameValue(now, before2)) {
      spec[name] = now.slice(0, 1);
      return [];
    }
    const released = now.length === 1 && before2.length === 2;
    const why = single && now.length === 2 ? `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${many} are specified` : !single && released && now[0] === before2[0] ? `must be 'SingleStack' to release the secondary ${one}` : void 0;
    return why ? [fieldErrors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why)] : [];
  });
}
function assign(service, allocators, old) {
  const spec = service.spec;
  const owner = serviceOwner(service);
  const taken = [];
  const problems = [];
  const had = /* @__PURE__ */ new Set([...old?.spec?.clusterIPs ?? []]);
  if (needsIp(spec)) {
    problems.push(
      ...assignFamilies(
        spec,
        allocators.ips.map(({ family }) => family),
        old?.spec?.type === "ExternalName" ? void 0 : old?.spec
      )
    );
    if (spec.clusterIP !== "None" && problems.length === 0) {
      const ips = [...spec.clusterIPs ?? []];
      for (const [index, family] of spec.ipFamilies.entries()) {
        const allocator = allocators.ips.find((one) => one.family === family);
        const path = `spec.clusterIPs[${index}]`;
        if (!allocator) {
          problems.push(
            fieldErrors.invalid(
              `spec.ipFamilies[${index}]`,
              family,
              "not configured on this cluster"
            )
          );
          continue;
        }
        const wanted = ips[index];
        if (wanted && had.has(wanted)) continue;
        const problem = wanted ? allocator.take(wanted, owner) : void 0;
        const ip = wanted ?? allocator.takeAny(owner);
        if (problem)
          problems.push(fieldErrors.invalid("spec.clusterIPs", ips, problem));
        else if (!ip)
          problems.push(
            fieldErrors.internal(
              path,
              "failed to allocate a serviceIP: range is full"
            )
          );
        else {
          ips[index] = ip;
          taken.push(() => allocator.release(ip, owner));
        }
      }
      if (problems.length === 0) {
        spec.clusterIPs = ips;
        spec.clusterIP = ips[0];
      }
    }
  }
  problems.push(
    ...assignPorts(
      spec,
      owner,
      allocators,
      taken,
      new Set(old ? nodePortsOf(old) : [])
    )
  );
  if (problems.length > 0) for (const release of taken) release();
  return problems;
}
var alreadyAllocated = "provided port is already allocated";
function assignPorts(spec, owner, { ports: allocator }, taken, had) {
  const problems = [];
  const mine = new Set(had);
  const given = /* @__PURE__ */ new Set();
  const take = (field, wanted, protocol = "") => {
    const again = wanted > 0 && given.has(`${protocol}/${wanted}`);
    given.add(`${protocol}/${wanted}`);
    if (wanted && mine.has(wanted) && !again) return wanted;
    const problem = again ? alreadyAllocated : wanted ? allocator.take(wanted, owner) : void 0;
    const port = wanted || allocator.takeAny(owner);
    if (problem) problems.push(fieldErrors.invalid(field, wanted, problem));
    else if (!port)
      problems.push(
        fieldErrors.internal(
          field,
          "failed to allocate a nodePort: range is full"
        )
      );
    else {
      mine.add(port);
      taken.push(() => allocator.release(port, owner));
    }
    return port ?? 0;
  };
  if (needsNodePorts(spec) || spec.type === "LoadBalancer") {
    const byNumber = /* @__PURE__ */ new Map();
    spec.ports = (spec.ports ?? []).map((port, index) => {
      if (!port.nodePort && !needsNodePorts(spec)) return port;
      const shared = port.nodePort ? void 0 : byNumber.get(port.port);
      const protocol = port.protocol ?? "TCP";
      const nodePort = shared && !shared.protocols.has(protocol) ? shared.nodePort : take(`spec.ports[${index}].nodePort`, port.nodePort ?? 0, protocol);
      const entry = byNumber.get(port.port) ?? {
        nodePort,
        protocols: /* @__PURE__ */ new Set()
      };
      entry.protocols.add(protocol);
      byNumber.set(port.port, entry);
      return { ...port, nodePort };
    });
  }
  if (needsHealthPort(spec)) {
    spec.healthCheckNodePort = take(
      "spec.healthCheckNodePort",
      spec.healthCheckNodePort ?? 0
    );
  }
  return problems;
}
function carryOver(spec, was) {
  if (needsIp(spec) && needsIp(was)) {
    const listSame = sameValue(spec.clusterIPs, was.clusterIPs);
    if (!spec.clusterIP && (listSame || !spec.clusterIPs?.length) && was.clusterIP) {
      spec.clusterIP = was.clusterIP;
      if (was.clusterIPs) spec.clusterIPs = [...was.clusterIPs];
    } else if (spec.clusterIP === was.clusterIP) {
      if (!spec.clusterIPs?.length && was.clusterIPs)
        spec.clusterIPs = [...was.clusterIPs];
    } else if (spec.clusterIP && listSame) {
      spec.clusterIPs = [spec.clusterIP, ...was.clusterIPs?.slice(1) ?? []];
    }
    if (!spec.ipFamilies?.length && was.ipFamilies)
      spec.ipFamilies = [...was.ipFamilies];
    spec.ipFamilyPolicy ??= was.ipFamilyPolicy;
  }
  if (needsNodePorts(spec) && needsNodePorts(was)) {
    const used = new Set(
      (spec.ports ?? []).map(
        ({ nodePort, protocol }) => `${protocol}/${nodePort ?? 0}`
      )
    );
    spec.ports = (spec.ports ?? []).map((port) => {
      if (port.nodePort) return port;
      const before2 = was.ports?.find(
        (one) => one.port === port.port && (one.protocol ?? "TCP") === (port.protocol ?? "TCP")
      );
      if (!before2?.nodePort || used.has(`${port.protocol}/${before2.nodePort}`))
        return port;
      return { ...port, nodePort: before2.nodePort };
    });
  }
  if (needsHealthPort(spec) && needsHealthPort(was))
    spec.healthCheckNodePort ||= was.healthCheckNodePort ?? 0;
}
function dropUnneeded(spec, was) {
  if (!needsIp(spec) && needsIp(was)) {
    if (spec.clusterIP === was.clusterIP || !spec.clusterIP && sameValue(spec.clusterIPs, was.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
    if (spec.internalTrafficPolicy === was.internalTrafficPolicy)
      delete spec.internalTrafficPolicy;
  }
  if (needsNodePorts(was) && !needsNodePorts(spec) && spec.type !== "LoadBalancer") {
    const before2 = new Set((was.ports ?? []).map(({ nodePort }) => nodePort));
    spec.ports = (spec.ports ?? []).map((port) => {
      if (!port.nodePort || !before2.has(port.nodePort)) return port;
      const { nodePort: _, ...rest } = port;
      return rest;
    });
  }
  if (!needsHealthPort(spec) && spec.healthCheckNodePort === was.healthCheckNodePort)
    delete spec.healthCheckNodePort;
  const reachable = spec.type === "NodePort" || spec.type === "LoadBalancer" || (spec.externalIPs?.length ?? 0) > 0;
  if (!reachable && spec.externalTrafficPolicy === was.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
  if (spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === was.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === was.loadBalancerClass)
      delete spec.loadBalancerClass;
  }
}

// apiserver-lite/resources/core/service-validation.ts
import { isIP as isIP2, isIPv6 as isIPv65 } from "node:net";
var types3 = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
var trafficPolicies = ["Cluster", "Local"];
var hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
var modeAnnotation = "service.kubernetes.io/topology-mode";
var rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";
var kubeletPort = 10250;
var onlyForBalancers = "may only be used when `type` is 'LoadBalancer'";
function validatePort2(field, port, several, names) {
  const { name, targetPort, appProtocol } = port;
  const problems = [];
  if (several && !name) problems.push(fieldErrors.required(`${field}.name`));
  else if (name) {
    problems.push(
      ...invalidEach(`${field}.name`, name, dnsLabelProblems(name))
    );
    if (names.has(name))
      problems.push(fieldErrors.duplicate(`${field}.name`, name));
    names.add(name);
  }
  return [
    ...problems,
    ...invalidEach(
      `${field}.port`,
      port.port ?? 0,
      portNumberProblems(port.port ?? 0)
    ),
    ...oneOf(`${field}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"], true),
    ...invalidEach(
      `${field}.targetPort`,
      targetPort ?? 0,
      typeof targetPort === "string" ? portNameProblems(targetPort) : portNumberProblems(targetPort ?? 0)
    ),
    ...appProtocol === void 0 ? [] : invalidEach(
      `${field}.appProtocol`,
      appProtocol,
      qualifiedNameProblems(appProtocol)
    )
  ];
}
function duplicatePorts(spec, identify, problem) {
  const seen = /* @__PURE__ */ new Set();
  return (spec.ports ?? []).flatMap((port, index) => {
    const identity = identify(port);
    if (identity === void 0) return [];
    if (seen.has(identity)) return [problem(index, port)];
    seen.add(identity);
    return [];
  });
}
function validateByType(spec) {
  const { type } = spec;
  if (type === "ExternalName") {
    const forbidden = ["clusterIPs", "ipFamilies", "ipFamilyPolicy"].filter((name2) => spec[name2]?.length);
    const name = (spec.externalName ?? "").replace(/\.$/, "");
    return [
      ...forbidden.map(
        (one) => fieldErrors.forbidden(
          `spec.${one}`,
          "may not be set for ExternalName services"
        )
      ),
      ...name ? invalidEach("spec.externalName", name, dnsSubdomainProblems(name)) : [fieldErrors.required("spec.externalName")]
    ];
  }
  if (type !== "LoadBalancer" && type !== "NodePort") return [];
  return [
    ...(type === "LoadBalancer" ? spec.ports ?? [] : []).flatMap(
      ({ port }, index) => port === kubeletPort ? [
        fieldErrors.invalid(
          `spec.ports[${index}]`,
          port,
          `may not expose port ${port} externally since it is used by kubelet`
        )
      ] : []
    ),
    ...isHeadless(spec) ? [
      fieldErrors.invalid(
        "spec.clusterIPs[0]",
        "None",
        `may not be set to 'None' for ${type} services`
      )
    ] : []
  ];
}
function validateAffinity2(spec) {
  const { sessionAffinity, sessionAffinityConfig: config } = spec;
  const field = "spec.sessionAffinityConfig";
  const problems = oneOf(
    "spec.sessionAffinity",
    sessionAffinity,
    ["ClientIP", "None"],
    true
  );
  if (sessionAffinity === "None" && config)
    problems.push(
      fieldErrors.forbidden(
        field,
        "must not be set when session affinity is None"
      )
    );
  if (sessionAffinity !== "ClientIP") return problems;
  const timeout = config?.clientIP?.timeoutSeconds;
  if (timeout !== void 0 && (timeout <= 0 || timeout > 86400))
    problems.push(
      fieldErrors.invalid(
        `${field}.clientIP.timeoutSeconds`,
        timeout,
        "must be greater than 0 and less than 86400"
      )
    );
  return problems;
}
function validateSourceRanges({ metadata, spec = {} }) {
  const given = spec.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[rangesAnnotation];
  const own = given.length > 0;
  if (!own && annotation === void 0) return [];
  const field = own ? "spec.LoadBalancerSourceRanges" : `metadata.annotations[${rangesAnnotation}]`;
  const ranges2 = own ? given : annotation.trim() ? annotation.split(",") : [];
  return [
    ...spec.type === "LoadBalancer" ? [] : [fieldErrors.forbidden(field, onlyForBalancers)],
    ...ranges2.flatMap(
      (range, index) => invalidEach(
        own ? `${field}[${index}]` : field,
        range.trim(),
        cidrProblems(range.trim())
      )
    )
  ];
}
function validateBalancer(service) {
  const spec = service.spec ?? {};
  const isBalancer = spec.type === "LoadBalancer";
  const { allocateLoadBalancerNodePorts: allocate, loadBalancerClass } = spec;
  const forbidden = (name) => fieldErrors.forbidden(`spec.${name}`, onlyForBalancers);
  return [
    ...validateSourceRanges(service),
    ...allocate !== void 0 && !isBalancer ? [forbidden("allocateLoadBalancerNodePorts")] : [],
    ...loadBalancerClass === void 0 ? [] : isBalancer ? invalidEach(
      "spec.loadBalancerClass",
      loadBalancerClass,
      labelKeyProblems(loadBalancerClass)
    ) : [forbidden("loadBalancerClass")]
  ];
}
var needsHealthCheck = (spec) => spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
function validateTraffic(spec) {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = spec;
  const field = "spec.externalTrafficPolicy";
  const reachable = spec.type === "NodePort" || spec.type === "LoadBalancer" || spec.type === "ClusterIP" && (spec.externalIPs?.length ?? 0) > 0;
  const problems = reachable || !policy ? oneOf(field, policy, trafficPolicies, reachable) : [
    fieldErrors.invalid(
      field,
      policy,
      "may only be set for externally-accessible services"
    )
  ];
  if (port && !needsHealthCheck(spec))
    problems.push(
      fieldErrors.invalid(
        "spec.healthCheckNodePort",
        port,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
      )
    );
  return [
    ...problems,
    ...oneOf(
      "spec.internalTrafficPolicy",
      spec.internalTrafficPolicy,
      trafficPolicies
    ),
    ...oneOf("spec.trafficDistribution", spec.trafficDistribution, [
      "PreferClose"
    ])
  ];
}
function validateService(service) {
  const spec = service.spec ?? {};
  const ports = spec.ports ?? [];
  const names = /* @__PURE__ */ new Set();
  const { [hintsAnnotation]: hints, [modeAnnotation]: mode } = service.metadata.annotations ?? {};
  return [
    ...hints !== void 0 && mode !== void 0 && hints !== mode ? [
      fieldErrors.invalid(
        `metadata.annotations[${modeAnnotation}]`,
        mode,
        `must match annotations[${hintsAnnotation}] when both are specified`
      )
    ] : [],
    ...ports.length > 0 || isHeadless(spec) || spec.type === "ExternalName" ? [] : [fieldErrors.required("spec.ports")],
    ...validateByType(spec),
    ...ports.flatMap(
      (port, index) => validatePort2(`spec.ports[${index}]`, port, ports.length > 1, names)
    ),
    ...labels("spec.selector", spec.selector),
    ...validateAffinity2(spec),
    ...validateClusterIps(spec),
    ...(spec.externalIPs ?? []).flatMap((ip, index) => {
      const problems = ipProblems(ip);
      return invalidEach(
        `spec.externalIPs[${index}]`,
        ip,
        problems.length > 0 ? problems : specialIpProblems(ip)
      );
    }),
    ...oneOf("spec.type", spec.type, types3, true),
    ...(spec.type === "ClusterIP" ? ports : []).flatMap(
      ({ nodePort }, index) => nodePort ? [
        fieldErrors.forbidden(
          `spec.ports[${index}].nodePort`,
          "may not be used when `type` is 'ClusterIP'"
        )
      ] : []
    ),
    ...duplicatePorts(
      spec,
      ({ protocol, nodePort }) => nodePort ? `${protocol}/${nodePort}` : void 0,
      (index, { nodePort }) => fieldErrors.duplicate(`spec.ports[${index}].nodePort`, nodePort)
    ),
    ...duplicatePorts(
      spec,
      ({ protocol, port }) => `${protocol}/${port}`,
      (index, { protocol, port }) => fieldErrors.duplicate(
        `spec.ports[${index}]`,
        asGo("core.ServicePort", { protocol, port })
      )
    ),
    ...validateBalancer(service),
    ...validateTraffic(spec)
  ];
}
function validateServiceUpdate(service, old) {
  const [spec, was] = [service.spec ?? {}, old.spec ?? {}];
  const problems = validateAddressUpdate(service, old);
  if (spec.type === "LoadBalancer" && was.type === "LoadBalancer" && spec.loadBalancerClass !== was.loadBalancerClass)
    problems.push(
      fieldErrors.invalid(
        "spec.loadBalancerClass",
        spec.loadBalancerClass,
        "may not change once set"
      )
    );
  if (needsHealthCheck(spec) && needsHealthCheck(was) && spec.healthCheckNodePort !== was.healthCheckNodePort)
    problems.push(
      fieldErrors.forbidden("spec.healthCheckNodePort", "field is immutable")
    );
  return problems;
}
function validateIngress(field, { ip, ipMode, hostname }) {
  const problems = ip ? invalidEach(`${field}.ip`, ip, ipProblems(ip)) : [];
  if (ipMode !== void 0 && !ip)
    problems.push(
      fieldErrors.forbidden(
        `${field}.ipMode`,
        "may not be specified when `ip` is not set"
      )
    );
  else problems.push(...oneOf(`${field}.ipMode`, ipMode, ["Proxy", "VIP"]));
  if (!hostname) return problems;
  return [
    ...problems,
    ...invalidEach(
      `${field}.hostname`,
      hostname,
      dnsSubdomainProblems(hostname)
    ),
    ...isIP2(hostname) ? [
      fieldErrors.invalid(
        `${field}.hostname`,
        hostname,
        "must be a DNS name, not an IP address"
      )
    ] : []
  ];
}
function validateServiceStatus({ spec, status }) {
  const ingress2 = status?.loadBalancer?.ingress ?? [];
  const field = "status.loadBalancer.ingress";
  if (ingress2.length > 0 && spec?.type !== "LoadBalancer")
    return [
      fieldErrors.forbidden(
        field,
        "may only be used when `spec.type` is 'LoadBalancer'"
      )
    ];
  return ingress2.flatMap(
    (one, index) => validateIngress(`${field}[${index}]`, one)
  );
}
function* serviceWarnings({
  metadata,
  spec = {}
}) {
  if (hintsAnnotation in (metadata.annotations ?? {}))
    yield `annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`;
  const { loadBalancerIP } = spec;
  if (loadBalancerIP && !isIP2(loadBalancerIP) && !/[.:]/.test(loadBalancerIP))
    yield `spec.loadBalancerIP: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr(${JSON.stringify(loadBalancerIP)}): unable to parse IP`;
  for (const list of ["externalIPs"])
    for (const [index, ip] of (spec[list] ?? []).entries()) {
      const canonical = isIPv65(ip) && new URL(`http://[${ip}]`).hostname;
      if (canonical && canonical.slice(1, -1) !== ip)
        yield `spec.${list}[${index}]: IPv6 address ${JSON.stringify(ip)} is not in RFC 5952 canonical format (${JSON.stringify(canonical.slice(1, -1))}), which may cause controller apply-loops`;
    }
  if (spec.type === "ExternalName" && spec.externalIPs?.length)
    yield 'spec.externalIPs is ignored when spec.type is "ExternalName"';
  if (spec.type !== "ExternalName" && spec.externalName)
    yield 'spec.externalName is ignored when spec.type is not "ExternalName"';
}

// apiserver-lite/resources/core/service.ts
var maxAttempts = 16;
var asService2 = (object) => object;
function refuse(service, problems) {
  if (problems.length > 0)
    throw errors.invalid(
      { group: "", kind: "Service" },
      service.metadata.name,
      problems
    );
}
function externalIps({ spec = {}, status }) {
  const external = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return orNone(spec.externalName);
  if (spec.type === "LoadBalancer") {
    const balancers = (status?.loadBalancer?.ingress ?? []).map(
      ({ ip, hostname }) => ip || hostname || ""
    );
    return [...balancers.filter(Boolean), ...external].join(",") || "<pending>";
  }
  return orNone(external.join(","));
}
function createServiceStrategy(allocators) {
  const held = /* @__PURE__ */ new WeakMap();
  const hold = async (service, context, old) => {
    if (!allocators) return;
    const { ranges: ranges2 } = allocators;
    const asked = structuredClone(service.spec);
    for (let attempt = 1; ; attempt++) {
      const problems = assign(service, allocators, old);
      if (problems.length === 0) {
        if (context.dryRun) return releaseService(allocators, service, old);
        if (!ranges2 || await entered(ranges2, service, old)) {
          const { metadata, spec } = service;
          held.set(service, structuredClone({ metadata, spec }));
          return;
        }
      }
      if (!ranges2 || attempt > (problems.length > 0 ? 1 : maxAttempts))
        return refuse(service, problems);
      await ranges2.refresh().catch((error) => {
        throw storeFailure(error);
      });
      service.spec = structuredClone(asked);
    }
  };
  const entered = async (ranges2, service, old) => {
    let done = false;
    try {
      return done = await ranges2.take(service, old);
    } catch (error) {
      throw storeFailure(error);
    } finally {
      if (!done) releaseService(allocators, service, old);
    }
  };
  const giveBack = async (service, keep) => {
    if (!allocators) return;
    await allocators.ranges?.release(service, keep);
    releaseService(allocators, service, keep);
  };
  return {
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: nameRule(dns1035Problems),
    setDefaults(object) {
      asService2(object).spec ??= {};
    },
    async prepareForCreate(object, context) {
      const service = asService2(object);
      service.status = { loadBalancer: {} };
      service.spec ??= {};
      joinClusterIps(service.spec);
      await hold(service, context);
    },
    async prepareForUpdate(object, oldObject, context) {
      const [service, old] = [asService2(object), asService2(oldObject)];
      service.status = { ...old.status };
      const [spec, was] = [service.spec ??= {}, old.spec ?? {}];
      carryOver(spec, was);
      dropUnneeded(spec, was);
      joinClusterIps(spec);
      await hold(service, context, old);
    },
    validate: (object) => validateService(asService2(object)),
    warnings: (object) => serviceWarnings(asService2(object)),
    validateUpdate: (object, old) => validateServiceUpdate(asService2(object), asService2(old)),
    async rollback(object, _context, old) {
      const taken = held.get(object);
      held.delete(object);
      if (taken) await giveBack(taken, old && asService2(old));
    },
    afterUpdate: (object, old) => giveBack(asService2(old), asService2(object)),
    afterDelete: (object) => giveBack(asService2(object)),
    status: {
      prepareForUpdate(object, old) {
        asService2(object).spec = { ...asService2(old).spec };
      },
      validateUpdate: (object) => validateServiceStatus(asService2(object))
    },
    selectableFields: (object) => {
      const { spec } = asService2(object);
      return {
        "spec.clusterIP": spec?.clusterIP ?? "",
        "spec.type": spec?.type ?? ""
      };
    },
    printRow: (object, now) => {
      const service = asService2(object);
      const { metadata, spec = {} } = service;
      const ports = (spec.ports ?? []).map(
        ({ port, nodePort, protocol }) => nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`
      );
      return [
        metadata.name,
        spec.type ?? "",
        orNone(spec.clusterIPs?.[0] ?? spec.clusterIP),
        externalIps(service),
        orNone(ports.join(",")),
        formatAge(metadata.creationTimestamp, now),
        formatLabels(spec.selector)
      ];
    }
  };
}

// apiserver-lite/resources/discovery/endpoint-slice.ts
import { isIP as isIP3, isIPv4 as isIPv42, isIPv6 as isIPv66 } from "node:net";
var asSlice = (object) => object;
var maxEndpoints = 1e3;
var maxPorts = 2e4;
var maxAddresses = 100;
function addressProblems2(field, address2, type) {
  if (type === "FQDN")
    return invalidEach(field, address2, dnsSubdomainProblems(address2));
  const plain = address2.replace(/(^|\.)0+(?=[0-9])/g, "$1");
  const right = type === "IPv4" ? isIPv42(plain) : isIPv66(address2);
  return [
    ...right ? [] : [
      fieldErrors.invalid(
        field,
        address2,
        `must be a valid ${type} address`
      )
    ],
    ...isIP3(plain) ? endpointIpProblems(field, plain) : [fieldErrors.invalid(field, address2, "must be a valid IP address")]
  ];
}
function hintProblems(field, { hints }) {
  const seen = /* @__PURE__ */ new Set();
  return (hints?.forZones ?? []).flatMap(({ name }, index) => {
    const path = `${field}[${index}].name`;
    if (seen.has(name)) return [fieldErrors.duplicate(path, name)];
    seen.add(name);
    return invalidEach(path, name, labelValueProblems(name));
  });
}
var endpointSliceStrategy = {
  countsMetadata: "labels",
  prepareForCreate(object) {
    for (const endpoint2 of asSlice(object).endpoints ?? [])
      delete endpoint2.deprecatedTopology;
  },
  warnings: (object) => asSlice(object).addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [],
  validate(object) {
    const { addressType, endpoints = [], ports = [] } = asSlice(object);
    const problems = oneOf(
      "addressType",
      addressType,
      ["FQDN", "IPv4", "IPv6"],
      true
    );
    if (problems.length > 0) return problems;
    if (endpoints.length > maxEndpoints) {
      return [
        ...problems,
        fieldErrors.tooMany("endpoints", endpoints.length, maxEndpoints)
      ];
    }
    if (ports.length > maxPorts)
      return [
        ...problems,
        fieldErrors.tooMany("ports", ports.length, maxPorts)
      ];
    for (const [index, endpoint2] of endpoints.entries()) {
      const path = `endpoints[${index}]`;
      const addresses = endpoint2.addresses ?? [];
      if (addresses.length === 0) {
        problems.push(
          fieldErrors.required(
            `${path}.addresses`,
            "must contain at least 1 address"
          )
        );
      } else if (addresses.length > maxAddresses) {
        problems.push(
          fieldErrors.tooMany(
            `${path}.addresses`,
            addresses.length,
            maxAddresses
          )
        );
      }
      for (const [at, address2] of addresses.entries()) {
        problems.push(
          ...addressProblems2(`${path}.addresses[${at}]`, address2, addressType)
        );
      }
      if (endpoint2.nodeName) {
        problems.push(
          ...invalidEach(
            `${path}.nodeName`,
            endpoint2.nodeName,
            dnsSubdomainProblems(endpoint2.nodeName)
          )
        );
      }
      problems.push(
        ...labels(`${path}.deprecatedTopology`, endpoint2.deprecatedTopology)
      );
      if (endpoint2.hostname) {
        problems.push(
          ...invalidEach(
            `${path}.hostname`,
            endpoint2.hostname,
            dnsLabelProblems(endpoint2.hostname)
          )
        );
      }
      problems.push(...hintProblems(`${path}.hints.forZones`, endpoint2));
    }
    const names = /* @__PURE__ */ new Set();
    for (const [index, port] of ports.entries()) {
      const path = `ports[${index}]`;
      if (port.name)
        problems.push(
          ...invalidEach(
            `${path}.name`,
            port.name,
            dnsLabelProblems(port.name)
          )
        );
      if (names.has(port.name ?? ""))
        problems.push(fieldErrors.duplicate(`${path}.name`, port.name ?? ""));
      names.add(port.name ?? "");
      problems.push(
        ...exactlyOneOf(`${path}.protocol`, port.protocol, [
          "SCTP",
          "TCP",
          "UDP"
        ])
      );
      if (port.appProtocol)
        problems.push(
          ...invalidEach(
            `${path}.appProtocol`,
            port.appProtocol,
            labelKeyProblems(port.appProtocol)
          )
        );
    }
    return problems;
  },
  validateUpdate: (object, old) => immutable(
    "addressType",
    asSlice(object).addressType,
    asSlice(old).addressType
  ),
  printRow: (object, now) => {
    const {
      metadata,
      addressType,
      endpoints = [],
      ports = []
    } = asSlice(object);
    return [
      metadata.name,
      addressType,
      formatFew(
        ports.map(({ port, name }) => String(port ?? name ?? "*")),
        "<unset>"
      ),
      formatFew(
        endpoints.flatMap(({ addresses }) => addresses),
        "<unset>"
      ),
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/flowcontrol/flow-rule-validation.ts
var verbs = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "proxy",
  "update",
  "watch"
];
var subjectParts = {
  Group: "group",
  ServiceAccount: "serviceAccount",
  User: "user"
};
function validateFlowRule(field, rule) {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  return [
    ...subjects.length === 0 ? [
      fieldErrors.required(
        `${field}.subjects`,
        "subjects must contain at least one value"
      )
    ] : [],
    ...subjects.flatMap(
      (subject, index) => subjectProblems(`${field}.subjects[${index}]`, subject)
    ),
    ...resourceRules.length + nonResourceRules.length === 0 ? [
      fieldErrors.required(
        field,
        "at least one of resourceRules and nonResourceRules has to be non-empty"
      )
    ] : [],
    ...resourceRules.flatMap((one, index) => {
      const path = `${field}.resourceRules[${index}]`;
      const { namespaces = [], clusterScope } = one;
      return [
        ...verbProblems(`${path}.verbs`, one.verbs ?? []),
        ...listProblems2(
          `${path}.apiGroups`,
          one.apiGroups ?? [],
          "resource rules must supply at least one api group",
          "api groups"
        ),
        ...listProblems2(
          `${path}.resources`,
          one.resources ?? [],
          "resource rules must supply at least one resource",
          "resources"
        ),
        ...namespaces.length === 0 && clusterScope ? [] : namespaceProblems(`${path}.namespaces`, namespaces)
      ];
    }),
    ...nonResourceRules.flatMap((one, index) => {
      const path = `${field}.nonResourceRules[${index}]`;
      return [
        ...verbProblems(`${path}.verbs`, one.verbs ?? []),
        ...listProblems2(
          `${path}.nonResourceURLs`,
          one.nonResourceURLs ?? [],
          "nonResourceURLs must contain at least one value",
          "non-resource URLs"
        )
      ];
    })
  ];
}
function listProblems2(field, values, emptyText, others) {
  if (values.length === 0) return [fieldErrors.required(field, emptyText)];
  return values.includes("*") && values.length > 1 ? [
    fieldErrors.invalid(
      field,
      asGo("[]string", values),
      `if '*' is present, must not specify other ${others}`
    )
  ] : [];
}
function verbProblems(field, given) {
  const problems = listProblems2(
    field,
    given,
    "verbs must contain at least one value",
    "verbs"
  );
  if (given.some((verb) => verb !== "*" && !verbs.includes(verb)))
    problems.push(
      fieldErrors.notSupported(field, asGo("[]string", given), verbs)
    );
  return problems;
}
function namespaceProblems(field, namespaces) {
  const problems = listProblems2(
    field,
    namespaces,
    "resource rules that are not cluster scoped must supply at least one namespace",
    "namespaces"
  );
  if (problems.length > 0) return problems;
  return namespaces.flatMap(
    (name, index) => name === "*" ? [] : invalidEach(`${field}[${index}]`, name, dnsLabelProblems(name))
  );
}
function subjectProblems(field, subject) {
  const kinds2 = Object.keys(subjectParts);
  if (!kinds2.includes(subject.kind))
    return [fieldErrors.notSupported(`${field}.kind`, subject.kind, kinds2)];
  return Object.entries(subjectParts).flatMap(([kind2, part]) => {
    const path = `${field}.${part}`;
    const who = subject[part];
    if (kind2 !== subject.kind)
      return who ? [
        fieldErrors.forbidden(
          path,
          `${part} is forbidden when subject kind is not '${kind2}'`
        )
      ] : [];
    if (!who)
      return [
        fieldErrors.required(
          path,
          `${part} is required when subject kind is '${kind2}'`
        )
      ];
    return whoProblems(path, part, who);
  });
}
function whoProblems(field, part, { name, namespace = "" }) {
  const unnamed = name ? [] : [fieldErrors.required(`${field}.name`)];
  if (part !== "serviceAccount") return unnamed;
  return [
    ...unnamed,
    ...name && name !== "*" ? invalidEach(`${field}.name`, name, dnsSubdomainProblems(name)) : [],
    ...namespace ? invalidEach(
      `${field}.namespace`,
      namespace,
      dnsLabelProblems(namespace)
    ) : [
      fieldErrors.required(
        `${field}.namespace`,
        "must specify namespace for service account"
      )
    ]
  ];
}

// apiserver-lite/resources/flowcontrol/priority-level-validation.ts
var maxQueues = 1e7;
var maxEntropyBits = 60;
function validatePriorityLevel({
  metadata,
  spec
}) {
  const type = spec?.type ?? "";
  const problems = [];
  if (type === "Exempt" !== (metadata.name === "exempt"))
    problems.push(
      fieldErrors.invalid(
        "spec.type",
        type,
        "type must be 'Exempt' if and only if name is 'exempt'"
      )
    );
  const { limited, exempt } = spec ?? {};
  if (type === "Exempt") {
    if (exempt) problems.push(...shareProblems("spec.exempt", exempt));
    if (limited)
      problems.push(
        fieldErrors.forbidden(
          "spec.limited",
          "must be nil if the type is not Limited"
        )
      );
  } else if (type === "Limited") {
    if (exempt)
      problems.push(
        fieldErrors.forbidden(
          "spec.exempt",
          "must be nil if the type is Limited"
        )
      );
    problems.push(
      ...limited ? limitedProblems("spec.limited", limited) : [
        fieldErrors.required(
          "spec.limited",
          "must not be empty when type is Limited"
        )
      ]
    );
  } else
    problems.push(...exactlyOneOf("spec.type", type, ["Exempt", "Limited"]));
  return problems;
}
function shareProblems(field, shares) {
  const { nominalConcurrencyShares: nominal = 0, lendablePercent = 0 } = shares;
  const problems = [];
  if (nominal < 0)
    problems.push(
      fieldErrors.invalid(
        `${field}.nominalConcurrencyShares`,
        nominal,
        "must be a non-negative integer"
      )
    );
  if (lendablePercent < 0 || lendablePercent > 100)
    problems.push(
      fieldErrors.invalid(
        `${field}.lendablePercent`,
        lendablePercent,
        "must be between 0 and 100, inclusive"
      )
    );
  return problems;
}
function limitedProblems(field, limited) {
  const { borrowingLimitPercent = 0, limitResponse } = limited;
  const problems = shareProblems(field, limited);
  if (borrowingLimitPercent < 0)
    problems.push(
      fieldErrors.invalid(
        `${field}.borrowingLimitPercent`,
        borrowingLimitPercent,
        "if specified, must be a non-negative integer"
      )
    );
  const path = `${field}.limitResponse`;
  const type = limitResponse?.type ?? "";
  const queuing = limitResponse?.queuing;
  if (type === "Queue")
    problems.push(
      ...queuing ? queuingProblems(`${path}.queuing`, queuing) : [
        fieldErrors.required(
          `${path}.queuing`,
          "must not be empty if limited.limitResponse.type is Limited"
        )
      ]
    );
  else if (type === "Reject") {
    if (queuing)
      problems.push(
        fieldErrors.forbidden(
          `${path}.queuing`,
          "must be nil if limited.limitResponse.type is not Limited"
        )
      );
  } else
    problems.push(...exactlyOneOf(`${path}.type`, type, ["Queue", "Reject"]));
  return problems;
}
function queuingProblems(field, queuing) {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  const problems = [];
  const invalid = (part, value, text) => problems.push(fieldErrors.invalid(`${field}.${part}`, value, text));
  const positive3 = "must be positive";
  if (queueLengthLimit <= 0)
    invalid("queueLengthLimit", queueLengthLimit, positive3);
  if (queues <= 0) invalid("queues", queues, positive3);
  else if (queues > maxQueues)
    invalid("queues", queues, `must not be greater than ${maxQueues}`);
  const bits = Math.ceil(Math.log2(queues) * handSize);
  if (handSize <= 0) invalid("handSize", handSize, positive3);
  else if (handSize > queues)
    invalid(
      "handSize",
      handSize,
      `should not be greater than queues (${queues})`
    );
  else if (bits > maxEntropyBits)
    invalid(
      "handSize",
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxEntropyBits}`
    );
  return problems;
}

// apiserver-lite/resources/flowcontrol/flow-control.ts
var asSchema = (object) => object;
var asLevel = (object) => object;
var flowSchemaStrategy = {
  prepareForCreate(object) {
    asSchema(object).status = {};
  },
  validate(object) {
    const { metadata, spec } = asSchema(object);
    const problems = [];
    const precedence = spec?.matchingPrecedence ?? 0;
    if (precedence < 1) {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "must be a positive value"
        )
      );
    } else if (precedence > 1e4) {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "must not be greater than 10000"
        )
      );
    } else if (precedence === 1 && metadata.name !== "exempt") {
      problems.push(
        fieldErrors.invalid(
          "spec.matchingPrecedence",
          precedence,
          "only the schema named 'exempt' may have matchingPrecedence 1"
        )
      );
    }
    const level = spec?.priorityLevelConfiguration?.name;
    if (!level) {
      problems.push(
        fieldErrors.required(
          "spec.priorityLevelConfiguration.name",
          "must reference a priority level"
        )
      );
    } else
      problems.push(
        ...invalidEach(
          "spec.priorityLevelConfiguration.name",
          level,
          dnsSubdomainProblems(level)
        )
      );
    const method = spec?.distinguisherMethod;
    if (method && method.type !== "ByNamespace" && method.type !== "ByUser")
      problems.push(
        fieldErrors.notSupported(
          "spec.distinguisherMethod.type",
          asGo("flowcontrol.FlowDistinguisherMethod", method),
          ["ByNamespace", "ByUser"]
        )
      );
    return [
      ...problems,
      ...(spec?.rules ?? []).flatMap(
        (rule, index) => validateFlowRule(`spec.rules[${index}]`, rule)
      )
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asSchema(object).spec = { ...asSchema(old).spec };
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asSchema(object);
    const dangling = status?.conditions?.find(({ type }) => type === "Dangling")?.status ?? "?";
    return [
      metadata.name,
      spec?.priorityLevelConfiguration?.name ?? "",
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod?.type ?? "<none>",
      formatAge(metadata.creationTimestamp, now),
      dangling
    ];
  }
};
var priorityLevelStrategy = {
  prepareForCreate(object) {
    asLevel(object).status = {};
  },
  validate: (object) => validatePriorityLevel(asLevel(object)),
  status: {
    prepareForUpdate(object, old) {
      asLevel(object).spec = {
        ...asLevel(old).spec
      };
    }
  },
  printRow: (object, now) => {
    const { metadata, spec } = asLevel(object);
    const { limited, exempt } = spec ?? {};
    const queuing = limited?.limitResponse?.queuing;
    const shown2 = (value) => value === void 0 ? "<none>" : String(value);
    return [
      metadata.name,
      spec?.type ?? "",
      shown2(
        limited ? limited.nominalConcurrencyShares : exempt?.nominalConcurrencyShares
      ),
      shown2(queuing?.queues),
      shown2(queuing?.handSize),
      shown2(queuing?.queueLengthLimit),
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/networking/ingress.ts
import { isIP as isIP4 } from "node:net";
var asIngress = (object) => object;
function hostProblems(field, host) {
  return [
    ...isIP4(host) ? [
      fieldErrors.invalid(
        field,
        host,
        "must be a DNS name, not an IP address"
      )
    ] : [],
    ...invalidEach(
      field,
      host,
      host.includes("*") ? wildcardSubdomainProblems(host) : dnsSubdomainProblems(host)
    )
  ];
}
var hostnameProblems = (field, name) => [
  ...invalidEach(field, name, dnsSubdomainProblems(name)),
  ...isIP4(name) ? [
    fieldErrors.invalid(
      field,
      name,
      "must be a DNS name, not an IP address"
    )
  ] : []
];
var unclear = ["//", "/./", "/../", "%2f", "%2F"];
function pathProblems2(field, path, type) {
  const free = type === "ImplementationSpecific";
  if (free && path === "") return [];
  const invalid = (text) => fieldErrors.invalid(field, path, text);
  if (!path.startsWith("/")) return [invalid("must be an absolute path")];
  if (free) return [];
  return [
    ...unclear.filter((part) => path.includes(part)).map((part) => invalid(`must not contain '${part}'`)),
    ...["/..", "/."].filter((end) => path.endsWith(end)).map((end) => invalid(`cannot end with '${end}'`))
  ];
}
var classAnnotation2 = "kubernetes.io/ingress.class";
function backendProblems(field, backend2) {
  const { service, resource } = backend2 ?? {};
  if (service && resource) {
    return [
      fieldErrors.invalid(
        field,
        "",
        "cannot set both resource and service backends"
      )
    ];
  }
  if (resource) return objectReference(`${field}.resource`, resource);
  if (!service)
    return [
      fieldErrors.invalid(field, "", "resource or service backend is required")
    ];
  const problems = [];
  if (!service.name)
    problems.push(fieldErrors.required(`${field}.service.name`));
  else
    problems.push(
      ...invalidEach(
        `${field}.service.name`,
        service.name,
        dns1035Problems(service.name)
      )
    );
  const { name, number: number2 } = service.port ?? {};
  if (name && number2) {
    problems.push(
      fieldErrors.invalid(field, "", "cannot set both port name & port number")
    );
  } else if (name)
    problems.push(
      ...invalidEach(
        `${field}.service.port.name`,
        name,
        portNameProblems(name)
      )
    );
  else if (number2)
    problems.push(
      ...invalidEach(
        `${field}.service.port.number`,
        number2,
        portNumberProblems(number2)
      )
    );
  else
    problems.push(
      fieldErrors.required(field, "port name or number is required")
    );
  return problems;
}
var ingressStrategy = {
  prepareForCreate(object) {
    asIngress(object).status = { loadBalancer: {} };
  },
  prepareForUpdate(object, old) {
    asIngress(object).status = asIngress(old).status;
  },
  validate(object) {
    const spec = asIngress(object).spec ?? {};
    const problems = [];
    if (!spec.rules?.length && !spec.defaultBackend) {
      problems.push(
        fieldErrors.invalid(
          "spec",
          asGo("[]networking.IngressRule", spec.rules),
          "either `defaultBackend` or `rules` must be specified"
        )
      );
    }
    if (spec.defaultBackend)
      problems.push(
        ...backendProblems("spec.defaultBackend", spec.defaultBackend)
      );
    for (const [index, rule] of (spec.rules ?? []).entries()) {
      const path = `spec.rules[${index}]`;
      if (rule.host) problems.push(...hostProblems(`${path}.host`, rule.host));
      if (rule.http && !rule.http.paths?.length)
        problems.push(fieldErrors.required(`${path}.http.paths`));
      for (const [at, one] of (rule.http?.paths ?? []).entries()) {
        const field = `${path}.http.paths[${at}]`;
        if (!one.pathType)
          problems.push(
            fieldErrors.required(
              `${field}.pathType`,
              "pathType must be specified"
            )
          );
        else
          problems.push(
            ...oneOf(`${field}.pathType`, one.pathType, [
              "Exact",
              "ImplementationSpecific",
              "Prefix"
            ])
          );
        problems.push(
          ...pathProblems2(`${field}.path`, one.path ?? "", one.pathType)
        );
        problems.push(...backendProblems(`${field}.backend`, one.backend));
      }
    }
    for (const [index, tls] of (spec.tls ?? []).entries()) {
      for (const [at, host] of (tls.hosts ?? []).entries()) {
        problems.push(...hostProblems(`spec.tls[${index}].hosts[${at}]`, host));
      }
      if (tls.secretName)
        problems.push(
          ...invalidEach(
            `spec.tls[${index}].secretName`,
            tls.secretName,
            dnsSubdomainProblems(tls.secretName)
          )
        );
    }
    if (spec.ingressClassName !== void 0) {
      problems.push(
        ...invalidEach(
          "spec.ingressClassName",
          spec.ingressClassName,
          dnsSubdomainProblems(spec.ingressClassName)
        )
      );
    }
    return problems;
  },
  validateCreate(object) {
    const name = asIngress(object).spec?.ingressClassName;
    const annotated = object.metadata.annotations?.[classAnnotation2];
    return name === void 0 || annotated === void 0 || name === annotated ? [] : [
      fieldErrors.invalid(
        `annotations.${classAnnotation2}`,
        annotated,
        "must match `ingressClassName` when both are specified"
      )
    ];
  },
  warnings: (object, old) => old === void 0 && object.metadata.annotations?.[classAnnotation2] !== void 0 ? [
    `annotation ${JSON.stringify(classAnnotation2)} is deprecated, please use 'spec.ingressClassName' instead`
  ] : [],
  status: {
    prepareForUpdate(object, old) {
      asIngress(object).spec = { ...asIngress(old).spec };
    },
    validateUpdate(object) {
      const points = asIngress(object).status?.loadBalancer?.ingress ?? [];
      return points.flatMap(({ ip, hostname }, index) => {
        const field = `status.loadBalancer.ingress[${index}]`;
        return [
          ...ip ? invalidEach(`${field}.ip`, ip, ipProblems(ip)) : [],
          ...hostname ? hostnameProblems(`${field}.hostname`, hostname) : []
        ];
      });
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asIngress(object);
    const hosts = (spec?.rules ?? []).map(({ host }) => host).filter(Boolean);
    const few = hosts.length > 3 ? `${hosts.slice(0, 3).join(",")} + ${hosts.length - 3} more...` : hosts.join(",");
    const addresses = (status?.loadBalancer?.ingress ?? []).map(
      ({ ip, hostname }) => ip || hostname || ""
    );
    return [
      metadata.name,
      orNone(spec?.ingressClassName),
      few || "*",
      addresses.filter(Boolean).join(","),
      spec?.tls?.length ? "80, 443" : "80",
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var asClass = (object) => object;
var maxControllerBytes = 250;
function parameterProblems(parameters) {
  const field = "spec.parameters";
  const { scope, namespace } = parameters;
  const problems = objectReference(field, parameters);
  if (scope !== void 0)
    problems.push(
      ...exactlyOneOf(`${field}.scope`, scope, ["Cluster", "Namespace"])
    );
  if (scope === "Namespace" && !namespace)
    problems.push(
      fieldErrors.required(
        `${field}.namespace`,
        "`parameters.scope` is set to 'Namespace'"
      )
    );
  else if (scope === "Namespace")
    problems.push(
      ...invalidEach(
        `${field}.namespace`,
        namespace,
        dnsLabelProblems(namespace)
      )
    );
  if (scope === "Cluster" && namespace !== void 0)
    problems.push(
      fieldErrors.forbidden(
        `${field}.namespace`,
        "`parameters.scope` is set to 'Cluster'"
      )
    );
  return problems;
}
var ingressClassStrategy = {
  validate(object) {
    const { spec } = asClass(object);
    if (!spec?.controller) return [fieldErrors.required("spec.controller")];
    return [
      ...Buffer.byteLength(spec.controller) > maxControllerBytes ? [fieldErrors.tooLong("spec.controller", maxControllerBytes)] : [],
      ...domainPrefixedPath("spec.controller", spec.controller),
      ...spec.parameters ? parameterProblems(spec.parameters) : []
    ];
  },
  validateUpdate: (object, old) => immutable(
    "spec.controller",
    asClass(object).spec?.controller,
    asClass(old).spec?.controller
  ),
  printRow: (object, now) => {
    const { metadata, spec } = asClass(object);
    const reference = spec?.parameters;
    const kind2 = reference ? `${reference.kind}${reference.apiGroup ? `.${reference.apiGroup}` : ""}` : "";
    return [
      metadata.name,
      spec?.controller ?? "",
      reference ? `${kind2}/${reference.name}` : "<none>",
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/networking/network-policy.ts
import { BlockList as BlockList2 } from "node:net";
var asPolicy = (object) => object;
function portProblems(field, { port, endPort, protocol }) {
  const problems = oneOf(`${field}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  if (port === void 0 || port === null) {
    if (endPort !== void 0) {
      problems.push(
        fieldErrors.invalid(
          `${field}.endPort`,
          endPort,
          "may not be specified when `port` is not specified"
        )
      );
    }
    return problems;
  }
  if (typeof port === "string") {
    if (endPort !== void 0) {
      problems.push(
        fieldErrors.invalid(
          `${field}.endPort`,
          endPort,
          "may not be specified when `port` is non-numeric"
        )
      );
    }
    return [
      ...problems,
      ...invalidEach(`${field}.port`, port, portNameProblems(port))
    ];
  }
  problems.push(
    ...invalidEach(`${field}.port`, port, portNumberProblems(port))
  );
  if (endPort !== void 0 && endPort < port) {
    problems.push(
      fieldErrors.invalid(
        `${field}.endPort`,
        port,
        "must be greater than or equal to `port`"
      )
    );
  }
  if (endPort !== void 0)
    problems.push(
      ...invalidEach(`${field}.endPort`, endPort, portNumberProblems(endPort))
    );
  return problems;
}
function peerProblems(field, peer) {
  const problems = [
    ...labelSelector(`${field}.podSelector`, peer.podSelector),
    ...labelSelector(`${field}.namespaceSelector`, peer.namespaceSelector)
  ];
  if (!peer.podSelector && !peer.namespaceSelector && !peer.ipBlock) {
    problems.push(fieldErrors.required(field, "must specify a peer"));
  } else if (peer.ipBlock && (peer.podSelector || peer.namespaceSelector)) {
    problems.push(
      fieldErrors.forbidden(
        field,
        "may not specify both ipBlock and another peer"
      )
    );
  }
  if (peer.ipBlock)
    problems.push(...blockProblems(`${field}.ipBlock`, peer.ipBlock));
  return problems;
}
var plainZeros = (cidr) => cidr.replace(/(^|\.)0+(?=[0-9])/g, "$1");
function blockProblems(field, { cidr, except = [] }) {
  if (!cidr) return [fieldErrors.required(`${field}.cidr`)];
  const wrong = cidrProblems(plainZeros(cidr));
  if (wrong.length > 0) return invalidEach(`${field}.cidr`, cidr, wrong);
  return except.flatMap((one, index) => {
    const path = `${field}.except[${index}]`;
    const problems = cidrProblems(plainZeros(one));
    if (problems.length > 0) return invalidEach(path, one, problems);
    return isStrictlyWithin(plainZeros(one), plainZeros(cidr)) ? [] : [fieldErrors.invalid(path, one, "must be a strict subset of `cidr`")];
  });
}
function isStrictlyWithin(inner, outer) {
  const [[address2 = "", bits], [network = "", networkBits]] = [
    inner.split("/"),
    outer.split("/")
  ];
  const family = network.includes(":") ? "ipv6" : "ipv4";
  if (address2.includes(":") !== network.includes(":")) return false;
  const list = new BlockList2();
  list.addSubnet(network, Number(networkBits), family);
  return Number(bits) > Number(networkBits) && list.check(address2, family);
}
function validatePolicy(object) {
  const spec = asPolicy(object).spec;
  if (!spec) return [];
  const problems = labelSelector("spec.podSelector", spec.podSelector);
  for (const [direction, part, rules2] of [
    [
      "ingress",
      "from",
      (spec.ingress ?? []).map((rule) => ({
        ports: rule.ports,
        peers: rule.from
      }))
    ],
    [
      "egress",
      "to",
      (spec.egress ?? []).map((rule) => ({
        ports: rule.ports,
        peers: rule.to
      }))
    ]
  ]) {
    for (const [index, { ports = [], peers = [] }] of rules2.entries()) {
      const path = `spec.${direction}[${index}]`;
      for (const [at, port] of ports.entries())
        problems.push(...portProblems(`${path}.ports[${at}]`, port));
      for (const [at, peer] of peers.entries())
        problems.push(...peerProblems(`${path}.${part}[${at}]`, peer));
    }
  }
  const types4 = spec.policyTypes ?? [];
  if (types4.length > 2) {
    problems.push(
      fieldErrors.invalid(
        "spec.policyTypes",
        asGo("[]networking.PolicyType", types4),
        "may not specify more than two policyTypes"
      )
    );
  }
  for (const [index, type] of types4.entries()) {
    problems.push(
      ...oneOf(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"])
    );
  }
  return problems;
}
var networkPolicyStrategy = {
  validate: validatePolicy,
  // The reference checks the spec once more.
  validateUpdate: validatePolicy,
  printRow: (object, now) => {
    const { metadata, spec } = asPolicy(object);
    return [
      metadata.name,
      selectorColumn(spec?.podSelector),
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/node/runtime-class.ts
var asClass2 = (object) => object;
function tolerationProblems(tolerations) {
  const field = "scheduling.tolerations";
  return tolerations.flatMap((toleration, index) => [
    ...validateTolerations(`${field}.tolerations`, [toleration]),
    ...tolerations.slice(0, index).some((one) => sameValue(one, toleration)) ? [
      fieldErrors.duplicate(
        `${field}[${index}]`,
        asGo("core.Toleration", toleration)
      )
    ] : []
  ]);
}
var runtimeClassStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate(object) {
    const { handler, overhead, scheduling } = asClass2(object);
    return [
      ...invalidEach("handler", handler, dnsLabelProblems(handler ?? "")),
      ...Object.entries(overhead?.podFixed ?? {}).flatMap(
        ([name, value]) => nonNegativeQuantity(`overhead.podFixed[${name}]`, value)
      ),
      ...labels("scheduling.nodeSelector", scheduling?.nodeSelector),
      ...tolerationProblems(scheduling?.tolerations ?? [])
    ];
  },
  validateUpdate: (object, old) => immutable("handler", asClass2(object).handler, asClass2(old).handler),
  printRow: (object, now) => {
    const { metadata, handler } = asClass2(object);
    return [metadata.name, handler, formatAge(metadata.creationTimestamp, now)];
  }
};

// apiserver-lite/resources/policy/pod-disruption-budget.ts
var asBudget = (object) => object;
var shown = (value) => value === void 0 || value === null ? "N/A" : String(value);
var evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];
var podDisruptionBudgetStrategy = {
  // The reference looks at the spec only.
  validateName: () => [],
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    asBudget(object).status = {
      disruptionsAllowed: 0,
      currentHealthy: 0,
      desiredHealthy: 0,
      expectedPods: 0
    };
  },
  prepareForUpdate(object, old) {
    asBudget(object).status = asBudget(old).status;
  },
  validate(object) {
    const spec = asBudget(object).spec ?? {};
    const problems = [];
    if (spec.minAvailable !== void 0 && spec.maxUnavailable !== void 0) {
      problems.push(
        fieldErrors.invalid(
          "spec",
          asGo("policy.PodDisruptionBudgetSpec", spec),
          "minAvailable and maxUnavailable cannot be both set"
        )
      );
    }
    for (const name of ["minAvailable", "maxUnavailable"]) {
      problems.push(...intOrPercent(`spec.${name}`, spec[name]));
      if ((percentOf(spec[name]) ?? 0) > 100) {
        problems.push(
          fieldErrors.invalid(
            `spec.${name}`,
            asGo("intstr.IntOrString", spec[name]),
            "must not be greater than 100%"
          )
        );
      }
    }
    problems.push(...labelSelector("spec.selector", spec.selector));
    return [
      ...problems,
      ...spec.unhealthyPodEvictionPolicy === void 0 || evictionPolicies.includes(spec.unhealthyPodEvictionPolicy) ? [] : [
        fieldErrors.notSupported(
          "spec.unhealthyPodEvictionPolicy",
          spec.unhealthyPodEvictionPolicy,
          evictionPolicies
        )
      ]
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      asBudget(object).spec = { ...asBudget(old).spec };
    },
    validateUpdate(object) {
      const { status } = asBudget(object);
      return [
        ...conditions2("status.conditions", status?.conditions),
        ...[
          "disruptionsAllowed",
          "currentHealthy",
          "desiredHealthy",
          "expectedPods"
        ].flatMap((name) => nonNegative(`status.${name}`, status?.[name]))
      ];
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asBudget(object);
    return [
      metadata.name,
      shown(spec?.minAvailable),
      shown(spec?.maxUnavailable),
      status?.disruptionsAllowed ?? 0,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/rbac/role-binding.ts
var group = "rbac.authorization.k8s.io";
var asBinding = (object) => object;
function subjectProblems2(field, subject, namespaced) {
  const problems = [];
  if (!subject.name) problems.push(fieldErrors.required(`${field}.name`));
  switch (subject.kind) {
    case "ServiceAccount":
      if (subject.name)
        problems.push(
          ...invalidEach(
            `${field}.name`,
            subject.name,
            dnsSubdomainProblems(subject.name)
          )
        );
      if (subject.apiGroup)
        problems.push(
          fieldErrors.notSupported(`${field}.apiGroup`, subject.apiGroup, [""])
        );
      if (!namespaced && !subject.namespace)
        problems.push(fieldErrors.required(`${field}.namespace`));
      return problems;
    case "User":
    case "Group":
      if (subject.apiGroup !== group) {
        problems.push(
          fieldErrors.notSupported(
            `${field}.apiGroup`,
            subject.apiGroup ?? "",
            [group]
          )
        );
      }
      return problems;
    default:
      return [
        ...problems,
        fieldErrors.notSupported(`${field}.kind`, subject.kind, [
          "ServiceAccount",
          "User",
          "Group"
        ])
      ];
  }
}
function bindingStrategyFor(namespaced) {
  const kinds2 = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return {
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: pathSegmentProblems,
    validate: validateBinding2,
    validateUpdate(object, old) {
      const [now, was] = [asBinding(object).roleRef, asBinding(old).roleRef];
      const settled2 = sameValue(now, was) ? [] : [
        fieldErrors.invalid(
          "roleRef",
          asGo("rbac.RoleRef", now),
          "cannot change roleRef"
        )
      ];
      return [...validateBinding2(object), ...settled2];
    },
    printRow: (object, now) => {
      const { metadata, roleRef, subjects = [] } = asBinding(object);
      const names = (kind2) => subjects.filter((subject) => subject.kind === kind2).map(
        ({ name, namespace }) => kind2 === "ServiceAccount" ? `${namespace ?? ""}/${name}` : name
      ).join(", ");
      return [
        metadata.name,
        `${roleRef.kind}/${roleRef.name}`,
        formatAge(metadata.creationTimestamp, now),
        names("User"),
        names("Group"),
        names("ServiceAccount")
      ];
    }
  };
  function validateBinding2(object) {
    const { roleRef, subjects } = asBinding(object);
    const problems = [];
    if (roleRef?.apiGroup !== group) {
      problems.push(
        fieldErrors.notSupported("roleRef.apiGroup", roleRef?.apiGroup ?? "", [
          group
        ])
      );
    }
    if (!kinds2.includes(roleRef?.kind ?? "")) {
      problems.push(
        fieldErrors.notSupported("roleRef.kind", roleRef?.kind ?? "", kinds2)
      );
    }
    if (!roleRef?.name) problems.push(fieldErrors.required("roleRef.name"));
    else
      problems.push(
        ...invalidEach(
          "roleRef.name",
          roleRef.name,
          pathSegmentProblems(roleRef.name)
        )
      );
    for (const [index, subject] of (subjects ?? []).entries()) {
      problems.push(
        ...subjectProblems2(`subjects[${index}]`, subject, namespaced)
      );
    }
    return problems;
  }
}
var roleBindingStrategy = bindingStrategyFor(true);
var clusterRoleBindingStrategy = bindingStrategyFor(false);

// apiserver-lite/resources/rbac/role.ts
function ruleProblems2(field, rule, namespaced) {
  const problems = [];
  if (!rule.verbs?.length)
    problems.push(
      fieldErrors.required(
        `${field}.verbs`,
        "verbs must contain at least one value"
      )
    );
  if (rule.nonResourceURLs?.length) {
    if (namespaced) {
      problems.push(
        fieldErrors.invalid(
          `${field}.nonResourceURLs`,
          rule.nonResourceURLs,
          "namespaced rules cannot apply to non-resource URLs"
        )
      );
    }
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
      problems.push(
        fieldErrors.invalid(
          `${field}.nonResourceURLs`,
          rule.nonResourceURLs,
          "rules cannot apply to both regular resources and non-resource URLs"
        )
      );
    }
    return problems;
  }
  if (!rule.apiGroups?.length) {
    problems.push(
      fieldErrors.required(
        `${field}.apiGroups`,
        "resource rules must supply at least one api group"
      )
    );
  }
  if (!rule.resources?.length) {
    problems.push(
      fieldErrors.required(
        `${field}.resources`,
        "resource rules must supply at least one resource"
      )
    );
  }
  return problems;
}
function roleStrategyFor(namespaced) {
  return {
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: pathSegmentProblems,
    // The reference checks a changed role twice.
    validateUpdate: (object) => validateRole(object),
    validate: (object) => validateRole(object)
  };
  function validateRole(object) {
    const { rules: rules2, aggregationRule } = object;
    const problems = (rules2 ?? []).flatMap(
      (rule, index) => ruleProblems2(`rules[${index}]`, rule, namespaced)
    );
    if (aggregationRule && !namespaced) {
      const selectors = aggregationRule.clusterRoleSelectors ?? [];
      if (selectors.length === 0) {
        problems.push(
          fieldErrors.required(
            "aggregationRule.clusterRoleSelectors",
            "at least one clusterRoleSelector required if aggregationRule is non-nil"
          )
        );
      }
      for (const [index, selector] of selectors.entries()) {
        const field = `aggregationRule.clusterRoleSelectors[${index}]`;
        const wrong = labelSelector(field, selector);
        problems.push(
          ...wrong,
          ...wrong.length > 0 ? [fieldErrors.invalid(field, null, "invalid label selector.")] : []
        );
      }
    }
    return problems;
  }
}
var roleStrategy = roleStrategyFor(true);
var clusterRoleStrategy = roleStrategyFor(false);

// apiserver-lite/resources/scheduling/priority-class.ts
var asClass3 = (object) => object;
var maxUserPriority = 1e9;
var systemClasses = {
  "system-cluster-critical": 2e9,
  "system-node-critical": 2000001e3
};
var systemProblem = (name) => name in systemClasses ? `value of ${name} PriorityClass must be ${systemClasses[name]}` : `${name} is not a known system priority class`;
var priorityClassStrategy = {
  countsGeneration: "created",
  refuseDeletion: ({ metadata }) => metadata.name in systemClasses ? "this is a system priority class and cannot be deleted" : void 0,
  validateCreate(object) {
    const { metadata, value, preemptionPolicy } = asClass3(object);
    const problems = [];
    if (metadata.name.startsWith("system-")) {
      if (systemClasses[metadata.name] !== value) {
        problems.push(
          fieldErrors.forbidden(
            "metadata.name",
            `priority class names with 'system-' prefix are reserved for system use only. error: ${systemProblem(metadata.name)}`
          )
        );
      }
    } else if (value > maxUserPriority) {
      problems.push(
        fieldErrors.forbidden(
          "value",
          `maximum allowed value of a user defined priority is ${maxUserPriority}`
        )
      );
    }
    problems.push(
      ...oneOf(
        "preemptionPolicy",
        preemptionPolicy,
        ["PreemptLowerPriority", "Never"],
        true
      )
    );
    return problems;
  },
  validateUpdate(object, old) {
    const [now, was] = [asClass3(object), asClass3(old)];
    const problems = [];
    if ((now.value ?? 0) !== (was.value ?? 0)) {
      problems.push(
        fieldErrors.forbidden("value", "may not be changed in an update.")
      );
    }
    return [
      ...problems,
      ...immutable(
        "preemptionPolicy",
        now.preemptionPolicy,
        was.preemptionPolicy
      )
    ];
  },
  printRow: (object, now) => {
    const { metadata, value, globalDefault, preemptionPolicy } = asClass3(object);
    return [
      metadata.name,
      value ?? 0,
      globalDefault ?? false,
      formatAge(metadata.creationTimestamp, now),
      preemptionPolicy ?? ""
    ];
  }
};

// apiserver-lite/resources/storage/csi.ts
var minTokenSeconds = 600;
var maxTokenSeconds = 2 ** 32;
var maxDriverNameBytes = 63;
var maxNodeIdLength = 256;
var maxErrorLength = 1024;
var toldErrorBytes = 262144;
var asDriver = (object) => object;
function tokenProblems({ spec }) {
  const audiences = /* @__PURE__ */ new Set();
  return (spec.tokenRequests ?? []).flatMap((request, index) => {
    const field = `spec.tokenRequests[${index}]`;
    const { audience, expirationSeconds } = request;
    if (audiences.has(audience))
      return [fieldErrors.duplicate(`${field}.audience`, audience)];
    audiences.add(audience);
    if (expirationSeconds === void 0) return [];
    const invalid = (text) => fieldErrors.invalid(
      `${field}.expirationSeconds`,
      expirationSeconds,
      text
    );
    if (expirationSeconds < minTokenSeconds)
      return [invalid("may not specify a duration less than 10 minutes")];
    return expirationSeconds > maxTokenSeconds ? [invalid("may not specify a duration larger than 2^32 seconds")] : [];
  });
}
var csiDriverStrategy = {
  countsGeneration: "changed",
  allowUnconditionalUpdate: false,
  validate(object) {
    const driver = asDriver(object);
    const { volumeLifecycleModes = [], fsGroupPolicy } = driver.spec;
    return [
      ...tokenProblems(driver),
      ...fsGroupPolicy === void 0 ? [] : exactlyOneOf("spec.fsGroupPolicy", fsGroupPolicy, [
        "File",
        "None",
        "ReadWriteOnceWithFSType"
      ]),
      ...volumeLifecycleModes.flatMap(
        (mode) => exactlyOneOf("spec.volumeLifecycleModes", mode, [
          "Persistent",
          "Ephemeral"
        ])
      )
    ];
  },
  validateUpdate(object, old) {
    const [now, was] = [asDriver(object).spec, asDriver(old).spec];
    return [
      ...immutable(
        "spec.attachedRequired",
        now.attachRequired,
        was.attachRequired
      ),
      ...immutable(
        "spec.volumeLifecycleModes",
        now.volumeLifecycleModes,
        was.volumeLifecycleModes,
        "[]storage.VolumeLifecycleMode"
      )
    ];
  },
  printRow: (object, now) => {
    const { metadata, spec } = asDriver(object);
    return [
      metadata.name,
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.length ? spec.tokenRequests.map(({ audience }) => audience).join(",") : "<unset>",
      spec.requiresRepublish ?? false,
      spec.volumeLifecycleModes?.join(",") || "<none>",
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var asNode2 = (object) => object;
function driverNameProblems(field, name) {
  return [
    ...name ? [] : [fieldErrors.required(field)],
    ...Buffer.byteLength(name) > maxDriverNameBytes ? [fieldErrors.tooLong(field, maxDriverNameBytes)] : [],
    ...invalidEach(field, name, dnsSubdomainProblems(name.toLowerCase()))
  ];
}
function nodeDriverProblems(field, driver) {
  const { name, nodeID, allocatable, topologyKeys = [] } = driver;
  const keys = topologyKeys.flatMap((key2, index) => [
    ...key2 ? [] : [fieldErrors.required(field)],
    ...topologyKeys.indexOf(key2) < index ? [fieldErrors.duplicate(field, key2)] : [],
    ...invalidEach(field, key2, labelKeyProblems(key2))
  ]);
  return [
    ...driverNameProblems(`${field}.name`, name),
    ...nodeID ? [] : [fieldErrors.required(`${field}.nodeID`)],
    ...nodeID.length > maxNodeIdLength ? [
      fieldErrors.invalid(
        `${field}.nodeID`,
        nodeID,
        `must be ${maxNodeIdLength} characters or less`
      )
    ] : [],
    ...nonNegative(`${field}.allocatable.count`, allocatable?.count),
    ...keys
  ];
}
var csiNodeStrategy = {
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  validate(object) {
    const drivers = asNode2(object).spec.drivers ?? [];
    const names = /* @__PURE__ */ new Set();
    return drivers.flatMap((driver, index) => {
      const field = `spec.drivers[${index}]`;
      const problems = nodeDriverProblems(field, driver);
      if (names.has(driver.name))
        problems.push(fieldErrors.duplicate(`${field}.name`, driver.name));
      names.add(driver.name);
      return problems;
    });
  },
  validateUpdate(object, old) {
    const was = new Map(
      (asNode2(old).spec.drivers ?? []).map((driver) => [driver.name, driver])
    );
    return (asNode2(object).spec.drivers ?? []).filter(({ name }) => was.has(name)).flatMap(
      (driver) => immutable(
        "CSINodeDriver",
        driver,
        was.get(driver.name),
        "storage.CSINodeDriver"
      )
    );
  },
  printRow: (object, now) => {
    const { metadata, spec } = asNode2(object);
    return [
      metadata.name,
      spec.drivers?.length ?? 0,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var asAttachment = (object) => object;
function sourceProblems({ spec }) {
  const field = "spec.source";
  const { inlineVolumeSpec, persistentVolumeName } = spec.source ?? {};
  const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inlineVolumeSpec && persistentVolumeName !== void 0)
    return [fieldErrors.forbidden(field, one)];
  if (inlineVolumeSpec)
    return inlineVolumeSpec.capacity ? [
      fieldErrors.forbidden(
        `${field}.inlineVolumeSpec.capacity`,
        "may not be specified in the context of inline volumes"
      )
    ] : [];
  if (persistentVolumeName === void 0)
    return [fieldErrors.required(field, one)];
  return persistentVolumeName ? [] : [
    fieldErrors.required(
      `${field}.persistentVolumeName`,
      "must specify non empty persistentVolumeName"
    )
  ];
}
var volumeAttachmentStrategy = {
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    asAttachment(object).status = { attached: false };
  },
  validate(object) {
    const { spec } = asAttachment(object);
    return [
      ...spec.attacher ? [] : [fieldErrors.required("spec.attacher")],
      ...sourceProblems(asAttachment(object)),
      ...invalidEach(
        "spec.nodeName",
        spec.nodeName,
        dnsSubdomainProblems(spec.nodeName)
      )
    ];
  },
  validateCreate(object) {
    const { attacher, source } = asAttachment(object).spec;
    const name = source?.persistentVolumeName;
    return [
      ...driverNameProblems("spec.attacher", attacher),
      ...name === void 0 || source?.inlineVolumeSpec ? [] : invalidEach(
        "spec.source.persistentVolumeName",
        name,
        dnsSubdomainProblems(name)
      )
    ];
  },
  validateUpdate: (object, old) => immutable(
    "spec",
    asAttachment(object).spec,
    asAttachment(old).spec,
    "storage.VolumeAttachmentSpec"
  ),
  status: {
    prepareForUpdate(object, old) {
      asAttachment(object).spec = asAttachment(old).spec;
    },
    validateUpdate(object) {
      const { status } = asAttachment(object);
      return ["attachError", "detachError"].filter(
        (name) => (status?.[name]?.message?.length ?? 0) > maxErrorLength
      ).flatMap((name) => {
        const long = fieldErrors.tooLong(
          `status.${name}.message`,
          toldErrorBytes
        );
        return [long, long];
      });
    }
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asAttachment(object);
    return [
      metadata.name,
      spec.attacher,
      spec.source.persistentVolumeName ?? "",
      spec.nodeName,
      status?.attached ?? false,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};
var volumeAttributesClassStrategy = {
  countsGeneration: false,
  validateUpdate: (object, old) => [
    ...immutable("driverName", object["driverName"], old["driverName"]),
    ...immutable("parameters", object["parameters"], old["parameters"])
  ],
  printRow: (object, now) => [
    object.metadata.name,
    String(object["driverName"] ?? ""),
    formatAge(object.metadata.creationTimestamp, now)
  ]
};
var asCapacity = (object) => object;
var csiStorageCapacityStrategy = {
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  validate(object) {
    const {
      nodeTopology,
      storageClassName = "",
      capacity
    } = asCapacity(object);
    return [
      ...labelSelector("nodeTopology", nodeTopology),
      ...invalidEach(
        "storageClassName",
        storageClassName,
        dnsSubdomainProblems(storageClassName)
      ),
      ...capacity === void 0 ? [] : nonNegativeQuantity("capacity", capacity)
    ];
  },
  validateUpdate(object, old) {
    const [now, was] = [asCapacity(object), asCapacity(old)];
    return [
      ...sameValue(now.nodeTopology, was.nodeTopology) ? [] : [
        fieldErrors.invalid(
          "nodeTopology",
          asGo("*v1.LabelSelector", now.nodeTopology),
          "field is immutable"
        )
      ],
      ...immutable(
        "storageClassName",
        now.storageClassName,
        was.storageClassName
      )
    ];
  }
};

// apiserver-lite/resources/storage/storage-class.ts
var asClass4 = (object) => object;
var defaultMarks = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class"
];
var maxParameterBytes = 256 * 1024;
function topologyProblems(terms) {
  const seen = /* @__PURE__ */ new Set([""]);
  return terms.flatMap(({ matchLabelExpressions = [] }, index) => {
    const field = `allowedTopologies[${index}].matchLabelExpressions`;
    const problems = [];
    const keys = /* @__PURE__ */ new Map();
    for (const [at, { key: key2, values }] of matchLabelExpressions.entries()) {
      const path = `${field}[${at}]`;
      const given = values ?? [];
      if (given.length === 0)
        problems.push(fieldErrors.required(`${path}.values`));
      for (const [place, value] of given.entries())
        if (given.indexOf(value) < place)
          problems.push(
            fieldErrors.duplicate(`${path}.values[${place}]`, value)
          );
      if (keys.has(key2))
        problems.push(fieldErrors.duplicate(`${path}.key`, key2));
      keys.set(key2, [...given].sort().join());
      problems.push(...invalidEach(`${path}.key`, key2, labelKeyProblems(key2)));
    }
    const term = [...keys].sort().join(";");
    if (seen.has(term)) problems.push(fieldErrors.duplicate(field, ""));
    seen.add(term);
    return problems;
  });
}
var storageClassStrategy = {
  countsGeneration: false,
  validate(object) {
    const { provisioner, reclaimPolicy, volumeBindingMode, parameters } = asClass4(object);
    const problems = provisioner ? invalidEach(
      "provisioner",
      provisioner,
      qualifiedNameProblems(provisioner.toLowerCase())
    ) : [fieldErrors.required("provisioner")];
    if (Object.keys(parameters ?? {}).some((key2) => key2 === "")) {
      problems.push(
        fieldErrors.invalid("parameters", "", "field can not be empty.")
      );
    }
    const bytes = Object.entries(parameters ?? {}).reduce(
      (sum, [key2, value]) => sum + Buffer.byteLength(key2) + Buffer.byteLength(value),
      0
    );
    if (bytes > maxParameterBytes)
      problems.push(fieldErrors.tooLong("parameters", maxParameterBytes));
    problems.push(
      ...oneOf("reclaimPolicy", reclaimPolicy, ["Delete", "Retain"])
    );
    return [
      ...problems,
      ...exactlyOneOf("volumeBindingMode", volumeBindingMode, [
        "Immediate",
        "WaitForFirstConsumer"
      ]),
      ...topologyProblems(asClass4(object).allowedTopologies ?? [])
    ];
  },
  validateUpdate(object, old) {
    const [now, was] = [asClass4(object), asClass4(old)];
    const problems = [];
    const settled2 = ["parameters", "provisioner", "reclaimPolicy"];
    for (const name of settled2) {
      if (!sameValue(now[name], was[name])) {
        problems.push(
          fieldErrors.forbidden(name, `updates to ${name} are forbidden.`)
        );
      }
    }
    if (!sameValue(now.volumeBindingMode, was.volumeBindingMode)) {
      problems.push(
        fieldErrors.invalid(
          "volumeBindingMode",
          now.volumeBindingMode,
          "field is immutable"
        )
      );
    }
    return problems;
  },
  printRow: (object, now) => {
    const {
      metadata,
      provisioner,
      reclaimPolicy,
      volumeBindingMode,
      allowVolumeExpansion
    } = asClass4(object);
    const isDefault = defaultMarks.some(
      (mark2) => metadata.annotations?.[mark2] === "true"
    );
    return [
      isDefault ? `${metadata.name} (default)` : metadata.name,
      provisioner,
      reclaimPolicy ?? "Delete",
      volumeBindingMode ?? "Immediate",
      allowVolumeExpansion ?? false,
      formatAge(metadata.creationTimestamp, now)
    ];
  }
};

// apiserver-lite/resources/index.ts
var strategies = /* @__PURE__ */ new Map([
  ["/configmaps", configMapStrategy],
  ["/endpoints", endpointsStrategy],
  ["/events", eventStrategy],
  ["/limitranges", limitRangeStrategy],
  ["/namespaces", namespaceStrategy],
  ["/nodes", nodeStrategy],
  ["/persistentvolumeclaims", persistentVolumeClaimStrategy],
  ["/persistentvolumes", persistentVolumeStrategy],
  ["/pods", podStrategy],
  ["/podtemplates", podTemplateStrategy],
  ["/replicationcontrollers", replicationControllerStrategy],
  ["/resourcequotas", resourceQuotaStrategy],
  ["/secrets", secretStrategy],
  ["/serviceaccounts", serviceAccountStrategy],
  [
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    webhookConfigurationStrategy
  ],
  [
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    admissionPolicyStrategy
  ],
  [
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    admissionPolicyBindingStrategy
  ],
  [
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    webhookConfigurationStrategy
  ],
  [
    "apiextensions.k8s.io/customresourcedefinitions",
    customResourceDefinitionStrategy
  ],
  ["apiregistration.k8s.io/apiservices", apiServiceStrategy],
  ["apps/controllerrevisions", controllerRevisionStrategy],
  ["apps/daemonsets", daemonSetStrategy],
  ["apps/deployments", deploymentStrategy],
  ["apps/replicasets", replicaSetStrategy],
  ["apps/statefulsets", statefulSetStrategy],
  ["autoscaling/horizontalpodautoscalers", horizontalPodAutoscalerStrategy],
  ["batch/cronjobs", cronJobStrategy],
  ["batch/jobs", jobStrategy],
  [
    "certificates.k8s.io/certificatesigningrequests",
    certificateSigningRequestStrategy
  ],
  ["coordination.k8s.io/leases", leaseStrategy],
  ["discovery.k8s.io/endpointslices", endpointSliceStrategy],
  ["events.k8s.io/events", newEventStrategy],
  ["flowcontrol.apiserver.k8s.io/flowschemas", flowSchemaStrategy],
  [
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
    priorityLevelStrategy
  ],
  ["networking.k8s.io/ingressclasses", ingressClassStrategy],
  ["networking.k8s.io/ingresses", ingressStrategy],
  ["networking.k8s.io/networkpolicies", networkPolicyStrategy],
  ["node.k8s.io/runtimeclasses", runtimeClassStrategy],
  ["policy/poddisruptionbudgets", podDisruptionBudgetStrategy],
  ["rbac.authorization.k8s.io/clusterrolebindings", clusterRoleBindingStrategy],
  ["rbac.authorization.k8s.io/clusterroles", clusterRoleStrategy],
  ["rbac.authorization.k8s.io/rolebindings", roleBindingStrategy],
  ["rbac.authorization.k8s.io/roles", roleStrategy],
  ["scheduling.k8s.io/priorityclasses", priorityClassStrategy],
  ["storage.k8s.io/csidrivers", csiDriverStrategy],
  ["storage.k8s.io/csinodes", csiNodeStrategy],
  ["storage.k8s.io/csistoragecapacities", csiStorageCapacityStrategy],
  ["storage.k8s.io/storageclasses", storageClassStrategy],
  ["storage.k8s.io/volumeattachments", volumeAttachmentStrategy],
  ["storage.k8s.io/volumeattributesclasses", volumeAttributesClassStrategy]
]);
function createStrategies(options = {}) {
  const services = createServiceStrategy(options.services);
  const { allowPrivileged = true } = options;
  return (group2, resource) => {
    if (group2 === "" && resource === "services") return services;
    const strategy = strategies.get(`${group2}/${resource}`);
    return strategy && !allowPrivileged ? withoutPrivileged(group2, resource, strategy) : strategy;
  };
}
var stateless = createStrategies();
function strategyFor(group2, resource) {
  return stateless(group2, resource);
}

// api/facts/resources.json
var resources_default = {
  groups: [
    { group: "", preferred: "v1", versions: ["v1"] },
    { group: "apiregistration.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "apps", preferred: "v1", versions: ["v1"] },
    { group: "events.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "authentication.k8s.io", preferred: "v1", versions: ["v1", "v1beta1"] },
    { group: "authorization.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "autoscaling", preferred: "v2", versions: ["v2", "v1"] },
    { group: "batch", preferred: "v1", versions: ["v1"] },
    { group: "certificates.k8s.io", preferred: "v1", versions: ["v1", "v1alpha1"] },
    { group: "networking.k8s.io", preferred: "v1", versions: ["v1", "v1beta1"] },
    { group: "policy", preferred: "v1", versions: ["v1"] },
    { group: "rbac.authorization.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "storage.k8s.io", preferred: "v1", versions: ["v1", "v1beta1", "v1alpha1"] },
    { group: "admissionregistration.k8s.io", preferred: "v1", versions: ["v1", "v1beta1", "v1alpha1"] },
    { group: "apiextensions.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "scheduling.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "coordination.k8s.io", preferred: "v1", versions: ["v1", "v1alpha2"] },
    { group: "node.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "discovery.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "resource.k8s.io", preferred: "v1beta1", versions: ["v1beta1", "v1alpha3"] },
    { group: "flowcontrol.apiserver.k8s.io", preferred: "v1", versions: ["v1"] },
    { group: "internal.apiserver.k8s.io", preferred: "v1alpha1", versions: ["v1alpha1"] },
    { group: "storagemigration.k8s.io", preferred: "v1alpha1", versions: ["v1alpha1"] }
  ],
  groupVersions: [
    { apiVersion: "v1", group: "", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "bindings", kind: "Binding", singular: "binding", shortNames: [], categories: [], namespaced: true, verbs: ["create"] },
      { resource: "componentstatuses", kind: "ComponentStatus", singular: "componentstatus", shortNames: ["cs"], categories: [], namespaced: false, verbs: ["get", "list"] },
      { resource: "configmaps", kind: "ConfigMap", singular: "configmap", shortNames: ["cm"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "qFsyl6wFWjQ=", storageVersion: "v1", etcdPrefix: "/registry/configmaps" },
      { resource: "endpoints", kind: "Endpoints", singular: "endpoints", shortNames: ["ep"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "fWeeMqaN/OA=", storageVersion: "v1", etcdPrefix: "/registry/services/endpoints" },
      { resource: "events", kind: "Event", singular: "event", shortNames: ["ev"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "r2yiGXH7wu8=", storageVersion: "v1", etcdPrefix: "/registry/events" },
      { resource: "limitranges", kind: "LimitRange", singular: "limitrange", shortNames: ["limits"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "EBKMFVe6cwo=", storageVersion: "v1", etcdPrefix: "/registry/limitranges" },
      { resource: "namespaces", kind: "Namespace", singular: "namespace", shortNames: ["ns"], categories: [], namespaced: false, verbs: ["create", "delete", "get", "list", "patch", "update", "watch"], storageVersionHash: "Q3oi5N2YM8M=", storageVersion: "v1", etcdPrefix: "/registry/namespaces", subresources: [{ name: "finalize", kind: "Namespace", verbs: ["update"] }, { name: "status", kind: "Namespace", verbs: ["get", "patch", "update"] }] },
      { resource: "nodes", kind: "Node", singular: "node", shortNames: ["no"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "XwShjMxG9Fs=", storageVersion: "v1", etcdPrefix: "/registry/minions", subresources: [{ name: "proxy", kind: "NodeProxyOptions", verbs: ["create", "delete", "get", "patch", "update"] }, { name: "status", kind: "Node", verbs: ["get", "patch", "update"] }] },
      { resource: "persistentvolumeclaims", kind: "PersistentVolumeClaim", singular: "persistentvolumeclaim", shortNames: ["pvc"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "QWTyNDq0dC4=", storageVersion: "v1", etcdPrefix: "/registry/persistentvolumeclaims", subresources: [{ name: "status", kind: "PersistentVolumeClaim", verbs: ["get", "patch", "update"] }] },
      { resource: "persistentvolumes", kind: "PersistentVolume", singular: "persistentvolume", shortNames: ["pv"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "HN/zwEC+JgM=", storageVersion: "v1", etcdPrefix: "/registry/persistentvolumes", subresources: [{ name: "status", kind: "PersistentVolume", verbs: ["get", "patch", "update"] }] },
      { resource: "pods", kind: "Pod", singular: "pod", shortNames: ["po"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "xPOwRZ+Yhw8=", storageVersion: "v1", etcdPrefix: "/registry/pods", subresources: [{ name: "attach", kind: "PodAttachOptions", verbs: ["create", "get"] }, { name: "binding", kind: "Binding", verbs: ["create"] }, { name: "ephemeralcontainers", kind: "Pod", verbs: ["get", "patch", "update"] }, { name: "eviction", kind: "Eviction", verbs: ["create"], apiVersion: "policy/v1" }, { name: "exec", kind: "PodExecOptions", verbs: ["create", "get"] }, { name: "log", kind: "Pod", verbs: ["get"] }, { name: "portforward", kind: "PodPortForwardOptions", verbs: ["create", "get"] }, { name: "proxy", kind: "PodProxyOptions", verbs: ["create", "delete", "get", "patch", "update"] }, { name: "resize", kind: "Pod", verbs: ["get", "patch", "update"], featureGate: "InPlacePodVerticalScaling" }, { name: "status", kind: "Pod", verbs: ["get", "patch", "update"] }] },
      { resource: "podtemplates", kind: "PodTemplate", singular: "podtemplate", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "LIXB2x4IFpk=", storageVersion: "v1", etcdPrefix: "/registry/podtemplates" },
      { resource: "replicationcontrollers", kind: "ReplicationController", singular: "replicationcontroller", shortNames: ["rc"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Jond2If31h0=", storageVersion: "v1", etcdPrefix: "/registry/controllers", subresources: [{ name: "scale", kind: "Scale", verbs: ["get", "patch", "update"], apiVersion: "autoscaling/v1" }, { name: "status", kind: "ReplicationController", verbs: ["get", "patch", "update"] }] },
      { resource: "resourcequotas", kind: "ResourceQuota", singular: "resourcequota", shortNames: ["quota"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "8uhSgffRX6w=", storageVersion: "v1", etcdPrefix: "/registry/resourcequotas", subresources: [{ name: "status", kind: "ResourceQuota", verbs: ["get", "patch", "update"] }] },
      { resource: "secrets", kind: "Secret", singular: "secret", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "S6u1pOWzb84=", storageVersion: "v1", etcdPrefix: "/registry/secrets" },
      { resource: "serviceaccounts", kind: "ServiceAccount", singular: "serviceaccount", shortNames: ["sa"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "pbx9ZvyFpBE=", storageVersion: "v1", etcdPrefix: "/registry/serviceaccounts", subresources: [{ name: "token", kind: "TokenRequest", verbs: ["create"], apiVersion: "authentication.k8s.io/v1" }] },
      { resource: "services", kind: "Service", singular: "service", shortNames: ["svc"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "0/CO1lhkEBI=", storageVersion: "v1", etcdPrefix: "/registry/services/specs", subresources: [{ name: "proxy", kind: "ServiceProxyOptions", verbs: ["create", "delete", "get", "patch", "update"] }, { name: "status", kind: "Service", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "apiregistration.k8s.io/v1", group: "apiregistration.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "apiservices", kind: "APIService", singular: "apiservice", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "InPBPD7+PqM=", storageVersion: "apiregistration.k8s.io/v1", etcdPrefix: "/registry/apiregistration.k8s.io/apiservices", subresources: [{ name: "status", kind: "APIService", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "apps/v1", group: "apps", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "controllerrevisions", kind: "ControllerRevision", singular: "controllerrevision", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "85nkx63pcBU=", storageVersion: "apps/v1", etcdPrefix: "/registry/controllerrevisions" },
      { resource: "daemonsets", kind: "DaemonSet", singular: "daemonset", shortNames: ["ds"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "dd7pWHUlMKQ=", storageVersion: "apps/v1", etcdPrefix: "/registry/daemonsets", subresources: [{ name: "status", kind: "DaemonSet", verbs: ["get", "patch", "update"] }] },
      { resource: "deployments", kind: "Deployment", singular: "deployment", shortNames: ["deploy"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "8aSe+NMegvE=", storageVersion: "apps/v1", etcdPrefix: "/registry/deployments", subresources: [{ name: "scale", kind: "Scale", verbs: ["get", "patch", "update"], apiVersion: "autoscaling/v1" }, { name: "status", kind: "Deployment", verbs: ["get", "patch", "update"] }] },
      { resource: "replicasets", kind: "ReplicaSet", singular: "replicaset", shortNames: ["rs"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "P1RzHs8/mWQ=", storageVersion: "apps/v1", etcdPrefix: "/registry/replicasets", subresources: [{ name: "scale", kind: "Scale", verbs: ["get", "patch", "update"], apiVersion: "autoscaling/v1" }, { name: "status", kind: "ReplicaSet", verbs: ["get", "patch", "update"] }] },
      { resource: "statefulsets", kind: "StatefulSet", singular: "statefulset", shortNames: ["sts"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "H+vl74LkKdo=", storageVersion: "apps/v1", etcdPrefix: "/registry/statefulsets", subresources: [{ name: "scale", kind: "Scale", verbs: ["get", "patch", "update"], apiVersion: "autoscaling/v1" }, { name: "status", kind: "StatefulSet", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "events.k8s.io/v1", group: "events.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "events", kind: "Event", singular: "event", shortNames: ["ev"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "r2yiGXH7wu8=", storageVersion: "v1", etcdPrefix: "/registry/events" }
    ] },
    { apiVersion: "authentication.k8s.io/v1", group: "authentication.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "selfsubjectreviews", kind: "SelfSubjectReview", singular: "selfsubjectreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] },
      { resource: "tokenreviews", kind: "TokenReview", singular: "tokenreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] }
    ] },
    { apiVersion: "authentication.k8s.io/v1beta1", group: "authentication.k8s.io", version: "v1beta1", stability: "beta", enabledByDefault: false, preferred: false, resources: [
      { resource: "selfsubjectreviews", kind: "SelfSubjectReview", singular: "selfsubjectreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] }
    ] },
    { apiVersion: "authorization.k8s.io/v1", group: "authorization.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "localsubjectaccessreviews", kind: "LocalSubjectAccessReview", singular: "localsubjectaccessreview", shortNames: [], categories: [], namespaced: true, verbs: ["create"] },
      { resource: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview", singular: "selfsubjectaccessreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] },
      { resource: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview", singular: "selfsubjectrulesreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] },
      { resource: "subjectaccessreviews", kind: "SubjectAccessReview", singular: "subjectaccessreview", shortNames: [], categories: [], namespaced: false, verbs: ["create"] }
    ] },
    { apiVersion: "autoscaling/v2", group: "autoscaling", version: "v2", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", singular: "horizontalpodautoscaler", shortNames: ["hpa"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "qwQve8ut294=", storageVersion: "autoscaling/v2", etcdPrefix: "/registry/horizontalpodautoscalers", subresources: [{ name: "status", kind: "HorizontalPodAutoscaler", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "autoscaling/v1", group: "autoscaling", version: "v1", stability: "GA", enabledByDefault: true, preferred: false, resources: [
      { resource: "horizontalpodautoscalers", kind: "HorizontalPodAutoscaler", singular: "horizontalpodautoscaler", shortNames: ["hpa"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "qwQve8ut294=", storageVersion: "autoscaling/v2", etcdPrefix: "/registry/horizontalpodautoscalers", subresources: [{ name: "status", kind: "HorizontalPodAutoscaler", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "batch/v1", group: "batch", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "cronjobs", kind: "CronJob", singular: "cronjob", shortNames: ["cj"], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "sd5LIXh4Fjs=", storageVersion: "batch/v1", etcdPrefix: "/registry/cronjobs", subresources: [{ name: "status", kind: "CronJob", verbs: ["get", "patch", "update"] }] },
      { resource: "jobs", kind: "Job", singular: "job", shortNames: [], categories: ["all"], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "mudhfqk/qZY=", storageVersion: "batch/v1", etcdPrefix: "/registry/jobs", subresources: [{ name: "status", kind: "Job", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "certificates.k8s.io/v1", group: "certificates.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "certificatesigningrequests", kind: "CertificateSigningRequest", singular: "certificatesigningrequest", shortNames: ["csr"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "95fRKMXA+00=", storageVersion: "certificates.k8s.io/v1", etcdPrefix: "/registry/certificatesigningrequests", subresources: [{ name: "approval", kind: "CertificateSigningRequest", verbs: ["get", "patch", "update"] }, { name: "status", kind: "CertificateSigningRequest", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "certificates.k8s.io/v1alpha1", group: "certificates.k8s.io", version: "v1alpha1", stability: "alpha", enabledByDefault: false, preferred: false, resources: [
      { resource: "clustertrustbundles", kind: "ClusterTrustBundle", singular: "clustertrustbundle", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], featureGate: "ClusterTrustBundle", storageVersionHash: "XGGGW2kGm+w=", storageVersion: "certificates.k8s.io/v1alpha1", etcdPrefix: "/registry/clustertrustbundles" }
    ] },
    { apiVersion: "networking.k8s.io/v1", group: "networking.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "ingressclasses", kind: "IngressClass", singular: "ingressclass", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "l/iqIbDgFyQ=", storageVersion: "networking.k8s.io/v1", etcdPrefix: "/registry/ingressclasses" },
      { resource: "ingresses", kind: "Ingress", singular: "ingress", shortNames: ["ing"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "39NQlfNR+bo=", storageVersion: "networking.k8s.io/v1", etcdPrefix: "/registry/ingress", subresources: [{ name: "status", kind: "Ingress", verbs: ["get", "patch", "update"] }] },
      { resource: "networkpolicies", kind: "NetworkPolicy", singular: "networkpolicy", shortNames: ["netpol"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "YpfwF18m1G8=", storageVersion: "networking.k8s.io/v1", etcdPrefix: "/registry/networkpolicies" }
    ] },
    { apiVersion: "networking.k8s.io/v1beta1", group: "networking.k8s.io", version: "v1beta1", stability: "beta", enabledByDefault: false, preferred: false, resources: [
      { resource: "ipaddresses", kind: "IPAddress", singular: "ipaddress", shortNames: ["ip"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "O4H8VxQhW5Y=", storageVersion: "networking.k8s.io/v1beta1", etcdPrefix: "/registry/ipaddresses" },
      { resource: "servicecidrs", kind: "ServiceCIDR", singular: "servicecidr", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "8ufAXOnr3Yg=", storageVersion: "networking.k8s.io/v1beta1", etcdPrefix: "/registry/servicecidrs", subresources: [{ name: "status", kind: "ServiceCIDR", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "policy/v1", group: "policy", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "poddisruptionbudgets", kind: "PodDisruptionBudget", singular: "poddisruptionbudget", shortNames: ["pdb"], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "EVWiDmWqyJw=", storageVersion: "policy/v1", etcdPrefix: "/registry/poddisruptionbudgets", subresources: [{ name: "status", kind: "PodDisruptionBudget", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "rbac.authorization.k8s.io/v1", group: "rbac.authorization.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "clusterrolebindings", kind: "ClusterRoleBinding", singular: "clusterrolebinding", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "48tpQ8gZHFc=", storageVersion: "rbac.authorization.k8s.io/v1", etcdPrefix: "/registry/clusterrolebindings" },
      { resource: "clusterroles", kind: "ClusterRole", singular: "clusterrole", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "bYE5ZWDrJ44=", storageVersion: "rbac.authorization.k8s.io/v1", etcdPrefix: "/registry/clusterroles" },
      { resource: "rolebindings", kind: "RoleBinding", singular: "rolebinding", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "eGsCzGH6b1g=", storageVersion: "rbac.authorization.k8s.io/v1", etcdPrefix: "/registry/rolebindings" },
      { resource: "roles", kind: "Role", singular: "role", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "7FuwZcIIItM=", storageVersion: "rbac.authorization.k8s.io/v1", etcdPrefix: "/registry/roles" }
    ] },
    { apiVersion: "storage.k8s.io/v1", group: "storage.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "csidrivers", kind: "CSIDriver", singular: "csidriver", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "hL6j/rwBV5w=", storageVersion: "storage.k8s.io/v1", etcdPrefix: "/registry/csidrivers" },
      { resource: "csinodes", kind: "CSINode", singular: "csinode", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Pe62DkZtjuo=", storageVersion: "storage.k8s.io/v1", etcdPrefix: "/registry/csinodes" },
      { resource: "csistoragecapacities", kind: "CSIStorageCapacity", singular: "csistoragecapacity", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "xeVl+2Ly1kE=", storageVersion: "storage.k8s.io/v1", etcdPrefix: "/registry/csistoragecapacities" },
      { resource: "storageclasses", kind: "StorageClass", singular: "storageclass", shortNames: ["sc"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "K+m6uJwbjGY=", storageVersion: "storage.k8s.io/v1", etcdPrefix: "/registry/storageclasses" },
      { resource: "volumeattachments", kind: "VolumeAttachment", singular: "volumeattachment", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "tJx/ezt6UDU=", storageVersion: "storage.k8s.io/v1", etcdPrefix: "/registry/volumeattachments", subresources: [{ name: "status", kind: "VolumeAttachment", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "storage.k8s.io/v1beta1", group: "storage.k8s.io", version: "v1beta1", stability: "beta", enabledByDefault: false, preferred: false, resources: [
      { resource: "volumeattributesclasses", kind: "VolumeAttributesClass", singular: "volumeattributesclass", shortNames: ["vac"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Bl3MtjZ/n/s=", storageVersion: "storage.k8s.io/v1beta1", etcdPrefix: "/registry/volumeattributesclasses" }
    ] },
    { apiVersion: "storage.k8s.io/v1alpha1", group: "storage.k8s.io", version: "v1alpha1", stability: "alpha", enabledByDefault: false, preferred: false, resources: [
      { resource: "volumeattributesclasses", kind: "VolumeAttributesClass", singular: "volumeattributesclass", shortNames: ["vac"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Bl3MtjZ/n/s=", storageVersion: "storage.k8s.io/v1beta1", etcdPrefix: "/registry/volumeattributesclasses" }
    ] },
    { apiVersion: "admissionregistration.k8s.io/v1", group: "admissionregistration.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "mutatingwebhookconfigurations", kind: "MutatingWebhookConfiguration", singular: "mutatingwebhookconfiguration", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Sqi0GUgDaX0=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/mutatingwebhookconfigurations" },
      { resource: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy", singular: "validatingadmissionpolicy", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "6OxvlMmQ6is=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/validatingadmissionpolicies", subresources: [{ name: "status", kind: "ValidatingAdmissionPolicy", verbs: ["get", "patch", "update"] }] },
      { resource: "validatingadmissionpolicybindings", kind: "ValidatingAdmissionPolicyBinding", singular: "validatingadmissionpolicybinding", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "v9715VZqakg=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/validatingadmissionpolicybindings" },
      { resource: "validatingwebhookconfigurations", kind: "ValidatingWebhookConfiguration", singular: "validatingwebhookconfiguration", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "B0wHjQmsGNk=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/validatingwebhookconfigurations" }
    ] },
    { apiVersion: "admissionregistration.k8s.io/v1beta1", group: "admissionregistration.k8s.io", version: "v1beta1", stability: "beta", enabledByDefault: false, preferred: false, resources: [
      { resource: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy", singular: "validatingadmissionpolicy", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "6OxvlMmQ6is=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/validatingadmissionpolicies", subresources: [{ name: "status", kind: "ValidatingAdmissionPolicy", verbs: ["get", "patch", "update"] }] },
      { resource: "validatingadmissionpolicybindings", kind: "ValidatingAdmissionPolicyBinding", singular: "validatingadmissionpolicybinding", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "v9715VZqakg=", storageVersion: "admissionregistration.k8s.io/v1", etcdPrefix: "/registry/validatingadmissionpolicybindings" }
    ] },
    { apiVersion: "admissionregistration.k8s.io/v1alpha1", group: "admissionregistration.k8s.io", version: "v1alpha1", stability: "alpha", enabledByDefault: false, preferred: false, resources: [
      { resource: "mutatingadmissionpolicies", kind: "MutatingAdmissionPolicy", singular: "mutatingadmissionpolicy", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "lP2+lF8aHIY=", storageVersion: "admissionregistration.k8s.io/v1alpha1", etcdPrefix: "/registry/mutatingadmissionpolicies" },
      { resource: "mutatingadmissionpolicybindings", kind: "MutatingAdmissionPolicyBinding", singular: "mutatingadmissionpolicybinding", shortNames: [], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Q2Qe566oRi8=", storageVersion: "admissionregistration.k8s.io/v1alpha1", etcdPrefix: "/registry/mutatingadmissionpolicybindings" }
    ] },
    { apiVersion: "apiextensions.k8s.io/v1", group: "apiextensions.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "customresourcedefinitions", kind: "CustomResourceDefinition", singular: "customresourcedefinition", shortNames: ["crd", "crds"], categories: ["api-extensions"], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "jfWCUB31mvA=", storageVersion: "apiextensions.k8s.io/v1beta1", etcdPrefix: "/registry/apiextensions.k8s.io/customresourcedefinitions", subresources: [{ name: "status", kind: "CustomResourceDefinition", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "scheduling.k8s.io/v1", group: "scheduling.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "priorityclasses", kind: "PriorityClass", singular: "priorityclass", shortNames: ["pc"], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "1QwjyaZjj3Y=", storageVersion: "scheduling.k8s.io/v1", etcdPrefix: "/registry/priorityclasses" }
    ] },
    { apiVersion: "coordination.k8s.io/v1", group: "coordination.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "leases", kind: "Lease", singular: "lease", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "gqkMMb/YqFM=", storageVersion: "coordination.k8s.io/v1", etcdPrefix: "/registry/leases" }
    ] },
    { apiVersion: "coordination.k8s.io/v1alpha2", group: "coordination.k8s.io", version: "v1alpha2", stability: "alpha", enabledByDefault: false, preferred: false, resources: [
      { resource: "leasecandidates", kind: "LeaseCandidate", singular: "leasecandidate", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "RuOD9aJW3DI=", storageVersion: "coordination.k8s.io/v1alpha2", etcdPrefix: "/registry/leasecandidates" }
    ] },
    { apiVersion: "node.k8s.io/v1", group: "node.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "runtimeclasses", kind: "RuntimeClass", singular: "runtimeclass", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "WQTu1GL3T2Q=", storageVersion: "node.k8s.io/v1", etcdPrefix: "/registry/runtimeclasses" }
    ] },
    { apiVersion: "discovery.k8s.io/v1", group: "discovery.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "endpointslices", kind: "EndpointSlice", singular: "endpointslice", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "qgS0xkrxYAI=", storageVersion: "discovery.k8s.io/v1", etcdPrefix: "/registry/endpointslices" }
    ] },
    { apiVersion: "resource.k8s.io/v1beta1", group: "resource.k8s.io", version: "v1beta1", stability: "beta", enabledByDefault: false, preferred: true, resources: [
      { resource: "deviceclasses", kind: "DeviceClass", singular: "deviceclass", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "OgEE055Fbnc=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/deviceclasses" },
      { resource: "resourceclaims", kind: "ResourceClaim", singular: "resourceclaim", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "RnQSwRxMnsw=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceclaims", subresources: [{ name: "status", kind: "ResourceClaim", verbs: ["get", "patch", "update"] }] },
      { resource: "resourceclaimtemplates", kind: "ResourceClaimTemplate", singular: "resourceclaimtemplate", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "F6aZtQPvFlU=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceclaimtemplates" },
      { resource: "resourceslices", kind: "ResourceSlice", singular: "resourceslice", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "7r9IQQZblMY=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceslices" }
    ] },
    { apiVersion: "resource.k8s.io/v1alpha3", group: "resource.k8s.io", version: "v1alpha3", stability: "alpha", enabledByDefault: false, preferred: false, resources: [
      { resource: "deviceclasses", kind: "DeviceClass", singular: "deviceclass", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "OgEE055Fbnc=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/deviceclasses" },
      { resource: "resourceclaims", kind: "ResourceClaim", singular: "resourceclaim", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "RnQSwRxMnsw=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceclaims", subresources: [{ name: "status", kind: "ResourceClaim", verbs: ["get", "patch", "update"] }] },
      { resource: "resourceclaimtemplates", kind: "ResourceClaimTemplate", singular: "resourceclaimtemplate", shortNames: [], categories: [], namespaced: true, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "F6aZtQPvFlU=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceclaimtemplates" },
      { resource: "resourceslices", kind: "ResourceSlice", singular: "resourceslice", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "7r9IQQZblMY=", storageVersion: "resource.k8s.io/v1beta1", etcdPrefix: "/registry/resourceslices" }
    ] },
    { apiVersion: "flowcontrol.apiserver.k8s.io/v1", group: "flowcontrol.apiserver.k8s.io", version: "v1", stability: "GA", enabledByDefault: true, preferred: true, resources: [
      { resource: "flowschemas", kind: "FlowSchema", singular: "flowschema", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "GJVAJZSZBIw=", storageVersion: "flowcontrol.apiserver.k8s.io/v1", etcdPrefix: "/registry/flowschemas", subresources: [{ name: "status", kind: "FlowSchema", verbs: ["get", "patch", "update"] }] },
      { resource: "prioritylevelconfigurations", kind: "PriorityLevelConfiguration", singular: "prioritylevelconfiguration", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "Kir5PVfvNeI=", storageVersion: "flowcontrol.apiserver.k8s.io/v1", etcdPrefix: "/registry/prioritylevelconfigurations", subresources: [{ name: "status", kind: "PriorityLevelConfiguration", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "internal.apiserver.k8s.io/v1alpha1", group: "internal.apiserver.k8s.io", version: "v1alpha1", stability: "alpha", enabledByDefault: false, preferred: true, resources: [
      { resource: "storageversions", kind: "StorageVersion", singular: "storageversion", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], storageVersionHash: "c8YZt5U0nPk=", storageVersion: "internal.apiserver.k8s.io/v1alpha1", etcdPrefix: "/registry/storageversions", subresources: [{ name: "status", kind: "StorageVersion", verbs: ["get", "patch", "update"] }] }
    ] },
    { apiVersion: "storagemigration.k8s.io/v1alpha1", group: "storagemigration.k8s.io", version: "v1alpha1", stability: "alpha", enabledByDefault: false, preferred: true, resources: [
      { resource: "storageversionmigrations", kind: "StorageVersionMigration", singular: "storageversionmigration", shortNames: [], categories: [], namespaced: false, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"], featureGate: "StorageVersionMigrator", storageVersionHash: "N0mJdFqO17c=", storageVersion: "storagemigration.k8s.io/v1alpha1", etcdPrefix: "/registry/storageversionmigrations", subresources: [{ name: "status", kind: "StorageVersionMigration", verbs: ["get", "patch", "update"], featureGate: "StorageVersionMigrator" }] }
    ] }
  ]
};

// api/catalogue.ts
var Catalogue = class {
  #groups = /* @__PURE__ */ new Map();
  #byResource = /* @__PURE__ */ new Map();
  #byKind = /* @__PURE__ */ new Map();
  addGroupVersion(info2) {
    this.#groups.set(apiVersionOf(info2), info2);
  }
  add(info2) {
    const apiVersion = apiVersionOf(info2);
    this.#byResource.set(`${apiVersion}/${info2.resource}`, info2);
    const known = this.#byKind.get(`${apiVersion}/${info2.kind}`);
    if (!known || !known.etcdPrefix)
      this.#byKind.set(`${apiVersion}/${info2.kind}`, info2);
  }
  remove(info2) {
    const apiVersion = apiVersionOf(info2);
    this.#byResource.delete(`${apiVersion}/${info2.resource}`);
    this.#byKind.delete(`${apiVersion}/${info2.kind}`);
  }
  /** In the reference's priority order. */
  groupVersions() {
    return [...this.#groups.values()];
  }
  hasGroupVersion(group2, version) {
    return this.#groups.has(apiVersionOf({ group: group2, version }));
  }
  resources(group2, version) {
    return [...this.#byResource.values()].filter(
      (info2) => info2.group === group2 && info2.version === version
    );
  }
  resource(group2, version, resource) {
    return this.#byResource.get(
      `${apiVersionOf({ group: group2, version })}/${resource}`
    );
  }
  kind(group2, version, kind2) {
    return this.#byKind.get(`${apiVersionOf({ group: group2, version })}/${kind2}`);
  }
};
var builtinGroupVersions = resources_default.groupVersions.map(
  ({ resources: resources2, group: group2, version, stability, enabledByDefault, preferred: preferred3 }) => ({
    group: group2,
    version,
    stability,
    enabledByDefault,
    preferred: preferred3,
    resources: resources2.map(({ resource }) => resource)
  })
);
function builtinCatalogue(serves = (info2) => info2.enabledByDefault) {
  const catalogue = new Catalogue();
  for (const { resources: resources2, apiVersion: _, ...info2 } of resources_default.groupVersions) {
    const groupVersion = info2;
    const served = resources2.filter(
      ({ resource }) => serves(groupVersion, resource)
    );
    if (served.length === 0) continue;
    catalogue.addGroupVersion(groupVersion);
    for (const resource of served) {
      catalogue.add({
        ...resource,
        group: info2.group,
        version: info2.version,
        subresources: resource.subresources ?? []
      });
    }
  }
  return catalogue;
}

// ../../../tmp/tb-waits.ts
import { readFileSync } from "node:fs";
var sample = JSON.parse(readFileSync("/tmp/pod.json", "utf8"));
var N = 1e3;
var entries = Array.from({ length: N }, (_, i) => {
  sample.metadata.name = "pod-" + i;
  return new CacheEntry("default/pod-" + i, "default", "pod-" + i, i + 1, Buffer.from(JSON.stringify(sample) + "\n"), {}, {});
});
var info = builtinCatalogue().resource("", "v1", "pods");
var kind = new StoredKind("/registry/pods", true, "", "pods", "Pod", "v1", strategyFor("", "pods"), void 0);
var endpoint = new Endpoint(info, kind, strategyFor("", "pods"), schemaFor("", "v1", "Pod"));
var derived;
try {
  const m = "/work/wt/waits/apiserver-lite/cache/derived-bytes.ts";
  derived = new DerivedBytes();
} catch {
}
var make = (as, format) => new Representation({ negotiated: { format: "json", as, asVersion: "v1", contentType: "application/json", alias: false, pretty: false }, format, endpoint, pretty: false, includeObject: "Metadata", nowMs: () => Date.now(), derived });
var run = (name, as, format) => {
  for (let r = 0; r < 4; r++) {
    const c = process.cpuUsage();
    let bytes = 0;
    for (let k = 0; k < 60; k++) {
      const l = make(as, format).list({ entries, revision: 5 });
      for (const p of l.parts ?? l) if (p) bytes += p.length;
    }
    const u = process.cpuUsage(c);
    if (r > 0) console.log(name, ((u.user + u.system) / 60 / N).toFixed(2), "us/item", bytes / 60);
  }
};
run("json", "", jsonFormat);
run("proto", "", otherFormats.protobuf);
run("table", "Table", jsonFormat);
run("partial", "PartialObjectMetadataList", jsonFormat);
