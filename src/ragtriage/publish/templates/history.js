"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // A value that is the same in every run stands once.
  const whole = (values) => Array.isArray(values) ? values : data.runs.map(() => values);
  for (const entry of data.slices) {
    entry.cases = whole(entry.cases);
    for (const series of Object.values(entry.metrics)) series.forEach((values, place) => { series[place] = whole(values); });
    for (const stage of Object.keys(entry.stages)) entry.stages[stage] = whole(entry.stages[stage]);
  }
  const at = (id) => document.getElementById(id);
  const LINES = 12;
  const ROWS = 200;
  const COLORS = ["#0b6bcb", "#d1662a", "#2a8a57", "#8a5cc2", "#b3402f", "#1f8f9c", "#a67c00", "#c2568f"];
  const DASHES = ["solid", "dash", "dot"];
  // Each stage has the colour that it has in the report of a run.
  const STAGES = {
    pass: "--s-pass", retrieval: "--s-retrieval", generation: "--s-generation",
    citation: "--s-citation", abstention: "--s-abstention", authorization: "--s-authorization",
    unprepared: "--s-other", unresolved: "--s-unresolved", not_run: "--s-not-run",
  };
  const charts = [];

  // Plotly reads a few tags in labels: text from runs must stay text.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (value) => {
    if (value === null) return "undefined";
    if (value !== 0 && Math.abs(value) < 0.0005) return value.toExponential(1);
    return value >= 0.9995 && value < 1 ? ">0.999" : value.toFixed(3);
  };
  const count = (n) => n.toLocaleString("en-US");
  const time = (run) => data.started[run].replace("T", " ").slice(0, 16);
  const wide = () => window.innerWidth > 640;

  function choices(select, entries) {
    const before = select.value;
    select.replaceChildren(...entries.map(([value, text]) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      return option;
    }));
    if (entries.some(([value]) => value === before)) select.value = before;
  }

  function shownRuns() {
    const last = data.runs.length - 1;
    const asked = Number(at("span").value) || data.runs.length;
    return [Math.max(0, last - asked + 1) - 0.5, last + 0.5];
  }

  function ticks([low, high]) {
    const first = Math.max(0, Math.ceil(low));
    const last = Math.min(data.runs.length - 1, Math.floor(high));
    const room = wide() ? 8 : 3;
    const step = Math.max(1, Math.ceil((last - first + 1) / room));
    const places = [];
    for (let run = last; run >= first; run -= step) places.unshift(run);
    const days = new Set(places.map((run) => data.started[run].slice(0, 10)));
    const text = places.map((run) => days.size === places.length ? time(run).slice(0, 10) : time(run).slice(5));
    return { tickmode: "array", tickvals: places, ticktext: text };
  }

  function layout(extra) {
    const range = shownRuns();
    const line = color("--line");
    const dots = data.accepted === null ? [] : [{
      type: "line", xref: "x", yref: "paper", x0: data.accepted, x1: data.accepted, y0: 0, y1: 1,
      line: { color: color("--soft"), width: 1.5, dash: "dot" },
    }];
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: color("--ink"), family: "system-ui, sans-serif", size: wide() ? 13 : 11 },
      margin: { l: wide() ? 56 : 40, r: wide() ? 44 : 34, t: 12, b: 40 },
      hovermode: "closest",
      hoverlabel: { bgcolor: color("--page"), bordercolor: line, font: { color: color("--ink") }, align: "left" },
      legend: { orientation: "h", y: -0.16, yanchor: "top", traceorder: "normal", font: { size: wide() ? 12 : 10 } },
      xaxis: { range, ...ticks(range), showgrid: false, zeroline: false, linecolor: line },
      yaxis: { gridcolor: line, zeroline: false, rangemode: "tozero", fixedrange: true, automargin: true },
      shapes: dots,
      ...extra,
    };
  }

  function draw(id, traces, extra) {
    const element = at(id);
    if (!element) return;
    Plotly.react(element, traces, layout(extra), { displayModeBar: false, responsive: true });
    if (charts.includes(element)) return;
    charts.push(element);
    element.on("plotly_click", (event) => pick(Math.round(event.points[0].x)));
    element.on("plotly_relayout", (change) => {
      // Only after a zoom of the reader's: our own change carries the ticks.
      if ("xaxis.tickvals" in change) return;
      if (change["xaxis.autorange"]) return relabel(element, shownRuns());
      if ("xaxis.range[0]" in change) relabel(element, [change["xaxis.range[0]"], change["xaxis.range[1]"]]);
    });
  }

  function relabel(element, range) {
    const { tickvals, ticktext } = ticks(range);
    Plotly.relayout(element, { "xaxis.range": range, "xaxis.tickvals": tickvals, "xaxis.ticktext": ticktext });
  }

  function pick(run) {
    const link = document.createElement("a");
    link.href = encodeURIComponent(data.runs[run]) + "/report.html";
    link.textContent = "report of " + data.runs[run];
    at("picked").replaceChildren(time(run) + " UTC: ", link);
  }

  function table(element, heads, rows) {
    const line = (cells, tag) => {
      const row = document.createElement("tr");
      cells.forEach((text, place) => {
        const cell = document.createElement(place === 0 || tag === "th" ? "th" : "td");
        cell.scope = tag === "th" ? "col" : "row";
        if (tag === "td" && place > 0) cell.removeAttribute("scope");
        if (place > 0) cell.className = "num";
        cell.textContent = text;
        row.append(cell);
      });
      return row;
    };
    const head = document.createElement("thead");
    head.append(line(heads, "th"));
    const body = document.createElement("tbody");
    body.append(...rows.map((cells) => line(cells, "td")));
    element.replaceChildren(head, body);
  }

  function newest() {
    const [low] = shownRuns();
    const runs = [];
    for (let run = data.runs.length - 1; run > low && runs.length < ROWS; run -= 1) runs.push(run);
    return runs;
  }

  const latest = (entry) => entry.cases.findLast((n) => n !== null) || 0;
  const named = (entry) => entry.slice === "all" ? "all cases" : entry.value;
  const scored = (series, entry, run) =>
    series[1][run] === null ? "not observed" : `${number(series[0][run])} (${count(series[1][run])} of ${count(entry.cases[run])} scored)`;

  // A slice's values that have the metric, those of most cases first.
  function entriesOf(metric, slice) {
    return data.slices.filter((entry) => entry.slice === slice && Object.hasOwn(entry.metrics, metric))
      .sort((one, other) => latest(other) - latest(one));
  }

  function drawMetric() {
    const metric = at("metric").value;
    const slice = at("slice").value;
    const all = entriesOf(metric, slice);
    const value = at("value").value;
    const entries = value === "" ? all.slice(0, LINES) : all.filter((entry) => String(data.slices.indexOf(entry)) === value);
    const few = data.runs.length <= 150;
    const traces = entries.map((entry, place) => {
      const series = entry.metrics[metric];
      return {
        type: "scatter", mode: "lines+markers", name: plain(named(entry)), connectgaps: false,
        x: data.runs.map((_, run) => run), y: series[0], hoverinfo: "text",
        hovertext: data.runs.map((id, run) => `${plain(named(entry))}<br>${plain(metric)} ${scored(series, entry, run)}<br>${time(run)}<br>${plain(id)}`),
        line: { color: COLORS[place % COLORS.length], width: few ? 2 : 1, dash: DASHES[Math.floor(place / COLORS.length) % DASHES.length] },
        marker: { size: few ? 6 : 2.5 },
      };
    });
    draw("metric-chart", traces, { showlegend: traces.length > 1 });
    at("metric-note").textContent = entries.length < all.length && value === "" ?
      `The ${LINES} values of most cases of ${all.length}; choose any other under Value.` : "";
    table(at("metric-table"), ["Run", ...entries.map(named)],
      newest().map((run) => [data.runs[run], ...entries.map((entry) => scored(entry.metrics[metric], entry, run))]));
  }

  function offerSlices() {
    const metric = at("metric").value;
    const names = [...new Set(data.slices.filter((entry) => Object.hasOwn(entry.metrics, metric)).map((entry) => entry.slice))];
    choices(at("slice"), names.map((name) => [name, name === "all" ? "all cases" : name]));
    offerValues();
  }

  function offerValues() {
    const all = entriesOf(at("metric").value, at("slice").value);
    at("value-label").hidden = all.length < 2;
    choices(at("value"), [["", "each"], ...all.map((entry) => [String(data.slices.indexOf(entry)), named(entry)])]);
    drawMetric();
  }

  function drawStages() {
    const entry = data.slices[Number(at("stage-slice").value)];
    const known = Object.keys(STAGES);
    const rank = (stage) => known.includes(stage) ? known.indexOf(stage) : known.length;
    const stages = Object.keys(entry.stages).sort((one, other) => rank(one) - rank(other));
    const words = (stage) => stage.replaceAll("_", " ");
    const traces = stages.map((stage) => {
      const counts = entry.stages[stage];
      return {
        type: "bar", name: plain(words(stage)), x: data.runs.map((_, run) => run), hoverinfo: "text",
        y: counts.map((n, run) => n === null ? null : n / entry.cases[run]),
        hovertext: counts.map((n, run) => n === null ? "" : `${plain(words(stage))}: ${count(n)} of ${count(entry.cases[run])} cases<br>${time(run)}<br>${plain(data.runs[run])}`),
        textposition: "none", marker: { color: color(Object.hasOwn(STAGES, stage) ? STAGES[stage] : "--soft"), line: { width: 0 } },
      };
    });
    draw("stage-chart", traces, {
      barmode: "stack", bargap: data.runs.length > 150 ? 0 : 0.15, showlegend: true,
      yaxis: { gridcolor: color("--line"), range: [0, 1], tickformat: ".0%", fixedrange: true, zeroline: false },
    });
    table(at("stage-table"), ["Run", ...stages.map(words), "cases"],
      newest().map((run) => [data.runs[run],
        ...stages.map((stage) => entry.stages[stage][run] === null ? "no such cases" : count(entry.stages[stage][run])),
        entry.cases[run] === null ? "" : count(entry.cases[run])]));
  }

  function drawGates() {
    const failed = data.failed.map((gates) => gates.length);
    const text = (run) => `${count(failed[run])} of ${count(data.gates[run])} failed` +
      data.failed[run].slice(0, 8).map((gate) => "<br>✗ " + plain(gate)).join("") +
      (failed[run] > 8 ? `<br>and ${failed[run] - 8} more` : "") + `<br>${time(run)}<br>${plain(data.runs[run])}`;
    const bars = (name, y, shade) => ({
      type: "bar", name, y, x: data.runs.map((_, run) => run), hoverinfo: "text",
      hovertext: data.runs.map((_, run) => text(run)), textposition: "none",
      marker: { color: shade, line: { width: 0 } },
    });
    draw("gate-chart", [
      bars("failed", failed, "#b3402f"),
      bars("held", data.gates.map((n, run) => n - failed[run]), "#3d9a66"),
    ], {
      barmode: "stack", bargap: data.runs.length > 150 ? 0 : 0.15, showlegend: true,
      legend: { orientation: "h", y: -0.3, yanchor: "top", traceorder: "normal" },
      yaxis: { gridcolor: color("--line"), rangemode: "tozero", fixedrange: true, zeroline: false, nticks: 4, tickformat: "d" },
    });
  }

  function drawAll() {
    if (data.slices.length) {
      drawMetric();
      drawStages();
    }
    drawGates();
  }

  for (const element of document.querySelectorAll(".scripted")) element.hidden = false;
  const spans = [30, 100, 300].filter((n) => n < data.runs.length);
  choices(at("span"), [["0", `all ${count(data.runs.length)} runs`], ...spans.map((n) => [String(n), `the newest ${n}`])]);
  const metrics = [...new Set(data.slices.flatMap((entry) => Object.keys(entry.metrics)))].sort();
  choices(at("metric"), metrics.map((name) => [name, name]));
  if (data.first !== null) at("metric").value = data.first;
  choices(at("stage-slice"), data.slices.map((entry, place) => [entry, place]).filter(([entry]) => Object.keys(entry.stages).length)
    .map(([entry, place]) => [String(place), entry.slice === "all" ? "all" : `${entry.slice}: ${entry.value}`]));
  at("metric").addEventListener("change", offerSlices);
  at("slice").addEventListener("change", offerValues);
  at("value").addEventListener("change", drawMetric);
  at("stage-slice").addEventListener("change", drawStages);
  at("span").addEventListener("change", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  if (data.slices.length) offerSlices();
  drawAll();
})();
