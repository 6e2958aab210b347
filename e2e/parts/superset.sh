# Apache Superset without a browser, from PyPI
pins=e2e/superset/requirements.txt
if ! python $pins; then
	bad "Superset comes from PyPI"
else
	cat >"$dir/superset_config.py" <<PY
SECRET_KEY = "only for this run $RANDOM$RANDOM"
SQLALCHEMY_DATABASE_URI = "sqlite:///$dir/superset.db?check_same_thread=false"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
PREVENT_UNSAFE_DB_CONNECTIONS = False
RATELIMIT_ENABLED = False
PY
	superset() { SUPERSET_CONFIG_PATH=$dir/superset_config.py FLASK_APP=superset TALLY_URI=postgresql+psycopg2://tally@127.0.0.1:$port/tally "$@"; }
	commands=$(dirname "$python")/superset
	if superset "$commands" db upgrade >"$dir/superset.log" 2>&1 &&
		superset "$commands" fab create-admin --username admin --firstname a --lastname b --email a@example.org --password admin >>"$dir/superset.log" 2>&1 &&
		superset "$commands" init >>"$dir/superset.log" 2>&1; then
		counted Superset superset "$python" e2e/superset/client.py
	else
		bad "Superset begins" "$(tail -5 "$dir/superset.log")"
	fi
fi
tried 'Apache Superset' "$(pinned $pins apache_superset)" 'connect, list schemas, tables and columns, datasets of a view and of a query, bar chart, time series, filters, SQL Lab'
