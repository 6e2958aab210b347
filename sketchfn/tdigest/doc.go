// Package tdigest estimates quantiles with the merging t-digest (Dunning, Ertl:
// Computing extremely accurate quantiles using t-digests, 2019), for those who
// compare with other systems. It has no error bound (Cormode, Mishra, Ross, Veselý:
// Theory meets practice at the median: a worst case comparison of relative error
// quantile algorithms, 2021), so its values have no limits.
//
// A digest is centroids, means with weights, that are merged where neighbours fit
// between steps of the scale function k1, which are narrow towards both ends. New
// values are gathered first.
package tdigest
