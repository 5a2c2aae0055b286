//! A key with a number before it. It knows no hash.

/// A key with a decimal number before it, counted up in place: a walk may need a million of them.
pub(super) struct Numbered {
    buffer: Vec<u8>,
    start: usize,
}

/// The digits of the largest number.
const DIGITS: usize = 10;

impl Numbered {
    pub(super) fn new(key: &[u8]) -> Self {
        let mut buffer = vec![b'0'; DIGITS];
        buffer.extend_from_slice(key);
        Self {
            buffer,
            start: DIGITS - 1,
        }
    }

    pub(super) fn set(&mut self, mut number: u32) {
        self.start = DIGITS;
        for digit in self.buffer[..DIGITS].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            self.start -= 1;
            if number == 0 {
                break;
            }
        }
    }

    pub(super) fn increment(&mut self) {
        for at in (0..DIGITS).rev() {
            if at < self.start {
                self.buffer[at] = b'0';
                self.start = at;
            }
            if self.buffer[at] < b'9' {
                self.buffer[at] += 1;
                return;
            }
            self.buffer[at] = b'0';
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_key() {
        let mut numbered = Numbered::new(b"key");
        for start in [0, 7, 98, 998, 4_294_967_290] {
            numbered.set(start);
            for number in start..start + 5 {
                assert_eq!(numbered.text(), format!("{number}key").as_bytes());
                numbered.increment();
            }
        }
    }
}
