//! The table itself: one row per client and algorithm, grouped by client.

use super::row::Family::{Whalin, Whalin1};
use super::row::Row;
use crate::hash::Hash;
use crate::key::KeyTransform::UrlEncode;
use crate::router::{Spread, Walk};

pub(super) const GROUPS: &[&[Row]] = &[WHALIN, WHALIN_1];

pub(super) const DEFAULT: &Row = &WHALIN[3];

type Parts = (Hash, Spread, Walk);

const JAVA_NATIVE: Parts = (Hash::JavaString, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_OLD: Parts = (Hash::OldCompat, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_NEW: Parts = (Hash::NewCompat, Spread::JavaBuckets, Walk::RehashServers);
const JAVA_RING: Parts = (Hash::Md5, Spread::WhalinRing, Walk::RehashServers);

#[rustfmt::skip]
const WHALIN: &[Row] = &[
    Row::new(Whalin, "whalin/native", JAVA_NATIVE, "Java client 2.x and 3.x, NATIVE_HASH (its default), sanitizing off"),
    Row::new(Whalin, "whalin/old-compat", JAVA_OLD, "Java client 2.x and 3.x, OLD_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/new-compat", JAVA_NEW, "Java client 2.x and 3.x, NEW_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/consistent", JAVA_RING, "Java client 2.x and 3.x, CONSISTENT_HASH, sanitizing off"),
    Row::new(Whalin, "whalin/native+sanitize", JAVA_NATIVE, "the same as whalin/native, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/old-compat+sanitize", JAVA_OLD, "the same as whalin/old-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/new-compat+sanitize", JAVA_NEW, "the same as whalin/new-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin, "whalin/consistent+sanitize", JAVA_RING, "the same as whalin/consistent, keys URL-encoded (its default)").keys(UrlEncode),
];

const JAVA_1_NATIVE: Parts = (Hash::JavaString, Spread::JavaBuckets, Walk::RehashBuckets);
const JAVA_1_OLD: Parts = (Hash::OldCompat32, Spread::JavaBuckets, Walk::RehashBuckets);
const JAVA_1_NEW: Parts = (Hash::NewCompat, Spread::JavaBuckets, Walk::RehashBuckets);

#[rustfmt::skip]
const WHALIN_1: &[Row] = &[
    Row::new(Whalin1, "whalin-1/native", JAVA_1_NATIVE, "Java client 1.x, NATIVE_HASH (its default), sanitizing off"),
    Row::new(Whalin1, "whalin-1/old-compat", JAVA_1_OLD, "Java client 1.x, OLD_COMPAT_HASH in 32 bits, sanitizing off"),
    Row::new(Whalin1, "whalin-1/new-compat", JAVA_1_NEW, "Java client 1.x, NEW_COMPAT_HASH, sanitizing off"),
    Row::new(Whalin1, "whalin-1/native+sanitize", JAVA_1_NATIVE, "the same as whalin-1/native, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin1, "whalin-1/old-compat+sanitize", JAVA_1_OLD, "the same as whalin-1/old-compat, keys URL-encoded (its default)").keys(UrlEncode),
    Row::new(Whalin1, "whalin-1/new-compat+sanitize", JAVA_1_NEW, "the same as whalin-1/new-compat, keys URL-encoded (its default)").keys(UrlEncode),
];
