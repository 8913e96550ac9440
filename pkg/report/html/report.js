"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const table = document.getElementById("table");
  if (!table) return;
  const bodies = [...table.tBodies];
  const heads = [...table.tHead.rows[0].cells];
  const filter = document.getElementById("filter");
  const verdict = document.getElementById("verdict");
  const shown = document.getElementById("shown");

  // A cell sorts by its figure (data-v), or by its text; what has no figure comes last in both directions.
  const figure = (cell) => (cell.dataset.v === "" ? NaN : Number(cell.dataset.v));
  const order = (column, numeric, direction) => (a, b) => {
    const x = a.rows[0].cells[column], y = b.rows[0].cells[column];
    if (!numeric) return direction * x.textContent.localeCompare(y.textContent, "en", { numeric: true });
    const m = figure(x), n = figure(y);
    if (Number.isNaN(m) || Number.isNaN(n)) return Number.isNaN(m) - Number.isNaN(n);
    return direction * (m - n);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      bodies.sort(order(column, head.dataset.key === "number", ascending ? 1 : -1));
      table.append(...bodies);
    });
  });

  // The text of each group, node names included, is read once, when something is looked for.
  let texts;
  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) texts ??= new Map(bodies.map((b) => [b, b.textContent.toLowerCase()]));
    let count = 0;
    for (const body of bodies) {
      const hit = (!verdict.value || body.dataset.verdicts.split(" ").includes(verdict.value)) && words.every((w) => texts.get(body).includes(w));
      body.hidden = !hit;
      count += hit;
    }
    shown.textContent = count === bodies.length ? "" : `${count} of ${bodies.length} shown`;
  };
  filter.addEventListener("input", apply);
  verdict.addEventListener("change", apply);
  filter.form.addEventListener("submit", (event) => event.preventDefault());
})();
