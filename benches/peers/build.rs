//! Compiles the program for libmemcached where its headers, its libraries and a C compiler are there; else it is left out.

use std::path::Path;
use std::process::Command;

fn main() {
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    let program = Path::new(&folder).join("libmemcached");
    println!("cargo:rerun-if-changed=libmemcached.c");
    // Where Debian has it. While it is missing, each build looks again.
    println!("cargo:rerun-if-changed=/usr/include/libmemcached/memcached.h");
    let compiled = Command::new("cc")
        .args(["-O2", "-g1", "-Wall", "-Wextra", "-o"])
        .arg(&program)
        .args([
            "libmemcached.c",
            "-lmemcachedutil",
            "-lmemcached",
            "-pthread",
        ])
        .output()
        .is_ok_and(|output| output.status.success());
    if compiled {
        println!("cargo:rustc-env=LIBMEMCACHED_PROGRAM={}", program.display());
    }
}
