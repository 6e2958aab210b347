# unixODBC with psqlODBC: isql, and pyodbc
command -v isql >/dev/null || install unixodbc
odbcinst -q -d 2>/dev/null | grep -q 'PostgreSQL Unicode' || install odbc-postgresql
pins=e2e/python/requirements.txt
if ! odbcinst -q -d 2>/dev/null | grep -q 'PostgreSQL Unicode' || ! python $pins; then
	bad "psqlODBC comes from Debian and pyodbc from PyPI"
else
	printf '[tally]\nDriver=PostgreSQL Unicode\nServername=127.0.0.1\nPort=%s\nDatabase=tally\nUsername=tally\nSSLmode=disable\n' "$port" >"$dir/odbc.ini"
	isql() { ODBCINI=$dir/odbc.ini command isql -b tally -d, 2>&1; }
	same "isql: a query" "$(echo 'SELECT carrier, sum(n) FROM by_hour GROUP BY carrier ORDER BY carrier' | isql)" $'AA,200\nUA,200'
	has "isql: help lists tables" "$(echo help | isql)" "public,carriers,TABLE" "public,by_hour,VIEW"
	has "isql: help of a table" "$(echo 'help carriers' | isql)" "public,carriers,code" "public,carriers,name"
	counted psqlODBC "$python" e2e/python/odbc_client.py "Driver=PostgreSQL Unicode;Server=127.0.0.1;Port=$port;Database=tally;Uid=tally;sslmode=disable"
fi
tried 'psqlODBC, unixODBC' "$(dpkg-query -W -f '${Version}' odbc-postgresql | grep -oE '[0-9]{2}\.[0-9.]+' | head -1), $(command isql --version 2>/dev/null | grep -o '[0-9.]*')" '`isql`; pyodbc: SQLTables, SQLColumns, SQLPrimaryKeys, SQLStatistics, SQLGetTypeInfo, SQLProcedures, parameters, transactions, UseDeclareFetch'
