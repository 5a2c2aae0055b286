//! Floats as Python, Ruby and Perl write them in decimal. It knows no payload.

/// The exponents that Python and Ruby write out: `1e-05` is below, `1e+16` above.
const PLAIN: std::ops::Range<i32> = -4..16;

/// Perl writes out whole numbers as far as its integers go, 2^64.
const PERL_PLAIN: std::ops::Range<i32> = -4..20;

/// `repr(float)`: `1.0`, `1e+16`, `1.25e-07`, `inf`, `nan`.
pub(super) fn python(float: f64) -> String {
    let Some(parts) = Parts::of(float) else {
        return name(float, ["inf", "-inf", "nan"]);
    };
    match parts.plain(PLAIN) {
        Some(text) => with_point(text),
        None => parts.scientific(),
    }
}

/// `Float#to_s`: `1.0`, `1.0e+16`, `1.25e-07`, `Infinity`, `NaN`.
pub(super) fn ruby(float: f64) -> String {
    let Some(parts) = Parts::of(float) else {
        return name(float, ["Infinity", "-Infinity", "NaN"]);
    };
    match parts.plain(PLAIN) {
        Some(text) => with_point(text),
        None if parts.digits.len() == 1 => parts.scientific().replacen('e', ".0e", 1),
        None => parts.scientific(),
    }
}

/// What `Marshal.dump` writes (Ruby 3.1 `marshal.c`, `w_float`): no more zeros than digits, `1e2` and `123`.
pub(super) fn ruby_marshal(float: f64) -> String {
    let Some(parts) = Parts::of(float) else {
        return name(float, ["inf", "-inf", "nan"]);
    };
    let digits = i32::try_from(parts.digits.len()).unwrap_or(i32::MAX);
    match parts.plain(-4..digits) {
        Some(text) => text,
        None => format!("{}e{}", parts.mantissa(), parts.exponent),
    }
}

/// As Perl shows a number, but with as many digits as it takes, where Perl rounds to 15: `1`, `1e+20`, `1e-05`, `Inf`, `NaN`.
pub(super) fn perl(float: f64) -> String {
    let Some(parts) = Parts::of(float) else {
        return name(float, ["Inf", "-Inf", "NaN"]);
    };
    parts
        .plain(PERL_PLAIN)
        .unwrap_or_else(|| parts.scientific())
}

fn name(float: f64, [infinite, negative, none]: [&str; 3]) -> String {
    let name = if float == f64::INFINITY {
        infinite
    } else if float == f64::NEG_INFINITY {
        negative
    } else {
        none
    };
    name.to_owned()
}

fn with_point(text: String) -> String {
    if text.contains('.') {
        text
    } else {
        text + ".0"
    }
}

/// The shortest digits that read back as the float: `1.25e-7` is the digits `125` and the exponent -7.
struct Parts {
    sign: &'static str,
    digits: String,
    exponent: i32,
}

impl Parts {
    /// `None` for what is no number.
    fn of(float: f64) -> Option<Self> {
        let text = format!("{:e}", float.abs());
        let (mantissa, exponent) = text.split_once('e')?;
        Some(Self {
            sign: if float.is_sign_negative() { "-" } else { "" },
            digits: mantissa.replace('.', ""),
            exponent: exponent.parse().ok()?,
        })
    }

    /// Without an exponent, and without a point in a whole number; `None` if the exponent is out of the range.
    fn plain(&self, range: std::ops::Range<i32>) -> Option<String> {
        let Self {
            sign,
            digits,
            exponent,
        } = self;
        if !range.contains(exponent) {
            return None;
        }
        let Ok(exponent) = usize::try_from(*exponent) else {
            let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
            return Some(format!("{sign}0.{zeros}{digits}"));
        };
        Some(match digits.split_at_checked(exponent + 1) {
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{digits:0<width$}", width = exponent + 1),
        })
    }

    /// With a sign and two digits at least in the exponent.
    fn scientific(&self) -> String {
        format!("{}e{:+03}", self.mantissa(), self.exponent)
    }

    fn mantissa(&self) -> String {
        let (first, rest) = self.digits.split_at(1.min(self.digits.len()));
        let point = if rest.is_empty() { "" } else { "." };
        format!("{}{first}{point}{rest}", self.sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python 3.11, Ruby 3.1 and Perl 5.36; the other two columns are covered by captured rows.
    #[test]
    fn the_border_between_the_forms() {
        for (float, in_python, in_ruby, in_perl) in [
            (
                9_999_999_999_999_998.0,
                "9999999999999998.0",
                "9999999999999998.0",
                "9999999999999998",
            ),
            (1e16, "1e+16", "1.0e+16", "10000000000000000"),
            (1.5e16, "1.5e+16", "1.5e+16", "15000000000000000"),
            (1e20, "1e+20", "1.0e+20", "1e+20"),
            (0.0001, "0.0001", "0.0001", "0.0001"),
            (0.000_099, "9.9e-05", "9.9e-05", "9.9e-05"),
            (-0.0, "-0.0", "-0.0", "-0"),
            (1e-100, "1e-100", "1.0e-100", "1e-100"),
        ] {
            assert_eq!(
                (&*python(float), &*ruby(float), &*perl(float)),
                (in_python, in_ruby, in_perl)
            );
        }
    }
}
