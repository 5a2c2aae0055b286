// spymemcached, driven line by line; the lines are described in tests/it/interop/script.rs.
//
//   java -cp /usr/share/java/spymemcached.jar Live.java COMPAT [NAME/]IP:PORT[:WEIGHT]...

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Locator;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;

final class Live {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] args) throws Exception {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        java.util.logging.LogManager.getLogManager().reset();
        var out = new PrintStream(System.out, true, "UTF-8");
        var in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        MemcachedClient client = connect(args);
        out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            String reply;
            try {
                reply = answer(client, line.split(" "));
            } catch (Exception e) {
                reply = "failed " + e.getClass().getName();
            }
            out.println(reply);
        }
        System.exit(0);
    }

    private static MemcachedClient connect(String[] args) throws Exception {
        List<InetSocketAddress> servers = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            String[] parts = args[i].split(":");
            // Of NAME/IP the name: what it resolves to is the client's affair.
            servers.add(new InetSocketAddress(parts[0].split("/")[0], Integer.parseInt(parts[1])));
        }
        // After the first try it reconnects no more often than this, which is longer than a test.
        var builder = new ConnectionFactoryBuilder()
            .setFailureMode(FailureMode.Redistribute)
            .setOpTimeout(2000)
            .setMaxReconnectDelay(60);
        if (args[0].startsWith("spymemcached/ketama")) {
            builder.setLocatorType(Locator.CONSISTENT).setHashAlg(DefaultHashAlgorithm.KETAMA_HASH);
        } else {
            builder.setLocatorType(Locator.ARRAY_MOD).setHashAlg(DefaultHashAlgorithm.NATIVE_HASH);
        }
        return new MemcachedClient(builder.build(), servers);
    }

    private static String answer(MemcachedClient client, String[] words) throws Exception {
        String key = words[1];
        switch (words[0]) {
            case "set":
                return client.set(key, 0, parse(words[2], words.length > 3 ? words[3] : "")).get() ? "stored" : "failed";
            case "get":
                Object value = client.get(key);
                return value == null ? "miss" : show(words[2], value);
            case "delete":
                return client.delete(key).get() ? "deleted" : "failed";
            case "count":
                return client.set(key, 0, words[2]).get() ? "stored" : "failed";
            case "incr":
                long sum = client.incr(key, Integer.parseInt(words[2]));
                return sum < 0 ? "miss" : "int " + sum;
            default:
                return "unknown";
        }
    }

    private static Object parse(String type, String data) throws Exception {
        switch (type) {
            case "text": return new String(HEX.parseHex(data), "UTF-8");
            case "bytes": return HEX.parseHex(data);
            case "int": return Long.parseLong(data);
            case "float": return Double.parseDouble(data);
            case "bool": return data.equals("1");
            default: throw new IllegalArgumentException(type);
        }
    }

    private static String show(String type, Object value) throws Exception {
        if (type.equals("text") && value instanceof String) {
            return "text " + HEX.formatHex(((String) value).getBytes("UTF-8"));
        } else if (type.equals("bytes") && value instanceof byte[]) {
            return "bytes " + HEX.formatHex((byte[]) value);
        } else if (type.equals("int") && value instanceof Long) {
            return "int " + value;
        } else if (type.equals("float") && value instanceof Double) {
            return "float " + value;
        } else if (type.equals("bool") && value instanceof Boolean) {
            return "bool " + ((Boolean) value ? 1 : 0);
        }
        return "other " + value.getClass().getName();
    }
}
