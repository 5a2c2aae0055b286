//! What a process that was started by this one gets of its connections.

use std::process::{Command, Stdio};

use super::{client, real, text};

/// fork-01 (php-memcached-dev/php-memcached#195, #128, arthurnn/memcached#170, petergoldstein/dalli#440): another process had the
/// same sockets, and took the answers or ended the connection. Here one that executes another program.
#[cfg(target_os = "linux")]
#[test]
fn another_program_inherits_no_connection() {
    let (server, first) = real(&[]);
    let pool = sockio::SockIoPool::builder().servers([server.addr()]);
    let client = client(pool.initial_conn(5));
    let sockets = |listing: &str| listing.matches("socket:").count();
    let list = |process: &str| {
        let mut command = Command::new("ls");
        command.args(["-l", &format!("/proc/{process}/fd")]);
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    // This process has them, the one that lists itself does not.
    let own = std::process::id().to_string();
    assert!(sockets(&list(&own)) >= 6);
    assert_eq!(sockets(&list("self")), 0);
    assert_eq!((text(&first, "k"), text(&client, "k")), (None, None));
}
