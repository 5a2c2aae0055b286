//! What the crate logs, for tests that look at it. It knows no format but the text of a record.

use std::sync::{Mutex, Once, PoisonError};

use log::{LevelFilter, Log, Metadata, Record};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Memory;

impl Log for Memory {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("{} {}", record.level(), record.args());
        LINES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }

    fn flush(&self) {}
}

/// From here on all tests' records are kept.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Memory).expect("the only logger");
        log::set_max_level(LevelFilter::Debug);
    });
}

/// The lines above `debug` that name a server; each test has servers of its own.
pub(crate) fn about(server: &str) -> Vec<String> {
    let mut lines = all_about(server);
    lines.retain(|line| !line.starts_with("DEBUG"));
    lines
}

/// The lines that name a server.
pub(crate) fn all_about(server: &str) -> Vec<String> {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines
        .iter()
        .filter(|line| line.contains(server))
        .cloned()
        .collect()
}
