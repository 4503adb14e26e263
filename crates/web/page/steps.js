// Steps from event to event: what happened, which part decided, and why, in the words of the
// algorithms' files.
const steps = (() => {
  "use strict";

  // The order of simultaneous events: an ACK comes before its effects.
  const ORDER = ["spike", "drop", "ack", "timer", "verdict", "episode", "window", "sent"];

  const seconds = (ns) => `${(ns / 1e9).toFixed(3)} s`;

  function why(registry, algorithms, seam) {
    const name = algorithms[seam], entry = registry.find((one) => one.seam === seam.replace("_", "-") && one.name === name);
    return entry ? { part: name, words: `${entry.summary} (${entry.source})` } : null;
  }

  // Returns all events of a run in order: time, text, and the parts that decided.
  function events(run, answer, registry) {
    const { tables, words } = run, found = [], algorithms = answer.algorithms[0];
    const size = layers.segmentSize(tables.transmissions);
    const segment = (position) => Math.floor((position - 1) / size) + 1;
    const part = (seam) => why(registry, algorithms, seam);
    const add = (kind, t, text, ...parts) => found.push({ kind, t, text, parts: parts.filter(Boolean) });
    const word = (table, column, i) => (words[`${table}.${column}`] || [])[tables[table][column][i]];
    spikesInto(tables, add);
    for (const [i, t] of (tables.drops ? tables.drops.t_ns : []).entries()) add("drop", t, `A packet is dropped on ${word("drops", "link", i)}: ${word("drops", "cause", i)}.`);
    acksInto(tables.acks, segment, add);
    timerInto(tables.timer, word, part, add);
    for (const [i, t] of tables.verdicts.t_ns.entries()) {
      const detector = word("verdicts", "detector", i), entry = registry.find((one) => one.seam === "detect" && one.name === detector);
      const parts = [entry && { part: detector, words: `${entry.summary} (${entry.source})` }];
      const verdict = word("verdicts", "verdict", i);
      if (verdict === "spurious" && tables.verdicts.acting[i]) parts.push(part("grant"), part("respond"), part("after_spurious"));
      add("verdict", t, `${detector} calls episode ${tables.verdicts.episode[i]} ${verdict}${reason(word, i)}.`, ...parts);
    }
    episodesInto(tables.episodes, word, part, add);
    windowInto(tables.window, part, add);
    sentInto(tables.transmissions, word, part, add);
    return found.map((event, place) => ({ ...event, place }))
      .sort((a, b) => a.t - b.t || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || a.place - b.place);
  }

  function reason(word, i) {
    const said = word("verdicts", "reason", i);
    return said && said !== "-" ? `: ${said}` : "";
  }

  function spikesInto(tables, add) {
    const seen = new Set();
    for (const [i, t] of (tables.spikes ? tables.spikes.start_ns : []).entries()) {
      const end = tables.spikes.end_ns[i];
      if (seen.has(`${t} ${end}`)) continue;
      seen.add(`${t} ${end}`);
      add("spike", t, `A delay spike of ${seconds(end - t)} begins: packets are held.`);
      add("spike", end, "The spike ends: what was held goes on.");
    }
  }

  function acksInto(acks, segment, add) {
    for (const [i, t] of (acks ? acks.t_ns : []).entries()) {
      const sack = acks.sack1_start && acks.sack1_start[i] >= 0 ? `, with SACK from segment ${segment(acks.sack1_start[i])} to ${segment(acks.sack1_end[i] - 1)}` : "";
      const dsack = acks.dsack_start && acks.dsack_start[i] >= 0 ? `, and reports segment ${segment(acks.dsack_start[i])} as a duplicate` : "";
      add("ack", t, `${acks.duplicate[i] ? "A duplicate ACK" : "An ACK"} arrives: everything below segment ${segment(acks.cumulative[i])}${sack}${dsack}.`);
    }
  }

  function timerInto(timer, word, part, add) {
    for (const [i, t] of (timer ? timer.t_ns : []).entries()) {
      const rto = timer.rto_ns[i] >= 0 ? seconds(timer.rto_ns[i]) : "unset", event = word("timer", "event", i);
      const text = {
        sample: `A round trip of ${seconds(timer.rtt_ns[i])} is measured: SRTT ${seconds(timer.srtt_ns[i])}, RTO ${rto}.`,
        "back-off": `The timer backs off: RTO ${rto}.`,
        expired: "The retransmission timer expires.",
        adapted: `The timer adapts after a verdict: RTO ${rto}.`,
      }[event];
      add("timer", t, text, part(event === "adapted" ? "after_spurious" : "rto"));
    }
  }

  function episodesInto(episodes, word, part, add) {
    for (const [i, t] of (episodes ? episodes.opened_ns : []).entries()) {
      const timeout = word("episodes", "cause", i) === "timeout";
      add("episode", t, `Episode ${episodes.episode[i]} begins with a ${timeout ? "timeout" : "fast retransmit"}; in truth it is ${word("episodes", "truth", i)}. The window is remembered: ${episodes.saved_cwnd[i]} bytes.`,
        part("recover"), part("congest"));
      if (episodes.closed_ns[i] >= 0) add("episode", episodes.closed_ns[i], `Episode ${episodes.episode[i]} ends.`);
    }
  }

  function windowInto(window, part, add) {
    for (const [i, t] of (window ? window.t_ns : []).entries()) {
      if (i === 0 || (window.cwnd[i] === window.cwnd[i - 1] && window.ssthresh[i] === window.ssthresh[i - 1])) continue;
      const threshold = window.ssthresh[i] >= 0 && window.ssthresh[i] !== window.ssthresh[i - 1] ? `, ssthresh to ${window.ssthresh[i]}` : "";
      add("window", t, `The congestion window goes from ${window.cwnd[i - 1]} to ${window.cwnd[i]} bytes${threshold}.`, part("congest"));
    }
  }

  function sentInto(sent, word, part, add) {
    for (const [i, t] of sent.t_ns.entries()) {
      const again = sent.copy[i] > 0, needed = word("transmissions", "needed", i);
      const what = sent.segment[i] > 0 ? `Segment ${sent.segment[i]}` : `Position ${sent.start[i]}`;
      if (again) {
        const cause = word("transmissions", "cause", i) === "timeout" ? "after a timeout" : "as a fast retransmit";
        add("sent", t, `${what} is retransmitted ${cause}: ${needed === "spurious" ? "needless, for the original arrives or has arrived" : "needed"}.`, part("recover"));
      } else add("sent", t, `${what} is sent.`, part("pace"));
    }
  }

  const RARE = new Set(["spike", "drop", "timer", "verdict", "episode"]);

  function start({ sides, registry }) {
    const $ = (id) => document.getElementById(id);
    let list = [], at = 0, chosen = "b";

    function load() {
      const one = sides[chosen];
      if (!one.answer) return;
      const t = list[at] ? list[at].t : 0;
      list = events(layers.of(one.answer, 0), one.answer, registry);
      at = Math.max(0, list.findIndex((event) => event.t >= t));
      $("step-place").max = Math.max(list.length - 1, 0);
      show();
    }

    function show() {
      const event = list[at];
      if (!event) return;
      $("step-place").value = at;
      $("step-count").textContent = `${at + 1} of ${list.length}`;
      $("step-time").textContent = seconds(event.t);
      $("step-text").textContent = event.text;
      $("step-why").replaceChildren(...event.parts.map((one) => menus.element("li", {}, menus.element("b", { textContent: one.part }), ` ${one.words}`)));
      const chart = sides[chosen].chart;
      chart.bands = [...chart.bands.filter((band) => band.name !== "step"), { name: "step", from: event.t / 1e9, to: event.t / 1e9 }];
      chart.redraw();
    }

    function go(by) {
      at = Math.min(Math.max(at + by, 0), list.length - 1);
      show();
    }

    // Moves to the next event of a rare kind.
    function rare(by) {
      let place = at + by;
      while (list[place] && !(RARE.has(list[place].kind) && !list[place].text.startsWith("A round trip"))) place += by;
      if (list[place]) at = place;
      show();
    }

    for (const [id, act] of [["step-first", () => go(-Infinity)], ["step-back", () => go(-1)], ["step-next", () => go(1)], ["step-rare", () => rare(1)], ["step-rare-back", () => rare(-1)]]) {
      $(id).addEventListener("click", act);
    }
    $("step-place").addEventListener("input", () => { at = Number($("step-place").value); show(); });
    $("step-side").addEventListener("change", () => { chosen = $("step-side").value; at = 0; list = []; load(); });
    $("steps").addEventListener("toggle", () => { if ($("steps").open) load(); });
    $("steps").addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.target.tagName === "SELECT" || event.target.type === "range") return;
      event.preventDefault();
      if (event.shiftKey) rare(by); else go(by);
    });
    document.addEventListener("run", ({ detail }) => {
      if (!$("steps").open) return;
      // The other side's run may have redrawn this chart.
      if (detail.name === chosen) load(); else show();
    });
  }

  return { start, events };
})();
