//! Values: what a form takes it gives back, in every client's form and for every type.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use sockio::codec::{
    Compression, Dalli, MemcachedDotNet, PerlCacheMemcached, PhpCompression, PhpMemcache,
    PhpMemcached, PhpSerializer, Pylibmc, Pymemcache, PythonMemcached, Raw, Spymemcached,
    Transcoder, Whalin,
};
use sockio::{Compat, ErrorKind, FromValue, ToValue, Value};

use super::inputs;

type Shared = Arc<dyn Transcoder>;

/// The one of each client, those with settings that change the form, and those that compress all they can.
static FORMS: LazyLock<Vec<Shared>> = LazyLock::new(|| {
    let all = || Compression::new().threshold(0).only_if_smaller(false);
    let mut forms: Vec<Shared> = Compat::all().into_iter().map(Compat::transcoder).collect();
    forms.extend::<[Shared; 22]>([
        Arc::new(Whalin::v3()),
        Arc::new(Whalin::v1().primitive_as_string(true)),
        Arc::new(Whalin::v2().primitive_as_string(true)),
        Arc::new(Whalin::v2().compression(all())),
        Arc::new(MemcachedDotNet::new().primitive_as_string(true)),
        Arc::new(MemcachedDotNet::new().compression(all())),
        Arc::new(Spymemcached::new().compression(all())),
        Arc::new(Pylibmc::new().compression(all())),
        Arc::new(PythonMemcached::new().pickle_protocol(2).compression(all())),
        Arc::new(Pymemcache::new().compression(all())),
        Arc::new(Pymemcache::plain()),
        Arc::new(Dalli::new().compression(all())),
        Arc::new(Dalli::new().gzip(true).compression(all())),
        Arc::new(Dalli::new().raw(true)),
        Arc::new(PerlCacheMemcached::new().compression(all())),
        Arc::new(PerlCacheMemcached::fast().utf8(true)),
        Arc::new(Raw::new().compression(all())),
        Arc::new(
            PhpMemcache::new()
                .compress_threshold(Some(0))
                .min_savings(-9.0),
        ),
        Arc::new(
            PhpMemcached::new()
                .compression_threshold(0)
                .compression_factor(0.0),
        ),
        Arc::new(
            PhpMemcached::new()
                .compression(Some(PhpCompression::Zlib))
                .compression_threshold(0)
                .compression_factor(0.0),
        ),
        Arc::new(PhpMemcached::new().serializer(PhpSerializer::Json)),
        Arc::new(
            PhpMemcached::new()
                .serializer(PhpSerializer::MsgPack)
                .user_flags(7),
        ),
    ]);
    let mut seen = HashSet::new();
    forms.retain(|form| seen.insert(format!("{form:?}")));
    forms
});

/// Whether a form keeps floats to their last digit. PHP's Memcache writes 14 of them, .NET's text 15.
fn keeps_floats(form: &Shared) -> bool {
    let name = format!("{form:?}");
    !name.starts_with("PhpMemcache ")
        && !name.starts_with("MemcachedDotNet { primitive_as_string: true")
}

/// Whether a time or null is read as the one written: memcacheddotnet's times have no zone, and text is neither.
fn keeps_times_and_null(form: &Shared) -> bool {
    let name = format!("{form:?}");
    !name.starts_with("MemcachedDotNet ") && !name.contains("primitive_as_string: true")
}

fn check<T>(value: T, forms: impl Fn(&Shared) -> bool) -> Result<(), TestCaseError>
where
    T: ToValue + FromValue + PartialEq + Debug,
{
    for form in FORMS.iter().filter(|form| forms(form)) {
        let stored = match form.encode(value.to_value()) {
            Ok(stored) => stored,
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::Encode, "{:?}", form);
                continue;
            }
        };
        let read = form
            .decode(stored.flags, Cow::Borrowed(&stored.data))
            .and_then(T::from_value);
        match read {
            Ok(read) => prop_assert_eq!(&read, &value, "{:?}", form),
            Err(error) => prop_assert!(false, "{:?}: {} for {:?}", form, error, value),
        }
    }
    Ok(())
}

/// Floats by their bits, so that each NaN is itself.
#[derive(Clone, Copy, Debug)]
struct Float<T>(T);

impl PartialEq for Float<f64> {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || self.0.is_nan() && other.0.is_nan()
    }
}

impl PartialEq for Float<f32> {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || self.0.is_nan() && other.0.is_nan()
    }
}

impl<T: ToValue> ToValue for Float<T> {
    fn to_value(&self) -> Value<'_> {
        self.0.to_value()
    }
}

impl<T: FromValue> FromValue for Float<T> {
    fn from_value(value: Value<'_>) -> sockio::Result<Self> {
        T::from_value(value).map(Float)
    }
}

/// Texts as people write them and as no one does; some long enough for every threshold.
fn text() -> impl Strategy<Value = String> {
    let long =
        ("[ -~é\u{10348}]{1,30}", 1_usize..1_500).prop_map(|(piece, count)| piece.repeat(count));
    let telling = prop::sample::select(vec![
        "",
        "0",
        "1",
        "-1",
        "007",
        "1.5",
        "true",
        "N;",
        "i:1;",
        "null",
        "{}",
        "[1]",
        "\u{0}",
        "\u{1}text",
        "\tx",
        "\u{4}\u{8}i\u{6}",
        "F1.5\n.",
        "9 ",
        " 9",
        "+9",
        "1e5",
        "NaN",
        "Infinity",
        "\u{ac}\u{ed}",
    ]);
    prop_oneof![4 => any::<String>(), 2 => telling.prop_map(String::from), 1 => long]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let long = (prop::collection::vec(any::<u8>(), 1..50), 1_usize..1_000)
        .prop_map(|(piece, count)| piece.repeat(count));
    prop_oneof![4 => prop::collection::vec(any::<u8>(), 0..200), 1 => long, 1 => text().prop_map(String::into_bytes)]
}

proptest! {
    #![proptest_config(inputs(48))]

    #[test]
    fn texts_come_back(value in text()) {
        check(value, |_| true)?;
    }

    #[test]
    fn bytes_come_back(value in bytes()) {
        check(value, |_| true)?;
    }

    #[test]
    fn integers_come_back(short in any::<i8>(), value in any::<i64>(), few in 0_u32..70, above in any::<u64>()) {
        // Of every length.
        let value = value >> few.min(63);
        check(short, |_| true)?;
        check(short as u8, |_| true)?;
        check(value as i16, |_| true)?;
        check(value as u16, |_| true)?;
        check(value as i32, |_| true)?;
        check(value as u32, |_| true)?;
        check(value, |_| true)?;
        check(above >> few.min(63), |_| true)?;
        check(Some(value), |_| true)?;
    }

    #[test]
    fn floats_come_back(value in prop::num::f64::ANY, short in prop::num::f32::ANY, tenths in -1_000_000_i32..1_000_000) {
        check(Float(value), keeps_floats)?;
        check(Float(short), keeps_floats)?;
        check(Float(f64::from(tenths) / 10.0), |_| true)?;
    }

    #[test]
    fn truths_characters_and_times_come_back(truth in any::<bool>(), letter in any::<char>(), millis in -62_000_000_000_000_i64..250_000_000_000_000) {
        check(truth, |_| true)?;
        check(letter, |_| true)?;
        let span = Duration::from_millis(millis.unsigned_abs());
        let time: SystemTime = if millis < 0 { UNIX_EPOCH - span } else { UNIX_EPOCH + span };
        check(time, keeps_times_and_null)?;
        // As text, null is an empty one.
        check(Option::<String>::None, keeps_times_and_null)?;
    }

    /// Whatever flags and bytes are read as, that is written and read as the same.
    #[test]
    fn what_was_read_is_kept(flags in prop_oneof![0_u32..0x20, 0_u32..0x1000, any::<u32>()], data in bytes()) {
        for form in FORMS.iter() {
            let Ok(value) = form.decode(flags, Cow::Borrowed(&data)) else { continue };
            let Ok(stored) = form.encode(value.borrowed()) else { continue };
            let again = form.decode(stored.flags, Cow::Borrowed(&stored.data));
            prop_assert!(again.is_ok(), "{:?}, {:#x}: {:?}", form, flags, again);
        }
    }
}

#[test]
fn every_client_s_form_is_among_them() {
    assert!(FORMS.len() >= 30, "{}", FORMS.len());
    let names: HashSet<String> = FORMS
        .iter()
        .map(|form| {
            format!("{form:?}")
                .split([' ', '('])
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(names.len(), 12, "{names:?}");
}
