package value

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Register registers what all families' values share: sketch_merge, sketch_info,
// sketch_export, sketch_import, sketch_quantile and sketch_rank.
func (fs *Families) Register(r *agg.Registry) {
	d := agg.Descriptor{
		Name: "sketch_merge", Family: "sketch", Signature: "sketch_merge(s sketch) → sketch",
		StreamModel: agg.CashRegister, MergeAlgebra: agg.MergeableSummary,
		Guarantee: "that of the family of the sketches", Confidence: "that of the family",
		Citation: "Agarwal, Cormode, Huang, Phillips, Wei, Yi: Mergeable summaries, 2012",
		Memory:   "that of the family", PrivacyClass: agg.HoldsValues, CodecVersion: int(codecV2),
	}
	r.Register(&agg.Function{Descriptor: d, Bind: fs.BindUnion(d.Name, "", nil)})
	fs.RegisterMerge(r, d.Name, "")
	fs.registerQuantiles(r)
	r.Scalars().Register(expr.Function{
		Signature: "sketch_info(sketch) jsonb", Description: "kind, parameters and estimates of a sketch",
		Volatility: expr.Stable, Eval: fs.Eval("sketch_info", "", info),
	})
	r.Scalars().Register(expr.Function{
		Signature: "sketch_export(sketch,text) bytea", Description: "sketch in another format: 'datasketches'",
		Eval: fs.Eval("sketch_export", "", export),
	})
	for _, signature := range []string{"sketch_import(bytea,text) sketch", "sketch_import(bytea,text,text) sketch"} {
		r.Scalars().Register(expr.Function{
			Signature: signature, Description: "sketch of another format: 'datasketches', and the type of its values",
			Eval: func(_ *expr.Context, args []types.Datum) (types.Datum, error) { return fs.importBytes(args) },
		})
	}
}

// RegisterUnion registers the union of a family's sketches, an aggregate and a scalar
// function of this name, the aggregate with other names too. d describes the aggregate
// that makes the sketches.
func (fs *Families) RegisterUnion(r *agg.Registry, d agg.Descriptor, name string, aliases ...string) {
	d.Name, d.Signature, d.Parameters, d.Aliases = name, name+"(s sketch) → sketch", nil, aliases
	d.StreamModel = agg.CashRegister // of sketches, whatever values they take
	r.Register(&agg.Function{Descriptor: d, Bind: fs.BindUnion(name, d.Family, nil)})
	fs.RegisterMerge(r, name, d.Family)
}

// RegisterMerge registers a scalar function that merges two values of a family,
// or of any if family is empty.
func (fs *Families) RegisterMerge(r *agg.Registry, name, family string) {
	r.Scalars().Register(expr.Function{
		Signature: name + "(sketch,sketch) sketch", Description: "union of two sketches of one kind",
		Eval: fs.Eval(name, family, func(_ *expr.Context, in []Opened, _ []types.Datum) (types.Datum, error) {
			if err := Compatible(in[0].Value, in[1].Value); err != nil {
				return types.Datum{}, err
			}
			if err := in[0].States.MergeFrom(0, in[1].States, 0); err != nil {
				return types.Datum{}, err
			}
			return in[0].Datum(), nil
		}),
	})
}

// info lists the family, the kind and what the family says.
func info(ec *expr.Context, in []Opened, _ []types.Datum) (types.Datum, error) {
	o := in[0]
	fields := []Field{{"family", o.Kind.Family}, {"type", o.Kind.Type}, {"seed", fmt.Sprintf("%016x", o.SeedID)}, {"state_bytes", len(o.State)}}
	fields = append(fields, o.Family.Info(o.Kind, o.States, 0, ec.Confidence())...)
	var b strings.Builder
	for i, f := range fields {
		text, err := json.Marshal(f.Value)
		if err != nil {
			return types.Datum{}, err
		}
		fmt.Fprintf(&b, "%c%q: %s", "{,"[min(i, 1)], f.Name, text)
	}
	b.WriteByte('}')
	return types.Parse(types.Of(types.JSONB), []byte(b.String()), nil)
}

func checkFormat(d types.Datum) error {
	if string(d.Bytes) == "datasketches" {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidParameterValue, "unknown sketch format %q", d.Bytes).WithHint("The format is 'datasketches'.")
}

func export(_ *expr.Context, in []Opened, rest []types.Datum) (types.Datum, error) {
	if err := checkFormat(rest[0]); err != nil {
		return types.Datum{}, err
	}
	if in[0].Family.Export == nil {
		return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "sketches of family %s have no DataSketches format", in[0].Kind.Family)
	}
	b, err := in[0].Family.Export(in[0])
	return types.Datum{Type: types.Of(types.Bytea), Bytes: b}, err
}

// importBytes finds the family by the third byte, which names it in all formats
// of DataSketches.
func (fs *Families) importBytes(args []types.Datum) (types.Datum, error) {
	b, typ := args[0].Bytes, ""
	if err := checkFormat(args[1]); err != nil {
		return types.Datum{}, err
	}
	if len(args) > 2 {
		t, err := types.ByName(string(args[2].Bytes))
		if err != nil {
			return types.Datum{}, err
		}
		typ = t.String()
	}
	if len(b) < 8 {
		return types.Datum{}, NotDataSketches("a sketch")
	}
	for _, f := range fs.list {
		if !slices.Contains(f.Imports, b[2]) {
			continue
		}
		v, err := f.Import(b, typ)
		if err != nil {
			return types.Datum{}, err
		}
		out := Append(nil, v)
		if _, err := fs.Open(out, agg.Config{}); err != nil {
			return types.Datum{}, err
		}
		return types.Datum{Type: types.Of(types.Sketch), Bytes: out}, nil
	}
	return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "sketches of DataSketches family %d are not supported", b[2])
}

// NotDataSketches reports bytes that are not what they are said to be.
func NotDataSketches(what string) error {
	return sqlerr.New(sqlerr.InvalidBinaryRepresentation, "the bytes are not %s of Apache DataSketches", what)
}
