// Zooms the chart of a section to an episode when its button is pressed.
(() => {
  "use strict";

  for (const button of document.querySelectorAll("button[data-from]")) {
    button.addEventListener("click", () => {
      const figure = button.closest("section").querySelector("figure.chart");
      if (!figure || !figure.chart) return;
      figure.chart.zoom(Number(button.dataset.from), Number(button.dataset.to));
      figure.scrollIntoView({ block: "nearest" });
      figure.focus({ preventScroll: true });
    });
  }
})();
