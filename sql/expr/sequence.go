package expr

import (
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// Sequences is what functions do with sequences, which they name by number.
type Sequences interface {
	// NextValue takes the next number.
	NextValue(sequence uint32) (int64, error)
	// CurrentValue returns the number that the session took last of a sequence.
	CurrentValue(sequence uint32) (int64, error)
	// LastValue returns the number that the session took last of any.
	LastValue() (int64, error)
	// SetValue makes the sequence go on behind a number or, not called, with it.
	SetValue(sequence uint32, value int64, called bool) error
	// OwnedSequence returns the name of the sequence of a column; "" if it has none.
	OwnedSequence(table, column string) (string, error)
	// Unchecked returns them without a look at privileges, for identity columns, whose
	// sequences are a part of the table.
	Unchecked() Sequences
}

// OfIdentity makes the default of an identity column use its sequence without a look at
// the privileges on it.
func OfIdentity(value Expr) Expr { return &ofIdentity{value} }

type ofIdentity struct{ value Expr }

func (o *ofIdentity) Type() types.Type       { return o.value.Type() }
func (o *ofIdentity) Children() []Expr       { return []Expr{o.value} }
func (o *ofIdentity) String() string         { return o.value.String() }
func (o *ofIdentity) Volatility() Volatility { return o.value.Volatility() }

func (o *ofIdentity) WithChildren(c []Expr) Expr { return &ofIdentity{c[0]} }

func (o *ofIdentity) Eval(ec *Context, in *types.Batch) (*types.Vector, error) {
	own := *ec
	if own.Sequences != nil {
		own.Sequences = own.Sequences.Unchecked()
	}
	return o.value.Eval(&own, in)
}

// sequenceFunctions read and move sequences.
func sequenceFunctions() []overload {
	int8 := func(n int64, err error) (types.Datum, error) { return types.IntDatum(types.Int8, n), err }
	with := func(f func(s Sequences, a []types.Datum) (types.Datum, error)) rowFunc {
		return func(ec *Context, a []types.Datum) (types.Datum, error) {
			if ec.Sequences == nil {
				return types.Datum{}, sqlerr.New(sqlerr.FeatureNotSupported, "sequences are not supported here")
			}
			return f(ec.Sequences, a)
		}
	}
	set := func(s Sequences, a []types.Datum) (types.Datum, error) {
		return a[1], s.SetValue(uint32(a[0].Int), a[1].Int, len(a) < 3 || a[2].Int != 0)
	}
	return []overload{
		fn("nextval(regclass) int8", "next number of a sequence", with(func(s Sequences, a []types.Datum) (types.Datum, error) {
			return int8(s.NextValue(uint32(a[0].Int)))
		})).volatile(),
		fn("currval(regclass) int8", "number that the session took last of a sequence", with(func(s Sequences, a []types.Datum) (types.Datum, error) {
			return int8(s.CurrentValue(uint32(a[0].Int)))
		})).volatile(),
		fn("lastval() int8", "number that the session took last of any sequence", with(func(s Sequences, _ []types.Datum) (types.Datum, error) {
			return int8(s.LastValue())
		})).volatile(),
		fn("setval(regclass,int8) int8", "set a sequence", with(set)).volatile(),
		fn("setval(regclass,int8,bool) int8", "set a sequence", with(set)).volatile(),
		fn("pg_get_serial_sequence(text,text) text", "name of the sequence of a column", with(func(s Sequences, a []types.Datum) (types.Datum, error) {
			name, err := s.OwnedSequence(str(a[0]), str(a[1]))
			if err != nil || name == "" {
				return types.NullOf(types.Of(types.Text)), err
			}
			return text(name)
		})).stable(),
	}
}
