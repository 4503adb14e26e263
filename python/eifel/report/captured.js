// Draws one direction of a captured connection as the panel of a chart.
const captured = (() => {
  "use strict";

  // `graph` has columns of transmissions and ACKs, with times in seconds and positions in bytes.
  // `verdict` returns the verdict on a row of transmissions, if it is a retransmission.
  function chart(graph, verdict) {
    const kilo = (values) => values.map((value) => value / 1000), made = [];
    if (graph.sack_s.length) {
      made.push({ name: "SACK", colour: "sack", kind: "bars", x: graph.sack_s, y: kilo(graph.sack_start), top: kilo(graph.sack_end) });
    }
    if (graph.heard_s.length) {
      made.push({ name: "ACK", colour: "ack", kind: "steps", x: graph.heard_s, y: kilo(graph.cumulative) });
      made.push({ name: "window", colour: "limit", kind: "steps", x: graph.heard_s, y: kilo(graph.edge) });
    }
    const said = Array.from(graph.frame, (_, i) => verdict(i) || "");
    for (const [name, colour, wanted, kind] of [
      ["segment", "sent", "", "ticks"],
      ["needed retransmission", "needed", "needed", "squares"],
      ["undecidable retransmission", "drop", "undecidable", "squares"],
      ["spurious retransmission", "spurious", "spurious", "squares"],
    ]) {
      const pick = (values) => Float64Array.from(values.filter((_, i) => said[i] === wanted));
      const x = pick(graph.sent_s);
      if (x.length) made.push({ name, colour, kind, x, y: kilo(pick(graph.start)), top: kilo(pick(graph.end)) });
    }
    const end = Math.max(graph.sent_s.at(-1) || 0, graph.heard_s.at(-1) || 0) || 1;
    return { end, bands: [], panels: [{ title: "Sequence number, kB", name: "kB", height: 420, layers: made }] };
  }

  return { chart };
})();
