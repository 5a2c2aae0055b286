//! Commands to the servers themselves, each asked by itself: flush, statistics, version, verbosity.

use std::time::{Duration, SystemTime};

use super::MemcachedClient;
use super::execute::{Repeat, unexpected};
use crate::error::{Error, Result};
use crate::expiry::Expiry;
use crate::pool::Host;
use crate::protocol::{Expect, Reply, Request, text};
use crate::server::ServerAddr;
use crate::sock::SockIo;

/// What each server answered, in the order of configuration.
pub type PerServer<T> = Vec<(ServerAddr, Result<T>)>;

/// The most memory that the statistics of one server may take.
const MAX_STATS_LEN: usize = 16 * 1024 * 1024;

/// What may follow `stats`: a few words.
const MAX_ARGUMENT_LEN: usize = 200;

/// The servers themselves. Each is asked in turn; one that is dead costs nothing, one that does not answer at most one
/// operation timeout, and the others are asked all the same.
impl MemcachedClient {
    /// Empties every server: now, or when `delay` (rounded up to seconds) has passed.
    #[doc(alias = "flushAll")]
    #[doc(alias = "FlushAll")]
    #[doc(alias = "flush")]
    #[doc(alias = "memcache_flush")]
    pub fn flush_all(&self, delay: Option<Duration>) -> PerServer<()> {
        self.each_server(|host| self.flush(host, delay))
    }

    /// Empties one server, named as it was configured.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if the pool has no such server.
    pub fn flush_all_on(&self, server: &str, delay: Option<Duration>) -> Result<()> {
        let answer = self.flush(self.pool.host(server)?, delay);
        answer.inspect_err(|error| {
            self.tell(error);
        })
    }

    /// The version of every server.
    #[doc(alias = "getVersion")]
    #[doc(alias = "memcache_get_version")]
    pub fn versions(&self) -> PerServer<String> {
        self.each_server(|host| {
            self.execute_on(host, Repeat::Reads, |io| {
                io.send(1, None, |out| text::encode(&Request::Version, out))?;
                last(io, Expect::Version, |reply| match reply {
                    Reply::Version(version) => Some(version.to_owned()),
                    _ => None,
                })
            })
        })
    }

    /// The statistics of every server, as names and values in the order of the server; `argument` is what follows `stats`:
    /// `items`, `slabs`, `cachedump 1 100`, `reset` … An answer without values (`RESET`, `OK`) is empty.
    ///
    /// The pool's own figures are in [`SockIoPool::stats`](crate::SockIoPool::stats).
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) if the argument is empty, longer than 200 bytes or not printable ASCII.
    #[doc(alias = "statsItems")]
    #[doc(alias = "statsSlabs")]
    #[doc(alias = "statsCacheDump")]
    #[doc(alias = "Stats")]
    #[doc(alias = "getStats")]
    #[doc(alias = "getExtendedStats")]
    #[doc(alias = "memcache_get_stats")]
    #[doc(alias = "memcache_get_extended_stats")]
    pub fn stats(&self, argument: Option<&str>) -> Result<PerServer<Vec<(String, String)>>> {
        if argument.is_some_and(|argument| !is_argument(argument)) {
            return Err(Error::config(
                "an argument of stats is 1 to 200 bytes of printable ASCII",
            ));
        }
        let request = Request::Stats { argument };
        let unended = argument.is_some_and(answers_without_end);
        Ok(self.each_server(|host| {
            self.execute_on(host, Repeat::Reads, |io| {
                io.send(1, None, |out| text::encode(&request, out))?;
                read_stats(io, unended)
            })
        }))
    }

    /// Sets how much every server writes to its log: 0 little, 1 warnings, 2 and more commands too.
    pub fn verbosity(&self, level: u32) -> PerServer<()> {
        self.each_server(|host| {
            self.execute_on(host, Repeat::Never, |io| {
                io.send(1, None, |out| {
                    text::encode(&Request::Verbosity { level }, out)
                })?;
                last(io, Expect::Verbosity, is_ok)
            })
        })
    }

    fn flush(&self, host: &Host, delay: Option<Duration>) -> Result<()> {
        // The server reads the delay as it reads an expiry: more than 30 days is a date.
        let delay = delay
            .filter(|delay| !delay.is_zero())
            .map(|delay| Expiry::after(delay).exptime(SystemTime::now).unsigned_abs());
        self.execute_on(host, Repeat::Never, |io| {
            io.send(1, None, |out| {
                text::encode(&Request::FlushAll { delay }, out)
            })?;
            last(io, Expect::FlushAll, is_ok)
        })
    }

    fn each_server<R>(&self, mut ask: impl FnMut(&Host) -> Result<R>) -> PerServer<R> {
        let hosts = self.pool.hosts().iter();
        let answers = hosts.map(|host| {
            let answer = ask(host).inspect_err(|error| {
                self.tell(error);
            });
            (host.addr().clone(), answer)
        });
        answers.collect()
    }
}

fn is_argument(argument: &str) -> bool {
    (1..=MAX_ARGUMENT_LEN).contains(&argument.len())
        && argument.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// These are answered by one `STAT` line, and no `END` (memcached 1.6.18, `proto_text.c`, `process_stat`).
fn answers_without_end(argument: &str) -> bool {
    let word = argument.split_ascii_whitespace().next();
    matches!(word, Some("sizes_enable" | "sizes_disable"))
}

fn is_ok(reply: Reply<'_>) -> Option<()> {
    (reply == Reply::Ok).then_some(())
}

/// Reads a reply of one line.
fn last<R>(
    io: &mut SockIo,
    expect: Expect,
    read: impl FnOnce(Reply<'_>) -> Option<R>,
) -> Result<R> {
    let answer = io.receive(expect, |reply| read(reply).ok_or_else(|| unexpected(reply)))?;
    let answer = answer.map_err(|other| other.into_error(io))?;
    io.settle();
    Ok(answer)
}

/// Reads statistics to their end. An answer that has no end leaves the connection unsettled, so that it is closed.
fn read_stats(io: &mut SockIo, unended: bool) -> Result<Vec<(String, String)>> {
    let mut stats = Vec::new();
    let mut len = 0;
    loop {
        let part = io.receive(Expect::Stats, |reply| match reply {
            Reply::Stat { name, value } => Ok(Some((name.to_owned(), value.to_owned()))),
            Reply::Line(line) => Ok(Some(named(line))),
            Reply::End | Reply::Reset | Reply::Ok => Ok(None),
            other => Err(unexpected(other)),
        })?;
        match part {
            Ok(Some(stat)) => {
                // Lines without any text take room too.
                len += size_of_val(&stat) + stat.0.len() + stat.1.len();
                stats.push(stat);
            }
            Ok(None) => {
                io.settle();
                return Ok(stats);
            }
            Err(other) if stats.is_empty() => return Err(other.into_error(io)),
            Err(other) => return Err(other.into_break(io)),
        }
        if unended {
            return Ok(stats);
        }
        if len > MAX_STATS_LEN {
            return Err(Error::protocol("the statistics do not end"));
        }
    }
}

/// `ITEM key [5 b; 0 s]` and `PREFIX name get 1 …`: the second word names the rest. Keys need not be UTF-8.
fn named(line: &[u8]) -> (String, String) {
    let mut words = line.splitn(3, |byte| *byte == b' ').skip(1);
    let mut next = || String::from_utf8_lossy(words.next().unwrap_or_default()).into_owned();
    (next(), next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_would_be_another_command_are_none() {
        for good in ["items", "cachedump 1 100", "detail on"] {
            assert!(is_argument(good));
        }
        let long = "x".repeat(201);
        for bad in ["", "items\r\nflush_all", "\n", "é", "a\0", &long] {
            assert!(!is_argument(bad), "{bad:?}");
        }
        assert!(answers_without_end("sizes_enable"));
        assert!(!answers_without_end("sizes"));
    }

    #[test]
    fn the_second_word_names_a_line() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(named(b"ITEM k [5 b; 0 s]"), pair("k", "[5 b; 0 s]"));
        assert_eq!(named(b"ITEM \xff"), pair("\u{fffd}", ""));
    }
}
