# What Perl's Cache::Memcached and Cache::Memcached::Fast store and read.

use strict;
use warnings;

use Cache::Memcached;
use Cache::Memcached::Fast;
use Digest::SHA qw(sha256_hex);
use JSON::PP;

my ($port, $foreign) = @ARGV;
my $json  = JSON::PP->new->canonical->ascii;
my $count = 0;
local $SIG{__WARN__} = sub { };

sub noise {
    my ($count) = @_;
    my ($x, $out) = (1, '');
    for (1 .. $count) {
        $x = ($x * 1103515245 + 12345) % (1 << 31);
        $out .= chr($x >> 16 & 0xff);
    }
    return $out;
}

# See README.md.
sub content {
    my $out = '';
    for my $piece (split /\+/, shift) {
        my ($kind, $rest) = split /:/, $piece, 2;
        if    ($kind eq 'hex')    { $out .= pack 'H*', $rest }
        elsif ($kind eq 'repeat') { my ($byte, $times) = split /\*/, $rest; $out .= pack('H*', $byte) x $times }
        elsif ($kind eq 'noise')  { $out .= noise($rest) }
        else                      { die $piece }
    }
    return $out;
}

sub shown {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return length($text) > 512 ? 'sha256:' . sha256_hex($text) : 'hex:' . unpack('H*', $text);
}

# Perl knows two kinds of strings: of bytes and, with its utf8 mark, of characters.
sub back {
    my ($client, $key) = @_;
    my $value = eval { $client->get($key) };
    return { error => 'died' } if $@;
    return { type => 'undef', value => 'undef' } unless defined $value;
    return { type => ref $value, value => $json->encode(ref $value eq 'SCALAR' ? [$$value] : ref $value eq 'Point' ? {%$value} : $value) } if ref $value;
    return { type => utf8::is_utf8($value) ? 'characters' : 'bytes', value => shown($value) };
}

sub row {
    my ($client, $config, %rest) = @_;
    my $version = ref($client) . ' ' . $client->VERSION;
    print $json->encode({ version => $version, config => $config, %rest, get_back => back($client, $rest{key}) }), "\n";
}

sub put {
    my ($client, $config, @values) = @_;
    for (@values) {
        my ($type, $shown, $value) = @$_;
        my $key = 'w' . ++$count;
        my $set = eval { $client->set($key, $value) };
        my %error = $@ ? (set_error => 'died') : $set ? () : (set_error => 'false');
        row($client, $config, op => 'write', name => "$type $shown", type => $type, value => "$shown", key => $key, %error);
    }
}

sub bytes { my ($shown) = @_; return ['bytes', $shown, content($shown)] }

sub characters {
    my ($shown) = @_;
    my $value = content($shown);
    utf8::decode($value);
    utf8::upgrade($value);
    return ['characters', $shown, $value];
}

sub around {
    my ($threshold) = @_;
    return map { bytes($_) } (map { ("repeat:61*$_", "noise:$_") } $threshold - 1, $threshold, $threshold + 1),
        # What stays above and what falls below eight tenths.
        map { ("noise:400+repeat:00*$_") } 20, 120, 400;
}

my @plain = (
    (map { bytes($_) } qw(hex: hex:61 hex:00ff0d0a20 hex:c3a9 hex:3432)),
    (map { characters($_) } qw(hex:61 hex:c3a9 hex:c3a9ed959cf09f9880)),
    (map { ['number', "$_", 0 + $_] } qw(0 1 -1 42 9223372036854775807 -9223372036854775808 18446744073709551615 1.5 1e15 1e20 1e-5 0.1)),
    ['true', '!!1', !!1], ['false', '!!0', !!0], ['undef', 'undef', undef],
    ['ARRAY', '[1,"x"]', [1, 'x']], ['HASH', '{"a":1}', { a => 1 }], ['SCALAR', '["text"]', \'text'], ['Point', '{"x":1}', bless { x => 1 }, 'Point'],
);

my $server = "127.0.0.1:$port";
my $client = Cache::Memcached->new({ servers => [$server] });
put($client, 'default', @plain, around(100));
put(Cache::Memcached->new({ servers => [$server], compress_threshold => 100 }), 'compress_threshold=100', around(100), ['ARRAY', '[' . join(',', (1) x 100) . ']', [(1) x 100]]);
$client->set('counter', 7);
$client->incr('counter', 3);
put($client, 'counter', ['number', '10', $client->get('counter')]);
row($client, 'default', op => 'read', key => "f$_") for 0 .. $foreign - 1;

my $fast = Cache::Memcached::Fast->new({ servers => [$server] });
my $utf8 = Cache::Memcached::Fast->new({ servers => [$server], utf8 => 1 });
put($fast, 'default', @plain);
put($utf8, 'utf8=1', @plain, characters('repeat:61*150'));
put(Cache::Memcached::Fast->new({ servers => [$server], compress_threshold => 100 }), 'compress_threshold=100', around(100));
put(Cache::Memcached::Fast->new({ servers => [$server], compress_threshold => 100, utf8 => 1 }), 'compress_threshold=100 utf8=1', characters('repeat:61*150'));
row($fast, 'default', op => 'read', key => "f$_") for 0 .. $foreign - 1;
row($utf8, 'utf8=1', op => 'read', key => "f$_") for 0 .. $foreign - 1;
