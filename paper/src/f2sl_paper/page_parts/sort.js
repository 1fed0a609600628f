"use strict";
// Sorts the rows of each group of a table by a column: up, down, and back to the order of the page.
// A cell's data-value is what it is sorted by; cells without one come last, whichever way.
(() => {
  const order = new Map();
  document.querySelectorAll("table.sortable tbody tr").forEach((row, place) => order.set(row, place));
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  const compare = (column, direction) => (a, b) => {
    const back = order.get(a) - order.get(b);
    if (direction === "none") return back;
    const [x, y] = [a, b].map((row) => row.cells[column].dataset.value);
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined) || back;
    const numbers = Number(x) - Number(y);
    const sign = Number.isNaN(numbers) ? x.localeCompare(y) : numbers;
    return (direction === "ascending" ? sign : -sign) || back;
  };

  document.querySelectorAll("table.sortable thead th").forEach((head) => {
    head.querySelector("button").addEventListener("click", () => {
      const direction = next[head.getAttribute("aria-sort") || "none"];
      const table = head.closest("table");
      table.querySelectorAll("thead th").forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", direction);
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
        body.append(...rows.sort(compare(head.cellIndex, direction)));
      }
    });
  });
})();
