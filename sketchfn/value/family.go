package value

import (
	"github.com/tallydb/tallydb/sketchfn/statecodec"
	"github.com/tallydb/tallydb/sql/agg"
	"github.com/tallydb/tallydb/sql/expr"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Family is what values need to know of a family.
type Family struct {
	Name      string
	ErrorKind agg.ErrorKind
	Unseeded  bool // states do not depend on the seed, so values have none
	// Spec returns how states of a kind of the family are kept, nil where the
	// family has no such kind.
	Spec func(k Kind) agg.StateSpec
	// Error returns the declared error of a state in the family's unit; NaN if it
	// has none.
	Error func(s agg.States, g uint32, confidence float64) float64
	// Info returns what sketch_info shows of a state besides its kind.
	Info func(k Kind, s agg.States, g uint32, confidence float64) []Field
	// Quantile and Rank are nil where the family has none.
	Quantile func(s agg.States, g uint32, q, confidence float64) Estimate
	Rank     func(s agg.States, g uint32, x, confidence float64) Estimate
	// Export writes a state in the format of Apache DataSketches; nil without one.
	Export func(v Opened) ([]byte, error)
	// Imports lists the DataSketches families that Import reads, by their number.
	Imports []byte
	// Import reads that format. typ is the name of the type of the values, empty
	// where the caller did not say.
	Import func(b []byte, typ string) (Value, error)
}

// Field is one line of sketch_info: a name and a JSON value as Go has it
// (string, bool, integers, float64).
type Field struct {
	Name  string
	Value any
}

// Families is all families whose states are values.
type Families struct{ list []*Family }

// Add adds a family.
func (fs *Families) Add(f *Family) { fs.list = append(fs.list, f) }

func (fs *Families) find(name string) *Family {
	for _, f := range fs.list {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// specOf returns the family and the spec of a kind; XX001 where there is none.
func (fs *Families) specOf(k Kind) (*Family, agg.StateSpec, error) {
	f := fs.find(k.Family)
	if f == nil {
		return nil, nil, statecodec.Corrupt("sketch")
	}
	spec := f.Spec(k)
	if spec == nil {
		return nil, nil, statecodec.Corrupt(f.Name)
	}
	return f, spec, nil
}

// Opened is a value whose state can be read: group 0 of States.
type Opened struct {
	Value
	Family *Family
	States agg.States
}

// Open reads a value. cfg is the seed of the caller, which its state needs only
// to hash more values.
func (fs *Families) Open(b []byte, cfg agg.Config) (Opened, error) {
	v, err := parse(b)
	if err != nil {
		return Opened{}, err
	}
	f, spec, err := fs.specOf(v.Kind)
	if err != nil {
		return Opened{}, err
	}
	s := spec.New(cfg)
	s.Grow(1)
	if err := s.Merge(0, v.State); err != nil {
		return Opened{}, err
	}
	return Opened{Value: v, Family: f, States: s}, nil
}

// Datum returns the opened state as a sketch value.
func (o Opened) Datum() types.Datum {
	o.State = nil
	return types.Datum{Type: types.Of(types.Sketch), Bytes: o.States.Append(Append(nil, o.Value), 0)}
}

// Eval makes a function of values of one family one of SQL: the sketches among
// the first arguments are opened, the rest is passed on.
func (fs *Families) Eval(name, family string, f func(ec *expr.Context, in []Opened, rest []types.Datum) (types.Datum, error)) func(*expr.Context, []types.Datum) (types.Datum, error) {
	return func(ec *expr.Context, args []types.Datum) (types.Datum, error) {
		var in []Opened
		for len(args) > 0 && args[0].Type.OID == types.Sketch {
			o, err := fs.Open(args[0].Bytes, agg.Config{Seed: ec.Seed})
			if err != nil {
				return types.Datum{}, err
			}
			if family != "" && o.Kind.Family != family {
				return types.Datum{}, wrongFamily(name, family, o.Kind.Family)
			}
			in, args = append(in, o), args[1:]
		}
		return f(ec, in, args)
	}
}

func wrongFamily(name, want, got string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "%s takes a sketch of family %s, not %s", name, want, got)
}

// Compatible refuses with TY003 what does not merge.
func Compatible(a, b Value) error {
	if a.Kind != b.Kind {
		return sqlerr.New(sqlerr.IncompatibleState, "sketches of different kinds do not merge").
			WithDetail("One is %s, the other %s.", a.Kind, b.Kind)
	}
	if a.SeedID != b.SeedID {
		return otherSeed()
	}
	return nil
}

func otherSeed() error {
	return sqlerr.New(sqlerr.IncompatibleState, "the sketch was made with another seed").
		WithHint("Each database hashes with a secret seed of its own; Apache DataSketches uses a public one.")
}

// Own refuses with TY003 a value that was hashed with another seed than the
// caller's, so that no value can be looked up in it.
func (o Opened) Own(ec *expr.Context) error {
	if o.SeedID != ec.Seed.ID() {
		return otherSeed()
	}
	return nil
}

// IsOf reports whether a value is a sketch of a family.
func IsOf(d types.Datum, family string) bool {
	v, err := parse(d.Bytes)
	return err == nil && v.Kind.Family == family
}
