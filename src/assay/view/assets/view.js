"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const main = () => byId("main");
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => !row.hidden);
  const linkOf = (row) => row.querySelector("a[href]");
  const follow = (selector) => {
    const link = document.querySelector(selector);
    if (link) link.click();
    return Boolean(link);
  };
  const say = (text) => { byId("status").textContent = text; };

  // Settings of this browser; a page opened from a file may have none.
  const recall = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const remember = (name, value) => { try { localStorage.setItem(name, value); } catch { /* not kept */ } };

  // Keys ------------------------------------------------------------------------------------------
  const move = (step) => {
    const shown = rows();
    if (!shown.length) return;
    const now = shown.findIndex((row) => row.contains(document.activeElement));
    const next = now < 0 ? (step > 0 ? 0 : shown.length - 1) : now + step;
    if (next < 0 || next >= shown.length) {
      follow(step > 0 ? "nav.pages a[rel=next]" : "nav.pages a[rel=prev]");
      return;
    }
    linkOf(shown[next]).focus();
    shown[next].scrollIntoView({ block: "nearest" });
  };
  const goUp = () => {
    const up = main().dataset.up;
    if (up) location.assign(up);
  };
  const step = (direction) => {
    if (!follow(direction > 0 ? "a[data-key=j]" : "a[data-key=k]")) move(direction);
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    n: () => follow("nav.pages a[rel=next], nav.beside a[rel=next]"),
    p: () => follow("nav.pages a[rel=prev], nav.beside a[rel=prev]"),
    h: () => follow("a[data-key=h]"),
    c: () => follow("a[data-key=c]"),
    u: goUp,
    Escape: goUp,
    "/": () => { const search = document.querySelector("input[type=search]"); if (search) { search.focus(); search.select(); } },
    "?": () => byId("help").showModal(),
  };
  const isTyping = (target) => target.closest("input:not([type=checkbox]):not([type=radio]), select, textarea") !== null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") { event.target.blur(); event.preventDefault(); }
      return;
    }
    if (recall("assay-keys") === "off" && event.key !== "Escape") return;
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  const helpButton = byId("help-button");
  helpButton.hidden = false;
  helpButton.addEventListener("click", () => byId("help").showModal());
  const keysOn = byId("keys-on");
  keysOn.checked = recall("assay-keys") !== "off";
  keysOn.addEventListener("change", () => remember("assay-keys", keysOn.checked ? "on" : "off"));

  // Filters: on a server a changed choice asks for the page, in a bundle rows are hidden ------------
  const isStatic = main().hasAttribute("data-static");
  const queryOf = (form) => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
    return query.toString();
  };
  const ask = (form) => {
    const query = queryOf(form);
    load(form.getAttribute("action") + (query ? "?" + query : ""), true);
  };

  const matches = (row, query) => {
    const data = row.dataset;
    const words = (query.get("q") || "").toLowerCase().match(/"[^"]*"?|\S+/g) || [];
    const labels = (data.labels || "").split("\n");
    return words.every((word) => data.text.includes(word.replaceAll('"', "")))
      && ["outcome", "code", "group", "subject"].every((name) => !query.get(name) || data[name] === query.get(name))
      && (!query.get("label") || labels.includes(query.get("label")))
      && (!query.get("slower") || Number(data.duration) >= Number(query.get("slower")));
  };
  const orders = {
    "": (row) => Number(row.dataset.place),
    slowest: (row) => -Number(row.dataset.duration),
    worst: (row) => Number(row.dataset.score),
  };
  const filterRows = (form) => {
    const query = new URLSearchParams(queryOf(form));
    const all = [...document.querySelectorAll("[data-row]")];
    let shown = 0;
    for (const row of all) {
      row.hidden = !matches(row, query);
      shown += row.hidden ? 0 : 1;
    }
    const by = orders[query.get("order") || ""];
    if (form.dataset.filter === "cases" && by) {
      all.sort((a, b) => by(a) - by(b) || orders[""](a) - orders[""](b));
      if (all.length) all[0].parentElement.append(...all);
    }
    byId("nothing").hidden = shown > 0 || all.length === 0;
    const text = query.toString();
    say(text ? `${shown.toLocaleString("en")} of ${all.length.toLocaleString("en")} match.` : "");
    try { history.replaceState(null, "", location.pathname + (text ? "?" + text : "")); } catch { /* a file */ }
  };
  const fillForm = (form) => {
    const query = new URLSearchParams(location.search);
    for (const field of form.elements) {
      if (!field.name || !query.has(field.name)) continue;
      if (field.type === "radio") field.checked = field.value === query.get(field.name);
      else field.value = query.get(field.name);
    }
  };
  const setUpFilters = () => {
    const form = document.querySelector("form.filters");
    if (!form) return;
    let waiting = 0;
    // A field that is replaced while it has the focus says that it has changed.
    const apply = () => { if (form.isConnected && !isReplacing) (isStatic ? filterRows : ask)(form); };
    form.classList.add("live");
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); apply(); focusFirst(); });
    form.addEventListener("change", (event) => { if (event.target.type !== "search") { clearTimeout(waiting); apply(); } });
    form.addEventListener("input", (event) => {
      if (event.target.type !== "search") return;
      clearTimeout(waiting);
      waiting = setTimeout(apply, 250);
    });
    if (isStatic) { fillForm(form); filterRows(form); }
  };
  const focusFirst = () => { pendingFocus = true; if (isStatic) settle(); };
  let pendingFocus = false;
  const settle = () => {
    if (!pendingFocus) return;
    pendingFocus = false;
    const first = rows()[0];
    if (first) linkOf(first).focus();
  };

  // Two runs to compare -----------------------------------------------------------------------------
  const setUpCompare = () => {
    const form = byId("compare");
    const button = byId("compare-button");
    if (!form || !button) return;
    const count = () => form.querySelectorAll("input[name=run]:checked").length;
    const show = () => {
      button.disabled = count() !== 2;
      button.textContent = count() === 2 ? "Compare the two selected runs" : "Select two runs to compare";
    };
    form.addEventListener("change", show);
    show();
  };

  // New content in place: a filter, a page, or what a running run has added ---------------------------
  let asked = 0;
  const load = async (address, isChosen) => {
    const number = ++asked;
    let text;
    try {
      const answer = await fetch(address, { credentials: "same-origin" });
      text = await answer.text();
    } catch { say("The viewer does not answer any more. Start it again."); return; }
    if (number !== asked) return;
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.getElementById("main")) { location.assign(address); return; }
    replaceMain(fresh);
    if (isChosen) { history.replaceState(null, "", address); say(textOf("#found")); }
    settle();
  };
  const textOf = (selector) => { const found = document.querySelector(selector); return found ? found.textContent : ""; };
  let isReplacing = false;
  const replaceMain = (fresh) => {
    const focused = document.activeElement;
    const place = placeOf(focused);
    const start = focused && focused.selectionStart;
    const typed = focused && focused.matches && focused.matches("input[type=search], input[type=text]") ? focused.value : null;
    const open = [...document.querySelectorAll("main details")].map((one) => one.open);
    const chosen = [...document.querySelectorAll("main input[name=run]:checked")].map((one) => one.value);
    const incoming = document.adoptNode(fresh.getElementById("main"));
    isReplacing = true;
    main().replaceWith(incoming);
    isReplacing = false;
    document.title = fresh.title;
    document.querySelectorAll("main details").forEach((one, at) => { if (open[at] !== undefined) one.open = open[at]; });
    for (const one of document.querySelectorAll("main input[name=run]")) if (chosen.includes(one.value)) one.checked = true;
    setUp();
    const again = place && document.querySelector(place);
    if (again) {
      again.focus({ preventScroll: true });
      if (typed !== null) { again.value = typed; again.setSelectionRange(start, start); }
    }
  };
  // What finds the same control or link in the new content.
  const placeOf = (element) => {
    if (!element || !element.closest || !element.closest("main")) return null;
    if (element.id) return "#" + CSS.escape(element.id);
    if (element.name) return `main [name="${CSS.escape(element.name)}"]` + (element.type === "radio" || element.type === "checkbox" ? `[value="${CSS.escape(element.value)}"]` : "");
    if (element.hasAttribute("href")) return `main a[href="${CSS.escape(element.getAttribute("href"))}"]`;
    return null;
  };

  // Events: a page that is looked at follows its run ---------------------------------------------------
  let source = null;
  let refreshing = 0;
  const listen = () => {
    const address = main().dataset.events;
    if (!address || source || document.hidden) return;
    source = new EventSource(address);
    source.onmessage = (event) => {
      if (event.data === main().dataset.token) return;
      clearTimeout(refreshing);
      refreshing = setTimeout(() => load(location.href, false), 300);
    };
  };
  // A browser has few connections to a server, and hidden pages need none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && source) { source.close(); source = null; }
    listen();
  });

  const setUp = () => { setUpFilters(); setUpCompare(); };
  setUp();
  listen();
})();
