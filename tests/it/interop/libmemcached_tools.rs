//! libmemcached's own programs: memccp stores files, memccat prints values.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sockio::Compat;

use super::fleet::Fleet;
use super::own::Own;
use super::peer::{Datum, Peer};

const INSTALL: &str = "apt-get install -y libmemcached-tools";

/// Keys in each direction.
const KEYS: usize = 200;

/// They know no distribution but MODULA.
#[test]
fn memccp_and_memccat() {
    let mut fleet = Fleet::start(&[1, 1, 1]);
    let folder = Folder::new();
    let keys: Vec<String> = (0..KEYS).map(|number| format!("file-{number}")).collect();
    let mut counts = [0; 3];
    for hash in ["default", "md5", "crc", "fnv1a-32", "murmur"] {
        fleet.flush();
        let servers = format!("--servers={}", fleet.addrs().join(","));
        let hashing = format!("--hash={}", hash.replace('-', "_"));
        let compat: Compat = format!("libmemcached/modula/{hash}").parse().unwrap();
        let mut own = Own::new(compat, &fleet);
        let like = Datum::Text(String::new());

        for key in &keys {
            std::fs::write(folder.0.join(key), format!("{hash} {key}")).unwrap();
        }
        tool("memccp", &[&servers, &hashing], &keys, &folder.0);
        for key in &keys {
            let expected = Datum::Text(format!("{hash} {key}"));
            assert_eq!(own.get(key, &like), Some(expected), "{hash}");
            let held = fleet.held(key);
            let [held] = held[..] else { panic!("{held:?}") };
            let place = own.client.pool().server_of(key).unwrap();
            assert_eq!(
                place.name(),
                own.client.pool().servers()[held.server].name()
            );
            counts[held.server] += 1;
        }

        fleet.flush();
        for key in &keys {
            assert!(own.set(key, &Datum::Text(format!("own {hash} {key}"))));
        }
        let output = tool("memccat", &[&servers, &hashing], &keys, &folder.0);
        let printed = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<String> = keys.iter().map(|key| format!("own {hash} {key}")).collect();
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{hash}");
    }
    println!("keys by server: {counts:?}");
    assert!(counts.iter().all(|count| *count > KEYS / 2));
}

fn tool(program: &str, options: &[&str], keys: &[String], folder: &Path) -> Output {
    let output = Command::new(program)
        .args(options)
        .args(keys)
        .current_dir(folder)
        .output();
    let output = output.unwrap_or_else(|error| match error.kind() {
        ErrorKind::NotFound => panic!("{program} is missing: {INSTALL}"),
        _ => panic!("{program}: {error}"),
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    output
}

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("sockio-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
