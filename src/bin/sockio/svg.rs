//! A picture of how servers share keys: bars, drawn as SVG. It does not know how the keys were counted.

use std::fmt::Write;

use crate::balance::Part;

/// Lengths are in pixels at a scale of 1.
const LINE: usize = 26;
const TOP: usize = 62;
const MARGIN: usize = 16;
const BARS: usize = 420;
/// A character of a monospaced font of 12 px.
const CHARACTER: usize = 8;

/// Longer names are cut: a picture has to fit a page.
const MAX_NAME: usize = 40;

/// One bar per server, and a mark where its weight says that the bar should end.
pub(crate) fn draw(title: &str, parts: &[Part]) -> String {
    let names: Vec<String> = parts.iter().map(|part| shortened(&part.server)).collect();
    let figures: Vec<String> = parts.iter().map(figures).collect();
    let left = 2 * MARGIN + width_of(&names);
    let width = left + BARS + width_of(&figures) + 2 * MARGIN;
    let height = TOP + LINE * parts.len() + MARGIN;
    let longest = parts
        .iter()
        .map(|part| part.share.max(part.expected))
        .fold(f64::MIN_POSITIVE, f64::max);
    let pixels = |share: f64| share / longest * BARS as f64;

    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="{MARGIN}" y="26" font-size="15">{}</text>
<path d="M{} 40v12" stroke="#c0392b" stroke-width="2"/><text x="{}" y="50" fill="#666">expected by weight</text>
"##,
        escaped(title),
        MARGIN + 3,
        MARGIN + 12,
    );
    for (((part, name), figures), line) in parts.iter().zip(&names).zip(&figures).zip(0..) {
        let top = TOP + LINE * line;
        let text = top + 17;
        let (bar, mark) = (pixels(part.share), pixels(part.expected));
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            r##"<text x="{}" y="{text}" text-anchor="end">{}</text>
<rect x="{left}" y="{}" width="{bar:.1}" height="{}" fill="#4a7ab0"/>
<path d="M{:.1} {}v{}" stroke="#c0392b" stroke-width="2"/>
<text x="{:.1}" y="{text}">{figures}</text>
"##,
            left - MARGIN / 2,
            escaped(name),
            top + 4,
            LINE - 8,
            left as f64 + mark,
            top + 1,
            LINE - 2,
            left as f64 + bar.max(mark) + 8.0,
        );
    }
    svg + "</svg>\n"
}

/// What stands behind a bar.
fn figures(part: &Part) -> String {
    let deviation = part.deviation();
    let deviation = deviation.map_or(String::new(), |deviation| format!(" ({deviation})"));
    format!("{:.2} %{deviation}, {} keys", part.share * 100.0, part.keys)
}

/// In pixels.
fn width_of(texts: &[String]) -> usize {
    let characters = texts.iter().map(|text| text.chars().count());
    CHARACTER * characters.max().unwrap_or(0)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MAX_NAME {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME - 1).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(server: &str, keys: u64, share: f64, expected: f64) -> Part {
        Part {
            server: server.to_owned(),
            keys,
            share,
            expected,
        }
    }

    #[test]
    fn bars_and_marks_are_in_proportion() {
        let svg = draw(
            "title",
            &[part("a:1", 3, 0.75, 0.5), part("b:1", 1, 0.25, 0.5)],
        );
        // The longest of bars and marks, 75 %, takes 420 px.
        assert!(svg.contains(r#"width="420.0""#), "{svg}");
        assert!(svg.contains(r#"width="140.0""#), "{svg}");
        let left = 2 * MARGIN + 3 * CHARACTER;
        assert_eq!(svg.matches(&format!("M{}.0 ", left + 280)).count(), 2);
        assert!(svg.contains("75.00 % (+50.00 %), 3 keys"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn names_cannot_break_out_or_run_over() {
        let long = "n".repeat(41);
        let svg = draw(
            "<t>",
            &[part("/a<b>&\"c", 0, 0.0, 0.0), part(&long, 1, 1.0, 1.0)],
        );
        assert!(svg.contains(">/a&lt;b&gt;&amp;&quot;c</text>"), "{svg}");
        assert!(svg.contains(">&lt;t&gt;</text>"), "{svg}");
        assert!(!svg.contains(&long) && svg.contains(&format!("{}…", "n".repeat(39))));
    }
}
