//! The part of a run that this process asks, from options or from the engine that started
//! it.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::engines::{ENGINES, Engine};
use super::layers::ConfigError;
use super::variables::Variables;
use finqa_core::text::counted;

/// More shards than any engine starts for one job.
const MOST_SHARDS: u32 = 1_000_000;

/// Which part of a run this process asks.
#[derive(Args, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[command(next_help_heading = "Shards")]
#[serde(default, deny_unknown_fields)]
pub struct ShardSettings {
    /// Run only shard I of N, counted from 1; `merge` joins the shards. `auto` reads I and N from the variables of Slurm, Kubernetes, PBS, Grid Engine, AWS Batch or GitLab. On SIGTERM the shard waits at most 20 seconds for requests in flight; the same command continues it
    #[arg(long, value_name = "I/N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardChoice>,
    /// Number of shards for `--shard auto` if no variable gives it (Kubernetes, PBS)
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards: Option<u32>,
    /// Name of the run that the shards share [default: a short hash of the run's questions, followed by the id of the array job if there is one]
    #[arg(id = "run", long = "run", value_name = "NAME")]
    #[serde(rename = "run", skip_serializing_if = "Option::is_none")]
    pub run_name: Option<String>,
}

finqa_core::options::declared_defaults!(ShardSettings);

/// The value of `--shard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ShardChoice {
    /// As the engine's variables say.
    Auto,
    /// This one.
    Given(Shard),
}

/// Part `index` of `count` of a run's questions, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Part `index` of `count`, if there is such a part.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        let exists = (1..=count).contains(&index) && count <= MOST_SHARDS;
        exists.then_some(Self { index, count })
    }

    /// All parts of a run of `count`.
    pub fn all(count: u32) -> impl Iterator<Item = Self> {
        (1..=count).map(move |index| Self { index, count })
    }

    /// The part that the record with this id belongs to: the first 8 bytes of the blake3 of
    /// its id, as a big-endian number, modulo `count`. Nothing else decides, so that the
    /// order and the number of records may change without moving one.
    pub fn of(id: &str, count: u32) -> u32 {
        let hash = blake3::hash(id.as_bytes());
        let first = hash.as_bytes().first_chunk::<8>();
        let number = first.map_or(0, |bytes| u64::from_be_bytes(*bytes));
        let place = number % u64::from(count.max(1));
        u32::try_from(place).unwrap_or_default() + 1
    }

    /// True if the record with this id is in this part.
    pub fn contains(self, id: &str) -> bool {
        Self::of(id, self.count) == self.index
    }

    /// The part's number, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of parts.
    pub fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, count)| {
            Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
        });
        match numbers {
            None => Err("write I/N, such as 3/8, or auto".to_owned()),
            Some((index, count)) => Self::new(index, count)
                .ok_or_else(|| format!("I counts from 1 to N, and N is at most {MOST_SHARDS}")),
        }
    }
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            text => text.parse().map(Self::Given),
        }
    }
}

impl fmt::Display for ShardChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Given(shard) => shard.fmt(f),
        }
    }
}

/// The reason why a run cannot have this name, which becomes a folder's.
pub(super) fn name_error(name: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || name.len() > 100 || !name.chars().all(plain) {
        Some("use up to 100 letters, digits, '-', '_' and '.', and begin with a letter or a digit")
    } else if name == "last" || name.ends_with(".shards") {
        Some("`last` and names that end with .shards are reserved")
    } else {
        None
    }
}

impl TryFrom<String> for ShardChoice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ShardChoice> for String {
    fn from(choice: ShardChoice) -> Self {
        choice.to_string()
    }
}

/// The part that a process asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenShard {
    pub shard: Shard,
    /// The id that the tasks of the engine's array job share.
    pub array_job: Option<String>,
}

impl ShardSettings {
    /// The part of the run that this process asks, if it is not to ask all of it.
    pub fn resolve(&self, variables: &Variables) -> Result<Option<ChosenShard>, ConfigError> {
        let error = |message: String| ConfigError::Setting(format!("--shard {message}"));
        match (self.shard, self.shards) {
            (None, None) => match &self.run_name {
                None => Ok(None),
                Some(_) => Err(error(
                    "is not given, but --run is, which names the run that shards share".to_owned(),
                )),
            },
            (None, Some(_)) => Err(error(
                "is not given, but --shards is; pass --shard auto".to_owned(),
            )),
            (Some(ShardChoice::Given(shard)), shards) => match shards {
                Some(count) if count != shard.count => {
                    Err(error(format!("is {shard}, but --shards is {count}")))
                }
                _ => Ok(Some(ChosenShard {
                    shard,
                    array_job: None,
                })),
            },
            (Some(ShardChoice::Auto), shards) => by_engine(variables, shards)
                .map(Some)
                .map_err(|message| error(format!("auto: {message}"))),
        }
    }
}

fn by_engine(variables: &Variables, shards: Option<u32>) -> Result<ChosenShard, String> {
    let set = |name: &str| variables.get(name).filter(|value| value != "undefined");
    let number = |name: &str| {
        let number = set(name).map(|value| {
            let number = value.trim().parse::<u32>();
            number.map_err(|_| format!("{name} is {value}, which is not a number"))
        });
        number.transpose()
    };
    let stated = |name: Option<&str>| name.map(number).transpose().map(Option::flatten);
    let engine = engine_in(set)?;
    let (first, otherwise) = engine.first;
    let task = ArrayTask {
        variable: engine.index,
        first: stated(first)?.unwrap_or(otherwise),
        index: number(engine.index)?.unwrap_or_default(),
        step: stated(engine.step)?.unwrap_or(1).max(1),
        last: stated(engine.last)?,
        count: stated(engine.count)?,
    };
    // AWS: `<array job>:<index>`; PBS: `<array job>[].<server>`.
    let job = engine.job.and_then(set);
    let job = job.map(|id| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        id.chars().take_while(|c| plain(*c)).collect::<String>()
    });
    Ok(ChosenShard {
        shard: task.shard(shards)?,
        array_job: job.filter(|id| !id.is_empty()),
    })
}

/// The engine whose variables are set.
fn engine_in(set: impl Fn(&str) -> Option<String>) -> Result<&'static Engine, String> {
    let present: Vec<&Engine> = ENGINES
        .iter()
        .filter(|engine| set(engine.index).is_some())
        .collect();
    match present.as_slice() {
        [engine] => Ok(engine),
        [] => {
            let names = ENGINES.map(|engine| engine.index).join(", ");
            Err(format!(
                "this process is not a task of an array job: none of {names} is set; pass --shard I/N"
            ))
        }
        several => {
            let names: Vec<_> = several.iter().map(|engine| engine.index).collect();
            Err(format!("{} are set; pass --shard I/N", names.join(" and ")))
        }
    }
}

/// A task of an array job, as its engine's variables describe it.
struct ArrayTask {
    /// The variable of its index.
    variable: &'static str,
    first: u32,
    index: u32,
    /// The distance between the indices of two tasks.
    step: u32,
    /// Grid Engine's may be behind the last task.
    last: Option<u32>,
    count: Option<u32>,
}

impl ArrayTask {
    /// The number of tasks up to an index.
    fn tasks_to(&self, index: u32) -> Option<u32> {
        Some((index.checked_sub(self.first)? / self.step).saturating_add(1))
    }

    /// The number of shards: that of the tasks, or else that of `--shards`.
    fn shard_count(&self, shards: Option<u32>) -> Result<u32, String> {
        let reached = self.last.and_then(|last| self.tasks_to(last));
        // With gaps between them, some tasks would have a shard, and others none.
        if let (Some(tasks), Some(reached)) = (self.count, reached)
            && tasks != reached
        {
            return Err(format!(
                "the array job has {tasks} tasks with gaps between their numbers; number them \
                 without gaps, or pass --shard I/N"
            ));
        }
        match (self.count.or(reached), shards) {
            (Some(stated), Some(shards)) if stated != shards => Err(format!(
                "the array job has {}, but --shards is {shards}",
                counted(stated, "task")
            )),
            (Some(count), _) | (None, Some(count)) => Ok(count),
            (None, None) => Err(format!(
                "{} does not say how many shards there are; pass --shards N",
                self.variable
            )),
        }
    }

    fn shard(&self, shards: Option<u32>) -> Result<Shard, String> {
        let count = self.shard_count(shards)?;
        let after = self.index.checked_sub(self.first);
        let is_task = after.is_some_and(|after| after % self.step == 0);
        let place = self.tasks_to(self.index).filter(|_| is_task);
        let shard = place.and_then(|place| Shard::new(place, count));
        shard.ok_or_else(|| {
            let Self {
                variable,
                index,
                first,
                ..
            } = self;
            format!(
                "{variable} is {index}, and {count} tasks from {first} do not reach it; number the \
                 tasks one by one, or pass --shard I/N"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shard by settings and by variables, `NAME=VALUE` each.
    fn chosen(given: &str, set: &'static str) -> Result<Option<ChosenShard>, String> {
        let settings: ShardSettings = toml::from_str(given).map_err(|error| error.to_string())?;
        let variables = Variables::new(move |name| {
            let mut pairs = set.split_whitespace().filter_map(|set| set.split_once('='));
            let found = pairs.find(|(known, _)| *known == name);
            found.map(|(_, value)| value.to_owned())
        });
        let chosen = settings.resolve(&variables);
        chosen.map_err(|error| error.to_string())
    }

    #[test]
    fn each_engine_names_its_task_and_its_array_job() {
        for (set, index, job) in [
            (
                "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_JOB_ID=4711",
                3,
                Some("4711"),
            ),
            ("JOB_COMPLETION_INDEX=0", 1, None),
            (
                "PBS_ARRAY_INDEX=8 PBS_ARRAY_ID=1234[].pbs.example",
                8,
                Some("1234"),
            ),
            (
                "SGE_TASK_ID=11 SGE_TASK_FIRST=10 SGE_TASK_LAST=17 SGE_TASK_STEPSIZE=1 JOB_ID=99",
                2,
                Some("99"),
            ),
            (
                "AWS_BATCH_JOB_ARRAY_INDEX=7 AWS_BATCH_JOB_ARRAY_SIZE=8 AWS_BATCH_JOB_ID=6c1-a2:7",
                8,
                Some("6c1-a2"),
            ),
            (
                "CI_NODE_INDEX=1 CI_NODE_TOTAL=8 CI_PIPELINE_ID=55",
                1,
                Some("55"),
            ),
        ] {
            let found = chosen("shard = 'auto'\nshards = 8", set).unwrap().unwrap();
            assert_eq!(found.shard, Shard::new(index, 8).unwrap(), "{set}");
            assert_eq!(found.array_job.as_deref(), job, "{set}");
        }
        // --array=1-5:2
        let slurm = "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3";
        // -t 10-17:3
        let sge = "SGE_TASK_ID=13 SGE_TASK_FIRST=10 SGE_TASK_LAST=17 SGE_TASK_STEPSIZE=3";
        for (set, index) in [(slurm, 3), (sge, 2)] {
            let found = chosen("shard = 'auto'", set).unwrap().unwrap();
            assert_eq!(found.shard, Shard::new(index, 3).unwrap(), "{set}");
        }
        let outside = "SGE_TASK_ID=undefined CI_NODE_INDEX=2";
        let alone = chosen("shard = 'auto'\nshards = 2", outside).unwrap();
        assert_eq!(alone.unwrap().shard, Shard::new(2, 2).unwrap());
    }

    #[test]
    fn a_shard_that_does_not_exist_is_refused_by_name() {
        let rerun = "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_COUNT=1";
        let gaps = "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3";
        // --array=1,2,4: no task is accepted, so that no part of the run is paid for.
        let listed = "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=3";
        let two = "JOB_COMPLETION_INDEX=0 CI_NODE_INDEX=1";
        let (auto, of_two) = ("shard = 'auto'", "shard = 'auto'\nshards = 2");
        let of_eight = "shard = 'auto'\nshards = 8";
        for (given, set, words) in [
            ("shard = '0/3'", "", "I counts from 1 to N"),
            ("shard = '4/3'", "", "I counts from 1 to N"),
            ("shard = 'x'", "", "write I/N, such as 3/8, or auto"),
            ("shard = '1/9999999'", "", "N is at most 1000000"),
            ("shard = '1/2'\nshards = 3", "", "--shards is 3"),
            ("shards = 3", "", "not given, but --shards is"),
            ("run = 'a'", "", "not given, but --run"),
            (auto, "", "not a task of an array job"),
            (auto, "JOB_COMPLETION_INDEX=0", "pass --shards N"),
            (of_two, "JOB_COMPLETION_INDEX=2", "do not reach it"),
            (of_two, "PBS_ARRAY_INDEX=0", "do not reach it"),
            (
                of_eight,
                rerun,
                "the array job has 1 task, but --shards is 8",
            ),
            (auto, gaps, "do not reach it"),
            (auto, listed, "3 tasks with gaps"),
            (
                of_two, "JOB_COMPLETION_INDEX=-1", "is -1, which is not a number",
            ),
            (
                of_two,
                two,
                "JOB_COMPLETION_INDEX and CI_NODE_INDEX are set",
            ),
        ] {
            let error = chosen(given, set).unwrap_err();
            assert!(error.contains(words), "{given}: {error}");
        }
    }

    #[test]
    fn the_name_of_a_run_is_one_folder_and_means_nothing_else() {
        for name in ["nightly", "2026-11-22", "a", "x.y_z"] {
            assert_eq!(name_error(name), None, "{name}");
        }
        for name in ["", "..", "../a", "a/b", "-x", ".a", "last", "a.shards", "é"] {
            assert!(name_error(name).is_some(), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_record_is_in_exactly_one_shard(id in ".{0,40}", count in 1_u32..500) {
            let holding: Vec<_> = Shard::all(count).filter(|shard| shard.contains(&id)).collect();
            proptest::prop_assert_eq!(holding.len(), 1);
            proptest::prop_assert_eq!(holding[0].index(), Shard::of(&id, count));
        }
    }

    /// A change of the rule would orphan the shards of every run in progress.
    #[test]
    fn the_rule_that_assigns_records_stays_as_it_is() {
        let of = |id| Shard::of(id, 8);
        let ids = [
            "Single_JKHY/2009/page_28.pdf-3", "Double_UPS/2009/page_33.pdf", "",
        ];
        assert_eq!(ids.map(of), [1, 8, 7]);
    }
}
