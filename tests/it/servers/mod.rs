//! Real servers that misbehave: what their callers see, for how long, and what the callers of other servers see of it.

mod connections;
mod full;
mod guest;
mod idle;
mod kill;
pub(crate) mod load;
mod protocols;
#[cfg(unix)]
mod stop;
mod swap;
#[cfg(unix)]
mod unix;
