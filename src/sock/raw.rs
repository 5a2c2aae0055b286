//! Reading a reply whose form only the caller knows.

use super::SockIo;
use crate::error::{Error, Result};
use crate::protocol::Desync;

impl SockIo {
    /// Reads bytes until `end` finds where the reply ends; it sees all of it that has come so far, each time.
    /// At most the longest value's length is read. The connection stays unsettled: nobody knows what it still owes.
    pub(crate) fn receive_raw(
        &mut self,
        mut end: impl FnMut(&[u8]) -> std::result::Result<Option<usize>, Desync>,
    ) -> Result<Vec<u8>> {
        let mut reply = Vec::new();
        loop {
            reply.extend_from_slice(&self.input[self.start..self.end]);
            self.start = self.end;
            match end(&reply) {
                Ok(Some(len)) => {
                    reply.truncate(len);
                    return Ok(reply);
                }
                Ok(None) if reply.len() > self.limits.max_value_len => {
                    let limit = self.limits.max_value_len;
                    return Err(Error::protocol(format!(
                        "a reply of more than {limit} bytes"
                    )));
                }
                Ok(None) => self.fill(1)?,
                Err(desync) => return Err(self.out_of_step(desync)),
            }
        }
    }
}
