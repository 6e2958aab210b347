package plan

import "strings"

// described is a node made ready for printing.
type described struct {
	title    string
	fields   []field
	children []described
	labels   []string // "SubPlan" and the like, one for each child; may be empty
	stats    *NodeStats
}

type field struct{ name, value string }

// appendText writes the tree as PostgreSQL's EXPLAIN does.
func (d described) appendText(b *strings.Builder, indent int, first bool) {
	pad := strings.Repeat(" ", indent)
	if first {
		b.WriteString(pad)
	} else {
		b.WriteString(pad + "->  ")
		indent += 4
	}
	b.WriteString(d.title)
	if d.stats != nil {
		b.WriteString(d.stats.text())
	}
	b.WriteByte('\n')
	inner := strings.Repeat(" ", indent+2)
	for _, f := range d.fields {
		b.WriteString(inner + f.name + ": " + readable(f.value) + "\n")
	}
	if d.stats != nil {
		for _, f := range d.stats.resources() {
			b.WriteString(inner + f.name + ": " + f.value + "\n")
		}
	}
	for i, c := range d.children {
		if i < len(d.labels) && d.labels[i] != "" {
			b.WriteString(inner + d.labels[i] + "\n")
			c.appendText(b, indent+4, false)
			continue
		}
		c.appendText(b, indent+2, false)
	}
}

// value returns the tree in the shape of EXPLAIN (FORMAT JSON).
func (d described) value(label string) map[string]any {
	out := map[string]any{"Node Type": d.title}
	if label != "" {
		out["Subplan Name"] = label
	}
	for _, f := range d.fields {
		out[f.name] = readable(f.value)
	}
	if d.stats != nil {
		out["Actual Rows"] = d.stats.Rows
		out["Actual Loops"] = d.stats.Loops
		out["Actual Total Time"] = d.stats.millis()
		d.stats.resourceValues(out)
	}
	var plans []any
	for i, c := range d.children {
		l := ""
		if i < len(d.labels) {
			l = d.labels[i]
		}
		plans = append(plans, c.value(l))
	}
	if len(plans) > 0 {
		out["Plans"] = plans
	}
	return out
}

// readable takes the column numbers out of canonical text: name#3 becomes name.
func readable(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\'' {
			quoted = !quoted
		}
		if c == '#' && !quoted && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				i++
			}
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
