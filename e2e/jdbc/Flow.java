import java.io.StringReader;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import org.postgresql.PGConnection;

/** What an application with pgjdbc does first: connect, create, insert, read, look around. */
public final class Flow {
    private static int failed;

    private static void check(String what, Object got, Object want) {
        boolean ok = String.valueOf(got).equals(String.valueOf(want));
        System.out.println((ok ? "ok   " : "FAIL ") + "pgjdbc: " + what + (ok ? "" : ": got " + got + ", want " + want));
        if (!ok) {
            failed++;
        }
    }

    private static String text(Statement s, String sql) throws SQLException {
        try (ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getString(1);
        }
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(args[0], "tally", "")) {
            Statement s = c.createStatement();
            check("SELECT 1", text(s, "SELECT 1"), "1");
            s.execute("CREATE TABLE j (id int PRIMARY KEY, name text, price numeric(10,2), at timestamptz, ok boolean)");
            s.execute("CREATE STREAM js (id bigint, k text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') "
                + "WITH (partitions = 2, partition_key = 'k', dedup_key = 'id')");
            s.execute("CREATE CONTINUOUS VIEW jc AS SELECT k, count(*) AS n FROM js GROUP BY k");

            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO j VALUES (?, ?, ?, ?, ?)")) {
                for (int i = 0; i < 1000; i++) {
                    p.setInt(1, i);
                    p.setString(2, "n" + i);
                    p.setBigDecimal(3, new java.math.BigDecimal(i).movePointLeft(2));
                    p.setTimestamp(4, Timestamp.from(Instant.ofEpochSecond(1_700_000_000L + i)));
                    p.setObject(5, i % 3 == 0 ? null : i % 2 == 0, java.sql.Types.BOOLEAN);
                    p.addBatch();
                }
                check("batch", p.executeBatch().length, 1000);
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO js VALUES (?, ?, ?)")) {
                for (int i = 0; i < 500; i++) {
                    p.setLong(1, i);
                    p.setString(2, "k" + i % 5);
                    p.setTimestamp(3, Timestamp.from(Instant.ofEpochSecond(1_700_000_000L)));
                    p.addBatch();
                }
                p.executeBatch();
            }
            c.commit();
            check("rows of the table", text(s, "SELECT count(*) FROM j"), "1000");
            check("rows of the view", text(s, "SELECT n FROM jc WHERE k = 'k3'"), "100");
            check("status", text(s, "SELECT DISTINCT _status FROM jc"), "complete");

            try (PreparedStatement p = c.prepareStatement("SELECT id, name, price, at, ok FROM j WHERE id >= ? ORDER BY id")) {
                p.setFetchSize(64); // a portal that is read in parts
                p.setInt(1, 100);
                int n = 0;
                long sum = 0;
                try (ResultSet r = p.executeQuery()) {
                    while (r.next()) {
                        n++;
                        sum += r.getInt(1);
                        if (n == 2) {
                            check("numeric", r.getBigDecimal(3), "1.01");
                            check("timestamptz", r.getTimestamp(4).toInstant(), Instant.ofEpochSecond(1_700_000_101L));
                        }
                    }
                }
                check("cursor", n + " " + sum, "900 494550");
            }
            c.commit();
            // After its fifth run pgjdbc keeps the statement on the server and asks for binary.
            try (PreparedStatement p = c.prepareStatement("SELECT at, price, ok, name FROM j WHERE id = ?")) {
                String last = "";
                for (int i = 0; i < 10; i++) {
                    p.setInt(1, 7);
                    try (ResultSet r = p.executeQuery()) {
                        r.next();
                        last = r.getTimestamp(1).toInstant() + " " + r.getBigDecimal(2) + " " + r.getBoolean(3) + " " + r.getString(4);
                    }
                }
                check("prepared on the server", last, "2023-11-14T22:13:27Z 0.07 false n7");
            }
            c.rollback();
            c.setAutoCommit(true);

            DatabaseMetaData m = c.getMetaData();
            StringBuilder tables = new StringBuilder();
            try (ResultSet r = m.getTables(null, "public", "j%", null)) {
                while (r.next()) {
                    tables.append(r.getString("TABLE_NAME")).append(':').append(r.getString("TABLE_TYPE")).append(' ');
                }
            }
            check("getTables names the table", tables.indexOf("j:TABLE ") >= 0, true);
            check("getTables names the view", tables.indexOf("jc:VIEW ") >= 0, true);
            StringBuilder columns = new StringBuilder();
            try (ResultSet r = m.getColumns(null, "public", "j", null)) {
                while (r.next()) {
                    columns.append(r.getString("COLUMN_NAME")).append(':').append(r.getString("TYPE_NAME")).append(' ');
                }
            }
            check("getColumns", columns.toString().trim(), "id:int4 name:text price:numeric at:timestamptz ok:bool");
            StringBuilder keys = new StringBuilder();
            try (ResultSet r = m.getPrimaryKeys(null, "public", "j")) {
                while (r.next()) {
                    keys.append(r.getString("COLUMN_NAME"));
                }
            }
            check("getPrimaryKeys", keys, "id");

            long copied = c.unwrap(PGConnection.class).getCopyAPI()
                .copyIn("COPY js FROM STDIN CSV", new StringReader("1000,z,2024-01-01 00:00:00Z\n1001,z,2024-01-01 00:00:01Z\n"));
            check("copyIn", copied, 2);
            check("rows after copyIn", text(s, "SELECT n FROM jc WHERE k = 'z'"), "2");
            try {
                s.execute("SELECT nosuch FROM j");
                check("error", "none", "42703");
            } catch (SQLException e) {
                check("error", e.getSQLState(), "42703");
            }
            check("the connection goes on", text(s, "SELECT 2"), "2");
        }
        System.exit(failed == 0 ? 0 : 1);
    }
}
