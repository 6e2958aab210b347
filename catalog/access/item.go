package access

import (
	"strings"

	"github.com/tallydb/tallydb/catalog"
)

// Public is what PUBLIC is called where it is a role like others.
const Public = "PUBLIC"

// Item shows a grant as PostgreSQL's aclitem: grantee=privileges/grantor.
func Item(g catalog.Grant) string {
	return itemName(g.Grantee) + "=" + g.Privileges.Letters(g.Options) + "/" + itemName(g.Grantor)
}

// Items shows an ACL.
func Items(acl catalog.ACL) []string {
	out := make([]string, len(acl))
	for i, g := range acl {
		out[i] = Item(g)
	}
	return out
}

// itemName quotes a name in which there is more than letters, digits and underscores.
func itemName(name string) string {
	for i := range len(name) {
		switch ch := name[i]; {
		case ch == '_', ch >= '0' && ch <= '9', ch >= 'a' && ch <= 'z', ch >= 'A' && ch <= 'Z', ch >= 0x80:
		default:
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// ParseItem reads what Item writes; false where it is something else.
func ParseItem(text string) (g catalog.Grant, ok bool) {
	g.Grantee, text = cutName(text)
	text, ok = strings.CutPrefix(text, "=")
	if !ok {
		return g, false
	}
	for ; text != "" && text[0] != '/'; text = text[1:] {
		if text[0] == '*' {
			return g, false
		}
		var p catalog.Privileges
		if p.UnmarshalText([]byte(text[:1])) != nil {
			return g, false
		}
		g.Privileges |= p
		if len(text) > 1 && text[1] == '*' {
			g.Options |= p
			text = text[1:]
		}
	}
	if text, ok = strings.CutPrefix(text, "/"); !ok {
		return g, false
	}
	g.Grantor, text = cutName(text)
	return g, text == ""
}

// cutName takes a name from the beginning of an item.
func cutName(text string) (name, rest string) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, "=/")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:]
	}
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			out.WriteByte(text[i])
			continue
		}
		if i+1 == len(text) || text[i+1] != '"' {
			return out.String(), text[i+1:]
		}
		out.WriteByte('"')
		i++
	}
	return out.String(), ""
}
