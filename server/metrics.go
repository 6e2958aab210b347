package server

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tallydb/tallydb/catalog/id"
)

// metrics are what the node counts itself; the rest is read from its parts when
// it is asked for.
type metrics struct {
	commitSeconds prometheus.Histogram
	commitAppends prometheus.Histogram
	logBytes      prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		commitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tally_log_commit_seconds", Help: "Time of a group commit: write and sync.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 15),
		}),
		commitAppends: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tally_log_commit_appends", Help: "Appends that shared a group commit.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 10),
		}),
		logBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "tally_log_bytes_total", Help: "Bytes of records appended to the log."}),
	}
}

func (m *metrics) observeCommit(took time.Duration, appends, bytes int) {
	m.commitSeconds.Observe(took.Seconds())
	m.commitAppends.Observe(float64(appends))
	m.logBytes.Add(float64(bytes))
}

// Collector exposes the node's metrics.
type Collector struct {
	node        *Node
	connections func() (open, total int64)
}

// NewCollector returns a Prometheus collector; connections tells of the clients.
func NewCollector(n *Node, connections func() (open, total int64)) *Collector {
	return &Collector{n, connections}
}

var (
	streamLabels = []string{"database", "stream", "partition"}
	viewLabels   = []string{"database", "view", "partition"}

	descReceived   = prometheus.NewDesc("tally_events_received_total", "Events applied from the log.", streamLabels, nil)
	descAdmitted   = prometheus.NewDesc("tally_events_admitted_total", "Events admitted.", streamLabels, nil)
	descDuplicates = prometheus.NewDesc("tally_events_duplicate_total", "Events recognised as duplicates (dedup hits).", streamLabels, nil)
	descRejected   = prometheus.NewDesc("tally_events_rejected_total", "Events rejected.", streamLabels, nil)
	descHead       = prometheus.NewDesc("tally_log_head", "Next offset of the partition's log.", streamLabels, nil)
	descApplied    = prometheus.NewDesc("tally_log_applied", "Offset up to which the log is applied.", streamLabels, nil)
	descWatermark  = prometheus.NewDesc("tally_watermark_seconds", "Watermark in seconds since 1970.", streamLabels, nil)
	descOffline    = prometheus.NewDesc("tally_partition_offline", "1 while an operator has the partition offline.", streamLabels, nil)
	descDedup      = prometheus.NewDesc("tally_dedup_ids", "Ids remembered for deduplication.", streamLabels, nil)
	descState      = prometheus.NewDesc("tally_state_bytes", "Bytes of state in memory.", streamLabels, nil)
	descCheckpoint = prometheus.NewDesc("tally_checkpoint_age_seconds", "Time since the last checkpoint.", streamLabels, nil)
	descLate       = prometheus.NewDesc("tally_view_late_total", "Events that came after their window closed.", viewLabels, nil)
	descErrors     = prometheus.NewDesc("tally_view_errors_total", "Events that an expression of the view failed on.", viewLabels, nil)
	descGroups     = prometheus.NewDesc("tally_view_open_groups", "Groups in memory.", viewLabels, nil)
	descWindows    = prometheus.NewDesc("tally_view_open_windows", "Windows in memory.", viewLabels, nil)
	descConns      = prometheus.NewDesc("tally_connections", "Clients connected.", nil, nil)
	descConnsTotal = prometheus.NewDesc("tally_connections_total", "Clients that ever connected.", nil, nil)
	descStatements = prometheus.NewDesc("tally_statements_total", "Statements run.", nil, nil)
	descFailures   = prometheus.NewDesc("tally_statement_failures_total", "Statements that ended with an error.", nil, nil)
	descPartials   = prometheus.NewDesc("tally_gather_partials_total", "Partial results let through the coverage gate.", nil, nil)
	descShared     = prometheus.NewDesc("tally_gather_shared_total", "Statements that shared the answer of another.", nil, nil)
	descRefused    = prometheus.NewDesc("tally_gather_refused_total", "Partial results refused by the coverage gate (ownership, identity, coverage).", nil, nil)
	descMissing    = prometheus.NewDesc("tally_gather_missing_total", "Expected partial results that did not come.", nil, nil)
	descDisk       = prometheus.NewDesc("tally_store_bytes", "Bytes of the key-value store on disk.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	n := c.node
	n.metrics.commitSeconds.Collect(ch)
	n.metrics.commitAppends.Collect(ch)
	n.metrics.logBytes.Collect(ch)
	counter := func(d *prometheus.Desc, v int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	open, total := c.connections()
	gauge(descConns, float64(open))
	counter(descConnsTotal, total)
	counter(descStatements, n.engine.Statements.Load())
	counter(descFailures, n.engine.Failures.Load())
	counter(descPartials, n.gather.Partials.Load())
	counter(descShared, n.engine.Flights.Shared())
	counter(descRefused, n.gather.Refused.Load())
	counter(descMissing, n.gather.Missing.Load())
	gauge(descDisk, float64(n.store.DiskBytes()))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, t := range n.openTenants() {
		snapshot := n.catalog.Snapshot(t.Database.Tenant)
		for _, rel := range snapshot.Relations() {
			if rel.Stream == nil {
				continue
			}
			for _, p := range rel.Stream.Partitions() {
				w, err := t.Streams.Worker(rel.ID, p)
				if err != nil {
					continue // dropped meanwhile
				}
				st, err := w.Status(ctx)
				if err != nil {
					continue // stopped, or too busy: the scrape goes on without it
				}
				labels := []string{t.Database.Name, rel.Name, strconv.Itoa(int(p))}
				counter(descReceived, st.Counters.Received, labels...)
				counter(descAdmitted, st.Counters.Admitted, labels...)
				counter(descDuplicates, st.Counters.Duplicates, labels...)
				counter(descRejected, st.Counters.Rejected, labels...)
				gauge(descHead, float64(n.log.Head(id.StreamPartition{Tenant: t.Database.Tenant, Stream: rel.ID, Partition: p})), labels...)
				gauge(descApplied, float64(st.Applied), labels...)
				if wm := eventSeconds(st.Watermark); wm != nil {
					gauge(descWatermark, *wm, labels...)
				}
				gauge(descOffline, boolNumber(w.Offline()), labels...)
				gauge(descDedup, float64(st.DedupIDs), labels...)
				gauge(descState, float64(st.MemoryBytes), labels...)
				gauge(descCheckpoint, n.cfg.Now().Sub(st.Checkpoint).Seconds(), labels...)
				for _, v := range snapshot.ViewsOf(rel.ID) {
					vs, ok := st.Views[v.ID]
					if !ok {
						continue
					}
					labels := []string{t.Database.Name, v.Name, strconv.Itoa(int(p))}
					counter(descLate, vs.Counters.Late, labels...)
					counter(descErrors, vs.Counters.Errors, labels...)
					gauge(descGroups, float64(vs.OpenGroups), labels...)
					gauge(descWindows, float64(vs.OpenWindows), labels...)
				}
			}
		}
	}
}
