//! Reads `tests/golden/protocol/transcripts.jsonl`. It knows how the record is written, not how it is replayed.

use std::collections::BTreeMap;

use serde_json::Value;

/// One exchange whose bytes are all known.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
    /// Whether the server ends the connection behind the last step.
    pub(super) closes: bool,
}

pub(super) struct Step {
    pub(super) send: Vec<u8>,
    pub(super) recv: Vec<u8>,
}

/// Rows that tell in words of several connections or of signals.
const NARRATIVES: &[&str] = &[
    "largest_value_1byte_key",
    "server_sigterm_idle",
    "sigstop",
    "pipeline_never_read",
];

/// The rows to replay, in order, and how many were left out for which reason.
pub(super) fn rows(
    claim: impl Fn(&Row) -> Result<(), &'static str>,
) -> (Vec<Row>, BTreeMap<&'static str, usize>) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/protocol/transcripts.jsonl"
    );
    let file = std::fs::read_to_string(path).unwrap();
    let mut rows = Vec::new();
    let mut left_out = BTreeMap::new();
    for line in file.lines() {
        let row =
            read(&serde_json::from_str(line).unwrap()).and_then(|row| claim(&row).map(|()| row));
        match row {
            Ok(row) => rows.push(row),
            Err(why) => *left_out.entry(why).or_insert(0) += 1,
        }
    }
    assert_eq!(rows.len() + left_out.values().sum::<usize>(), 457);
    (rows, left_out)
}

fn read(row: &Value) -> Result<Row, &'static str> {
    let name = row["name"].as_str().unwrap();
    if name.starts_with("bin:") {
        return Err("the binary protocol");
    }
    if row["server_args"] != "" {
        return Err("a server with arguments");
    }
    if NARRATIVES.contains(&name) {
        return Err("a narrative");
    }
    let text = row["steps"].to_string();
    if text.contains("\"STAT ") || text.contains("\"ME ") {
        return Err("statistics and times of the recorded server");
    }
    let steps = row["steps"].as_array().unwrap().iter();
    let steps: Option<Vec<Step>> = steps
        .map(|step| {
            Some(Step {
                send: whole(&step["send"])?,
                recv: whole(&step["recv"])?,
            })
        })
        .collect();
    Ok(Row {
        name: name.to_owned(),
        steps: steps.ok_or("a digest that does not tell the bytes")?,
        closes: row["closes"] == true,
    })
}

/// Text as it is, one character a byte; of a long one head, tail and length were kept, which tell it where it is regular.
fn whole(text: &Value) -> Option<Vec<u8>> {
    if let Some(text) = text.as_str() {
        return Some(bytes(text));
    }
    let (head, tail) = (bytes(text["head"].as_str()?), bytes(text["tail"].as_str()?));
    let len = text["len"].as_u64()? as usize;
    let right =
        |made: &Vec<u8>| made.len() == len && made.starts_with(&head) && made.ends_with(&tail);
    let regular = |bytes: &[u8], period| bytes.windows(period + 1).all(|few| few[0] == few[period]);
    let periodic = (1..=head.len() / 3)
        .filter(|period| regular(&head[head.len() - 3 * period..], *period))
        .map(|period| {
            let missing = len.saturating_sub(head.len() + tail.len());
            let unit = &head[head.len() - period..];
            let filling = unit.iter().cycle().take(missing).copied();
            let mut made: Vec<u8> = head.iter().copied().chain(filling).collect();
            // The tail, but for its very end, goes on where the filling stopped.
            let seam = [&made[made.len() - period..], &tail[..tail.len() / 2]].concat();
            if regular(&seam, period) {
                made.extend_from_slice(&tail);
            }
            made
        });
    let numbered = ["get", "gets", "gat 0"].into_iter().flat_map(|verb| {
        [5, 6].map(|width| {
            let count = (len - verb.len() - 2) / (" key:".len() + width);
            let keys: String = (0..count)
                .map(|key| format!(" key:{key:0width$}"))
                .collect();
            format!("{verb}{keys}\r\n").into_bytes()
        })
    });
    let sets: String = (0..1000)
        .map(|key| format!("set q{key} 0 0 3\r\nval\r\n"))
        .collect();
    let gets: String = (0..5000).map(|key| format!("get q{key}\r\n")).collect();
    let hits: String = (0..1000)
        .map(|key| format!("VALUE q{key} 0 3\r\nval\r\nEND\r\n"))
        .collect();
    let hits = hits + &"END\r\n".repeat(4000);
    periodic
        .chain(numbered)
        .chain([sets.into_bytes(), gets.into_bytes(), hits.into_bytes()])
        .find(right)
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars()
        .map(|byte| u8::try_from(byte).unwrap())
        .collect()
}
