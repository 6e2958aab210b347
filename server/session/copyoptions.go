package session

import (
	"strings"

	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/copyfmt"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// copyOptions reads the options of a COPY.
type copyOptions struct {
	copyfmt.Options
	reject bool // on_error: set bad rows aside
}

// readCopyOptions reads and checks the options of a COPY of these columns.
func readCopyOptions(c *ast.Copy, cols []types.Column) (copyOptions, error) {
	format := copyfmt.Text
	seen := map[string]bool{}
	for _, o := range c.Options {
		if seen[o.Name] {
			return copyOptions{}, sqlerr.New(sqlerr.SyntaxError, "conflicting or redundant options").At(o.Position())
		}
		seen[o.Name] = true
		if o.Name != "format" {
			continue
		}
		switch f := strings.ToLower(optionText(o.Value)); f {
		case "text":
		case "csv":
			format = copyfmt.CSV
		case "binary":
			format = copyfmt.Binary
		default:
			return copyOptions{}, sqlerr.New(sqlerr.InvalidParameterValue, "COPY format %q not recognized", f).At(o.Position())
		}
	}
	opts := copyOptions{Options: copyfmt.Defaults(format)}
	for _, o := range c.Options {
		if err := opts.read(o, cols); err != nil {
			return opts, sqlerr.From(err).At(o.Position())
		}
	}
	for _, o := range c.Options {
		if err := opts.fits(o.Name, c.From); err != nil {
			return opts, err
		}
	}
	if opts.Format == copyfmt.CSV && !seen["escape"] {
		opts.Escape = opts.Quote
	}
	return opts, opts.Validate()
}

// fits refuses an option that the format or the direction does not have.
func (o *copyOptions) fits(name string, from bool) error {
	csv, binary := o.Format == copyfmt.CSV, o.Format == copyfmt.Binary
	unsupported := func(message string) error { return sqlerr.New(sqlerr.FeatureNotSupported, "%s", message) }
	switch {
	case binary && (name == "delimiter" || name == "null"):
		return sqlerr.New(sqlerr.SyntaxError, "cannot specify %s in BINARY mode", strings.ToUpper(name))
	case binary && name == "header":
		return unsupported("cannot specify HEADER in BINARY mode")
	case !csv && (name == "quote" || name == "escape"):
		return unsupported("COPY " + name + " available only in CSV mode")
	case !csv && strings.HasPrefix(name, "force_"):
		return unsupported("COPY " + strings.ReplaceAll(name, "_", " ") + " available only in CSV mode")
	case name == "force_quote" && from:
		return unsupported("COPY force quote only available using COPY TO")
	case (name == "force_not_null" || name == "force_null") && !from:
		return unsupported("COPY " + strings.ReplaceAll(name, "_", " ") + " only available using COPY FROM")
	case name == "header" && o.HeaderMatch && !from:
		return unsupported("cannot use \"match\" with HEADER in COPY TO")
	}
	return nil
}

// read takes one option.
func (o *copyOptions) read(opt ast.Option, cols []types.Column) error {
	value := optionText(opt.Value)
	switch opt.Name {
	case "format":
		return nil
	case "header":
		if strings.EqualFold(value, "match") {
			o.Header, o.HeaderMatch = true, true
			return nil
		}
		v, err := boolean("header")(orTrue(value))
		o.Header = v == "on"
		return err
	case "null":
		o.Null = value
		return nil
	case "delimiter":
		return oneByte(&o.Delimiter, opt.Name, value)
	case "quote":
		return oneByte(&o.Quote, opt.Name, value)
	case "escape":
		return oneByte(&o.Escape, opt.Name, value)
	case "encoding":
		if _, err := encoding(value); err != nil {
			return sqlerr.New(sqlerr.InvalidParameterValue, "argument to option \"encoding\" must be a valid encoding name").
				WithDetail("Only UTF8 is supported, not %q.", value)
		}
		return nil
	case "on_error":
		o.reject = strings.EqualFold(value, "ignore") || strings.EqualFold(value, "reject")
		if !o.reject && !strings.EqualFold(value, "stop") {
			return sqlerr.New(sqlerr.InvalidParameterValue, "COPY ON_ERROR %q not recognized", value).WithHint("Say stop or reject.")
		}
		return nil
	case "force_quote":
		return columnFlags(&o.ForceQuote, opt, cols)
	case "force_not_null":
		return columnFlags(&o.ForceNotNull, opt, cols)
	case "force_null":
		return columnFlags(&o.ForceNull, opt, cols)
	case "freeze", "log_verbosity":
		return nil
	}
	return sqlerr.New(sqlerr.SyntaxError, "option %q not recognized", opt.Name)
}

func orTrue(v string) string {
	if v == "" {
		return "true"
	}
	return v
}

func oneByte(into *byte, name, value string) error {
	if len(value) != 1 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s must be a single one-byte character", name)
	}
	*into = value[0]
	return nil
}

// columnFlags reads a list of column names, or * for all.
func columnFlags(into *[]bool, opt ast.Option, cols []types.Column) error {
	*into = make([]bool, len(cols))
	if _, all := opt.Value.(*ast.Star); all {
		for i := range cols {
			(*into)[i] = true
		}
		return nil
	}
	for _, name := range strings.Split(optionText(opt.Value), ",") {
		i := (&types.Schema{Columns: cols}).Index(strings.TrimSpace(name))
		if i < 0 {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q of option %s is not copied", strings.TrimSpace(name), opt.Name)
		}
		(*into)[i] = true
	}
	return nil
}
