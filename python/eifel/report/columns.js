// Unpacks the columns that columns.py has packed.
const packed = (() => {
  "use strict";

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Bytes of equal significance lie together (all low bytes first). The numbers are differences of
  // 48 bits.
  function column(bytes, { at, n, scale, offset }) {
    const values = new Float64Array(n);
    let sum = 0;
    for (let i = at; i < at + n; i++) {
      const low = bytes[i] | (bytes[i + n] << 8) | (bytes[i + 2 * n] << 16) | (bytes[i + 3 * n] << 24);
      const high = bytes[i + 4 * n] | (bytes[i + 5 * n] << 8);
      sum += ((high << 16) >> 16) * 2 ** 32 + (low >>> 0);
      values[i - at] = sum * scale + offset;
    }
    return values;
  }

  // Replaces the columns named in a description by those in `bytes`.
  function open(described, bytes) {
    if (described === null || typeof described !== "object") return described;
    if (Array.isArray(described)) return described.map((one) => open(one, bytes));
    if (typeof described.n === "number") return column(bytes, described);
    return Object.fromEntries(Object.entries(described).map(([name, one]) => [name, open(one, bytes)]));
  }

  return { unpack, column, open };
})();
