# TallyDB. "make help" says what there is.
GO ?= go
BIN := bin/tally

.DEFAULT_GOAL := help
.PHONY: help build demo demo-charter test check fmt lint slt slt-verify bench bench-ingest bench-sketch sketch-statistics fuzz e2e e2e-record crash clean

help: ## Show this help
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

build: ## Build bin/tally
	$(GO) build -o $(BIN) ./cmd/tally

demo: build ## Stream two weeks of flights into a continuous view, and prove the numbers
	$(BIN) demo

demo-charter: build ## The six-event example: partial results, duplicates, restart
	$(BIN) demo charter

test: ## Every test that needs only Go
	$(GO) test -shuffle=on -timeout 30m ./...

check: lint ## Lint, architecture and all tests under the race detector
	$(GO) test -race -shuffle=on -timeout 60m ./...

fmt: ## Format the code
	$(GO) tool -modfile=tools/go.mod gofumpt -w .

lint: ## Formatting, vet, architecture, linters
	@out=$$($(GO) tool -modfile=tools/go.mod gofumpt -l .); if [ -n "$$out" ]; then echo "not formatted (make fmt):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run ./cmd/archcheck
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...

slt: build ## SQL tests: sqllogictest/testdata against a server
	$(BIN) slt sqllogictest/testdata

slt-verify: build ## The PostgreSQL parts of the SQL tests against a real PostgreSQL 15
	./sqllogictest/verify.sh

bench: ## Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-ingest: build ## Ingest throughput, printed with its parameters
	$(BIN) bench ingest

bench-sketch: ## Speed and size of sketches against other libraries, in one run
	cd sketchfn/bench && $(GO) test -v -run TestErrors . && $(GO) test -run '^$$' -bench . -benchtime 0.2s -count 6 .

# Values of each size and distribution of the grid: so many seeds of each size, 1,000 at
# most. 10000000000 is 1,000 seeds of ten million values, and takes hours.
GRID_VALUES ?= 5000000

sketch-statistics: ## The bounds of all sketches over ten times as many seeds
	TALLY_STATISTICS=full TALLY_GRID_VALUES=$(GRID_VALUES) $(GO) test -count=1 -timeout 600m -v -run 'Hold|Promises|Declared|Uniform|Unbiased|DataSketches|ThoseOf' ./sketchfn/...

fuzz: ## Each fuzz target for ten seconds
	./.ci/fuzz 10s

crash: build ## Kill the server under load, many times, and recount
	$(BIN) crash --kills 50

e2e: build ## Real clients against a server (installs what it needs)
	./e2e/run.sh

e2e-record: build ## The same, and write what was tried into docs/clients.md
	./e2e/run.sh --record

clean: ## Remove what was built
	rm -rf bin
