// Package jsonvalue writes SQL values as canonical jsonb, for sketches whose
// answers are lists. It knows types, and no family.
package jsonvalue
