package agg

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tallydb/tallydb/sql/expr"
)

// Registry holds the aggregate functions that a server knows, and the scalar
// functions that read their values. It is filled at start by explicit calls and
// then only read.
type Registry struct {
	functions map[string]*Function
	scalars   expr.Library
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{functions: map[string]*Function{}} }

// Register adds a function under its name and aliases; a second one of the same
// name is a programming error.
func (r *Registry) Register(f *Function) {
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if _, ok := r.functions[name]; ok {
			panic(fmt.Sprintf("aggregate %s registered twice", name))
		}
		r.functions[name] = f
	}
}

// Lookup returns the function of this name, or nil.
func (r *Registry) Lookup(name string) *Function { return r.functions[name] }

// Names returns every name, aliases included, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.functions)) }

// Scalars returns the scalar functions that come with the aggregates.
func (r *Registry) Scalars() *expr.Library { return &r.scalars }
