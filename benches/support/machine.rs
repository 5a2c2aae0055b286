//! The day and the kind of machine, in words: figures without them say little.

use std::fs;
use std::io;
use std::process::Command;
use std::thread;

/// One sentence.
pub(crate) fn describe() -> io::Result<String> {
    let date = first_line("date", &["-u", "+%F"])?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let kernel = kernel.split(['-', '+', '\n']).next().unwrap_or_default();
    let cores = thread::available_parallelism()?;
    let memcached = first_line("memcached", &["-V"])?;
    let compiler = first_line("rustc", &["-V"])?;
    let compiler = compiler.split(' ').nth(1).unwrap_or_default();
    let model = model()?;
    Ok(format!(
        "Taken {date}: {cores} cores ({model}), Linux {kernel}, Rust {compiler}, {memcached} on the same machine, TCP over the loopback."
    ))
}

/// The processes that wanted to run in the last minute, five and fifteen.
pub(crate) fn load() -> io::Result<String> {
    let load = fs::read_to_string("/proc/loadavg")?;
    Ok(load.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

/// Of the processor, as it calls itself.
fn model() -> io::Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let mut lines = text.lines().filter(|line| line.starts_with("model name"));
    let name = lines.next().and_then(|line| line.split_once(':'));
    Ok(name
        .map_or(std::env::consts::ARCH, |(_, name)| name.trim())
        .to_owned())
}

fn first_line(program: &str, args: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(args).output();
    let output =
        output.map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
