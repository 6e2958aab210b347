package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// ServerVersion is what version() and drivers' feature checks see.
const ServerVersion = "15.0"

// setting reads a run-time setting, fallback where it is unknown.
func (ec *Context) setting(name, fallback string) string {
	if ec.Setting != nil {
		if v, ok := ec.Setting(name); ok {
			return v
		}
	}
	return fallback
}

func nameDatum(s string) (types.Datum, error) {
	return types.Datum{Type: types.Of(types.Name), Bytes: []byte(s)}, nil
}

// currentSchemas returns the schemas of the search path, those of which it is implicit that
// they come first only where all are asked for.
func (ec *Context) currentSchemas(all bool) []string {
	var out []string
	path := ec.SearchPath
	if !all && ec.ListedPath != nil {
		path = ec.ListedPath
	}
	for _, s := range path {
		if s == "$user" || s != "pg_catalog" && s != "information_schema" && !ec.hasSchema(s) {
			continue
		}
		out = append(out, s)
	}
	if ec.SearchPath == nil {
		out = []string{"public"}
	}
	return out
}

// hasSchema reports whether a schema of the search path exists; one that does
// not, such as the user's own, is passed over.
func (ec *Context) hasSchema(name string) bool {
	d, ok := ec.Catalog.(Definer)
	if !ok {
		return true
	}
	_, ok = d.ObjectOID(types.Regnamespace, QuoteIdent(name))
	return ok
}

// fixed returns the same value whatever the arguments.
func fixed(d types.Datum) rowFunc {
	return func(*Context, []types.Datum) (types.Datum, error) { return d, nil }
}

func systemFunctions() []overload {
	user := func(ec *Context, _ []types.Datum) (types.Datum, error) { return nameDatum(ec.User) }
	var out []overload
	for _, n := range []string{"current_user", "user", "current_role"} {
		out = append(out, fn(n+"() name", "name of the role that the statement runs as", user).stable())
	}
	out = append(out,
		fn("session_user() name", "name of the session's user", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			return nameDatum(ec.SessionUser)
		}).stable(),
		fn("version() text", "version of the server", func(*Context, []types.Datum) (types.Datum, error) {
			return text("PostgreSQL " + ServerVersion + " (TallyDB)")
		}).stable(),
		fn("current_database() name", "name of the database", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			return nameDatum(ec.Database)
		}).stable(),
		fn("current_catalog() name", "name of the database", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			return nameDatum(ec.Database)
		}).stable(),
		fn("current_schema() name", "first schema of the search path", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			if s := ec.currentSchemas(false); len(s) > 0 {
				return nameDatum(s[0])
			}
			return types.NullOf(types.Of(types.Name)), nil
		}).stable(),
		fn("current_schemas(bool) _name", "schemas of the search path", func(ec *Context, a []types.Datum) (types.Datum, error) {
			names := ec.currentSchemas(a[0].Int != 0)
			if a[0].Int != 0 && !slices.Contains(names, "pg_catalog") {
				names = append([]string{"pg_catalog"}, names...)
			}
			items := make([]types.Datum, len(names))
			for i, n := range names {
				items[i], _ = nameDatum(n)
			}
			return types.NewArray(types.Of(types.Name), items).Datum(), nil
		}).stable(),
		fn("current_setting(text) text", "run-time setting", currentSetting).stable(),
		fn("current_setting(text,bool) text", "run-time setting", currentSetting).stable(),
		fn("set_config(text,text,bool) text", "change a run-time setting", setConfig).volatile(),
	)
	out = append(append(out, catalogFunctions()...), definitionFunctions()...)
	out = append(append(out, sessionFunctions()...), advisoryFunctions()...)
	out = append(append(out, sequenceFunctions()...), privilegeFunctions()...)
	return append(append(append(out, identifierFunctions()...), fixedFunctions()...), functionsBehind()...)
}

// catalogFunctions answer questions about types, relations and the session.
func catalogFunctions() []overload {
	return []overload{
		fn("pg_get_userbyid(oid) name", "name of a role", func(ec *Context, a []types.Datum) (types.Datum, error) {
			if d := defined(ec, RoleName, a[0].Int, 0); !d.Null {
				return nameDatum(str(d))
			}
			return nameDatum("unknown (OID=" + strconv.FormatInt(a[0].Int, 10) + ")")
		}).stable(),
		fn("pg_my_temp_schema() oid", "schema of the session's temporary objects, 0 if none", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			return types.IntDatum(types.Oid, int64(ec.temporarySchema())), nil
		}).stable(),
		fn("pg_is_other_temp_schema(oid) bool", "whether a schema has the temporary objects of another session", otherTemporary).stable(),
		fn("pg_backend_pid() int4", "number of the session", func(ec *Context, _ []types.Datum) (types.Datum, error) {
			n, _ := strconv.Atoi(ec.setting("pg_backend_pid", "0"))
			return int4(n)
		}).stable(),
		fn("format_type(oid,int4) text", "name of a type", formatType).onNull().stable(),
		fn("pg_type_is_visible(oid) bool", "whether the search path finds a type", typeVisible).stable(),
		fn("pg_encoding_to_char(int4) name", "name of an encoding", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return nameDatum(map[int64]string{0: "SQL_ASCII", 6: "UTF8"}[a[0].Int])
		}),
		fn("pg_char_to_encoding(name) int4", "number of an encoding", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if isUTF8Name(str(a[0])) {
				return int4(6)
			}
			return int4(-1)
		}),
		fn("pg_size_pretty(int8) text", "size with a unit", sizePretty),
		fn("pg_get_viewdef(oid) text", "definition of a view", viewDefinition).stable(),
		fn("pg_get_viewdef(oid,bool) text", "definition of a view", viewDefinition).stable(),
		fn("pg_get_viewdef(oid,int4) text", "definition of a view", viewDefinition).stable(),
		fn("to_regclass(text) regclass", "relation by name, NULL if none", func(ec *Context, a []types.Datum) (types.Datum, error) {
			if ec.Catalog != nil {
				if oid, ok := ec.Catalog.RelationOID(str(a[0]), ec.SearchPath); ok {
					return types.IntDatum(types.Regclass, int64(oid)), nil
				}
			}
			return types.NullOf(types.Of(types.Regclass)), nil
		}).stable(),
		fn("to_regtype(text) regtype", "type by name, NULL if none", func(ec *Context, a []types.Datum) (types.Datum, error) {
			t, err := types.Parse(types.Of(types.Regtype), a[0].Bytes, ec.TextOptions())
			if err != nil {
				return types.NullOf(types.Of(types.Regtype)), nil //nolint:nilerr // an unknown name is NULL here
			}
			return t, nil
		}).stable(),
		fn("pg_typeof(any) regtype", "type of the argument", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.IntDatum(types.Regtype, int64(a[0].Type.OID)), nil
		}).onNull(),
		fn("pg_column_size(any) int4", "bytes of a value", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if n, ok := types.Lookup(a[0].Type.OID); ok && n.Len > 0 {
				return int4(int(n.Len))
			}
			return int4(len(a[0].Bytes) + 1)
		}),
	}
}

// temporarySchema returns the number of the schema of the session's temporary objects, 0 if
// there is none.
func (ec *Context) temporarySchema() uint32 {
	d, ok := ec.Catalog.(Definer)
	if !ok || ec.Temporary == "" {
		return 0
	}
	oid, _ := d.ObjectOID(types.Regnamespace, QuoteIdent(ec.Temporary))
	return oid
}

func otherTemporary(ec *Context, a []types.Datum) (types.Datum, error) {
	d, ok := ec.Catalog.(Definer)
	if !ok {
		return types.BoolDatum(false), nil
	}
	name, _ := d.ObjectName(types.Regnamespace, uint32(a[0].Int))
	return types.BoolDatum(catalog.IsTemporary(name) && name != ec.Temporary), nil
}

// fixedFunctions answer what psql and drivers ask of things that do not exist here.
func fixedFunctions() []overload {
	nullText := types.NullOf(types.Of(types.Text))
	yes, no, zero := types.BoolDatum(true), types.BoolDatum(false), types.IntDatum(types.Int8, 0)
	var out []overload
	add := func(d types.Datum, sigs ...string) {
		for _, s := range sigs {
			out = append(out, fn(s, "compatibility with PostgreSQL's clients", fixed(d)).stable())
		}
	}
	add(yes, "pg_function_is_visible(oid) bool", "pg_ts_parser_is_visible(oid) bool",
		"pg_ts_template_is_visible(oid) bool",
		"pg_opclass_is_visible(oid) bool", "pg_operator_is_visible(oid) bool", "pg_collation_is_visible(oid) bool",
		"pg_conversion_is_visible(oid) bool", "pg_statistics_obj_is_visible(oid) bool", "pg_ts_config_is_visible(oid) bool",
		"pg_ts_dict_is_visible(oid) bool", "pg_opfamily_is_visible(oid) bool")
	add(no, "pg_relation_is_publishable(regclass) bool", "pg_index_column_has_property(regclass,int4,text) bool")
	add(no, "pg_is_in_recovery() bool", "pg_is_wal_replay_paused() bool", "row_security_active(oid) bool")
	for _, object := range []string{"function", "type", "tablespace", "language"} {
		for _, of := range []string{"text", "oid"} {
			add(yes, "has_"+object+"_privilege("+of+",text) bool", "has_"+object+"_privilege(name,"+of+",text) bool",
				"has_"+object+"_privilege(oid,"+of+",text) bool")
		}
	}
	add(nullText, "shobj_description(oid,name) text", "pg_get_partkeydef(oid) text",
		"pg_get_ruledef(oid) text", "pg_get_ruledef(oid,bool) text", "pg_get_triggerdef(oid) text",
		"pg_get_triggerdef(oid,bool) text", "pg_get_functiondef(oid) text", "pg_get_statisticsobjdef_columns(oid) text",
		"inet_server_addr() text", "inet_client_addr() text", "pg_get_function_sqlbody(oid) text")
	add(types.NullOf(types.Of(types.Int4)), "inet_server_port() int4", "inet_client_port() int4")
	add(zero, "pg_relation_size(regclass) int8", "pg_relation_size(regclass,text) int8", "pg_total_relation_size(regclass) int8",
		"pg_table_size(regclass) int8", "pg_stat_get_numscans(oid) int8", "pg_indexes_size(regclass) int8", "pg_database_size(name) int8", "pg_database_size(oid) int8",
		"txid_current() int8", "pg_tablespace_size(oid) int8")
	add(types.TextDatum("UTF8"), "getdatabaseencoding() name")
	add(types.TextDatum(""), "pg_tablespace_location(oid) text")
	add(types.IntDatum(types.Int4, 0), "pg_relation_is_updatable(regclass,bool) int4")
	asIs := func(_ *Context, a []types.Datum) (types.Datum, error) { return types.TextDatum(str(a[0])), nil }
	return append(out, fn("pg_get_expr(pg_node_tree,oid) text", "expression as text", asIs),
		fn("pg_get_expr(pg_node_tree,oid,bool) text", "expression as text", asIs),
		fn("quote_ident(text) text", "quoted as an identifier", text1(QuoteIdent)),
		fn("quote_literal(text) text", "quoted as a literal", text1(QuoteLiteral)),
		fn("quote_literal(anyelement) text", "quoted as a literal", func(ec *Context, a []types.Datum) (types.Datum, error) {
			return text(QuoteLiteral(shown(ec, a[0])))
		}).stable(),
		fn("quote_nullable(text) text", "quoted as a literal or NULL", func(_ *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Null {
				return text("NULL")
			}
			return text(QuoteLiteral(str(a[0])))
		}).onNull(),
		fn("quote_nullable(anyelement) text", "quoted as a literal or NULL", func(ec *Context, a []types.Datum) (types.Datum, error) {
			if a[0].Null {
				return text("NULL")
			}
			return text(QuoteLiteral(shown(ec, a[0])))
		}).onNull().stable())
}

func currentSetting(ec *Context, a []types.Datum) (types.Datum, error) {
	if ec.Setting != nil {
		if v, ok := ec.Setting(strings.ToLower(str(a[0]))); ok {
			return text(v)
		}
	}
	if len(a) > 1 && a[1].Int != 0 {
		return types.NullOf(types.Of(types.Text)), nil
	}
	return types.Datum{}, sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", str(a[0]))
}

func setConfig(ec *Context, a []types.Datum) (types.Datum, error) {
	if ec.Set == nil {
		return types.Datum{}, sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter %q cannot be changed here", str(a[0]))
	}
	if err := ec.Set(str(a[0]), str(a[1]), a[2].Int != 0); err != nil {
		return types.Datum{}, err
	}
	return currentSetting(ec, a[:1])
}

func viewDefinition(ec *Context, a []types.Datum) (types.Datum, error) {
	if ec.Catalog != nil {
		if s, ok := ec.Catalog.ViewDefinition(uint32(a[0].Int)); ok {
			return text(s)
		}
	}
	return types.NullOf(types.Of(types.Text)), nil
}

func formatType(ec *Context, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.NullOf(types.Of(types.Text)), nil
	}
	t := types.Of(types.OID(a[0].Int))
	if a[0].Int == 0 {
		return text("-")
	}
	if named := ec.TextOptions().RegName; t.OID >= types.FirstEnum && named != nil {
		if name, ok := named(types.Regtype, uint32(t.OID)); ok {
			return text(name)
		}
		return text("???")
	}
	if t.OID == types.Bpchar && !a[1].Null && a[1].Int < 0 {
		return text("bpchar")
	}
	if !a[1].Null {
		return text(t.WithModifier(int32(a[1].Int)).String())
	}
	return text(t.String())
}

func sizePretty(_ *Context, a []types.Datum) (types.Datum, error) {
	n := a[0].Int
	limit := int64(10 * 1024)
	for i, unit := range []string{"bytes", "kB", "MB", "GB", "TB", "PB"} {
		if n < limit && n > -limit || unit == "PB" {
			if i > 0 { // halves round away from zero
				if n > 0 {
					n = (n + 1) / 2
				} else {
					n = (n - 1) / 2
				}
			}
			return text(strconv.FormatInt(n, 10) + " " + unit)
		}
		if i == 0 {
			n /= 512
		} else {
			n /= 1024
		}
		limit = 20*1024 - 1
	}
	return types.Datum{}, nil
}
