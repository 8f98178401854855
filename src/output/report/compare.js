// The page of two runs: their questions in pairs, and each pair's details.
start(async () => {
  const index = await read("index", 0);
  const [ID, PART, EPOCH, QUESTION, GOLD, A, B, MARKS, SECONDS_A, SECONDS_B, FACETS] = Array(11).keys();
  const rows = index.rows;
  const place = new Map(rows.map((row, n) => [row, n]));
  const several = rows.some((row) => row[EPOCH] !== "0");
  const timed = rows.some((row) => row[SECONDS_A] !== null || row[SECONDS_B] !== null);
  const facet = Object.fromEntries(index.facets.map((facet, n) => [facet.key, n]));
  const valuesOf = (row, key) => row[FACETS][facet[key]].map((n) => index.facets[facet[key]].values[n]);
  const sides = [["A", A, 0], ["B", B, 1]];

  const detail = async (row) => {
    const data = await read("q", place.get(row));
    const page = data.page === null ? null : await read("p", data.page);
    const [a, b] = data.sides;
    const about = ([name, , n]) => {
      const side = data.sides[n];
      return el("section", { class: "card" }, el("h3", {}, badge(row[MARKS][n]), ` ${name} `, el("span", { class: "soft" }, own(index.names[n]))),
        side.cause ? el("p", { class: "finding", dir: "auto" }, el("strong", {}, `Cause: ${words(side.cause)}`), side.detail ? `: ${side.detail}` : "") : null,
        side.outcome !== "answered" ? el("p", { class: "wrong-text" }, words(side.outcome)) : null,
        el("p", { class: "soft" }, [side.seconds !== null ? `${figure(side.seconds)} s` : null, side.rounds !== null ? `${side.rounds} round${side.rounds === 1 ? "" : "s"}` : null,
          side.cost !== null ? `$${figure(side.cost)}` : null].filter(Boolean).join(" · ") || "no times, rounds or costs are known"));
    };
    return [
      data.question === row[QUESTION] ? null : el("p", { class: "full", dir: "auto", tabindex: "0" }, data.question),
      el("div", { class: "columns" },
        el("div", {}, pageView(page, data.filename, [
          { ids: placesOf(data.gold_program), class: "by-gold", said: "in gold", title: "a figure of gold’s program" },
          { ids: placesOf(a.program), class: "by-a", said: "in A", title: "of A’s" },
          { ids: placesOf(b.program), class: "by-b", said: "in B", title: "of B’s" }])),
        el("div", {},
          el("section", { class: "card" }, el("h3", {}, "Gold and answers"), programTable("Gold’s program and those of A and B, step by step", [
            { title: "Gold", printed: data.gold, value: data.gold_value, worked: data.gold_program },
            { title: "A", printed: a.printed, value: a.value, worked: a.program },
            { title: "B", printed: b.printed, value: b.value, worked: b.program }])),
          el("div", { class: "pair" }, sides.map(about)))),
    ];
  };

  const answer = ([name, column, n]) => ({ key: name.toLowerCase(), title: name, short: name, class: "answer", sort: (row) => row[column],
    cell: (row) => el("span", {}, badge(row[MARKS][n]), " ", own(row[column] || "–")) });
  const seconds = (title, column) => ({ key: title.replace(" ", "-").toLowerCase(), title, short: title, number: true, sort: (row) => row[column] ?? -1, cell: (row) => figure(row[column]) });
  listOf({
    rows, facets: index.facets.map((facet) => ({ ...facet, single: facet.key.startsWith("cause") })),
    first: ["way", "cause_a", "cause_b", "part"],
    chosen: index.chosen,
    indexOf: (row) => place.get(row),
    question: (row) => row[QUESTION],
    text: (row) => `${row[QUESTION]} ${row[ID]} ${row[PART]}`,
    facetsOf: (row) => row[FACETS],
    tags: (row) => [own(row[ID]), ` · ${valued("part", row[PART])}`, several ? ` · pass ${row[EPOCH]}` : "",
      valuesOf(row, "cause_a").map((name) => el("span", { class: "tag" }, `A: ${words(name)}`)),
      valuesOf(row, "cause_b").map((name) => el("span", { class: "tag" }, `B: ${words(name)}`))],
    version: () => "",
    matches: () => true,
    summary: (matching) => {
      const count = (n) => matching.reduce((sum, row) => sum + (row[MARKS][n] === "1"), 0);
      return matching.length ? `; right in A ${numbers.format(count(0))}, in B ${numbers.format(count(1))}` : "";
    },
    clear: () => {},
    detail,
    columns: [
      { key: "mark", title: "A B", name: "result", class: "m", sort: (row) => ["10", "01", "11", "00"].indexOf(row[MARKS]), cell: (row) => [badge(row[MARKS][0]), " ", badge(row[MARKS][1])] },
      { key: "index", title: "Question", sort: (row) => place.get(row) },
      { key: "gold", title: "Gold", short: "gold", class: "answer", sort: (row) => row[GOLD], cell: (row) => own(row[GOLD] || "–") },
      ...sides.map(answer),
      ...(timed ? [seconds("A s", SECONDS_A), seconds("B s", SECONDS_B)] : []),
    ],
  });
});
