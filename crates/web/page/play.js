// The playground: one path, two senders, and a chart of each. The last state wins: during a run,
// only the newest change waits.
(async () => {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const { presets, recordings, registry, described } = data;
  const TABLES = ["transmissions", "acks", "drops", "window", "timer", "episodes", "verdicts", "spikes"];
  const REDRAWN_AFTER_MS = 15;
  // The preset whose capture is the example: needless retransmissions, their cost, and what to set.
  const EXAMPLE = "bandwidth-change";
  const $ = (id) => document.getElementById(id);
  const say = (text) => { $("said").textContent = text; };
  const { element } = menus;

  const wasm = await engineBytes();
  const source = $("worker").textContent;
  let now = linked();
  // A link is to a run; captures come first on the page.
  if (location.hash.length > 1) $("play").scrollIntoView();
  const folded = { a: new Set(), b: new Set() };
  const sides = { a: side("a"), b: side("b") };

  // Returns the state in the address. If it cannot be read, shows the reason and returns the first
  // preset.
  function linked() {
    try {
      return state.read(location.hash, presets[0].id);
    } catch (error) {
      say(error.message);
      return state.empty(presets[0].id);
    }
  }

  function side(name) {
    return { name, remote: new Remote(wasm, source), running: false, waiting: null, chart: null, answer: null, description: null, until: 0 };
  }

  async function engineBytes() {
    const packed = Uint8Array.from(atob(document.getElementById("engine").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function scenarioOf(name) {
    return state.scenario(now, name, data);
  }

  // Runs a side in its present state.
  async function run(one) {
    if (one.running) {
      one.waiting = true;
      return;
    }
    one.running = true;
    do {
      one.waiting = false;
      try {
        if (one.remote.ended) one.remote = new Remote(wasm, source);
        const scenario = scenarioOf(one.name), text = JSON.stringify(scenario);
        const answer = await one.remote.ask({ ask: "run", tables: TABLES }, new TextEncoder().encode(text));
        show(one, answer, scenario);
      } catch (error) {
        refuse(one, error);
      }
    } while (one.waiting);
    one.running = false;
  }

  function show(one, answer, scenario) {
    const flows = JSON.parse(answer.summary), flow = flows[0];
    const first = one.answer === null;
    one.answer = answer;
    one.scenario = scenario;
    one.summary = flow;
    one.description = layers.chart(answer, 0);
    const drawn = Object.values(sides).filter((other) => other.description);
    const until = Math.max(...drawn.map((other) => other.description.end));
    for (const other of drawn) if (other === one || other.until !== until) draw(other, until);
    const figure = $(`chart-${one.name}`);
    const message = controls.transport(scenario) === "sctp" ? (scenario.flow[0].sctp || {}).message_bytes || 1000 : 1;
    $(`cost-${one.name}`).textContent = words.cost(flow, answer, message);
    $(`cost-${one.name}`).className = flow.spurious_retransmissions ? "cost outside" : "cost";
    $(`failed-${one.name}`).hidden = true;
    $("compared").textContent = sides.a.summary && sides.b.summary ? words.compared(sides.a.summary, sides.b.summary) : "";
    if (first) renderSender(one.name);
    document.dispatchEvent(new CustomEvent("run", { detail: one }));
    figure.dataset.runs = String(Number(figure.dataset.runs || 0) + 1);
  }

  // Both charts share one time axis, so that they can be compared.
  function draw(one, until) {
    const figure = $(`chart-${one.name}`), description = { ...one.description, until };
    one.until = until;
    if (one.chart) one.chart.show(description);
    else one.chart = figure.chart = new Chart(figure, description);
  }

  function refuse(one, error) {
    $(`failed-${one.name}`).hidden = false;
    $(`failed-${one.name}`).textContent = error.message;
  }

  let settled = 0;
  function changed(render = false) {
    for (const one of Object.values(sides)) run(one);
    clearTimeout(settled);
    settled = setTimeout(() => history.replaceState(null, "", state.write(now)), 20 * REDRAWN_AFTER_MS);
    if (render) renderAll();
  }

  function renderAll() {
    renderPath();
    renderSender("a");
    renderSender("b");
  }

  function renderPath() {
    const scenario = scenarioOf("a"), box = $("path");
    if (now.own && !$("preset").querySelector("option[value='']")) $("preset").prepend(element("option", { value: "", textContent: "from the link" }));
    $("preset").value = now.own ? "" : now.preset;
    $("about").textContent = state.base(now, presets).about;
    $("transport").value = controls.transport(scenario);
    $("trace").value = now.trace || "";
    box.replaceChildren(...controls.path.map((control) => menus.slider(
      control, (described[control.of] || {})[control.schema || control.key], scenario,
      (value) => { now.path[control.key] = value; changed(); },
    )));
  }

  // Returns the algorithms in use: those that the scenario names, or else the engine's defaults.
  function used(name) {
    const scenario = scenarioOf(name), says = controls.sender(scenario), found = {};
    const usual = sides[name].answer ? sides[name].answer.algorithms[0] : {};
    for (const [seam] of menus.SEAMS) {
      const choice = says[seam] ?? usual[seam];
      if (choice !== undefined) found[seam] = typeof choice === "string" ? { name: choice } : choice;
    }
    return found;
  }

  function renderSender(name) {
    const over = controls.transport(scenarioOf(name));
    $(`sender-${name}`).replaceChildren(...menus.sender(registry, over, used(name), (seam, choice) => {
      now.senders[name][seam] = choice;
      changed();
      renderSender(name);
    }, folded[name]));
  }

  for (const group of new Set(presets.map((one) => one.group))) {
    const options = presets.filter((one) => one.group === group);
    $("preset").append(element("optgroup", { label: group }, ...options.map((one) => element("option", { value: one.id, textContent: one.title }))));
  }
  $("trace").append(element("option", { value: "", textContent: "none" }), ...Object.keys(recordings).map((name) => element("option", { value: name, textContent: name })));
  $("preset").addEventListener("change", () => { now = state.empty($("preset").value); changed(true); });
  $("transport").addEventListener("change", () => { now.transport = $("transport").value; now.senders = { a: {}, b: {} }; forget(); changed(true); });
  $("trace").addEventListener("change", () => { now.trace = $("trace").value || null; delete now.path.rate_bps; changed(true); });
  $("reset").addEventListener("click", () => { now = state.empty(now.preset, now.own); changed(true); });
  addEventListener("hashchange", () => { now = linked(); forget(); changed(true); });

  // The engine's choices for another transport are no longer valid.
  function forget() {
    for (const one of Object.values(sides)) one.answer = null;
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied.`);
    } catch {
      $("copied").hidden = false;
      $("copied").value = text;
      $("copied").select();
      say(`${what}: copy it from the field.`);
    }
  }
  $("link").addEventListener("click", () => copy(`${location.href.split("#")[0]}${state.write(now)}`, "Link"));
  for (const name of ["a", "b"]) {
    $(`toml-${name}`).addEventListener("click", async () => {
      const { toml } = await sides[name].remote.ask({ ask: "toml" }, new TextEncoder().encode(JSON.stringify(scenarioOf(name))));
      copy(toml, "Scenario");
    });
  }

  steps.start({ sides, registry });
  drop.start({ wasm, source, registry, example: presets.find((one) => one.id === EXAMPLE).scenario });
  renderAll();
  changed();
  document.body.dataset.ready = "yes";
})();
