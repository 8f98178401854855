//! Tests the state graph: which graphs compile, how they run, and how they are drawn.

use std::fmt;
use std::sync::Mutex;

use async_trait::async_trait;
use finqa_agents::graph::{END, Graph, GraphRunError, Node, RunOptions};
use rstest::rstest;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Answered,
    Revise,
    Done,
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "answered",
            Self::Revise => "revise",
            Self::Done => "done",
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct NoAnswer;

/// A node that takes its routes one after another, and then repeats the last one forever.
struct Scripted {
    name: &'static str,
    routes: Vec<Route>,
    script: Mutex<Vec<Option<Route>>>,
}

type Trace = Vec<&'static str>;

#[async_trait]
impl Node<Trace, Route, NoAnswer> for Scripted {
    fn routes(&self) -> &[Route] {
        &self.routes
    }

    async fn run(&self, state: &mut Trace) -> Result<Route, NoAnswer> {
        state.push(self.name);
        tokio::task::yield_now().await;
        let mut script = self.script.lock().unwrap();
        let next = match script.len() {
            1 => script[0],
            _ => script.remove(0),
        };
        next.ok_or(NoAnswer)
    }
}

fn node(name: &'static str, routes: &[Route], script: &[Option<Route>]) -> Box<Scripted> {
    Box::new(Scripted {
        name,
        routes: routes.to_vec(),
        script: Mutex::new(script.to_vec()),
    })
}

fn analyst() -> Box<Scripted> {
    node("analyst", &[Route::Answered], &[Some(Route::Answered)])
}

fn critic(script: &[Option<Route>]) -> Box<Scripted> {
    node("critic", &[Route::Revise, Route::Done], script)
}

fn pair(script: &[Option<Route>]) -> Graph<Trace, Route, NoAnswer> {
    Graph::builder()
        .node("analyst", analyst())
        .node("critic", critic(script))
        .start("analyst")
        .edge("analyst", Route::Answered, "critic")
        .edge("critic", Route::Revise, "analyst")
        .edge("critic", Route::Done, END)
}

const ONE_REVISION: [Option<Route>; 2] = [Some(Route::Revise), Some(Route::Done)];

#[tokio::test]
async fn runs_to_the_end_and_the_hook_sees_every_step() {
    let graph = pair(&ONE_REVISION).compile().unwrap();
    let seen = Mutex::new(Vec::new());
    let hook = |node: &str, state: &Trace| {
        seen.lock().unwrap().push(format!("{node} {}", state.len()));
    };
    let mut state = Trace::new();
    let options = RunOptions {
        hook: Some(&hook),
        ..RunOptions::default()
    };
    graph.run(&mut state, options).await.unwrap();
    assert_eq!(state, ["analyst", "critic", "analyst", "critic"]);
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen, ["analyst 1", "critic 2", "analyst 3", "critic 4"]);
}

#[test]
fn pictures() {
    let graph = pair(&ONE_REVISION).compile().unwrap();
    let expected = r#"flowchart LR
    START(["START"])
    analyst["analyst"]
    critic["critic"]
    END(["END"])
    START --> analyst
    analyst -->|answered| critic
    critic -->|revise| analyst
    critic -->|done| END
"#;
    assert_eq!(graph.mermaid(), expected);
    let expected = r#"digraph {
    rankdir="LR"
    0 [ label = "START" ]
    1 [ label = "analyst" ]
    2 [ label = "critic" ]
    3 [ label = "END" ]
    0 -> 1 [ label = "" ]
    1 -> 2 [ label = "answered" ]
    2 -> 1 [ label = "revise" ]
    2 -> 3 [ label = "done" ]
}
"#;
    assert_eq!(graph.dot(), expected);
}

#[tokio::test]
async fn a_loop_stops_at_the_limit_and_says_how_to_fix_it() {
    let graph = pair(&[Some(Route::Revise)]).compile().unwrap();
    let mut state = Trace::new();
    let options = RunOptions {
        step_limit: 5,
        ..RunOptions::default()
    };
    let error = graph.run(&mut state, options).await.unwrap_err();
    assert_eq!(state.len(), 5);
    assert_eq!(
        error.to_string(),
        "stopped after 5 steps, before node `critic`: raise the step limit, or end the loop earlier"
    );
}

#[tokio::test]
async fn cancelled_between_steps_the_work_is_kept() {
    let graph = pair(&ONE_REVISION).compile().unwrap();
    let cancel = CancellationToken::new();
    let hook = |_: &str, _: &Trace| cancel.cancel();
    let mut state = Trace::new();
    let options = RunOptions {
        cancel: cancel.clone(),
        hook: Some(&hook),
        ..RunOptions::default()
    };
    let error = graph.run(&mut state, options).await.unwrap_err();
    assert!(
        matches!(&error, GraphRunError::Cancelled { next } if next == "critic"),
        "{error}"
    );
    assert_eq!(state, ["analyst"]);
}

async fn failed(graph: Graph<Trace, Route, NoAnswer>) -> GraphRunError<NoAnswer> {
    let run = RunOptions::default();
    let graph = graph.compile().unwrap();
    graph.run(&mut Trace::new(), run).await.unwrap_err()
}

#[tokio::test]
async fn a_failing_node_is_named_and_its_cause_kept() {
    let error = failed(pair(&[None])).await;
    assert_eq!(error.to_string(), "node `critic` failed");
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "no answer");
}

#[tokio::test]
async fn a_route_that_was_not_declared_is_an_error() {
    let critic = node("critic", &[Route::Done], &[Some(Route::Revise)]);
    let graph = Graph::builder().node("critic", critic).start("critic");
    let error = failed(graph.edge("critic", Route::Done, END)).await;
    let said = "node `critic` took route `revise`, which it does not declare";
    assert_eq!(error.to_string(), said);
}

#[rstest]
#[case::no_start(Graph::builder().node("critic", critic(&[])), "the graph has no start: name one with `start`")]
#[case::unknown_start(Graph::builder().start("x"), "the start names `x`, which is not a node")]
#[case::unknown_target(pair(&[]).edge("analyst", Route::Done, "judge"), "the edge analyst -done-> judge names `judge`, which is not a node")]
#[case::unknown_source(pair(&[]).edge("judge", Route::Done, "critic"), "the edge judge -done-> critic names `judge`, which is not a node")]
#[case::from_end(pair(&[]).edge(END, Route::Done, "critic"), "the edge END -done-> critic names `END`, which is not a node")]
#[case::reserved(pair(&[]).node("END", analyst()), "two nodes are called `END`")]
#[case::twice(pair(&[]).node("critic", analyst()), "two nodes are called `critic`")]
#[case::two_edges(pair(&[]).edge("critic", Route::Revise, END), "node `critic` has two edges for route `revise`: to `analyst` and to `END`")]
#[case::undeclared(pair(&[]).edge("analyst", Route::Done, END), "node `analyst` has an edge for route `done`, which it does not declare")]
#[case::unwired(
    Graph::builder().node("critic", critic(&[])).start("critic").edge("critic", Route::Done, END),
    "node `critic` declares route `revise`, which has no edge"
)]
#[case::unreachable(
    pair(&[]).node("judge", node("judge", &[Route::Done], &[])).edge("judge", Route::Done, END),
    "node `judge` cannot be reached from the start `analyst`"
)]
#[case::trap(
    Graph::builder()
        .node("critic", critic(&[]))
        .node("judge", node("judge", &[Route::Revise], &[]))
        .start("critic")
        .edge("critic", Route::Done, END)
        .edge("critic", Route::Revise, "judge")
        .edge("judge", Route::Revise, "judge"),
    "node `judge` is a trap: no path leads from it to END"
)]
#[case::nothing_ends(
    Graph::builder().node("analyst", analyst()).start("analyst").edge("analyst", Route::Answered, "analyst"),
    "node `analyst` is a trap: no path leads from it to END"
)]
fn refusals_name_node_and_route(
    #[case] graph: Graph<Trace, Route, NoAnswer>,
    #[case] message: &str,
) {
    assert_eq!(graph.compile().unwrap_err().to_string(), message);
}
