package expr

import (
	"strings"

	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// identifierFunctions take names apart.
func identifierFunctions() []overload {
	return []overload{
		fn("parse_ident(text) _text", "parts of a qualified name", parseIdent),
		fn("parse_ident(text,bool) _text", "parts of a qualified name", parseIdent),
	}
}

func parseIdent(_ *Context, a []types.Datum) (types.Datum, error) {
	whole := str(a[0])
	rest := strings.TrimSpace(whole)
	strict := len(a) < 2 || a[1].Int != 0
	var parts []types.Datum
	for {
		part, after, ok := cutIdentifier(rest)
		if !ok {
			break
		}
		parts = append(parts, types.TextDatum(part))
		rest = strings.TrimLeft(after, " \t\n")
		if !strings.HasPrefix(rest, ".") {
			if rest == "" || !strict {
				return types.NewArray(types.Of(types.Text), parts).Datum(), nil
			}
			break
		}
		rest = strings.TrimLeft(rest[1:], " \t\n")
	}
	return types.Datum{}, sqlerr.New(sqlerr.InvalidParameterValue, "string is not a valid identifier: %q", whole)
}

// cutIdentifier reads one identifier, folded to lower case unless it is quoted.
func cutIdentifier(s string) (name, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] != '"':
				b.WriteByte(s[i])
			case strings.HasPrefix(s[i:], `""`):
				b.WriteByte('"')
				i++
			default:
				return b.String(), s[i+1:], b.Len() > 0
			}
		}
		return "", "", false
	}
	end := 0
	for end < len(s) && identifierByte(s[end], end == 0) {
		end++
	}
	return strings.ToLower(s[:end]), s[end:], end > 0
}

func identifierByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || !first && (c >= '0' && c <= '9' || c == '$')
}
