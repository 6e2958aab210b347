// Package access decides who may do what: which roles a role has the rights of, what an
// ACL grants to them, and what GRANT and REVOKE make of an ACL.
//
// It is pure: it knows no session, no statement and no storage, and reads nothing but
// its arguments. Who asks is server/session, at every execution, and sql/pgcatalog for
// has_table_privilege and its kin; both get the answer here.
//
// Invariants:
//
//  1. A role that is not known has no rights but those of PUBLIC.
//  2. An owner that is not a role stands for the bootstrap role.
//  3. What Grant and Revoke return is a new ACL; the given one stays as it is.
package access
