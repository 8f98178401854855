// What every page of ours shares: making elements, unpacking the data of this
// file, showing report pages and programs, the list. Whatever comes from the
// data is inserted as text, never as markup.
const at = (id) => document.getElementById(id);
const words = (name) => WORDS[name] ?? String(name).replaceAll("_", " ");
/** A facet's value in words; a turn is named as one. */
const valued = (facet, value) => facet === "part" && /^\d+$/.test(value) ? `turn ${value}` : words(value);

/** An element with properties and children; strings become text. */
const el = (name, properties = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};
/** Text in its own direction. */
const own = (text) => el("bdi", {}, String(text ?? ""));
/** A number of a program or an answer in at most eight digits, the whole one on hover. */
const digits = (value) => {
  const x = typeof value === "number" ? value : /^-?\d+\.\d{6,}(e[+-]?\d+)?$/.test(value ?? "") ? Number(value) : null;
  return x === null ? own(value) : el("span", { title: String(value) }, String(Number(x.toPrecision(8))));
};
const numbers = new Intl.NumberFormat("en");
const figure = (value, digits = 3) => value === null || value === undefined ? "–"
  : Math.abs(value) >= 1000 ? numbers.format(Math.round(value)) : String(Number(Number(value).toPrecision(digits)));

// -- the data ----------------------------------------------------------------
const directory = JSON.parse(at("directory").textContent);
const unpacked = new Map();
/** Blocks that stay unpacked; the oldest goes first. */
const KEPT = 48;

const unpack = async (id) => {
  const text = at(id).textContent;
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let n = 0; n < binary.length; n++) bytes[n] = binary.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
};

/** An entry by its store and number. */
const read = async (store, number) => {
  const starts = directory[store];
  let low = 0, high = starts.length - 1;
  while (low < high) { const middle = (low + high + 1) >> 1; if (starts[middle] <= number) low = middle; else high = middle - 1; }
  const id = `${store}-${low}`;
  const block = unpacked.get(id) ?? unpack(id);
  unpacked.delete(id);
  unpacked.set(id, block);
  if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
  return (await block)[number - starts[low]];
};

// -- a report page, programs --------------------------------------------------
/**
 * The page with marked places: each mark is { ids, class, said, title }.
 * `page` is [sentences before, table, sentences after], or null.
 */
const pageView = (page, filename, marks) => {
  if (!page) return el("section", { class: "card" }, el("h3", {}, "The page"), el("p", { class: "soft" }, "The page is not available."));
  const [before, table, after] = page;
  const here = (id) => marks.filter((mark) => mark.ids.has(id));
  const classes = (id) => here(id).map((mark) => mark.class).join(" ") || null;
  const said = (id) => { const by = here(id); return by.length ? el("span", { class: "hidden" }, ` (${by.map((mark) => mark.said).join(", ")}) `) : null; };
  let count = 0;
  const sentence = (text) => { const id = `t${++count}`; return el("p", { class: classes(id), dir: "auto" }, el("span", { class: "id" }, id), text, said(id)); };
  const cell = (text, row, column) => {
    const id = `r${row}c${column}`;
    return el(row === 0 || column === 0 ? "th" : "td", { class: classes(id), title: id, scope: row === 0 ? "col" : column === 0 ? "row" : null, dir: "auto" }, text, said(id));
  };
  const first = before.map(sentence);
  const body = el("div", { class: "page", tabindex: "0", role: "region", "aria-label": "The report page" }, first,
    el("div", { class: "frame" }, el("table", {}, el("tbody", {}, table.map((cells, row) => el("tr", {}, cells.map((text, column) => cell(text, row, column))))))),
    after.map(sentence));
  requestAnimationFrame(() => {
    const target = body.querySelector(marks.map((mark) => `.${mark.class}`).join(","));
    if (target) body.scrollTop = Math.max(0, target.getBoundingClientRect().top - body.getBoundingClientRect().top + body.scrollTop - 60);
  });
  return el("section", { class: "card" }, el("h3", {}, "The page ", el("span", { class: "soft" }, own(filename))),
    el("p", { class: "legend" }, marks.map((mark) => el("span", { class: mark.class }, mark.title))), body);
};

const placesOf = (worked) => new Set(Object.values(worked.places).flat());

/**
 * Programs side by side, step by step; the first column is what the others are
 * held against. Each: { title, printed, value, worked }.
 */
const programTable = (caption, columns) => {
  const [gold] = columns;
  const rows = Math.max(...columns.map((column) => column.worked.steps.length));
  const step = (column, n) => {
    const { steps } = column.worked, found = steps[n];
    if (!found) return el("td", {}, n === 0 ? el("span", { class: "soft" }, "no program") : "");
    const against = column !== gold && gold.worked.steps.length > 0 ? gold.worked.steps[n] : undefined;
    const kind = column === gold || gold.worked.steps.length === 0 ? null : against?.text === found.text ? "same" : "other";
    return el("td", {}, el("code", { dir: "ltr", class: kind }, steps.length > 1 ? `#${n}  ` : "", found.text, kind === "other" ? el("span", { class: "hidden" }, " (differs from gold)") : null),
      found.result !== null ? el("span", { class: "result" }, "= ", digits(found.result)) : null);
  };
  const line = (label, of, show = own) => el("tr", {}, columns.map((column) => el("td", {}, el("span", { class: "soft" }, `${label} `), show(of(column) === "" ? "–" : of(column) ?? "–"))));
  return el("div", { class: "scroll" }, el("table", { class: "programs" },
    el("caption", { class: "hidden" }, caption),
    el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col" }, column.title)))),
    el("tbody", {},
      line("printed", (column) => column.printed),
      line("value", (column) => column.value, digits),
      Array.from({ length: rows }, (_, n) => el("tr", {}, columns.map((column) => step(column, n)))),
      columns.some((column) => column.worked.error) ? el("tr", {}, columns.map((column) => el("td", { class: "wrong-text" }, column.worked.error ?? ""))) : null)));
};

const badge = (value) => {
  const [name, text, sign] = { 1: ["yes", "right", "✓"], 0: ["no", "wrong", "✗"] }[value] ?? ["none", "no gold", "–"];
  return el("span", { class: `badge ${name}`, title: text }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "hidden" }, text));
};

// -- the list -----------------------------------------------------------------
const collate = new Intl.Collator("en", { numeric: true }).compare;

/**
 * A list that is filtered, sorted, paged and opened. `options`:
 *   rows, facets: [{ key, title, values }], indexOf(row), text(row), facetsOf(row),
 *   columns: [{ key, title, name, number, sort(row), cell(row) }], the second of
 *   which holds the question, tags(row), matches(row), summary(rows), detail(row),
 *   first: keys of the facets that are always shown, noun.
 */
const listOf = (options) => {
  const PAGE = 50;
  const { rows, facets, columns } = options;
  const haystacks = rows.map((row) => options.text(row).toLowerCase());
  const places = new Map(rows.map((row, place) => [row, place]));
  const state = { search: "", facets: {}, sort: columns[1].key, down: false, page: 0 };
  let matching = [], sorted = null;

  /** Every row in the order that is wanted, sorted once for a key. */
  const inOrder = () => {
    const name = `${state.sort} ${state.down} ${options.version()}`;
    if (sorted?.name !== name) {
      const by = columns.find((column) => column.key === state.sort).sort;
      const keyed = rows.map((row, place) => [by(row), row, place]);
      const direction = state.down ? -1 : 1;
      keyed.sort(([a, , x], [b, , y]) => direction * (typeof a === "string" ? collate(a, b) : a - b) || x - y);
      sorted = { name, rows: keyed.map(([, row]) => row) };
    }
    return sorted.rows;
  };
  const choose = () => {
    const needles = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = Object.entries(state.facets).filter(([, value]) => value !== "").map(([facet, value]) => [facet, Number(value)]);
    matching = inOrder().filter((row) => options.matches(row)
      && wanted.every(([facet, value]) => options.facetsOf(row)[facet].includes(value))
      && (needles.length === 0 || needles.every((needle) => haystacks[places.get(row)].includes(needle))));
  };

  const close = (row) => {
    const node = at(`r${options.indexOf(row)}`), button = node.querySelector(".open-row");
    at(`d${options.indexOf(row)}`)?.remove();
    button.setAttribute("aria-expanded", "false");
    button.removeAttribute("aria-controls");
    node.classList.remove("open");
  };
  const open = async (row) => {
    const id = `d${options.indexOf(row)}`, node = at(`r${options.indexOf(row)}`), button = node.querySelector(".open-row");
    button.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-controls", id);
    node.classList.add("open");
    const holder = el("td", { colspan: String(columns.length) }, el("p", { class: "soft" }, "…"));
    node.after(el("tr", { class: "detail", id, "aria-busy": "true" }, holder));
    const content = await options.detail(row);
    const next = (step) => { const other = matching[matching.indexOf(row) + step]; return other ? () => { close(row); reveal(other); } : null; };
    const go = (text, run) => el("button", { type: "button", disabled: !run, on: run ? { click: run } : {} }, text);
    holder.replaceChildren(el("div", { class: "tools" }, go("← Previous", next(-1)), go("Next →", next(1)),
      el("a", { href: `#q${options.indexOf(row)}`, title: "A link to this question" }, `#q${options.indexOf(row)}`),
      go("Close", () => { close(row); button.focus(); })), ...content.filter(Boolean));
    holder.parentElement.removeAttribute("aria-busy");
  };

  const line = (row) => {
    const index = options.indexOf(row);
    const button = el("button", { class: "open-row", type: "button", "aria-expanded": "false" },
      el("span", { dir: "auto" }, options.question(row) || "(no text)"));
    button.addEventListener("click", () => { if (button.getAttribute("aria-expanded") === "true") close(row); else void open(row); });
    return el("tr", { class: "row", id: `r${index}` }, columns.map((column, n) => n === 1
      ? el("td", { class: "q" }, button, el("span", { class: "key" }, options.tags(row)))
      : el("td", { class: column.class ?? (column.number ? "number" : null), "data-name": column.short ?? null }, column.cell(row))));
  };

  const head = () => el("thead", {}, el("tr", {}, columns.map((column) => {
    const sorted = state.sort === column.key;
    return el("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": sorted ? (state.down ? "descending" : "ascending") : null },
      el("button", { class: "sort", type: "button", "data-sort": column.key, title: "Sort", "aria-label": `Sort by ${column.name ?? column.title}`, on: { click: () => {
        state.down = sorted ? !state.down : Boolean(column.number);
        state.sort = column.key;
        show(true);
        document.querySelector(`[data-sort=${column.key}]`).focus();
      } } }, column.title || "✓"));
  })));

  const show = (anew) => {
    if (anew) { choose(); state.page = 0; }
    const from = state.page * PAGE, to = Math.min(from + PAGE, matching.length);
    at("shown").textContent = matching.length === 0 ? "No question matches."
      : `${numbers.format(from + 1)}–${numbers.format(to)} of ${numbers.format(matching.length)} question${matching.length === 1 ? "" : "s"}`
        + (matching.length < rows.length ? ` (${numbers.format(rows.length)} in all)` : "") + options.summary(matching);
    at("list").replaceChildren(el("table", {},
      el("caption", { class: "hidden" }, "Questions; the question's text opens its details"),
      head(), el("tbody", {}, matching.slice(from, to).map(line))));
    const hidden = [...at("others").querySelectorAll("select")].filter((select) => select.value !== "").length;
    at("more").textContent = hidden ? `More filters (${hidden} set)` : "More filters";
    const pages = Math.ceil(matching.length / PAGE);
    const go = (page) => () => { state.page = page; show(false); at("questions").scrollIntoView(); at("pager").querySelector("button:not(:disabled)")?.focus({ preventScroll: true }); };
    const turn = (text, page, usable) => el("button", { type: "button", disabled: !usable, on: { click: go(page) } }, text);
    at("pager").hidden = pages < 2;
    at("pager").replaceChildren(
      turn("First", 0, state.page > 0), turn("Previous", state.page - 1, state.page > 0),
      el("span", {}, `${numbers.format(state.page + 1)} / ${numbers.format(Math.max(pages, 1))}`),
      turn("Next", state.page + 1, state.page + 1 < pages), turn("Last", pages - 1, state.page + 1 < pages));
  };

  /** Brings a question into view, opened, whatever the filters. */
  const reveal = (row) => {
    if (!matching.includes(row)) { clear(); choose(); }
    const page = Math.floor(matching.indexOf(row) / PAGE);
    if (page !== state.page || !at(`r${options.indexOf(row)}`)) { state.page = page; show(false); }
    const node = at(`r${options.indexOf(row)}`), button = node.querySelector(".open-row");
    if (button.getAttribute("aria-expanded") !== "true") void open(row);
    node.scrollIntoView();
    button.focus({ preventScroll: true });
  };

  const clear = () => {
    at("search").value = "";
    document.querySelectorAll("#filters select[data-facet]").forEach((select) => { select.value = ""; });
    Object.assign(state, { search: "", facets: {} });
    options.clear();
  };
  const others = (shown) => { at("others").hidden = !shown; at("more").setAttribute("aria-expanded", String(shown)); };

  facets.forEach((facet, n) => {
    if (facet.values.length < (options.first.includes(facet.key) ? 1 : 2) && !facet.single) return;
    if (facet.values.length === 0) return;
    const counts = facet.values.map(() => 0);
    for (const row of rows) for (const value of options.facetsOf(row)[n]) counts[value]++;
    const id = `facet-${facet.key}`;
    at(options.first.includes(facet.key) ? "facets" : "others").append(el("div", { class: "field" }, el("label", { for: id }, facet.title),
      el("select", { id, "data-facet": facet.key, on: { change: (event) => { state.facets[n] = event.target.value; show(true); } } }, el("option", { value: "" }, "all"),
        facet.values.map((value, place) => el("option", { value: String(place) }, `${valued(facet.key, value)} (${numbers.format(counts[place])})`)))));
  });
  at("more").hidden = at("others").childElementCount === 0;
  at("more").addEventListener("click", () => others(at("others").hidden));
  let waiting;
  at("search").addEventListener("input", (event) => { clearTimeout(waiting); waiting = setTimeout(() => { state.search = event.target.value; show(true); }, 120); });
  at("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); show(true); });
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const pick = event.target.closest("button[data-facet][data-value]");
    if (!pick) return;
    const n = facets.findIndex((facet) => facet.key === pick.dataset.facet);
    const place = n < 0 ? -1 : facets[n].values.indexOf(pick.dataset.value);
    if (place < 0) return;
    clear();
    const select = at(`facet-${pick.dataset.facet}`);
    if (select) {
      select.value = String(place);
      if (at("others").contains(select)) others(true);
      select.focus({ preventScroll: true });
    }
    state.facets[n] = String(place);
    show(true);
    at("questions").scrollIntoView();
  });
  // Keys of one letter work in the list alone, where nobody types.
  at("list").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...document.querySelectorAll(".open-row")];
    const current = event.target.closest("tr.row, tr.detail");
    const row = current?.matches(".detail") ? current.previousElementSibling : current;
    const here = buttons.findIndex((button) => row?.contains(button));
    const to = { j: here + 1, k: here - 1 }[event.key];
    if (to !== undefined) buttons[to]?.focus();
    else if (event.key === "/") at("search").focus();
    else if (event.key === "Escape" && row?.matches(".open")) { const button = row.querySelector(".open-row"); button.click(); button.focus(); }
    else return;
    event.preventDefault();
  });
  at("filters").hidden = false;
  if (options.chosen) {
    const [key, value] = options.chosen, n = facets.findIndex((facet) => facet.key === key);
    state.facets[n] = at(`facet-${key}`).value = String(facets[n].values.indexOf(value));
  }
  show(true);
  // #q12 opens the question of that number.
  const linked = () => {
    const named = /^#q(\d+)$/.exec(location.hash);
    const asked = named && rows.find((row) => options.indexOf(row) === Number(named[1]));
    if (asked) reveal(asked);
  };
  addEventListener("hashchange", linked);
  linked();
  /** What is chosen, by the names of facets and values: their numbers change when rows are added. */
  const chosen = () => ({
    search: at("search").value, sort: state.sort, down: state.down, page: state.page,
    facets: Object.entries(state.facets).filter(([, value]) => value !== "").map(([n, value]) => [facets[n].key, facets[n].values[Number(value)]]),
    open: [...document.querySelectorAll("#list tr.row.open")].map((node) => Number(node.id.slice(1))),
    others: !at("others").hidden,
  });
  /** Chooses that again. */
  const choose_again = async (earlier) => {
    at("search").value = earlier.search;
    Object.assign(state, { search: earlier.search, sort: earlier.sort, down: earlier.down });
    for (const [key, value] of earlier.facets) {
      const n = facets.findIndex((facet) => facet.key === key), select = at(`facet-${key}`);
      const place = n < 0 ? -1 : facets[n].values.indexOf(value);
      if (place >= 0 && select) state.facets[n] = select.value = String(place);
    }
    others(earlier.others);
    show(true);
    state.page = Math.max(0, Math.min(earlier.page, Math.ceil(matching.length / PAGE) - 1));
    show(false);
    await Promise.all(rows.filter((row) => earlier.open.includes(options.indexOf(row)) && at(`r${options.indexOf(row)}`)).map(open));
  };
  return { show, reveal, chosen, choose_again };
};

/**
 * Loads the page of a run in progress again, and keeps what the reader has chosen and where. `chosen`
 * returns it, `choose_again` takes it. The state is kept in the browser's history, which needs no
 * server and no storage.
 */
const keepReading = async (chosen, choose_again) => {
  const live = at("live"), kept = history.state?.reading;
  // The place is relative to what is at the top, because what is above it grows.
  const place = () => {
    const above = [...document.querySelectorAll("main section[id], #list tr.row")].filter((node) => node.getBoundingClientRect().top <= 1).pop();
    return { id: above?.id ?? "", by: above ? -above.getBoundingClientRect().top : scrollY };
  };
  if (kept) {
    await choose_again(kept.chosen);
    const node = at(kept.place.id);
    // Not smoothly, as links are followed.
    scrollTo({ top: kept.place.by + (node ? node.getBoundingClientRect().top + scrollY : 0), behavior: "instant" });
    at(kept.focus)?.focus({ preventScroll: true });
    history.replaceState(null, "");
  }
  if (!live) return;
  const seconds = (name) => Number(live.dataset[name]);
  if (Date.now() / 1000 > seconds("written") + seconds("ended")) {
    at("live-note").textContent = "Nothing was written for long: the process may have been killed. Load the page again to look.";
    return;
  }
  setTimeout(() => {
    history.scrollRestoration = "manual";
    history.replaceState({ reading: { place: place(), focus: document.activeElement?.id ?? "", chosen: chosen() } }, "");
    location.reload();
  }, 1000 * seconds("reload"));
};

/** Runs the page; where the browser cannot unpack the data, it says so. */
const start = (run) => {
  const failed = (text) => at("list").replaceChildren(el("p", { class: "notice warn", role: "alert" }, text));
  if (typeof DecompressionStream === "undefined") failed("This browser is too old to unpack the list of questions (it has no DecompressionStream); the figures above are whole.");
  else run().catch((error) => { failed(`The list of questions cannot be shown: ${error}`); throw error; });
};
