//! Text to be compressed.

/// 100 KiB.
pub(crate) const LEN: usize = 100 << 10;

/// Real text, since made-up words compress neither as well nor as fast: the pages of this crate's documentation.
const TEXT: &str = concat!(
    include_str!("../../README.md"),
    include_str!("../../src/lib.rs"),
    include_str!("../../src/compat/table.md"),
    include_str!("../../src/porting/whalin.rs"),
    include_str!("../../src/porting/memcacheddotnet.rs"),
    include_str!("../../src/porting/php_memcached.rs"),
    include_str!("../../src/porting/pecl_memcache.rs"),
    include_str!("../../src/porting/enyim.rs"),
    include_str!("../../src/pool/config/limits.rs"),
);

/// The first [`LEN`] bytes of it.
pub(crate) fn text() -> std::io::Result<&'static [u8]> {
    let text = TEXT.as_bytes().get(..LEN);
    text.ok_or_else(|| std::io::Error::other("the text is too short"))
}
