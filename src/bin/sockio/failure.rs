//! Why a command ended early. It does not know which command.

use std::fmt::Display;
use std::io;

/// The exit code of every failure; clap's for a wrong option is the same.
pub(crate) const CODE: u8 = 2;

pub(crate) type Result<T> = std::result::Result<T, Failure>;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the output any more, as behind `head`: the command ends as if it were done.
    Closed,
    /// The messages are out already.
    Told,
    /// What to say.
    Message(String),
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Failure::Message(message.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::new(error),
        }
    }
}

impl From<sockio::Error> for Failure {
    fn from(error: sockio::Error) -> Self {
        Failure::new(error)
    }
}
