//! Lists the tasks of each split, like the task routes of OpenEnv's later cores. A task contains
//! its question but never the answer.

use finqa_core::text::cut;
use serde_json::{Value, json};

use strum::VariantArray;

use crate::data::{Catalog, TaskSplit};
use crate::episode::TaskError;
use crate::server::protocol::validate::{TaskRequest, TaskRoute};

/// The environment's name in the paths of the routes.
pub(crate) const ENVIRONMENT: &str = "finqa_env";

/// The splits, in OpenEnv's form.
pub(crate) fn splits() -> Value {
    TaskSplit::VARIANTS
        .iter()
        .map(|split| json!({"name": split.name(), "type": split.name()}))
        .collect()
}

/// The split of this name. The error repeats at most 100 characters of another name (set by hand).
pub(crate) fn split(name: &str) -> Result<TaskSplit, TaskError> {
    let unknown = |_| TaskError::UnknownSplit(cut(name, 100, "..."));
    name.parse().map_err(unknown)
}

/// Answers a request to one of the task routes.
pub(crate) fn answer(
    catalog: &Catalog,
    route: TaskRoute,
    request: &TaskRequest,
) -> Result<Value, TaskError> {
    let split = split(&request.split)?;
    let count = catalog.splits().tasks(split).len();
    let listed = |from: usize, to: usize| -> Vec<Value> {
        (from..to)
            .filter_map(|index| task(catalog, split, index))
            .collect()
    };
    Ok(match route {
        TaskRoute::Tasks => json!({"tasks": listed(0, count), "env_name": ENVIRONMENT}),
        TaskRoute::NumTasks => json!({"num_tasks": count}),
        TaskRoute::Task => {
            let index = usize::try_from(request.index).map_err(|_| TaskError::Index)?;
            json!({"task": task(catalog, split, index).ok_or(TaskError::Index)?})
        }
        TaskRoute::TaskRange => {
            let bound =
                |given: Option<i64>, default| given.map_or(default, |at| slice_bound(at, count));
            json!({"tasks": listed(bound(request.start, 0), bound(request.stop, count))})
        }
    })
}

/// One task in OpenEnv's form; `None` if the split has no task of this index.
fn task(catalog: &Catalog, split: TaskSplit, index: usize) -> Option<Value> {
    let at = *catalog.splits().tasks(split).get(index)?;
    let question = catalog.questions().get(at)?;
    let name = split.name();
    let mut task = json!({
        "id": format!("{name}-{index}"),
        "split": name,
        "index": index,
        "question_id": question.id,
        "company": question.company,
        "question": question.question,
    });
    let keys = question
        .task_keys()
        .map(|(key, value)| (key.to_owned(), value));
    task.as_object_mut()?.extend(keys);
    Some(task)
}

/// Converts a bound of a Python slice to an index. A negative bound is counted from the end, and a
/// bound outside the list is moved to its nearest end.
fn slice_bound(at: i64, count: usize) -> usize {
    let length = i64::try_from(count).unwrap_or(i64::MAX);
    let at = if at < 0 {
        at.saturating_add(length)
    } else {
        at
    };
    usize::try_from(at.clamp(0, length)).unwrap_or(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, 0)]
    #[case(3, 3)]
    #[case(9, 5)]
    #[case(-2, 3)]
    #[case(-9, 0)]
    #[case(i64::MAX, 5)]
    #[case(i64::MIN, 0)]
    fn bounds_are_those_of_a_python_slice(#[case] at: i64, #[case] wanted: usize) {
        assert_eq!(slice_bound(at, 5), wanted);
    }
}
