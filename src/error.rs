//! The one error type of the crate. It names the server and what went wrong; it never carries a key, a value or a secret.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

/// What every fallible call of this crate returns.
#[doc(alias = "RES_SUCCESS")]
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation has no answer.
///
/// A miss is not an error (`Ok(None)`), nor is a store that the server declined (`Ok(false)`):
/// an `Error` means that the answer is not known.
#[doc(alias(
    "MemcachedException",
    "getResultMessage",
    "getLastErrorMessage",
    "getLastErrorErrno"
))]
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    server: Option<Box<str>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The class of an [`Error`]. More may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key is empty, longer than 250 bytes with its prefix, or has a byte that the protocol cannot carry. Nothing was sent.
    #[doc(alias = "RES_BAD_KEY_PROVIDED")]
    #[doc(alias = "RES_KEY_TOO_BIG")]
    #[doc(alias = "RES_NO_KEY_PROVIDED")]
    Key,
    /// A setting, a server address or a name is not usable. Nothing was sent.
    #[doc(alias = "RES_INVALID_ARGUMENTS")]
    #[doc(alias = "RES_INVALID_HOST_PROTOCOL")]
    #[doc(alias = "RES_NO_SERVERS")]
    Config,
    /// The value cannot be written in the form that the transcoder asks for. Nothing was sent.
    #[doc(alias = "RES_PAYLOAD_FAILURE")]
    Encode,
    /// The stored bytes are not what their flags say, or cannot be read as the type asked for. The connection stays good.
    #[doc(alias = "RES_PAYLOAD_FAILURE")]
    Decode,
    /// No server could be asked: all that this key may live on are marked dead.
    #[doc(alias = "RES_SERVER_MARKED_DEAD")]
    #[doc(alias = "RES_SERVER_TEMPORARILY_DISABLED")]
    NoServer,
    /// The pool was shut down.
    Shutdown,
    /// A connection could not be opened.
    #[doc(alias(
        "RES_CONNECTION_FAILURE",
        "RES_HOST_LOOKUP_FAILURE",
        "RES_CONNECTION_BIND_FAILURE",
        "RES_CONNECTION_SOCKET_CREATE_FAILURE",
        "RES_FAIL_UNIX_SOCKET"
    ))]
    Connect,
    /// The deadline of the operation, or the limit of one of its steps, passed.
    #[doc(alias = "RES_TIMEOUT")]
    Timeout,
    /// The connection broke before the answer was complete.
    #[doc(alias(
        "RES_READ_FAILURE",
        "RES_WRITE_FAILURE",
        "RES_UNKNOWN_READ_FAILURE",
        "RES_PARTIAL_READ",
        "RES_ERRNO"
    ))]
    Connection,
    /// The server's bytes are no answer to the command sent. The connection was closed.
    #[doc(alias = "RES_PROTOCOL_ERROR")]
    Protocol,
    /// The server refused the command: `CLIENT_ERROR` or `ERROR`.
    #[doc(alias = "RES_CLIENT_ERROR")]
    Client,
    /// The server could not carry out the command: `SERVER_ERROR`.
    #[doc(alias = "RES_SERVER_ERROR")]
    #[doc(alias = "RES_SERVER_MEMORY_ALLOCATION_FAILURE")]
    Server,
    /// The command was sent and may or may not have been carried out.
    ///
    /// Only for commands that change something. The cause is in [`source`](std::error::Error::source).
    Ambiguous,
}

impl Error {
    /// The class of this error.
    #[doc(alias = "getResultCode")]
    #[doc(alias = "getLastErrorCode")]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The server that the operation was talking to, as it was configured.
    #[doc(alias = "getLastDisconnectedServer")]
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// Whether a deadline passed: the operation's own, or that of the step which left its outcome unknown.
    pub fn is_timeout(&self) -> bool {
        self.any(|kind| kind == ErrorKind::Timeout)
    }

    /// Whether no connection could be opened, so that nothing was sent.
    pub fn is_connect(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Connect | ErrorKind::NoServer)
    }

    /// Whether the command may have been carried out although no answer came.
    pub fn is_ambiguous(&self) -> bool {
        self.0.kind == ErrorKind::Ambiguous
    }

    /// Whether the server refused a value because it is longer than the server takes (1 MiB, unless it was started with `-I`).
    ///
    /// Sent again it is refused again; the connection and the server are as good as before. It goes by memcached's own words: of a
    /// server that says it in others it is false. An [`append`](crate::MemcachedClient::append) that grows too long is no error.
    #[doc(alias = "RES_E2BIG")]
    pub fn is_too_large(&self) -> bool {
        // memcached `proto_text.c`, `process_update_command`.
        const REFUSAL: &str = "SERVER_ERROR object too large for cache";
        self.0.kind == ErrorKind::Server && self.0.message == REFUSAL
    }

    /// The kind of what went wrong on the wire, behind an unknown outcome too.
    pub(crate) fn kind_or_cause(&self) -> ErrorKind {
        let cause = self
            .0
            .source
            .as_deref()
            .and_then(|source| source.downcast_ref::<Error>());
        match (self.0.kind, cause) {
            (ErrorKind::Ambiguous, Some(cause)) => cause.kind(),
            (kind, _) => kind,
        }
    }

    fn any(&self, test: impl Fn(ErrorKind) -> bool) -> bool {
        let cause = self
            .0
            .source
            .as_deref()
            .and_then(|source| source.downcast_ref::<Error>());
        test(self.0.kind) || cause.is_some_and(|cause| cause.any(test))
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            server: None,
            source: None,
        }))
    }

    pub(crate) fn key(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Key, message)
    }

    pub(crate) fn config(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// For transcoders, those of this crate and of users: a value that cannot be written as asked.
    pub fn encode(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Encode, message)
    }

    /// For transcoders, those of this crate and of users: bytes that are not what their flags say.
    pub fn decode(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Decode, message)
    }

    pub(crate) fn timeout(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Timeout, message)
    }

    pub(crate) fn protocol(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Protocol, message)
    }

    pub(crate) fn shutdown() -> Self {
        Self::new(ErrorKind::Shutdown, "the pool was shut down")
    }

    /// The error of one connect attempt.
    pub(crate) fn connect(source: io::Error) -> Self {
        let kind = if is_timeout(&source) {
            ErrorKind::Timeout
        } else {
            ErrorKind::Connect
        };
        Self::new(kind, "connecting failed").with_source(plain(source))
    }

    /// The error of a read or write on an open connection.
    pub(crate) fn io(doing: &'static str, source: io::Error) -> Self {
        let kind = if is_timeout(&source) {
            ErrorKind::Timeout
        } else {
            ErrorKind::Connection
        };
        Self::new(kind, doing).with_source(plain(source))
    }

    /// Turns the loss of an answer to a command that changes something into [`ErrorKind::Ambiguous`], the cause kept.
    pub(crate) fn into_ambiguous(self) -> Self {
        match self.kind() {
            ErrorKind::Timeout | ErrorKind::Connection | ErrorKind::Protocol => {
                let server = self.0.server.clone();
                let mut error = Self::new(
                    ErrorKind::Ambiguous,
                    "the command was sent, its outcome is not known",
                );
                error.0.server = server;
                error.with_source(self)
            }
            _ => self,
        }
    }

    /// The same error for another caller, whose command shared its fate.
    pub(crate) fn again(&self) -> Self {
        let again = Self(Box::new(Inner {
            kind: self.0.kind,
            message: self.0.message.clone(),
            server: self.0.server.clone(),
            source: None,
        }));
        let Some(source) = &self.0.source else {
            return again;
        };
        match (
            source.downcast_ref::<Error>(),
            source.downcast_ref::<io::Error>(),
        ) {
            (Some(cause), _) => again.with_source(cause.again()),
            (_, Some(cause)) => match cause.raw_os_error() {
                Some(code) => again.with_source(io::Error::from_raw_os_error(code)),
                None => again.with_source(io::Error::new(cause.kind(), cause.to_string())),
            },
            _ => again.with_source(source.to_string()),
        }
    }

    pub(crate) fn with_source(
        mut self,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Names the server, unless a step below has done so.
    pub(crate) fn at(mut self, server: &str) -> Self {
        self.name_server(server);
        self
    }

    /// The message and those of the causes, without the server.
    pub(crate) fn causes(&self) -> String {
        struct Causes<'e>(&'e Error);
        impl fmt::Display for Causes<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_causes(f)
            }
        }
        Causes(self).to_string()
    }

    pub(crate) fn name_server(&mut self, server: &str) {
        if self.0.server.is_none() {
            self.0.server = Some(server.into());
        }
    }
}

/// The system calls an expired timer "resource temporarily unavailable": it is told as what it is.
fn plain(error: io::Error) -> io::Error {
    if is_timeout(&error) {
        return io::ErrorKind::TimedOut.into();
    }
    error
}

/// `SO_RCVTIMEO` and `SO_SNDTIMEO` show as `WouldBlock` on Unix and as `TimedOut` on Windows.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = &self.0.server {
            write!(f, "{server}: ")?;
        }
        self.write_causes(f)
    }
}

impl Error {
    /// The message and those of the causes. They stand at the same server: its name once is enough.
    fn write_causes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let Some(source) = &self.0.source else {
            return Ok(());
        };
        f.write_str(": ")?;
        match source.downcast_ref::<Error>() {
            Some(cause) => cause.write_causes(f),
            None => write!(f, "{source}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug
            .field("kind", &self.0.kind)
            .field("message", &self.0.message);
        if let Some(server) = &self.0.server {
            debug.field("server", server);
        }
        if let Some(source) = &self.0.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_outcome_keeps_its_cause_and_server() {
        let cause = Error::io("reading the reply", io::ErrorKind::WouldBlock.into()).at("a:1");
        let error = cause.into_ambiguous();
        assert_eq!(
            (error.kind(), error.server()),
            (ErrorKind::Ambiguous, Some("a:1"))
        );
        assert!(error.is_ambiguous() && error.is_timeout() && !error.is_connect());
        assert_eq!(
            error.to_string(),
            "a:1: the command was sent, its outcome is not known: reading the reply: timed out"
        );
        assert!(
            StdError::source(&error)
                .and_then(|cause| cause.downcast_ref::<Error>())
                .is_some()
        );
    }

    #[test]
    fn an_error_for_another_caller_says_the_same() {
        for cause in [
            io::Error::from_raw_os_error(104),
            io::ErrorKind::WouldBlock.into(),
            io::Error::other("by hand"),
        ] {
            let error = Error::io("reading the reply", cause)
                .at("a:1")
                .into_ambiguous();
            let again = error.again();
            assert_eq!(again.to_string(), error.to_string());
            assert_eq!(
                (again.kind(), again.is_timeout(), again.kind_or_cause()),
                (error.kind(), error.is_timeout(), error.kind_or_cause())
            );
        }
        let error = Error::connect(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(error.again().to_string(), error.to_string());
    }

    #[test]
    fn a_refusal_is_never_ambiguous() {
        assert_eq!(
            Error::new(ErrorKind::Server, "SERVER_ERROR x")
                .into_ambiguous()
                .kind(),
            ErrorKind::Server
        );
    }

    #[test]
    fn one_word_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
