// Draws a recorded run as the panels of a chart: time and sequence, window, timer. Times are
// seconds, positions are segments.
const layers = (() => {
  "use strict";

  // The colours of an association's paths, primary first. They repeat after the last one.
  const PATHS = ["sent", "needed", "sack", "limit"];

  // Returns the indexes of the rows that `keep` accepts.
  function where(length, keep) {
    const found = new Int32Array(length);
    let count = 0;
    for (let i = 0; i < length; i++) if (keep(i)) found[count++] = i;
    return found.subarray(0, count);
  }

  function pick(values, places) {
    const picked = new Float64Array(places.length);
    for (let i = 0; i < places.length; i++) picked[i] = values[places[i]];
    return picked;
  }

  // Whole microseconds: more digits are invisible in a chart.
  const seconds = (values) => values.map((t) => Math.floor(t / 1000) / 1e6);

  // Returns the end of a flow that sends most data, as a word. Data may go both ways.
  function busier({ transmissions: sent }, words, flow) {
    const sums = new Map();
    for (let i = 0; sent.end && i < sent.len.length; i++) {
      if (sent.flow[i] === flow) sums.set(sent.end[i], (sums.get(sent.end[i]) || 0) + sent.len[i]);
    }
    const [[end] = []] = [...sums].sort((a, b) => b[1] - a[1]);
    return end === undefined ? "from" : words["transmissions.end"][end];
  }

  // Returns the rows of one end of one flow, and the codes of words:
  // `code("transmissions.kind", "new")`.
  function of({ tables, words }, flow) {
    const code = (column, word) => (words[column] || []).indexOf(word);
    const kept = {}, sender = busier(tables, words, flow);
    for (const [name, table] of Object.entries(tables)) {
      const end = code(`${name}.end`, sender), columns = Object.entries(table);
      const places = where(columns[0][1].length, (i) => (!table.flow || table.flow[i] === flow) && (!table.end || table.end[i] === end));
      kept[name] = Object.fromEntries(columns.map(([column, values]) => [column, pick(values, places)]));
    }
    return { tables: kept, code, words };
  }

  // Returns the payload of most segments, which is the unit of the vertical axis.
  function segmentSize(sent, arrivals) {
    if (!sent.t_ns.length && arrivals) return arrivals.len.reduce((most, one) => Math.max(most, one), 1);
    const counts = new Map();
    for (let i = 0; i < sent.len.length; i++) if (sent.segment[i] > 0) counts.set(sent.len[i], (counts.get(sent.len[i]) || 0) + 1);
    return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [1, 0])[0];
  }

  // Returns the paths of an association with several paths; none for a single path.
  function paths(table) {
    const found = table.path ? [...new Set(table.path)].sort((a, b) => a - b) : [];
    return found.length > 1 ? found.map((path) => [`path ${path + 1}`, PATHS[path % PATHS.length], (i) => table.path[i] === path]) : [];
  }

  // Returns the kinds of transmissions to distinguish. With several paths, each path has a colour.
  function kinds({ tables: { transmissions: sent }, code }) {
    const [fresh, again, probe] = ["new", "retransmission", "probe"].map((word) => code("transmissions.kind", word));
    const needless = code("transmissions.needed", "spurious");
    const isAgain = (i) => sent.kind[i] === again, isSpurious = (i) => isAgain(i) && sent.needed[i] === needless;
    const several = paths(sent);
    if (!several.length) {
      return [
        ["segment", "sent", "ticks", (i) => sent.kind[i] === fresh],
        ["needed retransmission", "needed", "squares", (i) => isAgain(i) && !isSpurious(i)],
        ["spurious retransmission", "spurious", "squares", isSpurious],
        ["probe", "sack", "squares", (i) => sent.kind[i] === probe],
      ];
    }
    const of = several.flatMap(([name, colour, on]) => [
      [name, colour, "ticks", (i) => on(i) && !isAgain(i)],
      [`${name}, again`, colour, "squares", (i) => on(i) && isAgain(i)],
    ]);
    return [...of, ["spurious", "spurious", "crosses", isSpurious]];
  }

  function sequence(run) {
    const { transmissions: sent, acks, drops, arrivals } = run.tables, size = segmentSize(sent, arrivals), made = [];
    const segments = (positions) => positions.map((position) => (position - 1) / size + 1);
    if (acks && acks.t_ns.length) {
      made.push(...sacks(acks, segments));
      // The line runs along the upper edge of the acknowledged data.
      made.push({ name: "ACK", colour: "ack", kind: "steps", x: seconds(acks.t_ns), y: segments(acks.cumulative) });
    }
    if (arrivals && !sent.t_ns.length) made.push(...arrived(arrivals, segments));
    for (const [name, colour, kind, keep] of kinds(run)) {
      const at = where(sent.t_ns.length, keep);
      if (at.length) made.push({ name, colour, kind, x: seconds(pick(sent.t_ns, at)), y: segments(pick(sent.start, at)), height: 1 });
    }
    if (drops && drops.t_ns.length) {
      const starts = new Map();
      for (let i = 0; i < sent.tx.length; i++) starts.set(sent.tx[i], sent.start[i]);
      // A dropped ACK has no place on this axis.
      const at = where(drops.tx.length, (i) => starts.has(drops.tx[i]));
      const y = segments(pick(drops.tx, at).map((tx) => starts.get(tx)));
      if (at.length) made.push({ name: "drop", colour: "drop", kind: "crosses", x: seconds(pick(drops.t_ns, at)), y, height: 1 });
    }
    return { title: "Segment number", name: "segment", height: 380, layers: made };
  }

  // Draws the arrivals of a run that was recorded at its receiver.
  function arrived({ t_ns, start, new_bytes: fresh, in_order: next }, segments) {
    const told = [
      ["arrived in order", "sent", "ticks", (i) => next[i]],
      ["arrived beyond a gap, or into one", "sack", "squares", (i) => !next[i] && fresh[i] > 0],
      ["had arrived before", "spurious", "squares", (i) => !next[i] && fresh[i] === 0],
    ];
    return told
      .map(([name, colour, kind, keep]) => [name, colour, kind, where(t_ns.length, keep)])
      .filter(([, , , at]) => at.length)
      .map(([name, colour, kind, at]) => ({ name, colour, kind, x: seconds(pick(t_ns, at)), y: segments(pick(start, at)), height: 1 }));
  }

  function sacks(acks, segments) {
    const found = [];
    for (const block of [1, 2, 3]) {
      const start = acks[`sack${block}_start`], end = acks[`sack${block}_end`];
      for (let i = 0; start && i < start.length; i++) if (start[i] >= 0) found.push([acks.t_ns[i], start[i], end[i]]);
    }
    if (!found.length) return [];
    found.sort((a, b) => a[0] - b[0]);
    const part = (place) => Float64Array.from(found, (one) => one[place]);
    return [{ name: "SACK", colour: "sack", kind: "bars", x: seconds(part(0)), y: segments(part(1)), top: segments(part(2)) }];
  }

  function windowPanel({ tables: { window: table } }) {
    const made = [];
    const add = (name, colour, values, keep) => {
      const at = where(table.t_ns.length, keep);
      if (at.length) made.push({ name, colour, kind: "steps", x: seconds(pick(table.t_ns, at)), y: pick(values, at).map((bytes) => bytes / 1000) });
    };
    if (table && table.t_ns.length) {
      const highest = (values) => values.reduce((most, value) => Math.max(most, value), 1);
      const roof = 2 * Math.max(highest(table.cwnd), highest(table.flight)), several = paths(table);
      for (const [name, colour, on] of several) add(`cwnd, ${name}`, colour, table.cwnd, on);
      if (!several.length) {
        for (const [name, colour] of [["flight", "ack"], ["ssthresh", "spurious"], ["cwnd", "sent"]]) {
          // "Arbitrarily high" values are not drawn, since they would squeeze everything else to
          // the bottom.
          add(name, colour, table[name], (i) => table[name][i] >= 0 && table[name][i] <= roof);
        }
      }
    }
    return { title: "Window, kB", name: "kB", height: 200, layers: made };
  }

  function timer({ tables: { timer: table }, code }) {
    const made = [];
    const add = (name, colour, kind, values, keep) => {
      const at = where(table.t_ns.length, keep);
      if (at.length) made.push({ name, colour, kind, x: seconds(pick(table.t_ns, at)), y: seconds(pick(values, at)) });
    };
    if (table && table.t_ns.length) {
      const is = (word) => { const wanted = code("timer.event", word); return (i) => table.event[i] === wanted; };
      const isSample = is("sample"), hasRto = (i) => table.rto_ns[i] >= 0, several = paths(table);
      for (const [name, colour, on] of several) {
        add(`RTT sample, ${name}`, colour, "dots", table.rtt_ns, (i) => on(i) && isSample(i));
        add(`RTO, ${name}`, colour, "steps", table.rto_ns, (i) => on(i) && hasRto(i));
      }
      if (!several.length) {
        add("RTT sample", "sent", "dots", table.rtt_ns, isSample);
        add("SRTT", "limit", "steps", table.srtt_ns, (i) => table.srtt_ns[i] >= 0);
        add("RTO", "needed", "steps", table.rto_ns, hasRto);
      }
      add("timeout", "spurious", "crosses", table.rto_ns, is("expired"));
    }
    return { title: "RTT, RTO, s", name: "s", height: 200, layers: made };
  }

  function bands({ tables: { spikes, episodes }, code }, end) {
    const found = [];
    if (spikes) {
      // A spike in both directions gets one band.
      const pairs = new Set(Array.from(spikes.start_ns, (start, i) => `${start} ${spikes.end_ns[i]}`));
      for (const pair of pairs) {
        const [from, to] = pair.split(" ").map((t) => t / 1e9);
        found.push({ name: "spike", from, to });
      }
    }
    const timeout = code("episodes.cause", "timeout");
    for (let i = 0; episodes && i < episodes.opened_ns.length; i++) {
      if (episodes.cause[i] !== timeout) continue;
      found.push({ name: "episode", from: episodes.opened_ns[i] / 1e9, to: episodes.closed_ns[i] >= 0 ? episodes.closed_ns[i] / 1e9 : end });
    }
    return found;
  }

  // Returns the time of the last row, in seconds.
  function last(tables) {
    const ends = ["transmissions", "acks", "window", "arrivals"].map((name) => (tables[name] && tables[name].t_ns.at(-1)) || 0);
    return Math.max(...ends) / 1e9;
  }

  // Returns the chart of one flow of a run.
  function chart(answer, flow) {
    const run = of(answer, flow), end = last(run.tables);
    return { end, bands: bands(run, end), panels: [sequence(run), windowPanel(run), timer(run)] };
  }

  return { chart, of, segmentSize };
})();
