// The list of questions: reads the JSON elements of this file, filters, sorts,
// and builds a question's details when it is opened. Whatever comes from the
// data is inserted as text, never as markup.
(() => {
  "use strict";
  const PAGE = 50;
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const index = read("index");
  const [INDEX, ID, PART, EPOCH, QUESTION, GOLD, ANSWER, MARKS, LATENCY, ROUNDS, COST, FACETS] = Array(12).keys();
  const at = (id) => document.getElementById(id);
  const words = (name) => String(name).replaceAll("_", " ");

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
  /** A number of a program or an answer in at most eight digits, the whole one on hover. */
  const digits = (value) => {
    const x = typeof value === "number" ? value : /^-?\d+\.\d{6,}(e[+-]?\d+)?$/.test(value ?? "") ? Number(value) : null;
    return x === null ? own(value) : el("span", { title: String(value) }, String(Number(x.toPrecision(8))));
  };
  /** Text in its own direction. */
  const own = (text) => el("bdi", {}, String(text ?? ""));

  const numbers = new Intl.NumberFormat("en");
  const figure = (value, digits = 3) => value === null || value === undefined ? "–"
    : Math.abs(value) >= 1000 ? numbers.format(Math.round(value)) : String(Number(Number(value).toPrecision(digits)));

  // -- what is shown ---------------------------------------------------------
  const haystacks = index.rows.map((row) => `${row[QUESTION]} ${row[ID]} ${row[PART]}`.toLowerCase());
  const state = { search: "", rule: at("rule").value || index.rules[0], mark: "", facets: {}, sort: "index", down: false, page: 0 };
  const mark = (row) => row[MARKS][index.rules.indexOf(state.rule)];
  const several = index.rows.some((row) => row[EPOCH] > 0);
  const anyCost = index.rows.some((row) => row[COST] > 0);
  const collate = new Intl.Collator("en", { numeric: true }).compare;
  const columns = [
    { key: "mark", title: "", name: "Result", sort: (row) => "10-".indexOf(mark(row)), first: true },
    { key: "index", title: "Question", sort: (row) => row[INDEX] },
    { key: "gold", title: "Gold", sort: (row) => row[GOLD] },
    { key: "answer", title: "Answer", sort: (row) => row[ANSWER] },
    { key: "rounds", title: "Rounds", number: true, sort: (row) => row[ROUNDS] },
    { key: "latency", title: "Seconds", number: true, sort: (row) => row[LATENCY] },
    ...(anyCost ? [{ key: "cost", title: "Dollars", number: true, sort: (row) => row[COST] ?? -1 }] : []),
  ];
  let matching = [];

  const choose = () => {
    const needles = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const facets = Object.entries(state.facets).filter(([, value]) => value !== "");
    const rows = [];
    index.rows.forEach((row, place) => {
      if (state.mark && mark(row) !== state.mark) return;
      for (const [facet, value] of facets) if (!row[FACETS][facet].includes(Number(value))) return;
      if (!needles.every((needle) => haystacks[place].includes(needle))) return;
      rows.push(row);
    });
    const by = columns.find((column) => column.key === state.sort).sort;
    const keyed = rows.map((row) => [by(row), row]);
    const direction = state.down ? -1 : 1;
    keyed.sort(([a, x], [b, y]) => direction * (typeof a === "string" ? collate(a, b) : a - b) || x[INDEX] - y[INDEX]);
    matching = keyed.map(([, row]) => row);
  };

  const badge = (value) => {
    const [name, text, sign] = { 1: ["yes", "right", "✓"], 0: ["no", "wrong", "✗"] }[value] ?? ["none", "no gold", "–"];
    return el("span", { class: `badge ${name}`, title: text }, el("span", { "aria-hidden": "true" }, sign), el("span", { class: "hidden" }, text));
  };

  const line = (row) => {
    const id = `d${row[INDEX]}`;
    const button = el("button", { class: "open-row", type: "button", "aria-expanded": "false" },
      el("span", { dir: "auto" }, row[QUESTION] || "(no text)"));
    const node = el("tr", { class: "row", id: `r${row[INDEX]}` },
      el("td", { class: "m" }, badge(mark(row))),
      el("td", { class: "q" }, button, el("span", { class: "key" }, own(row[ID]), ` · ${row[PART]}`, several ? ` · pass ${row[EPOCH] + 1}` : "")),
      el("td", { class: "answer", "data-name": "gold" }, own(row[GOLD] || "–")),
      el("td", { class: "answer", "data-name": "answer" }, own(row[ANSWER] || "–")),
      el("td", { class: "number", "data-name": "rounds" }, String(row[ROUNDS])),
      el("td", { class: "number", "data-name": "s" }, figure(row[LATENCY])),
      anyCost ? el("td", { class: "number", "data-name": "$" }, figure(row[COST])) : null);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      node.classList.toggle("open", !open);
      if (open) { at(id).remove(); button.removeAttribute("aria-controls"); return; }
      node.after(el("tr", { class: "detail", id }, el("td", { colspan: String(columns.length) }, detail(row))));
      button.setAttribute("aria-controls", id);
    });
    return node;
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
    const right = matching.reduce((sum, row) => sum + (mark(row) === "1"), 0);
    const judged = matching.reduce((sum, row) => sum + (mark(row) !== "-"), 0);
    at("shown").textContent = matching.length === 0 ? "No question matches."
      : `${numbers.format(from + 1)}–${numbers.format(to)} of ${numbers.format(matching.length)} questions`
        + (matching.length < index.rows.length ? ` (${numbers.format(index.rows.length)} in all)` : "")
        + (judged ? `; ${numbers.format(right)} of ${numbers.format(judged)} right, ${(100 * right / judged).toFixed(1)} %` : "");
    at("list").replaceChildren(el("table", {},
      el("caption", { class: "hidden" }, "Questions; the question's text opens its details"),
      head(), el("tbody", {}, matching.slice(from, to).map(line))));
    const pages = Math.ceil(matching.length / PAGE);
    const go = (page) => () => { state.page = page; show(false); at("questions").scrollIntoView(); at("pager").querySelector("button:not(:disabled)")?.focus({ preventScroll: true }); };
    at("pager").hidden = pages < 2;
    at("pager").replaceChildren(
      el("button", { type: "button", disabled: state.page === 0, on: { click: go(0) } }, "First"),
      el("button", { type: "button", disabled: state.page === 0, on: { click: go(state.page - 1) } }, "Previous"),
      el("span", {}, `${numbers.format(state.page + 1)} / ${numbers.format(Math.max(pages, 1))}`),
      el("button", { type: "button", disabled: state.page + 1 >= pages, on: { click: go(state.page + 1) } }, "Next"),
      el("button", { type: "button", disabled: state.page + 1 >= pages, on: { click: go(pages - 1) } }, "Last"));
  };

  // -- a question's details --------------------------------------------------
  const texts = (parts) => parts.map((part) => read(`t${part}`)).join("\n\n");

  const pageOf = (data) => {
    if (data.page === null) return el("section", { class: "card" }, el("h3", {}, "The page"), el("p", { class: "soft" }, "The page is not at hand; see the note at the top of the report."));
    const [before, table, after] = read(`p${data.page}`);
    const cited = new Set((data.answer?.evidence ?? []).map((evidence) => evidence.id.trim().toLowerCase()));
    const gold = new Set(Object.values(data.gold_program.places).flat());
    const marked = (id) => [cited.has(id) && "cited", gold.has(id) && "by-gold"].filter(Boolean).join(" ");
    const said = (id) => { const by = marked(id); return by ? el("span", { class: "hidden" }, ` (${by === "cited" ? "cited" : by === "by-gold" ? "in gold" : "cited and in gold"}) `) : null; };
    let count = 0;
    const sentence = (text) => { const id = `t${++count}`; return el("p", { class: marked(id) || null, dir: "auto" }, el("span", { class: "id" }, id), text, said(id)); };
    const cell = (text, row, column) => {
      const id = `r${row}c${column}`;
      return el(row === 0 || column === 0 ? "th" : "td", { class: marked(id) || null, title: id, scope: row === 0 ? "col" : column === 0 ? "row" : null, dir: "auto" }, text, said(id));
    };
    const first = before.map(sentence);
    const body = el("div", { class: "page", tabindex: "0", role: "region", "aria-label": "The report page" }, first,
      el("div", { class: "frame" }, el("table", {}, el("tbody", {}, table.map((cells, row) => el("tr", {}, cells.map((text, column) => cell(text, row, column))))))),
      after.map(sentence));
    requestAnimationFrame(() => {
      const target = body.querySelector(".cited, .by-gold");
      if (target) body.scrollTop = Math.max(0, target.getBoundingClientRect().top - body.getBoundingClientRect().top + body.scrollTop - 60);
    });
    return el("section", { class: "card" }, el("h3", {}, "The page ", el("span", { class: "soft" }, own(data.filename))),
      el("p", { class: "legend" }, el("span", { class: "cited" }, "cited by the answer"), el("span", { class: "by-gold" }, "a figure of gold’s program")), body);
  };

  const programs = (data) => {
    const [gold, ours] = [data.gold_program, data.program];
    const rows = Math.max(gold.steps.length, ours.steps.length);
    const step = (own, other, n, judged) => {
      const found = own.steps[n];
      if (!found) return el("td", {}, n === 0 ? el("span", { class: "soft" }, "no program") : "");
      const same = judged && other.steps[n] ? other.steps[n].text === found.text : undefined;
      return el("td", {}, el("code", { dir: "ltr", class: same === undefined ? null : same ? "same" : "other" }, own.steps.length > 1 ? `#${n}  ` : "", found.text),
        found.result !== null ? el("span", { class: "result" }, "= ", digits(found.result)) : null);
    };
    const value = (label, texts, show = own) => el("tr", {}, texts.map((text) => el("td", {}, el("span", { class: "soft" }, `${label} `), show(text ?? "–"))));
    const answer = data.answer;
    return el("section", { class: "card" }, el("h3", {}, "Gold and answer"),
      el("div", { class: "scroll" }, el("table", { class: "programs" },
        el("caption", { class: "hidden" }, "Gold’s program and the predicted one, step by step"),
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Gold"), el("th", { scope: "col" }, "Predicted"))),
        el("tbody", {},
          value("printed", [data.gold.answer, answer?.printed]),
          value("value", [data.gold.exe_ans, answer?.value], digits),
          Array.from({ length: rows }, (_, n) => el("tr", {}, step(gold, ours, n, false), step(ours, gold, n, gold.steps.length > 0))),
          gold.error || ours.error ? el("tr", {}, el("td", { class: "wrong-text" }, gold.error ?? ""), el("td", { class: "wrong-text" }, ours.error ?? "")) : null))),
      answer?.steps?.length ? [el("h4", {}, "Reasoning"), el("ol", {}, answer.steps.map((text) => el("li", { dir: "auto" }, text)))] : null,
      answer?.evidence?.length ? [el("h4", {}, "Evidence"), el("p", {}, answer.evidence.map((evidence, n) => [n ? ", " : "", el("code", {}, evidence.id), " ", own(evidence.literal)]))] : null,
      answer ? el("p", { class: "soft" }, `Unit ${words(answer.unit?.kind ?? "?")}${answer.unit?.scale ? ` ${answer.unit.scale}` : ""}; value from ${answer.source}`,
        answer.label ? ["; ", own(answer.label)] : null, answer.confidence !== undefined && answer.confidence !== null ? `; confidence ${figure(answer.confidence)}` : null, answer.program_error ? ["; ", own(answer.program_error)] : null) : null);
  };

  const finding = (name, found) => el("p", { class: "finding", dir: "auto" }, el("strong", {}, name), found.where ? ` (${found.where})` : "", `: ${found.problem}`, found.fix ? el("span", { class: "soft" }, ` Fix: ${found.fix}`) : null);
  const verdicts = { ok: "accepted", revise: "sent back", unparsable: "the critic’s reply could not be read", skipped: "no critic looked at it" };

  const exchange = (data) => {
    const calls = (round) => data.calls.filter((call) => call.round === round);
    const shown = new Set(data.rounds.map((round) => round.number));
    const sent = (call) => el("details", {},
      el("summary", {}, `${words(call.node)}: ${figure(call.seconds)} s`, call.tokens ? `, ${numbers.format(call.tokens[0])} tokens in, ${numbers.format(call.tokens[1])} out` : "", call.attempts > 1 ? `, ${call.attempts} requests` : "", call.error ? ", failed" : ""),
      call.model ? el("p", { class: "soft" }, own(call.model), call.finish ? `; finish ${call.finish}` : "") : null,
      call.error ? el("p", { class: "finding", dir: "auto" }, call.error) : null,
      call.messages.map((message) => [el("h4", {}, `sent: ${message.role}`), el("pre", { dir: "auto" }, texts(message.parts))]),
      call.reply ? [el("h4", {}, "reply"), el("pre", { dir: "auto" }, call.reply)] : null);
    const lazily = (list) => list.map((call) => {
      const holder = sent({ ...call, messages: [] });
      holder.addEventListener("toggle", () => { if (holder.open && call.messages.length) { const full = sent(call); full.open = true; holder.replaceWith(full); } }, { once: true });
      return holder;
    });
    return el("section", { class: "card" }, el("h3", {}, "The exchange"),
      data.rounds.length === 0 ? el("p", { class: "soft" }, "There was no round with an answer.") : null,
      data.rounds.map((round) => el("div", { class: round.number === data.chosen_round ? "round chosen" : "round" },
        el("h4", {}, `Round ${round.number}: `, own(round.answer.printed || "no answer"), `, ${verdicts[round.verdict.verdict] ?? words(round.verdict.verdict)}`, round.number === data.chosen_round && data.rounds.length > 1 ? " (chosen)" : "", round.reasked ? ", asked again for its form" : ""),
        round.answer.program ? el("code", { dir: "ltr" }, round.answer.program) : null,
        (round.findings ?? []).map((found) => finding(`Check: ${words(found.kind)}`, found)),
        (round.verdict.findings ?? []).map((found) => finding("Critic", found)),
        round.verdict.reason ? el("p", { class: "finding", dir: "auto" }, round.verdict.reason) : null,
        round.leniencies?.length ? el("p", { class: "soft" }, `Read with leniency: ${round.leniencies.map(words).join(", ")}`) : null,
        el("details", {}, el("summary", {}, "The analyst’s reply"), el("pre", { dir: "auto" }, round.reply)),
        round.critic_reply ? el("details", {}, el("summary", {}, "The critic’s reply"), el("pre", { dir: "auto" }, round.critic_reply)) : null,
        lazily(calls(round.number)))),
      lazily(data.calls.filter((call) => !shown.has(call.round))),
      el("p", { class: "soft" }, `Stopped: ${words(data.stop)}.`));
  };

  const detail = (row) => {
    const data = read(`q${row[INDEX]}`);
    const scores = data.scores;
    const marks = index.rules.map((rule, n) => el("li", {}, badge(row[MARKS][n]), ` ${words(rule)}`));
    const verdict = scores.financial_equivalence;
    const turns = index.rows.filter((other) => other[ID] === row[ID] && other[EPOCH] === row[EPOCH] && other !== row);
    return [
      // The list has the beginning of it.
      data.question === row[QUESTION] ? null : el("p", { class: "full", dir: "auto", tabindex: "0" }, data.question),
      el("ul", { class: "chips" }, marks, verdict?.reason ? el("li", { class: "soft" }, `accepted by ${words(verdict.reason)}`) : null, verdict?.diagnostics?.length ? el("li", { class: "wrong-text" }, `misses only by ${verdict.diagnostics.map(words).join(", ")}`) : null,
        data.outcome !== "answered" ? el("li", { class: "wrong-text" }, words(data.outcome)) : null),
      data.cause ? el("p", { class: "finding", dir: "auto" }, el("strong", {}, `Cause: ${words(data.cause.cause)}`), data.cause.detail ? `: ${data.cause.detail}` : "") : null,
      data.error ? el("p", { class: "finding", dir: "auto" }, data.error) : null,
      el("div", { class: "columns" }, pageOf(data), el("div", {}, programs(data),
        turns.length ? el("section", { class: "card" }, el("h3", {}, "The record’s other questions"), el("ul", {}, turns.map((other) => el("li", {}, badge(mark(other)), " ", el("button", { class: "pick", type: "button", on: { click: () => reveal(other) } }, el("span", { dir: "auto" }, other[QUESTION])))))) : null)),
      el("div", {}, exchange(data)),
    ];
  };

  /** Brings a question into view, opened, whatever the filters. */
  const reveal = (row) => {
    if (!matching.includes(row)) { clear(); choose(); }
    state.page = Math.floor(matching.indexOf(row) / PAGE);
    show(false);
    const node = at(`r${row[INDEX]}`);
    node.querySelector("button").click();
    node.scrollIntoView();
    node.querySelector("button").focus({ preventScroll: true });
  };

  // -- filters ---------------------------------------------------------------
  index.facets.forEach((facet, n) => {
    if (facet.values.length < 2 && !["cause", "diagnostic", "finding"].includes(facet.key) || facet.values.length === 0) return;
    const counts = facet.values.map(() => 0);
    for (const row of index.rows) for (const value of row[FACETS][n]) counts[value]++;
    const id = `facet-${facet.key}`;
    at("facets").append(el("div", { class: "field" }, el("label", { for: id }, facet.title),
      el("select", { id, "data-facet": facet.key, on: { change: (event) => { state.facets[n] = event.target.value; show(true); } } }, el("option", { value: "" }, "all"),
        facet.values.map((value, place) => el("option", { value: String(place) }, `${words(value)} (${numbers.format(counts[place])})`)))));
  });
  const clear = () => {
    at("search").value = ""; at("mark").value = "";
    document.querySelectorAll("#facets select").forEach((select) => { select.value = ""; });
    Object.assign(state, { search: "", mark: "", facets: {} });
  };
  let waiting;
  at("search").addEventListener("input", (event) => { clearTimeout(waiting); waiting = setTimeout(() => { state.search = event.target.value; show(true); }, 120); });
  at("rule").addEventListener("change", (event) => { state.rule = event.target.value; show(true); });
  at("mark").addEventListener("change", (event) => { state.mark = event.target.value; show(true); });
  at("filters").addEventListener("reset", (event) => { event.preventDefault(); clear(); show(true); });
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const pick = event.target.closest("[data-facet][data-value]");
    if (!pick) return;
    const n = index.facets.findIndex((facet) => facet.key === pick.dataset.facet);
    const place = index.facets[n].values.indexOf(pick.dataset.value);
    clear();
    const select = at(`facet-${pick.dataset.facet}`);
    if (select) { select.value = String(place); select.focus({ preventScroll: true }); }
    state.facets[n] = String(place);
    show(true);
    at("questions").scrollIntoView();
  });
  at("filters").hidden = false;
  show(true);
  // #q12 opens the question at place 12 of the plan.
  const named = /^#q(\d+)$/.exec(location.hash);
  const asked = named && index.rows.find((row) => row[INDEX] === Number(named[1]));
  if (asked) reveal(asked);
})();
