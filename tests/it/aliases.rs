//! Every public name of the old clients leads somewhere: it stands on its client's porting page, and is a search alias of the
//! item that replaces it or of that page. It reads the sources.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use sockio::Compat;

/// whalin, tags `release_1.6` and `release_2.0.1`, branches `master` and `performance`: `MemCachedClient`, `SockIOPool`,
/// `SchoonerSockIOPool`, `ErrorHandler`, `MemcachedItem`, and what of `SockIO` a program could call.
const WHALIN: &str = "
    MemCachedClient setPoolName setClassLoader setErrorHandler setCompressEnable setCompressThreshold setDefaultEncoding
    setPrimitiveAsString setSanitizeKeys setTransCoder isUseBinaryProtocol keyExists delete set add replace storeCounter getCounter
    addOrIncr addOrDecr incr decr get gets getMulti getMultiArray flushAll stats statsItems statsSlabs statsCacheDump sync syncAll
    append prepend cas hashCode
    SockIOPool getInstance initialize isInitialized shutDown setServers getServers setWeights getWeights setInitConn getInitConn
    setMinConn getMinConn setMaxConn getMaxConn setMaxIdle getMaxIdle setMaxBusyTime getMaxBusy setMaintSleep getMaintSleep
    setSocketTO getSocketTO setSocketConnectTO getSocketConnectTO setFailover getFailover setFailback getFailback setAliveCheck
    getAliveCheck setNagle getNagle setHashingAlg getHashingAlg setBufferSize getBufferSize getHost getSock getBucket getConnection
    checkIn NATIVE_HASH OLD_COMPAT_HASH NEW_COMPAT_HASH CONSISTENT_HASH MAX_RETRY_DELAY hostDeadDur poolMultiplier maxCreate
    setMaxWait getMaxWait setMinIdle getMinIdle setTestOnBorrow getTestOnBorrow setTestOnReturn getTestOnReturn setTestWhileIdle
    getTestWhileIdle setTimeBetweenEvictionRunsMillis getTimeBetweenEvictionRunsMillis setNumTestsPerEvictionRun
    getNumTestsPerEvictionRun setMinEvictableIdleTimeMillis getMinEvictableIdleTimeMillis setSoftMinEvictableIdleTimeMillis
    getSoftMinEvictableIdleTimeMillis setLifo getLifo
    ErrorHandler handleErrorOnInit handleErrorOnGet handleErrorOnSet handleErrorOnDelete handleErrorOnFlush handleErrorOnStats
    MemcachedItem getCasUnique getValue casUnique TransCoder ObjectTransCoder AbstractTransCoder NativeHandler AuthInfo
    SockIO trueClose readLine clearEOL isAlive getChannel";

/// memcacheddotnet, SVN trunk of 2007-06-07: `MemcachedClient`, `SockIOPool`.
const MEMCACHEDDOTNET: &str = "
    MemcachedClient PoolName PrimitiveAsString DefaultEncoding EnableCompression CompressionThreshold KeyExists Delete Set Add
    Replace StoreCounter GetCounter Increment Decrement Get GetMultipleArray GetMultiple FlushAll Stats hashCode
    SockIOPool GetInstance Servers SetServers Weights SetWeights InitConnections MinConnections MaxConnections MaxIdle MaxBusy
    MaintenanceSleep SocketTimeout SocketConnectTimeout Failover Nagle HashingAlgorithm Native OldCompatibleHash NewCompatibleHash
    Initialize Initialized GetSock GetConnection CheckIn Shutdown NativeHandler SockIO MemcachedConfigSection";

/// EnyimMemcached 485b5fe: `IMemcachedClient`, `IMemcachedResultsClient`, the configuration.
const ENYIM: &str = "
    Get TryGet GetWithCas TryGetWithCas CasResult Append Prepend Store StoreMode Cas Increment Decrement Remove FlushAll Stats
    NodeFailed Dispose ExecuteGet ExecuteTryGet ExecuteStore ExecuteCas ExecuteIncrement ExecuteDecrement ExecuteAppend
    ExecutePrepend ExecuteRemove
    MemcachedClientConfiguration AddServer NodeLocator IMemcachedNodeLocator DefaultNodeLocator KetamaNodeLocator KeyTransformer
    DefaultKeyTransformer Base64KeyTransformer SHA1KeyTransformer TigerHashKeyTransformer Transcoder ITranscoder DefaultTranscoder
    SocketPool MinPoolSize MaxPoolSize ConnectionTimeout ReceiveTimeout QueueTimeout DeadTimeout KeepAliveStartDelay
    KeepAliveInterval FailurePolicyFactory Protocol Authentication PerformanceMonitor";

/// pecl-memcache 8.0 and 8.2, as PHP's reflection lists them: methods in the manual's spelling, functions, constants, ini settings.
const PECL_MEMCACHE: &str = "
    MemcachePool connect pconnect addServer setServerParams setFailureCallback getServerStatus findServer getVersion add set
    replace cas append prepend get delete getStats getExtendedStats setCompressThreshold increment decrement close flush
    setSaslAuthData retry_interval
    memcache_connect memcache_pconnect memcache_add_server memcache_set_server_params memcache_set_failure_callback
    memcache_get_server_status memcache_get_version memcache_add memcache_set memcache_replace memcache_cas memcache_append
    memcache_prepend memcache_get memcache_delete memcache_debug memcache_get_stats memcache_get_extended_stats
    memcache_set_compress_threshold memcache_increment memcache_decrement memcache_close memcache_flush memcache_set_sasl_auth_data
    MEMCACHE_COMPRESSED MEMCACHE_USER1 MEMCACHE_USER2 MEMCACHE_USER3 MEMCACHE_USER4 MEMCACHE_HAVE_SESSION
    memcache.allow_failover memcache.max_failover_attempts memcache.default_port memcache.chunk_size memcache.protocol
    memcache.hash_strategy memcache.hash_function memcache.redundancy memcache.session_redundancy memcache.compress_threshold
    memcache.lock_timeout memcache.select_api memcache.session_prefix_host_key memcache.session_prefix_host_key_remove_www
    memcache.session_prefix_host_key_remove_subdomain memcache.session_prefix_static_key memcache.session_save_path
    memcache.prefix_host_key memcache.prefix_host_key_remove_www memcache.prefix_host_key_remove_subdomain
    memcache.prefix_static_key";

/// php-memcached 3.2.0 with libmemcached 1.1.4, as PHP's reflection lists them, and what 3.3 adds.
const PHP_MEMCACHED: &str = "
    getResultCode getResultMessage get getByKey getMulti getMultiByKey getDelayed getDelayedByKey fetch fetchAll set setByKey touch
    touchByKey setMulti setMultiByKey cas casByKey add addByKey append appendByKey prepend prependByKey replace replaceByKey delete
    deleteMulti deleteByKey deleteMultiByKey increment decrement incrementByKey decrementByKey addServer addServers getServerList
    getServerByKey resetServerList quit flushBuffers getLastErrorMessage getLastErrorCode getLastErrorErrno
    getLastDisconnectedServer getStats getVersion getAllKeys flush getOption setOption setOptions setBucket setSaslAuthData
    setEncodingKey isPersistent isPristine checkKey persistent_id MemcachedException
    OPT_COMPRESSION OPT_COMPRESSION_TYPE OPT_COMPRESSION_LEVEL OPT_PREFIX_KEY OPT_SERIALIZER OPT_USER_FLAGS OPT_STORE_RETRY_COUNT
    OPT_ITEM_SIZE_LIMIT OPT_HASH OPT_DISTRIBUTION OPT_LIBKETAMA_COMPATIBLE OPT_LIBKETAMA_HASH OPT_TCP_KEEPALIVE OPT_BUFFER_WRITES
    OPT_BINARY_PROTOCOL OPT_NO_BLOCK OPT_TCP_NODELAY OPT_SOCKET_SEND_SIZE OPT_SOCKET_RECV_SIZE OPT_CONNECT_TIMEOUT
    OPT_RETRY_TIMEOUT OPT_DEAD_TIMEOUT OPT_SEND_TIMEOUT OPT_RECV_TIMEOUT OPT_POLL_TIMEOUT OPT_CACHE_LOOKUPS
    OPT_SERVER_FAILURE_LIMIT OPT_AUTO_EJECT_HOSTS OPT_HASH_WITH_PREFIX_KEY OPT_NOREPLY OPT_SORT_HOSTS OPT_VERIFY_KEY OPT_USE_UDP
    OPT_NUMBER_OF_REPLICAS OPT_RANDOMIZE_REPLICA_READ OPT_REMOVE_FAILED_SERVERS OPT_SERVER_TIMEOUT_LIMIT
    HASH_DEFAULT HASH_MD5 HASH_CRC HASH_FNV1_64 HASH_FNV1A_64 HASH_FNV1_32 HASH_FNV1A_32 HASH_HSIEH HASH_MURMUR
    DISTRIBUTION_MODULA DISTRIBUTION_CONSISTENT DISTRIBUTION_VIRTUAL_BUCKET
    SERIALIZER_PHP SERIALIZER_IGBINARY SERIALIZER_JSON SERIALIZER_JSON_ARRAY SERIALIZER_MSGPACK
    COMPRESSION_FASTLZ COMPRESSION_ZLIB COMPRESSION_ZSTD GET_PRESERVE_ORDER GET_EXTENDED GET_ERROR_RETURN_VALUE
    LIBMEMCACHED_VERSION_HEX HAVE_IGBINARY HAVE_JSON HAVE_MSGPACK HAVE_ZSTD HAVE_ENCODING HAVE_SESSION HAVE_SASL
    RES_SUCCESS RES_FAILURE RES_HOST_LOOKUP_FAILURE RES_CONNECTION_FAILURE RES_CONNECTION_BIND_FAILURE RES_WRITE_FAILURE
    RES_READ_FAILURE RES_UNKNOWN_READ_FAILURE RES_PROTOCOL_ERROR RES_CLIENT_ERROR RES_SERVER_ERROR RES_DATA_EXISTS
    RES_DATA_DOES_NOT_EXIST RES_NOTSTORED RES_STORED RES_NOTFOUND RES_PARTIAL_READ RES_SOME_ERRORS RES_NO_SERVERS RES_END
    RES_DELETED RES_VALUE RES_STAT RES_ITEM RES_ERRNO RES_FAIL_UNIX_SOCKET RES_NOT_SUPPORTED RES_NO_KEY_PROVIDED
    RES_FETCH_NOTFINISHED RES_TIMEOUT RES_BUFFERED RES_BAD_KEY_PROVIDED RES_INVALID_HOST_PROTOCOL RES_SERVER_MARKED_DEAD
    RES_UNKNOWN_STAT_KEY RES_INVALID_ARGUMENTS RES_PARSE_ERROR RES_PARSE_USER_ERROR RES_DEPRECATED RES_IN_PROGRESS
    RES_MAXIMUM_RETURN RES_MEMORY_ALLOCATION_FAILURE RES_CONNECTION_SOCKET_CREATE_FAILURE RES_E2BIG RES_KEY_TOO_BIG
    RES_SERVER_TEMPORARILY_DISABLED RES_SERVER_MEMORY_ALLOCATION_FAILURE RES_AUTH_PROBLEM RES_AUTH_FAILURE RES_AUTH_CONTINUE
    RES_PAYLOAD_FAILURE
    memcached.compression_type memcached.compression_factor memcached.compression_level memcached.compression_threshold
    memcached.serializer memcached.store_retry_count memcached.item_size_limit memcached.default_consistent_hash
    memcached.default_binary_protocol memcached.default_connect_timeout
    memcached.sess_locking memcached.sess_lock_wait_min memcached.sess_lock_wait_max memcached.sess_lock_retries
    memcached.sess_lock_expire memcached.sess_binary_protocol memcached.sess_consistent_hash memcached.sess_consistent_hash_type
    memcached.sess_number_of_replicas memcached.sess_randomize_replica_read memcached.sess_remove_failed_servers
    memcached.sess_server_failure_limit memcached.sess_connect_timeout memcached.sess_sasl_username memcached.sess_sasl_password
    memcached.sess_persistent memcached.sess_prefix memcached.sess_lock_wait memcached.sess_lock_max_wait";

/// The page of each client, its names, and how many there are.
const CLIENTS: [(&str, &str, usize); 5] = [
    ("whalin", WHALIN, 129),
    ("memcacheddotnet", MEMCACHEDDOTNET, 50),
    ("enyim", ENYIM, 53),
    ("pecl_memcache", PECL_MEMCACHE, 77),
    ("php_memcached", PHP_MEMCACHED, 208),
];

#[test]
fn every_old_name_leads_to_its_replacement_or_to_the_reason_why_there_is_none() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/porting");
    let mut replaced = HashSet::new();
    for path in rust_files(pages.parent().unwrap()) {
        if !path.starts_with(&pages) {
            let text = fs::read_to_string(path).unwrap();
            replaced.extend(aliases(&text).chain(public_names(&text)));
        }
    }
    assert!(replaced.len() > 400, "{} names in src", replaced.len());
    for (client, names, count) in CLIENTS {
        let page = fs::read_to_string(pages.join(client).with_extension("rs")).unwrap();
        let unreplaced: HashSet<String> = aliases(&page).collect();
        let (text, reasons) = page.split_once("//! # Without a counterpart").unwrap();
        let names: Vec<&str> = names.split_whitespace().collect();
        for name in &names {
            let found = name.to_lowercase();
            let (here, there) = (unreplaced.contains(&found), replaced.contains(&found));
            assert!(here || there, "{client}: {name} is no alias of anything");
            assert!(
                !(here && there),
                "{client}: {name} has a replacement and has none"
            );
            let part = if here { reasons } else { text };
            assert!(
                stands_in(part, name),
                "{client}: {name} is not on the page where it belongs"
            );
        }
        let distinct: HashSet<&str> = names.iter().copied().collect();
        assert_eq!((names.len(), distinct.len()), (count, count), "{client}");
        let known: HashSet<String> = distinct.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(unreplaced.difference(&known).next(), None, "{client}");
    }
}

#[test]
fn the_pages_name_only_placements_that_there_are() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/porting");
    let clients: HashSet<&str> = Compat::all().iter().map(|compat| compat.client()).collect();
    let mut checked = 0;
    for path in rust_files(&pages) {
        let page = fs::read_to_string(path).unwrap();
        for name in page.split(['`', '"']) {
            let client = name.split('/').next().unwrap();
            if client.len() < name.len() && clients.contains(client) && !name.contains('…') {
                // `HASH` stands for each of libmemcached's hashes.
                let name = name.replace("HASH", "default");
                assert!(name.parse::<Compat>().is_ok(), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 40, "{checked} names");
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true => rust_files(&path),
        false => vec![path],
    });
    files.collect()
}

/// What the search finds an item by, besides its name; the search does not tell capitals from small letters.
fn aliases(text: &str) -> impl Iterator<Item = String> {
    let attributes = text.split("[doc(alias").skip(1);
    attributes.flat_map(|rest| {
        let attribute = rest.split_once(")]").unwrap().0;
        let quoted = attribute.split('"').skip(1).step_by(2);
        quoted.map(str::to_lowercase).collect::<Vec<_>>()
    })
}

/// The names of public functions and types.
fn public_names(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let item = line.trim_start().strip_prefix("pub ")?;
        let mut words = item.split(|c: char| !c.is_alphanumeric() && c != '_');
        let kind = words.next()?;
        let named = ["fn", "struct", "enum", "trait", "type"].contains(&kind);
        named.then(|| words.next().map(str::to_lowercase))?
    })
}

/// Whether the page has the name in code, alone or with something behind it, outside of the examples.
fn stands_in(page: &str, name: &str) -> bool {
    let prose = page.split("```").step_by(2);
    let mut code = prose.flat_map(|text| text.split('`').skip(1).step_by(2));
    code.any(|code| {
        let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        words.any(|word| word == name || word.split('.').any(|part| part == name))
    })
}
