package ast

import "strings"

// quotedWords are PostgreSQL's words that an identifier cannot be spelled as without
// quotes in every place where String writes one.
var quotedWords = wordSet(`
	all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
	boolean both case cast char character check coalesce collate collation column concurrently
	constraint create cross current_catalog current_date current_role current_schema current_time
	current_timestamp current_user dec decimal default deferrable desc distinct do else emit end
	except exists extract false fetch float for foreign freeze from full grant greatest group
	grouping having ilike in initially inner inout int integer intersect interval into is isnull
	join lateral leading least left like limit localtime localtimestamp national natural nchar none
	normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay
	placing position precision primary real references returning right row select session_user
	set setof similar smallint some substring symmetric table tablesample then time timestamp to trailing
	treat trim true union unique user using values varchar variadic verbose when where window with
	xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
	xmlserialize xmltable rollup cube grouping partition range rows groups operator within filter over`)

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// QuoteIdentifier writes a name as PostgreSQL's quote_ident does: in quotes where it
// would not be read back as it is.
func QuoteIdentifier(name string) string {
	plain := name != "" && !quotedWords[name] && !(name[0] >= '0' && name[0] <= '9') && name[0] != '$'
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '$'
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// QuoteString writes a string constant.
func QuoteString(s string) string {
	if strings.Contains(s, `\`) {
		return "E'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
