// Draws the layers of a panel. Marks in the same column of pixels are merged, which makes a million
// of them fast.
const painting = (() => {
  "use strict";

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  // Returns the first index whose value is at least x.
  function lower(values, x) {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < x) low = middle + 1; else high = middle;
    }
    return low;
  }

  const painters = {
    // Draws vertical strokes from y to y + height. Touching strokes in one column of pixels are
    // merged.
    ticks(u, layer, from, to) {
      const top = layer.top, ctx = u.ctx, width = Math.max(1, Math.round(1.5 * devicePixelRatio));
      ctx.fillStyle = colour(layer.colour);
      let column = NaN, low = 0, high = 0;
      const flush = () => {
        if (column === column) ctx.fillRect(column - (width >> 1), high, width, Math.max(low - high, width));
      };
      for (let i = from; i < to; i++) {
        const x = Math.round(u.valToPos(layer.x[i], "x", true));
        const a = u.valToPos(layer.y[i], "y", true);
        const b = u.valToPos(top ? top[i] : layer.y[i] + layer.height, "y", true);
        if (x === column && b <= low + 1 && a >= high - 1) {
          if (a > low) low = a;
          if (b < high) high = b;
        } else {
          flush();
          column = x; low = a; high = b;
        }
      }
      flush();
    },
    bars(u, layer, from, to) {
      u.ctx.globalAlpha = 0.55;
      painters.ticks(u, layer, from, to);
      u.ctx.globalAlpha = 1;
    },
    // Draws a staircase. In one column of pixels, only its entry, its extremes and its exit count.
    steps(u, layer, from, to) {
      const ctx = u.ctx;
      ctx.strokeStyle = colour(layer.colour);
      ctx.lineWidth = 1.4 * devicePixelRatio;
      ctx.beginPath();
      let first = Math.max(from - 1, 0), column = NaN, last = NaN, low = 0, high = 0;
      for (let i = first; i < Math.min(to + 1, layer.x.length); i++) {
        const x = Math.round(u.valToPos(layer.x[i], "x", true)), y = u.valToPos(layer.y[i], "y", true);
        if (x !== column) {
          if (column === column) {
            if (low !== high) { ctx.moveTo(column, low); ctx.lineTo(column, high); ctx.moveTo(column, last); }
            ctx.lineTo(x, last);
            ctx.lineTo(x, y);
          } else ctx.moveTo(x, y);
          column = x; low = high = y;
        } else {
          if (y > low) low = y;
          if (y < high) high = y;
        }
        last = y;
      }
      if (column === column) {
        if (low !== high) { ctx.moveTo(column, low); ctx.lineTo(column, high); ctx.moveTo(column, last); }
        if (to >= layer.x.length) ctx.lineTo(u.valToPos(Math.min(u.scales.x.max, layer.end), "x", true), last);
      }
      ctx.stroke();
    },
    squares(u, layer, from, to) { marks(u, layer, from, to, 5, (ctx, x, y, r) => ctx.fillRect(x - r / 2, y - r / 2, r, r)); },
    dots(u, layer, from, to) { marks(u, layer, from, to, 3, (ctx, x, y, r) => ctx.fillRect(x - r / 2, y - r / 2, r, r)); },
    crosses(u, layer, from, to) {
      u.ctx.strokeStyle = colour(layer.colour);
      u.ctx.lineWidth = 1.6 * devicePixelRatio;
      u.ctx.beginPath();
      marks(u, layer, from, to, 8, (ctx, x, y, r) => {
        const h = r / 2;
        ctx.moveTo(x - h, y - h); ctx.lineTo(x + h, y + h); ctx.moveTo(x - h, y + h); ctx.lineTo(x + h, y - h);
      });
      u.ctx.stroke();
    },
  };

  // Draws marks of a fixed size, centred on their values; one per pixel is enough.
  function marks(u, layer, from, to, size, draw) {
    const ctx = u.ctx, r = size * devicePixelRatio;
    ctx.fillStyle = colour(layer.colour);
    let lastX = NaN, lastY = NaN;
    for (let i = from; i < to; i++) {
      const x = Math.round(u.valToPos(layer.x[i], "x", true));
      const y = Math.round(u.valToPos(layer.y[i] + (layer.height || 0) / 2, "y", true));
      if (x === lastX && y === lastY) continue;
      lastX = x; lastY = y;
      draw(ctx, x, y, r);
    }
  }

  function paint(u, panel, bands) {
    const ctx = u.ctx, { left, top, width, height } = u.bbox, { min, max } = u.scales.x;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    for (const band of bands) {
      if (band.to < min || band.from > max) continue;
      const from = u.valToPos(band.from, "x", true), to = u.valToPos(band.to, "x", true);
      const low = band.name === "episode" ? 5 * devicePixelRatio : height;
      ctx.fillStyle = colour(band.name);
      ctx.fillRect(from, top + height - low, Math.max(to - from, 1), low);
    }
    for (const layer of panel.layers) {
      if (!layer.hidden) painters[layer.kind](u, layer, lower(layer.x, min), lower(layer.x, max + 1e-12));
    }
    ctx.restore();
  }

  // Returns the range of the visible values between two times.
  function fit(panel, min, max, zero) {
    let low = Infinity, high = -Infinity;
    for (const layer of panel.layers) {
      if (layer.hidden) continue;
      const step = layer.kind === "steps";
      const to = lower(layer.x, max + 1e-12);
      for (let i = Math.max(lower(layer.x, min) - (step ? 1 : 0), 0); i < to; i++) {
        const y = layer.y[i], top = layer.top ? layer.top[i] : y + (layer.height || 0);
        if (y < low) low = y;
        if (top > high) high = top;
      }
    }
    if (low > high) return [0, 1];
    if (zero) low = Math.min(low, 0);
    const room = (high - low || 1) * 0.04;
    return [zero && low === 0 ? 0 : low - room, high + room];
  }

  return { paint, fit, lower, colour };
})();
