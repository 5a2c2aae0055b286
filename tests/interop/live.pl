# Perl's Cache::Memcached and Cache::Memcached::Fast, driven line by line; the lines are described in
# tests/it/interop/script.rs. Keys and values are bytes here: Perl knows no types.
#
#   perl live.pl COMPAT HOST:PORT[:WEIGHT]...

use strict;
use warnings;

my ($compat, @servers) = @ARGV;
@servers = map { my ($host, $port, $weight) = split /:/; ["$host:$port", $weight // 1] } @servers;

# Long enough to be compressed: the Rust side counts on this number.
my $threshold = 10_000;

my $client;
if ($compat =~ m{^perl-cache-memcached/}) {
    require Cache::Memcached;
    $client = Cache::Memcached->new({ servers => \@servers, compress_threshold => $threshold });
} else {
    require Cache::Memcached::Fast;
    $client = Cache::Memcached::Fast->new({
        servers            => [map { { address => $_->[0], weight => $_->[1] } } @servers],
        compress_threshold => $threshold,
        # With one failure it leaves the server alone for a minute.
        max_failures       => 1,
        failure_timeout    => 60,
        $compat =~ /ketama-(\d+)/ ? (ketama_points => $1) : (),
    });
}

sub show {
    my ($type, $value) = @_;
    return "$type " . unpack('H*', $value) if $type eq 'text' || $type eq 'bytes';
    return "$type $value";
}

sub answer {
    my ($verb, $key, @rest) = @_;
    if ($verb eq 'set') {
        my ($type, $data) = (@rest, '');
        my $value = $type eq 'text' || $type eq 'bytes' ? pack('H*', $data) : $data;
        return $client->set($key, $value) ? 'stored' : 'failed';
    }
    if ($verb eq 'get') {
        my $value = $client->get($key);
        return defined $value ? show($rest[0], $value) : 'miss';
    }
    return $client->delete($key) ? 'deleted' : 'failed' if $verb eq 'delete';
    return $client->set($key, $rest[0]) ? 'stored' : 'failed' if $verb eq 'count';
    if ($verb eq 'incr') {
        my $sum = $client->incr($key, $rest[0]);
        # Fast answers a miss with an empty string.
        return defined $sum && length $sum ? "int $sum" : 'miss';
    }
    return 'unknown';
}

$| = 1;
print "ready\n";
while (my $line = <STDIN>) {
    chomp $line;
    print answer(split / /, $line), "\n";
}
