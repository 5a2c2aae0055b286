<?php
// PHP's two memcached extensions, driven line by line; the lines are described in tests/it/interop/script.rs.
//
//   php live.php COMPAT HOST:PORT[:WEIGHT]...

error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING);
ini_set('serialize_precision', '-1');

$compat = explode('+', $argv[1])[0];
$servers = array_map(fn ($server) => explode(':', $server), array_slice($argv, 2));
$extension = explode('/', $compat)[0] === 'pecl-memcache' ? 'memcache' : 'memcached';
if (!extension_loaded($extension)) {
    fwrite(STDERR, "PHP's extension $extension is missing\n");
    exit(3);
}

function memcached(string $compat, array $servers): Memcached
{
    $hashes = [
        'default' => Memcached::HASH_DEFAULT, 'md5' => Memcached::HASH_MD5, 'crc' => Memcached::HASH_CRC,
        'fnv1-64' => Memcached::HASH_FNV1_64, 'fnv1a-64' => Memcached::HASH_FNV1A_64,
        'fnv1-32' => Memcached::HASH_FNV1_32, 'fnv1a-32' => Memcached::HASH_FNV1A_32,
        'murmur' => Memcached::HASH_MURMUR, 'jenkins' => 9, 'murmur3' => 10,
    ];
    [, $distribution, $hash] = explode('/', $compat) + [2 => 'md5'];
    $client = new Memcached();
    if ($distribution === 'ketama-weighted') {
        $client->setOption(Memcached::OPT_LIBKETAMA_COMPATIBLE, true);
    } else {
        // The ring's points are hashed when the distribution is set: the hash comes first.
        $client->setOption(Memcached::OPT_HASH, $hashes[$hash]);
        $client->setOption(Memcached::OPT_DISTRIBUTION,
            $distribution === 'modula' ? Memcached::DISTRIBUTION_MODULA : Memcached::DISTRIBUTION_CONSISTENT);
    }
    if ($distribution !== 'modula') {
        $client->setOption(Memcached::OPT_REMOVE_FAILED_SERVERS, true);
        $client->setOption(Memcached::OPT_SERVER_FAILURE_LIMIT, (int) (getenv('FAILURE_LIMIT') ?: 1));
        $client->setOption(Memcached::OPT_DEAD_TIMEOUT, (int) getenv('DEAD_TIMEOUT'));
    }
    $client->setOption(Memcached::OPT_RETRY_TIMEOUT, (int) (getenv('RETRY_TIMEOUT') ?: 60));
    $client->setOption(Memcached::OPT_CONNECT_TIMEOUT, 500);
    // `addServers` makes a ring a weighted one, also where all weights are 1.
    if (isset($servers[0][2])) {
        $client->addServers(array_map(fn ($it) => [$it[0], (int) $it[1], (int) $it[2]], $servers));
    } else {
        foreach ($servers as [$host, $port]) {
            $client->addServer($host, (int) $port);
        }
    }
    return $client;
}

function memcache(string $compat, array $servers): Memcache
{
    [, $strategy, $hash] = explode('/', $compat);
    ini_set('memcache.hash_strategy', $strategy);
    ini_set('memcache.hash_function', $hash);
    $client = new Memcache();
    foreach ($servers as $server) {
        [$host, $port, $weight] = $server + [2 => 1];
        $client->addServer($host, (int) $port, true, (int) $weight, 1, 60);
    }
    return $client;
}

// Memcached 3.2 refuses keys beyond ASCII in its calls for one key, and takes them in those for many.
function several(object $client, string $key): bool
{
    return $client instanceof Memcached && preg_match('/[^\x21-\x7e]/', $key);
}

function store(object $client, string $key, $value): bool
{
    return several($client, $key) ? $client->setMulti([$key => $value]) : $client->set($key, $value);
}

// A stored false and a miss are told apart by asking for a list.
function lookup(object $client, string $key): array
{
    $found = $client instanceof Memcached ? $client->getMulti([$key]) : $client->get([$key]);
    return is_array($found) ? array_values($found) : [];
}

function parse(string $type, string $data)
{
    return match ($type) {
        'text', 'bytes' => hex2bin($data),
        'int' => (int) $data,
        'float' => (float) $data,
        'bool' => $data === '1',
    };
}

function show(string $type, $value): string
{
    return match (true) {
        is_string($value) && ($type === 'text' || $type === 'bytes') => "$type " . bin2hex($value),
        is_int($value) && $type === 'int' => "int $value",
        is_float($value) && $type === 'float' => 'float ' . var_export($value, true),
        is_bool($value) && $type === 'bool' => 'bool ' . (int) $value,
        default => 'other ' . gettype($value),
    };
}

function answer(object $client, array $words): string
{
    [$verb, $key] = $words;
    switch ($verb) {
        case 'set':
            return store($client, $key, parse($words[2], $words[3] ?? '')) ? 'stored' : 'failed';
        case 'get':
            $found = lookup($client, $key);
            return $found ? show($words[2], $found[0]) : 'miss';
        case 'delete':
            return $client->delete($key) ? 'deleted' : 'failed';
        case 'count':
            return $client->set($key, (int) $words[2]) ? 'stored' : 'failed';
        case 'incr':
            $sum = $client->increment($key, (int) $words[2]);
            return $sum === false ? 'miss' : "int $sum";
    }
    return 'unknown';
}

$client = $extension === 'memcached' ? memcached($compat, $servers) : memcache($compat, $servers);
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    echo answer($client, explode(' ', rtrim($line, "\n"))), "\n";
}
