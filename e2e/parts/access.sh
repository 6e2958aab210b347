# Roles with passwords, TLS and what libpq makes of them.
has "access: a role" "$(q -c "CREATE USER alice PASSWORD 'wonder'")" "CREATE ROLE"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout "$dir/key.pem" -out "$dir/cert.pem" 2>/dev/null
stop
if start --tls-cert "$dir/cert.pem" --tls-key "$dir/key.pem" --require-password; then
	login() { PGPASSWORD=$1 psql -X -At "host=127.0.0.1 port=$port user=alice dbname=tally $2" -c "${3:-SELECT current_user}" 2>&1; }
	same "access: SCRAM-SHA-256 without TLS" "$(login wonder sslmode=disable)" alice
	has "access: a wrong password" "$(login other sslmode=disable)" 'password authentication failed for user "alice"'
	has "access: no password" "$(PGPASSWORD= psql -X -w "host=127.0.0.1 port=$port user=alice dbname=tally sslmode=disable" -c 'SELECT 1' 2>&1)" "no password supplied"
	has "access: a role that does not exist" "$(PGPASSWORD=x psql -X "host=127.0.0.1 port=$port user=nobody dbname=tally sslmode=disable" -c 'SELECT 1' 2>&1)" 'password authentication failed for user "nobody"'
	same "access: sslmode=verify-full, bound to the channel" "$(login wonder "sslmode=verify-full sslrootcert=$dir/cert.pem channel_binding=require" "SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")" "t|TLSv1.3"
	same "access: TLS 1.2" "$(login wonder "sslmode=require ssl_max_protocol_version=TLSv1.2" "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")" "TLSv1.2"
	has "access: a certificate of somebody else" "$(login wonder "sslmode=verify-full sslrootcert=/etc/ssl/certs/ca-certificates.crt")" "certificate verify failed"
	stop
else
	bad "access: the server starts with TLS"
fi
start || bad "the server starts again"
tried libpq "$(psql --version | grep -o '[0-9]*' | head -1)" 'SCRAM-SHA-256, TLS 1.2 and 1.3, `verify-full`, channel binding'
