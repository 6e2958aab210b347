// Package ddsketch estimates quantiles with a relative error of the value: the
// DDSketch (Masson, Rim, Lee: DDSketch: a fast and fully-mergeable quantile sketch
// with relative-error guarantees, 2019). Values are counted in bins whose limits
// grow by the factor gamma = (1+alpha)/(1-alpha).
//
// Where the values of one sign spread over more than maxBins bins, the bins nearest
// to zero are counted together, as one.
//
// Invariant: a state is a function of the multiset of values; the order of rows
// and merges leaves no trace.
package ddsketch
