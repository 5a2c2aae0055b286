//! Histories made by hand: the checker takes those that can have been, and no other.

use super::history::{Action, Content, Event, Outcome, Verdict, check};

use Action::{Add, AddOrIncr, Append, Cas, Decr, Delete, Incr, Prepend, Read, Replace, Set, Touch};
use Content::{Absent, Number, Parts};
use Outcome::{Exists, Item, No, Nothing, Refused, Sum, Unknown, Value, Yes};

fn text(part: u32) -> Content {
    Parts(vec![part])
}

fn at(begin: u64, end: u64, action: Action, outcome: Outcome) -> Event {
    Event {
        caller: 0,
        begin,
        end,
        action,
        outcome,
    }
}

/// One call after the other.
fn in_turn(calls: &[(Action, Outcome)]) -> Vec<Event> {
    let calls = calls.iter().cloned().enumerate();
    calls
        .map(|(place, (action, outcome))| {
            let begin = 10 * place as u64;
            at(begin, begin + 5, action, outcome)
        })
        .collect()
}

#[track_caller]
fn good(events: Vec<Event>) {
    assert_eq!(check(events), Verdict::Good);
}

#[track_caller]
fn bad(events: Vec<Event>) {
    let verdict = check(events);
    assert!(matches!(verdict, Verdict::Bad(_)), "{verdict:?}");
}

#[test]
fn every_command_means_what_memcached_means() {
    good(in_turn(&[
        (Read, Value(Absent)),
        (Replace(text(1)), No),
        (Append(1), No),
        (Prepend(1), No),
        (Delete, No),
        (Touch, No),
        (Incr(1), No),
        (Decr(1), No),
        (Cas(1, text(1)), No),
        (Add(text(2)), Yes),
        (Add(text(3)), No),
        (Append(4), Yes),
        (Prepend(5), Yes),
        (Read, Value(Parts(vec![5, 2, 4]))),
        (Incr(1), Refused),
        (Read, Item(Parts(vec![5, 2, 4]), 7)),
        (Touch, Yes),
        (Read, Item(Parts(vec![5, 2, 4]), 7)),
        (Cas(7, text(6)), Yes),
        (Cas(7, text(8)), Exists),
        (Read, Item(text(6), 9)),
        (Replace(text(9)), Yes),
        (Delete, Yes),
        (Read, Value(Absent)),
        (AddOrIncr(3), Sum(3)),
        (AddOrIncr(3), Sum(6)),
        (Decr(10), Sum(0)),
        (Incr(2), Sum(2)),
        (Set(Number(u64::MAX)), Yes),
        (Incr(2), Sum(1)),
        (Read, Item(Number(1), 30)),
    ]));
}

#[test]
fn wrong_answers_are_seen_one_by_one() {
    let one = (Set(text(1)), Yes);
    let count = (Set(Number(5)), Yes);
    let cases: &[&[(Action, Outcome)]] = &[
        // A value of nobody, and one that never was.
        &[(Read, Value(text(1)))],
        &[one.clone(), (Read, Value(text(2)))],
        // Stale.
        &[one.clone(), (Set(text(2)), Yes), (Read, Value(text(1)))],
        &[one.clone(), (Delete, Yes), (Read, Value(text(1)))],
        // Lost.
        &[one.clone(), (Read, Value(Absent))],
        &[one.clone(), (Append(2), Yes), (Read, Value(text(1)))],
        // The wrong side, and twice.
        &[
            one.clone(),
            (Append(2), Yes),
            (Read, Value(Parts(vec![2, 1]))),
        ],
        &[
            one.clone(),
            (Append(2), Yes),
            (Read, Value(Parts(vec![1, 2, 2]))),
        ],
        &[count.clone(), (Incr(1), Sum(7))],
        &[count.clone(), (Incr(1), Sum(6)), (Read, Value(Number(7)))],
        &[count.clone(), (Decr(1), Sum(3))],
        // What is there, and what is not.
        &[one.clone(), (Add(text(2)), Yes)],
        &[(Add(text(2)), No)],
        &[(Replace(text(2)), Yes)],
        &[(Delete, Yes)],
        &[one.clone(), (Delete, No)],
        &[(Touch, Yes)],
        &[(Incr(1), Sum(1))],
        &[count, (Incr(1), Refused)],
        // Tokens: of an older item, the same for two items, one that goes back, and a refusal without a reason.
        &[
            one.clone(),
            (Read, Item(text(1), 3)),
            (Set(text(2)), Yes),
            (Cas(3, text(4)), Yes),
        ],
        &[
            one.clone(),
            (Read, Item(text(1), 3)),
            (Set(text(2)), Yes),
            (Read, Item(text(2), 3)),
        ],
        &[
            one.clone(),
            (Read, Item(text(1), 3)),
            (Set(text(2)), Yes),
            (Read, Item(text(2), 2)),
        ],
        &[one, (Read, Item(text(1), 3)), (Cas(3, text(4)), Exists)],
    ];
    for case in cases {
        bad(in_turn(case));
    }
}

#[test]
fn calls_at_the_same_time_may_come_in_any_order_but_all_see_the_same() {
    let writes = || vec![at(0, 100, Set(text(1)), Yes), at(1, 100, Set(text(2)), Yes)];
    let with = |more: &[(u64, u64, u32)]| {
        let reads = more
            .iter()
            .map(|(begin, end, part)| at(*begin, *end, Read, Value(text(*part))));
        writes().into_iter().chain(reads).collect::<Vec<_>>()
    };
    good(with(&[(10, 20, 1), (30, 40, 2)]));
    good(with(&[(10, 20, 2), (30, 40, 1)]));
    good(with(&[(10, 40, 2), (30, 50, 1), (60, 70, 2)]));
    bad(with(&[(10, 20, 1), (30, 40, 2), (50, 60, 1)]));
    good(with(&[(110, 120, 1), (130, 140, 1)]));
    bad(with(&[(110, 120, 1), (130, 140, 2)]));
}

/// A write that would change nothing now may have to come later, where it does.
#[test]
fn a_write_of_what_is_there_has_a_place_of_its_own() {
    good(vec![
        at(0, 5, Set(text(1)), Yes),
        at(10, 30, Set(text(2)), Yes),
        at(15, 20, Delete, Yes),
        at(40, 50, Append(3), Yes),
    ]);
    good(vec![
        at(0, 5, Set(Number(0)), Yes),
        at(10, 50, Decr(5), Sum(0)),
        at(20, 30, Incr(2), Sum(2)),
        at(60, 70, Read, Value(Number(0))),
    ]);
}

#[test]
fn two_sums_at_the_same_time_are_two_sums() {
    let sums = |first, second, then| {
        vec![
            at(0, 5, Set(Number(1)), Yes),
            at(10, 50, Incr(1), Sum(first)),
            at(11, 50, Incr(1), Sum(second)),
            at(60, 70, Read, Value(Number(then))),
        ]
    };
    good(sums(2, 3, 3));
    good(sums(3, 2, 3));
    bad(sums(2, 2, 2));
    bad(sums(2, 2, 3));
    bad(sums(2, 3, 4));
}

#[test]
fn only_one_of_two_changes_from_the_same_token_is_stored() {
    let changes = |second: Outcome, then: u32| {
        vec![
            at(0, 5, Set(text(1)), Yes),
            at(6, 9, Read, Item(text(1), 1)),
            at(10, 50, Cas(1, text(2)), Yes),
            at(11, 50, Cas(1, text(3)), second),
            at(60, 70, Read, Value(text(then))),
        ]
    };
    good(changes(Exists, 2));
    bad(changes(Exists, 3));
    bad(changes(Yes, 2));
    bad(changes(Yes, 3));
    good(changes(Unknown, 2));
}

#[test]
fn what_has_no_answer_happens_once_later_or_never() {
    let story = |reads: &[u64]| {
        let first = [at(0, 5, Set(Number(1)), Yes), at(10, 15, Incr(10), Unknown)];
        let reads = reads.iter().zip((20..).step_by(10));
        let reads = reads.map(|(sum, begin)| at(begin, begin + 5, Read, Value(Number(*sum))));
        first.into_iter().chain(reads).collect::<Vec<_>>()
    };
    good(story(&[1, 1]));
    good(story(&[1, 11]));
    good(story(&[11, 11]));
    bad(story(&[11, 1]));
    bad(story(&[11, 21]));
    let mut never = story(&[11]);
    never[1].outcome = Nothing("not sent".into());
    bad(never);
    // Not before it was asked for.
    let mut early = story(&[1]);
    early.push(at(6, 9, Read, Value(Number(11))));
    bad(early);
    // A late delete can hide a value, a late add cannot replace one.
    good(in_turn(&[
        (Delete, Unknown),
        (Set(text(1)), Yes),
        (Read, Value(text(1))),
        (Read, Value(Absent)),
    ]));
    bad(in_turn(&[
        (Add(text(2)), Unknown),
        (Set(text(1)), Yes),
        (Read, Value(text(1))),
        (Read, Value(text(2))),
    ]));
}

/// As many calls as a key has at the most in the run, many of them without an answer.
#[test]
fn a_long_history_is_decided() {
    let mut events = Vec::new();
    for caller in 0..8 {
        for round in 0..24 {
            let begin = round * 100 + caller;
            let part = (round * 8 + caller + 1) as u32;
            let outcome = match part % 5 {
                0 => Unknown,
                _ => Yes,
            };
            events.push(at(begin, begin + 90, Set(text(part)), outcome));
        }
    }
    events.push(at(5000, 5001, Read, Value(text(192))));
    good(events.clone());
    // Any late write may come last, any that had its answer long ago may not.
    events.push(at(5002, 5003, Read, Value(text(15))));
    good(events.clone());
    events.push(at(5004, 5005, Read, Value(text(192))));
    bad(events);
}
