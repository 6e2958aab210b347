package types

import (
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tallydb/tallydb/sql/sqlerr"
)

// Types that users define have numbers of their own: an even one, and the odd one behind
// it is that of the arrays of an enum.
const (
	FirstEnum   OID = 0xA000_0000
	LastEnum    OID = 0xAFFF_FFFF
	FirstDomain OID = 0xB000_0000
	LastDomain  OID = 0xBFFF_FFFF
)

// IsEnum reports whether values of the type are labels of an enum.
func (o OID) IsEnum() bool { return o >= FirstEnum && o <= LastEnum && o&1 == 0 }

// isEnumArray reports whether values of the type are arrays of an enum's labels.
func (o OID) isEnumArray() bool { return o >= FirstEnum && o <= LastEnum && o&1 == 1 }

// EnumLabel is a value of an enum. Its position is the value as columns and keys hold
// it: labels are in order of their positions, which they keep for life.
type EnumLabel struct {
	Position int64
	Text     string
}

// EnumSpacing lies between the positions of labels that were given together, so that
// others find room between them. A position divided by it is pg_enum.enumsortorder.
const EnumSpacing = 1 << 32

// SortOrder returns the position as pg_enum shows it.
func (l EnumLabel) SortOrder() float64 { return float64(l.Position) / EnumSpacing }

// Enum is what the text form of an enum's values needs. It is not changed once it is
// published.
type Enum struct {
	OID    OID
	Name   string // pg_type.typname
	Array  string // that of its array type
	Shown  string // as messages name it
	Labels []EnumLabel
	// Unsafe are labels that an open transaction has added: nobody can use them yet.
	Unsafe []EnumLabel
	// Renamed are labels as an open transaction calls them. Their old names still hold.
	Renamed []EnumLabel
}

// The registry of enums. A value is its position, so those who write and read text find
// the labels here, wherever they are: numbers of types are never given twice.
var (
	enums       atomic.Pointer[map[OID]*published]
	enumsChange sync.Mutex
)

type published struct {
	enum        *Enum
	info, array Info
}

// PublishEnum makes an enum known, or replaces what was known of it. It is safe for
// concurrent use.
func PublishEnum(e *Enum) {
	p := &published{
		enum:  e,
		info:  Info{e.OID, e.Name, e.Shown, 4, true, 'e', 'E', false, ',', 0, e.OID + 1, 'i', 'p'},
		array: Info{e.OID + 1, e.Array, e.Shown + "[]", -1, false, 'b', 'A', false, ',', e.OID, 0, 'i', 'x'},
	}
	changeEnums(func(m map[OID]*published) { m[e.OID] = p })
}

// ForgetEnum makes an enum unknown.
func ForgetEnum(o OID) { changeEnums(func(m map[OID]*published) { delete(m, o) }) }

func changeEnums(change func(map[OID]*published)) {
	enumsChange.Lock()
	defer enumsChange.Unlock()
	next := map[OID]*published{}
	if m := enums.Load(); m != nil {
		maps.Copy(next, *m)
	}
	change(next)
	enums.Store(&next)
}

// publishedEnum returns what is known of an enum or of its array type, or nil.
func publishedEnum(o OID) *published {
	if o < FirstEnum || o > LastEnum {
		return nil
	}
	if m := enums.Load(); m != nil {
		return (*m)[o&^1]
	}
	return nil
}

// EnumOf returns the enum with this number, or nil.
func EnumOf(o OID) *Enum {
	if p := publishedEnum(o); p != nil && o.IsEnum() {
		return p.enum
	}
	return nil
}

// Enum returns an enum as the session sees it, or nil. What another's transaction does
// to it is not in it.
func (o *TextOptions) Enum(t OID) *Enum {
	if o != nil {
		if e := o.Enums[t]; e != nil {
			return e
		}
	}
	e := EnumOf(t)
	if e == nil || len(e.Unsafe)+len(e.Renamed) == 0 {
		return e
	}
	shown := *e
	shown.Unsafe, shown.Renamed = nil, nil
	return &shown
}

// Label returns the text of a position; false if it has none.
func (e *Enum) Label(position int64) (string, bool) {
	i := sort.Search(len(e.Labels), func(i int) bool { return e.Labels[i].Position >= position })
	if i == len(e.Labels) || e.Labels[i].Position != position {
		return "", false
	}
	return e.Labels[i].Text, true
}

// Position returns the position of a label. 22P02 if there is none, 55P04 if it is not
// safe to use yet.
func (e *Enum) Position(text []byte) (int64, error) {
	for _, list := range [...][]EnumLabel{e.Labels, e.Renamed} {
		for i := range list {
			if list[i].Text == string(text) {
				return list[i].Position, nil
			}
		}
	}
	for i := range e.Unsafe {
		if e.Unsafe[i].Text == string(text) {
			return 0, e.unsafe(&e.Unsafe[i])
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input value for enum %s: \"%s\"", e.Shown, text)
}

func (e *Enum) unsafe(l *EnumLabel) error {
	return sqlerr.New(sqlerr.UnsafeNewEnumValue, "unsafe use of new value \"%s\" of enum type %s", l.Text, e.Shown).
		WithHint("New enum values must be committed before they can be used.")
}

// Between returns the labels from one position to another. 55P04 if one of them is not
// safe to use yet.
func (e *Enum) Between(from, to int64) ([]EnumLabel, error) {
	for i := range e.Unsafe {
		if p := e.Unsafe[i].Position; from <= p && p <= to {
			return nil, e.unsafe(&e.Unsafe[i])
		}
	}
	return slices.DeleteFunc(slices.Clone(e.Labels), func(l EnumLabel) bool { return l.Position < from || l.Position > to }), nil
}

func parseEnum(text []byte, t OID, opts *TextOptions) (int64, error) {
	e := EnumOf(t)
	if opts != nil && opts.Enums[t] != nil {
		e = opts.Enums[t]
	}
	if e == nil {
		return 0, sqlerr.New(sqlerr.UndefinedObject, "type with OID %d does not exist", t)
	}
	return e.Position(text)
}

func appendEnum(dst []byte, d Datum, opts *TextOptions) []byte {
	if e := opts.Enum(d.Type.OID); e != nil {
		if label, ok := e.Label(d.Int); ok {
			return append(dst, label...)
		}
	}
	return strconv.AppendInt(dst, d.Int, 10) // the type is gone
}

// EnumBetween returns a position between two, or false where there is no room left.
// Before the first label lower is math.MinInt64, behind the last upper is math.MaxInt64.
func EnumBetween(lower, upper int64) (int64, bool) {
	switch {
	case lower == math.MinInt64 && upper == math.MaxInt64:
		return EnumSpacing, true
	case lower == math.MinInt64:
		return upper - EnumSpacing, upper >= math.MinInt64+2*EnumSpacing
	case upper == math.MaxInt64:
		return lower + EnumSpacing, lower <= math.MaxInt64-2*EnumSpacing
	}
	middle := lower + (upper-lower)/2
	return middle, middle != lower
}
