// The page's state as the fragment of its address: a preset, or a scenario as JSON in base64url,
// and the changes to it. `#preset=spike&loss=0.01&a.detect=none&b.rto=rfc6298&b.rto.minimum_ms=200`
const state = (() => {
  "use strict";

  function empty(preset, own = null) {
    return { preset, own, transport: null, trace: null, path: {}, senders: { a: {}, b: {} } };
  }

  // Reads a scenario from a link. Keeps its text, which becomes part of every link made from here.
  function carried(text) {
    const wrong = new Error("The link's scenario cannot be read: expected JSON in base64url, with flows and a path.");
    let scenario;
    try {
      const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
      scenario = JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      throw wrong;
    }
    const { flow, link, point_to_point, dumbbell } = scenario || {};
    const filled = (list) => Array.isArray(list) && list.length > 0;
    if (!filled(flow) || !(filled(link) || point_to_point || (dumbbell && dumbbell.bottleneck))) throw wrong;
    return { text, scenario };
  }

  // Returns the scenario to which the changes apply.
  function base(now, presets) {
    if (now.own) return { about: `From a link: ${now.own.scenario.title || "a scenario"}.`, scenario: now.own.scenario };
    return presets.find((one) => one.id === now.preset) || presets[0];
  }

  function read(fragment, usual) {
    const asked = new URLSearchParams(fragment.replace(/^#/, ""));
    const found = empty(asked.get("preset") || usual);
    if (asked.has("scenario")) found.own = carried(asked.get("scenario"));
    for (const [key, value] of asked) {
      const [side, seam, parameter] = key.split(".");
      if (key === "scenario") continue;
      if (key === "transport" || key === "trace") found[key] = value;
      else if (found.senders[side] && seam) {
        const choice = (found.senders[side][seam] ||= { name: null });
        if (parameter) choice[parameter] = plain(value); else choice.name = value;
      } else if (key !== "preset" && Number.isFinite(Number(value))) found.path[key] = Number(value);
    }
    return found;
  }

  function plain(text) {
    if (text === "true" || text === "false") return text === "true";
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  }

  function write(now) {
    const asked = new URLSearchParams(now.own ? { scenario: now.own.text } : { preset: now.preset });
    for (const key of ["transport", "trace"]) if (now[key]) asked.set(key, now[key]);
    for (const [key, value] of Object.entries(now.path)) asked.set(key, value);
    for (const [side, seams] of Object.entries(now.senders)) {
      for (const [seam, { name, ...parameters }] of Object.entries(seams)) {
        asked.set(`${side}.${seam}`, name ?? "");
        for (const [parameter, value] of Object.entries(parameters)) asked.set(`${side}.${seam}.${parameter}`, value);
      }
    }
    return `#${asked}`;
  }

  // Returns the scenario of one side: the preset with its changed path and the chosen sender.
  function scenario(now, side, { presets, recordings, registry }) {
    const preset = base(now, presets);
    const made = structuredClone(preset.scenario);
    if (now.transport) controls.carry(made, now.transport);
    const over = controls.transport(made);
    const detects = (preset.detects || {})[over] || (over === "sctp" ? "eifel-cover-timestamps" : "eifel-timestamps");
    const usual = controls.sender(made).detect || "none";
    const plainly = (usual.name || usual) === "none";
    if (side === "a") controls.choose(made, "detect", "none");
    else if (plainly) controls.choose(made, "detect", detects);
    if (side === "b" && plainly && (controls.sender(made).respond || "") === "none") controls.choose(made, "respond", preset.responds || "rfc4015");
    if (now.trace && recordings[now.trace]) controls.record(made, recordings[now.trace]);
    for (const control of controls.path) if (control.key in now.path) control.write(made, now.path[control.key]);
    for (const [seam, { name, ...parameters }] of Object.entries(now.senders[side])) {
      const usual = controls.sender(made)[seam];
      const chosen = name || (usual && (usual.name || usual));
      if (!chosen) controls.choose(made, seam, null);
      else controls.choose(made, seam, Object.keys(parameters).length ? { name: chosen, ...parameters } : chosen);
    }
    const detect = controls.sender(made).detect, name = detect && (detect.name || detect);
    const entry = registry.find((one) => one.seam === "detect" && one.name === name);
    if (entry && entry.needs) controls.provide(made, entry.needs);
    return made;
  }

  return { empty, base, read, write, scenario };
})();
