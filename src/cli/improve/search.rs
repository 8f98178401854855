//! The steps of a search for better prompts ([`Search::run`]).
//!
//! Only the runs, the stored replies of the proposer and the files made from them are kept between
//! processes. To continue, the same command goes through the same steps again, and reads what is
//! already answered instead of asking it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rust_decimal::Decimal;

use finqa_agents::llm::{Budget, BudgetLimits, ChatRequest, Cost, Dollars, Stop, StoredReplies};
use finqa_agents::prompt::Prompts;
use finqa_journal::answers::open_answers;
use finqa_journal::run::{Finish, Journal, RunFolder, RunKind, summarise};
use finqa_journal::settings::{QuestionSettings, Settings};
use finqa_report::output::report::write_improvement;
use finqa_report::output::terminal::{
    ProgressOptions, RunProgress, TerminalWriter, candidate_line,
};
use finqa_report::output::{write_json_pretty, write_text};
use finqa_report::telemetry::Telemetry;
use finqa_run::engine::RunModels;
use finqa_run::improve::{Proposal, Rejection, request, templates};
use finqa_run::pipeline::{self, LockedRun, Notify, Run, RunContext, RunNotice};
use finqa_score::analysis::{Answers, analyze};
use finqa_score::improve::{
    CANDIDATES, Candidate, DataText, Effect, Improvement, LEVEL, PageSplit, Power, Trial,
};
use finqa_score::score::Rule;

use super::super::{Exit, Failure, dotenv, mlflow_lines, run};

/// The rule that decides whether an answer is right.
pub(super) const RULE: Rule = Rule::FinancialEquivalence;
/// What continues a search, in words for the user.
const AGAIN: &str = "the same command";
/// The file name of the page with the results.
pub(super) const PAGE: &str = "improve.html";

/// A search for better prompts.
pub(super) struct Search {
    settings: Settings,
    options: ProgressOptions,
    pub(super) replay: Option<Arc<StoredReplies>>,
    pub(super) stop: Stop,
    pub(super) traces: Telemetry,
    /// `OUTPUT/improve/ID`.
    folder: PathBuf,
    split: PageSplit,
    templates: BTreeMap<String, String>,
    data_text: DataText,
    found: Improvement,
}

impl Search {
    /// Splits the pages and counts the questions with gold. Sends nothing.
    ///
    /// # Errors
    /// Data without gold, and settings with which no run can be started.
    pub(super) fn new(
        settings: &Settings,
        proposer: Option<String>,
        power: Power,
        options: ProgressOptions,
        notify: &Notify,
    ) -> Result<Self, Failure> {
        let context = RunContext {
            variables: dotenv::variables(),
            notify: Arc::clone(notify),
            ..RunContext::default()
        };
        let models = RunModels {
            measure_only: true,
            ..RunModels::default()
        };
        let job = pipeline::job(settings, &context, &models)?;
        let dataset = job.records.as_ref().map_err(Failure::usage)?;
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
            let line = "improve needs gold answers, and no question of the data has one";
            return Err(Failure::new(Exit::Data, line));
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
            options,
            replay: None,
            stop: Stop::default(),
            traces: Telemetry::default(),
        })
    }

    /// Goes through all steps. Returns the results and the folder that they are in.
    ///
    /// # Errors
    /// Too few questions to detect the gain, and any run or request that fails.
    pub(super) async fn run(mut self) -> Result<(Improvement, PathBuf), Failure> {
        if !self.found.power.is_enough() {
            return Err(self.without_power().await);
        }
        // A run with an empty list of ids would ask about all records.
        if self.found.records.contains(&0) {
            let line = "not enough data: there are no propose, no gate or no sealed pages; name more \
                        records (--n, --data-path)";
            return Err(Failure::usage(line));
        }
        create(&self.folder)?;
        write_json_pretty(&self.folder.join("split.json"), &self.split)?;
        let ids = [self.split.propose.clone(), self.split.gate.clone()].concat();
        let before = self.answers("baseline", ids, None).await?;
        // The proposer sees only misses on the propose pages.
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
            self.say(&candidate_line(&candidate));
            self.found.candidates.push(candidate);
            self.found.promoted = trial.promoted();
            if self.found.promoted == Some(number) {
                best = prompts;
            }
            self.write()?;
        }
        if self.found.promoted.is_some() {
            let sealed = self.split.sealed.clone();
            let before = self.answers("sealed-baseline", sealed.clone(), None);
            let before = before.await?;
            let name = format!("sealed-{best}");
            let now = self.answers(&name, sealed, Some(&best)).await?;
            self.found.sealed = effect(&before, &now);
            self.found.prompts = Some(self.folder.join(best).display().to_string());
        }
        self.found.complete = true;
        self.write()?;
        Ok((self.found, self.folder))
    }

    /// The failure of a search with too few questions. It says how many the gate needs, and what
    /// asking them would cost.
    async fn without_power(&self) -> Failure {
        let Power {
            detect,
            discordance,
            gate_questions,
            needed,
            measured,
            ..
        } = self.found.power;
        let mut settings = self.settings.clone();
        settings.questions = self.only_ids(self.split.gate.clone());
        let silent: Notify = Arc::new(|_| {});
        let variables = dotenv::variables();
        let measured_run = pipeline::dry_run(&settings, None, &variables, &silent);
        let cost = match measured_run.await.ok().filter(|run| run.questions > 0) {
            None => "their cost is unknown".to_owned(),
            Some(run) => match run.cost_usd {
                None => "their cost is unknown, because the model has no listed price".to_owned(),
                Some(cost) => {
                    let all = Decimal::try_from(self.found.power.asked_in_all());
                    let each = Decimal::from(run.questions);
                    let times = all.unwrap_or_default() / each;
                    let [low, high] = [cost.low, cost.high].map(|cost| cost * times);
                    format!("they would cost ${low:.2} to ${high:.2}")
                }
            },
        };
        let source = if measured {
            "in the earlier runs"
        } else {
            "assumed"
        };
        Failure::usage(format!(
            "not enough data: the gate has {gate_questions} questions, and takes {needed} to detect \
             a gain of {} points with 80 % power at a discordance of {:.1} % ({source}); name more \
             records, about {} questions in all (--n, --data-path), or a larger --detect; about {:.0} \
             questions would be asked, and {cost}",
            100.0 * detect,
            100.0 * discordance,
            2 * needed,
            self.found.power.asked_in_all(),
        ))
    }

    /// The question settings that select the records with these ids.
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

    /// The answers of the run `name`, which is started, continued, or only read if it is complete.
    /// `prompts` is the folder of a candidate's prompts; `None` for the prompts of the settings.
    async fn answers(
        &mut self,
        name: &str,
        ids: Vec<String>,
        prompts: Option<&str>,
    ) -> Result<Answers, Failure> {
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
            let resumed = match is_begun {
                true => Some(LockedRun::open(&output, &name, RunKind::Questions)?),
                false => None,
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
    /// A run that does not complete.
    async fn ask(
        &self,
        name: &str,
        settings: &Settings,
        resumed: Option<LockedRun>,
    ) -> Result<(), Failure> {
        self.say(&format!("asking {name}"));
        let mut progress = RunProgress::new(self.options, &settings.run.output);
        let writer = progress.writer();
        let shown = writer.clone();
        let silent: Notify = Arc::new(|_| {});
        let context = RunContext {
            resumed,
            variables: dotenv::variables(),
            tracking: pipeline::tracking_server(settings, &dotenv::variables(), &silent)?,
            traces: self.traces.clone(),
            // Notes are not repeated for each run; `new` has shown them.
            notify: Arc::new(move |notice| {
                if let RunNotice::Warning(line) = notice {
                    shown.warn(&line);
                }
            }),
            stop: self.stop.clone(),
            replay: self.replay.clone(),
            recorded: None,
            name: Some(name.to_owned()),
        };
        let mut asked = Run::start(settings, context).await?;
        while let Some(event) = asked.next().await {
            progress.on(&event);
            // The command that resumes only this run would not continue the search.
            AGAIN.clone_into(&mut progress.continuation);
        }
        let results = asked.finish().await?;
        if let Some(sent) = &results.tracked {
            mlflow_lines::print(&writer, &results, sent);
        }
        match results.finish {
            Finish::Complete => Ok(()),
            finish => {
                let exit = run::unfinished_exit_code(finish)?;
                let more = match exit {
                    Exit::BudgetReached => " with a higher limit",
                    _ => "",
                };
                let line = format!("{name} is not complete; {AGAIN}{more} continues it");
                Err(Failure::new(exit, line))
            }
        }
    }

    /// Asks the proposer. Its reply is stored, so that the same command reads it again instead of
    /// asking.
    async fn proposal(&mut self, mut asked: ChatRequest) -> Result<String, Failure> {
        let mut settings = self.settings.clone();
        settings.model.name.clone_from(&self.found.proposer);
        let replies = self.folder.join("replies");
        settings.model.cache.get_or_insert(replies);
        let notify = run::notify(TerminalWriter::new(self.options));
        let left = self.left()?.map(|Dollars(left)| left);
        let models = RunModels {
            replies: pipeline::stored_replies(&settings, self.replay.as_ref(), &notify)?,
            prices: Arc::new(pipeline::user_prices(&settings, None, None)?.unwrap_or_default()),
            budget: Arc::new(Budget::new(BudgetLimits {
                cost: left,
                ..BudgetLimits::default()
            })),
            ..RunModels::default()
        };
        let setup = pipeline::model_setup(&settings, &dotenv::variables(), &models)?;
        asked.max_output_tokens = Some(setup.reply_limit);
        let reply = setup.model.chat(&asked, &self.stop).await?;
        // A reply that an earlier process paid for is counted too.
        self.found.cost += Cost::of_request(setup.model.cost(&reply));
        Ok(reply.content)
    }

    /// Writes the prompts that a reply proposes, and returns the name of their folder. The name has
    /// a hash of the prompts, so that the run of one proposal is not taken for that of another.
    ///
    /// # Errors
    /// The inner error is the reason why the proposal is not run, the outer one a file that cannot
    /// be written.
    fn prompts_of(
        &self,
        candidate: &mut Candidate,
        reply: &str,
    ) -> Result<Result<String, Rejection>, Failure> {
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
        Ok(rendered.map(|_| name).map_err(Rejection::Broken))
    }

    /// The templates with the change that a reply proposes. Describes the change in `candidate`.
    fn changed(
        &self,
        candidate: &mut Candidate,
        reply: &str,
    ) -> Result<BTreeMap<String, String>, Rejection> {
        let proposal = Proposal::read(reply)?;
        candidate.template.clone_from(&proposal.template);
        candidate.reason.clone_from(&proposal.reason);
        candidate.diff = proposal.diff();
        let (old, new) = proposal.apply(&self.templates)?;
        if let Some(found) = self.data_text.added(old, &new) {
            return Err(Rejection::DataText(found));
        }
        let mut texts = self.templates.clone();
        texts.insert(proposal.template, new);
        Ok(texts)
    }

    /// The amount that is left of `--max-cost`; `None` without a limit.
    ///
    /// # Errors
    /// [`Exit::BudgetReached`] if nothing is left.
    fn left(&self) -> Result<Option<Dollars>, Failure> {
        let Some(Dollars(limit)) = self.settings.budget.max_cost else {
            return Ok(None);
        };
        match limit - self.found.cost.known {
            left if left > Decimal::ZERO => Ok(Some(Dollars(left))),
            _ => {
                let line =
                    format!("--max-cost is reached; {AGAIN} with a higher limit continues it");
                Err(Failure::new(Exit::BudgetReached, line))
            }
        }
    }

    fn write(&self) -> Result<(), Failure> {
        write_json_pretty(&self.folder.join("improve.json"), &self.found)?;
        Ok(write_improvement(&self.folder.join(PAGE), &self.found)?)
    }

    fn say(&self, line: &str) {
        TerminalWriter::new(self.options).say(line);
    }
}

fn create(folder: &Path) -> Result<(), Failure> {
    let created = std::fs::create_dir_all(folder);
    created.map_err(|error| {
        let folder = folder.display();
        Failure::usage(format!(
            "cannot create {folder}: {error}; choose another --output"
        ))
    })
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes())
        .to_hex()
        .chars()
        .take(10)
        .collect()
}

/// The effect of a change on the questions that both sides have, if there are any with gold.
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

/// The part of a cost that was added after `before`.
fn difference(now: Cost, before: Cost) -> Cost {
    Cost {
        known: now.known - before.known,
        priced: now.priced - before.priced,
        unpriced: now.unpriced - before.unpriced,
    }
}
