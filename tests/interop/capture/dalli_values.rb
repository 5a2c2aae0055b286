# What Ruby's Dalli stores and reads.

require 'dalli'
require 'json'
require 'digest'
require 'bigdecimal'
require 'date'
require 'set'

PORT = ARGV[0].to_i
FOREIGN = ARGV[1].to_i
Dalli.logger.level = Logger::FATAL
Point = Struct.new(:x, :y)

def noise(count)
  x = 1
  (1..count).map do
    x = (x * 1_103_515_245 + 12_345) % (1 << 31)
    (x >> 16) & 0xff
  end.pack('C*')
end

# See README.md.
def content(description)
  description.split('+').map do |piece|
    kind, rest = piece.split(':', 2)
    case kind
    when 'hex' then [rest].pack('H*')
    when 'repeat'
      byte, count = rest.split('*')
      [byte].pack('H*') * count.to_i
    when 'noise' then noise(rest.to_i)
    else raise piece
    end
  end.join.b
end

def shown(string)
  bytes = string.b
  bytes.bytesize > 512 ? "sha256:#{Digest::SHA256.hexdigest(bytes)}" : "hex:#{bytes.unpack1('H*')}"
end

def type(value)
  value.is_a?(String) ? "String #{value.encoding}" : value.class.name
end

def read(client, key)
  value = client.get(key)
  { type: type(value), value: value.is_a?(String) ? shown(value) : value.inspect }
rescue StandardError => e
  { error: e.class.name }
end

$count = 0

# Each value is [value, shown], where nil is shown as what `inspect` says.
def write(config, settings, values, options = nil)
  client = Dalli::Client.new("127.0.0.1:#{PORT}", settings)
  values.each do |value, text|
    $count += 1
    key = "w#{$count}"
    text ||= value.inspect
    row = { version: Dalli::VERSION, config: config, op: 'write', name: "#{type(value)} #{text}", type: type(value), value: text, key: key }
    begin
      row[:set_error] = 'false' unless client.set(key, value, nil, options)
    rescue StandardError => e
      row[:set_error] = e.class.name
    end
    puts JSON.generate(row.merge(get_back: read(client, key)))
  end
end

def text(description, encoding = 'UTF-8')
  [content(description).force_encoding(encoding), description]
end

def bytes(description)
  text(description, 'ASCII-8BIT')
end

strings = ['hex:', 'hex:61', 'hex:c3a9ed959cf09f9880', 'hex:610062', 'hex:3432', 'hex:ff'].map { |it| text(it) } +
          ['hex:', 'hex:61', 'hex:00ff0d0a20', 'hex:c3a9'].map { |it| bytes(it) } +
          [text('hex:61', 'US-ASCII'), text('hex:e9', 'ISO-8859-1'), text('hex:6100', 'UTF-16LE'), text('hex:83', 'Shift_JIS')] +
          [117, 122, 123, 127, 128, 255, 256].flat_map { |count| [text("repeat:61*#{count}"), bytes("repeat:00*#{count}")] }
integers = [0, 1, -1, 122, 123, -123, -124, 127, 255, 256, -128, -129, -256, -257, 65_535, 65_536, 2**24 - 1, 2**24, -(2**24), -(2**24) - 1, 2**30 - 1, 2**30,
            -(2**30), -(2**30) - 1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**40, 2**62 - 1, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1,
            10**30].map { |it| [it] }
floats = [0.0, -0.0, 1.0, 1.1, -1.5, 100.0, 0.1, 0.01, 0.001, 1.5e-3, 1e-4, 1.25e-7, 123.0, 1234.5, 120.0, 1e15, 1e16, 1.5e16, 1e22, 1e23, 1e100, 1e300,
          5e-324, 1.7976931348623157e308, Float::INFINITY, -Float::INFINITY, Float::NAN].map { |it| [it] }
others = [nil, true, false].map { |it| [it] }
objects = [:symbol, [1, 2], [], { 'a' => 1 }, 1..2, Time.at(1_582_979_696, 789_000).utc, Date.new(1999, 12, 31), BigDecimal('1.10'), Rational(1, 3), Set[1],
           Point.new(1, 2)].map { |it| [it] }
plain = strings.first(14) + [0, -1, 10**30].map { |it| [it] } + [1.1, 1e16, 1e-5, Float::INFINITY].map { |it| [it] } + others + objects.first(2)

def around(threshold)
  [threshold - 1, threshold, threshold + 1].flat_map do |count|
    [text("repeat:61*#{count}"), bytes("repeat:61*#{count}"), bytes("noise:#{count}")]
  end
end

write('default', {}, strings + integers + floats + others + objects)
# The threshold counts the marshalled form, which is longer than a string by up to 14 bytes.
write('default', {}, around(4096) + around(4090) + around(4084) + [text('repeat:61*8192')])
write('raw', {}, plain, raw: true)
write('raw', {}, around(4096), raw: true)
write('compression_min_size=100', { compression_min_size: 100 }, around(100) + [[(1..100).to_a]])
write('compression_min_size=100 raw', { compression_min_size: 100 }, around(100), raw: true)
write('compress=false', { compress: false }, around(4096))
write('GzipCompressor', { compressor: Dalli::GzipCompressor }, around(4096), raw: true)

client = Dalli::Client.new("127.0.0.1:#{PORT}")
client.incr('w0', 5, nil, 7)
client.incr('w0', 3)
puts JSON.generate(version: Dalli::VERSION, config: 'counter', op: 'write', name: '7 incremented by 3', type: 'Integer', value: '10', key: 'w0', get_back: read(client, 'w0'))
FOREIGN.times do |number|
  key = "f#{number}"
  # Some payloads make it drop the connection.
  client = Dalli::Client.new("127.0.0.1:#{PORT}")
  puts JSON.generate(version: Dalli::VERSION, config: 'default', op: 'read', key: key, get_back: read(client, key))
end
