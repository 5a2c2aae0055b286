//! Lines of bytes from a stream, one buffer for all. It does not know what stands in them.

use std::io::{self, BufRead, BufReader, Read};

/// A longer line is no key, whatever a client makes of it; memory for a stream without line ends stays bounded.
const MAX_LINE: usize = 1 << 20;

/// Room for many keys, so that reading costs a small part of the time.
const BUFFER: usize = 1 << 16;

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// Over 1 MiB; skipped.
    TooLong,
}

/// The lines of a stream, each ended by a line feed but the last, where it may lack.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            line: Vec::new(),
        }
    }

    /// Whether the next line is here already; else reading it may take until somebody has typed it.
    pub(crate) fn is_waiting(&self) -> bool {
        self.reader.buffer().contains(&b'\n')
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut limited = (&mut self.reader).take(MAX_LINE as u64 + 1);
        limited.read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if self.line.len() > MAX_LINE {
            self.reader.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(text);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn lines_end_at_line_feeds_only() {
        let line = |bytes: &[u8]| Some(bytes.to_vec());
        assert_eq!(all(b""), []);
        assert_eq!(all(b"a\nb"), [line(b"a"), line(b"b")]);
        assert_eq!(all(b"a\n\n"), [line(b"a"), line(b"")]);
        assert_eq!(all(b"a\r\xff\0\n"), [line(b"a\r\xff\0")]);
    }

    #[test]
    fn what_is_no_key_by_its_length_is_skipped() {
        let longest = vec![b'k'; MAX_LINE];
        let too_long = vec![b'k'; MAX_LINE + 1];
        let text = [&longest, &b"\n"[..], &too_long, b"\nnext\n", &too_long].concat();
        let expected = [Some(longest), None, Some(b"next".to_vec()), None];
        assert!(all(&text) == expected);
    }

    #[test]
    fn a_whole_line_is_told_from_a_part() {
        let mut lines = Lines::new(&b"a\nb\nc"[..]);
        assert!(!lines.is_waiting());
        for waiting in [true, false, false] {
            lines.next().unwrap();
            assert_eq!(lines.is_waiting(), waiting);
        }
    }
}
