package parse_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/parse"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// TestGolden runs testdata/golden. Commands: "parse" writes the canonical text of each
// statement, "tree" the tree with positions, "error" the error as a client sees it.
// go test -rewrite makes the files anew.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			list, err := parse.Parse(d.Input)
			if err != nil {
				return describe(err, d.Cmd == "error")
			}
			var b strings.Builder
			for _, p := range list {
				switch d.Cmd {
				case "parse":
					fmt.Fprintln(&b, ast.String(p.Statement))
				case "tree":
					dump(&b, reflect.ValueOf(p.Statement), "")
				default:
					fmt.Fprintln(&b, "no error:", ast.String(p.Statement))
				}
			}
			return b.String()
		})
	})
}

func describe(err error, expected bool) string {
	e := sqlerr.From(err)
	s := fmt.Sprintf("%s at %d: %s\n", e.Code, e.Position, e.Message)
	if e.Detail != "" {
		s += "DETAIL: " + e.Detail + "\n"
	}
	if e.Hint != "" {
		s += "HINT: " + e.Hint + "\n"
	}
	if !expected {
		s = "unexpected " + s
	}
	return s
}

// dump writes a node's fields that are not zero, one a line.
func dump(b *strings.Builder, v reflect.Value, indent string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dump(b, v.Elem(), indent)
		}
	case reflect.Struct:
		dumpStruct(b, v, indent)
	case reflect.Slice:
		b.WriteString("\n")
		for i := range v.Len() {
			b.WriteString(indent + "- ")
			dump(b, v.Index(i), indent+"  ")
		}
	default:
		fmt.Fprintf(b, "%v\n", v.Interface())
	}
}

func dumpStruct(b *strings.Builder, v reflect.Value, indent string) {
	b.WriteString(v.Type().Name())
	if pos := v.FieldByName("Pos"); pos.IsValid() && !pos.IsZero() {
		fmt.Fprintf(b, " @%d", pos.Interface())
	}
	b.WriteString("\n")
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Name == "Pos" || v.Field(i).IsZero() {
			continue
		}
		b.WriteString(indent + "  " + f.Name + ": ")
		dump(b, v.Field(i), indent+"  ")
	}
}
