//! The classic text protocol.
