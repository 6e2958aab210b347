package copyfmt

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Format of COPY data.
type Format uint8

// Formats.
const (
	Text Format = iota
	CSV
	Binary
)

// Options of a COPY, PostgreSQL's.
type Options struct {
	Format       Format
	Header       bool
	HeaderMatch  bool // the header's names must be the columns'
	Delimiter    byte
	Null         string
	Quote        byte // csv only, as Escape
	Escape       byte
	ForceQuote   []bool // by column, COPY TO
	ForceNotNull []bool // by column, COPY FROM
	ForceNull    []bool // by column, COPY FROM
}

// Defaults returns the options of a format when nothing is said.
func Defaults(f Format) Options {
	switch f {
	case CSV:
		return Options{Format: CSV, Delimiter: ',', Quote: '"', Escape: '"'}
	case Binary:
		return Options{Format: Binary}
	default:
		return Options{Format: Text, Delimiter: '\t', Null: `\N`}
	}
}

// Validate checks that the options go together.
func (o *Options) Validate() error {
	bad := func(format string, args ...any) error {
		return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
	switch {
	case o.Format == Binary:
		return nil
	case o.Delimiter == '\n' || o.Delimiter == '\r':
		return bad("COPY delimiter cannot be newline or carriage return")
	case containsByte(o.Null, o.Delimiter):
		return bad("COPY delimiter character must not appear in the NULL specification")
	case containsByte(o.Null, '\n') || containsByte(o.Null, '\r'):
		return bad("COPY null representation cannot use newline or carriage return")
	case o.Format == CSV && o.Delimiter == o.Quote:
		return bad("COPY delimiter and quote must be different")
	case o.Format == CSV && containsByte(o.Null, o.Quote):
		return bad("CSV quote character must not appear in the NULL specification")
	case o.Format == Text && isTextSpecial(o.Delimiter):
		return bad("COPY delimiter cannot be %q", string(o.Delimiter))
	}
	return nil
}

func containsByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

func isTextSpecial(c byte) bool {
	return c == '\\' || c == '.' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}
