//! A small HTTP server that keeps its pages in memcached, and goes on serving while a memcached dies.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sockio::testing::Server;
use sockio::{MemcachedClient, SockIoPool};

/// As many requests are served at a time; the others wait in the listener's queue.
const WORKERS: usize = 4;

/// A longer request is not read.
const MAX_REQUEST: usize = 4096;

const PATIENCE: Duration = Duration::from_secs(5);

/// What all workers share.
struct Site {
    cache: MemcachedClient,
    rendered: AtomicU32,
    ending: AtomicBool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut caches = [Server::start()?, Server::start()?];
    let pool = SockIoPool::builder()
        .servers(caches.iter().map(Server::addr))
        .prefix("page:")
        .build()?;
    // A page can be made again: an error of the cache is a miss, told to the log.
    let cache = MemcachedClient::new(pool)
        .with_timeout(Duration::from_millis(500))
        .degrade(true)
        .on_error(|error| println!("    cache: {error}"));
    let site = Site {
        cache,
        rendered: AtomicU32::new(0),
        ending: AtomicBool::new(false),
    };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let addr = listener.local_addr()?;
    println!("serving http://{addr}/");

    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| serve(&listener, &site));
        }
        let outcome = visit(addr, &site, &mut caches);
        site.ending.store(true, Ordering::Relaxed);
        // A last visitor for each worker, to wake it.
        (0..WORKERS).for_each(|_| drop(TcpStream::connect(addr)));
        outcome
    })
}

fn serve(listener: &TcpListener, site: &Site) {
    while let Ok((stream, _)) = listener.accept() {
        if site.ending.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = answer(stream, site) {
            println!("    a visitor left: {error}");
        }
    }
}

fn answer(mut stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = read_head(&mut stream)?;
    let path = head
        .strip_prefix("GET ")
        .and_then(|rest| rest.split_once(" HTTP/1."));
    let Some((path, _)) = path else {
        return respond(
            &mut stream,
            "400 Bad Request",
            "none",
            "only GET is known\n",
        );
    };
    let (state, page) = page(site, path);
    respond(&mut stream, "200 OK", state, &page)
}

/// The page of a path: from the cache, or made and put there.
fn page(site: &Site, path: &str) -> (&'static str, String) {
    // A path that is no key is an error in spite of `degrade`: such a page is not kept.
    match site.cache.get::<String>(path) {
        Ok(Some(page)) => return ("hit", page),
        Ok(None) => {}
        Err(_) => return ("none", render(site, path)),
    }
    let page = render(site, path);
    let kept = site.cache.set(path, &page, Duration::from_secs(60));
    (
        if matches!(kept, Ok(true)) {
            "miss"
        } else {
            "none"
        },
        page,
    )
}

fn render(site: &Site, path: &str) -> String {
    site.rendered.fetch_add(1, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(5));
    format!("<h1>{}</h1>\n", path.replace('<', "&lt;"))
}

fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut bytes = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut bytes)?;
        if read == 0 || head.len() > MAX_REQUEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&bytes[..read]);
    }
    String::from_utf8(head).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn respond(stream: &mut TcpStream, status: &str, state: &str, page: &str) -> io::Result<()> {
    let len = page.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len}\r\nX-Cache: {state}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())
}

/// Plays the visitors, and says what they saw.
fn visit(addr: SocketAddr, site: &Site, caches: &mut [Server; 2]) -> Result<(), Box<dyn Error>> {
    let first = round("nothing is kept yet", addr, site)?;
    assert_eq!(first, BTreeMap::from([("miss".into(), 40)]));
    let second = round("all is kept", addr, site)?;
    assert_eq!(second, BTreeMap::from([("hit".into(), 40)]));
    caches[0].stop();
    round("a memcached has died", addr, site)?;
    let after = round("its pages are kept by the other", addr, site)?;
    assert_eq!(after, BTreeMap::from([("hit".into(), 40)]));
    caches[0].restart()?;
    let patience = Instant::now() + PATIENCE;
    while site.cache.pool().stats()[0].dead_until.is_some() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(20));
    }
    round("it is back, and empty", addr, site)?;
    let last = round("all is kept again", addr, site)?;
    assert_eq!(last, BTreeMap::from([("hit".into(), 40)]));
    let strange = fetch(addr, &format!("/{}", "x".repeat(300)))?;
    assert_eq!(strange.as_deref(), Some("none"));
    println!("a path that is too long for a key was served all the same");
    Ok(())
}

/// Fetches forty pages and counts how the cache had them.
fn round(what: &str, addr: SocketAddr, site: &Site) -> io::Result<BTreeMap<String, u32>> {
    let (begun, rendered) = (Instant::now(), site.rendered.load(Ordering::Relaxed));
    let mut states = BTreeMap::new();
    for number in 0..40 {
        let state = fetch(addr, &format!("/page/{number}"))?;
        *states.entry(state.unwrap_or_default()).or_default() += 1;
    }
    let rendered = site.rendered.load(Ordering::Relaxed) - rendered;
    println!(
        "{what}: 40 pages in {:.0?}, {rendered} made, {states:?}",
        begun.elapsed()
    );
    Ok(states)
}

/// What the answer's `X-Cache` says; an error if the page was not served.
fn fetch(addr: SocketAddr, path: &str) -> io::Result<Option<String>> {
    let mut stream = TcpStream::connect_timeout(&addr, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {addr}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if !answer.starts_with("HTTP/1.1 200 ") {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let state = answer
        .lines()
        .find_map(|line| line.strip_prefix("X-Cache: "));
    Ok(state.map(str::to_owned))
}
