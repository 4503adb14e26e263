// Sentences about the cost of a run.
const words = (() => {
  "use strict";

  const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

  function bytes(number) {
    return number >= 1e6 ? `${+(number / 1e6).toPrecision(3)} MB` : number >= 1e3 ? `${+(number / 1e3).toPrecision(3)} kB` : `${number} bytes`;
  }

  function rate(bps) {
    return bps >= 1e6 ? `${+(bps / 1e6).toPrecision(3)} Mbit/s` : `${+(bps / 1e3).toPrecision(3)} kbit/s`;
  }

  // Returns the bytes that both ends of the first flow retransmitted needlessly.
  function needless({ tables: { transmissions: sent }, words }, payload) {
    const spurious = words["transmissions.needed"].indexOf("spurious");
    let sum = 0;
    for (let i = 0; i < sent.len.length; i++) {
      if (sent.flow[i] === 0 && sent.segment[i] > 0 && sent.needed[i] === spurious && sent.copy[i] > 0) sum += sent.len[i] * payload;
    }
    return sum;
  }

  function cost(flow, run, messageBytes) {
    const again = flow.retransmissions, spurious = flow.spurious_retransmissions;
    const first = again === 0 ? "Nothing was retransmitted." :
      spurious === 0 ? `${count(again, "retransmission")}: ${again === 1 ? "it was" : "all were"} needed.` :
      `${spurious} of ${count(again, "retransmission")} ${spurious === 1 ? "was" : "were"} needless: ${bytes(needless(run, messageBytes))} sent for nothing.`;
    const undone = flow.undos ? ` The response restored the window ${flow.undos === 1 ? "once" : `${flow.undos} times`}.` : "";
    const done = flow.completed ? ` Done after ${+flow.time_s.toPrecision(4)} s.` : ` ${rate(flow.goodput_bps)}.`;
    return `${first}${undone}${done}`;
  }

  function compared(a, b) {
    const done = a.completed && b.completed;
    const [one, other] = done ? [b.time_s, a.time_s] : [a.goodput_bps, b.goodput_bps];
    if (!(one > 0 && other > 0)) return "";
    const more = Math.round(100 * (other / one - 1));
    if (more === 0) return done ? "Both take the same time." : "Both deliver as much.";
    return `The second sender is ${more > 0 ? "faster" : "slower"} by ${Math.abs(more)} %.`;
  }

  return { cost, compared, bytes, count, rate };
})();
