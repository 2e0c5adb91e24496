"use strict";
document.documentElement.classList.add("js");

(function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => (root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches);
  const tell = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
})();

(function tables() {
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = Number.parseFloat(text.replace(/^[[<>]+/, "").replace("−", "-"));
    return row.cells[column].classList.contains("n") ? number : text;
  };
  const missing = (key) => Number.isNaN(key) || key === "" || key === "–";
  const compare = (a, b) => (typeof a === "number"
    ? a - b
    : a.localeCompare(b, undefined, { numeric: true }));

  function sort(table, header) {
    const first = header.classList.contains("n") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const order = header.getAttribute("aria-sort") === first ? second : first;
    for (const other of header.parentNode.cells) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows, (row) => [row, value(row, header.cellIndex)]);
    rows.sort(([, a], [, b]) => missing(a) - missing(b) || (missing(a) ? 0 : sign * compare(a, b)));
    table.tBodies[0].append(...rows.map(([row]) => row));
  }

  function filtered(table) {
    const box = document.createElement("input"), count = document.createElement("output");
    const label = document.createElement("label"), rows = Array.from(table.tBodies[0].rows);
    box.type = "search";
    box.placeholder = "any text of a row";
    const choose = () => {
      const part = box.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(part);
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
    };
    box.addEventListener("input", choose);
    label.append("Filter ", box, " ", count);
    label.className = "filter";
    table.parentNode.before(label);
    choose();
  }

  for (const table of document.querySelectorAll("table")) {
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("span"); // a button would be left out where a printed
      button.setAttribute("role", "button"); // table goes on on the next page
      button.tabIndex = 0;
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, header));
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort(table, header);
      });
    }
    if (table.tBodies[0].rows.length > 4) filtered(table);
  }
})();

(function folds() {
  const folded = Array.from(document.querySelectorAll("details"));
  const button = document.getElementById("unfold");
  const all = (open) => folded.forEach((one) => { one.open = open; });
  const follow = () => {
    const chosen = location.hash && document.getElementById(location.hash.slice(1));
    if (chosen && folded.includes(chosen)) {
      chosen.open = true;
      chosen.scrollIntoView();
      chosen.firstElementChild.focus({ preventScroll: true });
    }
  };
  if (folded.length) folded[0].open = true;
  if (button) {
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(open));
      all(open);
    });
  }
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => all(true));
  follow();
})();
