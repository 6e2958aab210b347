package session

import (
	"math"
	"slices"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// maxLabel is the most bytes that a label of an enum has.
const maxLabel = 63

// lookupType returns a user's type by name; 42704 if there is none, and an error of the
// kind that wrong makes where the name is that of another type.
func (s *Session) lookupType(n ast.ObjectName, wrong func(shown string) error) (*catalog.Type, error) {
	t, array := bind.UserType(s.snapshot(), s.usablePath(), n)
	if t != nil && n.Schema != "" && !s.usable(n.Schema) {
		return nil, denied("schema", n.Schema)
	}
	switch {
	case array:
		return nil, wrong(t.Shown() + "[]")
	case t != nil:
		return t, nil
	}
	if rel, err := s.lookup(n); err == nil && rel.Kind != catalog.KindSequence {
		return nil, wrong(rel.Name)
	}
	builtin, err := bind.TypeOf(s.bindEnv(s.exprContext()), &ast.TypeName{Name: n})
	if err != nil {
		return nil, sqlerr.From(err).At(0)
	}
	return nil, wrong(builtin.String())
}

func notADomain(shown string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "%s is not a domain", shown)
}

func notAnEnum(shown string) error {
	return sqlerr.New(sqlerr.WrongObjectType, "%s is not an enum", shown)
}

// typeNameTaken fails with 42710 if a type has a name, or a relation whose rows would be
// a type of that name. A type of arrays gives way.
func (s *Session) typeNameTaken(schema, name, where string) error {
	t, array := s.snapshot().TypeByName(schema, name)
	switch {
	case array:
		next := *t
		next.Array = s.arrayName(schema, t.Array)
		s.catalog().SetType(&next)
		t = nil
	case t == nil:
		if rel := s.snapshot().ByName(schema, name); rel == nil || rel.Sequence != nil {
			return nil
		}
	}
	if array {
		return nil
	}
	return sqlerr.New(sqlerr.DuplicateObject, "type %q already exists%s", name, where)
}

// freeOfTypes fails with 42710 if a type has the name of a new relation, whose rows
// would be a type of that name.
func (s *Session) freeOfTypes(r *catalog.Relation) error {
	if r.Sequence != nil {
		return nil
	}
	if t, _ := s.snapshot().TypeByName(r.Schema, r.Name); t == nil {
		return nil
	}
	if err := s.typeNameTaken(r.Schema, r.Name, ""); err != nil {
		return sqlerr.From(err).WithHint("A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.")
	}
	return nil
}

// arrayName returns a name for the arrays of a type that no type has.
func (s *Session) arrayName(schema, name string) string {
	for {
		name = "_" + name
		if len(name) > maxLabel {
			name = string(types.CutName([]byte(name)))
		}
		if t, _ := s.snapshot().TypeByName(schema, name); t == nil {
			return name
		}
	}
}

// createEnum runs CREATE TYPE name AS ENUM.
func (s *Session) createEnum(x *ast.CreateEnum) (string, error) {
	schema, name, err := s.newPermanent(x.Name, "types")
	if err != nil {
		return "", err
	}
	if err := s.typeNameTaken(schema, name, ""); err != nil {
		return "", err
	}
	t := &catalog.Type{Schema: schema, Name: name, Array: s.arrayName(schema, name), Owner: s.owner(), Created: s.now()}
	for i, label := range x.Labels {
		if err := checkLabel(label); err != nil {
			return "", err
		}
		if t.Label(label) >= 0 {
			return "", sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint %q", "pg_enum_typid_label_index").
				WithDetail("Label %q is given twice.", label)
		}
		t.Labels = append(t.Labels, catalog.EnumLabel{ID: s.engine.Catalog.Reserve(), Position: int64(i+1) * types.EnumSpacing, Text: label})
	}
	if t.OID, err = s.engine.Catalog.ReserveType(types.FirstEnum, types.LastEnum); err != nil {
		return "", err
	}
	s.catalog().SetType(t)
	return "CREATE TYPE", nil
}

func checkLabel(label string) error {
	if len(label) > maxLabel {
		return sqlerr.New(sqlerr.InvalidName, "invalid enum label %q", label).WithDetail("Labels must be %d bytes or less.", maxLabel)
	}
	return nil
}

// alterType runs ALTER TYPE, and what ALTER DOMAIN has in common with it.
func (s *Session) alterType(x *ast.AlterType, out *sink) (string, error) {
	tag := "ALTER " + string(x.Kind)
	wrong := notAnEnum
	if x.Kind == ast.DomainObject {
		wrong = notADomain
	}
	t, err := s.lookupType(x.Name, wrong)
	if err == nil {
		err = s.mustOwnType(t)
	}
	switch {
	case err != nil:
		return "", err
	case t.Domain == nil && x.Kind == ast.DomainObject:
		return "", notADomain(t.Shown())
	case t.Domain != nil && (x.Action == ast.AddLabel || x.Action == ast.RenameLabel):
		return "", notAnEnum(t.Shown())
	}
	next := *t
	next.Labels = slices.Clone(t.Labels)
	switch x.Action {
	case ast.AddLabel:
		return tag, s.addLabel(&next, x, out)
	case ast.RenameLabel:
		return tag, s.renameLabel(t, &next, x)
	case ast.OwnType:
		return tag, s.setTypeOwner(&next, x.NewName)
	}
	return tag, s.placeType(t, &next, x)
}

func (s *Session) addLabel(t *catalog.Type, x *ast.AlterType, out *sink) error {
	if err := checkLabel(x.Label); err != nil {
		return err
	}
	if t.Label(x.Label) >= 0 {
		if !x.IfNotExists {
			return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", x.Label)
		}
		return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists, skipping", x.Label))
	}
	if err := freeAgain(t, x.Label); err != nil {
		return err
	}
	at := len(t.Labels)
	if x.Neighbour != nil {
		if at = t.Label(*x.Neighbour); at < 0 {
			return noLabel(*x.Neighbour)
		}
		if x.After {
			at++
		}
	}
	lower, upper := int64(math.MinInt64), int64(math.MaxInt64)
	if at > 0 {
		lower = t.Labels[at-1].Position
	}
	if at < len(t.Labels) {
		upper = t.Labels[at].Position
	}
	position, ok := types.EnumBetween(lower, upper)
	if !ok {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "there is no room for another label at this place of enum %s", t.Shown()).
			WithHint("Put it at the end, or create another type with the labels in this order and change the columns to it.")
	}
	label := catalog.EnumLabel{ID: s.engine.Catalog.Reserve(), Position: position, Text: x.Label, Unsafe: true}
	t.Labels = slices.Insert(t.Labels, at, label)
	s.catalog().SetType(t)
	return nil
}

// freeAgain fails with 55P04 for a name that the transaction has taken from a label of a
// type: until it commits, the name means that label.
func freeAgain(t *catalog.Type, label string) error {
	e := types.EnumOf(t.OID)
	if e == nil {
		return nil
	}
	if _, err := e.Position([]byte(label)); err != nil {
		return nil //nolint:nilerr // nothing has the name
	}
	return sqlerr.New(sqlerr.UnsafeNewEnumValue, "unsafe use of name \"%s\" of enum type %s, which another label has had", label, t.Shown()).
		WithHint("Commit the transaction that renamed that label before the name is given again.")
}

func noLabel(label string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "\"%s\" is not an existing enum label", label)
}

func (s *Session) renameLabel(t, next *catalog.Type, x *ast.AlterType) error {
	at := t.Label(x.Label)
	switch {
	case at < 0:
		return noLabel(x.Label)
	case t.Label(x.NewName) >= 0:
		return sqlerr.New(sqlerr.DuplicateObject, "enum label \"%s\" already exists", x.NewName)
	}
	if err := checkLabel(x.NewName); err != nil {
		return err
	}
	if err := freeAgain(t, x.NewName); err != nil {
		return err
	}
	next.Labels[at].Text = x.NewName
	texts := &relabel{s: s, t: t, was: x.Label, is: x.NewName, meant: map[string]string{}}
	if err := texts.everywhere(); err != nil {
		return err
	}
	s.catalog().SetType(next)
	texts.t = next
	return texts.everywhere()
}

// placeType gives a type another name or schema.
func (s *Session) placeType(t, next *catalog.Type, x *ast.AlterType) error {
	n := ast.ObjectName{Pos: x.Pos, Schema: t.Schema, Name: x.NewName}
	where := ""
	if x.Action == ast.MoveType {
		n.Schema, n.Name = x.NewName, t.Name
		where = " in schema " + `"` + x.NewName + `"`
	}
	schema, name, err := s.newName(n)
	if err != nil {
		return err
	}
	if schema == t.Schema && x.Action == ast.MoveType {
		return nil
	}
	if err := s.typeNameTaken(schema, name, where); err != nil {
		return err
	}
	next.Schema, next.Name = schema, name
	if t.Array != "" {
		next.Array = s.arrayName(schema, name)
	}
	if err := s.renameTypeInTexts(t, next); err != nil {
		return err
	}
	s.catalog().SetType(next)
	return nil
}

// commentOnType runs COMMENT ON TYPE.
func (s *Session) commentOnType(x *ast.CommentOn, text string) error {
	t, err := s.lookupType(x.Name, func(shown string) error {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COMMENT ON TYPE %s is not supported", shown)
	})
	if err == nil && x.Kind == ast.DomainObject && t.Domain == nil {
		err = notADomain(`"` + t.Name + `"`)
	}
	if err == nil {
		err = s.mustOwnType(t)
	}
	if err != nil {
		return err
	}
	next := *t
	next.Comment = text
	s.catalog().SetType(&next)
	return nil
}
