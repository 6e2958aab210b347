# pgjdbc, from Maven Central
JDBC_VERSION=42.7.11
command -v javac >/dev/null || install openjdk-17-jdk-headless
jar=${PGJDBC_JAR:-$HOME/.m2/repository/org/postgresql/postgresql/$JDBC_VERSION/postgresql-$JDBC_VERSION.jar}
if [ ! -f "$jar" ]; then
	command -v mvn >/dev/null || install maven
	(cd "$dir" && mvn -q -B dependency:get -Dartifact=org.postgresql:postgresql:$JDBC_VERSION) >"$dir/mvn.log" 2>&1 || tail -5 "$dir/mvn.log"
fi
if [ ! -f "$jar" ]; then
	bad "pgjdbc $JDBC_VERSION comes from Maven Central"
elif ! javac -cp "$jar" -d "$dir" e2e/jdbc/*.java; then
	bad "pgjdbc: the programs compile"
else
	echo "# pgjdbc $JDBC_VERSION on $(java -version 2>&1 | head -1)"
	counted "pgjdbc" java -cp "$jar:$dir" Flow "jdbc:postgresql://127.0.0.1:$port/tally?sslmode=disable"
	counted "pgjdbc" java -cp "$jar:$dir" Metadata "jdbc:postgresql://127.0.0.1:$port/tally?sslmode=disable"
fi
tried pgjdbc $JDBC_VERSION 'types in text and binary, batches, fetch size, savepoints, `autosave=always`, all of `DatabaseMetaData`, generated keys, updatable results, COPY, LISTEN, timeouts'
