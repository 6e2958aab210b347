# node-postgres, from npm
command -v node >/dev/null && command -v npm >/dev/null || install nodejs npm
place=$cache/node-$(cat e2e/node/package.json e2e/node/package-lock.json | sha256sum | cut -c1-12)
if [ ! -f "$place/complete" ]; then
	mkdir -p "$place" && cp e2e/node/package.json e2e/node/package-lock.json "$place" && (cd "$place" && npm ci --no-audit --no-fund --silent) && touch "$place/complete"
fi
if [ ! -f "$place/complete" ]; then
	bad "node-postgres comes from npm"
else
	cp e2e/node/client.js "$place"
	counted node-postgres node "$place/client.js" "$uri"
fi
tried node-postgres "$(sed -n 's/.*"pg": "\(.*\)".*/\1/p' e2e/node/package.json)" 'types, binary results, named statements, pools, `pg-cursor`, `pg-query-stream`, `pg-copy-streams`, LISTEN, statement_timeout'
