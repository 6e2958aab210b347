package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tallydb/tallydb/catalog"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
	"github.com/tallydb/tallydb/stream/eventtime"
)

// maxPartitions bounds the partitions of a stream.
const maxPartitions = 1024

// createStream runs CREATE STREAM.
func (s *Session) createStream(x *ast.CreateStream, out *sink) (string, error) {
	schema, name, err := s.newPermanent(x.Name, "streams")
	if err != nil {
		return "", err
	}
	if done, err := s.exists(schema, name, x.IfNotExists, out); done || err != nil {
		return "CREATE STREAM", err
	}
	cols, err := columnsOf(s.bindEnv(s.exprContext()), x.Columns, x.Constraints)
	if err != nil {
		return "", err
	}
	if len(cols) == 0 {
		return "", sqlerr.New(sqlerr.InvalidTableDefinition, "a stream needs at least one column").At(x.Position())
	}
	for i, c := range cols {
		if c.Name == "window_start" || c.Name == "window_end" {
			return "", sqlerr.New(sqlerr.ReservedName, "column name %q is reserved in a stream", c.Name).
				WithHint("TUMBLE adds columns of the names window_start and window_end. Choose another name.").At(x.Columns[i].Position())
		}
	}
	rel := catalog.Relation{Schema: schema, Name: name, Kind: catalog.KindStream, Columns: cols, Created: s.now(), Owner: s.owner()}
	rel.Stream = &catalog.Stream{TimeColumn: -1, Defaults: s.defaultsOf(x.Columns)}
	if x.Watermark != nil {
		if err := readWatermark(&rel, x.Watermark); err != nil {
			return "", err
		}
	}
	if err := readStreamOptions(&rel, x.Options); err != nil {
		return "", err
	}
	if err := noticeNarrowDedup(&rel, out); err != nil {
		return "", err
	}
	rel.Stream.Seed = s.tenant.Database.Seed.Derive(fmt.Sprintf("stream %s %d", name, s.now().UnixNano()))
	rel.Stream.SketchSeed = s.tenant.Database.SketchSeed()
	created, err := s.engine.Catalog.Create(s.tenant.Database, rel)
	if err != nil {
		return "", err
	}
	return "CREATE STREAM", s.tenant.Streams.CreateStream(created)
}

// noticeNarrowDedup says so where events with the same dedup key may be routed
// apart, so that only the two keys together identify an event.
func noticeNarrowDedup(rel *catalog.Relation, out *sink) error {
	o := &rel.Stream.Options
	if len(o.DedupKey) == 0 {
		return nil
	}
	for _, c := range o.PartitionKey {
		if !slices.Contains(o.DedupKey, c) {
			return out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "events of stream %q are duplicates only where dedup_key and partition_key are both the same", rel.Name).
				WithDetail("Column %q of the partition_key is not in the dedup_key.", rel.Columns[c].Name).
				WithHint("Leave partition_key out, or take it from the columns of dedup_key, to recognise duplicates by dedup_key alone."))
		}
	}
	return nil
}

// readWatermark reads WATERMARK FOR column AS column - INTERVAL '...'.
func readWatermark(rel *catalog.Relation, w *ast.Watermark) error {
	c := rel.Column(w.Column.Name)
	if c < 0 {
		return sqlerr.From(undefinedColumn(rel, w.Column.Name, "WATERMARK")).At(w.Column.Position())
	}
	if t := rel.Columns[c].Type.OID; t != types.Timestamptz && t != types.Timestamp {
		return sqlerr.New(sqlerr.DatatypeMismatch, "event time column %q must be timestamp or timestamp with time zone, not %s", w.Column.Name, rel.Columns[c].Type.String()).
			At(w.Column.Position())
	}
	rel.Stream.TimeColumn = c
	rel.Columns[c].NotNull = true
	isColumn := func(e ast.Expr) bool {
		r, ok := e.(*ast.ColumnRef)
		return ok && len(r.Parts) == 1 && r.Parts[0] == w.Column.Name
	}
	if isColumn(w.Expr) {
		return nil
	}
	if b, ok := w.Expr.(*ast.Binary); ok && b.Op.Name == "-" && isColumn(b.Left) {
		d, err := intervalDuration(optionText(b.Right))
		if err != nil {
			return sqlerr.From(err).At(b.Right.Position())
		}
		rel.Stream.WatermarkDelay = eventtime.Duration(d.Microseconds())
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "this watermark is not supported").
		WithHint("Say WATERMARK FOR %s AS %s - INTERVAL '30 seconds'.", w.Column.Name, w.Column.Name).At(w.Position())
}

// readStreamOptions reads the WITH list of a stream and checks what goes together.
func readStreamOptions(rel *catalog.Relation, opts []ast.Option) error {
	o := catalog.StreamOptions{
		SourceKey: -1, IdleTimeout: 10 * time.Second, MaxFutureSkew: 5 * time.Minute, Retention: 7 * 24 * time.Hour, StreamKind: catalog.AppendStream,
	}
	partitions := int64(8)
	horizon := 10 * time.Minute
	var source, weight []int
	reader := optionReader{"stream", map[string]func(string) error{
		"partitions":      intOption("partitions", 1, maxPartitions, &partitions),
		"partition_key":   columnsOption("partition_key", rel, &o.PartitionKey),
		"dedup_key":       columnsOption("dedup_key", rel, &o.DedupKey),
		"dedup_horizon":   durationOption("dedup_horizon", &horizon),
		"source_key":      columnsOption("source_key", rel, &source),
		"idle_timeout":    durationOption("idle_timeout", &o.IdleTimeout),
		"max_future_skew": durationOption("max_future_skew", &o.MaxFutureSkew),
		"retention":       durationOption("retention", &o.Retention),
		"on_bad_row": func(v string) error {
			v, err := oneOf("on_bad_row", "error", "reject")(v)
			o.RejectBadRows = v == "reject"
			return err
		},
		"kind": func(v string) (err error) {
			o.StreamKind, err = oneOf("kind", catalog.AppendStream, catalog.StrictTurnstileStream, catalog.TurnstileStream)(v)
			return err
		},
		"weight": columnsOption("weight", rel, &weight),
	}}
	if err := reader.read(opts); err != nil {
		return err
	}
	if len(source) > 1 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "source_key takes one column")
	}
	if len(source) == 1 {
		o.SourceKey = source[0]
	}
	if err := readWeight(rel, &o, weight); err != nil {
		return err
	}
	o.Partitions, o.DedupHorizon = int(partitions), eventtime.Duration(horizon.Microseconds())
	if len(o.DedupKey) > 0 && o.DedupHorizon < rel.Stream.WatermarkDelay {
		return sqlerr.New(sqlerr.InvalidParameterValue, "dedup_horizon must be at least the watermark's delay").
			WithHint("An event may come as late as the watermark allows, and must still be recognised then.")
	}
	epoch := catalog.RoutingEpoch{}
	for p := range o.Partitions {
		epoch.Partitions = append(epoch.Partitions, id.Partition(p))
	}
	rel.Stream.Options, rel.Stream.Epochs = o, []catalog.RoutingEpoch{epoch}
	return nil
}

// readWeight checks that the kind of a stream and the column of its weights go together.
func readWeight(rel *catalog.Relation, o *catalog.StreamOptions, weight []int) error {
	switch {
	case o.StreamKind == catalog.AppendStream && len(weight) == 0:
		return nil
	case o.StreamKind == catalog.AppendStream:
		return sqlerr.New(sqlerr.InvalidParameterValue, "the events of an append stream have no weights").
			WithHint("Say kind = 'strict_turnstile' if negative weights only take away what was inserted, or kind = 'turnstile'.")
	case len(weight) != 1:
		return sqlerr.New(sqlerr.InvalidParameterValue, "a stream of kind %s needs the option weight, the column that says how often an event counts", o.StreamKind).
			WithHint("Say weight = 'column': 1 inserts, -1 deletes.")
	}
	c := &rel.Columns[weight[0]]
	if t := c.Type.OID; t != types.Int2 && t != types.Int4 && t != types.Int8 {
		return sqlerr.New(sqlerr.DatatypeMismatch, "weight column %q must be smallint, integer or bigint, not %s", c.Name, c.Type.String())
	}
	c.NotNull = true
	o.Weight = weight[0] + 1
	return nil
}

// createContinuousView runs CREATE CONTINUOUS VIEW. It returns when the view has
// read the retained log, telling the client how far it is.
func (s *Session) createContinuousView(ctx context.Context, x *ast.CreateContinuousView, out *sink) (string, error) {
	const tag = "CREATE CONTINUOUS VIEW"
	schema, name, err := s.newPermanent(x.Name, "continuous views")
	if err != nil {
		return "", err
	}
	if done, err := s.exists(schema, name, x.IfNotExists, out); done || err != nil {
		return tag, err
	}
	if x.OrReplace {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "OR REPLACE of a continuous view is not supported").
			WithHint("Create the new view under another name, then drop the old one; a new view reads the retained log.").At(x.Position())
	}
	if x.Emit != ast.EmitDefault {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "EMIT in a continuous view is not supported").
			WithHint("Leave it out. Readers see open windows too; those with _status = 'complete' are closed.").At(x.Position())
	}
	plan, err := bind.ContinuousView(s.bindEnv(s.exprContext()), x.Query, x.Columns)
	if err != nil {
		return "", err
	}
	if err := s.permitted(plan.Access); err != nil {
		return "", err
	}
	if err := checkColumns(plan.Columns); err != nil {
		return "", err
	}
	defer s.tenant.Streams.HoldHistory()()
	view := &catalog.ContinuousView{
		Stream: plan.Stream.ID, SQL: x.Source, TimeZone: s.settings.values["timezone"], Fingerprint: ViewFingerprint(plan, s.settings.values["timezone"]),
		MaxGroups: 1_000_000, Birth: s.tenant.Streams.Birth(plan.Stream), MissedUntil: s.tenant.Streams.MissedUntil(plan.Stream),
	}
	if err := s.readViewOptions(view, plan, x.Options); err != nil {
		return "", err
	}
	rel, err := s.engine.Catalog.Create(s.tenant.Database, catalog.Relation{
		Schema: schema, Name: name, Kind: catalog.KindContinuousView, Columns: plan.Columns, ContinuousView: view, Created: s.now(), Owner: s.owner(),
	})
	if err != nil {
		return "", err
	}
	compiled, err := s.engine.Compile(s.tenant.Database, rel)
	if err == nil {
		err = s.tenant.Streams.CreateView(ctx, rel, compiled, s.progressNotices(out, name))
	}
	if err != nil { // cancelled, or the node is going down: the view was not asked for any more
		if e := s.engine.Catalog.Drop(s.tenant.Database, rel.ID); e != nil {
			return "", e
		}
		if e := s.tenant.Streams.DropView(context.WithoutCancel(ctx), rel); e != nil {
			return "", e
		}
		return "", err
	}
	return tag, nil
}

// ViewFingerprint identifies what a continuous view keeps: its fold, and the time
// zone that its expressions are evaluated in.
func ViewFingerprint(p *bind.ViewPlan, timeZone string) string {
	return p.Fold.Fingerprint() + " " + timeZone
}

// progressNotices tells the client once a second how far a view has read.
func (s *Session) progressNotices(out *sink, view string) func(done, total int64) {
	last := s.now()
	return func(done, total int64) {
		if now := s.now(); now.Sub(last) >= time.Second {
			last = now
			_ = out.writer.Notice("NOTICE", sqlerr.New(sqlerr.SuccessfulCompletion, "%s: read %d of %d records of the retained log", view, done, total)) // a client that is gone cancels the statement
		}
	}
}

// readViewOptions reads the WITH list of a view and checks budgets (L-11).
func (s *Session) readViewOptions(view *catalog.ContinuousView, plan *bind.ViewPlan, opts []ast.Option) error {
	var lateness, ignored time.Duration
	asked := int64(0)
	var accuracy accuracyOptions
	readers := accuracy.readers()
	readers["allowed_lateness"] = durationOption("allowed_lateness", &lateness)
	readers["early"] = durationOption("early", &ignored)
	readers["max_staleness"] = durationOption("max_staleness", &view.MaxStaleness)
	readers["max_groups"] = intOption("max_groups", 1, 1_000_000_000, &asked)
	if err := (optionReader{"continuous view", readers}).read(opts); err != nil {
		return err
	}
	var err error
	if view.Accuracy, err = accuracy.resolve(nil); err != nil {
		return err
	}
	if err := plan.CheckAccuracy(view.Accuracy); err != nil {
		return err
	}
	view.Early = ignored
	view.AllowedLateness = eventtime.Duration(lateness.Microseconds())
	stream := plan.Stream.Stream
	if len(stream.Options.DedupKey) > 0 && stream.Options.DedupHorizon < stream.WatermarkDelay+view.AllowedLateness {
		return sqlerr.New(sqlerr.InvalidParameterValue, "allowed_lateness exceeds what the stream %q can deduplicate", plan.Stream.Name).
			WithDetail("dedup_horizon is %s; the watermark's delay and allowed_lateness add up to %s.",
				micros(stream.Options.DedupHorizon), micros(stream.WatermarkDelay+view.AllowedLateness)).
			WithHint("Create the stream with a longer dedup_horizon, or allow less lateness.")
	}
	return s.readGroups(view, asked, plan)
}

func micros(d eventtime.Duration) time.Duration { return time.Duration(d) * time.Microsecond }

// alterStream runs ALTER STREAM.
func (s *Session) alterStream(ctx context.Context, x *ast.AlterStream) (string, error) {
	rel, err := s.lookup(x.Name)
	if err != nil {
		return "", err
	}
	if rel.Stream == nil {
		return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a stream", rel.Name).At(x.Name.Position())
	}
	if err := s.mustOwn(rel); err != nil {
		return "", err
	}
	if x.Action != ast.PartitionOffline && x.Action != ast.PartitionOnline {
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "this form of ALTER STREAM is not supported").
			WithHint("Supported is ALTER STREAM %s PARTITION n OFFLINE or ONLINE.", rel.Name).At(x.Position())
	}
	p := id.Partition(x.Partition)
	if !slices.Contains(rel.Stream.Partitions(), p) {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "stream %q has no partition %d", rel.Name, x.Partition).
			WithHint("Its partitions are 0 to %d.", len(rel.Stream.Partitions())-1).At(x.Position())
	}
	offline := x.Action == ast.PartitionOffline
	_, err = s.engine.Catalog.Update(s.tenant.Database, rel.ID, func(r *catalog.Relation) error {
		r.Stream.Offline = slices.DeleteFunc(slices.Clone(r.Stream.Offline), func(q id.Partition) bool { return q == p })
		if offline {
			r.Stream.Offline = append(r.Stream.Offline, p)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return "ALTER STREAM", s.tenant.Streams.SetOffline(ctx, rel.ID, p, offline)
}
