//! The option that names a form of values, and payloads from arguments and standard input. It does not know what they mean.

use std::io::{self, Read};
use std::str::FromStr;
use std::sync::Arc;

use sockio::codec::{PhpMemcached, Transcoder};
use sockio::{Compat, Error};

use crate::escape;
use crate::failure::{Failure, Result};

/// How a client stores values.
#[derive(Clone, Debug)]
pub(crate) struct Form(pub(crate) Arc<dyn Transcoder>);

/// The values of PHP's `Memcached` class. The rows of the table are libmemcached's, which has no values of its own.
const PHP_MEMCACHED: &str = "php-memcached";

/// A longer payload is refused: the largest item that the library takes by default.
const MAX_PAYLOAD: usize = 128 << 20;

impl FromStr for Form {
    type Err = Error;

    /// A name of the table, or a client's alone: the algorithm says nothing about values.
    fn from_str(name: &str) -> std::result::Result<Self, Error> {
        if name == PHP_MEMCACHED {
            return Ok(Form(Arc::new(PhpMemcached::new())));
        }
        let of_client = Compat::all()
            .into_iter()
            .find(|compat| compat.client() == name);
        let compat = of_client.map_or_else(|| name.parse(), Ok)?;
        Ok(Form(compat.transcoder()))
    }
}

/// Standard input to its end; as hex digits if `hex`.
pub(crate) fn read_payload(hex: bool) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Two digits and a blank for each byte.
    let limit = MAX_PAYLOAD * if hex { 3 } else { 1 };
    io::stdin()
        .lock()
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(Failure::new(format!(
            "standard input is longer than {MAX_PAYLOAD} bytes"
        )));
    }
    payload(bytes, hex)
}

/// The bytes; as hex digits if `hex`.
pub(crate) fn payload(bytes: Vec<u8>, hex: bool) -> Result<Vec<u8>> {
    if !hex {
        return Ok(bytes);
    }
    escape::unhex(&bytes).ok_or_else(|| Failure::new("--hex: these are not pairs of hex digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_goes_by_the_client() {
        let name = |name: &str| format!("{:?}", name.parse::<Form>().unwrap());
        assert_eq!(name("whalin"), name("whalin/native"));
        assert_ne!(name("whalin"), name("whalin-1"));
        assert!(name("php-memcached").contains("PhpMemcached"));
        assert!("whalin/nat".parse::<Form>().is_err());
    }
}
