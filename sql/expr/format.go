package expr

import (
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// reserved are the words that quote_ident puts in quotes.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary
		bit boolean both case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default
		deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest
		group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
		least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset
		on only or order out outer overlaps overlay placing position precision primary real references returning right row select
		session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat trim
		true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat`) {
		m[w] = true
	}
	return m
}()

// QuoteIdent quotes an identifier where SQL needs it.
func QuoteIdent(s string) string {
	safe := s != "" && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z') && !reserved[s]
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	if safe {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteLiteral quotes a string literal.
func QuoteLiteral(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

func formatFunctions() []overload {
	hex := func(t types.OID) rowFunc {
		return func(_ *Context, a []types.Datum) (types.Datum, error) {
			u := uint64(a[0].Int)
			if t == types.Int4 {
				u = uint64(uint32(a[0].Int))
			}
			return text(strconv.FormatUint(u, 16))
		}
	}
	out := []overload{
		fn("to_hex(int4) text", "hexadecimal", hex(types.Int4)), fn("to_hex(int8) text", "hexadecimal", hex(types.Int8)),
		fn("format(text) text", "formatted text", format).onNull().stable(),
		fn("format(text,...any) text", "formatted text", format).onNull().stable(),
		fn("to_number(text,text) numeric", "text as a number", toNumber),
		fn("to_date(text,text) date", "text as a date", func(_ *Context, a []types.Datum) (types.Datum, error) {
			us, _, _, err := parseTemplate(str(a[0]), str(a[1]))
			day, _ := types.SplitDay(us)
			return types.IntDatum(types.Date, day), err
		}),
		fn("to_timestamp(text,text) timestamptz", "text as a timestamp", func(ec *Context, a []types.Datum) (types.Datum, error) {
			us, zone, zoned, err := parseTemplate(str(a[0]), str(a[1]))
			if zoned {
				return types.IntDatum(types.Timestamptz, us-int64(zone)*1_000_000), err
			}
			return types.IntDatum(types.Timestamptz, types.FromLocal(us, ec.location())), err
		}).stable(),
	}
	for _, t := range []string{"int4", "int8", "float4", "float8", "numeric"} {
		out = append(out, fn("to_char("+t+",text) text", "number by a template", numberToChar))
	}
	for _, t := range []types.OID{types.Timestamp, types.Timestamptz, types.Interval} {
		info, _ := types.Lookup(t)
		f := fn("to_char("+info.Name+",text) text", "date and time by a template", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return timeTemplate(ec, a[0], str(a[1]))
		})
		if t == types.Timestamptz {
			f = f.stable()
		}
		out = append(out, f)
	}
	return out
}

// format implements %s, %I, %L, %% with positions, widths and the - flag.
func format(ec *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullOf(types.Of(types.Text)), nil
	}
	f, args, next := str(a[0]), a[1:], 0
	var b strings.Builder
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		i++
		if i < len(f) && f[i] == '%' {
			b.WriteByte('%')
			continue
		}
		number := func() int {
			n, start := 0, i
			for i < len(f) && f[i] >= '0' && f[i] <= '9' && n < 1<<20 {
				n, i = n*10+int(f[i]-'0'), i+1
			}
			if i == start {
				return -1
			}
			return n
		}
		width := number()
		if width >= 0 && i < len(f) && f[i] == '$' {
			if width == 0 {
				return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
			}
			next, width = width-1, -1
			i++
		}
		left := false
		for i < len(f) && f[i] == '-' {
			left, i = true, i+1
		}
		if width < 0 {
			width = number()
		}
		if i >= len(f) {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unterminated format() type specifier").
				WithHint("For a single \"%%%%\" use \"%%%%%%%%\".")
		}
		if f[i] != 's' && f[i] != 'I' && f[i] != 'L' {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized format() type specifier \"%c\"", f[i]).
				WithHint("For a single \"%%%%\" use \"%%%%%%%%\".")
		}
		if next >= len(args) {
			return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "too few arguments for format()")
		}
		s, err := formatArg(ec, f[i], args[next])
		if err != nil {
			return types.Datum{}, err
		}
		next++
		if fill := width - len([]rune(s)); fill > 0 && left {
			s += strings.Repeat(" ", fill)
		} else if fill > 0 {
			s = strings.Repeat(" ", fill) + s
		}
		if b.WriteString(s); b.Len() > maxText {
			return types.Datum{}, tooLong()
		}
	}
	return text(b.String())
}

func formatArg(ec *Context, verb byte, d types.Datum) (string, error) {
	switch {
	case d.Null && verb == 'I':
		return "", sqlerr.New(sqlerr.NullValueNotAllowed, "null values cannot be formatted as an SQL identifier")
	case d.Null && verb == 'L':
		return "NULL", nil
	case d.Null:
		return "", nil
	case verb == 'I':
		return QuoteIdent(shown(ec, d)), nil
	case verb == 'L':
		return QuoteLiteral(shown(ec, d)), nil
	}
	return shown(ec, d), nil
}

// toNumber reads the digits, sign and point of text; the template's other
// characters are skipped.
func toNumber(_ *Context, a []types.Datum) (types.Datum, error) {
	var b []byte
	neg := false
	for _, c := range str(a[0]) {
		switch {
		case c >= '0' && c <= '9' || c == '.':
			b = append(b, byte(c))
		case c == '-' || c == '<':
			neg = true
		}
	}
	if neg {
		b = append([]byte{'-'}, b...)
	}
	d, err := types.ParseDecimal(b)
	if err != nil {
		return types.Datum{}, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%s\"", a[0].Bytes)
	}
	return d.Datum(), nil
}
