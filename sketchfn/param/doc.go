// Package param checks the arguments of calls of sketch aggregates and words
// the errors: 42883 for types that no function takes, 22023 for a parameter that
// is no constant or outside its limits.
//
// It knows agg's parameters and types, and no function by name.
package param
