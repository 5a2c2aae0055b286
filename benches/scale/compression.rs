//! How fast values of 100 KiB are compressed and read back, in each form that a client writes.

use std::borrow::Cow;
use std::io;

use sockio::codec::{Compression, Encoded, PhpCompression, PhpMemcached, Raw, Transcoder};
use sockio::{FromValue, ToValue};

use crate::numbers::{Spread, nanos, short};
use crate::plot::{Bar, Canvas};
use crate::report::Report;
use crate::table::Table;
use crate::text::{LEN, text};

const ROUNDS: usize = 15;

struct Form {
    name: &'static str,
    transcoder: Box<dyn Transcoder>,
    stored: Encoded<'static>,
    /// MB/s of plain text, one for each round.
    writing: Vec<f64>,
    reading: Vec<f64>,
}

pub(crate) fn run(report: &mut Report) -> io::Result<()> {
    let text = text()?;
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
        let stored = encode(&*transcoder, text)?;
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
            form.round(text)?;
        }
    }
    print(report, &measured);
    draw(&measured)
}

fn encode<'a>(transcoder: &dyn Transcoder, text: &'a [u8]) -> io::Result<Encoded<'a>> {
    transcoder.encode(text.to_value()).map_err(io::Error::other)
}

impl Form {
    fn round(&mut self, text: &[u8]) -> io::Result<()> {
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
        let read = Vec::<u8>::from_value(value).map_err(io::Error::other)?;
        assert_eq!(read, text);
        Ok(())
    }

    /// Of the fastest rounds: nothing but other programs makes the same work slower.
    fn rates(&self) -> [f64; 2] {
        [&self.writing, &self.reading].map(|rates| Spread::of(rates.iter().copied()).greatest)
    }

    fn share(&self) -> f64 {
        100.0 * self.stored.data.len() as f64 / LEN as f64
    }
}

fn print(report: &mut Report, forms: &[Form]) {
    let caption = format!(
        "Text of 100 KiB: MB/s of plain text, the fastest of {ROUNDS} rounds in turns, and the stored share"
    );
    let mut table = Table::new(1, ["form", "compressing", "inflating", "stored"]);
    for form in forms {
        let [writing, reading] = form.rates().map(short);
        table.row([
            form.name.to_owned(),
            writing,
            reading,
            format!("{:.0} %", form.share()),
        ]);
    }
    report.table("compression", &caption, &table);
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
            parts: vec![form.rates()[number]],
            note: short(form.rates()[number]),
        });
        bars.collect()
    };
    canvas.bars(240.0, "MB/s", &[("compressing", "#0969da")], &bars(0));
    canvas.bars(240.0, "MB/s", &[("inflating", "#1a7f37")], &bars(1));
    canvas.save("compression")
}
