// Draws each <figure class="chart">: panels above each other with one time axis. uPlot makes axes, scales and selection;
// the marks are drawn here, because merging what falls on one column of pixels is what makes a million of them fast.
(() => {
  "use strict";

  const { unpack, column } = packed;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const font = "12px system-ui, sans-serif";

  // The first index whose value is not below x.
  function lower(values, x) {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < x) low = middle + 1; else high = middle;
    }
    return low;
  }

  const painters = {
    // Vertical strokes from y to y + height. Those on one column of pixels that touch become one stroke.
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
    // A staircase. On one column of pixels only where it comes in, its extremes and where it leaves count.
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

  // Marks of a fixed size in the middle of what they stand for; one a pixel is enough.
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

  // The range of what is to be seen between two instants.
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

  let count = 0;

  class Chart {
    constructor(figure, description, bytes) {
      this.figure = figure;
      this.bands = description.bands;
      this.end = description.end;
      this.full = [0, description.end * 1.01 || 1];
      this.panels = description.panels;
      for (const panel of this.panels) {
        for (const layer of panel.layers) {
          for (const axis of ["x", "y", "top"]) {
            if (layer[axis] && !ArrayBuffer.isView(layer[axis])) layer[axis] = column(bytes, layer[axis]);
          }
          layer.end = description.end;
        }
      }
      this.group = `chart-${++count}`;
      figure.tabIndex = 0;
      this.plots = this.panels.map((panel, index) => this.make(panel, index));
      this.reading = figure.appendChild(document.createElement("div"));
      this.reading.className = "reading";
      this.reading.hidden = true;
      figure.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.resize()).observe(figure);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    }

    make(panel, index) {
      const figure = this.figure;
      const bar = figure.appendChild(document.createElement("div"));
      bar.className = "bar";
      panel.bar = bar.appendChild(document.createElement("span"));
      panel.bar.className = "layers";
      for (const layer of panel.layers) panel.bar.append(this.toggle(panel, layer, index));
      if (index === 0) for (const name of new Set(this.bands.map((band) => band.name))) bar.append(this.meaning(name));
      if (index === 0) bar.append(this.tools());
      const axis = { font, stroke: () => colour("dim"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("line"), width: 1 } };
      const [low, high] = fit(panel, ...this.full, index > 0);
      const options = {
        width: figure.clientWidth,
        height: this.height(panel),
        legend: { show: false },
        // Never from the data: what uPlot is given is two points, and between them nothing, which has no range.
        scales: {
          x: { time: false, auto: false, min: this.full[0], max: this.full[1], range: (u, min, max) => [min, max] },
          y: { auto: false, min: low, max: high, range: (u, min, max) => [min, max] },
        },
        axes: [
          { ...axis, label: "Time, s", labelSize: 18, labelFont: font, size: 28 },
          { ...axis, label: panel.title, labelSize: 18, labelFont: font, size: 60 },
        ],
        series: [{}, { paths: () => null, points: { show: false } }],
        cursor: {
          // The crosshair is shared; what a selection means, `select` decides.
          sync: { key: this.group, setSeries: false, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
          drag: { x: true, y: true, uni: 24, setScale: false },
          points: { show: false },
          bind: { dblclick: () => () => { this.zoom(...this.full); return null; } },
        },
        hooks: {
          draw: [(u) => paint(u, panel, this.bands)],
          setSelect: [(u) => this.select(u)],
          setCursor: [(u) => this.read(u, panel)],
        },
      };
      const holder = figure.appendChild(document.createElement("div"));
      const plot = new uPlot(options, [this.full, [low, high]], holder);
      plot.over.addEventListener("mousedown", () => figure.focus({ preventScroll: true }));
      touchable(plot.over, {
        range: () => plot.scales.x,
        zoom: (min, max) => this.zoom(min, max),
        everything: () => this.zoom(...this.full),
        begin: () => plot.setCursor({ left: -10, top: -10 }),
      });
      plot.over.addEventListener("wheel", (event) => this.wheel(event, plot), { passive: false });
      return plot;
    }

    toggle(panel, layer, index) {
      const button = document.createElement("button");
      button.type = "button";
      const swatch = button.appendChild(document.createElement("span"));
      swatch.className = "swatch";
      swatch.style.background = `var(--${layer.colour})`;
      button.append(layer.name);
      button.layer = layer;
      button.setAttribute("aria-pressed", String(!layer.hidden));
      button.addEventListener("click", () => {
        button.layer.hidden = !button.layer.hidden;
        button.setAttribute("aria-pressed", String(!button.layer.hidden));
        this.plots[index].redraw(false);
      });
      return button;
    }

    // What a shaded band means; nothing to press.
    meaning(name) {
      const key = document.createElement("span");
      key.className = "key";
      const swatch = key.appendChild(document.createElement("span"));
      swatch.className = "swatch";
      swatch.style.background = `var(--${name})`;
      key.append(name === "episode" ? "episode of a timeout" : name);
      return key;
    }

    tools() {
      const tools = document.createElement("span");
      tools.className = "tools";
      for (const [label, text, act] of [
        ["zoom in", "+", () => this.scale(0.5)],
        ["zoom out", "−", () => this.scale(2)],
        ["earlier", "←", () => this.move(-0.25)],
        ["later", "→", () => this.move(0.25)],
        ["everything", "0", () => this.zoom(...this.full)],
      ]) {
        const button = tools.appendChild(document.createElement("button"));
        button.type = "button";
        button.title = label;
        button.setAttribute("aria-label", label);
        button.textContent = text;
        button.addEventListener("click", act);
      }
      return tools;
    }

    height(panel) {
      return this.figure.clientWidth < 600 ? Math.round(panel.height * 0.75) : panel.height;
    }

    // A drag ended: all panels take its time, and fit their values to it; its own panel those that it spans, if any.
    select(u) {
      const { left, top, width, height } = u.select, whole = u.over.getBoundingClientRect();
      if (width <= 0 && height <= 0) return;
      const at = (offset, scale) => u.posToVal(offset, scale);
      const min = at(left, "x"), max = at(left + width, "x"), low = at(top + height, "y"), high = at(top, "y");
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      if (width > 2) this.zoom(min, max);
      if (height > 2 && height < whole.height - 1) u.setScale("y", { min: low, max: high });
    }

    zoom(min, max) {
      const least = 1e-5, width = Math.min(Math.max(max - min, least), this.full[1] - this.full[0]);
      min = Math.min(Math.max(min, this.full[0]), this.full[1] - width);
      max = min + width;
      this.plots.forEach((plot, index) => {
        const [low, high] = fit(this.panels[index], min, max, index > 0);
        plot.batch(() => { plot.setScale("x", { min, max }); plot.setScale("y", { min: low, max: high }); });
      });
    }

    scale(factor, about) {
      const { min, max } = this.plots[0].scales.x;
      const centre = about ?? (min + max) / 2;
      this.zoom(centre - (centre - min) * factor, centre + (max - centre) * factor);
    }

    move(share) {
      const { min, max } = this.plots[0].scales.x, by = (max - min) * share;
      this.zoom(min + by, max + by);
    }

    wheel(event, plot) {
      // The page scrolls as usual until somebody has taken hold of the chart.
      if (!event.ctrlKey && !this.figure.contains(document.activeElement)) return;
      event.preventDefault();
      const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
      this.scale(event.deltaY < 0 ? 0.8 : 1.25, at);
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = {
        "+": () => this.scale(0.5), "=": () => this.scale(0.5), i: () => this.scale(0.5),
        "-": () => this.scale(2), o: () => this.scale(2),
        ArrowLeft: () => this.move(-0.25), h: () => this.move(-0.25),
        ArrowRight: () => this.move(0.25), l: () => this.move(0.25),
        0: () => this.zoom(...this.full), r: () => this.zoom(...this.full), Home: () => this.zoom(...this.full),
      };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    }

    // What is under the cursor, or nearest to it.
    read(u, panel) {
      if (!this.reading || u.cursor.event == null) return;
      if (u.cursor.left < 0) {
        this.reading.hidden = true;
        return;
      }
      let best = null, distance = 24;
      for (const layer of panel.layers) {
        if (layer.hidden || layer.kind === "bars") continue;
        const x = u.posToVal(u.cursor.left, "x"), at = lower(layer.x, x);
        for (let i = Math.max(at - 40, 0); i < Math.min(at + 40, layer.x.length); i++) {
          const dx = u.valToPos(layer.x[i], "x") - u.cursor.left, dy = u.valToPos(layer.y[i] + (layer.height || 0) / 2, "y") - u.cursor.top;
          const away = Math.hypot(dx, dy);
          if (away < distance) { distance = away; best = [layer, i]; }
        }
      }
      const box = u.over.getBoundingClientRect(), whole = this.figure.getBoundingClientRect();
      this.reading.style.left = `${Math.min(box.left - whole.left + u.cursor.left + 14, whole.width - 240)}px`;
      this.reading.style.top = `${box.top - whole.top + u.cursor.top + 14}px`;
      this.reading.hidden = false;
      const t = u.posToVal(u.cursor.left, "x").toFixed(3);
      this.reading.textContent = best
        ? `${best[0].name}: ${+best[0].y[best[1]].toFixed(3)} at ${best[0].x[best[1]].toFixed(6)} s`
        : `${t} s`;
    }

    resize() {
      const width = this.figure.clientWidth;
      if (width === this.width) return;
      this.width = width;
      this.plots.forEach((plot, index) => plot.setSize({ width, height: this.height(this.panels[index]) }));
    }

    redraw() {
      for (const plot of this.plots) plot.redraw(false, true);
    }

    // Another run in the same panels: layers that were hidden stay so, and a zoom stays.
    show(description) {
      const { min, max } = this.plots[0].scales.x, whole = min <= this.full[0] && max >= this.full[1];
      this.bands = description.bands;
      this.end = description.end;
      this.full = [0, description.end * 1.01 || 1];
      this.panels.forEach((panel, index) => {
        const hidden = new Set(panel.layers.filter((layer) => layer.hidden).map((layer) => layer.name));
        const before = panel.layers.map((layer) => layer.name).join();
        panel.layers = description.panels[index].layers;
        for (const layer of panel.layers) {
          layer.end = description.end;
          layer.hidden = hidden.has(layer.name);
        }
        if (panel.layers.map((layer) => layer.name).join() !== before) {
          panel.bar.replaceChildren(...panel.layers.map((layer) => this.toggle(panel, layer, index)));
        } else {
          panel.layers.forEach((layer, at) => { panel.bar.children[at].layer = layer; });
        }
      });
      if (whole) this.zoom(...this.full); else this.zoom(min, Math.min(max, this.full[1]));
    }
  }

  async function start(figure) {
    const [description, packed] = figure.querySelectorAll("script");
    try {
      const bytes = await unpack(packed.textContent);
      figure.chart = new Chart(figure, JSON.parse(description.textContent), bytes);
    } catch (error) {
      const sorry = figure.appendChild(document.createElement("p"));
      sorry.className = "outside";
      sorry.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }

  globalThis.Chart = Chart;

  // Only charts that come near the screen are unpacked.
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      start(target);
    }
  }, { rootMargin: "800px" });
  for (const figure of document.querySelectorAll("figure.chart")) watch.observe(figure);
})();
