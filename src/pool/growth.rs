//! How many connections to open and to close: the arithmetic of the old pools. Pure.

/// The batches in which a pool grows: 1, 2, 4, 8 … up to a limit, and again from 1 after each maintenance pass.
#[derive(Clone, Debug)]
pub(crate) struct Growth {
    shift: u32,
    max_create: usize,
}

impl Growth {
    pub(crate) fn new(max_create: usize) -> Self {
        Self {
            shift: 0,
            max_create,
        }
    }

    /// The size of the next batch (whalin 1.6 `SockIOPool.java`, `getConnection`: `createShift`).
    pub(crate) fn next_batch(&mut self) -> usize {
        let batch = 1_usize.checked_shl(self.shift).unwrap_or(usize::MAX);
        if batch >= self.max_create {
            return self.max_create;
        }
        self.shift += 1;
        batch
    }

    /// A maintenance pass sets the batch back to one.
    pub(crate) fn reset(&mut self) {
        self.shift = 0;
    }
}

/// The old clients' limit of a batch (whalin 1.6 `SockIOPool.java` and memcacheddotnet `SockIOPool.cs`, `maxCreate`, multiplier 4).
pub(crate) fn old_max_create(min_conn: usize, multiplier: usize) -> usize {
    if multiplier > min_conn {
        min_conn
    } else {
        min_conn / multiplier
    }
}

/// How many of `excess` connections close in one pass (the same files, `selfMaint`: `needToClose`).
pub(crate) fn closing_step(excess: usize, divisor: usize) -> usize {
    if excess <= divisor {
        excess
    } else {
        excess / divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(max_create: usize, count: usize) -> Vec<usize> {
        let mut growth = Growth::new(max_create);
        (0..count).map(|_| growth.next_batch()).collect()
    }

    /// The number of spare connections after each pass.
    fn shrinking(from: usize, to: usize, divisor: usize) -> Vec<usize> {
        let mut spare = vec![from];
        while spare[spare.len() - 1] > to {
            let now = spare[spare.len() - 1];
            spare.push(now - closing_step(now - to, divisor));
        }
        spare
    }

    #[test]
    fn measured_batches() {
        // whalin 1.6, minConn 40: maxCreate 10.
        assert_eq!(batches(10, 11), [1, 2, 4, 8, 10, 10, 10, 10, 10, 10, 10]);
        // memcacheddotnet, MinConnections 3, 8 and 250.
        assert_eq!(batches(old_max_create(3, 4), 4), [1, 2, 3, 3]);
        assert_eq!(batches(old_max_create(8, 4), 4), [1, 2, 2, 2]);
        assert_eq!(
            batches(old_max_create(250, 4), 8),
            [1, 2, 4, 8, 16, 32, 62, 62]
        );
        assert_eq!(batches(32, 8), [1, 2, 4, 8, 16, 32, 32, 32]);
    }

    #[test]
    fn the_old_limit_of_a_batch() {
        let measured = [
            (1, 1),
            (2, 2),
            (3, 3),
            (4, 1),
            (5, 1),
            (6, 1),
            (7, 1),
            (8, 2),
            (10, 2),
            (20, 5),
            (40, 10),
        ];
        for (min_conn, max_create) in measured {
            assert_eq!(
                old_max_create(min_conn, 4),
                max_create,
                "minConn {min_conn}"
            );
        }
    }

    #[test]
    fn measured_shrinking() {
        assert_eq!(
            shrinking(85, 10, 4),
            [85, 67, 53, 43, 35, 29, 25, 22, 19, 17, 16, 15, 14, 10]
        ); // whalin 1.6
        assert_eq!(
            shrinking(80, 10, 3),
            [80, 57, 42, 32, 25, 20, 17, 15, 14, 13, 10]
        ); // whalin 2.x
        assert_eq!(shrinking(30, 10, 4), [30, 25, 22, 19, 17, 16, 15, 14, 10]); // memcacheddotnet
    }

    #[test]
    fn a_pass_starts_the_batches_again() {
        let mut growth = Growth::new(32);
        growth.next_batch();
        growth.next_batch();
        growth.reset();
        assert_eq!(growth.next_batch(), 1);
    }
}
