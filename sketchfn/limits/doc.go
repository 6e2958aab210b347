// Package limits computes confidence limits of what samples say: how many values
// there are if each was kept with some probability, and what the normal
// distribution allows.
//
// It knows distributions, no family, and no SQL.
package limits
