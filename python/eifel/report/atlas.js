// Turns each <figure class="atlas"> into a map: choose a place, and see the best detector there and
// its gain.
(() => {
  "use strict";

  const { unpack, column } = packed;

  const SAME = 0.03;
  const PLAIN = "no detector";
  const colours = {
    [PLAIN]: "ack", Eifel: "sent", "F-RTO": "limit", DSACK: "sack", DualRTT: "needed", Linux: "spurious",
  };

  function make(name, properties = {}, ...children) {
    const { style, ...others } = properties;
    const element = Object.assign(document.createElement(name), others);
    if (style) element.setAttribute("style", style);
    element.append(...children);
    return element;
  }

  function rate(bps) {
    const [value, unit] = bps >= 1e6 ? [bps / 1e6, "Mbit/s"] : [bps / 1e3, "kbit/s"];
    return `${value.toPrecision(3)} ${unit}`;
  }

  const percent = (share) => `${(100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0)} %`;

  class Atlas {
    constructor(figure, { axes, sides, competitors, title, points, start }, bytes) {
      Object.assign(this, { figure, axes, title, points, at: start });
      this.competitors = competitors.map((one) => ({
        ...one, mean: column(bytes, one.mean), spread: column(bytes, one.spread),
      }));
      [this.across, this.down] = sides;
      this.build();
      this.draw();
    }

    // Returns the row of the grid at a place, given as an index on each axis.
    row(at) {
      return at.reduce((row, index, axis) => row * this.axes[axis].labels.length + index, 0);
    }

    // Returns the competitors at a place, best first, and the gain of detection there.
    ranking(at) {
      const row = this.row(at);
      const all = this.competitors.map(({ name, family, mean, spread }) => ({
        name, family, mean: mean[row], spread: spread[row],
      }));
      all.sort((a, b) => b.mean - a.mean);
      const plain = all.find((one) => one.family === PLAIN);
      const gain = plain.mean > 0 ? all[0].mean / plain.mean - 1 : 0;
      return { all, best: all[0], plain, gain, worth: gain > SAME };
    }

    build() {
      const id = `atlas${document.querySelectorAll("figure.atlas .map").length}`;
      this.cases = make("select", { ariaLabel: this.title }, make("option", { value: "" }, "another place"));
      this.points.forEach((point, index) => this.cases.append(make("option", { value: String(index) }, point.name)));
      this.cases.onchange = () => {
        if (this.cases.value) this.at = [...this.points[Number(this.cases.value)].at];
        this.draw();
      };
      this.groups = this.axes.map((axis, number) => {
        const group = make("fieldset", {}, make("legend", {}, axis.title));
        axis.labels.forEach((label, index) => {
          const radio = make("input", { type: "radio", name: `${id}-${number}`, value: String(index) });
          radio.onchange = () => { this.at[number] = index; this.draw(); };
          group.append(make("label", {}, radio, make("span", {}, label)));
        });
        return group;
      });
      const chooser = (which, words) => {
        const select = make("select", { ariaLabel: words });
        this.axes.forEach((axis, number) => select.append(make("option", { value: String(number) }, axis.title)));
        select.onchange = () => {
          const other = which === "across" ? "down" : "across";
          if (this[other] === Number(select.value)) this[other] = this[which];
          this[which] = Number(select.value);
          this.draw();
        };
        this[`${which}Select`] = select;
        return make("label", { className: "chooser" }, `${words} `, select);
      };
      this.map = make("div", { className: "map", role: "grid" });
      this.map.onkeydown = (event) => this.key(event);
      this.legend = make("p", { className: "legend dim" });
      this.result = make("div", { className: "result" });
      this.result.setAttribute("aria-live", "polite");
      this.figure.append(
        make("div", { className: "axes" }, make("label", { className: "chooser" }, `${this.title} `, this.cases)),
        make("div", { className: "axes" }, ...this.groups),
        make("div", { className: "axes" }, chooser("across", "Across"), chooser("down", "Down")),
        make("div", { className: "sides" }, make("div", {}, this.map, this.legend), this.result),
      );
    }

    draw() {
      this.acrossSelect.value = String(this.across);
      this.downSelect.value = String(this.down);
      this.groups.forEach((group, number) => {
        group.querySelectorAll("input").forEach((radio, index) => { radio.checked = index === this.at[number]; });
      });
      const known = this.points.findIndex((point) => point.at.every((value, axis) => value === this.at[axis]));
      this.cases.value = known < 0 ? "" : String(known);
      this.drawMap();
      this.drawResult();
    }

    drawMap() {
      const focused = this.map.contains(document.activeElement);
      const columns = this.axes[this.across].labels, rows = this.axes[this.down].labels;
      this.map.style.gridTemplateColumns = `auto repeat(${columns.length}, minmax(0, 1fr))`;
      const head = make("div", { role: "row", className: "row" }, make("span", { className: "corner" }));
      head.append(...columns.map((label) => make("span", { role: "columnheader" }, label)));
      this.map.replaceChildren(head);
      const seen = new Set();
      rows.forEach((label, down) => {
        const line = make("div", { role: "row", className: "row" }, make("span", { role: "rowheader" }, label));
        columns.forEach((over, across) => {
          const at = [...this.at];
          at[this.across] = across;
          at[this.down] = down;
          const { best, gain, worth } = this.ranking(at);
          const family = worth ? best.family : PLAIN;
          seen.add(family);
          const chosen = across === this.at[this.across] && down === this.at[this.down];
          const strength = worth ? Math.min(20 + 60 * gain, 65) : 12;
          const cell = make("button", {
            type: "button", tabIndex: chosen ? 0 : -1,
            style: `background: color-mix(in srgb, var(--${colours[family]}) ${strength.toFixed(0)}%, var(--card))`,
            ariaLabel: `${this.axes[this.across].title} ${over}, ${this.axes[this.down].title} ${label}: `
              + (worth ? `${best.name}, ${percent(gain)} more than without a detector` : "a detector gains nothing"),
          }, make("b", {}, worth ? `+${percent(gain)}` : "="), make("small", {}, worth ? best.name : ""));
          cell.setAttribute("role", "gridcell");
          cell.setAttribute("aria-selected", String(chosen));
          cell.onclick = () => { this.at = at; this.draw(); this.focus(); };
          line.append(cell);
        });
        this.map.append(line);
      });
      this.legend.replaceChildren(...Object.entries(colours).filter(([family]) => seen.has(family)).map(
        ([family, colour]) => make("span", {}, make("i", { style: `background: var(--${colour})` }),
          family === PLAIN ? "= detecting gains less than 3 %" : `${family} wins`)));
      if (focused) this.focus();
    }

    focus() {
      this.map.querySelector("[aria-selected=true]").focus({ preventScroll: true });
    }

    key(event) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      [this.across, this.down].forEach((axis, direction) => {
        const last = this.axes[axis].labels.length - 1;
        this.at[axis] = Math.min(Math.max(this.at[axis] + step[direction], 0), last);
      });
      this.draw();
      this.focus();
    }

    drawResult() {
      const { all, best, plain, gain, worth } = this.ranking(this.at);
      const equal = all.filter((one) => one !== best && one.mean > (1 - SAME) * best.mean).map((one) => one.name);
      const sentence = worth
        ? [make("b", {}, best.name), ` brings most, ${percent(gain)} more than the best without a detector (${plain.name}).`]
        : ["Detecting gains nothing to speak of here: ", make("b", {}, plain.name), ` is within 3 % of the best.`];
      const place = this.axes.map((axis, number) => `${axis.title} ${axis.labels[this.at[number]]}`).join(" · ");
      const list = make("ol");
      for (const one of all) {
        const width = best.mean > 0 ? (100 * one.mean) / best.mean : 0;
        const spread = one.spread > 0.0005 * one.mean ? ` ± ${percent(one.spread / one.mean)}` : "";
        const behind = one === best || best.mean === 0 ? "" : `−${percent(1 - one.mean / best.mean)}`;
        list.append(make("li", {},
          make("span", { className: "who" }, one.name),
          make("span", { className: "dim" }, behind),
          make("span", { className: "much" }, rate(one.mean), make("span", { className: "dim" }, spread)),
          make("i", { style: `width: ${width.toFixed(1)}%; background: var(--${colours[one.family]})` })));
      }
      this.result.replaceChildren(
        make("p", { className: "dim" }, place), make("p", {}, ...sentence),
        ...(worth && equal.length ? [make("p", { className: "dim" }, `As good within 3 %: ${equal.join("; ")}.`)] : []), list);
    }
  }

  for (const figure of document.querySelectorAll("figure.atlas")) {
    const [description, packed] = figure.querySelectorAll("script");
    unpack(packed.textContent).then(
      (bytes) => { new Atlas(figure, JSON.parse(description.textContent), bytes); },
    ).catch((error) => {
      figure.append(make("p", { className: "outside" }, `This map could not be drawn: ${error.message}`));
    });
  }
})();
