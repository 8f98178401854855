//! Servers that refuse, at random or what they cannot take, and 64 conversations.

use std::cell::Cell;

use super::*;

/// What a server of a second's latency made of `calls` by 64 conversations, which say by the
/// requests in flight, this one included, and its number whether it is refused.
struct Load {
    seconds: f64,
    requests: usize,
    /// The mean of the limits at the end of each request.
    mean_limit: f64,
}

async fn load(calls: usize, refuses: impl Fn(usize, usize) -> bool) -> Load {
    let limiter = adaptive(8, 64);
    let began = Instant::now();
    let (left, in_flight) = (Cell::new(calls), Cell::new(0));
    let (requests, limits) = (Cell::new(0), Cell::new(0));
    let conversation = async || {
        while left.get() > 0 {
            left.set(left.get() - 1);
            let call = limiter.call();
            loop {
                let slot = slot(&call).await;
                in_flight.set(in_flight.get() + 1);
                requests.set(requests.get() + 1);
                let refused = refuses(in_flight.get(), requests.get());
                sleep(if refused { SECOND / 10 } else { SECOND }).await;
                in_flight.set(in_flight.get() - 1);
                slot.end(&end(match refused {
                    true => LimitVerdict::RateLimited,
                    false => LimitVerdict::Answered,
                }));
                limits.set(limits.get() + limit(&limiter));
                if !refused {
                    break;
                }
                call.delayed(SECOND);
                sleep(SECOND).await;
            }
        }
    };
    futures::future::join_all((0..64).map(|_| conversation())).await;
    Load {
        seconds: began.elapsed().as_secs_f64(),
        requests: requests.get(),
        mean_limit: limits.get() as f64 / requests.get() as f64,
    }
}

/// Every 429 halved the limit, so that one in ten kept it at three of 64.
#[tokio::test(start_paused = true)]
async fn refusals_that_do_not_depend_on_the_limit_leave_it_wide() {
    let random = |_, number: usize| blake3::hash(&number.to_le_bytes()).as_bytes()[0] < 26;
    let load = load(5_000, random).await;
    assert!(load.mean_limit > 7.0, "{}", load.mean_limit);
}

#[tokio::test(start_paused = true)]
async fn the_limit_settles_at_what_a_server_takes_at_a_time() {
    let load = load(5_000, |in_flight, _| in_flight > 20).await;
    assert!(load.seconds < 1.1 * 5_000.0 / 20.0, "{}", load.seconds);
    assert!(load.requests < 5_250, "{}", load.requests);
}

/// 300 in a minute, five at once.
#[tokio::test(start_paused = true)]
async fn a_server_with_a_rate_is_asked_little_more_than_it_takes() {
    let began = Instant::now();
    let taken = Cell::new(0.0);
    let load = load(1_000, |_, _| {
        let refilled = 5.0 + 5.0 * began.elapsed().as_secs_f64();
        let refused = taken.get() + 1.0 > refilled;
        if !refused {
            taken.set(taken.get() + 1.0);
        }
        refused
    })
    .await;
    assert!(load.seconds < 1.2 * 1_000.0 / 5.0, "{}", load.seconds);
    assert!(load.requests < 1_200, "{}", load.requests);
}
