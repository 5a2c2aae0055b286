//! Replies that are cut off, split, or followed by too much, at every byte: the answer is right or there is none.

use std::fmt::Debug;

use sockio::{Cas, Error, ErrorKind, Expiry, MemcachedClient, SockIoPool};

use crate::support::fake::{Act, Fake};
use crate::support::wait::ms;

/// A command, the whole reply to it, and what it means; whether it changes something.
struct Case {
    call: fn(&MemcachedClient) -> Result<String, Error>,
    reply: &'static str,
    meaning: &'static str,
    writes: bool,
}

const fn case(
    call: fn(&MemcachedClient) -> Result<String, Error>,
    reply: &'static str,
    meaning: &'static str,
    writes: bool,
) -> Case {
    Case {
        call,
        reply,
        meaning,
        writes,
    }
}

fn show(answer: Result<impl Debug, Error>) -> Result<String, Error> {
    answer.map(|answer| format!("{answer:?}"))
}

const CASES: [Case; 14] = [
    case(
        |c| show(c.get::<String>("k")),
        "VALUE k 0 7\r\nEND\r\n..\r\nEND\r\n",
        "Some(\"END\\r\\n..\")",
        false,
    ),
    case(|c| show(c.get::<String>("k")), "END\r\n", "None", false),
    case(
        |c| {
            show(
                c.gets::<String>("k")
                    .map(|item| item.map(|item| (item.value, item.flags, item.cas))),
            )
        },
        "VALUE k 0 1 12\r\nx\r\nEND\r\n",
        "Some((\"x\", 0, 12))",
        false,
    ),
    case(
        |c| show(c.get_and_touch::<String>("k", ms(1000))),
        "VALUE k 0 0\r\n\r\nEND\r\n",
        "Some(\"\")",
        false,
    ),
    case(
        |c| show(c.set("k", "v", Expiry::never())),
        "STORED\r\n",
        "true",
        true,
    ),
    case(
        |c| show(c.add("k", "v", Expiry::never())),
        "NOT_STORED\r\n",
        "false",
        true,
    ),
    case(
        |c| {
            show(
                c.cas("k", "v", Expiry::never(), 7)
                    .map(|cas| cas == Cas::Exists),
            )
        },
        "EXISTS\r\n",
        "true",
        true,
    ),
    case(|c| show(c.append("k", "v")), "STORED\r\n", "true", true),
    case(|c| show(c.delete("k")), "DELETED\r\n", "true", true),
    case(|c| show(c.delete("k")), "NOT_FOUND\r\n", "false", true),
    case(
        |c| show(c.touch("k", Expiry::never())),
        "TOUCHED\r\n",
        "true",
        true,
    ),
    case(
        |c| show(c.incr("k", 1)),
        "18446744073709551615\r\n",
        "Some(18446744073709551615)",
        true,
    ),
    case(|c| show(c.incr("k", 1)), "10\r\n", "Some(10)", true),
    case(|c| show(c.incr("k", 1)), "NOT_FOUND\r\n", "None", true),
];

/// One connection at a time: the scripts are played in their order.
fn client(fake: &Fake) -> MemcachedClient {
    let pool = SockIoPool::builder().servers([fake.addr()]).max_conn(1);
    MemcachedClient::new(pool.build().unwrap())
}

/// Where a reply can be cut in two.
fn cuts() -> impl Iterator<Item = (&'static Case, &'static str, &'static str)> {
    CASES.iter().flat_map(|case| {
        (1..case.reply.len()).map(move |at| (case, &case.reply[..at], &case.reply[at..]))
    })
}

#[test]
fn a_reply_cut_off_anywhere_is_no_answer_and_ends_the_connection() {
    let scripts: Vec<_> = cuts()
        .map(|(_, head, _)| vec![Act::Request, Act::Send(head.into()), Act::Fin])
        .collect();
    let count = scripts.len();
    let fake = Fake::new(scripts);
    let client = client(&fake);
    for (number, (case, head, _)) in cuts().enumerate() {
        let error = (case.call)(&client).expect_err(head);
        let kind = match case.writes {
            true => ErrorKind::Ambiguous,
            false => ErrorKind::Connection,
        };
        assert_eq!(error.kind(), kind, "{head:?}: {error}");
        // Each on its own connection, and sent once.
        assert_eq!(fake.seen()[number].requests.len(), 1);
        assert!(fake.connections() <= number + 2);
    }
    assert!(count > 150, "{count}");
    println!("{count} cuts");
}

#[test]
fn a_reply_in_two_pieces_means_the_same() {
    let acts = cuts().flat_map(|(_, head, tail)| {
        let pieces = [
            Act::Send(head.into()),
            Act::Pause(ms(1)),
            Act::Send(tail.into()),
        ];
        [Act::Request].into_iter().chain(pieces)
    });
    let fake = Fake::new(vec![acts.collect()]);
    let client = client(&fake);
    let mut count = 0;
    for (case, head, tail) in cuts() {
        assert_eq!(
            (case.call)(&client).unwrap(),
            case.meaning,
            "{head:?} {tail:?}"
        );
        count += 1;
    }
    assert_eq!(
        (fake.connections(), fake.seen()[0].requests.len()),
        (1, count)
    );
}

#[test]
fn bytes_behind_a_reply_never_reach_the_next_call() {
    let extras = [
        "\r\n",
        "x",
        "END\r\n",
        "STORED\r\n",
        "VALUE k 0 1\r\ny\r\nEND\r\n",
        "ERROR\r\n",
        "\0",
    ];
    let all = || {
        CASES.iter().flat_map(|case| {
            extras
                .iter()
                .map(move |extra| (case, case.reply.to_owned() + extra))
        })
    };
    let scripts: Vec<_> = all()
        .map(|(_, reply)| vec![Act::Request, Act::Send(reply.into())])
        .collect();
    assert_eq!(scripts.len(), CASES.len() * extras.len());
    let fake = Fake::new(scripts);
    let client = client(&fake);
    for (number, (case, reply)) in all().enumerate() {
        assert_eq!((case.call)(&client).unwrap(), case.meaning, "{reply:?}");
        assert_eq!(fake.seen()[number].requests.len(), 1, "{reply:?}");
    }
}
