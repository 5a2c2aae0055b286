//! The tokens of PHP's `serialize` data, read without recursion and without copies. It knows no Rust type.
//!
//! The grammar is that of ext/standard/var_unserializer.re of PHP 8. Two things that PHP lets pass are errors:
//! bytes behind the value, and an integer of more than 64 bits, of which PHP makes another number.

use std::borrow::Cow;

use super::php_number;
use crate::error::{Error, Result};

/// `unserialize_max_depth`, PHP's default.
const MAX_DEPTH: usize = 4096;
/// The shortest entry, `i:0;N;`: an array cannot announce more entries than so many bytes can hold.
const SHORTEST_ENTRY: usize = 6;

/// One step of the data.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Cow<'a, [u8]>),
    /// An array of so many entries, each a key and a value, and then [`Reader::close`].
    Array(usize),
    /// The same for an object; its class is left out.
    Object(usize),
    /// A case of an enum, without the enum's name.
    Case(&'a [u8]),
    /// What a class wrote in a form of its own (`Serializable`).
    Custom,
    /// The same variable or object as an earlier one.
    Reference,
}

/// Whether `data` is one value, with nothing behind it.
///
/// What a reference refers to and how a class is called is left to PHP.
pub(super) fn check(data: &[u8]) -> Result<()> {
    let mut reader = Reader::new(data);
    reader.skip()?;
    reader.finish()
}

/// Reads token after token. A clone looks ahead.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Reads one value to its end.
    pub(super) fn skip(&mut self) -> Result<()> {
        // Tokens to come before each open array is full: two for an entry, the key first.
        let mut open: Vec<usize> = Vec::new();
        loop {
            let is_key = open.last().is_some_and(|left| left % 2 == 0);
            let token = self.token()?;
            if is_key && !matches!(token, Token::Int(_) | Token::Str(_)) {
                return Err(self.error("a key that is neither a number nor a string"));
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if let Token::Array(entries) | Token::Object(entries) = token {
                if open.len() == MAX_DEPTH {
                    return Err(self.error("arrays nested too deeply"));
                }
                open.push(entries * 2);
            }
            while open.last() == Some(&0) {
                open.pop();
                self.close()?;
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    pub(super) fn token(&mut self) -> Result<Token<'a>> {
        let mark = self.byte()?;
        if mark == b'N' {
            self.expect(b";")?;
            return Ok(Token::Null);
        }
        self.expect(b":")?;
        match mark {
            b'b' => {
                let value = match self.until(b';')? {
                    b"0" => false,
                    b"1" => true,
                    _ => return Err(self.error("a truth value that is neither 0 nor 1")),
                };
                Ok(Token::Bool(value))
            }
            b'i' => {
                let digits = self.until(b';')?;
                Ok(Token::Int(self.number(digits)?))
            }
            b'd' => {
                let value = match self.until(b';')? {
                    b"INF" => f64::INFINITY,
                    b"-INF" => f64::NEG_INFINITY,
                    b"NAN" => f64::NAN,
                    text => php_number::double(text)
                        .ok_or_else(|| self.error("a float that is no number"))?,
                };
                Ok(Token::Float(value))
            }
            b's' => {
                let text = self.quoted()?;
                self.expect(b";")?;
                Ok(Token::Str(Cow::Borrowed(text)))
            }
            b'S' => self.escaped(),
            b'a' => Ok(Token::Array(self.open()?)),
            b'O' => {
                self.quoted()?;
                self.expect(b":")?;
                Ok(Token::Object(self.open()?))
            }
            b'E' => {
                let name = self.quoted()?;
                self.expect(b";")?;
                match name.iter().position(|byte| *byte == b':') {
                    Some(colon) => Ok(Token::Case(&name[colon + 1..])),
                    None => Err(self.error("an enum without a case")),
                }
            }
            b'C' => {
                self.quoted()?;
                self.expect(b":")?;
                let len = self.length()?;
                self.expect(b"{")?;
                self.take(len)?;
                self.expect(b"}")?;
                Ok(Token::Custom)
            }
            b'r' | b'R' => {
                let digits = self.until(b';')?;
                self.unsigned(digits)?;
                Ok(Token::Reference)
            }
            _ => Err(self.error("an unknown type")),
        }
    }

    /// The end of an array or object.
    pub(super) fn close(&mut self) -> Result<()> {
        self.expect(b"}")
    }

    /// The end of the data.
    pub(super) fn finish(&self) -> Result<()> {
        if self.at == self.data.len() {
            Ok(())
        } else {
            Err(self.error("bytes behind the value"))
        }
    }

    /// Says what is wrong, and where; never what stands there.
    #[cold]
    pub(super) fn error(&self, what: &str) -> Error {
        Error::decode(format!("PHP data, before byte {}: {what}", self.at))
    }

    fn open(&mut self) -> Result<usize> {
        let entries = self.length()?;
        self.expect(b"{")?;
        if entries > (self.data.len() - self.at) / SHORTEST_ENTRY {
            return Err(self.error("more entries announced than can follow"));
        }
        Ok(entries)
    }

    /// `3:"abc"`
    fn quoted(&mut self) -> Result<&'a [u8]> {
        let len = self.length()?;
        self.expect(b"\"")?;
        let text = self.take(len)?;
        self.expect(b"\"")?;
        Ok(text)
    }

    /// `3:"a\62c";`: the length counts the bytes without the escapes.
    fn escaped(&mut self) -> Result<Token<'a>> {
        let len = self.length()?;
        self.expect(b"\"")?;
        if len > self.data.len() - self.at {
            return Err(self.error("a string longer than the data"));
        }
        let mut text = Vec::with_capacity(len);
        while text.len() < len {
            let byte = match self.byte()? {
                b'\\' => {
                    let hex = self.take(2)?;
                    std::str::from_utf8(hex)
                        .ok()
                        .filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
                        .and_then(|hex| u8::from_str_radix(hex, 16).ok())
                        .ok_or_else(|| self.error("an escape that is no hexadecimal number"))?
                }
                byte => byte,
            };
            text.push(byte);
        }
        self.expect(b"\";")?;
        Ok(Token::Str(Cow::Owned(text)))
    }

    /// The number before the next colon, which is taken too.
    fn length(&mut self) -> Result<usize> {
        let digits = self.until(b':')?;
        self.unsigned(digits)
    }

    fn unsigned(&self, digits: &[u8]) -> Result<usize> {
        match digits.first() {
            Some(first) if first.is_ascii_digit() => usize::try_from(self.number(digits)?)
                .map_err(|_| self.error("a length that is too large")),
            _ => Err(self.error("a length that is no number")),
        }
    }

    /// A sign and digits, nothing else.
    fn number(&self, digits: &[u8]) -> Result<i64> {
        std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| self.error("an integer that is no number of 64 bits"))
    }

    /// The bytes before the next `end`, which is taken too.
    fn until(&mut self, end: u8) -> Result<&'a [u8]> {
        let rest = &self.data[self.at..];
        match rest.iter().position(|byte| *byte == end) {
            Some(len) => {
                self.at += len + 1;
                Ok(&rest[..len])
            }
            None => Err(self.cut_off()),
        }
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.data[self.at..].get(..len) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => Err(self.cut_off()),
        }
    }

    fn expect(&mut self, text: &'static [u8]) -> Result<()> {
        if self.take(text.len())? == text {
            Ok(())
        } else {
            Err(self.error("a mark that does not belong there"))
        }
    }

    fn cut_off(&self) -> Error {
        self.error("the data is cut off")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_php_reads_is_taken() {
        for text in [
            "N;",
            "b:1;",
            "i:-7;",
            "i:+5;",
            "i:007;",
            "d:.5;",
            "d:5.;",
            "d:1.0E+25;",
            "d:-INF;",
            "s:0:\"\";",
            "s:3:\"a\";\";",
            "S:3:\"a\\62c\";",
            "a:0:{}",
            "a:2:{i:0;a:1:{s:1:\"k\";N;}i:1;R:2;}",
            "O:8:\"stdClass\":1:{s:1:\"a\";i:1;}",
            "O:1:\"P\":1:{s:4:\"\0*\0y\";r:1;}",
            "E:6:\"Suit:H\";",
            "C:11:\"ArrayObject\":21:{x:i:0;a:0:{};m:a:0:{}}",
        ] {
            assert!(check(text.as_bytes()).is_ok(), "{text}");
        }
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "",
            "zzz",
            "N",
            "b:2;",
            "b:;",
            "i:;",
            "i: 5;",
            "i:5.0;",
            "i:99999999999999999999;",
            "d:0x1;",
            "d:NaN;",
            "d:;",
            "s:3:\"ab\";",
            "s:2:\"abc\";",
            "s:+2:\"ab\";",
            "s:-1:\"\";",
            "s:99999999999999999999:\"\";",
            "s:4294967295:\"abc\";",
            "S:4294967295:\"abc\";",
            "S:1:\"\\+1\";",
            "a:1:{i:0;i:1;",
            "a:2:{i:0;i:1;}",
            "a:0:{i:0;i:1;}",
            "a:-1:{}",
            "a:1:{d:1;i:2;}",
            "a:1:{N;N;}",
            "a:9999999999999:{}",
            "a:1:{i:0;i:1;}}",
            "i:1;i:2;",
            "E:4:\"Suit\";",
            "C:1:\"X\":99:{}",
            "R:-1;",
            "R:;",
        ] {
            let error = check(text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Decode, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let nested = |depth: usize| {
            let open = "a:1:{i:0;".repeat(depth);
            format!("{open}N;{}", "}".repeat(depth)).into_bytes()
        };
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        assert!(check(&nested(MAX_DEPTH + 1)).is_err());
        assert!(check(&nested(200_000)).is_err());
    }
}
