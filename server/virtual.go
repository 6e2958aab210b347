package server

import (
	"github.com/tallydb/tallydb/server/session"
	"github.com/tallydb/tallydb/sql/bind"
	"github.com/tallydb/tallydb/sql/plan"
)

type noVirtual struct{}

func (noVirtual) Lookup(string, string) *plan.VirtualTable { return nil }
func (noVirtual) Names() []string                          { return nil }

func (n *Node) virtualTables(*session.Tenant, *session.Session) bind.VirtualTables {
	return noVirtual{}
}
