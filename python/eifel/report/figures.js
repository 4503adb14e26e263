// Makes a chart of each <figure class="chart"> from the data inside: a run's tables, or a direction
// of a capture.
(() => {
  "use strict";

  async function start(figure) {
    const [description, columns] = figure.querySelectorAll("script");
    try {
      const { tables, words, graph } = packed.open(JSON.parse(description.textContent), await packed.unpack(columns.textContent));
      const chart = graph ? captured.chart(graph, (row) => words[graph.verdict[row]]) : layers.chart({ tables, words }, 0);
      figure.chart = new Chart(figure, { ...chart, panels: chart.panels.filter((panel) => panel.layers.length) });
    } catch (error) {
      const sorry = figure.appendChild(document.createElement("p"));
      sorry.className = "outside";
      sorry.textContent = `This chart could not be drawn: ${error.message}`;
    }
  }

  // Charts are drawn only when they come near the screen.
  const watch = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      start(target);
    }
  }, { rootMargin: "800px" });
  for (const figure of document.querySelectorAll("figure.chart")) watch.observe(figure);
})();
