// The page's own functions: a filtered contents list, sortable tables, and downloads. The page is
// readable without them.
(() => {
  "use strict";

  const filter = document.querySelector(".contents input");
  filter?.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const entry of document.querySelectorAll(".contents li")) {
      const text = entry.textContent.toLowerCase();
      entry.hidden = !words.every((word) => text.includes(word));
    }
    for (const group of document.querySelectorAll(".contents details")) {
      group.hidden = !group.querySelector("li:not([hidden])");
      // Clearing the filter restores the groups that were open before.
      if (words.length) { group.dataset.open ??= group.open ? "1" : ""; group.open = true; }
      else if (group.dataset.open !== undefined) { group.open = group.dataset.open === "1"; delete group.dataset.open; }
    }
  });

  const value = (row, place) => {
    const text = row.cells[place]?.textContent.trim() ?? "";
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  };

  function sortable(table) {
    const heads = table.tHead.rows[0].cells;
    // A heading over two columns, published and measured, sorts by the measured one.
    let place = 0;
    for (const head of heads) {
      const span = head.colSpan, at = place + span - 1;
      place += span;
      if (head.classList.contains("n") || table.classList.contains("alone")) {
        head.tabIndex = 0;
        head.setAttribute("aria-sort", "none");
        const sort = () => {
          const down = head.getAttribute("aria-sort") !== "descending";
          for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          const key = (row) => value(row, at + (row.querySelector("th.name") ? head.classList.contains("n") ? 1 : 0 : 0));
          const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
          const rows = [...table.tBodies[0].rows].sort((a, b) => order(key(a), key(b)));
          table.tBodies[0].append(...rows);
        };
        head.addEventListener("click", sort);
        head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
      }
    }
  }

  function download(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function button(label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "take";
    made.textContent = label;
    made.addEventListener("click", act);
    return made;
  }

  // Replaces the page's colour variables by their values, since a separate file lacks the
  // variables.
  function standing(svg) {
    const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
    from.forEach((element, number) => {
      const style = getComputedStyle(element);
      for (const name of ["fill", "stroke", "stroke-width", "font", "text-anchor"]) {
        to[number].style.setProperty(name, style.getPropertyValue(name));
      }
    });
    return new XMLSerializer().serializeToString(copy);
  }

  for (const table of document.querySelectorAll("table.rows")) sortable(table);
  for (const data of document.querySelectorAll("script[type='text/csv']")) {
    const id = data.closest("section").id;
    data.after(button("CSV", () => download(`${id}.csv`, "text/csv", data.textContent.trim() + "\n")));
  }
  for (const svg of document.querySelectorAll("svg.dots")) {
    const id = svg.closest("section").id || "found";
    svg.closest(".scroll").after(button("SVG", () => download(`${id}.svg`, "image/svg+xml", standing(svg))));
  }
  for (const image of document.querySelectorAll("img.picture")) {
    const id = image.closest("section").id || "found", svg = () => atob(image.src.split(",")[1]);
    const bytes = () => Uint8Array.from(svg(), (letter) => letter.charCodeAt(0));
    image.closest(".scroll").after(button("SVG", () => download(`${id}.svg`, "image/svg+xml", bytes())));
  }
})();
