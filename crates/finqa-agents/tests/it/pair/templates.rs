//! Tests templates that cannot be rendered.

use finqa_agents::pair::Fault;
use finqa_agents::prompt::Prompts;
use finqa_core::error::{Kind, Kinded};

use super::*;

/// The run ended like one whose provider had failed.
#[tokio::test]
async fn a_template_that_fails_on_a_question_is_an_error_of_the_options() {
    for template in ["analyst_user.j2", "critic_user.j2"] {
        let folder = tempfile::tempdir().unwrap();
        // Templates are tested with the question `q` when they are loaded.
        let source = "{% if question != 'q' %}{{ gone }}{% endif %}";
        std::fs::write(folder.path().join(template), source).unwrap();
        let server = FaultServer::start(scripted("1250", "approves"));
        let model = Arc::new(HttpModel::new(openai(&server)).unwrap());
        let mut options = PairOptions::new(Backend::Llm {
            analyst: model.clone(),
            critic: model,
        });
        options.prompts = Arc::new(Prompts::embedded().with_dir(folder.path()).unwrap());
        let pair = TwoAgentSolver::new(&options).unwrap();
        let asked = Arc::new(question(REVENUE));
        let memory = CallMemory::default();
        let solving = pair.solve(asked, 0, memory, Stop::default(), &|_| {});
        let Err(Interruption::Fatal(failure)) = solving.await else {
            panic!("{template} was rendered");
        };
        assert_eq!(
            (failure.fault, failure.kind()),
            (Fault::Template, Kind::Usage)
        );
        assert!(failure.message.contains(template), "{failure}");
    }
}
