//! The MLflow logger: a thread that logs a run to a server as it progresses. The run
//! only queues events for it, and waits a bounded time at its end.

use std::path::Path;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::run::Event;

use super::delivery::{DeliveredRun, FinishedRun, RunDelivery};
use super::error::MlflowError;
use super::points::{MetricPoint, MetricSeries, RowMetrics};
use super::server::TrackingServer;

/// The longest pause between two tries of a server that does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Between two tries at the end of a run.
const SHORT_PAUSE: Duration = Duration::from_millis(500);

/// Shows the user a line while the run continues.
pub(crate) type NotifyLine = Box<dyn Fn(String) + Send>;

/// The result of logging a run to a server.
#[derive(Debug)]
pub enum DeliveryOutcome {
    /// The server has all of it.
    All(DeliveredRun),
    /// Something is missing: why, unless it is unknown or has been shown already.
    Missing(Option<MlflowError>),
}

/// A running logger.
#[derive(Debug)]
pub(crate) struct MlflowLogger {
    samples: mpsc::Sender<RowMetrics>,
    ending: oneshot::Sender<(FinishedRun, CancellationToken)>,
    sent: oneshot::Receiver<DeliveryOutcome>,
}

impl MlflowLogger {
    /// Starts logging the run in `folder`, which has `total` questions, to
    /// `server`. `say` is called at most once.
    pub(crate) fn start(
        server: TrackingServer,
        folder: &Path,
        total: usize,
        say: NotifyLine,
    ) -> Self {
        // Each question is answered once: a queue that holds all never blocks.
        let (samples, received) = mpsc::channel(total.max(1));
        let (ending, ended) = oneshot::channel();
        let (report, sent) = oneshot::channel();
        let folder = folder.to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let result = match runtime {
                Ok(runtime) => runtime.block_on(deliver(server, &folder, received, ended, say)),
                Err(source) => Some(DeliveryOutcome::Missing(Some(MlflowError::File {
                    path: folder,
                    source,
                }))),
            };
            if let Some(result) = result {
                let _ = report.send(result);
            }
        });
        Self {
            samples,
            ending,
            sent,
        }
    }

    /// Queues an event; never waits.
    pub(crate) fn on(&self, event: &Event) {
        if let Event::Answered { row, .. } = event {
            // If the queue were full, the end of the run would deliver it.
            let _ = self.samples.try_send(RowMetrics::from(row.as_ref()));
        }
    }

    /// Sends the rest, at most for the server's timeout, or until
    /// `give_up`.
    pub(crate) async fn finish(
        self,
        ending: FinishedRun,
        give_up: CancellationToken,
    ) -> DeliveryOutcome {
        let _ = self.ending.send((ending, give_up));
        // The thread is gone if there is no answer.
        let sent = self.sent.await;
        sent.unwrap_or(DeliveryOutcome::Missing(None))
    }
}

type EndReceiver = oneshot::Receiver<(FinishedRun, CancellationToken)>;

/// The thread's work; `None` if the run was dropped before it ended.
async fn deliver(
    server: TrackingServer,
    folder: &Path,
    samples: mpsc::Receiver<RowMetrics>,
    ended: EndReceiver,
    say: NotifyLine,
) -> Option<DeliveryOutcome> {
    let mut live = match RunDelivery::open(server, folder, false) {
        Ok(delivery) => LiveDelivery {
            series: MetricSeries::new(delivery.meta()),
            delivery,
            pending: Vec::new(),
            alive: false,
            last_error: None,
            say,
        },
        Err(error) => {
            say(format!("MLflow: {error}"));
            let _ = ended.await.ok()?;
            return Some(DeliveryOutcome::Missing(None));
        }
    };
    let (ending, give_up) = live.live(samples, ended).await?;
    Some(live.end(&ending, &give_up).await)
}

struct LiveDelivery {
    delivery: RunDelivery,
    series: MetricSeries,
    /// Points that the server is not known to have.
    pending: Vec<MetricPoint>,
    /// The last attempt succeeded.
    alive: bool,
    last_error: Option<MlflowError>,
    say: NotifyLine,
}

impl LiveDelivery {
    async fn live(
        &mut self,
        mut samples: mpsc::Receiver<RowMetrics>,
        mut ended: EndReceiver,
    ) -> Option<(FinishedRun, CancellationToken)> {
        let pause = self.delivery.server().timeouts().pause;
        let mut wait = pause;
        let mut next = Instant::now();
        let mut open = true;
        loop {
            let hopeless = self
                .last_error
                .as_ref()
                .is_some_and(|error| !error.is_temporary());
            tokio::select! {
                biased;
                ending = &mut ended => return ending.ok(),
                sample = samples.recv(), if open => match sample {
                    Some(sample) => self.pending.extend(self.series.add(sample)),
                    None => open = false,
                },
                () = tokio::time::sleep_until(next), if !hopeless => {
                    let sent = tokio::select! {
                        biased;
                        ending = &mut ended => {
                            self.delivery.forget();
                            return ending.ok();
                        }
                        sent = self.delivery.send_points(&self.pending) => sent,
                    };
                    wait = match sent {
                        Ok(()) => {
                            self.pending.clear();
                            self.alive = true;
                            self.last_error = None;
                            pause
                        }
                        Err(error) => {
                            self.delivery.forget();
                            self.report_once(error);
                            (wait * 2).min(LONGEST_PAUSE)
                        }
                    };
                    next = Instant::now() + wait;
                }
            }
        }
    }

    /// Shows the first error and keeps the last.
    fn report_once(&mut self, error: MlflowError) {
        if self.last_error.is_none() {
            let line =
                format!("MLflow: {error}; the run continues, and what is missing is sent later");
            let say = std::mem::replace(&mut self.say, Box::new(|_| ()));
            say(line);
        }
        self.alive = false;
        self.last_error = Some(error);
    }

    async fn end(mut self, ending: &FinishedRun, give_up: &CancellationToken) -> DeliveryOutcome {
        let timeouts = self.delivery.server().timeouts();
        let reported = self.last_error.is_some();
        let missing = |error| DeliveryOutcome::Missing((!reported).then_some(error));
        if let Some(error) = self.last_error.take()
            && !error.is_temporary()
        {
            return missing(error);
        }
        if !self.alive
            && let Err(error) = self.delivery.server().sign_of_life().await
        {
            return missing(error);
        }
        let unreachable = MlflowError::Unreachable {
            uri: self.delivery.server().target().shown.clone(),
            reason: "the rest did not arrive in time".to_owned(),
        };
        tokio::select! {
            biased;
            () = give_up.cancelled() => missing(unreachable),
            result = tokio::time::timeout(timeouts.end, finish(&mut self.delivery, ending)) => {
                match result {
                    Ok(Ok(delivered)) => DeliveryOutcome::All(delivered),
                    Ok(Err(error)) => missing(error),
                    Err(_) => missing(unreachable),
                }
            }
        }
    }
}

/// Finishes a delivery, trying again where that may help.
pub(crate) async fn finish(
    delivery: &mut RunDelivery,
    ending: &FinishedRun,
) -> Result<DeliveredRun, MlflowError> {
    const TRIES: u32 = 3;
    for attempt in 1..TRIES {
        match delivery.finish(ending).await {
            Err(error) if error.is_temporary() => {
                delivery.forget();
                tokio::time::sleep(SHORT_PAUSE * attempt).await;
            }
            result => return result,
        }
    }
    delivery.finish(ending).await
}
