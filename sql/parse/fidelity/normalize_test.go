package fidelity

import (
	"encoding/json"
	"sort"
)

// normalize removes from a parse tree what has no meaning: places, the spelling of a
// default, and the order in which independent options were written.
func normalize(v any) any {
	switch x := v.(type) {
	case map[string]any:
		normalizeNode(x)
		for k := range x {
			x[k] = normalize(x[k])
		}
	case []any:
		for i := range x {
			x[i] = normalize(x[i])
		}
	}
	return v
}

// frameBetween is FRAMEOPTION_BETWEEN: ROWS 1 PRECEDING means BETWEEN it AND CURRENT ROW.
const frameBetween = 0x10

func normalizeNode(x map[string]any) {
	for _, k := range []string{"location", "stmt_location", "stmt_len", "list_start", "list_end", "rexpr_list_start", "rexpr_list_end"} {
		delete(x, k)
	}
	if f, ok := x["frameOptions"].(float64); ok {
		x["frameOptions"] = float64(int(f) &^ frameBetween)
	}
	// LIMIT ALL is no limit
	if count, ok := x["limitCount"].(map[string]any); ok {
		if c, ok := count["A_Const"].(map[string]any); ok && c["isnull"] == true {
			delete(x, "limitCount")
			if x["limitOffset"] == nil {
				x["limitOption"] = "LIMIT_OPTION_DEFAULT"
			}
		}
	}
	delete(x, "rtindex")
	if explain, ok := x["ExplainStmt"].(map[string]any); ok {
		if options, ok := explain["options"].([]any); ok {
			sort.Slice(options, func(i, j int) bool { return optionKey(options[i]) < optionKey(options[j]) })
		}
	}
	// The option's value TRUE is a string for the new syntax and a boolean for the old.
	if b, ok := x["Boolean"].(map[string]any); ok {
		delete(x, "Boolean")
		x["String"] = map[string]any{"sval": map[any]string{true: "true", nil: "false"}[b["boolval"]]}
	}
}

func optionKey(v any) string {
	element, _ := v.(map[string]any)["DefElem"].(map[string]any)
	text, _ := json.Marshal(element["defname"])
	return string(text)
}
