//! Chooses the part of a run that this process asks, by `--shard` or by its task in an array job.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::variables::Variables;
use finqa_core::text::counted;

/// Maximum number of shards, which is more than any scheduler starts for one job.
const MOST_SHARDS: u32 = 1_000_000;

/// Which part of a run this process asks.
#[derive(Args, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[command(next_help_heading = "Shards")]
#[serde(default, deny_unknown_fields)]
pub struct ShardSettings {
    /// Run only shard I of N, counted from 1; `merge` joins the shards. `auto` reads I and N from the variables of a Slurm array job, `auto/N` reads I from those of a Kubernetes Indexed Job. On SIGTERM the shard waits at most 20 seconds for requests in flight; the same command continues it
    #[arg(long, value_name = "I/N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Name of the run that the shards share; required with --shard
    #[arg(id = "run", long = "run", value_name = "NAME")]
    #[serde(rename = "run", skip_serializing_if = "Option::is_none")]
    pub run_name: Option<String>,
}

finqa_core::options::declared_defaults!(ShardSettings);

/// One part of a run's questions: number `index`, from 1, of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Part `index` of `count`; `None` if there is no such part.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        let exists = (1..=count).contains(&index) && count <= MOST_SHARDS;
        exists.then_some(Self { index, count })
    }

    /// All parts of a run that is split into `count`.
    pub fn all(count: u32) -> impl Iterator<Item = Self> {
        (1..=count).map(move |index| Self { index, count })
    }

    /// The number, from 1, of the part that contains the record with this id. It is the first 8
    /// bytes of the id's blake3 hash as a big-endian number, modulo `count`, plus 1. Nothing else
    /// affects it, so a record stays in its part if other records are added, removed or reordered.
    /// With another rule, the shards of runs in progress would contain the wrong questions.
    pub fn of(id: &str, count: u32) -> u32 {
        // The defaults are never used: a hash has 32 bytes, and the place is below `count`.
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

    /// The number of this part, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

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

/// The reason why a run cannot have this name, which is also the name of its folder; `None` if it
/// can. `last` names the newest run, and `.shards` ends the name of the folder of shards. The limit
/// of 100 is set by hand.
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

/// The part of a run that this process asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenShard {
    pub shard: Shard,
    /// The name of the run that the shards share.
    pub run: String,
}

impl ShardSettings {
    /// Finds the part of the run that this process asks; `None` for the whole run.
    pub fn resolve(&self, variables: &Variables) -> Result<Option<ChosenShard>, ConfigError> {
        let error = |message: String| ConfigError::Setting(format!("--shard {message}"));
        let (choice, run) = match (self.shard.as_deref(), &self.run_name) {
            (None, None) => return Ok(None),
            (Some(choice), Some(run)) => (choice, run.clone()),
            (None, Some(_)) => {
                let message = "is not given, but --run is, which names the run that shards share";
                return Err(error(message.to_owned()));
            }
            (Some(_), None) => {
                let message = "needs --run NAME: the name of the run that the shards share";
                return Err(error(message.to_owned()));
            }
        };
        let shard = match choice.trim().strip_prefix("auto") {
            None => choice.parse(),
            Some("") => scheduled(variables, None),
            Some(rest) => match rest.strip_prefix('/').and_then(|n| n.trim().parse().ok()) {
                None | Some(0) => Err("write auto/N, such as auto/8".to_owned()),
                count => scheduled(variables, count),
            },
        };
        let shard = shard.map_err(|message| error(format!("{choice}: {message}")))?;
        Ok(Some(ChosenShard { shard, run }))
    }
}

/// The variables in which the schedulers give a task its number.
const SLURM_TASK: &str = "SLURM_ARRAY_TASK_ID";
const KUBERNETES_TASK: &str = "JOB_COMPLETION_INDEX";

/// The part that this process asks, which is a task of an array job. `of` is the number of shards,
/// if the user gave it. Without it, each task of a Slurm job is a shard. Kubernetes sets no
/// variable with the number of tasks.
fn scheduled(variables: &Variables, of: Option<u32>) -> Result<Shard, String> {
    let number = |name: &str| {
        let number = variables.get(name).map(|value| {
            let number = value.trim().parse::<u32>();
            number.map_err(|_| format!("{name} is {value}, which is not a number"))
        });
        number.transpose()
    };
    let (task, first, count) = if let Some(task) = number(SLURM_TASK)? {
        // Without a minimum, tasks count from 1, as shards do.
        let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(1);
        let count = number("SLURM_ARRAY_TASK_COUNT")?;
        // A job with fewer tasks, such as a rerun of one task, would ask other shards.
        if let (Some(count), Some(of)) = (count, of)
            && count != of
        {
            let tasks = counted(count, "task");
            return Err(format!("the array job has {tasks}, and not {of}"));
        }
        (task, first, count.or(of))
    } else if let Some(task) = number(KUBERNETES_TASK)? {
        // An index of Kubernetes counts from 0.
        (task, 0, of)
    } else {
        return Err(format!(
            "this process is not a task of an array job: neither {SLURM_TASK} nor {KUBERNETES_TASK} \
             is set; pass --shard I/N"
        ));
    };
    let count = count.ok_or("the number of shards is not known; pass --shard auto/N")?;
    let place = task.checked_sub(first).and_then(|at| at.checked_add(1));
    let shard = place.and_then(|place| Shard::new(place, count));
    shard.ok_or_else(|| format!("task {task} is not one of {count} from {first}; pass --shard I/N"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves these settings with these variables, each written `NAME=VALUE`.
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
    fn a_scheduler_names_its_task() {
        let ten = "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=8";
        let indexed = "JOB_COMPLETION_INDEX=0";
        for (choice, set, shard) in [
            ("auto", ten, "3/8"),
            ("auto/8", ten, "3/8"),
            ("auto/8", indexed, "1/8"),
        ] {
            let found = chosen(&format!("run = 'a'\nshard = '{choice}'"), set);
            assert_eq!(found.unwrap().unwrap().shard.to_string(), shard, "{set}");
        }
    }

    #[test]
    fn a_shard_that_does_not_exist_is_refused_by_name() {
        let rerun = "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=4 SLURM_ARRAY_TASK_COUNT=1";
        for (choice, set, words) in [
            ("0/3", "", "I counts from 1 to N"),
            ("x", "", "write I/N, such as 3/8, or auto"),
            ("1/9999999", "", "N is at most 1000000"),
            ("auto/0", "", "such as auto/8"),
            ("automatic", "", "such as auto/8"),
            ("auto", "JOB_COMPLETION_INDEX=0", "pass --shard auto/N"),
            ("auto/2", "JOB_COMPLETION_INDEX=2", "is not one of 2 from 0"),
            ("auto/8", rerun, "the array job has 1 task, and not 8"),
            ("auto/2", "JOB_COMPLETION_INDEX=-1", "which is not a number"),
        ] {
            let given = format!("run = 'a'\nshard = '{choice}'");
            let error = chosen(&given, set).unwrap_err();
            assert!(error.contains(words), "{choice}: {error}");
        }
        let part = chosen("run = 'a'", "").unwrap_err();
        assert!(part.contains("not given, but --run"), "{part}");
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

    /// A change of this rule would put the wrong questions into the shards of runs in progress.
    #[test]
    fn the_rule_that_assigns_records_stays_as_it_is() {
        let of = |id| Shard::of(id, 8);
        let ids = [
            "Single_JKHY/2009/page_28.pdf-3", "Double_UPS/2009/page_33.pdf", "",
        ];
        assert_eq!(ids.map(of), [1, 8, 7]);
    }
}
