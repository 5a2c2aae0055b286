//! What the clones of a pool share: the maintenance thread and its end, and what takes their place after a fork.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};

use crossbeam_channel::{Receiver, Sender};

use super::Inner;
use super::maintenance::{self, Call};
use crate::error::{Error, Result};

/// What the clones share; when the last one goes, the maintenance thread is ended and joined.
pub(super) struct Handle {
    pub(super) inner: Arc<Inner>,
    calls: Sender<Call>,
    thread: Mutex<Option<JoinHandle<()>>>,
    thread_id: Option<ThreadId>,
    /// What a process that was forked off has in place of all this, with locks that no thread of another process holds.
    heir: OnceLock<Box<Handle>>,
}

impl Handle {
    /// Starts the maintenance thread.
    pub(super) fn start(
        inner: Arc<Inner>,
        calls: Sender<Call>,
        heard: Receiver<Call>,
    ) -> Result<Self> {
        let thread = spawn(&inner, heard)?;
        Ok(Self::new(inner, calls, Some(thread)))
    }

    fn new(inner: Arc<Inner>, calls: Sender<Call>, thread: Option<JoinHandle<()>>) -> Self {
        Self {
            inner,
            calls,
            thread_id: thread.as_ref().map(|thread| thread.thread().id()),
            thread: Mutex::new(thread),
            heir: OnceLock::new(),
        }
    }

    /// What this process goes by: this, or, where it was forked off and that has been noticed, its own.
    #[inline]
    pub(super) fn live(&self) -> &Self {
        match self.inner.origin.is_left() {
            false => self,
            true => self.last_heir(),
        }
    }

    /// Notices a fork.
    #[cold]
    pub(super) fn check_process(&self) {
        self.live().inner.origin.check();
    }

    #[cold]
    fn last_heir(&self) -> &Self {
        let mut handle = self;
        while handle.inner.origin.is_left() {
            handle = handle.heir.get_or_init(|| Box::new(handle.succeed()));
        }
        handle
    }

    fn succeed(&self) -> Self {
        self.abandon();
        let (inner, calls, heard) = self.inner.again();
        if self.inner.ended.load(Relaxed) {
            let heir = Self::new(inner, calls, None);
            heir.end();
            return heir;
        }
        let thread = spawn(&inner, heard).inspect_err(|error| log::error!("{error}"));
        if thread.is_err() {
            inner.watch.close();
        }
        Self::new(inner, calls, thread.ok())
    }

    /// Ends the pool, in this process.
    pub(super) fn shut_down(&self) {
        self.inner.ended.store(true, Relaxed);
        self.check_process();
        self.live().end();
    }

    fn end(&self) {
        self.inner.ended.store(true, Relaxed);
        for host in &self.inner.hosts {
            host.close();
        }
        // The last clone may go on the maintenance thread itself, if a logger holds it: it ends without being joined.
        if self.thread_id == Some(thread::current().id()) {
            // A full channel will do: whatever the thread hears next, it sees that this is the end.
            let _ = self.calls.try_send(Call::Stop);
            return;
        }
        // Held while the thread is joined: whoever ends the pool at the same time returns no sooner.
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // Blocks only while a call is in the channel that the thread is about to hear.
            let _ = self.calls.send(Call::Stop);
            if thread.join().is_err() {
                log::error!("the maintenance thread had panicked");
            }
        }
    }

    /// Closes what was inherited and rests. Nothing is sent: the other process still has it.
    fn abandon(&self) {
        for host in &self.inner.hosts {
            host.abandon();
        }
    }
}

fn spawn(inner: &Arc<Inner>, heard: Receiver<Call>) -> Result<JoinHandle<()>> {
    let shared = Arc::clone(inner);
    thread::Builder::new()
        .name("sockio-maint".into())
        .spawn(move || maintenance::run(shared, heard))
        .map_err(|error| {
            Error::config("the maintenance thread could not be started").with_source(error)
        })
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.inner.origin.check() {
            return self.end();
        }
        self.abandon();
        // The thread is not in this process: to wait for it would take for ever, and what detaching would touch may be gone.
        let thread = self.thread.get_mut();
        std::mem::forget(thread.unwrap_or_else(PoisonError::into_inner).take());
    }
}
