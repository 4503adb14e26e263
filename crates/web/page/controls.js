// The controls of a scenario. Each one reads its value from the scenario, and writes it there.
const controls = (() => {
  "use strict";

  const flow = (scenario) => scenario.flow[0];

  // Returns the link of the sliders: the one of a short form, or else the slowest.
  function bottleneck(scenario) {
    if (scenario.point_to_point) return [scenario.point_to_point, "bottleneck"];
    if (scenario.dumbbell) return [scenario.dumbbell.bottleneck, "bottleneck"];
    const rate = (link) => (typeof link.rate_bps === "number" ? link.rate_bps : Infinity);
    const found = scenario.link.reduce((slowest, link) => (rate(link) < rate(slowest) ? link : slowest));
    return [found, found.name];
  }

  const link = (scenario) => bottleneck(scenario)[0];

  function spike(scenario) {
    const at = scenario.spike && scenario.spike[0].at;
    return at ? at[0] : null;
  }

  function spikeLength(one) {
    if (!one) return 0;
    return one.length_s ?? one.end_s - one.start_s;
  }

  function writeSpike(scenario, start, length) {
    if (length <= 0) {
      delete scenario.spike;
      return;
    }
    const before = (scenario.spike && scenario.spike[0]) || { links: [bottleneck(scenario)[1]], holds: "arriving" };
    const { links, holds } = before;
    scenario.spike = [{ links, ...(holds ? { holds } : {}), at: [{ start_s: start, length_s: length }] }];
  }

  const duration = (scenario) => scenario.duration_s ?? 60;

  const path = [
    { key: "rate_bps", of: "link", label: "Rate", min: 1e4, max: 1e9, log: true, text: rate,
      read: (scenario) => (typeof link(scenario).rate_bps === "number" ? link(scenario).rate_bps : null),
      write: (scenario, value) => {
        delete link(scenario).trace;
        link(scenario).rate_bps = Math.round(value);
      } },
    { key: "delay_ms", of: "link", label: "Delay one way", min: 0, max: 2000, step: 1, text: (value) => `${+value.toPrecision(4)} ms`,
      read: (scenario) => link(scenario).delay_ms, write: (scenario, value) => { link(scenario).delay_ms = value; } },
    { key: "queue", of: "link", label: "Queue", min: 1, max: 1000, log: true,
      text: (value) => (value >= 1000 ? "unlimited" : `${Math.round(value)} packets`),
      read: (scenario) => { const queue = link(scenario).queue; return queue && queue.packets ? queue.packets : 1000; },
      write: (scenario, value) => {
        link(scenario).queue = value >= 1000 ? { kind: "unlimited" } : { kind: "drop-tail", packets: Math.max(1, Math.round(value)) };
      } },
    { key: "spike_start_s", of: "spike-at", schema: "start_s", label: "Spike at", min: 0, max: duration, step: 0.05, text: seconds,
      read: (scenario) => { const one = spike(scenario); return one ? one.start_s : duration(scenario) / 4; },
      write: (scenario, value) => writeSpike(scenario, value, spikeLength(spike(scenario))) },
    { key: "spike_length_s", of: "spike-at", schema: "length_s", label: "Spike's length", min: 0, max: (scenario) => duration(scenario) / 3, step: 0.01,
      text: (value) => (value > 0 ? seconds(value) : "none"),
      read: (scenario) => spikeLength(spike(scenario)),
      write: (scenario, value) => writeSpike(scenario, (spike(scenario) || { start_s: duration(scenario) / 4 }).start_s, value) },
    { key: "loss", of: "link", label: "Loss", min: 0, max: 0.1, step: 0.001, text: percent,
      read: (scenario) => { const loss = link(scenario).loss; return loss && loss.rate ? loss.rate : 0; },
      write: (scenario, value) => { if (value > 0) link(scenario).loss = { kind: "random", rate: value }; else delete link(scenario).loss; } },
    { key: "reorder", of: "link", label: "Reordered", min: 0, max: 0.2, step: 0.002, text: percent,
      read: (scenario) => { const reorder = link(scenario).reorder; return reorder && reorder.rate ? reorder.rate : 0; },
      write: (scenario, value) => {
        const length = (link(scenario).reorder || {}).length || 4;
        if (value > 0) link(scenario).reorder = { rate: value, length }; else delete link(scenario).reorder;
      } },
    { key: "reorder_length", of: "reorder", schema: "length", label: "... overtaken by", min: 1, max: 30, step: 1, text: (value) => `${value} packets`,
      read: (scenario) => { const reorder = link(scenario).reorder; return reorder && reorder.length ? reorder.length : 4; },
      write: (scenario, value) => { const reorder = link(scenario).reorder; if (reorder) reorder.length = value; } },
    { key: "duration_s", of: "", label: "Run", min: 1, max: 600, log: true, text: (value) => `${+value.toPrecision(3)} s`,
      read: duration, write: (scenario, value) => { scenario.duration_s = +value.toPrecision(3); } },
  ];

  function rate(bps) {
    const [unit, name] = bps >= 1e9 ? [1e9, "Gbit/s"] : bps >= 1e6 ? [1e6, "Mbit/s"] : [1e3, "kbit/s"];
    return `${+(bps / unit).toPrecision(3)} ${name}`;
  }

  function seconds(value) {
    return `${+value.toFixed(2)} s`;
  }

  function percent(value) {
    return `${+(100 * value).toFixed(2)} %`;
  }

  // Replaces the link's rate by a recorded link.
  function record(scenario, milliseconds) {
    delete link(scenario).rate_bps;
    delete link(scenario).rate_changes;
    link(scenario).trace = milliseconds;
  }

  // Returns the sender's choices. Those of the flow override those for all flows.
  function sender(scenario) {
    return { ...scenario.sender, ...flow(scenario).sender };
  }

  function choose(scenario, seam, choice) {
    const table = (flow(scenario).sender ||= {});
    if (choice === null) delete table[seam]; else table[seam] = choice;
  }

  const transport = (scenario) => flow(scenario).transport || "tcp";

  // Switches the transfer to the other transport. Drops the settings that only one transport knows.
  function carry(scenario, wanted) {
    const one = flow(scenario);
    if (transport(scenario) === wanted) return;
    delete scenario.sender;
    delete one.sender;
    if (wanted === "sctp") {
      for (const key of ["tcp", "handshake", "answering_tcp", "answering_sender", "liar", "isn"]) delete one[key];
      delete scenario.tcp;
      one.transport = "sctp";
    } else {
      for (const key of ["sctp", "answering_sctp", "alternates", "transport"]) delete one[key];
      delete scenario.sctp;
    }
  }

  // Switches on the signal that a detector needs from the transport.
  function provide(scenario, need) {
    const over = transport(scenario), table = (flow(scenario)[over] ||= {});
    if (over === "sctp") {
      if (need === "timestamps" && (table.timestamp_chunk || "off") === "off") table.timestamp_chunk = "agreed";
      if (need === "retransmission marks") table.retransmit_bit = true;
    } else {
      if (need === "timestamps") table.timestamps = true;
      if (need === "retransmission marks") table.retransmission_marks ||= "bits";
      if (need === "SACK" || need === "DSACK") table.sack = true;
      if (need === "DSACK") table.dsack = true;
    }
  }

  return { path, bottleneck, record, sender, choose, transport, carry, provide };
})();
