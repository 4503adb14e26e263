// A chart: stacked panels with one time axis. uPlot provides axes, scales and selection; paint.js
// draws the marks.
const Chart = (() => {
  "use strict";

  const { paint, fit, lower, colour } = painting;

  const font = "12px system-ui, sans-serif";

  let count = 0;

  // Returns the whole time axis. It extends beyond the data if another chart beside it does.
  function whole({ end, until = end }) {
    return [0, until * 1.01 || 1];
  }

  class Chart {
    constructor(figure, description) {
      this.figure = figure;
      this.bands = description.bands;
      this.full = whole(description);
      this.panels = description.panels;
      for (const panel of this.panels) {
        for (const layer of panel.layers) layer.end = description.end;
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
      if (index === 0) {
        this.meanings = bar.appendChild(document.createElement("span"));
        this.meanings.className = "layers";
        this.explain();
        bar.append(this.tools());
      }
      const axis = { font, stroke: () => colour("dim"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { stroke: () => colour("line"), width: 1 } };
      const [low, high] = fit(panel, ...this.full, index > 0);
      const options = {
        width: figure.clientWidth,
        height: this.height(panel),
        legend: { show: false },
        // Scales never come from the data: uPlot gets two points with nothing between them, which
        // have no range.
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
          // The crosshair is shared between panels; `select` handles selections.
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

    // Explains the shaded bands; they are no buttons.
    explain() {
      this.meanings.replaceChildren(...[...new Set(this.bands.map((band) => band.name))].map((name) => this.meaning(name)));
    }

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

    // Handles the end of a drag. All panels take its time range and fit their values to it. Its own
    // panel takes its value range, if it has one.
    select(u) {
      const { left, top, width, height } = u.select, box = u.over.getBoundingClientRect();
      if (width <= 0 && height <= 0) return;
      const at = (offset, scale) => u.posToVal(offset, scale);
      const min = at(left, "x"), max = at(left + width, "x"), low = at(top + height, "y"), high = at(top, "y");
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      if (width > 2) this.zoom(min, max);
      if (height > 2 && height < box.height - 1) u.setScale("y", { min: low, max: high });
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
      // The page scrolls as usual until the chart has the focus.
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

    // Shows the value under the cursor, or nearest to it.
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

    // Shows another run in the same panels. Hidden layers and the zoom stay.
    show(description) {
      const { min, max } = this.plots[0].scales.x, all = min <= this.full[0] && max >= this.full[1];
      this.bands = description.bands;
      this.full = whole(description);
      this.explain();
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
      if (all) this.zoom(...this.full); else this.zoom(min, Math.min(max, this.full[1]));
    }
  }

  return Chart;
})();
