//! Commands without an answer, which this client sends for a caller only by `raw`.

use sockio::{ErrorKind, RawEnd};

use super::{NEVER, SERVE, client, real, single, text};
use crate::support::fake::{Act, Fake};
use crate::support::wait::eventually;

/// norep-01 (RevenueCat/meta-memcache-py#13, memcached/memcached#868): a write that should have had no answer failed and had
/// one, and all later answers were those of the commands before.
#[test]
fn an_answer_that_should_not_have_come_reaches_no_other_call() {
    let (_server, client) = real(&[]);
    client.set("other", "x", NEVER).unwrap();
    let long = "k".repeat(251);
    for quiet in [
        "md missing q\r\n".to_owned(),
        "set k 0 0 2 noreply\r\nabcdef\r\n".to_owned(),
        format!("set {long} 0 0 1 noreply\r\nx\r\n"),
    ] {
        // Fenced: the answer of `mn` is the end of all that came before.
        let request = format!("{quiet}mn\r\n");
        let reply = client.raw("k", request.as_bytes(), RawEnd::AnyOf(&["MN"]));
        assert_ne!(reply.unwrap(), b"MN\r\n", "{quiet}");
        for _ in 0..3 {
            assert_eq!(text(&client, "other").as_deref(), Some("x"), "{quiet}");
        }
    }
    // Not fenced: what a connection has to read when it is taken from rest, nobody asked for.
    let late = vec![Act::Request, Act::Send(b"END\r\nNF\r\n".to_vec())];
    let fake = Fake::new(vec![late, vec![SERVE]]);
    let client = super::client(single(&fake));
    assert_eq!(text(&client, "miss"), None);
    assert_eq!(text(&client, "other").as_deref(), Some("other"));
    assert_eq!(fake.seen()[0].requests, ["get miss"]);
}

/// norep-03 (memcached/memcached#681): the server closed after a set that asked for no answer.
#[test]
fn a_close_after_a_silent_set_is_seen_by_nobody_else() {
    let fake = Fake::new(vec![vec![Act::Request, Act::Fin], vec![SERVE]]);
    let client = client(single(&fake));
    let request = b"set k 0 0 1 noreply\r\nx\r\n";
    let error = client.raw("k", request, RawEnd::FirstLine).unwrap_err();
    // Whether it was stored, nobody knows.
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    eventually("it is closed", || fake.open() == 0);
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert!(client.set("k", "v", NEVER).unwrap());
    assert_eq!(fake.connections(), 2);
}
