//! Splits the questions into training, validation and test tasks.
//!
//! Questions are split by company, so that no filing is in two splits. If there are fewer than
//! three companies, they are split by report page, and if there are fewer than three pages, one by
//! one. The hash of a group's name decides its split, so that a company is in the same split in
//! every data directory. The only exception is a split that would be empty: the group with the
//! nearest hash moves into it.

use std::collections::BTreeSet;

use finqa_core::question::page_of_record;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::EnvQuestion;

/// A split of the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TaskSplit {
    /// About eight tenths of the groups.
    Train,
    /// About one tenth of the groups, for choosing between models.
    Validation,
    /// About one tenth of the groups, for the final figure.
    Test,
}

impl TaskSplit {
    /// The name that clients use.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// The tasks of each split in file order, as positions in the list of questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskSplits([Vec<usize>; 3]);

impl TaskSplits {
    /// The questions of a split; a task's index is its position here.
    pub(crate) fn tasks(&self, split: TaskSplit) -> &[usize] {
        self.0.get(split as usize).map_or(&[], Vec::as_slice)
    }

    /// Splits by company, so that no company is in two splits. With fewer than three companies it
    /// splits by page, and with fewer than three pages by question.
    pub(super) fn new(questions: &[EnvQuestion]) -> Self {
        // Choose the coarsest grouping that has at least one group per split.
        let groups: [fn(&EnvQuestion) -> &str; 2] = [
            |question| &question.company,
            |question| page_of_record(record_of(&question.id)),
        ];
        let suffices = |group: &_| questions.iter().map(group).collect::<BTreeSet<_>>().len() >= 3;
        let group = groups.into_iter().find(suffices);
        // If no grouping suffices, each question is a group.
        Self::by_group(questions, group.unwrap_or(|question| &question.id))
    }

    /// Assigns each group by its hash, read as a fraction from 0 to 1: below 0.8 is train, below
    /// 0.9 validation, and the rest test.
    fn by_group(questions: &[EnvQuestion], group: fn(&EnvQuestion) -> &str) -> Self {
        let hashes: BTreeSet<u64> = questions.iter().map(|q| hash(group(q))).collect();
        let hashes: Vec<u64> = hashes.into_iter().collect();
        let below = |tenths: u64| hashes.partition_point(|hash| *hash < u64::MAX / 10 * tenths);
        // The positions in the sorted hashes at which validation and test begin. With three or more
        // groups, they are moved so that no split is empty. With two groups, one is train and the
        // other test.
        let (validation, test) = match hashes.len() {
            0..=2 => (1, 1),
            count => {
                let test = below(9).clamp(2, count - 1);
                (below(8).clamp(1, test - 1), test)
            }
        };
        let mut splits = Self::default();
        for (at, question) in questions.iter().enumerate() {
            let hash = hash(group(question));
            let place = hashes.partition_point(|other| *other < hash);
            let split = usize::from(place >= validation) + usize::from(place >= test);
            if let Some(tasks) = splits.0.get_mut(split) {
                tasks.push(at);
            }
        }
        splits
    }
}

/// A group's hash: the first eight bytes of the BLAKE3 hash of its name, big-endian.
fn hash(name: &str) -> u64 {
    let hash = blake3::hash(name.as_bytes());
    let first = hash.as_bytes().iter().take(8);
    first.fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The record that a built question's id names: `<record>#<part>`.
fn record_of(id: &str) -> &str {
    id.rsplit_once('#').map_or(id, |(record, _)| record)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, company: &str) -> EnvQuestion {
        EnvQuestion {
            id: id.to_owned(),
            company: company.to_owned(),
            ..EnvQuestion::default()
        }
    }

    fn companies(count: usize) -> Vec<EnvQuestion> {
        (0..count * 3)
            .map(|i| question(&i.to_string(), &format!("company {}", i % count)))
            .collect()
    }

    fn sizes(questions: &[EnvQuestion]) -> [usize; 3] {
        let splits = TaskSplits::new(questions);
        [TaskSplit::Train, TaskSplit::Validation, TaskSplit::Test]
            .map(|split| splits.tasks(split).len())
    }

    #[test]
    fn every_question_is_in_one_split_and_no_company_in_two() {
        for count in [3, 4, 5, 10, 100] {
            let questions = companies(count);
            let splits = TaskSplits::new(&questions);
            assert_eq!(sizes(&questions).iter().sum::<usize>(), questions.len());
            let mut seen = BTreeSet::new();
            for &split in TaskSplit::VARIANTS {
                let tasks = splits.tasks(split);
                assert!(tasks.is_sorted() && !tasks.is_empty(), "{count}: {split:?}");
                let found: BTreeSet<&str> = tasks
                    .iter()
                    .map(|at| questions[*at].company.as_str())
                    .collect();
                assert!(seen.is_disjoint(&found), "{count}: {split:?}");
                seen.extend(found);
            }
        }
    }

    #[test]
    fn about_a_tenth_of_many_companies_is_held_out_twice() {
        assert_eq!(sizes(&companies(1000)), [2379, 339, 282]);
    }

    #[test]
    fn fewer_than_three_companies_are_split_by_page_then_by_question() {
        let id = |page: u32, n: u32| format!("Single_AB/2009/page_{page}.pdf-{n}#qa");
        let by_page: Vec<EnvQuestion> = (0..9).map(|i| question(&id(i % 3, i), "AB")).collect();
        assert_eq!(sizes(&by_page), [3, 3, 3]);
        let one_page: Vec<EnvQuestion> = (0..9).map(|i| question(&id(1, i), "AB")).collect();
        let of_one = sizes(&one_page);
        assert!(of_one.iter().all(|n| *n > 0) && of_one.iter().sum::<usize>() == 9);
        for (count, wanted) in [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 0, 1])] {
            let few: Vec<EnvQuestion> = (0..count).map(|i| question(&id(1, i), "AB")).collect();
            assert_eq!(sizes(&few), wanted, "{count}");
        }
    }
}
