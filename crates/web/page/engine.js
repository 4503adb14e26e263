// The engine in WebAssembly. A request goes in, an answer comes out; crates/web describes the
// requests.
class Engine {
  "use strict";

  static async start(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Engine(instance.exports);
  }

  constructor(exports) {
    this.exports = exports;
  }

  // Returns the answer's object, with descriptions of columns replaced by the columns. Throws if
  // the request failed.
  ask(request, body = new Uint8Array()) {
    const { memory, room, answer, length, fault, fault_length } = this.exports;
    const line = new TextEncoder().encode(`${JSON.stringify(request)}\n`);
    const at = room(line.length + body.length);
    new Uint8Array(memory.buffer, at, line.length).set(line);
    new Uint8Array(memory.buffer, at + line.length, body.length).set(body);
    let told;
    try {
      told = answer();
    } catch (error) {
      const message = new Uint8Array(memory.buffer, fault(), fault_length());
      throw new Error(message.length ? `fault: ${new TextDecoder().decode(message)}` : `fault: ${error.message}`);
    }
    const bytes = new Uint8Array(memory.buffer, told, length()).slice();
    const size = new DataView(bytes.buffer).getUint32(0, true);
    const object = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    if (object.error) throw new Error(object.error);
    return Engine.columns(object, bytes.buffer, (4 + size + 7) & ~7);
  }

  static columns(value, buffer, start) {
    if (value === null || typeof value !== "object") return value;
    const kinds = { f64: Float64Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array };
    if (kinds[value.kind] && typeof value.at === "number") return new kinds[value.kind](buffer, start + value.at, value.length);
    if (Array.isArray(value)) {
      const named = value.length > 0 && value.every((one) => one && kinds[one.kind] && typeof one.at === "number");
      if (named) return Object.fromEntries(value.map((one) => [one.name, Engine.columns(one, buffer, start)]));
      return value.map((one) => Engine.columns(one, buffer, start));
    }
    for (const key of Object.keys(value)) value[key] = Engine.columns(value[key], buffer, start);
    return value;
  }
}
