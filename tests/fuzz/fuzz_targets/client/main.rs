//! A whole client whose server answers with the fuzzer's bytes: no panic, no value of another key, no connection used again after
//! garbage, and every call ends.
#![no_main]

mod calls;
mod peer;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use sockio::{MemcachedClient, SockIoPool};

use calls::Call;
use peer::{PROBE, Peer};

static PEER: LazyLock<Peer> = LazyLock::new(Peer::start);

const TIMEOUT: Duration = Duration::from_millis(200);
/// The machine may have other things to do, and an operation may be several commands.
const END: Duration = Duration::from_secs(10);

fuzz_target!(|input: (u8, u8, u16, &[u8])| {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let (call, way, cut, answer) = input;
    // The longest answer that one read takes.
    let answer = &answer[..answer.len().min(8192)];
    let call = Call::numbered(call);
    let cut = (way & 1 == 1 && !answer.is_empty()).then(|| usize::from(cut) % answer.len());
    // Rarely: it costs a whole time-out.
    let stalls = way == 2;
    let probe = format!("value {}", NUMBER.fetch_add(1, Ordering::Relaxed));
    PEER.plan(answer, cut, stalls, &probe);

    let pool = SockIoPool::builder()
        .servers([PEER.addr()])
        .initial_conn(0)
        .min_conn(0)
        .max_conn(1)
        .max_value_len(1 << 20)
        .operation_timeout(TIMEOUT)
        .combine(way & 4 == 4)
        .build()
        .expect("a pool");
    let client = MemcachedClient::new(pool);
    let begun = Instant::now();
    let whole = call.run(&client, answer);
    assert!(begun.elapsed() < END, "{call:?} took {:?}", begun.elapsed());

    let probed = client.get::<String>(PROBE);
    let seen = PEER.seen();
    // Bytes that come late, or in answer to several requests, may stand in front of the probe's answer: nobody can tell.
    if cut.is_none() && seen.answered <= 1 {
        match probed {
            Ok(value) => assert_eq!(value.as_deref(), Some(&*probe), "after {call:?}"),
            Err(_) => assert!(!seen.was_reused(), "after {call:?}"),
        }
        assert!(whole || !seen.was_reused(), "{call:?}: used again");
    }
    client.pool().shutdown();
});
