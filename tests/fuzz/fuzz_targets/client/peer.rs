//! The other end of the client under test: a unix socket whose thread answers with the fuzzer's bytes. It knows no client.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// After an answer a client that has got what it wanted comes with its next request by then; one that waits for more hears the end.
const LULL: Duration = Duration::from_millis(1);

/// The key whose request is always answered as it should be.
pub(crate) const PROBE: &str = "probe";

pub(crate) struct Peer {
    path: PathBuf,
    plan: Arc<Mutex<Plan>>,
}

#[derive(Default)]
struct Plan {
    answer: Vec<u8>,
    /// Where the answer is sent in two writes.
    cut: Option<usize>,
    /// Says nothing more behind the answer, and does not close either.
    stalls: bool,
    probe: String,
    seen: Seen,
}

/// What came in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    connections: usize,
    /// How many requests were answered with the fuzzer's bytes, and by which connection the last.
    pub(crate) answered: usize,
    answered_by: usize,
    /// By which connection the probe came.
    probed_by: usize,
}

impl Seen {
    /// Whether the probe came by the connection that had brought the answer.
    pub(crate) fn was_reused(&self) -> bool {
        self.answered > 0 && self.answered_by == self.probed_by
    }
}

impl Peer {
    pub(crate) fn start() -> Self {
        let path = std::env::temp_dir().join(format!("sockio-fuzz-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).expect("a socket");
        let plan = Arc::new(Mutex::new(Plan::default()));
        let shared = Arc::clone(&plan);
        thread::spawn(move || {
            for stream in listener.incoming() {
                lock(&shared).seen.connections += 1;
                let _ = serve(stream.expect("a connection"), &shared);
            }
        });
        Self { path, plan }
    }

    pub(crate) fn addr(&self) -> &str {
        self.path.to_str().expect("a plain path")
    }

    /// What is answered from now on; `probe` is the value of [`PROBE`].
    pub(crate) fn plan(&self, answer: &[u8], cut: Option<usize>, stalls: bool, probe: &str) {
        *lock(&self.plan) = Plan {
            answer: answer.to_vec(),
            cut,
            stalls,
            probe: probe.to_owned(),
            seen: Seen::default(),
        };
    }

    pub(crate) fn seen(&self) -> Seen {
        lock(&self.plan).seen
    }
}

fn lock(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().expect("the plan")
}

/// One connection to its end. Each request of the client comes in one write, and so in one read.
fn serve(mut stream: UnixStream, plan: &Mutex<Plan>) -> std::io::Result<()> {
    let mut request = [0; 64 * 1024];
    let mut ended = false;
    loop {
        let read = match stream.read(&mut request) {
            Ok(0) => return Ok(()),
            Ok(read) => &request[..read],
            Err(_) if !ended => {
                stream.shutdown(Shutdown::Write)?;
                stream.set_read_timeout(None)?;
                ended = true;
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut plan = lock(plan);
        let now = plan.seen.connections;
        if read == format!("get {PROBE}\r\n").as_bytes() {
            plan.seen.probed_by = now;
            let (len, value) = (plan.probe.len(), &plan.probe);
            stream.write_all(format!("VALUE {PROBE} 0 {len}\r\n{value}\r\nEND\r\n").as_bytes())?;
            continue;
        }
        plan.seen.answered += 1;
        plan.seen.answered_by = now;
        let (head, tail) = plan.answer.split_at(plan.cut.unwrap_or(plan.answer.len()));
        stream.write_all(head)?;
        if !tail.is_empty() {
            thread::yield_now();
            stream.write_all(tail)?;
        }
        let lull = (!plan.stalls).then_some(LULL);
        drop(plan);
        stream.set_read_timeout(lull)?;
    }
}
