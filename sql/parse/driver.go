// Package parse turns PostgreSQL text into sql/ast.
package parse

import _ "github.com/pingcap/tidb/pkg/parser"
