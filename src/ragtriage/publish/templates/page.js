"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Sorting: a button in each head; what is undefined stays last, whichever way.
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.sort;
    return given === undefined ? null : column ? Number(given) : given;
  };
  const compare = (a, b, way) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return way * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  };
  const sort = (table, head, column) => {
    const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows];
    const keyed = rows.map((row) => [valueOf(row, column), row]);
    keyed.sort((one, other) => compare(one[0], other[0], way));
    table.tBodies[0].append(...keyed.map((pair) => pair[1]));
  };
  for (const table of all("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  }

  // Cases: narrowed by stage, break point, slice and text.
  const form = byId("controls");
  if (!form) return;
  const [find, stage, point, slice] = ["find", "stage", "point", "slice"].map(byId);
  const cases = all("details.case").map((node) => ({
    node,
    stage: node.dataset.stage,
    point: node.dataset.point || "",
    slices: JSON.parse(node.dataset.slices),
    text: null,
  }));
  const textOf = (item) => (item.text ??= item.node.textContent.toLowerCase());
  const inStage = (item) =>
    stage.value === "*" || (stage.value ? item.stage === stage.value : item.stage !== "pass");
  const passing = byId("passing");
  const shown = () => cases.filter((item) => !item.node.hidden);
  const unfold = byId("unfold");
  const narrow = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const item of cases) {
      const fits =
        inStage(item) &&
        (!point.value || item.point === point.value) &&
        (!slice.value || item.slices.includes(slice.value)) &&
        words.every((word) => textOf(item).includes(word));
      item.node.hidden = !fits;
      n += fits;
    }
    if (passing) passing.hidden = !shown().some((item) => item.stage === "pass");
    unfold.hidden = !n;
    unfold.textContent = shown().every((item) => item.node.open) ? "Close all" : "Open all";
    byId("count").textContent = `${n.toLocaleString("en")} of ${cases.length.toLocaleString("en")} cases shown`;
  };
  const set = (values) => {
    find.value = "";
    stage.value = values.stage || "";
    point.value = values.point || "";
    slice.value = "";
    narrow();
  };
  let waiting;
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(narrow, 120);
  });
  for (const control of [stage, point, slice]) control.addEventListener("change", narrow);
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => set({}));
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Open all";
    for (const item of shown()) item.node.open = open;
    unfold.textContent = open ? "Close all" : "Open all";
  });

  // Links to a kind of case narrow the list; links to one case show and open it.
  for (const link of all("a[data-stage]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      set(link.dataset);
      byId("cases").scrollIntoView();
      stage.focus({ preventScroll: true });
    });
  }
  const reveal = () => {
    const node = /^#case-\d+$/.test(location.hash) && byId(location.hash.slice(1));
    if (!node) return;
    if (node.hidden) set({ stage: "*" });
    node.open = true;
    node.scrollIntoView();
    node.firstElementChild.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);
  for (const link of all('a[href^="#case-"]:not([data-stage])')) {
    link.addEventListener("click", () => link.hash === location.hash && reveal());
  }
  form.hidden = false;
  narrow();
  reveal();
})();
