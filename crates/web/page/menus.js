// Sliders and menus, made from the schema's descriptions and the registry's algorithms.
const menus = (() => {
  "use strict";

  const SEAMS = [
    ["detect", "Detector"], ["respond", "Response"], ["grant", "Undo granted"], ["rto", "Timer"], ["after_spurious", "Timer after a verdict"],
    ["recover", "Recovery"], ["congest", "Congestion control"], ["pace", "Pace"], ["retransmit", "Path of retransmissions"], ["credit", "Window growth"],
  ];
  const STEPS = 1000;

  function element(tag, properties = {}, ...inside) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...inside);
    return made;
  }

  // Makes a slider for one control. Calls `changed` with the value.
  function slider(control, described, scenario, changed) {
    const max = typeof control.max === "function" ? control.max(scenario) : control.max;
    const value = control.read(scenario);
    const output = element("output", { textContent: value === null ? "recorded" : control.text(value) });
    const toPlace = (x) => (control.log ? STEPS * Math.log(x / control.min) / Math.log(max / control.min) : x);
    const ofPlace = (place) => (control.log ? control.min * (max / control.min) ** (place / STEPS) : place);
    const input = element("input", { type: "range" });
    input.min = control.log ? 0 : control.min;
    input.max = control.log ? STEPS : max;
    input.step = control.log ? 1 : control.step;
    input.value = toPlace(Math.min(Math.max(value ?? max, control.min), max));
    input.addEventListener("input", () => {
      const now = ofPlace(Number(input.value));
      const kept = control.log ? Number(now.toPrecision(3)) : now;
      output.textContent = control.text(kept);
      input.setAttribute("aria-valuetext", output.textContent);
      changed(kept);
    });
    input.setAttribute("aria-valuetext", output.textContent);
    input.dataset.control = control.key;
    input.setAttribute("aria-label", control.label);
    return element("label", { className: "slider", title: described || "" }, element("span", { textContent: control.label }), output, input);
  }

  function listed(registry, seam, over) {
    const wanted = seam.replace("_", "-");
    return registry.filter((entry) => entry.seam === wanted && (over === "sctp" || !entry.association));
  }

  // Makes the menus of one sender. Calls `changed` with a seam and the choice.
  function sender(registry, over, used, changed, folded) {
    const made = [];
    for (const [seam, label] of SEAMS) {
      if (over === "sctp" ? seam === "recover" : seam === "retransmit" || seam === "credit") continue;
      const entries = listed(registry, seam, over);
      const now = used[seam] || {};
      const select = element("select", { name: seam });
      for (const entry of entries) select.append(element("option", { value: entry.name, textContent: entry.name }));
      select.value = now.name;
      const about = entries.find((entry) => entry.name === now.name);
      select.addEventListener("change", () => changed(seam, { name: select.value }));
      const row = element("label", { className: "seam", title: about ? `${about.summary} (${about.source})` : "" }, element("span", { textContent: label }), select);
      made.push(row);
      if (about && about.parameters.length) made.push(parameters(seam, about, now, changed, folded));
    }
    return made;
  }

  function parameters(seam, entry, now, changed, folded) {
    const box = element("details", { className: "parameters", open: folded.has(seam) }, element("summary", { textContent: `parameters of ${entry.name}` }));
    box.addEventListener("toggle", () => (box.open ? folded.add(seam) : folded.delete(seam)));
    for (const parameter of entry.parameters) {
      const value = now[parameter.name] ?? parameter.default;
      let input;
      if (parameter.kind === "switch") input = element("input", { type: "checkbox", checked: value });
      else if (parameter.kind === "word") {
        input = element("select", {}, ...parameter.allowed.map((word) => element("option", { value: word, textContent: word })));
        input.value = value;
      } else {
        input = element("input", { type: "number", step: parameter.kind === "integer" ? 1 : "any" });
        if (parameter.minimum !== null) input.min = parameter.minimum;
        if (parameter.maximum !== null) input.max = parameter.maximum;
        input.value = value ?? "";
      }
      input.name = parameter.name;
      input.addEventListener("change", () => {
        if (!input.reportValidity()) return;
        const given = parameter.kind === "switch" ? input.checked : parameter.kind === "word" ? input.value : Number(input.value);
        changed(seam, { ...now, name: entry.name, [parameter.name]: given });
      });
      box.append(element("label", { className: "seam", title: parameter.summary }, element("span", { textContent: parameter.name.replaceAll("_", " ") }), input));
    }
    return box;
  }

  return { element, slider, sender, listed, SEAMS };
})();
