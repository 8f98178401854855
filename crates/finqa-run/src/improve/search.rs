//! The steps of a search for better prompts ([`Search::run`]).
//!
//! Only the runs, the proposer's stored replies and the files made from them remain between
//! processes. To continue a search, the same command goes through the same steps again. Questions
//! that are already answered are read instead of asked.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rust_decimal::Decimal;

use finqa_agents::llm::{
    Budget, BudgetLimits, ChatRequest, Cost, Dollars, Stop, StoredReplies, in_dollars,
};
use finqa_agents::prompt::Prompts;
use finqa_journal::answers::open_answers;
use finqa_journal::run::{Event, Finish, Journal, RunFolder, RunKind, summarise};
use finqa_journal::settings::{QuestionSettings, Settings, Variables};
use finqa_report::output::report::write_improvement;
use finqa_report::output::{write_json_pretty, write_text};
use finqa_report::telemetry::Telemetry;
use finqa_score::analysis::{Answers, analyze};
use finqa_score::improve::{
    CANDIDATES, Candidate, DataText, Effect, Improvement, LEVEL, PageSplit, Power, Trial,
};
use finqa_score::score::Rule;

use super::SearchError;
use super::proposal::{Proposal, ProposalRejection, request, templates};
use crate::engine::RunModels;
use crate::pipeline::{self, LockedRun, Notify, Run, RunContext, RunNotice, RunResults};

/// The rule by which an answer counts as right.
pub const RULE: Rule = Rule::FinancialEquivalence;
/// The file name of the page with the results.
pub const PAGE: &str = "improve.html";

/// The events that a search reports while it runs.
pub enum SearchEvent<'a> {
    /// The run with this name starts or continues.
    Asks(&'a str),
    /// An event of the current run.
    Question(&'a Event),
    /// The current run has ended.
    Ended(&'a RunResults),
    /// A candidate was run or rejected.
    Tried(&'a Candidate),
    /// A note or a warning.
    Notice(RunNotice),
}

/// A callback that shows the events of a search.
pub type Watch = Arc<dyn Fn(SearchEvent<'_>) + Send + Sync>;

/// Everything that a search needs besides its settings.
pub struct SearchContext {
    /// Environment variables, from which keys and addresses are read.
    pub variables: Variables,
    /// The stored replies that replace the server for every call (`--replay`).
    pub replay: Option<Arc<StoredReplies>>,
    /// The tokens that stop the search.
    pub stop: Stop,
    pub traces: Telemetry,
    pub watch: Watch,
}

/// A search for better prompts, with what it has found so far.
pub struct Search {
    settings: Settings,
    context: SearchContext,
    /// The folder `OUTPUT/improve/ID`.
    folder: PathBuf,
    split: PageSplit,
    templates: BTreeMap<String, String>,
    data_text: DataText,
    found: Improvement,
}

impl Search {
    /// Creates a search. Divides the pages into those whose misses the proposer is shown, those on
    /// which the gate tests a change, and those that are sealed until the end. Counts the questions
    /// with gold. Sends nothing.
    ///
    /// # Errors
    /// Data without gold, and settings with which no run can be started.
    pub fn new(
        settings: &Settings,
        proposer: Option<String>,
        power: Power,
        context: SearchContext,
    ) -> Result<Self, SearchError> {
        let run = RunContext {
            variables: context.variables.clone(),
            notify: notify(&context.watch),
            ..RunContext::default()
        };
        let mut models = RunModels {
            measure_only: true,
            ..RunModels::default()
        };
        let job = pipeline::questions_job(settings, &run, &mut models)?;
        let dataset = job.records.map_err(SearchError::NoRecords)?;
        let dataset = &dataset;
        let split = PageSplit::of(dataset);
        let gate: HashSet<&str> = split.gate.iter().map(String::as_str).collect();
        let questions = job.plan.questions();
        let with_gold = questions.filter(|planned| !planned.case.gold.is_empty());
        let (mut all, mut on_gate) = (0, HashSet::new());
        for planned in with_gold {
            let key = &planned.case.question.key;
            all += 1;
            if gate.contains(key.id.as_str()) {
                on_gate.insert(key.clone());
            }
        }
        if all == 0 {
            return Err(SearchError::NoGold);
        }
        let proposer = proposer.unwrap_or_else(|| settings.model.name.clone());
        // The id is a hash of the inputs, so that the same command continues the same search.
        let identity = format!("{:?} {proposer}", job.meta.identity);
        let id = format!("improve-{}", short_hash(&identity));
        let texts = job.prompts.unwrap_or_default();
        Ok(Self {
            folder: settings.run.output.join("improve").join(&id),
            data_text: DataText::of(dataset, &split),
            found: Improvement {
                format: 1,
                id,
                model: job.meta.identity.model.clone(),
                proposer,
                data: dataset.source.clone(),
                records: [&split.propose, &split.gate, &split.sealed].map(Vec::len),
                most_candidates: CANDIDATES,
                level: LEVEL / CANDIDATES as f64,
                power: Power {
                    gate_questions: on_gate.len(),
                    ..power
                },
                ..Improvement::default()
            },
            templates: templates(&texts),
            split,
            settings: settings.clone(),
            context,
        })
    }

    /// Goes through all steps. Returns the results, and the folder with their files.
    ///
    /// # Errors
    /// Too few questions to detect the gain, and any run or request that fails.
    pub async fn run(mut self) -> Result<(Improvement, PathBuf), SearchError> {
        if !self.found.power.is_enough() {
            return Err(self.without_power().await);
        }
        // A part without pages is an error, because a run with an empty list of ids would ask about
        // all records.
        if self.found.records.contains(&0) {
            return Err(SearchError::TooFewPages);
        }
        create(&self.folder)?;
        write_json_pretty(&self.folder.join("split.json"), &self.split)?;
        let ids = [self.split.propose.clone(), self.split.gate.clone()].concat();
        let before = self.answers("baseline", ids, None).await?;
        // The proposer must see only misses on the propose pages.
        let propose: HashSet<&String> = self.split.propose.iter().collect();
        let mut shown = before.clone();
        shown.rows.retain(|row| propose.contains(&row.key.id));
        let misses = analyze(&shown, RULE);
        let mut trial = Trial::default();
        let mut best = String::new();
        while let Some(number) = trial.next() {
            let before_it = self.found.cost;
            let asked = request(&self.templates, &misses, &self.found.candidates);
            let reply = self.proposal(asked).await?;
            let mut candidate = Candidate {
                number,
                ..Candidate::default()
            };
            let prompts = match self.prompts_of(&mut candidate, &reply)? {
                Ok(name) => {
                    let gate = self.split.gate.clone();
                    let now = self.answers(&name, gate, Some(&name)).await?;
                    candidate.effect = effect(&before, &now);
                    candidate.run = now.run;
                    name
                }
                Err(rejection) => {
                    candidate.rejected = Some(rejection.to_string());
                    String::new()
                }
            };
            candidate.passes = trial.note(candidate.effect.map_or(1.0, |effect| effect.p));
            candidate.cost = difference(self.found.cost, before_it);
            (self.context.watch)(SearchEvent::Tried(&candidate));
            self.found.candidates.push(candidate);
            self.found.promoted = trial.promoted();
            if self.found.promoted == Some(number) {
                best = prompts;
            }
            self.write()?;
        }
        if self.found.promoted.is_some() {
            self.measure_sealed(&best).await?;
        }
        self.found.complete = true;
        self.write()?;
        Ok((self.found, self.folder))
    }

    /// Measures the promoted prompts on the sealed pages, which no step before has seen.
    async fn measure_sealed(&mut self, prompts: &str) -> Result<(), SearchError> {
        let sealed = self.split.sealed.clone();
        let before = self.answers("sealed-baseline", sealed.clone(), None);
        let before = before.await?;
        let name = format!("sealed-{prompts}");
        let now = self.answers(&name, sealed, Some(prompts)).await?;
        self.found.sealed = effect(&before, &now);
        self.found.prompts = Some(self.folder.join(prompts).display().to_string());
        Ok(())
    }

    /// The error of a search with too few questions. It says how many questions the gate needs, and
    /// what asking them would cost.
    async fn without_power(&self) -> SearchError {
        let mut settings = self.settings.clone();
        settings.questions = self.only_ids(self.split.gate.clone());
        let silent: Notify = Arc::new(|_| {});
        let variables = &self.context.variables;
        let measured_run = pipeline::dry_run(&settings, None, variables, &silent);
        // If the dry run fails, only the cost is unknown: too few questions remain the error.
        let cost = match measured_run.await.ok().filter(|run| run.questions > 0) {
            None => "their cost is unknown".to_owned(),
            Some(run) => match run.cost_usd {
                None => "their cost is unknown, because the model has no listed price".to_owned(),
                Some(cost) => {
                    let all = Decimal::try_from(self.found.power.asked_in_all());
                    let each = Decimal::from(run.questions);
                    // The number is far below the largest `Decimal`, so the default is never used.
                    let times = all.unwrap_or_default() / each;
                    let [low, high] = [cost.low, cost.high].map(|cost| in_dollars(cost * times, 2));
                    format!("they would cost {low} to {high}")
                }
            },
        };
        SearchError::TooFewQuestions {
            power: self.found.power,
            cost,
        }
    }

    /// The question settings that select only the records with these ids.
    fn only_ids(&self, ids: Vec<String>) -> QuestionSettings {
        QuestionSettings {
            ids,
            n: None,
            range: None,
            filter: None,
            shuffle: false,
            ..self.settings.questions.clone()
        }
    }

    /// The answers of the run `name`. The run is started or continued; a complete one is only read.
    /// `prompts` is the folder with a candidate's prompts; `None` for the prompts of the settings.
    async fn answers(
        &mut self,
        name: &str,
        ids: Vec<String>,
        prompts: Option<&str>,
    ) -> Result<Answers, SearchError> {
        let name = format!("{}-{name}", self.found.id);
        let output = self.settings.run.output.clone();
        let folder = RunFolder::runs(&output).join(&name);
        let is_begun = folder.join(RunFolder::JOURNAL).is_file();
        if !is_begun || !Journal::read(&folder.join(RunFolder::JOURNAL))?.is_complete()? {
            let mut settings = self.settings.clone();
            settings.questions = self.only_ids(ids);
            settings.budget.max_cost = self.left()?;
            if let Some(prompts) = prompts {
                settings.agents.prompts = Some(self.folder.join(prompts));
            }
            let resumed = if is_begun {
                Some(LockedRun::open(&output, &name, RunKind::Questions)?)
            } else {
                None
            };
            self.ask(&name, &settings, resumed).await?;
        }
        let summary = summarise(&Journal::read(&folder.join(RunFolder::JOURNAL))?)?;
        self.found.cost += summary.spent.cost;
        Ok(open_answers(&folder, None)?)
    }

    /// Starts or continues a run and waits for its end.
    ///
    /// # Errors
    /// The run does not complete.
    async fn ask(
        &self,
        name: &str,
        settings: &Settings,
        resumed: Option<LockedRun>,
    ) -> Result<(), SearchError> {
        let watch = &self.context.watch;
        watch(SearchEvent::Asks(name));
        let silent: Notify = Arc::new(|_| {});
        let warnings = notify(watch);
        let variables = self.context.variables.clone();
        let context = RunContext {
            resumed,
            tracking: pipeline::tracking_server(settings, &variables, &silent)?,
            variables,
            traces: self.context.traces.clone(),
            // `new` has already shown the notes, so they are not repeated for each run.
            notify: Arc::new(move |notice| {
                if matches!(notice, RunNotice::Warning(_)) {
                    warnings(notice);
                }
            }),
            stop: self.context.stop.clone(),
            replay: self.context.replay.clone(),
            recorded: None,
            name: Some(name.to_owned()),
        };
        let mut asked = Run::start(settings, context).await?;
        while let Some(event) = asked.next().await {
            watch(SearchEvent::Question(&event));
        }
        let results = asked.finish().await?;
        watch(SearchEvent::Ended(&results));
        match results.finish {
            Finish::Complete => Ok(()),
            finish => Err(SearchError::Unfinished {
                name: name.to_owned(),
                finish,
            }),
        }
    }

    /// Asks the proposer. Its reply is stored, so that the same command later reads the reply
    /// instead of asking again.
    async fn proposal(&mut self, mut asked: ChatRequest) -> Result<String, SearchError> {
        let mut settings = self.settings.clone();
        settings.model.name.clone_from(&self.found.proposer);
        let replies = self.folder.join("replies");
        settings.model.cache.get_or_insert(replies);
        let notify = notify(&self.context.watch);
        let left = self.left()?.map(|Dollars(left)| left);
        let mut models = RunModels {
            replies: pipeline::stored_replies(&settings, self.context.replay.as_ref(), &notify)?,
            prices: Arc::new(pipeline::user_prices(&settings, None, None)?.unwrap_or_default()),
            budget: Arc::new(Budget::new(BudgetLimits {
                cost: left,
                ..BudgetLimits::default()
            })),
            ..RunModels::default()
        };
        let model = models.connect(&settings, &self.context.variables)?;
        asked.max_output_tokens = models.reply_limit(&settings);
        let reply = model.chat(&asked, &self.context.stop).await?;
        // A reply that an earlier process paid for counts too.
        self.found.cost += Cost::of_request(model.cost(&reply));
        Ok(reply.content)
    }

    /// Writes the prompts that a reply proposes. Returns the name of their folder, which contains a
    /// hash of the prompts, so that the run of one proposal is not taken for that of another.
    ///
    /// # Errors
    /// The inner error is the reason why the proposal is not run. The outer error is a file that
    /// cannot be written.
    fn prompts_of(
        &self,
        candidate: &mut Candidate,
        reply: &str,
    ) -> Result<Result<String, ProposalRejection>, SearchError> {
        let texts = match self.changed(candidate, reply) {
            Ok(texts) => texts,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let hash = short_hash(&format!("{texts:?}"));
        let name = format!("candidate-{}-{hash}", candidate.number);
        let folder = self.folder.join(&name);
        create(&folder)?;
        for (name, text) in &texts {
            write_text(&folder.join(name), text)?;
        }
        let rendered = Prompts::embedded().with_dir(&folder);
        Ok(rendered.map(|_| name).map_err(ProposalRejection::Broken))
    }

    /// The templates with the change that a reply proposes. Describes the change in `candidate`.
    fn changed(
        &self,
        candidate: &mut Candidate,
        reply: &str,
    ) -> Result<BTreeMap<String, String>, ProposalRejection> {
        let proposal = Proposal::read(reply)?;
        candidate.template.clone_from(&proposal.template);
        candidate.reason.clone_from(&proposal.reason);
        candidate.diff = proposal.diff();
        let (old, new) = proposal.apply(&self.templates)?;
        if let Some(found) = self.data_text.added(old, &new) {
            return Err(ProposalRejection::DataText(found));
        }
        let mut texts = self.templates.clone();
        texts.insert(proposal.template, new);
        Ok(texts)
    }

    /// The remaining part of `--max-cost`; `None` without a limit.
    ///
    /// # Errors
    /// [`SearchError::LimitReached`] if nothing remains.
    fn left(&self) -> Result<Option<Dollars>, SearchError> {
        let Some(Dollars(limit)) = self.settings.budget.max_cost else {
            return Ok(None);
        };
        match limit - self.found.cost.known {
            left if left > Decimal::ZERO => Ok(Some(Dollars(left))),
            _ => Err(SearchError::LimitReached),
        }
    }

    fn write(&self) -> Result<(), SearchError> {
        write_json_pretty(&self.folder.join("improve.json"), &self.found)?;
        Ok(write_improvement(&self.folder.join(PAGE), &self.found)?)
    }
}

/// Turns notices into events of a search.
fn notify(watch: &Watch) -> Notify {
    let watch = Arc::clone(watch);
    Arc::new(move |notice| watch(SearchEvent::Notice(notice)))
}

fn create(folder: &Path) -> Result<(), SearchError> {
    std::fs::create_dir_all(folder).map_err(|source| SearchError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

/// The first 40 bits of a hash, as ten hexadecimal digits. Set by hand, to keep names short.
fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes())
        .to_hex()
        .chars()
        .take(10)
        .collect()
}

/// The effect of a change on the questions that both sides answered and that have gold. `None` if
/// there are none.
fn effect(before: &Answers, now: &Answers) -> Option<Effect> {
    let marks = before.rows.iter();
    let marks = marks.map(|row| ((&row.key, row.epoch), RULE.mark(row)));
    let marks: HashMap<_, _> = marks.collect();
    let pairs = now.rows.iter().filter_map(|row| {
        let before = marks.get(&(&row.key, row.epoch)).copied()??;
        Some((row.filename.as_str(), before, RULE.mark(row)?))
    });
    Effect::of(&pairs.collect::<Vec<_>>())
}

/// The cost that was added after `before`.
fn difference(now: Cost, before: Cost) -> Cost {
    Cost {
        known: now.known - before.known,
        priced: now.priced - before.priced,
        unpriced: now.unpriced - before.unpriced,
    }
}
