//! Reservations within a limit of cost, and across processes.

use super::*;
use futures::FutureExt;

#[test]
fn processes_share_money_and_each_has_the_whole_time() {
    let whole = BudgetLimits {
        cost: Some(Decimal::from(10)),
        time: Some(Duration::from_secs(60)),
    };
    let each = whole.for_each_of(8);
    assert_eq!(each.cost, Some(Decimal::new(125, 2)));
    assert_eq!(each.time, whole.time);
    assert_eq!(whole.for_each_of(1), whole);
    // The parts together must never exceed the whole.
    let third = whole.for_each_of(3).cost.unwrap();
    assert!(third * Decimal::from(3) <= Decimal::from(10));
}

fn of(dollars: u32) -> Decimal {
    dollars.into()
}

fn capped(dollars: u32) -> Arc<Budget> {
    Arc::new(Budget::new(BudgetLimits {
        cost: Some(dollars.into()),
        ..BudgetLimits::default()
    }))
}

#[tokio::test]
async fn a_request_waits_for_those_in_flight_and_fits_once_they_are_settled() {
    let (budget, stop) = (capped(10), Stop::default());
    let first = budget.reserve(of(6), &stop).await.unwrap();
    let mut second = Box::pin(budget.reserve(of(6), &stop));
    assert!(second.as_mut().now_or_never().is_none());
    first.settle(of(1));
    second.await.unwrap().settle(of(6));
    assert_eq!(budget.state.lock().spent, of(7));
    assert_eq!(budget.state.lock().in_flight, Decimal::ZERO);
    assert!(!stop.drain.is_cancelled());
}

#[tokio::test]
async fn what_can_never_fit_drains_the_run() {
    let (budget, stop) = (capped(10), Stop::default());
    budget.add_earlier(of(5), 3);
    assert!(budget.reserve(of(6), &stop).await.is_none());
    assert!(stop.drain.is_cancelled());
    assert_eq!(budget.reached(), Some(BudgetLimit::Cost));
    assert!(budget.reserve(of(1), &stop).await.is_none(), "it drains");
}

#[tokio::test]
async fn a_lost_request_stays_counted_at_its_upper_bound() {
    let (budget, stop) = (capped(10), Stop::default());
    drop(budget.reserve(of(6), &stop).await.unwrap());
    assert_eq!(budget.state.lock().spent, of(6));
    assert!(budget.reserve(of(5), &stop).await.is_none());
    let line = budget.spent_line().unwrap_or_default();
    assert!(
        line.ends_with(", the next request needs up to $5.0000"),
        "{line}"
    );
}

#[tokio::test]
async fn an_amount_is_stored_before_its_request_is_sent_and_again_when_it_is_known() {
    let (budget, stop) = (capped(10), Stop::default());
    budget.add_earlier(Decimal::ZERO, 7);
    let stored = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&stored);
    budget.record_with(Some(Arc::new(move |id, amount| {
        sink.lock().push((id, amount));
        async { true }.boxed()
    })));
    let request = budget.reserve(of(6), &stop).await.unwrap();
    assert_eq!(*stored.lock(), [(8, of(6))]);
    request.settle(of(2));
    assert_eq!(*stored.lock(), [(8, of(6)), (8, of(2))]);
}

#[tokio::test]
async fn nothing_is_sent_that_cannot_be_stored() {
    let (budget, stop) = (capped(10), Stop::default());
    budget.record_with(Some(Arc::new(|_, _| async { false }.boxed())));
    assert!(budget.reserve(of(1), &stop).await.is_none());
    assert!(stop.drain.is_cancelled());
    assert_eq!(
        budget.reached(),
        None,
        "the journal's own error is reported"
    );
    assert_eq!(budget.state.lock().spent, Decimal::ZERO);
}

#[test]
fn a_reservation_of_an_earlier_process_is_taken_up_and_not_counted_twice() {
    let budget = capped(10);
    budget.add_earlier(of(6), 3);
    let adopted = budget.adopt(Some(3), of(6));
    assert_eq!(
        budget.try_reserve(of(5)).err(),
        Some(BudgetRefusal::Temporary)
    );
    adopted.settle(of(2));
    assert_eq!(budget.state.lock().spent, of(2));
    assert_eq!(budget.try_reserve(of(5)).unwrap().id(), 4);
}

#[test]
fn without_a_limit_of_cost_nothing_is_counted_and_the_first_limit_that_is_reached_counts() {
    let (budget, stop) = (Budget::default(), Stop::default());
    assert!(!budget.counts_requests() && capped(1).counts_requests());
    assert_eq!(
        (budget.spent_line(), capped(1).limits().cost),
        (None, Some(of(1)))
    );
    budget.end_time(&stop);
    assert!(stop.drain.is_cancelled());
    budget.reach(BudgetLimit::Cost, &stop);
    assert_eq!(budget.reached(), Some(BudgetLimit::Time));
    let stopped = Budget::default();
    stopped.end_time(&stop);
    assert_eq!(stopped.reached(), None, "it ended by itself");
    assert_eq!(BudgetLimit::Cost.more(), " --max-cost MORE");
    assert_eq!(BudgetLimit::Time.more(), "");
}
