package expr

import "github.com/tallydb/tallydb/sql/types"

// definitionFunctions show objects as text. What the catalog does not know is NULL.
func definitionFunctions() []overload {
	ask := func(what Definition) rowFunc {
		return func(ec *Context, a []types.Datum) (types.Datum, error) { return defined(ec, what, a[0].Int, 0), nil }
	}
	column := func(what Definition) rowFunc {
		return func(ec *Context, a []types.Datum) (types.Datum, error) {
			return defined(ec, what, a[0].Int, int(a[1].Int)), nil
		}
	}
	return []overload{
		fn("pg_table_is_visible(oid) bool", "whether the search path finds a relation", tableVisible).stable(),
		fn("pg_get_indexdef(oid) text", "definition of an index", ask(IndexDefinition)).stable(),
		fn("pg_get_indexdef(oid,int4,bool) text", "definition of an index or of its column", column(IndexDefinition)).stable(),
		fn("pg_get_constraintdef(oid) text", "definition of a constraint", ask(ConstraintDefinition)).stable(),
		fn("pg_get_constraintdef(oid,bool) text", "definition of a constraint", ask(ConstraintDefinition)).stable(),
		fn("pg_get_function_arguments(oid) text", "arguments of a function", ask(FunctionArguments)).stable(),
		fn("pg_get_function_identity_arguments(oid) text", "arguments of a function", ask(FunctionArguments)).stable(),
		fn("pg_get_function_result(oid) text", "result of a function", ask(FunctionResult)).stable(),
		fn("obj_description(oid) text", "comment on an object", ask(Description)).stable(),
		fn("obj_description(oid,name) text", "comment on an object", ask(Description)).stable(),
		fn("col_description(oid,int4) text", "comment on a column", func(ec *Context, a []types.Datum) (types.Datum, error) {
			if a[1].Int == 0 {
				return types.NullOf(types.Of(types.Text)), nil
			}
			return defined(ec, Description, a[0].Int, int(a[1].Int)), nil
		}).stable(),
	}
}

func defined(ec *Context, what Definition, oid int64, sub int) types.Datum {
	if d, ok := ec.Catalog.(Definer); ok {
		if s, ok := d.Define(what, uint32(oid), sub); ok {
			return types.TextDatum(s)
		}
	}
	return types.NullOf(types.Of(types.Text))
}

// tableVisible asks whether a relation's name needs its schema.
func tableVisible(ec *Context, a []types.Datum) (types.Datum, error) {
	if ec.Catalog == nil {
		return types.BoolDatum(true), nil
	}
	name, ok := ec.Catalog.RelationName(uint32(a[0].Int), ec.SearchPath)
	if !ok {
		return types.NullOf(types.Of(types.Bool)), nil
	}
	return types.BoolDatum(!qualified(name)), nil
}

// qualified reports whether a name has a schema.
func qualified(name string) bool {
	quoted := false
	for _, c := range name {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			return true
		}
	}
	return false
}

// typeVisible asks whether a type's name needs its schema.
func typeVisible(ec *Context, a []types.Datum) (types.Datum, error) {
	if d, ok := ec.Catalog.(Definer); ok {
		if name, ok := d.TypeName(types.OID(a[0].Int), ec.SearchPath); ok {
			return types.BoolDatum(!qualified(name)), nil
		}
	}
	return types.BoolDatum(true), nil
}
