//! The classic text protocol (memcached `doc/protocol.txt`), with `mg KEY` of the meta commands as the test for presence.

mod decode;
#[cfg(test)]
mod decode_tests;
mod encode;
#[cfg(test)]
mod transcripts_tests;
mod whole;

pub(crate) use decode::{body_end, decode};
pub(crate) use encode::{encode, encode_get_multi};
pub(crate) use whole::{whole_hit, whole_value};
