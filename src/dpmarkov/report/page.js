(() => {
  "use strict";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const figures = read("figures");
  const themes = read("themes");
  const config = read("config");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const narrow = window.matchMedia("(max-width: 40rem)");
  let printing = false;

  const template = () => (dark.matches && !printing ? themes.dark : themes.light);

  // On a phone the figure keeps its width for data: no axis of long names, no tool bar that hovers over it.
  const fitted = (layout) => {
    const fit = { ...layout, template: template() };
    if (narrow.matches) {
      fit.font = { size: 11 };
      fit.margin = { t: 8 };
      fit.height = Math.min(layout.height, 460);
      if (layout.meta && layout.meta.tall) fit.height = layout.height;
      if (layout.meta && layout.meta.matrix) {
        fit.xaxis = { ...layout.xaxis, showticklabels: false, ticks: "" };
        fit.yaxis = { ...layout.yaxis, showticklabels: false, ticks: "" };
      }
    }
    if (printing) {
      fit.width = 660;
      fit.height = Math.min(layout.height, 560);
      fit.margin = { t: 8 };
    }
    return fit;
  };

  const drawn = [];
  const draw = (again) => {
    for (const { id, plot, figure } of drawn) {
      // Anew, not by a change: a flow diagram moves to its new place over half a second, too slow for a printer.
      if (again) Plotly.purge(plot);
      Plotly.newPlot(plot, figure.data, fitted(figure.layout), { ...config, displayModeBar: narrow.matches ? false : "hover" });
      plot.dataset.ready = id;
    }
  };

  for (const [id, figure] of Object.entries(figures)) {
    const plot = document.getElementById("plot-" + id);
    plot.classList.remove("empty");
    drawn.push({ id, plot, figure });
  }
  draw(false);

  // The heat map in another order, or without what noise dominates: the same numbers, moved or left out.
  const select = document.getElementById("order");
  const trusted = document.getElementById("trusted");
  if (select) {
    const orders = read("orders");
    const trace = drawn.find((d) => d.id === "transitions").figure.data[0];
    const names = trace.x.slice();
    const n = names.length;
    const unpacked = ({ bdata }) => new Float32Array(Uint8Array.from(atob(bdata), (c) => c.charCodeAt(0)).buffer);
    const logs = unpacked(trace.z);
    const numbers = unpacked(trace.customdata);
    const layers = numbers.length / logs.length;
    // As Uncertain.reliable has it: no end farther from the value than half the value, nor half of [0, 1] wide.
    const reliable = (k) => {
      const [value, low, high] = numbers.subarray(k * layers, k * layers + 3);
      return layers < 3 || (Math.max(value - low, high - value) <= value / 2 && high - low <= 0.5);
    };
    const arrange = () => {
      const order = orders[select.value];
      const only = trusted && trusted.checked;
      trace.x = trace.y = order.map((i) => names[i]);
      trace.z = order.map((i) => order.map((j) => (only && !reliable(i * n + j) ? NaN : logs[i * n + j])));
      trace.customdata = order.map((i) =>
        order.map((j) => Array.from(numbers.subarray((i * n + j) * layers, (i * n + j + 1) * layers))));
      draw(true);
      document.getElementById("order-said").textContent = "Ordered by " + select.selectedOptions[0].textContent
        + (only ? "; entries that noise dominates are left blank." : ".");
    };
    for (const control of [select, trusted]) {
      if (!control) continue;
      control.addEventListener("change", arrange);
      control.disabled = false;
    }
  }

  dark.addEventListener("change", () => draw(true));
  narrow.addEventListener("change", () => draw(true));
  window.addEventListener("beforeprint", () => { printing = true; draw(true); });
  window.addEventListener("afterprint", () => { printing = false; draw(true); });
  document.documentElement.dataset.ready = "yes";
})();
