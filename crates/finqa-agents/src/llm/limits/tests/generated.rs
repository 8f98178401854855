//! Generated runs. Every call must get its slots, and no minute may be above a ceiling.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

/// The calls of a generated run.
#[derive(Debug, Clone)]
struct Script {
    options: LimitOptions,
    /// For each call: the tokens that it may use, the duration of an attempt in milliseconds, and
    /// the number of refusals before it is answered.
    calls: Vec<(u64, u64, u8)>,
}

fn script() -> impl Strategy<Value = Script> {
    let ceiling = |most| prop::option::of(1..most);
    let options = (1..8_usize, 1..40_usize, ceiling(400), ceiling(5000_u64));
    let call = (1..400_u64, 1..3000_u64, 0..4_u8);
    (options, prop::collection::vec(call, 1..80)).prop_map(|(options, calls)| {
        let (start, max, rpm, tpm) = options;
        Script {
            options: LimitOptions {
                start,
                max,
                rpm,
                tpm,
            },
            calls,
        }
    })
}

/// The start of each attempt, and the tokens that it counts as.
async fn play(script: &Script) -> Vec<(Instant, u64)> {
    let limiter = Limiter::new(script.options);
    let started = Arc::new(Mutex::new(Vec::new()));
    let running = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for &(tokens, millis, refusals) in &script.calls {
        let (limiter, started, running) =
            (limiter.clone(), Arc::clone(&started), Arc::clone(&running));
        let max = script.options.max;
        tasks.push(tokio::spawn(async move {
            for attempt in 0..=refusals {
                let slot = limiter.slot("a", tokens, &Stop::default()).await.unwrap();
                let place = started.lock().len();
                started.lock().push((Instant::now(), tokens));
                assert!(running.fetch_add(1, Ordering::Relaxed) < max);
                sleep(Duration::from_millis(millis)).await;
                running.fetch_sub(1, Ordering::Relaxed);
                if attempt == refusals {
                    ends(slot, ANSWERED);
                } else {
                    // A refused attempt used no tokens.
                    started.lock()[place].1 = 0;
                    ends(slot, LimitVerdict::RateLimited);
                    sleep(Duration::from_millis(millis * 7)).await;
                }
            }
        }));
    }
    // A call that is never woken would wait until this time.
    let all = futures::future::join_all(tasks);
    let ended = tokio::time::timeout(1_000_000 * SECOND, all).await;
    for task in ended.expect("every call gets its slots") {
        task.unwrap();
    }
    let mut started = started.lock().clone();
    started.sort_unstable_by_key(|(at, _)| *at);
    started
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_gets_its_slots_and_no_minute_is_above_a_ceiling(script in script()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let started = runtime.block_on(play(&script));
        let attempts: usize = script.calls.iter().map(|call| usize::from(call.2) + 1).sum();
        prop_assert_eq!(started.len(), attempts);
        for (index, (from, _)) in started.iter().enumerate() {
            let minute = started[index..].iter().take_while(|(at, _)| *at < *from + 60 * SECOND);
            let minute: Vec<u64> = minute.map(|(_, tokens)| *tokens).collect();
            let (requests, tokens) = (minute.len() as u64, minute.iter().sum::<u64>());
            let alone = minute.iter().filter(|tokens| **tokens > 0).count() == 1;
            prop_assert!(script.options.rpm.is_none_or(|most| requests <= most), "{requests}");
            // A call that is larger than the ceiling is made while no other call counts.
            prop_assert!(
                script.options.tpm.is_none_or(|most| tokens <= most || alone),
                "{tokens}"
            );
        }
    }
}
