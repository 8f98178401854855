// The page of one run: its questions, and each question's details.
start(async () => {
  const index = await read("index", 0);
  const [INDEX, ID, PART, EPOCH, QUESTION, GOLD, ANSWER, MARKS, LATENCY, ROUNDS, COST, FACETS, CAUSE] = Array(13).keys();
  const rows = index.rows;
  const place = new Map(rows.map((row, n) => [row, n]));
  const several = rows.some((row) => row[EPOCH] > 0);
  const anyCost = rows.some((row) => row[COST] > 0);
  const state = { rule: at("rule").value || index.rules[0], mark: "" };
  const mark = (row) => row[MARKS][index.rules.indexOf(state.rule)];
  const facet = Object.fromEntries(index.facets.map((facet, n) => [facet.key, n]));
  const valuesOf = (row, key) => row[FACETS][facet[key]].map((n) => index.facets[facet[key]].values[n]);

  const exchange = (data) => {
    const texts = async (parts) => (await Promise.all(parts.map((part) => read("t", part)))).join("\n\n");
    const sent = (call) => call.messages.map((message) => {
      const holder = el("details", {}, el("summary", {}, `What it was sent: ${message.role}`));
      holder.addEventListener("toggle", async () => holder.append(el("pre", { dir: "auto" }, await texts(message.parts))), { once: true });
      return holder;
    });
    const about = (call) => [`${figure(call.seconds)} s`, call.tokens ? `${numbers.format(call.tokens[0])} tokens in, ${numbers.format(call.tokens[1])} out` : null,
      call.attempts > 1 ? `${call.attempts} requests` : null, call.error ? "failed" : null].filter(Boolean).join(" · ");
    const message = (call, text) => el("details", { class: "message" },
      el("summary", {}, el("strong", {}, words(call.node)), " ", el("span", { class: "soft" }, about(call))),
      call.model ? el("p", { class: "soft" }, own(call.model), call.finish ? `; finish ${call.finish}` : "") : null,
      call.error ? el("p", { class: "finding", dir: "auto" }, call.error) : null,
      text !== null && text !== undefined ? el("pre", { dir: "auto" }, text) : null, sent(call));
    // A reply that a round holds is shown in the round only: with the last call that has no reply of its own.
    const speak = (node, text, calls) => {
      const asked = calls.filter((call) => call.node === node);
      const bearer = asked.findLast((call) => call.reply === null && !call.error);
      return [asked.map((call) => message(call, call === bearer ? text : call.reply)),
        bearer || text === null || text === undefined ? null
          : el("details", { class: "message" }, el("summary", {}, el("strong", {}, node)), el("pre", { dir: "auto" }, text))];
    };
    const finding = (name, found, hint) => el("p", { class: hint ? "finding hint" : "finding", dir: "auto" }, el("strong", {}, name), found.where ? ` (${found.where})` : "", `: ${found.problem}`, found.fix ? el("span", { class: "soft" }, ` ${found.fix}`) : null);
    const numbered = new Set(data.rounds.map((round) => round.number));
    const round = (round) => {
      const calls = data.calls.filter((call) => call.round === round.number);
      const others = calls.filter((call) => !["analyst", "critic"].includes(call.node));
      return el("div", { class: round.number === data.chosen_round ? "round chosen" : "round" },
        el("h4", {}, `Round ${round.number} · `, own(round.answer.printed || "no answer"), round.number === data.chosen_round && data.rounds.length > 1 ? " · chosen" : "", round.reasked ? " · asked again for its form" : ""),
        round.answer.program ? el("code", { dir: "ltr" }, round.answer.program) : null,
        speak("analyst", round.reply, calls),
        (round.findings ?? []).map((found, n) => finding(`Check: ${words(found.kind)}`, found, !round.objects[n])),
        speak("critic", round.critic_reply, calls),
        others.map((call) => message(call, call.reply)),
        (round.verdict.findings ?? []).map((found) => finding("Critic", found, false)),
        round.verdict.reason ? el("p", { class: "finding", dir: "auto" }, round.verdict.reason) : null,
        el("p", { class: "verdict" }, round.said));
    };
    const step = (step) => el("li", {}, el("details", { class: "message" },
      el("summary", {}, el("strong", {}, step.tool), " ", own(JSON.stringify(step.arguments)), step.error ? ` · ${words(step.error)}` : ""),
      step.result === null ? null : el("pre", { dir: "auto" }, step.result)));
    if (data.episode) {
      return el("section", { class: "card" }, el("h3", {}, "The episode"),
        el("ol", {}, data.episode.steps.map(step)),
        data.calls.map((call) => message(call, call.reply)),
        el("p", { class: "soft" }, `Ended: ${words(data.episode.end)}; reward ${data.episode.reward ?? "none"}.`));
    }
    return el("section", { class: "card" }, el("h3", {}, "The exchange"),
      data.rounds.length === 0 ? el("p", { class: "soft" }, "There was no round with an answer.") : null,
      data.rounds.map(round),
      data.calls.filter((call) => !numbered.has(call.round)).map((call) => message(call, call.reply)),
      el("p", { class: "soft" }, `Stopped: ${words(data.stop)}.`));
  };

  const said = (answer) => [answer?.steps?.length ? [el("h4", {}, "Reasoning"), el("ol", {}, answer.steps.map((text) => el("li", { dir: "auto" }, text)))] : null,
    answer?.evidence?.length ? [el("h4", {}, "Evidence"), el("p", {}, answer.evidence.map((evidence, n) => [n ? ", " : "", el("code", {}, evidence.id), " ", own(evidence.literal)]))] : null,
    answer ? el("p", { class: "soft" }, `Unit ${words(answer.unit?.kind ?? "?")}${answer.unit?.scale ? ` ${answer.unit.scale}` : ""}; value from ${answer.program && !answer.program_error ? "program" : "text"}`,
      answer.label ? ["; ", own(answer.label)] : null, answer.confidence !== undefined && answer.confidence !== null ? `; confidence ${figure(answer.confidence)}` : null, answer.program_error ? ["; ", own(answer.program_error)] : null) : null];

  const record = (row) => {
    const all = rows.filter((other) => other[ID] === row[ID] && other[EPOCH] === row[EPOCH]);
    if (all.length < 2) return null;
    return el("section", { class: "card" }, el("h3", {}, all.some((other) => /^\d+$/.test(other[PART])) ? "The conversation" : "The record’s questions"),
      el("ol", { class: "turns" }, all.map((other) => el("li", { class: other === row ? "current" : null, "aria-current": other === row ? "true" : null }, badge(mark(other)), " ",
        other === row ? el("span", { dir: "auto" }, other[QUESTION]) : el("button", { class: "pick", type: "button", on: { click: () => list.reveal(other) } }, el("span", { dir: "auto" }, other[QUESTION])),
        el("span", { class: "soft" }, " ", own(other[ANSWER] || "no answer"), mark(other) === "0" ? [" for ", own(other[GOLD])] : null)))));
  };

  const detail = async (row) => {
    const data = await read("q", place.get(row));
    const page = data.page === null ? null : await read("p", data.page);
    const scores = data.scores, verdict = scores.financial_equivalence;
    const [cause] = valuesOf(row, "cause");
    const cited = new Set((data.answer?.evidence ?? []).map((evidence) => evidence.id.trim().toLowerCase()));
    return [
      // The list has the beginning of it.
      data.question === row[QUESTION] ? null : el("p", { class: "full", dir: "auto", tabindex: "0" }, data.question),
      el("ul", { class: "chips" }, index.rules.map((rule, n) => el("li", {}, badge(row[MARKS][n]), ` ${words(rule)}`)),
        verdict?.reason ? el("li", { class: "soft" }, `accepted by ${words(verdict.reason)}`) : null, verdict?.diagnostics?.length ? el("li", { class: "wrong-text" }, `only mistake: ${verdict.diagnostics.map(words).join(", ")}`) : null,
        data.outcome !== "answered" ? el("li", { class: "wrong-text" }, words(data.outcome)) : null),
      cause ? el("p", { class: "finding", dir: "auto" }, el("strong", {}, `Cause: ${words(cause)}`), row[CAUSE] ? `: ${row[CAUSE]}` : "") : null,
      data.error ? el("p", { class: "finding", dir: "auto" }, data.error) : null,
      el("div", { class: "columns" },
        el("div", {}, pageView(page, data.filename, [
          { ids: cited, class: "cited", said: "cited", title: "cited by the answer" },
          { ids: placesOf(data.gold_program), class: "by-gold", said: "in gold", title: "a figure of gold’s program" }]), record(row)),
        el("div", {},
          el("section", { class: "card" }, el("h3", {}, "Gold and answer"), programTable("Gold’s program and the predicted one, step by step", [
            { title: "Gold", printed: data.gold.answer, value: data.gold.exe_ans, worked: data.gold_program },
            { title: "Predicted", printed: data.answer?.printed, value: data.answer?.value, worked: data.program }]), said(data.answer)),
          exchange(data))),
    ];
  };

  const list = listOf({
    rows, facets: index.facets.map((facet) => ({ ...facet, single: ["cause", "diagnostic", "finding"].includes(facet.key) })),
    first: ["cause", "part", "critic"],
    indexOf: (row) => row[INDEX],
    question: (row) => row[QUESTION],
    text: (row) => `${row[QUESTION]} ${row[ID]} ${row[PART]}`,
    facetsOf: (row) => row[FACETS],
    tags: (row) => {
      const [critic] = valuesOf(row, "critic"), [outcome] = valuesOf(row, "outcome");
      return [own(row[ID]), ` · ${valued("part", row[PART])}`, several ? ` · pass ${row[EPOCH] + 1}` : "",
        valuesOf(row, "cause").map((name) => el("span", { class: "tag" }, words(name))),
        outcome !== "answered" ? el("span", { class: "tag" }, words(outcome)) : null,
        ["fixed", "broken"].includes(critic) ? el("span", { class: `tag ${critic}` }, `${critic} by the critic`) : null];
    },
    version: () => state.rule,
    matches: (row) => !state.mark || mark(row) === state.mark,
    summary: (matching) => {
      const right = matching.reduce((sum, row) => sum + (mark(row) === "1"), 0);
      const judged = matching.reduce((sum, row) => sum + (mark(row) !== "-"), 0);
      return judged ? `; ${numbers.format(right)} of ${numbers.format(judged)} right, ${(100 * right / judged).toFixed(1)} %` : "";
    },
    clear: () => { at("mark").value = ""; state.mark = ""; },
    detail,
    columns: [
      { key: "mark", title: "", name: "Result", class: "m", sort: (row) => "10-".indexOf(mark(row)), cell: (row) => badge(mark(row)) },
      { key: "index", title: "Question", sort: (row) => row[INDEX] },
      { key: "gold", title: "Gold", short: "gold", class: "answer", sort: (row) => row[GOLD], cell: (row) => own(row[GOLD] || "–") },
      { key: "answer", title: "Answer", short: "answer", class: "answer", sort: (row) => row[ANSWER], cell: (row) => own(row[ANSWER] || "–") },
      { key: "rounds", title: "Rounds", short: "rounds", number: true, sort: (row) => row[ROUNDS], cell: (row) => String(row[ROUNDS]) },
      { key: "latency", title: "Seconds", short: "s", number: true, sort: (row) => row[LATENCY], cell: (row) => figure(row[LATENCY]) },
      ...(anyCost ? [{ key: "cost", title: "Dollars", short: "$", number: true, sort: (row) => row[COST] ?? -1, cell: (row) => figure(row[COST]) }] : []),
    ],
  });
  at("rule").addEventListener("change", (event) => { state.rule = event.target.value; list.show(true); });
  at("mark").addEventListener("change", (event) => { state.mark = event.target.value; list.show(true); });
  await keepReading(() => ({ list: list.chosen(), rule: state.rule, mark: state.mark }), (earlier) => {
    Object.assign(state, { rule: earlier.rule, mark: earlier.mark });
    at("rule").value = earlier.rule;
    at("mark").value = earlier.mark;
    return list.choose_again(earlier.list);
  });
});
