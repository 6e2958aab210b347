package session

import "strings"

// acceptedSettings are settings of PostgreSQL that clients read or set and that
// change nothing here, with the values that PostgreSQL has.
const acceptedSettings = `
array_nulls=on
backslash_quote=safe_encoding
check_function_bodies=on
default_table_access_method=heap
default_tablespace=
default_transaction_deferrable=off
enable_seqscan=on
escape_string_warning=on
jit=off
lc_monetary=C.UTF-8
lc_numeric=C.UTF-8
lc_time=C.UTF-8
maintenance_work_mem=65536
max_parallel_workers_per_gather=0
password_encryption=scram-sha-256
quote_all_identifiers=off
synchronize_seqscans=off
temp_tablespaces=
transaction_deferrable=off
work_mem=4096
xmloption=content`

// operatorSettings are those of them that only superusers may change.
const operatorSettings = `
lc_messages=C.UTF-8
log_min_duration_statement=-1
log_min_messages=warning
log_statement=none
session_replication_role=origin`

// fixedSettings are those that cannot be set.
const fixedSettings = `
autovacuum_max_workers=0
block_size=8192
lc_collate=C.UTF-8
lc_ctype=C.UTF-8
max_connections=1000
max_function_args=100
max_logical_replication_workers=0
max_parallel_workers=0
max_prepared_transactions=0
max_replication_slots=0
max_wal_senders=0
max_worker_processes=0
shared_preload_libraries=
superuser_reserved_connections=0
wal_level=replica`

// withAccepted adds them to the settings that mean something.
func withAccepted(known map[string]setting) map[string]setting {
	add := func(list string, s setting) {
		for line := range strings.Lines(strings.TrimSpace(list)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if _, ok := known[name]; !ok {
				s.initial = value
				known[name] = s
			}
		}
	}
	add(acceptedSettings, setting{about: "Accepted; changes nothing."})
	add(operatorSettings, setting{about: "Accepted; changes nothing.", superuser: true})
	add(fixedSettings, setting{about: "For clients of PostgreSQL that ask.", readOnly: true})
	return known
}
