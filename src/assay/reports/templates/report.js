"use strict";
(() => {
  const sections = [...document.querySelectorAll("main > section")];
  const cases = sections.map((section) => [...section.querySelectorAll(":scope > details.case")]);
  const links = [...document.querySelectorAll("nav a[data-filter]")];
  const search = document.getElementById("search");
  const unfold = document.getElementById("unfold");

  // The outcome is kept in the address, so that a link to the page can carry it.
  const wanted = () => {
    const name = location.hash.slice(1);
    return links.some((link) => link.dataset.filter === name) ? name : "all";
  };

  const show = () => {
    const filter = wanted();
    const words = search.value.trim().toLowerCase();
    let shown = 0;
    sections.forEach((section, place) => {
      let matching = 0;
      for (const entry of cases[place]) {
        entry.hidden = words !== "" && !entry.dataset.id.toLowerCase().includes(words);
        matching += entry.hidden ? 0 : 1;
      }
      section.hidden = (filter !== "all" && section.id !== filter) || (words !== "" && matching === 0);
      shown += section.hidden ? 0 : matching;
    });
    for (const link of links) {
      if (link.dataset.filter === filter) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    document.getElementById("nothing").hidden = shown > 0;
  };

  const visibleCases = () =>
    cases.filter((_, place) => !sections[place].hidden).flat().filter((entry) => !entry.hidden);

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 80);
  });
  unfold.addEventListener("click", () => {
    const entries = visibleCases();
    const open = entries.some((entry) => !entry.open);
    for (const entry of entries) entry.open = open;
    unfold.textContent = open ? "Close all" : "Open all";
  });
  addEventListener("hashchange", show);
  document.getElementById("tools").hidden = false;
  show();
})();
