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
  }

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
  const rows = Array.from(document.getElementById("profile-table").tBodies[0].rows);
  function choose() {
    const part = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      const fits = row.cells[0].textContent.toLowerCase().includes(part)
        && (status.value === "" || row.dataset.status === status.value);
      row.hidden = !fits;
      shown += fits;
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} shown`;
  }
  filter.addEventListener("input", choose);
  status.addEventListener("change", choose);
  choose();
})();
