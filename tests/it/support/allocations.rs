//! What each thread asks of the heap: the tests' allocator counts, so that a cost or a hostile length cannot hide.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

/// What a thread has asked for since it last [`begin`](begin)s to count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Asked {
    /// New blocks, and those that grew or shrank.
    pub(crate) times: usize,
    /// The bytes of them all.
    pub(crate) bytes: usize,
    /// The largest block.
    pub(crate) largest: usize,
}

const NOTHING: Asked = Asked {
    times: 0,
    bytes: 0,
    largest: 0,
};

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(NOTHING) };
}

/// Counts from nothing, on this thread.
pub(crate) fn begin() {
    ASKED.set(NOTHING);
}

/// What this thread has asked for since it began.
pub(crate) fn asked() -> Asked {
    ASKED.get()
}

fn note(size: usize) {
    // A thread that ends has no count any more.
    let _ = ASKED.try_with(|asked| {
        let so_far = asked.get();
        asked.set(Asked {
            times: so_far.times + 1,
            bytes: so_far.bytes + size,
            largest: so_far.largest.max(size),
        });
    });
}

// SAFETY: each call goes on to the system's allocator as it came; the count allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[test]
fn what_a_thread_asks_for_is_counted() {
    begin();
    let block = Vec::<u8>::with_capacity(1000);
    let zeros = vec![0_u8; 3000];
    let asked = asked();
    assert_eq!((asked.times, asked.bytes, asked.largest), (2, 4000, 3000));
    assert!(block.capacity() + zeros.len() >= 4000);
    // Dropped blocks and other threads count for nothing.
    drop((block, zeros));
    std::thread::spawn(|| vec![0_u8; 100]).join().unwrap();
    assert!(super::allocations::asked().bytes < 4000 + 1000);
}
