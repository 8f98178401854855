//! Tests the limits with a paused clock, which advances only while every task waits.

mod generated;

use std::time::Duration;

use tokio::time::{advance, sleep};

use super::quota::ReportedQuota;
use super::*;

const SECOND: Duration = Duration::from_secs(1);

const SMALL: u64 = 20;

fn adaptive(start: usize, max: usize) -> Limiter {
    Limiter::new(LimitOptions {
        start,
        ..LimitOptions::fixed(max)
    })
}

const ANSWERED: LimitVerdict = LimitVerdict::Answered(None);

/// Ends an answered attempt whose reply reports one quota.
fn reports(slot: Slot, place: usize, remaining: u64, reset: Duration) {
    let mut quotas = ReportedQuotas::default();
    quotas[place] = Some(ReportedQuota { remaining, reset });
    slot.end(ANSWERED, quotas);
}

fn ends(slot: Slot, verdict: LimitVerdict) {
    slot.end(verdict, ReportedQuotas::default());
}

async fn ends_all(limiter: &Limiter, count: usize, verdict: LimitVerdict) {
    for slot in slots(limiter, count).await {
        ends(slot, verdict);
    }
}

async fn slot(limiter: &Limiter) -> Slot {
    slot_about("a", limiter).await
}

async fn slot_about(question: &str, limiter: &Limiter) -> Slot {
    let stop = Stop::default();
    limiter.slot(question, SMALL, &stop).await.unwrap()
}

/// Gets the slots of several calls at the same time.
async fn slots(limiter: &Limiter, count: usize) -> Vec<Slot> {
    let mut slots = Vec::new();
    for question in 0..count {
        slots.push(slot_about(&question.to_string(), limiter).await);
    }
    slots
}

fn limit(limiter: &Limiter) -> usize {
    limiter.state.lock().limit
}

async fn answered(limiter: &Limiter, rounds: usize) {
    for _ in 0..rounds {
        for slot in slots(limiter, limit(limiter)).await {
            ends(slot, ANSWERED);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_doubles_with_each_round_until_its_maximum() {
    let limiter = adaptive(8, 64);
    let mut seen = vec![limit(&limiter)];
    for _ in 0..4 {
        answered(&limiter, 1).await;
        seen.push(limit(&limiter));
    }
    assert_eq!(seen[0], 8);
    // The second half of a round leaves more than half of the limit unused.
    assert!(seen.windows(2).all(|two| two[0] <= two[1]), "{seen:?}");
    assert!(seen[4] > 24, "{seen:?}");
    answered(&limiter, 20).await;
    assert_eq!(limit(&limiter), 64);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_429s_that_were_in_flight_together_counts_once() {
    let limiter = adaptive(16, 64);
    let mut burst = slots(&limiter, 16).await;
    let late = burst.pop().unwrap();
    for slot in burst {
        ends(slot, LimitVerdict::RateLimited);
    }
    assert_eq!(limit(&limiter), 8);
    // An attempt that started before the cut does not raise the limit either.
    ends(late, ANSWERED);
    assert_eq!(limit(&limiter), 8);
    assert_eq!(limiter.status().rate_limited, 15);
    ends(slot(&limiter).await, LimitVerdict::RateLimited);
    assert_eq!(limit(&limiter), 4);
}

#[tokio::test(start_paused = true)]
async fn failures_and_cancelled_attempts_change_nothing() {
    let limiter = adaptive(4, 64);
    ends_all(&limiter, 4, LimitVerdict::Unrelated).await;
    drop(slots(&limiter, 4).await);
    let status = limiter.status();
    assert_eq!((status.in_flight, status.limit), (0, 4));
}

#[tokio::test(start_paused = true)]
async fn while_a_server_is_down_one_request_after_the_other_asks_whether_it_answers() {
    let limiter = adaptive(8, 8);
    for round in [0, 1] {
        ends_all(&limiter, 3, LimitVerdict::Unanswered).await;
        // A server that has not answered yet may be the wrong server, so it does not count as down.
        assert_eq!(limiter.outage().duration().is_some(), round == 1);
        ends(slot(&limiter).await, ANSWERED);
        limiter.outage().has_answered = true;
    }
    for _ in 0..9 {
        // A gateway may give up the same long prompt again and again.
        ends(slot(&limiter).await, LimitVerdict::Unanswered);
    }
    assert_eq!(limiter.outage().duration(), None);
    ends(slot(&limiter).await, ANSWERED);
    ends_all(&limiter, 3, LimitVerdict::Unanswered).await;
    let (before, mut waits) = (Instant::now(), Vec::new());
    for _ in 0..9 {
        let probe = slot(&limiter).await;
        waits.push(before.elapsed().as_millis());
        let other = tokio::time::timeout(SECOND / 20, slot(&limiter));
        assert!(other.await.is_err());
        ends(probe, LimitVerdict::Unanswered);
    }
    let gaps: Vec<_> = waits
        .windows(2)
        .map(|two| (two[1] - two[0]) / 100)
        .collect();
    assert_eq!(gaps, [10, 20, 40, 80, 160, 300, 300, 300]);
    assert_eq!(limiter.outage().duration(), Some(before.elapsed()));
    assert!(limiter.status().down_since.is_some());
    ends(slot(&limiter).await, LimitVerdict::Refused);
    assert_eq!(limiter.outage().duration(), None);
    assert_eq!(slots(&limiter, 8).await.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn the_longest_wait_and_the_first_outage_are_shown_whichever_model_has_them() {
    let limits = Limits::default();
    let [first, second] = [3, 3].map(|most| limits.limiter(LimitOptions::fixed(most)));
    let _early = second.open.begin("critic of q".to_owned());
    let _late = first.open.begin("analyst of r".to_owned());
    for limiter in [&second, &first] {
        limiter.outage().has_answered = true;
        ends_all(limiter, 3, LimitVerdict::Unanswered).await;
    }
    advance(60 * SECOND).await;
    let status = limits.status().unwrap();
    assert_eq!(status.longest.unwrap().name, "critic of q");
    let down_since = |limiter: &Limiter| limiter.status().down_since.unwrap();
    assert!(down_since(&second) < down_since(&first));
    assert_eq!(status.down_since, Some(down_since(&second)));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_at_once_when_the_run_is_drained_or_aborted() {
    for token in [
        |stop: &Stop| stop.drain.clone(),
        |stop: &Stop| stop.abort.clone(),
    ] {
        let limiter = adaptive(1, 1);
        let held = slot(&limiter).await;
        let stop = Stop::default();
        let before = Instant::now();
        let waiting = tokio::spawn({
            let (limiter, stop) = (limiter.clone(), stop.clone());
            async move { limiter.slot("a", SMALL, &stop).await.is_some() }
        });
        sleep(SECOND).await;
        token(&stop).cancel();
        assert!(!waiting.await.unwrap());
        assert_eq!(before.elapsed(), SECOND);
        drop(held);
        // No other call waits and the slot is free, but a run that ends does not get it.
        assert!(limiter.slot("a", SMALL, &stop).await.is_none());
        drop(slot(&limiter).await);
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_start_in_the_order_in_which_they_began_to_wait() {
    let limiter = adaptive(1, 1);
    let held = slot(&limiter).await;
    let order = Mutex::new(Vec::new());
    let waiting = [0, 1, 2, 3].map(|number| {
        let (limiter, order) = (&limiter, &order);
        async move {
            let slot = slot(limiter).await;
            order.lock().push(number);
            sleep(SECOND).await;
            drop(slot);
        }
    });
    let release = async {
        sleep(SECOND).await;
        ends(held, LimitVerdict::Unrelated);
    };
    futures::future::join(futures::future::join_all(waiting), release).await;
    assert_eq!(*order.lock(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_quota_that_is_used_up_holds_everything_until_its_reset() {
    let limiter = adaptive(8, 8);
    let before = Instant::now();
    reports(slot(&limiter).await, 0, 2, 20 * SECOND);
    // Two are left, no matter how many are in flight.
    let two = slots(&limiter, 2).await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    let third = slot(&limiter).await;
    assert_eq!(before.elapsed(), 20 * SECOND);
    drop((two, third));
}

#[tokio::test(start_paused = true)]
async fn an_older_report_does_not_hide_a_newer_one() {
    let limiter = adaptive(8, 8);
    let mut both = slots(&limiter, 2).await;
    let (newer, older) = (both.pop().unwrap(), both.pop().unwrap());
    reports(newer, 1, 19, 30 * SECOND);
    reports(older, 1, 900, 30 * SECOND);
    let before = Instant::now();
    // The attempt may use 20 tokens, and 19 are left.
    drop(slot(&limiter).await);
    assert_eq!(before.elapsed(), 30 * SECOND);
}

/// At 120 a minute, requests once went out in pairs, and at 240 in fours.
#[tokio::test(start_paused = true)]
async fn requests_below_a_ceiling_are_evenly_spaced() {
    for rpm in [120, 240, 6000] {
        let limiter = Limiter::new(LimitOptions {
            rpm: Some(rpm),
            ..LimitOptions::fixed(64)
        });
        let mut held = Vec::new();
        let began = Instant::now();
        for number in 0..10 {
            held.push(slot(&limiter).await);
            let due = 60.3 / rpm as f64 * f64::from(number);
            let late = began.elapsed().as_secs_f64() - due;
            assert!((-0.001..0.006).contains(&late), "{rpm}: {number} {late}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_of_tokens_wakes_the_call_that_waits_for_them() {
    let limiter = Limiter::new(LimitOptions {
        tpm: Some(30),
        ..LimitOptions::fixed(8)
    });
    let first = slot(&limiter).await;
    let waiting = tokio::spawn({
        let limiter = limiter.clone();
        async move {
            slot(&limiter).await;
            Instant::now()
        }
    });
    let before = Instant::now();
    sleep(SECOND).await;
    ends(first, LimitVerdict::Answered(Some(7)));
    assert_eq!(waiting.await.unwrap() - before, SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_given_up_takes_no_slot_with_it() {
    let limiter = adaptive(1, 1);
    for _ in 0..50 {
        let held = slot(&limiter).await;
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let limiter = limiter.clone();
                tokio::spawn(async move { slot(&limiter).await })
            })
            .collect();
        advance(SECOND).await;
        drop(held);
        // One of the tasks has been granted the slot but does not know it yet.
        for task in waiting {
            task.abort();
            drop(task.await);
        }
    }
    drop(slot(&limiter).await);
    assert_eq!(limiter.status().in_flight, 0);
}
