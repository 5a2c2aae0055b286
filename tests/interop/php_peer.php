<?php
// One of PHP's two memcached extensions, driven line by line over standard input.
//
//   php php_peer.php memcached|memcache PORT
//
//   compression fastlz|zlib|off   for the values to come (memcache knows zlib and off)
//   set KEY HEX                   stores unserialize(HEX); answers "stored" or "failed"
//   get KEY                       answers the SHA-256 of serialize(VALUE), or "failed"
//
// The first line that it writes is "ready".

error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');

[, $extension, $port] = $argv;
if (!extension_loaded($extension)) {
    fwrite(STDERR, "the extension $extension is missing\n");
    exit(3);
}

if ($extension === 'memcached') {
    $client = new Memcached();
    $client->addServer('127.0.0.1', (int) $port);
} else {
    $client = new Memcache();
    $client->addServer('127.0.0.1', (int) $port);
}

function compression($client, $kind)
{
    if ($client instanceof Memcache) {
        $client->setCompressThreshold($kind === 'off' ? 0 : 20000, 0.2);
        return;
    }
    $client->setOption(Memcached::OPT_COMPRESSION, $kind !== 'off');
    if ($kind !== 'off') {
        $type = $kind === 'zlib' ? Memcached::COMPRESSION_ZLIB : Memcached::COMPRESSION_FASTLZ;
        $client->setOption(Memcached::OPT_COMPRESSION_TYPE, $type);
    }
}

// A stored false and a miss are told apart: the answer to a list of keys names only those that were found.
function lookup($client, $key)
{
    $found = $client instanceof Memcached ? $client->getMulti([$key]) : $client->get([$key]);
    return is_array($found) && array_key_exists($key, $found)
        ? hash('sha256', serialize($found[$key]))
        : 'failed';
}

echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', rtrim($line, "\n"));
    switch ($words[0]) {
        case 'compression':
            compression($client, $words[1]);
            $answer = 'done';
            break;
        case 'set':
            $answer = $client->set($words[1], unserialize(hex2bin($words[2]))) ? 'stored' : 'failed';
            break;
        case 'get':
            $answer = lookup($client, $words[1]);
            break;
        default:
            $answer = 'unknown';
    }
    echo $answer, "\n";
}
