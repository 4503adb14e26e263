// Opens what columns.py has packed.
const packed = (() => {
  "use strict";

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Bytes of a kind lie together (all low bytes first); the numbers are differences.
  function column(bytes, { at, n, scale, offset }) {
    const values = new Float64Array(n);
    let sum = 0;
    for (let i = 0; i < n; i++) {
      sum += bytes[at + i] | (bytes[at + n + i] << 8) | (bytes[at + 2 * n + i] << 16) | (bytes[at + 3 * n + i] << 24);
      values[i] = sum * scale + offset;
    }
    return values;
  }

  return { unpack, column };
})();
