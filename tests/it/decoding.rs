//! Values that are not what they say: lengths that lie, bombs, damage of every kind. Each is an error that costs little, no miss, and
//! the connection stays where the reply was whole.

use std::borrow::Cow;
use std::time::Duration;

use sockio::codec::{
    Compression, Dalli, PerlCacheMemcached, PhpCompression, PhpMemcache, PhpMemcached, Pylibmc,
    Pymemcache, PythonMemcached, Raw, Spymemcached, Transcoder, Value, Whalin,
};
use sockio::{Error, ErrorKind, Expiry, FromValue, MemcachedClient, SockIoPool};

use crate::support::RealServer;
use crate::support::allocations::{self, Asked};
use crate::support::fake::{Act, Fake};

const NEVER: Expiry = Expiry::never();
const MIB: usize = 1 << 20;

/// What a call may ask of the heap besides the value: buffers, the state of an inflater, messages.
const BESIDES: usize = 128 * 1024;

/// Runs `call` and tells what it asked of the heap.
fn counted<R>(call: impl FnOnce() -> R) -> (R, Asked) {
    allocations::begin();
    let answer = call();
    (answer, allocations::asked())
}

#[track_caller]
fn assert_kind<T>(answer: Result<T, Error>, kind: ErrorKind) -> Error {
    let error = answer.err().expect("no value");
    assert_eq!(error.kind(), kind, "{error}");
    error
}

fn client(fake: &Fake, max_value_len: usize, combine: bool) -> MemcachedClient {
    let pool = SockIoPool::builder()
        .servers([fake.addr()])
        .max_conn(1)
        .max_value_len(max_value_len)
        .operation_timeout(Duration::from_secs(30))
        .combine(combine);
    MemcachedClient::new(pool.build().unwrap())
}

/// Every call that reads a value of `k`, whose head may have a cas token.
const READS: [(fn(&MemcachedClient) -> Result<bool, Error>, bool); 8] = [
    (|c| c.get::<Vec<u8>>("k").map(|v| v.is_some()), false),
    (|c| c.gets::<Vec<u8>>("k").map(|v| v.is_some()), true),
    (|c| c.get_raw("k").map(|v| v.is_some()), true),
    (
        |c| c.get_into("k", &mut Vec::new()).map(|v| v.is_some()),
        false,
    ),
    (|c| c.get_with("k", |_, _| ()).map(|v| v.is_some()), false),
    (
        |c| c.get_and_touch::<Vec<u8>>("k", NEVER).map(|v| v.is_some()),
        false,
    ),
    (
        |c| c.gets_and_touch::<Vec<u8>>("k", NEVER).map(|v| v.is_some()),
        true,
    ),
    (
        |c| {
            let found = c.get_multi::<Vec<u8>, _>(["k", "l"])?.into_complete()?;
            Ok(found.iter().any(|(_, value)| value.is_some()))
        },
        false,
    ),
];

#[test]
fn a_length_over_the_limit_is_refused_before_anything_is_reserved() {
    let limit = 3 * MIB;
    for combine in [false, true] {
        for announced in [limit + 1, 1 << 40, usize::MAX] {
            let replies = READS.map(|(_, cas)| {
                let cas = if cas { " 1" } else { "" };
                let reply = format!("VALUE k 0 {announced}{cas}\r\nxxxxxxxxxxxxxxxxxxxxxxxx");
                vec![Act::Request, Act::Send(reply.into())]
            });
            let fake = Fake::new(replies.to_vec());
            let client = client(&fake, limit, combine);
            for (number, (read, _)) in READS.iter().enumerate() {
                let (answer, asked) = counted(|| read(&client));
                assert_kind(answer, ErrorKind::Protocol);
                assert!(asked.bytes < BESIDES, "{asked:?} for {announced}");
                // Each ends its connection: nobody knows where such a value ends.
                assert_eq!(fake.seen()[number].requests.len(), 1);
            }
        }
    }
}

#[test]
fn a_length_that_lies_costs_no_more_than_is_believed_at_once() {
    let limit = 100 * MIB;
    for combine in [false, true] {
        let replies = READS.map(|(_, cas)| {
            let cas = if cas { " 1" } else { "" };
            let reply = format!("VALUE k 0 {limit}{cas}\r\nnot so many");
            vec![Act::Request, Act::Send(reply.into()), Act::Fin]
        });
        let fake = Fake::new(replies.to_vec());
        let client = client(&fake, limit, combine);
        for (read, _) in READS {
            let (answer, asked) = counted(|| read(&client));
            assert_kind(answer, ErrorKind::Connection);
            assert!(asked.bytes <= MIB + BESIDES, "{asked:?}");
        }
    }
}

#[test]
fn a_long_value_takes_no_more_room_than_its_length() {
    let value = vec![b'v'; 5 * MIB + 12_345];
    let reply = [
        format!("VALUE k 0 {}\r\n", value.len()).as_bytes(),
        &value,
        b"\r\nEND\r\n",
    ]
    .concat();
    for combine in [false, true] {
        let once = [Act::Request, Act::Send(reply.clone())];
        let fake = Fake::new(vec![[once.clone(), once].concat()]);
        let client = client(&fake, 6 * MIB, combine);
        for _ in 0..2 {
            let (found, asked) = counted(|| client.get_with("k", |found, _| found == value));
            assert_eq!(found.unwrap(), Some(true));
            assert!(asked.largest <= value.len(), "{asked:?}");
        }
        assert_eq!(fake.connections(), 1);
    }
}

/// Statistics are counted by what they take in memory: lines without a text take some as well.
#[test]
fn statistics_that_do_not_end_are_ended() {
    let line = b"ITEM \r\n";
    let reply = line.repeat(16 * MIB / size_of::<(String, String)>() + 2);
    let fake = Fake::new(vec![vec![Act::Request, Act::Send(reply)]]);
    let client = client(&fake, MIB, false);
    let (answers, asked) = counted(|| client.stats(None).unwrap());
    let (_, answer) = answers.into_iter().next().unwrap();
    let error = assert_kind(answer, ErrorKind::Protocol);
    assert!(error.to_string().contains("do not end"), "{error}");
    // A vector that doubles has asked for twice its room.
    assert!(asked.largest <= 2 * 16 * MIB, "{asked:?}");
}

type Limited = fn(usize) -> Box<dyn Transcoder>;

fn compression(limit: usize) -> Compression {
    let all = Compression::new().threshold(0).level(1);
    all.max_inflated(limit)
}

/// All that compress, with a limit for inflated values; the flag that says compressed.
const COMPRESSING: [(&str, u32, Limited); 12] = [
    ("raw, gzip", 2, |limit| {
        Box::new(Raw::new().compression(compression(limit)))
    }),
    ("whalin 2.x, gzip", 2, |limit| {
        Box::new(Whalin::v2().compression(compression(limit)))
    }),
    ("memcacheddotnet, gzip", 2, |limit| {
        Box::new(sockio::codec::MemcachedDotNet::new().compression(compression(limit)))
    }),
    ("spymemcached, gzip", 2, |limit| {
        Box::new(Spymemcached::new().compression(compression(limit)))
    }),
    ("dalli, zlib", 2, |limit| {
        Box::new(Dalli::new().compression(compression(limit)))
    }),
    ("dalli, gzip", 2, |limit| {
        Box::new(Dalli::new().gzip(true).compression(compression(limit)))
    }),
    ("pylibmc, zlib", 8, |limit| {
        Box::new(Pylibmc::new().compression(compression(limit)))
    }),
    ("python-memcached, zlib", 8, |limit| {
        Box::new(PythonMemcached::new().compression(compression(limit)))
    }),
    ("pymemcache, zlib", 8, |limit| {
        Box::new(Pymemcache::new().compression(compression(limit)))
    }),
    ("perl, gzip", 2, |limit| {
        Box::new(PerlCacheMemcached::new().compression(compression(limit)))
    }),
    ("pecl memcache, zlib", 2, |limit| {
        Box::new(
            PhpMemcache::new()
                .compress_threshold(Some(0))
                .max_inflated(limit),
        )
    }),
    ("php-memcached, zlib", 0x30, |limit| {
        let coder = PhpMemcached::new().compression(Some(PhpCompression::Zlib));
        Box::new(coder.compression_threshold(0).max_inflated(limit))
    }),
];

const FASTLZ: (&str, u32, Limited) = ("php-memcached, FastLZ", 0x50, |limit| {
    let coder = PhpMemcached::new().compression(Some(PhpCompression::FastLz));
    Box::new(coder.compression_threshold(0).max_inflated(limit))
});

/// The flags and the payload of `data`, compressed.
fn packed(name: &str, flag: u32, coder: &dyn Transcoder, data: &[u8]) -> (u32, Vec<u8>) {
    let packed = coder.encode(Value::from(data)).unwrap();
    assert_eq!(packed.flags & flag, flag, "{name}");
    (packed.flags, packed.data.into_owned())
}

fn read(coder: &dyn Transcoder, flags: u32, data: &[u8]) -> Result<Vec<u8>, Error> {
    coder
        .decode(flags, Cow::Borrowed(data))
        .and_then(Vec::from_value)
}

#[test]
fn a_bomb_costs_no_more_than_the_limit() {
    let bomb = vec![0; 3 * MIB];
    for (name, flag, limited) in COMPRESSING.into_iter().chain([FASTLZ]) {
        let (flags, stored) = packed(name, flag, &*limited(usize::MAX), &bomb);
        assert!(stored.len() < 50_000, "{name}: {}", stored.len());
        for limit in [
            0,
            1,
            100,
            4_095,
            4_096,
            65_537,
            MIB,
            MIB + MIB / 2,
            2 * MIB,
            bomb.len() - 1,
        ] {
            let coder = limited(limit);
            let (answer, asked) = counted(|| coder.decode(flags, Cow::Borrowed(&stored)).map(drop));
            let error = assert_kind(answer, ErrorKind::Decode);
            assert!(error.to_string().contains(&limit.to_string()), "{error}");
            // Room doubles, up to one byte over the limit, which shows that there is more.
            assert!(
                asked.largest <= limit.max(BESIDES) + 1,
                "{name}: {asked:?} for {limit}"
            );
            assert!(
                asked.bytes <= 3 * (limit + 1) + BESIDES,
                "{name}: {asked:?} for {limit}"
            );
        }
        // A type mark or a length of the form may be part of what was packed.
        let coder = limited(bomb.len() + 100);
        let (answer, asked) = counted(|| read(&*coder, flags, &stored));
        assert!(answer.unwrap() == bomb, "{name}");
        assert!(
            asked.largest <= bomb.len() + 101,
            "{name}: {asked:?} for the whole"
        );
    }
}

/// A FastLZ stream that begins as announced, and goes on: 255 bytes more from each byte.
#[test]
fn a_fastlz_bomb_stops_at_what_is_announced() {
    let stream = [&b"\x20a\xe0"[..], &[255; 100_000], b"\0\0"].concat();
    for announced in [1, 4_096, MIB, MIB + MIB / 2, 3 * MIB] {
        let stored = [&(announced as u32).to_le_bytes()[..], &stream].concat();
        let coder = PhpMemcached::new().max_inflated(4 * MIB);
        let (answer, asked) = counted(|| coder.decode(0x50, Cow::Borrowed(&stored)).map(drop));
        assert_kind(answer, ErrorKind::Decode);
        assert!(asked.largest <= announced.max(BESIDES), "{asked:?}");
    }
    // A true length costs no more than itself, in many small steps too.
    let literals = [&[31][..], &[b'x'; 32]].concat();
    let announced = MIB + MIB / 2;
    let stored = [
        &(announced as u32).to_le_bytes()[..],
        &literals.repeat(announced / 32),
    ]
    .concat();
    let (value, asked) = counted(|| read(&PhpMemcached::new(), 0x50, &stored));
    assert_eq!(value.unwrap().len(), announced);
    assert!(asked.largest <= announced, "{asked:?}");
}

/// Words enough for literals, matches and a dynamic block: about 200 bytes when packed.
fn sample() -> Vec<u8> {
    let rows = (0..60_u32).map(|n| format!("row {} of {};", n * n, n % 7));
    rows.collect::<String>().into_bytes()
}

#[test]
fn truncated_and_trailing_data_are_errors() {
    let data = sample();
    for (name, flag, limited) in COMPRESSING.into_iter().chain([FASTLZ]) {
        let coder = limited(MIB);
        let (flags, stored) = packed(name, flag, &*coder, &data);
        assert!((150..500).contains(&stored.len()), "{}", stored.len());
        assert_eq!(read(&*coder, flags, &stored).unwrap(), data, "{name}");
        for end in 0..stored.len() {
            assert_kind(read(&*coder, flags, &stored[..end]), ErrorKind::Decode);
        }
        for tail in [&b"\0"[..], b"\x1f", b"\r\n", &stored] {
            let longer = [&stored, tail].concat();
            assert_kind(read(&*coder, flags, &longer), ErrorKind::Decode);
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_says_nothing() {
    let data = sample();
    // gzip, zlib, and the two with a frame of their own.
    for (name, flag, limited) in [0, 4, 10, 11].map(|at| COMPRESSING[at]) {
        let coder = limited(MIB);
        let (flags, mut stored) = packed(name, flag, &*coder, &data);
        let mut accepted = 0;
        for bit in 0..stored.len() * 8 {
            stored[bit / 8] ^= 1 << (bit % 8);
            match read(&*coder, flags, &stored) {
                Ok(read) => {
                    assert!(read == data, "{name}: bit {bit} changes the value");
                    accepted += 1;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Decode),
            }
            stored[bit / 8] ^= 1 << (bit % 8);
        }
        // Of a gzip header 49 bits say nothing of the content, and up to 7 fill the last byte of a stream.
        assert!(accepted <= 49 + 7, "{name}: {accepted}");
    }
    // FastLZ has no checksum: what is read has the length announced.
    let (name, flag, limited) = FASTLZ;
    let coder = limited(MIB);
    let (flags, mut stored) = packed(name, flag, &*coder, &data);
    for bit in 32..stored.len() * 8 {
        stored[bit / 8] ^= 1 << (bit % 8);
        match read(&*coder, flags, &stored) {
            Ok(read) => assert_eq!(read.len(), data.len()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Decode),
        }
        stored[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn what_is_announced_is_what_must_come() {
    let data = sample();
    let zlib = COMPRESSING[11];
    for (name, flag, limited) in [zlib, FASTLZ] {
        let coder = limited(MIB);
        let (flags, stored) = packed(name, flag, &*coder, &data);
        let (len, stream) = stored.split_first_chunk().unwrap();
        assert_eq!(u32::from_le_bytes(*len) as usize, data.len(), "{name}");
        let limit = MIB as u32;
        let len = data.len() as u32;
        for announced in [0, 1, len - 1, len + 1, limit, limit + 1, u32::MAX] {
            let stored = [&announced.to_le_bytes()[..], stream].concat();
            let (answer, asked) = counted(|| read(&*coder, flags, &stored));
            assert_kind(answer, ErrorKind::Decode);
            assert!(asked.bytes <= MIB + BESIDES, "{name}: {asked:?}");
        }
        for short in 0..4 {
            assert_kind(read(&*coder, flags, &stored[..short]), ErrorKind::Decode);
        }
    }
    // The length at the end of a gzip member.
    let (name, flag, limited) = COMPRESSING[0];
    let coder = limited(MIB);
    let (flags, mut stored) = packed(name, flag, &*coder, &data);
    let end = stored.len() - 4;
    for announced in [0, data.len() as u32 + 1, u32::MAX] {
        stored[end..].copy_from_slice(&announced.to_le_bytes());
        assert_kind(read(&*coder, flags, &stored), ErrorKind::Decode);
    }
}

/// What one form packed is no value under the flag of another one, and what was not packed is none under any.
#[test]
fn a_flag_that_says_compressed_is_believed_by_nobody_without_a_look() {
    let forms = [0, 4, 6, 10, 11]
        .map(|at| COMPRESSING[at])
        .into_iter()
        .chain([FASTLZ]);
    let forms: Vec<_> = forms.collect();
    let mut wrong = 0;
    for (name, flag, limited) in &forms {
        let (_, stored) = packed(name, *flag, &*limited(MIB), &sample());
        for (other, flag, limited) in &forms {
            let coder = limited(MIB);
            let same = name.rsplit(' ').next() == other.rsplit(' ').next();
            let headed = name.starts_with("php-memcached") || other.starts_with("php-memcached");
            // Dalli tells gzip and zlib apart by their first bytes.
            let both = other.starts_with("dalli") && !name.starts_with("php-memcached");
            if name == other || same && !headed || both {
                continue;
            }
            assert_kind(read(&*coder, *flag, &stored), ErrorKind::Decode);
            wrong += 1;
        }
    }
    assert!(wrong >= 18, "{wrong}");
    for (name, flag, limited) in COMPRESSING.into_iter().chain([FASTLZ]) {
        for plain in [&b""[..], b"x", b"plain text, long enough to have a header"] {
            let error = assert_kind(read(&*limited(MIB), flag, plain), ErrorKind::Decode);
            assert!(!error.to_string().contains("plain text"), "{name}: {error}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_no_miss_stays_stored_and_keeps_the_connection() {
    let server = RealServer::start(&[]);
    let pool = SockIoPool::builder().servers([server.addr()]);
    let client = MemcachedClient::new(pool.max_conn(1).build().unwrap());
    let reader = client
        .clone()
        .with_transcoder(Raw::new().compression(compression(MIB)));
    let (_, bomb) = packed("raw", 2, &*COMPRESSING[0].2(MIB), &vec![0; 2 * MIB]);
    let long = vec![b'x'; 100_000];
    let damaged: [(&str, u32, &[u8]); 5] = [
        ("plain", 2, b"not compressed"),
        ("empty", 2, b""),
        ("long", 2, &long),
        ("bomb", 2, &bomb),
        ("flags", 4, b"of another client"),
    ];
    for (key, flags, bytes) in damaged {
        assert!(client.set_raw(key, bytes, flags, NEVER).unwrap());
    }
    assert!(client.set("good", "value", NEVER).unwrap());
    for (key, flags, bytes) in damaged {
        assert_kind(reader.get::<Vec<u8>>(key), ErrorKind::Decode);
        assert_kind(reader.gets::<Vec<u8>>(key), ErrorKind::Decode);
        assert_kind(
            reader.get_and_touch::<Vec<u8>>(key, NEVER),
            ErrorKind::Decode,
        );
        assert_kind(
            reader.gets_and_touch::<Vec<u8>>(key, NEVER),
            ErrorKind::Decode,
        );
        let many = reader
            .get_multi::<Vec<u8>, _>(["good", key, "none"])
            .unwrap();
        assert_eq!(many.hits().count(), 1);
        assert_eq!(many.misses().collect::<Vec<_>>(), [&"none"]);
        let [failure] = many.failures() else {
            panic!("{} failures", many.failures().len())
        };
        assert_eq!(
            (failure.error().kind(), failure.keys()),
            (ErrorKind::Decode, &[1][..])
        );
        // Past the transcoder it is what it was.
        let raw = reader.get_raw(key).unwrap().unwrap();
        assert_eq!((&*raw.value, raw.flags), (bytes, flags));
        assert_eq!(
            reader.get::<String>("good").unwrap().as_deref(),
            Some("value")
        );
    }
    // A type that the value is none of is the same.
    assert_kind(reader.get::<u64>("good"), ErrorKind::Decode);
    assert_kind(reader.get_counter("good"), ErrorKind::Decode);
    assert_eq!(client.pool().stats()[0].connects, 1);
    let stats = client.stats(None).unwrap().remove(0).1.unwrap();
    let figure = |name: &str| {
        let found = stats.iter().find(|(stat, _)| stat == name);
        found.map(|(_, value)| value.parse::<u64>().unwrap())
    };
    assert_eq!(figure("curr_items"), Some(damaged.len() as u64 + 1));
    assert_eq!(figure("get_misses"), Some(damaged.len() as u64));
}
