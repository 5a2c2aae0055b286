//! Replies with values that are well formed, or nearly, and yet not the right ones.

use super::commands::{Command, Part, value};

/// The values of a right reply, to be put together otherwise.
struct Values {
    /// Key, flags, length, token if it has one, and body, of each value.
    heads: Vec<[String; 4]>,
    bodies: Vec<String>,
    cas: bool,
}

impl Values {
    /// `None` for commands without values, and for a miss. Values begin the reply.
    fn of(command: &Command) -> Option<Self> {
        let [Part::Values { cas, .. }] = command.parts else {
            return None;
        };
        let reply = (command.reply)();
        let mut rest = &*reply;
        let (mut heads, mut bodies) = (Vec::new(), Vec::new());
        while let Some(behind) = rest.strip_prefix("VALUE ") {
            let (head, behind) = behind.split_once("\r\n")?;
            let mut words = head.split(' ').map(str::to_owned);
            let mut next = || words.next().unwrap_or_default();
            let head = [next(), next(), next(), next()];
            let len: usize = head[2].parse().ok()?;
            bodies.push(behind[..len].to_owned());
            rest = &behind[len + 2..];
            heads.push(head);
        }
        (!heads.is_empty()).then_some(Self {
            heads,
            bodies,
            cas: *cas,
        })
    }

    fn one(&self, number: usize) -> String {
        value(
            self.head(&self.heads[number]).trim_end(),
            &self.bodies[number],
        )
    }

    fn head(&self, words: &[String; 4]) -> String {
        words.join(" ").trim_end().to_owned()
    }

    /// Everything behind the first value.
    fn rest(&self) -> String {
        let rest: String = (1..self.heads.len())
            .map(|number| self.one(number))
            .collect();
        rest + "END\r\n"
    }

    /// The reply with another first value.
    fn first(&self, bytes: &str) -> String {
        bytes.to_owned() + &self.rest()
    }

    /// The reply with another word in the head of the first value.
    fn word(&self, number: usize, word: &str) -> String {
        let mut head = self.heads[0].clone();
        head[number] = word.to_owned();
        let head = head[..if self.cas { 4 } else { 3 }].join(" ");
        self.first(&value(&head, &self.bodies[0]))
    }
}

/// The name of each, and the bytes.
pub(super) fn values(command: &Command) -> Vec<(&'static str, Vec<u8>)> {
    let Some(values) = Values::of(command) else {
        return Vec::new();
    };
    let mut all = keys(&values);
    all.extend(numbers(&values));
    all.extend(frames(&values));
    let bytes = all.into_iter();
    bytes
        .map(|(name, text)| (name, text.into_bytes()))
        .collect()
}

fn keys(values: &Values) -> Vec<(&'static str, String)> {
    let (first, rest) = (values.one(0), values.rest());
    let key = &values.heads[0][0];
    let other = first.replacen(key, "other", 1);
    let mut all = vec![
        ("wrong key", values.word(0, "other")),
        ("key with a suffix", values.word(0, &format!("{key}s"))),
        ("key cut off", values.word(0, &key[..key.len() - 1])),
        ("key in capitals", values.word(0, &key.to_uppercase())),
        ("no key", values.word(0, "")),
        ("key not asked", first.clone() + &other + &rest),
        ("key not asked first", other + &first + &rest),
        ("a key twice", first.clone() + &first + &rest),
        (
            "END missing",
            first.clone() + rest.strip_suffix("END\r\n").unwrap_or_default(),
        ),
        ("END twice", first.clone() + &rest + "END\r\n"),
        ("END before VALUE", "END\r\n".to_owned() + &first + &rest),
    ];
    if values.heads.len() > 1 {
        all.push(("two keys swapped", values.one(1) + &first + "END\r\n"));
    }
    all
}

fn numbers(values: &Values) -> Vec<(&'static str, String)> {
    let len: usize = values.heads[0][2].parse().expect("its length");
    let mut all = vec![
        ("one more", values.word(2, &(len + 1).to_string())),
        ("two more", values.word(2, &(len + 2).to_string())),
        ("many more", values.word(2, "1048576")),
    ];
    if len > 0 {
        all.push(("one less", values.word(2, &(len - 1).to_string())));
        all.push(("nothing", values.word(2, "0")));
    }
    for len in [
        "1048577",
        "2147483647",
        "2147483648",
        "4294967296",
        "9223372036854775808",
        "18446744073709551616",
        "-1",
        "+5",
        "5x",
        "",
    ] {
        all.push(("bad length", values.word(2, len)));
    }
    for flags in ["4294967296", "-1", "-2147483649", "x", ""] {
        all.push(("bad flags", values.word(1, flags)));
    }
    let [key, flags, len, token] = &values.heads[0];
    let body = &values.bodies[0];
    if values.cas {
        let without = format!("{key} {flags} {len}");
        all.push(("token missing", values.first(&value(&without, body))));
        all.push(("token of 2^64", values.word(3, "18446744073709551616")));
        all.push(("token of letters", values.word(3, "1x")));
        let two = format!("{key} {flags} {len} {token} 1");
        all.push(("two tokens", values.first(&value(&two, body))));
    } else {
        let with = format!("{key} {flags} {len} 1");
        all.push(("token not asked", values.first(&value(&with, body))));
    }
    all
}

fn frames(values: &Values) -> Vec<(&'static str, String)> {
    let head = values.head(&values.heads[0]);
    let body = &values.bodies[0];
    let first = values.one(0);
    let with = |text: String| values.first(&text);
    vec![
        (
            "no CRLF behind the body",
            with(format!("VALUE {head}\r\n{body}")),
        ),
        (
            "CR behind the body",
            with(format!("VALUE {head}\r\n{body}\r")),
        ),
        (
            "LF behind the body",
            with(format!("VALUE {head}\r\n{body}\nx")),
        ),
        (
            "LF behind the head",
            with(format!("VALUE {head}\n{body}\r\n")),
        ),
        ("lower case", with(format!("value {head}\r\n{body}\r\n"))),
        ("two blanks", with(format!("VALUE  {head}\r\n{body}\r\n"))),
        (
            "a blank at the end",
            with(format!("VALUE {head} \r\n{body}\r\n")),
        ),
        ("a number behind a value", first.clone() + "5\r\n"),
        ("STORED behind a value", first.clone() + "STORED\r\n"),
        ("ERROR behind a value", first.clone() + "ERROR\r\n"),
        (
            "CLIENT_ERROR behind a value",
            first.clone() + "CLIENT_ERROR bad command line format\r\n",
        ),
        (
            "SERVER_ERROR behind a value",
            first + "SERVER_ERROR out of memory writing get response\r\n",
        ),
    ]
}
