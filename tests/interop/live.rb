# frozen_string_literal: true

# Ruby's Dalli, driven line by line; the lines are described in tests/it/interop/script.rs.
#
#   ruby live.rb COMPAT HOST:PORT[:WEIGHT]...

require 'logger'
require 'dalli'

Dalli.logger = Logger.new(nil)
$stdin.set_encoding('UTF-8')
$stdout.sync = true

# A server that failed is left alone for a minute.
CLIENT = Dalli::Client.new(ARGV.drop(1), down_retry_delay: 60, socket_timeout: 1, compress: true,
                                         compression_min_size: 10_000)

def parse(type, data)
  case type
  when 'text' then [data].pack('H*').force_encoding('UTF-8')
  when 'bytes' then [data].pack('H*')
  when 'int' then Integer(data)
  when 'float' then Float(data)
  when 'bool' then data == '1'
  end
end

def show(type, value)
  case [type, value]
  in ['text', String] if value.encoding == Encoding::UTF_8 then "text #{value.unpack1('H*')}"
  in ['bytes', String] then "bytes #{value.unpack1('H*')}"
  in ['int', Integer] then "int #{value}"
  in ['float', Float] then "float #{value}"
  in ['bool', true | false] then "bool #{value ? 1 : 0}"
  else "other #{value.class}"
  end
end

def answer(verb, key, *rest)
  case verb
  when 'set' then CLIENT.set(key, parse(rest[0], rest[1] || '')) ? 'stored' : 'failed'
  when 'get'
    value = CLIENT.get(key, cache_nils: true)
    value.nil? || value == Dalli::NOT_FOUND ? 'miss' : show(rest[0], value)
  when 'delete' then CLIENT.delete(key) ? 'deleted' : 'failed'
  when 'count' then CLIENT.set(key, rest[0], 0, raw: true) ? 'stored' : 'failed'
  when 'incr'
    sum = CLIENT.incr(key, Integer(rest[0]))
    sum.nil? ? 'miss' : "int #{sum}"
  else 'unknown'
  end
rescue StandardError => e
  "failed #{e.class}"
end

puts 'ready'
while (line = $stdin.gets)
  puts answer(*line.chomp.split(' '))
end
