//! The operations that are counted, and the bars that they are held to. It knows nothing of how they are done or counted.

use crate::bars::{Bar, Measure};

/// One kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value of so many bytes.
    Get(usize),
    /// The same into the caller's buffer, and lent to the caller.
    GetInto,
    GetWith,
    Miss,
    Set(usize),
    Incr,
    /// `gets` and `cas`.
    Cas,
    /// So many keys of 100 bytes each.
    GetMulti(usize),
    SetMulti(usize),
    /// 100 KiB of text, stored compressed.
    GetText,
    SetText,
}

/// Where the servers listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp,
    FourTcp,
    Unix,
}

/// The form of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Raw,
    Whalin,
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The name on a command line.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    pub(crate) form: Form,
    /// How often it is done; the cost of one is the difference to a tenth of that.
    pub(crate) times: usize,
    pub(crate) bars: &'static [Bar],
}

/// The length of a short value.
pub(crate) const SHORT: usize = 100;

const KIB: usize = 1024;

/// Bar 1.
const ONE_SEND: Bar = Bar::new(1, Measure::Sends, 1.0);
const ONE_RECEIVE: Bar = Bar::new(1, Measure::Receives, 1.0);
const NOTHING_ELSE: Bar = Bar::new(1, Measure::OtherCalls, 0.0);
/// Bar 3.
const ONE_ALLOCATION: Bar = Bar::new(3, Measure::Allocations, 1.0);
const NO_ALLOCATION: Bar = Bar::new(3, Measure::Allocations, 0.0);
/// Bar 7.
const FROM_WHERE_IT_LIES: Bar = Bar::new(7, Measure::Copied, 100.0);
const ONE_VECTORED_SEND: Bar = Bar::new(7, Measure::Sends, 1.0);

const GET: &[Bar] = &[
    ONE_SEND,
    ONE_RECEIVE,
    NOTHING_ELSE,
    Bar::new(2, Measure::Instructions, 1_800.0),
    ONE_ALLOCATION,
];
const GET_10K: &[Bar] = &[ONE_SEND, ONE_RECEIVE, NOTHING_ELSE, ONE_ALLOCATION];
const GET_900K: &[Bar] = &[ONE_ALLOCATION, Bar::new(6, Measure::Instructions, 40_000.0)];
const NO_VALUE: &[Bar] = &[ONE_SEND, ONE_RECEIVE, NOTHING_ELSE, NO_ALLOCATION];
const SET: &[Bar] = &[
    ONE_SEND,
    ONE_RECEIVE,
    NOTHING_ELSE,
    Bar::new(2, Measure::Instructions, 1_300.0),
    NO_ALLOCATION,
];
const SET_LARGE: &[Bar] = &[ONE_VECTORED_SEND, NO_ALLOCATION, FROM_WHERE_IT_LIES];
const SET_10K: &[Bar] = &[
    ONE_SEND,
    ONE_RECEIVE,
    NOTHING_ELSE,
    NO_ALLOCATION,
    FROM_WHERE_IT_LIES,
];
const GET_MULTI_100: &[Bar] = &[
    Bar::new(4, Measure::Sends, 1.0),
    Bar::new(4, Measure::Receives, 2.0),
    Bar::new(4, Measure::Instructions, 110_000.0),
    Bar::new(4, Measure::Allocations, 110.0),
];
const NONE: &[Bar] = &[];

const fn tcp(
    name: &'static str,
    title: &'static str,
    kind: Kind,
    times: usize,
    bars: &'static [Bar],
) -> Operation {
    Operation {
        name,
        title,
        kind,
        place: Place::Tcp,
        form: Form::Raw,
        times,
        bars,
    }
}

const fn four(name: &'static str, title: &'static str, keys: usize, times: usize) -> Operation {
    Operation {
        place: Place::FourTcp,
        ..tcp(name, title, Kind::GetMulti(keys), times, NONE)
    }
}

const fn unix(
    name: &'static str,
    title: &'static str,
    kind: Kind,
    times: usize,
    bars: &'static [Bar],
) -> Operation {
    Operation {
        place: Place::Unix,
        ..tcp(name, title, kind, times, bars)
    }
}

const fn whalin(name: &'static str, title: &'static str, kind: Kind, times: usize) -> Operation {
    Operation {
        form: Form::Whalin,
        ..tcp(name, title, kind, times, NONE)
    }
}

/// All of them, in the order of the table.
pub(crate) const OPERATIONS: &[Operation] = &[
    tcp("get100", "get 100 B", Kind::Get(SHORT), 2000, GET),
    tcp("get10k", "get 10 KiB", Kind::Get(10 * KIB), 2000, GET_10K),
    tcp(
        "get100k",
        "get 100 KiB",
        Kind::Get(100 * KIB),
        500,
        &[ONE_ALLOCATION],
    ),
    tcp(
        "get900k",
        "get 900 KiB",
        Kind::Get(900 * KIB),
        200,
        GET_900K,
    ),
    tcp("get_into", "get_into 100 B", Kind::GetInto, 2000, NO_VALUE),
    tcp("get_with", "get_with 100 B", Kind::GetWith, 2000, NO_VALUE),
    tcp("miss", "get, a miss", Kind::Miss, 2000, NO_VALUE),
    tcp("set100", "set 100 B", Kind::Set(SHORT), 2000, SET),
    tcp("set10k", "set 10 KiB", Kind::Set(10 * KIB), 2000, SET_10K),
    tcp(
        "set100k",
        "set 100 KiB",
        Kind::Set(100 * KIB),
        500,
        SET_LARGE,
    ),
    tcp(
        "set900k",
        "set 900 KiB",
        Kind::Set(900 * KIB),
        200,
        SET_LARGE,
    ),
    tcp("incr", "incr", Kind::Incr, 2000, NO_VALUE),
    tcp("cas", "gets and cas 100 B", Kind::Cas, 2000, NONE),
    tcp(
        "multi10",
        "get_multi, 10 keys",
        Kind::GetMulti(10),
        500,
        NONE,
    ),
    tcp(
        "multi100",
        "get_multi, 100 keys",
        Kind::GetMulti(100),
        200,
        GET_MULTI_100,
    ),
    tcp(
        "multi1000",
        "get_multi, 1,000 keys",
        Kind::GetMulti(1000),
        40,
        NONE,
    ),
    four("multi10x4", "get_multi, 10 keys, 4 servers", 10, 500),
    four("multi100x4", "get_multi, 100 keys, 4 servers", 100, 200),
    four("multi1000x4", "get_multi, 1,000 keys, 4 servers", 1000, 40),
    tcp(
        "set_multi100",
        "set_multi, 100 keys",
        Kind::SetMulti(100),
        200,
        NONE,
    ),
    unix(
        "get100_unix",
        "get 100 B, unix socket",
        Kind::Get(SHORT),
        2000,
        GET,
    ),
    unix(
        "set100_unix",
        "set 100 B, unix socket",
        Kind::Set(SHORT),
        2000,
        SET,
    ),
    unix(
        "multi100_unix",
        "get_multi, 100 keys, unix socket",
        Kind::GetMulti(100),
        200,
        GET_MULTI_100,
    ),
    whalin(
        "get100_whalin",
        "get 100 B, whalin's form",
        Kind::Get(SHORT),
        2000,
    ),
    whalin(
        "set100_whalin",
        "set 100 B, whalin's form",
        Kind::Set(SHORT),
        2000,
    ),
    whalin("get_text", "get 100 KiB of text, gzip", Kind::GetText, 20),
    whalin("set_text", "set 100 KiB of text, gzip", Kind::SetText, 20),
];

/// The operation of this name.
pub(crate) fn find(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}
