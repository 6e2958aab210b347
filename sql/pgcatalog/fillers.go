package pgcatalog

import "context"

// fixedFiller writes rows that depend on nothing.
type fixedFiller func(w *writer)

// filler writes rows that depend on the database, the session or the moment.
type filler func(ctx context.Context, c *Catalog, w *writer) error

// sure makes a filler of one that cannot fail.
func sure(fill func(c *Catalog, w *writer)) filler {
	return func(_ context.Context, c *Catalog, w *writer) error {
		fill(c, w)
		return nil
	}
}

// seen makes a filler of one whose relations are those that the session's role may do
// something with, as in information_schema.
func seen(fill func(c *Catalog, w *writer)) filler {
	return func(_ context.Context, c *Catalog, w *writer) error {
		fill(c.visible(), w)
		return nil
	}
}

// fixedFillers and fillers are by schema and name. A table in neither is empty.
var fixedFillers = map[string]fixedFiller{
	"pg_catalog.pg_am":               fillAccessMethods,
	"pg_catalog.pg_attribute":        fillSystemAttributes,
	"pg_catalog.pg_cast":             fillCasts,
	"pg_catalog.pg_collation":        fillCollations,
	"pg_catalog.pg_language":         fillLanguages,
	"pg_catalog.pg_opclass":          fillOperatorClasses,
	"pg_catalog.pg_operator":         fillOperators,
	"pg_catalog.pg_proc":             fillFunctions,
	"pg_catalog.pg_tablespace":       fillTablespaces,
	"pg_catalog.pg_type":             fillTypes,
	"pg_catalog.pg_description":      fillFunctionDescriptions,
	"pg_catalog.pg_class":            fillSystemClasses,
	"pg_catalog.pg_get_keywords()":   fillKeywords,
	"pg_catalog.pg_timezone_names()": fillTimeZones,
	"pg_catalog.pg_timezone_names":   fillTimeZones,
}

var fillers = map[string]filler{
	"pg_catalog.pg_aggregate":            sure(fillAggregateDetails),
	"pg_catalog.pg_attrdef":              sure(fillDefaults),
	"pg_catalog.pg_attribute":            sure(fillAttributes),
	"pg_catalog.pg_auth_members":         sure(fillMembers),
	"pg_catalog.pg_authid":               sure(fillAuthID),
	"pg_catalog.pg_class":                sure(fillClasses),
	"pg_catalog.pg_constraint":           sure(fillConstraints),
	"pg_catalog.pg_cursor()":             sure(fillCursors),
	"pg_catalog.pg_cursors":              sure(fillCursors),
	"pg_catalog.pg_database":             sure(fillDatabases),
	"pg_catalog.pg_db_role_setting":      sure(fillRoleSettings),
	"pg_catalog.pg_depend":               sure(fillDependencies),
	"pg_catalog.pg_description":          sure(fillDescriptions),
	"pg_catalog.pg_enum":                 sure(fillEnums),
	"pg_catalog.pg_index":                sure(fillIndexes),
	"pg_catalog.pg_indexes":              sure(fillIndexView),
	"pg_catalog.pg_listening_channels()": sure(fillListening),
	"pg_catalog.pg_prepared_statement()": sure(fillPrepared),
	"pg_catalog.pg_prepared_statements":  sure(fillPrepared),
	"pg_catalog.pg_proc":                 sure(fillAggregates),
	"pg_catalog.pg_rewrite":              sure(fillRules),
	"pg_catalog.pg_roles":                sure(fillRoles),
	"pg_catalog.pg_settings":             sure(fillSettings),
	"pg_catalog.pg_shadow":               sure(fillShadow),
	"pg_catalog.pg_show_all_settings()":  sure(fillSettings),
	"pg_catalog.pg_stat_activity":        sure(fillActivity),
	"pg_catalog.pg_stat_all_tables":      sure(fillTableStats),
	"pg_catalog.pg_stat_database":        sure(fillDatabaseStats),
	"pg_catalog.pg_stat_gssapi":          sure(fillGSS),
	"pg_catalog.pg_stat_ssl":             sure(fillEncryption),
	"pg_catalog.pg_stat_user_tables":     sure(fillTableStats),
	"pg_catalog.pg_tables":               sure(fillTableView),
	"pg_catalog.pg_type":                 sure(fillRowTypes),
	"pg_catalog.pg_user":                 sure(fillUsers),
	"pg_catalog.pg_matviews":             sure(fillMaterializedViews),
	"pg_catalog.pg_namespace":            sure(fillNamespaces),
	"pg_catalog.pg_sequence":             sure(fillSequences),
	"pg_catalog.pg_sequences":            sure(fillSequenceView),
	"pg_catalog.pg_views":                sure(fillViewView),

	"information_schema.character_sets":                    sure(fillCharacterSets),
	"information_schema.collations":                        sure(fillInfoCollations),
	"information_schema.column_privileges":                 sure(fillColumnGrants),
	"information_schema.columns":                           seen(fillColumns),
	"information_schema.constraint_column_usage":           seen(fillConstraintColumns),
	"information_schema.constraint_table_usage":            seen(fillConstraintTables),
	"information_schema.element_types":                     seen(fillElementTypes),
	"information_schema.enabled_roles":                     sure(fillEnabledRoles),
	"information_schema.information_schema_catalog_name":   sure(fillCatalogName),
	"information_schema.key_column_usage":                  seen(fillKeyColumns),
	"information_schema.parameters":                        sure(fillParameters),
	"information_schema.referential_constraints":           seen(fillReferentialConstraints),
	"information_schema.role_column_grants":                sure(fillRoleColumnGrants),
	"information_schema.role_table_grants":                 sure(fillRoleTableGrants),
	"information_schema.routines":                          sure(fillRoutines),
	"information_schema.schemata":                          sure(fillSchemata),
	"information_schema.table_constraints":                 seen(fillTableConstraints),
	"information_schema.table_privileges":                  sure(fillTableGrants),
	"information_schema.usage_privileges":                  sure(fillUsageGrants),
	"information_schema.role_usage_grants":                 sure(fillRoleUsageGrants),
	"information_schema.applicable_roles":                  sure(fillApplicableRoles),
	"information_schema.administrable_role_authorizations": sure(fillAdministrableRoles),
	"information_schema.tables":                            seen(fillTables),
	"information_schema.views":                             seen(fillInfoViews),
	"information_schema.column_domain_usage":               sure(fillColumnDomains),
	"information_schema.domain_constraints":                sure(fillDomainConstraints),
	"information_schema.domains":                           sure(fillDomains),

	"tally_catalog.aggregates":      sure(fillTallyAggregates),
	"tally_catalog.guarantees":      fillGuarantees,
	"tally_catalog.jobs":            fillJobs,
	"tally_catalog.partitions":      fillPartitions,
	"tally_catalog.settings":        sure(fillTallySettings),
	"tally_catalog.streams":         sure(fillStreams),
	"tally_catalog.view_partitions": fillViewPartitions,
	"tally_catalog.views":           sure(fillTallyViews),
	"tally_catalog.watermarks":      fillWatermarks,
}
