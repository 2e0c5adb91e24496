(function tables() {
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const missing = (text) => text === "–" || text === "";
  const compare = (a, b) => (typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true }));

  function sort(table, header) {
    const up = header.getAttribute("aria-sort") === "none"
      ? !header.classList.contains("n")
      : header.getAttribute("aria-sort") === "descending";
    for (const other of header.parentNode.cells) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0], column = header.cellIndex;
    const rows = Array.from(body.rows, (row) => ({ row, key: value(row, column) }));
    rows.sort((a, b) => missing(a.key) - missing(b.key)
      || (up ? compare(a.key, b.key) : compare(b.key, a.key)));
    body.append(...rows.map((one) => one.row));
    for (const call of turned) call();
  }

  const turned = []; // what is done where rows have come into another order
  for (const table of document.querySelectorAll("table.sortable")) {
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
  }

  const filter = document.getElementById("filter"), status = document.getElementById("status");
  const rows = document.getElementById("profile-table").tBodies[0].rows;
  const pager = document.getElementById("pager"), page = rows.length > 300 ? 100 : rows.length;
  const before = document.getElementById("rows-before");
  const after = document.getElementById("rows-after");
  let first = 0;
  function choose(from) {
    const part = filter.value.trim().toLowerCase();
    let fit = 0;
    for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(part)
        && (status.value === "" || row.dataset.status === status.value);
      row.hidden = !fits || fit < from || fit >= from + page;
      fit += fits;
    }
    first = from;
    pager.hidden = fit <= page;
    before.disabled = first === 0;
    after.disabled = first + page >= fit;
    const last = Math.min(first + page, fit);
    document.getElementById("shown").textContent = pager.hidden
      ? `${fit} of ${rows.length} shown`
      : `${first + 1} to ${last} of ${fit} shown, ${rows.length} in all`;
  }
  filter.addEventListener("input", () => choose(0));
  status.addEventListener("change", () => choose(0));
  before.addEventListener("click", () => choose(first - page));
  after.addEventListener("click", () => choose(first + page));
  turned.push(() => choose(0));
  choose(0);
})();
