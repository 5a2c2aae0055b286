//! How fast values of 100 KiB are compressed and read back, in each form that a client writes.

use std::borrow::Cow;
use std::io;

use sockio::codec::{Compression, Encoded, PhpCompression, PhpMemcached, Raw, Transcoder};
use sockio::{FromValue, ToValue};

use crate::numbers::{Spread, nanos, short};
use crate::plot::{Bar, Canvas};
use crate::table::Table;

const LEN: usize = 100 << 10;
const ROUNDS: usize = 15;

struct Form {
    name: &'static str,
    transcoder: Box<dyn Transcoder>,
    stored: Encoded<'static>,
    /// MB/s of plain text, one for each round.
    writing: Vec<f64>,
    reading: Vec<f64>,
}

pub(crate) fn run() -> io::Result<()> {
    let text = text(LEN);
    let gzip = |level| Box::new(Raw::new().compression(Compression::new().level(level)));
    let php = |form| Box::new(PhpMemcached::new().compression(Some(form)));
    let forms: [(&str, Box<dyn Transcoder>); 5] = [
        ("gzip, level 1", gzip(1)),
        ("gzip, level 6 (default)", gzip(6)),
        ("gzip, level 9", gzip(9)),
        ("zlib, PHP's Memcached", php(PhpCompression::Zlib)),
        ("FastLZ, PHP's Memcached", php(PhpCompression::FastLz)),
    ];
    let mut measured = Vec::new();
    for (name, transcoder) in forms {
        let stored = encode(&*transcoder, &text)?;
        if stored.data.len() >= LEN {
            return Err(io::Error::other(format!(
                "{name}: needs the feature compress"
            )));
        }
        measured.push(Form {
            name,
            stored: Encoded {
                flags: stored.flags,
                data: Cow::Owned(stored.data.into_owned()),
            },
            transcoder,
            writing: Vec::new(),
            reading: Vec::new(),
        });
    }
    for _ in 0..ROUNDS {
        for form in &mut measured {
            form.round(&text)?;
        }
    }
    print(&measured);
    draw(&measured)
}

fn encode<'a>(transcoder: &dyn Transcoder, text: &'a str) -> io::Result<Encoded<'a>> {
    transcoder.encode(text.to_value()).map_err(io::Error::other)
}

impl Form {
    fn round(&mut self, text: &str) -> io::Result<()> {
        // Bytes per nanosecond are gigabytes per second.
        let rate = |nanos: f64| LEN as f64 / nanos * 1e3;
        let mut encoded = None;
        let took = nanos(|| encoded = Some(encode(&*self.transcoder, text)));
        self.writing.push(rate(took));
        let Encoded { flags, data } = encoded.expect("it ran")?;
        assert_eq!(
            (flags, data.len()),
            (self.stored.flags, self.stored.data.len())
        );
        let mut value = None;
        let took = nanos(|| {
            value = Some(
                self.transcoder
                    .decode(flags, Cow::Borrowed(&self.stored.data)),
            )
        });
        self.reading.push(rate(took));
        let value = value.expect("it ran").map_err(io::Error::other)?;
        let read = String::from_value(value).map_err(io::Error::other)?;
        assert_eq!(read, text);
        Ok(())
    }

    fn medians(&self) -> [f64; 2] {
        [&self.writing, &self.reading].map(|rates| Spread::of(rates.iter().copied()).median)
    }

    fn share(&self) -> f64 {
        100.0 * self.stored.data.len() as f64 / LEN as f64
    }
}

/// Sentences of words that come as often as those of a language do: the n-th one in a share of about 1/n.
fn text(len: usize) -> String {
    const WORDS: &str = "the of and to in is that it was for on are as with his they at be this from have or by one had not but what \
        all were when we there can an your which their said if do will each about how up out them then she many some so these would \
        other into has more her two like him see time could no make than first been its who now people my made over did down only way \
        find use may water long little very after words called just where most know server connection value number record account \
        session request answer customer order product category price description available shipping address language country";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut state: u64 = 42;
    let mut random = move || {
        // Knuth's MMIX generator: the same text everywhere.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut text = String::with_capacity(len + 32);
    while text.len() < len {
        let rank = (words.len() as f64).powf(random()) as usize - 1;
        text.push_str(words[rank.min(words.len() - 1)]);
        match (random() * 40.0) as u32 {
            0 => text.push_str(".\n"),
            1..=3 => text.push_str(", "),
            4 => text.push_str(&format!(" {} ", (random() * 1e4) as u32)),
            _ => text.push(' '),
        }
    }
    text.truncate(len);
    text
}

fn print(forms: &[Form]) {
    println!(
        "Text of 100 KiB: MB/s of plain text, median of {ROUNDS} rounds in turns, and the stored share\n"
    );
    let mut table = Table::new(1, ["form", "compressing", "inflating", "stored"]);
    for form in forms {
        let [writing, reading] = form.medians().map(short);
        table.row([
            form.name.to_owned(),
            writing,
            reading,
            format!("{:.0} %", form.share()),
        ]);
    }
    table.print();
}

fn draw(forms: &[Form]) -> io::Result<()> {
    let mut canvas = Canvas::new(
        820.0,
        400.0,
        "Compression of 100 KiB of text",
        "MB/s of plain text. In brackets the stored share.",
    );
    let bars = |number: usize| -> Vec<Bar> {
        let bars = forms.iter().map(|form| Bar {
            label: format!("{} ({:.0} %)", form.name, form.share()),
            parts: vec![form.medians()[number]],
            note: short(form.medians()[number]),
        });
        bars.collect()
    };
    canvas.bars(240.0, "MB/s", &[("compressing", "#0969da")], &bars(0));
    canvas.bars(240.0, "MB/s", &[("inflating", "#1a7f37")], &bars(1));
    canvas.save("compression")
}
