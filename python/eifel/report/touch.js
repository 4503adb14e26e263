// Fingers on a plot: one moves it sideways, two zoom in time, two taps show everything. Vertical
// movements scroll the page: the style has `touch-action: pan-y`, so the browser handles them.
//
// `chart` has range() -> {min, max}, zoom(min, max), everything(), and begin(), which is called
// before the first change.
function touchable(over, chart) {
  "use strict";
  const slop = 6, tap = { ms: 300, apart: 30 };
  const fingers = new Map();
  let grip = null, moved = false, last = null;

  const mean = (key) => [...fingers.values()].reduce((sum, at) => sum + at[key], 0) / fingers.size;
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return b ? Math.max(Math.hypot(a.x - b.x, a.y - b.y), 10) : 1;
  };

  // Stores the reference while the number of fingers is constant: the time between them stays in
  // place.
  function take() {
    grip = fingers.size ? { ...chart.range(), x: mean("x"), spread: spread() } : null;
  }

  function down(event) {
    if (event.pointerType !== "touch" || fingers.size === 2) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, t: event.timeStamp });
    if (fingers.size === 2) begin();
    take();
  }

  function move(event) {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    finger.x = event.clientX;
    finger.y = event.clientY;
    if (!moved && Math.abs(mean("x") - grip.x) > slop) {
      begin();
      take();
    }
    if (!moved) return;
    const { left, width } = over.getBoundingClientRect();
    const held = grip.min + (grip.x - left) / width * (grip.max - grip.min);
    const span = (grip.max - grip.min) * grip.spread / spread();
    const min = held - (mean("x") - left) / width * span;
    chart.zoom(min, min + span);
  }

  function up(event) {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    fingers.delete(event.pointerId);
    if (event.type === "pointerup" && !moved && event.timeStamp - finger.t < tap.ms) tapped(finger, event.timeStamp);
    take();
  }

  function tapped({ x, y }, t) {
    if (last && t - last.t < 2 * tap.ms && Math.hypot(x - last.x, y - last.y) < tap.apart) {
      last = null;
      chart.everything();
    } else last = { x, y, t };
  }

  function begin() {
    moved = true;
    last = null;
    chart.begin();
  }

  over.addEventListener("pointerdown", down);
  over.addEventListener("pointermove", move);
  over.addEventListener("pointerup", up);
  over.addEventListener("pointercancel", up);
  // Two fingers always belong to the chart. Otherwise the page would scroll under them.
  for (const name of ["touchstart", "touchmove"]) {
    over.addEventListener(name, (event) => { if (event.touches.length > 1) event.preventDefault(); }, { passive: false });
  }
}
