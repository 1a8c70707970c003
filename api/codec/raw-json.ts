// JSON that is handed on as it stands, as a value inside an object that is otherwise parsed.
export class RawJson {
  constructor(readonly bytes: Buffer) {}

  /** For JSON.stringify and encoders that do not know it. */
  toJSON(): unknown {
    return JSON.parse(this.bytes.toString("utf8"));
  }
}
