// What spymemcached's SerializingTranscoder stores and reads.

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.transcoders.SerializingTranscoder;
import net.spy.memcached.transcoders.Transcoder;

public class SpymemcachedValues {
    static final String VERSION = "2.12.3";
    static MemcachedClient client;
    static int count = 0;

    public static void main(String[] args) throws Exception {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SunLogger");
        Logger.getLogger("").setLevel(Level.OFF);
        client = new MemcachedClient(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
        SerializingTranscoder plain = new SerializingTranscoder();
        write("default", plain, values());
        write("default", plain, around(16384));
        SerializingTranscoder small = new SerializingTranscoder();
        small.setCompressionThreshold(100);
        write("compressionThreshold=100", small, around(100));
        List<Object[]> json = new ArrayList<>();
        for (String piece : List.of("hex:5b", "hex:7b", "hex:20", "hex:2d", "hex:31")) {
            json.add(text(piece + "+repeat:31*150"));
            json.add(text(piece + "+repeat:31*150+hex:0a"));
        }
        json.add(text("repeat:31*150"));
        json.add(text("hex:2d2d+repeat:31*150"));
        json.add(text("repeat:31*150+hex:2e31"));
        json.add(text("repeat:31*150+hex:0d0a"));
        json.add(text("repeat:31*150+hex:c285"));
        json.add(text("repeat:31*150+hex:e280a8"));
        json.add(text("repeat:31*150+hex:e280a9"));
        json.add(text("repeat:31*150+hex:0d"));
        json.add(text("repeat:31*150+hex:0a0a"));
        json.add(text("repeat:31*150+hex:d9a1"));
        json.add(bytes("hex:5b+repeat:31*150"));
        json.add(object("ArrayList", String.valueOf(Collections.nCopies(150, 1)), new ArrayList<>(Collections.nCopies(150, 1))));
        write("compressionThreshold=100", small, json);
        SerializingTranscoder one = new SerializingTranscoder();
        one.setCompressionThreshold(1);
        write("compressionThreshold=1", one, values().subList(0, 40));
        client.incr("counter", 1, 7, 0);
        client.incr("counter", 3);
        write("counter", plain, List.<Object[]>of(object("String", "hex:3130", client.get("counter"))));
        int foreign = Integer.parseInt(args[1]);
        for (int number = 0; number < foreign; number++) {
            String key = "f" + number;
            print("\"version\":\"" + VERSION + "\",\"config\":\"default\",\"op\":\"read\",\"key\":\"" + key + "\",\"get_back\":" + read(key, plain));
        }
        client.shutdown();
        System.exit(0);
    }

    static List<Object[]> values() {
        List<Object[]> values = new ArrayList<>();
        for (String shown : List.of("hex:", "hex:61", "hex:c3a9ed959cf09f9880", "hex:610062", "hex:3432", "hex:7b7d", "hex:74727565")) {
            values.add(text(shown));
        }
        for (String shown : List.of("hex:", "hex:61", "hex:00ff0d0a20", "hex:c3a9")) {
            values.add(bytes(shown));
        }
        for (int value : new int[] {0, 1, -1, 42, 255, 256, 65535, 65536, 1 << 24, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            values.add(object("Integer", "" + value, value));
        }
        for (long value : new long[] {0, 1, -1, 255, 256, 1L << 31, 1L << 40, 1L << 56, Long.MAX_VALUE, Long.MIN_VALUE}) {
            values.add(object("Long", "" + value, value));
        }
        values.add(object("Boolean", "true", true));
        values.add(object("Boolean", "false", false));
        for (byte value : new byte[] {0, 1, -1, 127, -128}) {
            values.add(object("Byte", "" + value, value));
        }
        for (short value : new short[] {0, -1, Short.MAX_VALUE}) {
            values.add(object("Short", "" + value, value));
        }
        values.add(object("Character", "97", 'a'));
        for (float value : new float[] {0f, -0f, 1.1f, -1.5f, Float.MIN_VALUE, Float.MAX_VALUE, Float.POSITIVE_INFINITY, Float.NaN, Float.intBitsToFloat(0x7fc00001)}) {
            values.add(object("Float", "bits:" + String.format("%08x", Float.floatToRawIntBits(value)), value));
        }
        for (double value : new double[] {0d, -0d, 1.1, -1.5, Double.MIN_VALUE, Double.MAX_VALUE, Double.NEGATIVE_INFINITY, Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L)}) {
            values.add(object("Double", "bits:" + String.format("%016x", Double.doubleToRawLongBits(value)), value));
        }
        for (long millis : new long[] {0, 1, -1, 951_827_696_789L, Long.MAX_VALUE, Long.MIN_VALUE}) {
            values.add(object("Date", "" + millis, new Date(millis)));
        }
        values.add(object("null", "null", null));
        values.add(object("StringBuilder", "text", new StringBuilder("text")));
        values.add(object("StringBuffer", "text", new StringBuffer("text")));
        values.add(object("BigInteger", "18446744073709551615", new BigInteger("18446744073709551615")));
        values.add(object("BigDecimal", "1.10", new BigDecimal("1.10")));
        values.add(object("ArrayList", "[1, x]", new ArrayList<>(Arrays.asList(1, "x"))));
        values.add(object("UUID", "00000000-0000-0001-0000-000000000002", new UUID(1, 2)));
        values.add(object("int[]", "[1, 2]", new int[] {1, 2}));
        return values;
    }

    static List<Object[]> around(int threshold) {
        List<Object[]> values = new ArrayList<>();
        for (int count = threshold - 1; count <= threshold + 1; count++) {
            values.add(text("repeat:61*" + count));
            values.add(bytes("repeat:61*" + count));
            values.add(bytes("noise:" + count));
        }
        values.add(bytes("noise:100+repeat:00*" + (threshold - 100 + 1)));
        values.add(bytes("noise:" + threshold + "+repeat:00*20"));
        return values;
    }

    static Object[] object(String type, String shown, Object value) {
        return new Object[] {type, shown, value};
    }

    static Object[] text(String shown) {
        return object("String", shown, new String(content(shown), StandardCharsets.UTF_8));
    }

    static Object[] bytes(String shown) {
        return object("byte[]", shown, content(shown));
    }

    static void write(String config, Transcoder<Object> transcoder, List<Object[]> values) throws Exception {
        for (Object[] it : values) {
            String key = "w" + ++count;
            String error = "";
            try {
                if (!client.set(key, 0, it[2], transcoder).get()) {
                    error = ",\"set_error\":\"false\"";
                }
            } catch (Throwable e) {
                error = ",\"set_error\":\"" + e.getClass().getSimpleName() + "\"";
            }
            print("\"version\":\"" + VERSION + "\",\"config\":\"" + config + "\",\"op\":\"write\",\"name\":\"" + it[0] + " " + it[1] + "\",\"type\":\"" + it[0]
                + "\",\"value\":\"" + it[1] + "\",\"key\":\"" + key + "\"" + error + ",\"get_back\":" + read(key, transcoder));
        }
    }

    static void print(String fields) {
        System.out.println("{" + fields + "}");
    }

    static String read(String key, Transcoder<Object> transcoder) throws Exception {
        Object value;
        try {
            value = client.get(key, transcoder);
        } catch (Throwable e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "{\"error\":\"" + cause.getClass().getSimpleName() + "\"}";
        }
        if (value == null) {
            return "{\"type\":\"null\",\"value\":\"null\"}";
        }
        String shown = value.toString();
        if (value instanceof String text) {
            shown = shown(text.getBytes(StandardCharsets.UTF_8));
        } else if (value instanceof byte[] bytes) {
            shown = shown(bytes);
        } else if (value instanceof Float number) {
            shown = "bits:" + String.format("%08x", Float.floatToRawIntBits(number));
        } else if (value instanceof Double number) {
            shown = "bits:" + String.format("%016x", Double.doubleToRawLongBits(number));
        } else if (value instanceof Date date) {
            shown = "" + date.getTime();
        } else if (value instanceof Character unit) {
            shown = "" + (int) unit;
        } else if (value instanceof int[] numbers) {
            shown = Arrays.toString(numbers);
        }
        return "{\"type\":\"" + value.getClass().getSimpleName() + "\",\"value\":\"" + shown + "\"}";
    }

    static String shown(byte[] bytes) throws Exception {
        return bytes.length > 512 ? "sha256:" + hex(MessageDigest.getInstance("SHA-256").digest(bytes)) : "hex:" + hex(bytes);
    }

    static String hex(byte[] bytes) {
        StringBuilder out = new StringBuilder();
        for (byte it : bytes) {
            out.append(String.format("%02x", it));
        }
        return out.toString();
    }

    /** See README.md. */
    static byte[] content(String description) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String piece : description.split("\\+")) {
            String kind = piece.substring(0, piece.indexOf(':'));
            String rest = piece.substring(piece.indexOf(':') + 1);
            switch (kind) {
                case "hex" -> out.writeBytes(unhex(rest));
                case "repeat" -> {
                    String[] parts = rest.split("\\*");
                    for (int i = 0; i < Integer.parseInt(parts[1]); i++) {
                        out.writeBytes(unhex(parts[0]));
                    }
                }
                case "noise" -> {
                    long x = 1;
                    for (int i = 0; i < Integer.parseInt(rest); i++) {
                        x = (x * 1103515245L + 12345L) % (1L << 31);
                        out.write((int) (x >> 16 & 0xff));
                    }
                }
                default -> throw new IllegalArgumentException(piece);
            }
        }
        return out.toByteArray();
    }

    static byte[] unhex(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }
}
