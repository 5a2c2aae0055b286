//! Live runs with the other languages' clients: over the same real servers, what one writes the other reads, from the same server.
//!
//! A peer is a script in its own language under `tests/interop`; this crate stands beside it as a [`Peer`] like the others.

mod fleet;
mod gaps;
mod java;
mod libmemcached_tools;
mod own;
mod pair;
mod peer;
mod perl;
mod php;
mod php_everyday;
mod places;
mod python;
mod ruby;
mod run;
mod script;
