import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** What tools on pgjdbc ask of DatabaseMetaData, and the parts of JDBC that Flow leaves out. */
public final class Metadata {
    private static int failed;

    private static void check(String what, Object got, Object want) {
        boolean ok = String.valueOf(got).equals(String.valueOf(want));
        System.out.println((ok ? "ok   " : "FAIL ") + "pgjdbc: " + what + (ok ? "" : ": got " + got + ", want " + want));
        if (!ok) {
            failed++;
        }
    }

    private interface Part {
        void run() throws Exception;
    }

    private static void section(String what, Part part) {
        try {
            part.run();
        } catch (Exception e) {
            e.printStackTrace(System.out);
            check(what, e, "no exception");
        }
    }

    /** The values of columns, joined by colons, a row after the other. */
    private static List<String> rows(ResultSet r, String... columns) throws SQLException {
        List<String> out = new ArrayList<>();
        try (r) {
            while (r.next()) {
                List<String> values = new ArrayList<>();
                for (String c : columns) {
                    values.add(r.getString(c));
                }
                out.add(String.join(":", values.stream().map(String::valueOf).toList()));
            }
        }
        return out;
    }

    private static void relations(DatabaseMetaData m) throws SQLException {
        check("product", m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion(), "PostgreSQL 15");
        check("getCatalogs", rows(m.getCatalogs(), "TABLE_CAT").contains("tally"), true);
        check("getSchemas", new TreeSet<>(rows(m.getSchemas(), "TABLE_SCHEM")).containsAll(List.of("information_schema", "pg_catalog", "public")), true);
        check("getTableTypes", rows(m.getTableTypes(), "TABLE_TYPE").containsAll(List.of("TABLE", "VIEW")), true);
        check("getTables", rows(m.getTables(null, "public", "m\\_%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"),
            "[m_s:TABLE, m_t:TABLE, m_p:VIEW, m_s__late:VIEW, m_s__rejected:VIEW, m_v:VIEW, m_v__errors:VIEW, m_v__late:VIEW]");
        check("getTables of the catalogs", rows(m.getTables(null, "pg_catalog", "pg_class", null), "TABLE_TYPE"), "[SYSTEM TABLE]");
        check("getColumns", rows(m.getColumns(null, "public", "m_t", null), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "COLUMN_DEF"),
            "[a:4:int4:10:0:0:null, b:12:varchar:40:0:0:null, c:2:numeric:8:2:1:null, d:93:timestamptz:35:6:1:null, e:2003:_text:2147483647:0:1:null, f:12:text:2147483647:0:1:'x'::text]");
        check("getColumns of a view", rows(m.getColumns(null, "public", "m_v", "%"), "COLUMN_NAME", "TYPE_NAME").subList(0, 3), "[k:text, n:int8, users:int8]");
        check("getPrimaryKeys", rows(m.getPrimaryKeys(null, "public", "m_t"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), "[a:1:m_t_pkey, b:2:m_t_pkey]");
        check("getIndexInfo", rows(m.getIndexInfo(null, "public", "m_t", true, false), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE"), "[m_t_pkey:a:f, m_t_pkey:b:f]");
        check("getBestRowIdentifier", rows(m.getBestRowIdentifier(null, "public", "m_t", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), "[a, b]");
        check("getImportedKeys", rows(m.getImportedKeys(null, "public", "m_t"), "FKCOLUMN_NAME"), "[]");
        check("getExportedKeys", rows(m.getExportedKeys(null, "public", "m_t"), "FKCOLUMN_NAME"), "[]");
        check("getCrossReference", rows(m.getCrossReference(null, "public", "m_t", null, "public", "m_s"), "FKCOLUMN_NAME"), "[]");
        check("getVersionColumns", rows(m.getVersionColumns(null, "public", "m_t"), "COLUMN_NAME").size() <= 1, true);
        check("getTablePrivileges", rows(m.getTablePrivileges(null, "public", "m_t"), "PRIVILEGE").contains("SELECT"), true);
        check("getColumnPrivileges", rows(m.getColumnPrivileges(null, "public", "m_t", "a"), "PRIVILEGE").contains("SELECT"), true);
    }

    private static void others(DatabaseMetaData m) throws SQLException {
        check("getTypeInfo", rows(m.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int4", "text", "numeric", "timestamptz", "jsonb", "_int4")), true);
        check("getUDTs", rows(m.getUDTs(null, "public", "m\\_t", null), "TYPE_NAME"), "[m_t]");
        check("getProcedures", rows(m.getProcedures(null, "public", "%"), "PROCEDURE_NAME"), "[]");
        check("getFunctions", rows(m.getFunctions(null, "pg_catalog", "date\\_trunc"), "FUNCTION_NAME").size() >= 2, true);
        check("getFunctionColumns", rows(m.getFunctionColumns(null, "pg_catalog", "quote\\_ident", null), "COLUMN_TYPE", "TYPE_NAME"), "[4:text, 1:text]");
        check("getClientInfoProperties", rows(m.getClientInfoProperties(), "NAME"), "[ApplicationName]");
        check("getSQLKeywords", m.getSQLKeywords().contains("analyze"), true);
        check("getMaxColumnNameLength", m.getMaxColumnNameLength(), 63);
        check("getDefaultTransactionIsolation", m.getDefaultTransactionIsolation(), Connection.TRANSACTION_READ_COMMITTED);
        check("getUserName", m.getUserName(), "tally");
        check("getNumericFunctions", m.getNumericFunctions().contains("abs"), true);
    }

    private static void statements(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("SELECT k, n, users FROM m_v WHERE k = ? AND n > ?")) {
            ParameterMetaData pm = p.getParameterMetaData();
            check("parameters", pm.getParameterTypeName(1) + " " + pm.getParameterTypeName(2), "text int8");
            ResultSetMetaData rm = p.getMetaData();
            check("result", rm.getColumnName(1) + " " + rm.getColumnTypeName(2) + " " + rm.getTableName(1), "k int8 m_v");
        }
        try (Statement s = c.createStatement()) {
            boolean result = s.execute("INSERT INTO m_t (a, b) VALUES (1, 'one'); SELECT a FROM m_t; UPDATE m_t SET c = 2");
            check("statements in one text", result + " " + s.getUpdateCount() + " " + s.getMoreResults() + " " + s.getMoreResults() + " " + s.getUpdateCount(), "false 1 true false 1");
        }
        try (PreparedStatement p = c.prepareStatement("INSERT INTO m_t (a, b) VALUES (?, ?)", new String[] {"a", "f"})) {
            p.setInt(1, 2);
            p.setString(2, "two");
            p.executeUpdate();
            check("generated keys", rows(p.getGeneratedKeys(), "a", "f"), "[2:x]");
        }
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
            ResultSet r = s.executeQuery("SELECT a FROM m_t ORDER BY a")) {
            r.last();
            check("scrollable result", r.getRow() + " " + r.getInt(1) + " " + r.previous() + " " + r.getInt(1), "2 2 true 1");
        }
        try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
            ResultSet r = s.executeQuery("SELECT a, b, c FROM m_t ORDER BY a")) {
            r.next();
            r.updateString("b", "changed");
            try {
                r.updateRow();
            } catch (SQLException e) {
                check("updatable result", e, "no exception");
            }
        }
    }

    private static void transactions(Connection c) throws SQLException {
        c.setAutoCommit(false);
        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        check("isolation", c.getTransactionIsolation(), Connection.TRANSACTION_SERIALIZABLE);
        try (Statement s = c.createStatement()) {
            s.executeUpdate("INSERT INTO m_t (a, b) VALUES (10, 'ten')");
            Savepoint p = c.setSavepoint("p");
            s.executeUpdate("INSERT INTO m_t (a, b) VALUES (11, 'eleven')");
            c.rollback(p);
            c.releaseSavepoint(p);
            c.commit();
            check("savepoint", rows(s.executeQuery("SELECT a FROM m_t WHERE a >= 10"), "a"), "[10]");
            c.commit();
            c.setReadOnly(true);
            try {
                s.executeUpdate("DELETE FROM m_t");
                check("read-only", "none", "25006");
            } catch (SQLException e) {
                check("read-only", e.getSQLState(), "25006");
            }
            c.rollback();
            c.setReadOnly(false);
        }
        c.setAutoCommit(true);
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }

    private static void arraysAndTimes(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("SELECT ?::int4[], ?::text[], ?::uuid, ?::date, ?::time, ?::timestamp, ?::bytea, ?::interval, ?::jsonb")) {
            for (int i = 0; i < 7; i++) { // text first, binary later
                p.setArray(1, c.createArrayOf("int4", new Integer[] {1, null, 3}));
                p.setArray(2, c.createArrayOf("text", new String[] {"a", "b\"c", null}));
                p.setObject(3, java.util.UUID.fromString("7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11"));
                p.setObject(4, java.time.LocalDate.of(2024, 2, 29));
                p.setObject(5, java.time.LocalTime.of(12, 30, 1));
                p.setObject(6, java.time.LocalDateTime.of(2024, 2, 29, 1, 2, 3, 456_000_000));
                p.setBytes(7, new byte[] {0, -1});
                p.setObject(8, new org.postgresql.util.PGInterval(0, 1, 2, 3, 4, 5.5));
                p.setObject(9, "{\"a\": [1, null]}", Types.OTHER);
                try (ResultSet r = p.executeQuery()) {
                    r.next();
                    String got = java.util.Arrays.toString((Object[]) r.getArray(1).getArray()) + java.util.Arrays.toString((Object[]) r.getArray(2).getArray())
                        + r.getObject(3) + " " + r.getObject(4, java.time.LocalDate.class) + " " + r.getObject(5, java.time.LocalTime.class) + " "
                        + r.getObject(6, java.time.LocalDateTime.class) + " " + r.getBytes(7)[1] + " " + r.getObject(8) + " " + r.getString(9);
                    if (i == 0 || i == 6) {
                        check("values, run " + (i + 1), got, "[1, null, 3][a, b\"c, null]7a1b9e3e-5b1c-4d0a-9f64-0a2f6f2f8f11 2024-02-29 12:30:01 2024-02-29T01:02:03.456 -1"
                            + " 1 mons 2 days 3 hours 4 mins 5.5 secs {\"a\": [1, null]}");
                    }
                }
            }
        }
    }

    private static void sessions(Connection c, String url) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("LISTEN news");
            try (Connection other = DriverManager.getConnection(url, "tally", ""); Statement o = other.createStatement()) {
                o.execute("NOTIFY news, 'hello'");
            }
            PGNotification[] got = c.unwrap(PGConnection.class).getNotifications(5000);
            check("LISTEN/NOTIFY", got == null ? "none" : got[0].getName() + "=" + got[0].getParameter(), "news=hello");
            s.setQueryTimeout(1);
            try {
                s.execute("SELECT pg_sleep(30)");
                check("query timeout", "none", "57014");
            } catch (SQLException e) {
                check("query timeout", e.getSQLState(), "57014");
            }
        }
        c.setClientInfo("ApplicationName", "metadata");
        try (Statement s = c.createStatement()) {
            check("client info", rows(s.executeQuery("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()"), "application_name"), "[metadata]");
        }
        check("isValid", c.isValid(5), true);
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("user", "tally");
        properties.put("reWriteBatchedInserts", "true");
        properties.put("autosave", "always"); // a savepoint before each statement
        try (Connection c = DriverManager.getConnection(args[0], properties)) {
            try (Statement s = c.createStatement()) {
                s.execute("CREATE TABLE m_t (a int, b varchar(40), c numeric(8,2), d timestamptz, e text[], f text DEFAULT 'x', PRIMARY KEY (a, b))");
                s.execute("CREATE STREAM m_s (k text, u text, at timestamptz, WATERMARK FOR at AS at - INTERVAL '1 minute') WITH (partitions = 2, partition_key = 'k')");
                s.execute("CREATE CONTINUOUS VIEW m_v AS SELECT k, count(*) AS n, approx_distinct(u) AS users FROM m_s GROUP BY k");
                s.execute("CREATE VIEW m_p AS SELECT k FROM m_v");
            }
            DatabaseMetaData m = c.getMetaData();
            section("relations", () -> relations(m));
            section("others", () -> others(m));
            section("statements", () -> statements(c));
            section("transactions", () -> transactions(c));
            section("values", () -> arraysAndTimes(c));
            section("sessions", () -> sessions(c, args[0]));
        }
        System.exit(failed == 0 ? 0 : 1);
    }
}
