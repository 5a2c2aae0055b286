//! Bytes as they are: the default transcoder.

/// Bytes and text with flags 0, numbers as decimal text.
#[derive(Debug, Clone, Default)]
pub struct Raw;
