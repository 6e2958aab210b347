package session

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tallydb/tallydb/distsql/envelope"
	"github.com/tallydb/tallydb/sql/sqlerr"
	"github.com/tallydb/tallydb/sql/types"
)

// setting describes one run-time setting.
type setting struct {
	initial  string
	about    string
	readOnly bool
	report   bool // told to the client when it changes
	// check returns the value to keep; nil keeps any.
	check func(value string) (string, error)
	// superuser says that only superusers may change it.
	superuser bool
	// unit of the number that pg_settings shows; "" where it shows the value itself.
	unit string
}

// ServerVersion is the PostgreSQL version whose behaviour clients may expect.
const ServerVersion = "15.0"

// known are the settings by lower-case name.
var known = withAccepted(map[string]setting{
	"application_name":                    {initial: "", about: "Name of the application, for the log and pg_stat_activity.", report: true},
	"client_encoding":                     {initial: "UTF8", about: "Encoding of the client; only UTF8.", report: true, check: encoding},
	"client_min_messages":                 {initial: "notice", about: "Least severe message sent to the client.", check: messageLevel},
	"bytea_output":                        {initial: "hex", about: "Output format of bytea.", check: oneOf("bytea_output", "hex")},
	"datestyle":                           {initial: "ISO, MDY", about: "Display format of dates; ISO.", report: true, check: dateStyle},
	"default_transaction_read_only":       {initial: "off", about: "Whether new transactions are read-only.", report: true, check: boolean("default_transaction_read_only")},
	"default_transaction_isolation":       {initial: "read committed", about: "Whether a statement or the transaction reads tables at one moment. Streams are read at a cut of each statement.", check: isolation("default_transaction_isolation")},
	"envelope":                            {initial: "on", about: "Whether SELECT * shows _status, _coverage, _error and _staleness_ms.", check: boolean("envelope")},
	"confidence":                          {initial: "0.95", about: "Confidence of the bounds of approximate values.", check: fraction("confidence")},
	"extra_float_digits":                  {initial: "1", about: "Accepted; floats are shown in shortest exact form."},
	"idle_in_transaction_session_timeout": {initial: "0", about: "Longest wait for a client in a transaction; 0 is unlimited.", check: timeout("idle_in_transaction_session_timeout"), unit: "ms"},
	"idle_session_timeout":                {initial: "0", about: "Longest wait for a client outside of transactions; 0 is unlimited.", check: timeout("idle_session_timeout"), unit: "ms"},
	"in_hot_standby":                      {initial: "off", about: "Always off.", readOnly: true, report: true},
	"integer_datetimes":                   {initial: "on", about: "Always on.", readOnly: true, report: true},
	"intervalstyle":                       {initial: "postgres", about: "Display format of intervals; postgres.", report: true, check: oneOf("IntervalStyle", "postgres")},
	"is_superuser":                        {initial: "on", about: "Whether the user is a superuser.", readOnly: true, report: true},
	"lock_timeout":                        {initial: "0", about: "Longest wait for another transaction that writes to tables; 0 is unlimited.", check: timeout("lock_timeout"), unit: "ms"},
	"max_identifier_length":               {initial: "63", about: "Maximum length of a name.", readOnly: true},
	"max_index_keys":                      {initial: "32", about: "Maximum number of index keys.", readOnly: true},
	"max_staleness":                       {initial: "0", about: "A result further behind than this is an error unless labelled; 0 accepts any.", check: duration("max_staleness")},
	"partial_results":                     {initial: "error", about: "What becomes of a partial result: error, warn or label.", check: oneOf("partial_results", "error", "warn", "label")},
	"read_wait":                           {initial: "1s", about: "How long a statement waits for partitions to reach its cut.", check: duration("read_wait")},
	"role":                                {initial: "none", about: "The role that statements run as; none is the session's user."},
	"row_security":                        {initial: "off", about: "Accepted."},
	"search_path":                         {initial: "\"$user\", public", about: "Schemas that unqualified names are looked up in."},
	"server_encoding":                     {initial: "UTF8", about: "Encoding of the server.", readOnly: true, report: true},
	"server_version":                      {initial: ServerVersion, about: "PostgreSQL version that the server is compatible with.", readOnly: true, report: true},
	"server_version_num":                  {initial: "150000", about: "The same as a number.", readOnly: true},
	"session_authorization":               {initial: "", about: "The session's user.", report: true},
	"standard_conforming_strings":         {initial: "on", about: "Backslashes in plain strings are literal.", report: true, check: oneOf("standard_conforming_strings", "on")},
	"statement_timeout":                   {initial: "0", about: "Longest time a statement may take; 0 is unlimited.", check: timeout("statement_timeout"), unit: "ms"},
	"synchronous_commit":                  {initial: "on", about: "Accepted; acknowledged always means durable."},
	"temp_file_limit":                     {initial: "-1", about: "Most kilobytes of temporary files that the session's statements have at a time; -1 is unlimited.", check: kilobytes("temp_file_limit"), superuser: true, unit: "kB"},
	"timezone":                            {initial: "UTC", about: "Time zone of display and of dates.", report: true, check: zone},
	"transaction_isolation":               {initial: "read committed", about: "Whether a statement or the transaction reads tables at one moment. Streams are read at a cut of each statement.", check: isolation("transaction_isolation")},
	"transaction_read_only":               {initial: "off", about: "Whether the transaction is read-only.", check: boolean("transaction_read_only")},
})

// shownNames are the settings whose PostgreSQL name is not lower case.
var shownNames = map[string]string{"datestyle": "DateStyle", "intervalstyle": "IntervalStyle", "timezone": "TimeZone"}

func shownName(name string) string {
	if s, ok := shownNames[name]; ok {
		return s
	}
	return name
}

func invalidSetting(name, value string, allowed ...string) error {
	e := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, value)
	if len(allowed) > 0 {
		e = e.WithHint("Available values: %s.", strings.Join(allowed, ", "))
	}
	return e
}

func oneOf(name string, allowed ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		v = strings.ToLower(v)
		if slices.Contains(allowed, v) {
			return v, nil
		}
		return "", invalidSetting(name, v, allowed...)
	}
}

// messageLevels are the severities of messages, from the least; debug has five.
var messageLevels = []string{"debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error"}

func messageLevel(v string) (string, error) {
	if strings.EqualFold(v, "debug") {
		v = "debug2"
	}
	return oneOf("client_min_messages", messageLevels...)(v)
}

func isolation(name string) func(string) (string, error) {
	return oneOf(name, "serializable", "repeatable read", "read committed", "read uncommitted")
}

func boolean(name string) func(string) (string, error) {
	return func(v string) (string, error) {
		switch strings.ToLower(v) {
		case "on", "true", "yes", "1", "t", "y":
			return "on", nil
		case "off", "false", "no", "0", "f", "n":
			return "off", nil
		}
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q requires a Boolean value", name)
	}
}

func encoding(v string) (string, error) {
	switch strings.ToUpper(strings.Trim(v, "'\"")) {
	case "UTF8", "UTF-8", "UNICODE", "AUTO":
		return "UTF8", nil
	}
	return "", sqlerr.New(sqlerr.FeatureNotSupported, "client encoding %q is not supported, only UTF8 is", v)
}

func dateStyle(v string) (string, error) {
	for _, word := range strings.Split(strings.ToUpper(v), ",") {
		switch strings.TrimSpace(word) {
		case "ISO", "MDY", "DMY", "YMD", "US", "EUROPEAN", "DEFAULT", "":
		default:
			return "", invalidSetting("DateStyle", v, "ISO")
		}
	}
	return "ISO, MDY", nil
}

func zone(v string) (string, error) {
	if _, err := types.LoadZone(v); err != nil {
		return "", invalidSetting("TimeZone", v)
	}
	return v, nil
}

func fraction(name string) func(string) (string, error) {
	return func(v string) (string, error) {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || !(f > 0 && f < 1) {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "parameter %q must be between 0 and 1", name)
		}
		return v, nil
	}
}

func duration(name string) func(string) (string, error) {
	return func(v string) (string, error) {
		if _, err := parseDuration(v, time.Millisecond); err != nil {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter %q: %q", name, v).
				WithHint("Valid units are \"us\", \"ms\", \"s\", \"min\", \"h\" and \"d\"; or an interval such as '5 seconds'.")
		}
		return v, nil
	}
}

// timeout reads one of PostgreSQL's settings in milliseconds, and keeps it in the
// largest unit that it is a whole number of.
func timeout(name string) func(string) (string, error) {
	check := duration(name)
	return func(v string) (string, error) {
		if _, err := check(v); err != nil {
			return "", err
		}
		d, err := parseDuration(v, time.Millisecond)
		if err != nil {
			return "", err
		}
		ms := d.Milliseconds()
		if ms > math.MaxInt32 {
			return "", sqlerr.New(sqlerr.InvalidParameterValue, "%d ms is outside the valid range for parameter %q (0 .. %d)", ms, name, math.MaxInt32)
		}
		if ms == 0 {
			return "0", nil
		}
		for _, u := range []struct {
			ms   int64
			name string
		}{{86_400_000, "d"}, {3_600_000, "h"}, {60_000, "min"}, {1000, "s"}} {
			if ms%u.ms == 0 {
				return strconv.FormatInt(ms/u.ms, 10) + u.name, nil
			}
		}
		return strconv.FormatInt(ms, 10) + "ms", nil
	}
}

// durationUnits are those of PostgreSQL's settings; a bare number has another.
var durationUnits = map[string]time.Duration{
	"": 0, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "min": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// parseDuration reads '250', '250ms', '5 s' or an interval; a bare number is in unit.
func parseDuration(s string, unit time.Duration) (time.Duration, error) {
	s = strings.TrimSpace(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	if n, err := strconv.ParseFloat(s[:digits], 64); err == nil {
		u, ok := durationUnits[strings.TrimSpace(s[digits:])]
		if u == 0 {
			u = unit
		}
		if ok {
			if n*float64(u) > 1<<62 {
				return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval %q is too long", s)
			}
			return time.Duration(n * float64(u)), nil
		}
	}
	return intervalDuration(s)
}

// intervalDuration reads an interval without months.
func intervalDuration(s string) (time.Duration, error) {
	d, err := types.ParseSpan([]byte(s), types.Of(types.Interval))
	if err != nil {
		return 0, err
	}
	if d.Months != 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval %q has months, whose length varies", s).WithHint("Say days or hours.")
	}
	us := int64(d.Days)*86_400_000_000 + d.Micros
	if us < 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval %q is negative", s)
	}
	if us > int64(1<<62)/1000 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "interval %q is too long", s)
	}
	return time.Duration(us) * time.Microsecond, nil
}

// settings are a session's values.
type settings struct {
	values  map[string]string
	base    map[string]string // values that the session began with, where they are not the server's
	local   map[string]string // values before SET LOCAL, to restore at the end of the transaction
	undo    []changedSetting  // of the transaction, in the order of the changes
	inBlock bool              // changes are remembered
	changed []string          // reported settings that changed and were not yet told
	means   *meaning          // of the values; nil after a change
	// become decides which role a setting of one keeps, and superuser whether the one that
	// is set may do everything.
	become    func(setting, role string) (string, error)
	superuser func() bool
}

// changedSetting is what a change replaced.
type changedSetting struct {
	name            string
	value, local    string
	existed, wasSet bool // in values; in local
}

func newSettings(user string) *settings {
	s := &settings{values: map[string]string{}}
	for name, d := range known {
		s.values[name] = d.initial
	}
	s.values["session_authorization"] = user
	return s
}

// get returns a setting's value.
func (s *settings) get(name string) (string, bool) {
	v, ok := s.values[strings.ToLower(name)]
	return v, ok
}

// checked returns the value that a setting keeps of one that is given.
func (s *settings) checked(name, value string, superuser func() bool) (string, error) {
	d, ok := known[name]
	switch {
	case !ok && strings.Contains(name, "."):
	case !ok:
		return "", sqlerr.New(sqlerr.UndefinedObject, "unrecognized configuration parameter %q", name)
	case name == "role" || name == "session_authorization":
		return s.become(name, value)
	case d.readOnly:
		return "", sqlerr.New(sqlerr.CantChangeRuntimeParam, "parameter %q cannot be changed", shownName(name))
	case d.superuser && !superuser():
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set parameter %q", shownName(name))
	case d.check != nil:
		return d.check(value)
	}
	return value, nil
}

// begin gives a setting the value that the session begins with and RESET returns to.
func (s *settings) begin(name, value string, superuser func() bool) error {
	name = strings.ToLower(name)
	value, err := s.checked(name, value, superuser)
	if err != nil {
		return err
	}
	s.assign(name, value)
	if s.base == nil {
		s.base = map[string]string{}
	}
	s.base[name] = value
	return nil
}

// initial returns the value that a setting has when the session begins.
func (s *settings) initial(name string) (string, bool) {
	if value, ok := s.base[name]; ok {
		return value, true
	}
	d, ok := known[name]
	return d.initial, ok
}

// set changes a setting; names with a dot are the user's own.
func (s *settings) set(name, value string) error {
	name = strings.ToLower(name)
	value, err := s.checked(name, value, s.superuser)
	if err != nil {
		return err
	}
	s.remember(name)
	delete(s.local, name) // what is set for the session stays after the transaction
	s.assign(name, value)
	if name == "session_authorization" && s.values["role"] != "none" {
		return s.set("role", "none")
	}
	return nil
}

// assign gives a setting a value that was checked.
func (s *settings) assign(name, value string) {
	if s.values[name] != value && known[name].report {
		s.changed = append(s.changed, name)
	}
	s.values[name] = value
	s.means = nil
	if name == "role" || name == "session_authorization" {
		s.showSuperuser()
	}
	if mode, ok := strings.CutPrefix(name, "default_"); ok && strings.HasPrefix(mode, "transaction_") && !s.inBlock {
		s.values[mode] = value // the next statement is a transaction
	}
}

// setLocal changes a setting until the transaction ends.
func (s *settings) setLocal(name, value string) error {
	name = strings.ToLower(name)
	if name == "session_authorization" { // which ends the role
		if err := s.setLocal("role", "none"); err != nil {
			return err
		}
	}
	before, existed := s.values[name]
	if old, ok := s.local[name]; ok {
		before, existed = old, true
	}
	if err := s.set(name, value); err != nil {
		return err
	}
	if s.local == nil {
		s.local = map[string]string{}
	}
	if existed {
		s.local[name] = before
	}
	return nil
}

// remember keeps a setting's value for a transaction that may be rolled back.
func (s *settings) remember(name string) {
	if !s.inBlock {
		return
	}
	c := changedSetting{name: name}
	c.value, c.existed = s.values[name]
	c.local, c.wasSet = s.local[name]
	s.undo = append(s.undo, c)
}

// mark returns what rollbackTo goes back to.
func (s *settings) mark() int { return len(s.undo) }

// rollbackTo undoes the changes since a mark.
func (s *settings) rollbackTo(mark int) {
	for _, c := range slices.Backward(s.undo[mark:]) {
		if c.existed {
			s.assign(c.name, c.value)
		} else {
			delete(s.values, c.name)
		}
		if c.wasSet {
			s.local[c.name] = c.local
		} else {
			delete(s.local, c.name)
		}
	}
	s.undo = s.undo[:mark]
}

// beginTransaction makes changes undoable until endTransaction.
func (s *settings) beginTransaction() { s.inBlock = true }

// endTransaction undoes SET LOCAL, and every change if the transaction is rolled back.
func (s *settings) endTransaction(rolledBack bool) {
	if rolledBack {
		s.rollbackTo(0)
	}
	s.inBlock, s.undo = false, nil
	for name, value := range s.local {
		s.assign(name, value)
	}
	s.local = nil
	s.beginModes()
}

// beginModes gives the next transaction the modes that the session has for it.
func (s *settings) beginModes() {
	for _, mode := range []string{"transaction_isolation", "transaction_read_only", "transaction_deferrable"} {
		s.assign(mode, s.values["default_"+mode])
	}
}

// reset returns a setting, or all with an empty name, to its initial value.
func (s *settings) reset(name string) error {
	name = strings.ToLower(name)
	if name != "" {
		value, ok := s.initial(name)
		if !ok && strings.Contains(name, ".") {
			s.remember(name)
			delete(s.values, name)
			return nil
		}
		return s.set(name, value)
	}
	for n, d := range known {
		if !d.readOnly && !strings.HasPrefix(n, "transaction_") && n != "role" && n != "session_authorization" && (!d.superuser || s.superuser()) {
			value, _ := s.initial(n)
			if err := s.set(n, value); err != nil {
				return fmt.Errorf("reset %s: %w", n, err)
			}
		}
	}
	return nil
}

// names returns all settings, sorted.
func (s *settings) names() []string { return slices.Sorted(maps.Keys(s.values)) }

func (s *settings) duration(name string) time.Duration {
	d, _ := parseDuration(s.values[name], time.Millisecond) // checked when it was set
	return d
}

// meaning is what settings mean that every statement needs, worked out once.
type meaning struct {
	location                                                      *time.Location // the session's time zone
	user                                                          string         // that statements run as
	searchPath                                                    []string       // schemas of unqualified names
	envelope                                                      envelope.Settings
	minMessages                                                   int // place in messageLevels
	statementTimeout, lockTimeout, idleSession, idleInTransaction time.Duration
	tempFileLimit                                                 int64 // bytes; -1 is unlimited
}

// meaning returns what the settings mean now.
func (s *settings) meaning() *meaning {
	if s.means == nil {
		s.means = &meaning{
			minMessages: slices.Index(messageLevels, s.values["client_min_messages"]),
			location:    s.location(), user: s.user(), searchPath: s.searchPath(s.user()), envelope: s.envelope(),
			tempFileLimit:    tempFileBytes(s.values["temp_file_limit"]),
			statementTimeout: s.duration("statement_timeout"), lockTimeout: s.duration("lock_timeout"),
			idleSession: s.duration("idle_session_timeout"), idleInTransaction: s.duration("idle_in_transaction_session_timeout"),
		}
	}
	return s.means
}

func (s *settings) on(name string) bool { return s.values[name] == "on" }

// location is the session's time zone.
func (s *settings) location() *time.Location {
	l, err := types.LoadZone(s.values["timezone"])
	if err != nil {
		return time.UTC
	}
	return l
}

// user is the name of who statements run as.
func (s *settings) user() string {
	if role := s.values["role"]; role != "none" {
		return role
	}
	return s.values["session_authorization"]
}

// showSuperuser makes is_superuser say whether the role that statements run as is one.
func (s *settings) showSuperuser() {
	value := "off"
	if s.superuser() {
		value = "on"
	}
	s.assign("is_superuser", value)
}

// searchPath returns the schemas of unqualified names.
func (s *settings) searchPath(user string) []string {
	out := []string{} // an empty path finds nothing but the system catalogs
	for _, p := range strings.Split(s.values["search_path"], ",") {
		p = strings.Trim(strings.TrimSpace(p), `"'`)
		if p == "$user" {
			p = user
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// envelope returns what the distributed part of a statement needs.
func (s *settings) envelope() envelope.Settings {
	confidence, _ := strconv.ParseFloat(s.values["confidence"], 64) // checked when it was set
	return envelope.Settings{
		PartialResults: envelope.PartialResults(s.values["partial_results"]), MaxStaleness: s.duration("max_staleness"),
		ReadWait: s.duration("read_wait"), Confidence: confidence,
	}
}
