//! The commands of the matrix for several keys, and those that several callers share.

use sockio::{Error, Expiry, Multi};

use super::commands::{
    Call, Calls, Command, DELETE, FLAGS, Part, SET, Shows, Told, VALUE, fault, get, get_into, one,
    row, set, show, show_item, value,
};

fn all<K, A>(multi: Result<Multi<K, A>, Error>, show: impl Fn(&A) -> String) -> Vec<Told> {
    let multi = multi.expect("good keys");
    let answers = multi.iter().enumerate().map(|(number, (_, answer))| {
        let mut failures = multi.failures().iter();
        let failure = failures.find(|failure| failure.keys().contains(&number));
        match (answer, failure) {
            (Some(answer), None) => Told::Answer(show(answer)),
            (None, Some(failure)) => fault(failure.error()),
            _ => panic!("key {number} has an answer and a failure, or neither"),
        }
    });
    answers.collect()
}

/// Calls with several keys.
pub(super) fn several() -> Vec<Command> {
    let several = |command: Command, requests| Command {
        requests,
        ..command
    };
    vec![
        row(
            "get_multi",
            |c| {
                let keys = ["key1", "key2", "key3"];
                all(c.get_multi::<String, _>(keys), |answer| show(answer))
            },
            &[Part::Values {
                keys: &["key1", "key2", "key3"],
                shows: Shows::Value,
                cas: false,
                each: true,
            }],
            || value("key1 0 1", "a") + &value("key3 0 2", "cc") + "END\r\n",
        ),
        row(
            "gets_multi",
            |c| {
                all(
                    c.gets_multi::<Vec<u8>, _>(["key1", "key2"]),
                    |item| match item {
                        Some(item) => show_item(&item.value, item.flags, item.cas),
                        None => "None".to_owned(),
                    },
                )
            },
            &[Part::Values {
                keys: &["key1", "key2"],
                shows: Shows::Item,
                cas: true,
                each: true,
            }],
            || value("key1 65536 1 12", "a") + &value("key2 0 0 13", "") + "END\r\n",
        ),
        several(
            row(
                "set_multi",
                |c| {
                    let entries = [("key1", "a"), ("key2", "b"), ("key3", "c")];
                    all(c.set_multi(entries, Expiry::never()), |stored| show(stored))
                },
                &[Part::Line(&SET), Part::Line(&SET), Part::Line(&SET)],
                || "STORED\r\nSTORED\r\nSTORED\r\n".to_owned(),
            ),
            3,
        ),
        several(
            row(
                "delete_multi",
                |c| all(c.delete_multi(["key1", "key2"]), |deleted| show(deleted)),
                &[Part::Line(&DELETE), Part::Line(&DELETE)],
                || "NOT_FOUND\r\nDELETED\r\n".to_owned(),
            ),
            2,
        ),
    ]
}

/// Pools whose callers share requests: one who is alone, and two of whom one asks for both.
pub(super) fn combined() -> Vec<Command> {
    let shared = |name, calls, parts, requests, reply| Command {
        name,
        calls: Calls::Shared(calls),
        parts,
        reply,
        requests,
        combine: true,
    };
    let alone = |command: Command| Command {
        combine: true,
        ..command
    };
    let first: Call = |c| one(c.get::<String>("key1"));
    let store: Call = |c| one(c.set("key2", "v", Expiry::never()));
    vec![
        alone(row("combine: get", get, VALUE, || {
            value("key 0 2", "ab") + "END\r\n"
        })),
        alone(row("combine: set", set, &[Part::Line(&SET)], || {
            "STORED\r\n".to_owned()
        })),
        alone(row("combine: get_into", get_into, FLAGS, || {
            value("key 3 2", "ab") + "END\r\n"
        })),
        shared(
            "shared: get, get",
            [first, |c| one(c.get::<String>("key2"))],
            &[Part::Values {
                keys: &["key1", "key2"],
                shows: Shows::Value,
                cas: false,
                each: true,
            }],
            1,
            || value("key1 0 2", "ab") + &value("key2 0 2", "cd") + "END\r\n",
        ),
        shared(
            "shared: set, set",
            [|c| one(c.set("key1", "v", Expiry::never())), store],
            &[Part::Line(&SET), Part::Line(&SET)],
            2,
            || "STORED\r\nSTORED\r\n".to_owned(),
        ),
        // The stores of a shared request go first.
        shared(
            "shared: set, get",
            [
                |c| one(c.set("key1", "v", Expiry::never())),
                |c| one(c.get::<String>("key2")),
            ],
            &[
                Part::Line(&SET),
                Part::Values {
                    keys: &["key2"],
                    shows: Shows::Value,
                    cas: false,
                    each: true,
                },
            ],
            2,
            || "STORED\r\n".to_owned() + &value("key2 0 2", "cd") + "END\r\n",
        ),
    ]
}
