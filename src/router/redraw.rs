//! The walks that draw a number of times and stop: most clients'. It does not know why a server failed.

use std::io::Write;

use super::numbered::Numbered;
use super::{FirstChoice, NextServer};

/// What a client makes of the hash before it draws again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Draw {
    /// Adds the hash of number and key.
    Add,
    /// Takes the hash of number and key.
    Anew,
    /// Takes the hash of the last hash and the number, both in decimal.
    Chain,
}

/// May lead to the same server again.
pub(super) struct Redraw<'a> {
    failed: FirstChoice<'a>,
    draw: Draw,
    hash: i64,
    number: u32,
    draws_left: usize,
}

impl<'a> Redraw<'a> {
    /// Numbers the draws from `first` on.
    pub(super) fn new(failed: FirstChoice<'a>, draw: Draw, first: u32, draws: usize) -> Self {
        Self {
            failed,
            draw,
            hash: failed.hash(),
            number: first,
            draws_left: draws,
        }
    }
}

impl NextServer for Redraw<'_> {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        self.draws_left = self.draws_left.checked_sub(1)?;
        let router = self.failed.router();
        let numbered = || {
            let mut numbered = Numbered::new(self.failed.key());
            numbered.set(self.number);
            router.hash(numbered.text())
        };
        self.hash = match self.draw {
            Draw::Add => self.hash.wrapping_add(numbered()),
            Draw::Anew => numbered(),
            Draw::Chain => router.hash(format!("{}{}", self.hash, self.number).as_bytes()),
        };
        self.number = self.number.wrapping_add(1);
        let placement = router.placement();
        Some(placement.server(placement.slot(self.failed.key(), self.hash)))
    }
}

/// pecl-memcache 8 (`memcache_pool.c`, `mmc_pool_find_next`): `key-0`, `key-1`, … until a server comes up that has not failed.
pub(super) struct Suffixed<'a> {
    failed: FirstChoice<'a>,
    tried: Vec<usize>,
    text: Vec<u8>,
    number: usize,
    max_draws: usize,
}

impl<'a> Suffixed<'a> {
    pub(super) fn new(failed: FirstChoice<'a>, max_draws: usize) -> Self {
        Self {
            failed,
            tried: vec![failed.server()],
            text: failed.key().to_vec(),
            number: 0,
            max_draws,
        }
    }
}

impl NextServer for Suffixed<'_> {
    fn next(&mut self, _expired: &mut dyn FnMut() -> bool) -> Option<usize> {
        let router = self.failed.router();
        let key = self.failed.key();
        while self.number < self.max_draws && self.tried.len() < router.servers().len() {
            self.text.truncate(key.len());
            // Writing to a vector does not fail.
            let _ = write!(self.text, "-{}", self.number);
            self.number += 1;
            let server = router.placement().server(router.slot(&self.text));
            if !self.tried.contains(&server) {
                self.tried.push(server);
                return Some(server);
            }
        }
        None
    }
}
