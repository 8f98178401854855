//! The pipeline as a library call, without the program.

use convfinqa::pipeline::{Run, RunContext};
use convfinqa::run::{Event, Finish, RunFolder};
use convfinqa::settings::Settings;

#[tokio::test]
async fn a_run_is_started_watched_and_finished_by_library_calls() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.questions.data_path = Some("sample".to_owned());
    settings.questions.n = Some(3);
    settings.run.output = folder.path().to_owned();
    let mut run = Run::start(&settings, RunContext::default()).await.unwrap();
    let mut answered = 0;
    while let Some(event) = run.next().await {
        answered += usize::from(matches!(event, Event::Answered { resumed: false, .. }));
    }
    let results = run.finish().await.unwrap();
    assert_eq!(results.finish, Finish::Complete);
    assert!(results.summary.complete);
    assert_eq!(answered, results.summary.run.total);
    for name in RunFolder::RESULTS {
        assert!(results.folder.file(name).is_file(), "{name}");
    }
    assert!(results.folder.last_csv().is_file());
}
