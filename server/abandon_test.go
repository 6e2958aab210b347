package server_test

import (
	"testing"

	"github.com/tallydb/tallydb/server/servertest"
)

// TestFailedTransactionsHoldNothing: a transaction that failed and that its client has not
// rolled back yet keeps nobody from writing, unless it can go back to a savepoint.
func TestFailedTransactionsHoldNothing(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	c, other := s.Connect(), s.Connect()
	servertest.Exec(t, c, "CREATE TABLE lk (a int)", "INSERT INTO lk VALUES (1)")
	servertest.Exec(t, other, "SET lock_timeout = '100ms'")
	fail := func() {
		t.Helper()
		if _, err := servertest.Query(c, "SELECT 1/0"); servertest.Code(err) != "22012" {
			t.Fatal(err)
		}
	}
	servertest.Exec(t, c, "BEGIN", "UPDATE lk SET a = 2", "DECLARE cu CURSOR FOR SELECT a FROM lk")
	fail()
	servertest.Exec(t, other, "UPDATE lk SET a = 3")
	if _, err := servertest.Query(c, "SELECT 1"); servertest.Code(err) != "25P02" {
		t.Fatal(err)
	}
	servertest.Exec(t, c, "ROLLBACK")
	servertest.Expect(t, c, "SELECT a FROM lk", "3")

	servertest.Exec(t, c, "BEGIN", "UPDATE lk SET a = 4", "SAVEPOINT s")
	fail()
	if _, err := servertest.Query(other, "UPDATE lk SET a = 5"); servertest.Code(err) != "55P03" {
		t.Fatalf("what a transaction can go back to was written over: %v", err)
	}
	servertest.Exec(t, c, "ROLLBACK TO s", "COMMIT")
	servertest.Expect(t, other, "SELECT a FROM lk", "4")
}
