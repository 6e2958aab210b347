package session

import (
	"log/slog"
	"maps"
	"strings"

	"github.com/tallydb/tallydb/catalog/access"
	"github.com/tallydb/tallydb/catalog/id"
	"github.com/tallydb/tallydb/catalog/store"
	"github.com/tallydb/tallydb/sql/ast"
	"github.com/tallydb/tallydb/sql/sqlerr"
)

// beginSettings gives the session the settings that it begins with: those of the database, those of
// the role, those of both, and what the client asked for; the later ones win.
func (s *Session) beginSettings() error {
	d, err := s.engine.Catalog.Database(s.tenant.Database.Name)
	if err != nil {
		return err
	}
	role, _ := s.engine.Catalog.Role(s.login.role())
	bySuperuser := func() bool { return true } // who may set it for others was checked then
	for _, of := range []map[string]string{d.Settings, role.Settings[0], role.Settings[d.Tenant]} {
		for name, value := range of {
			if err := s.settings.begin(name, value, bySuperuser); err != nil { // as a role that is gone
				s.engine.Logger.Warn("a setting of a role or a database is left out", slog.String("name", name), slog.String("error", err.Error()))
			}
		}
	}
	for name, value := range s.startup.Parameters {
		asked := map[string]string{name: value}
		switch name {
		case "user", "database", "replication":
			continue
		case "options":
			asked = startupOptions(value)
		}
		for name, value := range asked {
			if err := s.settings.begin(name, value, s.superuser); err != nil {
				return err
			}
		}
	}
	return nil
}

// alterSettings runs ALTER ROLE and ALTER DATABASE with SET or RESET, for the sessions that
// begin after it.
func (s *Session) alterSettings(x *ast.AlterSettings) (string, error) {
	name, value := strings.ToLower(x.Name), ""
	shown := shownName(name)
	if !x.Reset {
		value = settingText(x.Values)
		if _, err := s.settings.checked(name, value, s.superuser); err != nil {
			return "", err
		}
	}
	change := func(of map[string]string) map[string]string {
		switch of = maps.Clone(of); {
		case x.Reset && name == "":
			return nil
		case x.Reset:
			delete(of, shown)
		case of == nil:
			return map[string]string{shown: value}
		default:
			of[shown] = value
		}
		return of
	}
	var d store.Database
	if x.Database != "" {
		var err error
		if d, err = s.engine.Catalog.Database(x.Database); err != nil {
			return "", err
		}
	}
	if x.OfRole && !x.Everyone {
		return "ALTER ROLE", s.alterRoleSettings(x, d.Tenant, change)
	}
	tag := "ALTER DATABASE"
	if x.OfRole {
		tag = "ALTER ROLE"
	}
	switch {
	case x.Database == "":
		return "", sqlerr.New(sqlerr.FeatureNotSupported, "ALTER ROLE ALL without IN DATABASE is not supported").At(x.Position()).
			WithHint("Alter each database, or each role.")
	case !s.owns(access.OfDatabase(s.engine.Catalog.Snapshot(d.Tenant))):
		return "", sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of database %s", d.Name)
	}
	return tag, s.engine.Catalog.UpdateDatabase(d.Name, func(d *store.Database) error {
		d.Settings = change(d.Settings)
		return nil
	})
}

// alterRoleSettings changes the settings of a role, in a database or, if it is 0, in any.
func (s *Session) alterRoleSettings(x *ast.AlterSettings, in id.Tenant, change func(map[string]string) map[string]string) error {
	name, err := s.roleNamed(x.Role)
	if err != nil {
		return err
	}
	switch role, _ := s.identity().roles.Lookup(name); {
	case s.superuser():
	case role.Superuser:
		return roleDenied("must be superuser to alter superusers")
	case !s.createsRoles() && name != s.Role():
		return roleDenied("permission denied")
	}
	return s.engine.Catalog.UpdateRole(name, func(r *store.Role) {
		of := maps.Clone(r.Settings)
		if of == nil {
			of = map[id.Tenant]map[string]string{}
		}
		if of[in] = change(of[in]); len(of[in]) == 0 {
			delete(of, in)
		}
		r.Settings = of
	})
}

// settingText returns the values of a SET as the text that the setting is given.
func settingText(values []ast.Expr) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = optionText(v)
	}
	return strings.Join(words, ", ")
}

// startupOptions reads the -c name=value pairs of the options parameter.
func startupOptions(s string) map[string]string {
	out := map[string]string{}
	words := splitWords(s)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case len(w) > 2 && w[:2] == "-c" || len(w) > 2 && w[:2] == "--":
			w = w[2:]
		default:
			continue
		}
		for k := range len(w) {
			if w[k] == '=' {
				out[w[:k]] = w[k+1:]
				break
			}
		}
	}
	return out
}

// splitWords splits at spaces; a backslash keeps the next character.
func splitWords(s string) []string {
	var out []string
	var word []byte
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			word = append(word, s[i])
		case s[i] == ' ':
			if len(word) > 0 {
				out, word = append(out, string(word)), nil
			}
		default:
			word = append(word, s[i])
		}
	}
	if len(word) > 0 {
		out = append(out, string(word))
	}
	return out
}
