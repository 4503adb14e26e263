// A run's tables as the panels of a chart, as report/chart.py makes them.
const layers = (() => {
  "use strict";

  // The rows of a table that `keep` takes, as a new table.
  function rows(table, keep) {
    const names = Object.keys(table), length = table[names[0]].length, kept = [];
    for (let i = 0; i < length; i++) if (keep(i)) kept.push(i);
    return Object.fromEntries(names.map((name) => [name, Float64Array.from(kept, (i) => table[name][i])]));
  }

  const seconds = (values) => Float64Array.from(values, (t) => Math.floor(t / 1000) / 1e6);

  // Tables of one flow, with the codes of their words: `code("transmissions.kind", "new")`.
  function of(answer, flow) {
    const words = answer.words;
    const tables = {};
    for (const [name, table] of Object.entries(answer.tables)) {
      tables[name] = table.flow ? rows(table, (i) => table.flow[i] === flow) : table;
    }
    const code = (column, word) => (words[column] || []).indexOf(word);
    return { tables, code, words };
  }

  // The payload of most segments, which is the unit of the vertical axis.
  function segmentSize(sent) {
    const counts = new Map();
    for (let i = 0; i < sent.len.length; i++) if (sent.segment[i] > 0) counts.set(sent.len[i], (counts.get(sent.len[i]) || 0) + 1);
    return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [1, 0])[0];
  }

  function sequence({ tables, code }) {
    const sent = tables.transmissions, size = segmentSize(sent), made = [];
    const segment = (position) => (position - 1) / size + 1;
    const spurious = code("transmissions.needed", "spurious");
    const kinds = ["new", "retransmission", "probe"].map((word) => code("transmissions.kind", word));
    const acks = tables.acks;
    if (acks && acks.t_ns.length) {
      const sacks = [];
      for (const block of [1, 2, 3]) {
        const start = acks[`sack${block}_start`], end = acks[`sack${block}_end`];
        for (let i = 0; start && i < start.length; i++) if (start[i] >= 0) sacks.push([acks.t_ns[i], segment(start[i]), segment(end[i])]);
      }
      sacks.sort((a, b) => a[0] - b[0]);
      if (sacks.length) {
        made.push({ name: "SACK", colour: "sack", kind: "bars", x: seconds(sacks.map((one) => one[0])),
          y: Float64Array.from(sacks, (one) => one[1]), top: Float64Array.from(sacks, (one) => one[2]) });
      }
      made.push({ name: "ACK", colour: "ack", kind: "steps", x: seconds(acks.t_ns), y: acks.cumulative.map(segment) });
    }
    for (const [name, colour, kind, keep] of [
      ["segment", "sent", "ticks", (i) => sent.kind[i] === kinds[0]],
      ["needed retransmission", "needed", "squares", (i) => sent.kind[i] === kinds[1] && sent.needed[i] !== spurious],
      ["spurious retransmission", "spurious", "squares", (i) => sent.kind[i] === kinds[1] && sent.needed[i] === spurious],
      ["probe", "sack", "squares", (i) => sent.kind[i] === kinds[2]],
    ]) {
      const found = rows(sent, keep);
      if (found.t_ns.length) made.push({ name, colour, kind, x: seconds(found.t_ns), y: found.start.map(segment), height: 1 });
    }
    const drops = tables.drops;
    if (drops && drops.t_ns.length) {
      const starts = new Map();
      for (let i = 0; i < sent.tx.length; i++) starts.set(sent.tx[i], sent.start[i]);
      const known = rows(drops, (i) => starts.has(drops.tx[i]));
      if (known.t_ns.length) {
        made.push({ name: "drop", colour: "drop", kind: "crosses", x: seconds(known.t_ns), height: 1,
          y: known.tx.map((tx) => segment(starts.get(tx))) });
      }
    }
    return { title: "Segment number", name: "segment", height: 380, layers: made };
  }

  // The paths of a table: what is behind a layer's name, and which rows are its.
  function paths(table) {
    const found = table.path ? [...new Set(table.path)].sort() : [0];
    return found.map((path) => ({
      called: path === 0 ? "" : `, path ${path + 1}`, other: path !== 0, on: (i) => !table.path || table.path[i] === path,
    }));
  }

  function windowPanel({ tables }) {
    const table = tables.window, made = [];
    if (table && table.t_ns.length) {
      const highest = (values) => values.reduce((most, value) => Math.max(most, value), 1);
      const roof = 2 * Math.max(highest(table.cwnd), highest(table.flight));
      for (const { called, on, other } of paths(table)) {
        for (const [name, colour] of [["flight", "ack"], ["ssthresh", "spurious"], ["cwnd", other ? "limit" : "sent"]]) {
          // "Arbitrarily high" is not drawn: it would squeeze everything else to the bottom.
          const shown = rows(table, (i) => on(i) && table[name][i] >= 0 && table[name][i] <= roof);
          // Of another path the window says enough.
          if (!shown.t_ns.length || (other && name !== "cwnd")) continue;
          made.push({ name: name + called, colour, kind: "steps", x: seconds(shown.t_ns), y: shown[name].map((bytes) => bytes / 1000) });
        }
      }
    }
    return { title: "Window, kB", name: "kB", height: 200, layers: made };
  }

  function timer({ tables, code }) {
    const table = tables.timer, made = [];
    if (table && table.t_ns.length) {
      const is = (word) => { const wanted = code("timer.event", word); return (i) => table.event[i] === wanted; };
      for (const { called, on, other } of paths(table)) {
        for (const [name, colour, kind, keep, column] of [
          ["RTT sample", other ? "sack" : "sent", "dots", is("sample"), "rtt_ns"],
          ["SRTT", other ? "sack" : "limit", "steps", (i) => table.srtt_ns[i] >= 0, "srtt_ns"],
          ["RTO", other ? "ack" : "needed", "steps", (i) => table.rto_ns[i] >= 0, "rto_ns"],
          ["timeout", "spurious", "crosses", is("expired"), "rto_ns"],
        ]) {
          const found = rows(table, (i) => on(i) && keep(i));
          if (found.t_ns.length) made.push({ name: name + called, colour, kind, x: seconds(found.t_ns), y: seconds(found[column]) });
        }
      }
    }
    return { title: "RTT and RTO, s", name: "s", height: 200, layers: made };
  }

  function bands({ tables, code }, end) {
    const found = [];
    const spikes = tables.spikes;
    if (spikes) {
      const pairs = new Set(Array.from(spikes.start_ns, (start, i) => `${start} ${spikes.end_ns[i]}`));
      for (const pair of pairs) {
        const [from, to] = pair.split(" ").map((t) => t / 1e9);
        found.push({ name: "spike", from, to });
      }
    }
    const episodes = tables.episodes, timeout = code("episodes.cause", "timeout");
    for (let i = 0; episodes && i < episodes.opened_ns.length; i++) {
      if (episodes.cause[i] !== timeout) continue;
      found.push({ name: "episode", from: episodes.opened_ns[i] / 1e9, to: episodes.closed_ns[i] >= 0 ? episodes.closed_ns[i] / 1e9 : end });
    }
    return found;
  }

  // What a chart shows of one flow of a run.
  function chart(answer, flow) {
    const run = of(answer, flow), end = answer.duration_s;
    return { end, bands: bands(run, end), panels: [sequence(run), windowPanel(run), timer(run)] };
  }

  return { chart, of, rows, segmentSize };
})();
